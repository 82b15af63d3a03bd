"""Results written as JSON and read back: the same again, or refused by name."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zstandard
from polars.testing import assert_frame_equal
from zlib_ng import gzip_ng

import karatage as kt
from karatage.data.estimate import Bounded
from karatage.data.plain import is_number, write_json
from karatage.data.result import Result
from karatage.errors import DataError, InputFileError, KaratageError
from karatage.views.page import Page
from karatage.views.reading import PROSE, list_kinds, restore
from tests.unit.boards import tell_apart

from .saved_results import HOSTILE, MAKERS, make, world

FREE = {"versions", "distance", "types", "facts"}  # objects under any names, which nothing else in the file tells
# Which earlier files lack; `judges` of a benchmark, since other results always had some.
LATER = {"teams", "topic_errors", "specificity", "npv", "counts", "pooled", "predicted", "splits", "by_judge"}
Path_ = tuple[str | int, ...]
ONE_EACH = (
    *("by_figures", "board", "evaluation", "audit", "posterior", "gold_plan", "size_plan_refused", "queue", "crowd"),
    *("calibration", "diagnosis", "survey"),
    *("benchmark", "aware", "supervised", "random_relevance", "noisy", "collaborative"),
)

SLOW = {"aware", "audit", "evaluation", "survey", "collaborative", "random_relevance", "supervised"}


def save(facts: dict[str, object], home: Path) -> Path:
    path = home / "result.json"
    path.write_text(write_json(facts), "utf-8")
    return path


def refuse(facts: object) -> str:
    """What is said against a result; nothing where it is read."""
    try:
        restore(facts)
    except KaratageError as problem:
        return str(problem)
    return ""


def again(result: Result, home: Path) -> Result:
    path = home / "result.json"
    path.write_text(result.to_json(), "utf-8")
    return kt.read_result(path).result


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_read_back_says_the_same(name, tmp_path):
    live = make(name)
    found = again(live, tmp_path)
    assert type(found) is type(live)
    assert found.sentence == live.sentence
    assert found.notes == live.notes
    assert found.to_dict() == live.to_dict()
    assert_frame_equal(found.to_frame(), live.to_frame())


def test_every_kind_is_tried():
    assert {make(name).kind for name in MAKERS} == list_kinds().keys()


@pytest.mark.parametrize("name", MAKERS)
def test_the_kind_comes_first(name):
    facts = make(name).to_dict()
    assert list(facts)[:2] == ["kind", "schema"]
    assert (facts["kind"], facts["schema"]) == (make(name).kind, 2)


@pytest.mark.parametrize("name", MAKERS)
def test_pages_are_the_same(name, tmp_path):
    from karatage.views.showing import lay_out

    live = make(name)
    assert describe(lay_out(again(live, tmp_path))) == describe(lay_out(live))


def describe(page: Page) -> list[object]:
    """All that is on a page; its charts before they are drawn, which takes long."""
    shown = [(section.title, section.text, [figure.caption for figure in section.charts]) for section in page.sections]
    charts = [(name, figure.chart.to_dict(validate=False)) for name, figure in page.figures]
    tables = [(name, table.caption, table.frame.to_dicts()) for name, table in page.tables]
    return [page.title, page.sentence, tuple(page.notes), tuple(page.facts), shown, charts, tables]


def test_covariances_are_the_same_on_both_sides(tmp_path):
    live = make("aware")
    assert np.array_equal(again(live, tmp_path).covariance, live.covariance, equal_nan=True)


def test_other_tables_are_the_same(tmp_path):
    board, audit, posterior = (make(name) for name in ("board", "audit", "posterior"))
    assert_frame_equal(again(board, tmp_path).pairs(), board.pairs())
    found = again(audit, tmp_path)
    for table in ("judges", "panel", "pairs", "merges", "confusion", "families", "flags"):
        assert_frame_equal(getattr(found, table), getattr(audit, table))
    assert_frame_equal(found.matrix(), audit.matrix())
    found = again(posterior, tmp_path)
    assert_frame_equal(found.judges, posterior.judges)
    assert found.accuracy(world().gold) == posterior.accuracy(world().gold)
    evaluation = make("evaluation")
    assert_frame_equal(again(evaluation, tmp_path).per_topic(), evaluation.per_topic())


def test_names_are_kept_to_the_letter(tmp_path):
    assert HOSTILE in again(make("board"), tmp_path).systems


def test_what_is_not_known_and_what_has_no_bound_stay_apart(tmp_path):
    board = make("board")
    known = tell_apart(np.ones(3), np.array([0.5, 0.5, 0.2]), 0.05)
    pairs = replace(
        known,
        low=np.array([-math.inf, math.nan, known.low[2]]),
        high=np.array([math.inf, math.nan, known.high[2]]),
        standard_error=np.array([math.inf, math.nan, known.standard_error[2]]),
        p_value=np.array([1.0, math.nan, 0.2]),
    )
    found = again(replace(board, corrected_pairs=pairs, slope=Bounded(1.5, math.nan, math.inf)), tmp_path)
    assert np.array_equal(found.corrected_pairs.low, pairs.low, equal_nan=True)
    assert np.array_equal(found.corrected_pairs.high, pairs.high, equal_nan=True)
    assert np.array_equal(found.corrected_pairs.standard_error, pairs.standard_error, equal_nan=True)
    assert found.slope.high == math.inf
    assert math.isnan(found.slope.low)


def test_a_test_of_its_own_keeps_its_p_value(tmp_path):
    question = kt.Question(measure="AP", test="permutation")
    live = kt.compare(world().runs, world().judgments, None, question, a="system-01", b="system-02")
    found = again(live, tmp_path)
    assert found.naive.test_p_value == live.naive.test_p_value is not None
    unknown = replace(live, naive=replace(live.naive, test_p_value=math.nan))
    assert again(unknown, tmp_path).to_dict() == unknown.to_dict()


def test_items_that_gold_alone_has_graded_are_left_out(tmp_path):
    live = make("posterior")
    path = tmp_path / "result.json"
    path.write_text(live.to_json(gold=world().gold), "utf-8")
    added = json.loads(path.read_text("utf-8"))["added"]
    assert len(added) + len(live.grades) == len(live.to_frame(world().gold))
    found = kt.read_result(path).result
    assert found.to_dict() == live.to_dict()
    assert_frame_equal(found.to_frame(world().gold), live.to_frame(world().gold))


def test_rows_that_were_asked_for_do_no_harm(tmp_path):
    live = make("evaluation")
    path = tmp_path / "result.json"
    path.write_text(live.to_json(per_topic=True, weights=True), "utf-8")
    assert kt.read_result(path).result.to_dict() == live.to_dict()


def test_pairs_of_very_many_judges_are_kept_on_request(tmp_path, monkeypatch):
    monkeypatch.setattr("karatage.data.audit.MOST_PAIRED", 2)
    live = make("audit")
    assert live.to_dict()["pairs"] == []
    found = again(live, tmp_path)
    assert found.pairs.is_empty()
    with pytest.raises(DataError, match="pairs"):
        found.matrix()
    (tmp_path / "result.json").write_text(live.to_json(pairs=True), "utf-8")
    assert_frame_equal(kt.read_result(tmp_path / "result.json").result.pairs, live.pairs)


def test_a_benchmark_has_lost_its_predictions(tmp_path):
    found = again(make("benchmark"), tmp_path)
    assert_frame_equal(found.race(), make("benchmark").race())
    for look in (lambda: found.race(level=0.01), lambda: found.predictions("set", "mv")):
        with pytest.raises(DataError, match="benchmark"):
            look()


def test_the_command_is_read_where_there_is_one(tmp_path):
    facts = make("board").to_dict()
    assert kt.read_result(save(facts, tmp_path)).command is None
    assert kt.read_result(save({**facts, "command": "karatage compare"}, tmp_path)).command == "karatage compare"


def test_packed_files_and_standard_input(tmp_path, monkeypatch):
    text = make("crowd").to_json().encode()
    (tmp_path / "a.json.gz").write_bytes(gzip_ng.compress(text))
    (tmp_path / "a.json.zst").write_bytes(zstandard.compress(text))
    for name in ("a.json.gz", "a.json.zst"):
        assert kt.read_result(tmp_path / name).result.sentence == make("crowd").sentence
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert kt.read_result("-").result.sentence == make("crowd").sentence


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", r"result\.json:1"),
        ('{"kind": "board",\n "a" 1}', r"result\.json:2"),
        ('{"a": 1}', "--format"),
        ("[1]", "object"),
        ('{"kind": 5}', r"kind.*\b5\b"),
        ('{"kind": "bord"}', "unknown kind of result 'bord'; did you mean 'board'?"),
        ('{"kind": "board"}', "systems"),
        ('{"kind": "board", "versions": {"karatage": "9.1"}}', r"\b9\.1\b"),
        ('{"kind": "board", "versions": []}', "object"),
        ('{"kind": "crowd", "items": NaN}', "JSON"),
        ('{"kind": "crowd", "kind": "crowd"}', "'kind'"),
        ("[" * 100_000, "is nested too deeply|is not JSON"),
        ('{"kind": ' + "1" * 5000 + "}", "JSON"),
        ('{"kind": "crowd", "model": "\\ud800"}', None),
        ("", None),
    ],
)
def test_what_is_no_result_is_refused(content, told, tmp_path):
    (tmp_path / "result.json").write_text(content)
    with pytest.raises(InputFileError, match=told):
        kt.read_result(tmp_path / "result.json")


@pytest.mark.parametrize(
    ("name", "path", "value", "told"),
    [
        ("board", ("naive", "value", 1), "high", r"naive\.value.*'high'.*\b2\b"),
        ("board", ("rows", 1, "naive_score"), "high", "naive_score.*'high'"),
        (
            "board",
            ("systems", 1),
            "other",
            "'other'",
        ),
        ("board", ("groups", 0, 0), "nobody", r"'nobody'.*\b0\b"),
        ("board", ("confidence",), 1, r"\b0\b.*\b1\b"),
        ("board", ("adjust",), "hlm", "adjust.*'hlm'"),
        ("board", ("pairs", 0, "corrected_p_bh"), 1e-9, r"corrected_p_bh.*\b09\b"),
        ("board", ("naive", "standard_error", 0), -0.1, r"standard_error.*-0\.1.*\b0\b"),
        ("board", ("naive_pairs", "p_value", 0), 0.001, r"p_value.*\b0\.001\b"),
        ("board", ("measure",), "nDCJ@5", "'nDCJ'.*'nDCG'"),
        ("audit", ("pairs", 0, "judge"), "nobody", "judge.*'nobody'"),
        ("audit", ("flags",), [{}], "judge"),
        ("pair", ("naive", "difference", "standard_error"), -0.1, r"standard_error.*-0\.1.*\b0\b"),
        ("posterior", ("probability", 0, 0), 0.5, "probabilities"),
        ("posterior", ("rows", 0, "p0"), 0.123, r"p0.*\b0\.123\b"),
        ("evaluation", ("fidelity", 0, "tau"), 0.9, r"tau.*\b0\.9\b"),
        ("settling", ("wrong", 0, 1), 1.5, "wrong"),
        ("queue", ("items", 0, "to"), "nobody", "to.*'nobody'"),
        ("by_figures", ("naive", "a", "low"), 10**400, r"naive\.a\.low.*1000"),
        ("by_figures", ("naive", "a", "low"), 1e999, "JSON"),
        ("by_figures", ("accuracy", "size"), [1.0], r"accuracy_sizes.*\b1\b.*\b2\b"),
        ("board", ("top",), [], r"top.*\b0\b"),
        ("board", ("naive_pairs", "count"), 7, r"naive_pairs\.count.*\b7\b"),
        ("board", ("significant",), "yes", "significant.*'yes'"),
    ],
)
def test_what_is_wrong_is_told_by_name(name, path, value, told, tmp_path):
    facts = json.loads(make(name).to_json())
    look_up(facts, path[:-1])[path[-1]] = value
    (tmp_path / "result.json").write_text(json.dumps(facts))
    with pytest.raises(InputFileError, match=told):
        kt.read_result(tmp_path / "result.json")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("board", ("sentence",)),
        ("board", ("notes", 0, "text")),
        ("settling", ("rule",)),
        ("aware", ("tables", "verdicts", 0, "claim")),
        ("aware", ("tables", "verdicts", 0, "here")),
    ],
)
def test_a_file_of_the_same_version_may_word_it_otherwise(name, path):
    live = make(name)
    facts = json.loads(live.to_json())
    look_up(facts, path[:-1])[path[-1]] = "as an earlier commit told it"
    assert restore(facts).result.to_dict() == live.to_dict()


def test_verdicts_of_an_earlier_commit_are_made_again():
    live = make("aware")
    facts = json.loads(live.to_json())
    del facts["tables"]["verdicts"]
    facts["tables"]["claims"] = [{"panel": "given", "outcome": "tau_ap", "claim": "", "holds": True, "here": ""}]
    assert restore(facts).result.to_dict() == live.to_dict()


@pytest.mark.parametrize("name", ONE_EACH)
def test_a_file_cut_short_is_refused(name, tmp_path):
    text = make(name).to_json().encode()
    path = tmp_path / "result.json"
    for end in np.linspace(1, len(text) - 1, 12).astype(int):
        path.write_bytes(text[:end])
        with pytest.raises(KaratageError):
            kt.read_result(path)


def list_places(value: object, path: Path_ = ()) -> Iterator[Path_]:
    """Where something stands: every entry of objects, the first of lists."""
    members = list(value.items()) if isinstance(value, dict) else list(enumerate(value))[:1]
    for step, member in members:
        yield (*path, step)
        if isinstance(member, dict | list):
            yield from list_places(member, (*path, step))


@pytest.fixture(params=[pytest.param(1, id="all", marks=pytest.mark.soak), pytest.param(2, id="some")])
def choose(request: pytest.FixtureRequest) -> Callable[[str, dict[str, object]], list[Path_]]:
    """Which places are damaged: half of them in the gate, and fewer of a result that takes long to read."""
    return lambda name, facts: list(list_places(facts))[:: request.param * (3 if name in SLOW else 1)]


def look_up(facts: dict[str, object], path: Path_) -> object:
    for step in path:
        facts = facts[step]
    return facts


@pytest.mark.parametrize("name", ONE_EACH)
def test_anything_left_out_is_refused(name, choose):
    facts = json.loads(make(name).to_json())
    for *steps, last in choose(name, facts):
        place = look_up(facts, steps)
        if last == "schema":  # without which the file is one of the first schema
            continue
        if (last == "kind" and "checks" in steps) or (name, last) == ("benchmark", "judges"):
            continue
        if isinstance(place, dict) and last not in LATER and not FREE & set(map(str, steps)):
            kept = place.pop(last)
            assert refuse(facts), (*steps, last)
            place[last] = kept


@pytest.mark.parametrize("name", ONE_EACH)
def test_what_cannot_be_is_refused(name, choose):
    facts = json.loads(make(name).to_json())
    for number, (*steps, last) in enumerate(choose(name, facts)):
        place = look_up(facts, steps)
        kept = place[last]
        place[last] = _find_wrong(kept, number)
        plain = steps[-1:] == ["notes"] and isinstance(place[last], str)  # a note may be text only
        free = "facts" in steps or (last in PROSE and isinstance(place[last], str))
        assert plain or free or refuse(facts), (*steps, last, place[last])
        place[last] = kept


def _find_wrong(known: object, number: int) -> object:
    """Something of another type, not always the same."""
    if known is None:
        return {"no": "thing"}
    offered = [{"no": "thing"}, "no such thing", 12.5]
    if is_number(known) or known in ("infinite", "-infinite"):
        return offered[number % 2]
    return [value for value in offered if type(value) is not type(known)][number % 2]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("board", ("pairs",)),
        ("evaluation", ("scores", "AP", "value")),
        ("evaluation", ("scores", "AP", "value", 0)),
        ("evaluation", ("gold", "P@5", "judged", 0)),
        ("evaluation", ("draws", 0, "value", 0)),
        ("evaluation", ("weights", 0, "share")),
        ("evaluation", ("approaches",)),
        ("posterior", ("judgments", "judge")),
        ("posterior", ("judgments", "item_topic")),
        ("posterior", ("trace",)),
        ("posterior", ("parameters", "confusion", 0)),
        ("gold_plan", ("items",)),
        ("size_plan", ("estimates",)),
        ("queue", ("settling", "wrong", 0)),
        ("crowd", ("judges",)),
        ("aware", ("mean", 0, 0, 0, 0, 0)),
        ("aware", ("samples",)),
        ("supervised", ("frame", "rmse", "values")),
        ("collaborative", ("mixes", "crowd", "values")),
        ("random_relevance", ("tuples", "size", "values")),
    ],
)
def test_lists_of_unequal_length_are_refused(name, path):
    facts = json.loads(make(name).to_json())
    several = look_up(facts, path)
    several.append(several[0])
    assert refuse(facts)
