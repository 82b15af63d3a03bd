"""Documents that nobody judged: not relevant under a plain sample, gold's to tell in a queue."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.correction.evenness import Evenness, Frame, check_evenness
from karatage.data.axes import BoolArray
from karatage.decisions.estimators.contract import Objection
from tests.notes import gives, list_facts

TOPICS, POOL = 20, 12


def collection(every: int = 1) -> tuple[kt.Runs, pl.DataFrame]:
    """System b shows three documents that the pool does not have, in `every` so many topics."""
    rng = np.random.default_rng(3)
    rows, grades = [], []
    for t in range(TOPICS):
        names = [f"d{t}-{d}" for d in range(POOL)]
        grades += [(str(t), name, int(rng.random() < 0.4)) for name in names]
        first = [names[k] for k in rng.permutation(POOL)[:10]]
        new = [f"new{t}-{d}" for d in range(3)] if t % every == 0 else []
        second = new + [names[k] for k in rng.permutation(POOL)[: 10 - len(new)]]
        for system, ranking in (("a", first), ("b", second)):
            rows += [(str(t), name, system, float(10 - k)) for k, name in enumerate(ranking)]
    runs = pl.DataFrame(rows, schema=["topic", "document", "system", "score"], orient="row")
    return kt.read_runs(runs), pl.DataFrame(grades, schema=["topic", "document", "grade"], orient="row")


def slip(grades: pl.DataFrame) -> pl.Series:
    """A judge's grades, wrong about one document of seven."""
    return pl.Series("grade", grades["grade"].to_numpy() ^ (np.arange(len(grades)) % 7 == 0))


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_they_count_as_not_relevant_under_an_even_sample(measure: str) -> None:
    runs, grades = collection()
    judged = kt.read_judgments(grades.with_columns(pl.lit("j").alias("judge"), slip(grades)))
    scores = kt.score(runs, kt.read_gold(grades), measure).value[0]
    truth = (scores[:, 1] - scores[:, 0]).mean()
    found = [
        kt.compare(
            runs,
            judged,
            kt.read_gold(grades.sample(150, seed=seed)),
            kt.Question(measure=measure, correction="even", claim="these"),
            a="a",
            b="b",
        )
        for seed in range(40)
    ]
    values = np.array([f.corrected.difference.value for f in found if f.corrected is not None])
    assert len(values) == 40
    assert abs(values.mean() - truth) < 4 * values.std(ddof=1) / np.sqrt(40)
    assert truth < -0.05
    assert gives(found[0].assumed, 240, "probability")
    (told,) = [note for note in found[0].notes if note.kind == "measures.unjudged"]
    assert told.facts == {"missing": 60, "shown": 400, "where": "the first 10 ranks", "systems": 2, "share": 0.15}
    assert told in kt.evaluate(runs, judged, measure).notes


@pytest.mark.parametrize(("every", "share"), [(1, "30%"), (5, "6%"), (10, None)])
def test_nothing_is_claimed_where_gold_could_not_tell_of_many_of_them(every: int, share: str | None) -> None:
    """Else a system that finds what nobody judged would be called worse."""
    runs, grades = collection(every)
    judged = kt.read_judgments(grades.with_columns(pl.lit("j").alias("judge"), slip(grades)))
    asked = kt.Question(measure="P@10", claim="these")
    sample = grades.sample(200, seed=1)
    found = kt.compare(runs, judged, kt.read_gold(sample), asked, a="a", b="b")
    board = kt.compare_all(runs, judged, kt.read_gold(sample), asked)
    assert found.corrected is not None
    if share is None:
        assert found.alarm is board.alarm is None
        return
    assert gives(found.alarm, share, 1, "'b'")
    assert board.alarm == found.alarm
    assert found.alarm in str(kt.doctor(runs, judged, kt.read_gold(sample), asked, a="a", b="b").checks)
    assert not found.significant
    assert not board.corrected_pairs.claimed.any()
    told = pl.DataFrame({"topic": ["0"], "document": ["new0-0"], "grade": [1]})
    known = kt.compare(runs, judged, kt.read_gold(sample.vstack(told)), asked, a="a", b="b")
    assert known.alarm is None


def test_on_a_leaderboard_nothing_is_claimed_of_systems_with_many_of_them() -> None:
    apart = np.array([[False, True, False], [True, True, True], [False, True, False]])
    objection = Objection(reason="b has many", apart=apart)
    assert objection.doubt_pair(0, 2).alarm is None
    assert objection.doubt_pair(0, 1).alarm == "b has many"
    doubt = objection.doubt_board()
    assert doubt.alarm is None
    assert doubt.apart is apart
    assert list_facts(doubt) == {"decisions.nothing-claimed": {"apart": 2, "pairs": 3, "reason": "b has many"}}


def test_a_queue_has_them_and_gold_tells() -> None:
    runs, grades = collection()
    judged = kt.read_judgments(grades.with_columns(pl.lit("j").alias("judge")))
    plan = kt.plan(runs, judged, "P@10", budget=1000)
    assert plan.census
    assert plan.items["document"].str.starts_with("new").sum() == 60
    gold = (
        plan.queue.drop("grade")
        .join(grades, on=["topic", "document"], how="left")
        .with_columns(pl.col("grade").fill_null(1))
    )
    found = kt.compare(runs, judged, kt.read_gold(gold), kt.Question(measure="P@10", claim="these"), a="a", b="b")
    assert found.corrected is not None
    assert found.corrected.difference.exact
    pool = kt.score(runs, kt.read_gold(grades), "P@10").value[0].mean(axis=0)
    assert found.corrected.difference.value == pytest.approx(0.3 + pool[1] - pool[0])


def make_frames() -> tuple[kt.Runs, kt.Judgments, pl.DataFrame]:
    """Judges graded p0 to p12 of each topic, and neither u, which a and b show, nor v, which b alone does."""
    shown = {"a": "u p0 p1 p2 p3", "b": "u v p2 p3 p4", "c": "p5 p6 p7 p8 p9"}
    lists = {
        system: {str(t): {name: float(9 - k) for k, name in enumerate(names.split())} for t in range(30)}
        for system, names in shown.items()
    }
    documents = [*(f"p{k}" for k in range(13)), "u", "v"]
    rows = [(str(t), name) for t in range(30) for name in documents]
    gold = pl.DataFrame(rows, schema=["topic", "document"], orient="row")
    rng = np.random.default_rng(5)
    gold = gold.with_columns(grade=pl.Series(rng.integers(0, 2, len(gold))))
    said = gold.filter(pl.col("document").str.starts_with("p")).with_columns(judge=pl.lit("j"))
    return kt.read_runs(lists), kt.read_judgments(said), gold


FRAMES = {
    "that matter and were judged": ("p0 p1 p4", 90),
    "that matter": ("p0 p1 p4 v", 120),
    "that the two show and were judged": ("p0 p1 p2 p3 p4", 150),
    "that the two show": ("p0 p1 p2 p3 p4 u v", 210),
    "that some system shows and were judged": ("p0 p1 p2 p3 p4 p5 p6 p7 p8 p9", 300),
    "that some system shows": ("p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 u v", 360),
    "that were judged": ("p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12", 390),
    "of all": ("p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 u v", 450),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_plain_sample_is_of_the_fewest_documents_that_hold_it(name: str) -> None:
    runs, judged, grades = make_frames()
    documents, size = FRAMES[name]
    drawn = grades.filter(pl.col("document").is_in(documents.split())).sample(fraction=0.5, seed=1)
    question = kt.Question(measure="P@5", correction="even", claim="these")
    found = kt.compare(runs, judged, kt.read_gold(drawn), question, a="a", b="b")
    assert gives(found.assumed, size, "probability")


def test_a_plain_sample_is_looked_at_by_all_systems_and_by_what_the_two_rank_differently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs, judged, grades = make_frames()
    seen: list[Frame] = []

    def listen(frame: Frame, sampled: BoolArray) -> Evenness:
        seen.append(frame)
        return check_evenness(frame, sampled)

    monkeypatch.setattr("karatage.decisions.estimators.drawn.check_evenness", listen)
    question = kt.Question(measure="P@5", correction="even", claim="these")
    kt.compare(runs, judged, kt.read_gold(grades.sample(fraction=0.5, seed=1)), question, a="a", b="b")
    assert seen[0].systems == ("a", "b", "c")
    assert (seen[0].rank > 0).sum(axis=0).tolist() == [150, 150, 150]
    assert seen[0].gap.sum() == pytest.approx(120 / 5)
    assert ((seen[0].gap > 0) == ((seen[0].rank[:, 0] > 0) ^ (seen[0].rank[:, 1] > 0))).all()


def test_gold_with_chances_is_not_taken_as_a_plain_sample() -> None:
    runs, judged, grades = make_frames()
    drawn = grades.sample(fraction=0.5, seed=1).with_columns(pi=pl.lit(0.5))
    question = kt.Question(measure="P@5", correction="even", claim="these")
    found = kt.compare(runs, judged, kt.read_gold(drawn), question, a="a", b="b")
    assert found.refusal is not None
    assert gives(found.refusal, "pi", "--correction sampled")
