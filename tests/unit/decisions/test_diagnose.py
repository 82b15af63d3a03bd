"""Unit tests of `diagnose`: what each kind of trouble is told as."""

import gzip
import json

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.correction.planning import required_z
from karatage.decisions.estimators.rates import RATES
from karatage.decisions.reading import Sources, read_files
from karatage.errors import OptionError
from tests.notes import gives

TOPICS = [f"q{t}" for t in range(12)]
DOCUMENTS = [f"d{k:02}" for k in range(30)]


def make_runs(**order):
    """{system: {topic: {document: score}}}; `order` shuffles by seed, 0 keeps the documents as they are."""
    found = {}
    for system, seed in order.items():
        found[system] = {}
        for t, topic in enumerate(TOPICS):
            names = DOCUMENTS if seed == 0 else np.random.default_rng([seed, t]).permutation(DOCUMENTS).tolist()
            found[system][topic] = {name: float(len(names) - k) for k, name in enumerate(names[:15])}
    return found


def make_truth(rng):
    return {t: {d: int(rng.random() < 0.4) for d in DOCUMENTS} for t in TOPICS}


def make_judge(truth, rng, right=0.8):
    return {t: {d: g if rng.random() < right else 1 - g for d, g in row.items()} for t, row in truth.items()}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def truth(rng):
    return make_truth(rng)


@pytest.fixture
def crowd(truth, rng):
    return {name: make_judge(truth, rng) for name in ("ann", "bob", "cy")}


def find(diagnosis, kind, state, *facts):
    """The only check of a kind; its finding has these names and numbers."""
    found = [check for check in diagnosis.checks if check.kind == kind]
    assert len(found) == 1, [check.kind for check in diagnosis.checks]
    assert found[0].state == state
    assert not facts or gives(found[0].finding, *facts), found[0].finding
    return found[0]


def list_kinds(diagnosis):
    return [check.kind for check in diagnosis.checks]


def test_what_is_fine_is_ok_throughout(truth, crowd):
    found = kt.doctor(make_runs(old=1, new=2), crowd, truth)
    assert {c.state for c in found.checks if c.kind != "decision.few-topics"} == {"ok"}
    assert found.pair == ("new", "old")
    assert gives(found.sentence, "P@10", "new", "old")
    assert found.cannot == ()
    assert found.measures["measure"].to_list() == ["P@10", "DCG@10", "RBP(p=0.8)", "nDCG@10", "AP"]
    assert found.measures["way"].to_list() == ["census"] * 5


def test_the_difference_that_shows_is_that_of_compare(truth, crowd):
    runs, judgments, gold = kt.read_runs(make_runs(a=1, b=2)), kt.read_judgments(crowd), kt.read_gold(truth)
    found = kt.doctor(runs, judgments, gold, "P@5", a="a", b="b")
    said = kt.compare(runs, judgments, gold, "P@5", a="a", b="b").corrected.difference
    assert found.measures["detectable"][0] == pytest.approx(required_z(0.05, 0.8) * said.standard_error)


def test_without_gold_nothing_is_claimed_and_a_plan_is_proposed(crowd):
    found = kt.doctor(make_runs(a=1, b=2), crowd, None, "nDCG@5")
    find(found, "gold.none", "warning")
    assert gives(found.cannot[-1], "better")
    assert gives(found.sentence, 107, "karatage plan", "nDCG@5")
    plan = "karatage plan runs -j judgments.csv -m nDCG@5 --a a --b b --budget 107 -o queue.csv"
    assert found.commands == ("karatage audit judgments.csv", plan)


def test_systems_that_rank_alike_are_told(truth, crowd):
    found = kt.doctor(make_runs(one=1, twin=1, other=2), crowd, truth)
    find(found, "runs.twins", "warning", 10, "'one'", "'twin'")
    pair = kt.doctor(make_runs(one=1, twin=1), crowd, truth)
    find(pair, "decision.same", "warning", "'one'", "'twin'", "P@10")
    assert gives(pair.sentence, "P@10", "one", "twin")


def test_systems_alike_in_the_first_ranks_only_depend_on_the_depth(truth, crowd):
    runs = make_runs(one=0, late=0)
    for topic in TOPICS:
        row = runs["late"][topic]
        row["d13"], row["d14"] = row["d14"], row["d13"]
    assert "runs.twins" in list_kinds(kt.doctor(runs, crowd, truth, "P@10"))
    assert "runs.twins" not in list_kinds(kt.doctor(runs, crowd, truth, "AP"))


def test_topics_and_ranks_that_are_missing(truth, crowd):
    runs = make_runs(whole=1, few=2, short=3)
    runs["few"] = {t: runs["few"][t] for t in TOPICS[:9]}
    runs["short"] = {t: dict(list(row.items())[:4]) for t, row in runs["short"].items()}
    found = kt.doctor(runs, crowd, truth)
    find(found, "runs.lacking-topics", "warning", 1, "'few'", "'few'", 3, 12)
    find(found, "runs.short", "warning", 10, 12, 33, 1, "'short'")
    table = {row["system"]: row for row in found.systems.to_dicts()}
    assert (table["few"]["topics"], table["short"]["short"], table["whole"]["short"]) == (9, 12, 0)


def test_a_pool_that_favours_a_system(truth, crowd):
    runs = make_runs(inside=0, outside=0)
    runs["outside"] = {
        t: {f"x{d}" if k % 2 else d: s for k, (d, s) in enumerate(row.items())} for t, row in runs["outside"].items()
    }
    found = kt.doctor(runs, crowd, truth)
    find(found, "pool.unjudged", "warning", "50%", "'outside'", "100%", "'inside'", 10)
    assert dict(found.systems.select("system", "judged").iter_rows()) == {"inside": 1.0, "outside": 0.5}


def test_nothing_in_common_is_wrong(truth, crowd):
    other = {"a": {"t1": {"d01": 1.0}}, "b": {"t1": {"d02": 1.0}}}
    found = kt.doctor(other, crowd, truth)
    find(found, "pool.no-common-topic", "wrong", "'t1'", "'q0'")
    strangers = {
        s: {t: {f"x{d}": v for d, v in r.items()} for t, r in rows.items()} for s, rows in make_runs(a=1, b=2).items()
    }
    find(kt.doctor(strangers, crowd, truth), "pool.nothing-judged", "wrong", "'xd00'", "'d00'")
    gold = {"q1": {"elsewhere": 1}}
    found = kt.doctor(make_runs(a=1, b=2), crowd, gold)
    find(found, "gold.no-common-item", "wrong", "'elsewhere'", "'d00'")
    assert found.state == "wrong"
    assert find(found, "gold.no-common-item", "wrong").finding in found.sentence


def test_items_without_topics_meet_no_runs(crowd):
    items = pl.DataFrame({"judge": ["a", "b"], "item": ["d01", "d01"], "grade": [0, 1]})
    find(kt.doctor(make_runs(a=1, b=2), items), "pool.no-topics", "wrong")
    gold = {"q1": {"d01": 1}}
    find(kt.doctor(None, items, gold), "gold.other-items", "wrong")


def test_judges_are_looked_at(truth, crowd, rng):
    crowd["constant"] = {t: dict.fromkeys(DOCUMENTS, 1) for t in TOPICS}
    crowd["inverted"] = {t: {d: 1 - g for d, g in row.items()} for t, row in make_judge(truth, rng, 0.9).items()}
    crowd["ann again"] = crowd["ann"]
    crowd["guest"] = {"q1": {"d01": 1, "d02": 0}}
    found = kt.doctor(None, crowd, truth)
    find(found, "judges.constant", "warning", 1, "'constant'", "'constant'", 1, 360)
    inverted = find(found, "judges.inverted", "warning", 1, "'inverted'")
    assert gives(inverted.advice, "invert")
    find(found, "judges.copied", "warning", 2, "'ann', 'ann again'")
    find(found, "judges.few-items", "warning", 20, 1, "'guest'")
    find(found, "judges.one-topic", "warning", 12, 1, "'guest'")


def test_a_judge_alone_who_says_one_thing_only(truth):
    judge = {"yes": {t: dict.fromkeys(DOCUMENTS, 1) for t in TOPICS}}
    find(kt.doctor(None, judge), "judges.same-grade", "warning", 1, "'yes'")
    find(kt.doctor(None, judge, truth), "judges.constant", "warning", 1, "'yes'", "'yes'", 1, 360)


def test_overlap_decides_what_can_be_said_of_a_panel(truth):
    halves = {
        "first": {t: dict(list(row.items())[:15]) for t, row in truth.items()},
        "second": {t: dict(list(row.items())[15:]) for t, row in truth.items()},
    }
    found = kt.doctor(None, halves, None)
    find(found, "judges.no-overlap", "warning")
    assert any(gives(line, "agreement") for line in found.cannot)
    assert not any(gives(line, "agreement") for line in found.can)
    halves["second"]["q0"] = truth["q0"]
    found = kt.doctor(None, halves, None)
    find(found, "judges.little-overlap", "warning", "4%")
    assert any(gives(line, "agreement", 2) for line in found.can)


def test_scales_that_differ(truth, crowd):
    gold = {t: {d: 3 * g for d, g in row.items()} for t, row in truth.items()}
    found = kt.doctor(make_runs(a=1, b=2), crowd, gold)
    told = find(found, "gold.scales-differ", "warning", "0-1", "0-3")
    assert "--gold-grades 1=0,2=1,3=1" in told.advice
    crowd = {j: {t: {d: 2 * g for d, g in r.items()} for t, r in rows.items()} for j, rows in crowd.items()}
    told = find(kt.doctor(None, crowd, truth), "gold.scales-differ", "warning", "0-2", "0-1")
    assert "--grades 1=0,2=1" in told.advice


def test_gold_that_tells_nothing_apart(truth, crowd):
    none = find(kt.doctor(None, crowd, truth, "P(rel=2)@10"), "gold.one-kind", "warning", "P(rel=2)@10", 2)
    assert gives(none.finding, "no")
    same = {t: dict.fromkeys(row, 1) for t, row in truth.items()}
    every = find(kt.doctor(None, crowd, same), "gold.one-kind", "warning", "P@10", 1)
    assert gives(every.finding, "every")


def test_gold_huddled_in_few_topics_is_refused_with_the_reason(truth, crowd):
    gold = {t: dict(list(truth[t].items())[:10]) for t in TOPICS[:3]}
    found = kt.doctor(make_runs(a=1, b=2), crowd, gold)
    find(found, "gold.size", "ok", 30, 3)
    told = find(found, "decision.refused", "warning", "P@10", 3, 12)
    assert told.finding.endswith(found.measures["refusal"][0])
    assert any(gives(line, "P@10", "DCG@10", 3, 12) for line in found.cannot)
    assert any(command.startswith("karatage plan ") for command in found.commands)


def test_a_plain_sample_allows_weighted_sums_only(truth, crowd, rng):
    gold = {t: {d: g for d, g in row.items() if rng.random() < 0.5} for t, row in truth.items()}
    found = kt.doctor(make_runs(a=1, b=2), crowd, gold)
    assert RATES.premise not in [check.finding for check in found.checks]  # which the answer does not use
    assert found.measures["way"].to_list() == ["even", "even", "even", "even", None]
    assert gives(found.can[-1], "P@10", "DCG@10", "RBP(p=0.8)", "nDCG@10", "random sample")
    assert not gives(found.can[-1], "AP")
    assert gives(found.cannot[-1], "AP", "weighted sum")
    asked = kt.doctor(make_runs(a=1, b=2), crowd, gold, "AP")
    assert gives(asked.sentence, "AP", "P@10", "DCG@10", "RBP(p=0.8)", "nDCG@10")
    assert any(
        command.startswith("karatage compare runs -j judgments.csv -g gold.qrels -m P@10") for command in asked.commands
    )


def test_a_queue_drawn_for_others_is_refused(truth, crowd):
    runs, judgments = kt.read_runs(make_runs(a=1, b=2, c=3)), kt.read_judgments(crowd)
    queue = kt.plan(runs, judgments, "P@10", budget=60, a="a", b="b").queue
    graded = [truth[t][d] for t, d in queue.select("topic", "document").iter_rows()]
    gold = kt.read_gold(queue.with_columns(pl.Series("grade", graded)))
    right = kt.doctor(runs, judgments, gold, a="a", b="b")
    assert right.measures["way"][0] == "sampled"
    find(right, "gold.size", "ok", 60, "P@10")
    wrong = kt.doctor(runs, judgments, gold, a="a", b="c")
    find(wrong, "decision.refused", "warning", "P@10", "queue", "systems")


def test_few_topics_are_told(truth, crowd):
    runs = {s: {t: rows[t] for t in TOPICS[:5]} for s, rows in make_runs(a=1, b=2).items()}
    find(kt.doctor(runs, crowd, truth), "decision.few-topics", "warning", 5)
    find(kt.doctor(runs, crowd), "decision.too-few-topics", "warning", 5)
    find(kt.doctor(make_runs(a=1, b=2), crowd, truth), "decision.few-topics", "warning", 12)


def test_names_of_systems(truth, crowd):
    runs = make_runs(first=1, second=2, third=3)
    assert kt.doctor(runs, crowd, truth, a="third", b="first").pair == ("third", "first")
    assert kt.doctor(make_runs(a=1, b=2), crowd, truth, b="a").pair == ("b", "a")
    unknown = kt.doctor(runs, crowd, truth, a="frist", b="second")
    find(unknown, "runs.unknown", "wrong", "'frist'", "'first'")
    assert unknown.pair is None
    with pytest.raises(OptionError):
        kt.doctor(runs, crowd, truth, a="first")
    with pytest.raises(OptionError, match="'first'"):
        kt.doctor(runs, crowd, truth, a="first", b="first")
    with pytest.raises(OptionError):
        kt.doctor()


class TestFiles:
    @pytest.fixture
    def folder(self, tmp_path):
        for name, seed in {"old": 1, "new": 2}.items():
            kt.write_run(kt.read_runs(make_runs(**{name: seed})), name, tmp_path / "runs" / name)
        return tmp_path

    def test_every_bad_file_is_named_and_the_others_are_read(self, folder, crowd):
        bad = {
            "columns.run": b"q1 Q0 d1 1 2.0\n",
            "comma.run": b"q1 Q0 d1 1 0,5 x\n",
            "cut.gz": gzip.compress(b"q1 Q0 d1 1 2.0 x\n" * 99)[:40],
            "empty.run": b"",
            "twice.run": b"q1 Q0 d1 1 2.0 x\nq1 Q0 d1 2 1.0 x\n",
            "utf16.run": "q1 Q0 d1 1 2.0 x\n".encode("utf-16"),
        }
        for name, content in bad.items():
            (folder / "runs" / name).write_bytes(content)
        found = kt.doctor([folder / "runs", folder / "missing"], crowd)
        wrong = [check.finding for check in found.checks if check.state == "wrong"]
        for name in [*bad, "missing"]:
            assert sum(f"{name}" in text for text in wrong) == 1, name
        assert len(wrong) == len(bad) + 1
        assert any(gives(text, "twice.run:2", "'d1'") for text in wrong)
        find(found, "files.read", "ok", "runs", 2, "judgments")
        assert found.systems["system"].to_list() == ["new", "old"]
        assert found.commands == ()

    def test_files_that_contradict_each_other(self, tmp_path):
        for name, line in {"a": "q1 0 d1 1", "b": "q1 0 d2 0"}.items():
            (tmp_path / name).write_text(f"{line}\n")
        (tmp_path / "items").write_text("d7 1\nd8 0\n")
        names = [str(tmp_path / name) for name in ("a", "items", "b")]
        found = read_files(Sources(gold=names), 10)
        assert len(found.gold.grade) == 2
        (wrong,) = [check for check in found.checks if check.state == "wrong"]
        assert gives(wrong.finding, tmp_path / "items", "topics")

    def test_what_could_not_be_read_is_not_called_missing(self, folder, crowd):
        (folder / "gold.qrels").write_text("q1 0 d1 maybe\n")
        found = kt.doctor(folder / "runs", crowd, folder / "gold.qrels")
        find(found, "files.unread", "wrong", folder / "gold.qrels:1", "'maybe'")
        assert "gold.none" not in list_kinds(found)
        assert any(gives(line, "accuracy", "read") for line in found.cannot)

    def test_ties_and_ranks_of_the_files(self, folder, crowd):
        lines = [f"{t} Q0 {d} {k} {5.0} tied" for t in TOPICS for k, d in enumerate(DOCUMENTS[:12])]
        (folder / "runs" / "tied").write_text("\n".join(lines) + "\n")
        lines = [f"{t} Q0 {d} {k} {float(k)} upward" for t in TOPICS for k, d in enumerate(DOCUMENTS[:12])]
        (folder / "runs" / "upward").write_text("\n".join(lines) + "\n")
        found = kt.doctor(folder / "runs", crowd)
        find(found, "runs.ties", "warning", 1, "'tied'")
        find(found, "runs.ranks", "warning", 1, folder / "runs" / "upward:2")

    def test_bad_options_are_no_fault_of_files(self):
        with pytest.raises(OptionError, match="'nonsense'"):
            Sources(judgments="x", grades=("nonsense", None))


def test_round_trip_and_page(truth, crowd, tmp_path):
    found = kt.doctor(make_runs(a=1, b=2, c=3), crowd, truth)
    (tmp_path / "d.json").write_text(found.to_json())
    again = kt.read_result(tmp_path / "d.json").result
    assert again.to_json() == found.to_json()
    assert again.sentence == found.sentence
    assert found.to_frame().columns == ["about", "state", "finding", "advice"]
    assert "<table" in found._repr_html_()
    assert found.plot().to_dict()["title"]["text"].endswith("P@10")


def test_checks_of_earlier_files_have_no_kind(truth, crowd, tmp_path):
    found = kt.doctor(make_runs(a=1, b=2), crowd, truth)
    told = json.loads(found.to_json())
    assert [check.pop("kind") for check in told["checks"]] == list_kinds(found)
    (tmp_path / "d.json").write_text(json.dumps(told))
    again = kt.read_result(tmp_path / "d.json").result
    assert list_kinds(again) == [""] * len(found.checks)
    assert again.to_frame().equals(found.to_frame())
    assert json.loads(again.to_json()) == told


def test_hostile_names_show_as_text(truth, crowd):
    name = '<script>alert("x")</script>\u202e' + "x" * 500
    runs = make_runs(a=1, b=2)
    found = kt.doctor({"fine": runs["a"], name: runs["b"]}, {**crowd, name: crowd["ann"]}, truth)
    assert all("\u202e" not in check.finding for check in found.checks)
    assert max(len(check.finding) for check in found.checks) < 600
    assert "<script>alert" not in found._repr_html_()


def test_known_faults_of_dl_2021_are_found(shared_data):
    """What is known of this collection: three runs of one team that are one, a judge that is another, a binary half."""
    home = shared_data / "trec-dl-2021-passage"
    found = kt.doctor(home / "runs", home / "llm_labels.tsv.gz", home / "gold.qrels", "nDCG@10")
    find(found, "runs.twins", "warning", 10, "'pash_f1', 'pash_f2', 'pash_f3'")
    find(found, "judges.copied", "warning", "'llama3.2_binary', 'llama3.2_binary.M'")
    find(found, "gold.scales-differ", "warning", "0-5", "0-3")
    assert found.measures["way"].to_list() == ["census"] * 5
    assert gives(found.sentence, "nDCG@10", "0.077")


def test_mixed_scales_get_no_option_that_is_for_all_judges(truth):
    rng = np.random.default_rng(1)
    scales = {"binary": 1, "graded": 3, "percent": 99}
    mixed = {
        name: {t: {d: round(g * top * rng.uniform(0.3, 1)) for d, g in row.items()} for t, row in truth.items()}
        for name, top in scales.items()
    }
    mixed["percent"]["q0"]["d0"] = 99
    gold = {t: {d: 3 * g for d, g in row.items()} for t, row in truth.items()}
    advice = find(kt.doctor(None, mixed, gold), "gold.scales-differ", "warning", "0-99", "0-3").advice
    assert "=" not in advice
    assert gives(advice, "karatage aggregate", "-j mapped")


def test_the_mapping_that_is_advised_leaves_gold_as_it_is(truth, crowd, tmp_path):
    doubled = {j: {t: {d: 2 * g for d, g in r.items()} for t, r in rows.items()} for j, rows in crowd.items()}
    kt.write_judgments(kt.read_judgments(doubled), tmp_path / "crowd.csv")
    kt.write_judgments(kt.read_gold(truth), tmp_path / "gold.qrels")
    found = kt.doctor(None, tmp_path / "crowd.csv", tmp_path / "gold.qrels")
    advice = find(found, "gold.scales-differ", "warning", "0-2", "0-1").advice
    assert "--grades 1=0,2=1 --gold-grades 0-1" in advice
    sources = Sources(
        judgments=tmp_path / "crowd.csv", gold=tmp_path / "gold.qrels", grades=("1=0,2=1", "0-1"), runs=None
    )
    files = read_files(sources, 10)
    assert (files.judgments.top_grade, files.gold.top_grade) == (1, 1)


@pytest.fixture(scope="module")
def few():
    """Eight topics, and gold on all of them."""
    return kt.simulation.simulate_collection(systems=3, topics=8, depth=20, rng=7)


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_gold_on_everything_decides_over_few_topics(few, measure):
    found = kt.doctor(few.runs, few.judgments, few.pool, measure, a="system-01", b="system-02")
    assert found.measures["way"].null_count() == 0
    find(found, "decision.few-topics", "warning", 8)
    assert [command.split()[1] for command in found.commands] == ["audit", "compare", "report"]


def test_a_budget_is_no_larger_than_what_matters(few):
    found = kt.doctor(few.runs, few.judgments, None, "P@10", a="system-01", b="system-02")
    size = kt.plan(few.runs, few.judgments, "P@10", budget=5, a="system-01", b="system-02").frame_size
    assert size < 200
    assert any(f"--budget {size} " in command for command in found.commands)
    assert gives(found.sentence, size, "karatage plan")


def test_what_holds_for_these_topics_only_is_asked_so(few):
    topics = few.judgments.topics[:4]
    judgments, gold = few.judgments.only_topics(topics), few.pool.only_topics(topics)
    found = kt.doctor(few.runs, judgments, gold, "P@10", a="system-01", b="system-02")
    assert found.measures["way"].null_count() == len(found.measures)
    assert [command.split()[1] for command in found.commands] == ["audit", "compare", "report"]
    assert all("--claim these" in command for command in found.commands[1:])
    assert any("--claim these" in line for line in found.can)


def test_repeated_grades_are_votes_and_told(truth, crowd):
    rows = [(j, t, d, g) for j, topics in crowd.items() for t, row in topics.items() for d, g in row.items()]
    again = [row for row in rows if row[0] == "ann" and row[1] == "q0"]
    table = pl.DataFrame(rows + 3 * again, schema=["judge", "topic", "document", "grade"], orient="row")
    found = kt.doctor(None, table, None)
    told = find(found, "judges.repeats", "warning", 1, 4)
    assert "--repeats last" in told.advice
    find(found, "judges.size", "ok", 3, f"{len(rows):,}", "0-1", f"{len(rows) + 3 * len(again):,}")
    once = kt.doctor(None, kt.read_judgments(table, repeats="last"), None)
    assert "judges.repeats" not in list_kinds(once)


def test_nothing_that_fails_is_proposed(tmp_path):
    (tmp_path / "odd.csv").write_text("Model,Query ID,Passage,Verdict,n\ngpt,1,a,2,1\n")
    found = kt.doctor(None, tmp_path / "odd.csv")
    assert found.commands == ()
    find(found, "files.unread", "wrong", "Model, Query ID, Passage, Verdict, n", "--columns grade=NAME")


def test_not_all_of_too_many_pairs_are_tested_for_copies_and_that_is_told(monkeypatch):
    source = np.random.default_rng(1)
    said = source.integers(0, 2, (30, 60))
    said[20] = said[3]
    rows = [(f"j{j}", f"i{i}", int(said[j, i])) for j in range(30) for i in range(60)]
    crowd = pl.DataFrame(rows, schema=["judge", "item", "grade"], orient="row")
    exact = kt.doctor(None, crowd, None)
    monkeypatch.setattr("karatage.agreement.intervals.MOST_PAIRS", 100)
    monkeypatch.setattr("karatage.agreement.intervals.DRAWS", 60)
    found = kt.doctor(None, crowd, None)
    find(found, "judges.copies-sampled", "warning", 435)
    assert "judges.copies-sampled" not in list_kinds(exact)
    for diagnosis in (exact, found):
        find(diagnosis, "judges.copied", "warning", 2, "'j20', 'j3'")
