"""What every consensus model must keep, whatever it believes about judges."""

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karatage as kt
from karatage.aggregation.registry import MODELS, parse_model
from karatage.errors import DataError, KaratageError, OptionError
from tests.notes import has_note

DIALECTS = ["ds(dialect=gal)", "nb(dialect=square)", "ry(dialect=square)", "zc(dialect=square)"]
WEIGHED = ["binmv(quality=ds)", "qbinmv(quality=mace)"]
NAMES = [*sorted(MODELS), *DIALECTS, *WEIGHED]
NEED_GOLD = [name for name in NAMES if parse_model(name).needs_gold]
BINARY = ["cubam", "ry(dialect=square)"]
GRADED = [name for name in NAMES if name not in BINARY]
SELF_TAUGHT = [name for name in NAMES if name != "ds(dialect=gal)"]  # gal hears no judge whom no other confirms
CLIMBING = sorted(set(MODELS) - {"mv"})  # models whose trace is an objective that no step may lower
SHAPES = [
    pytest.param(name, top, id=f"{name}-{top + 1}") for name in NAMES for top in (1, 3) if top == 1 or name in GRADED
]


def make_crowd(seed=0, *, items=40, judges=7, top=1, share=0.7):
    """Rows judge, item, grade by judges of mixed skill; every item has at least one grade. And the true grades."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, top + 1, items)
    skill = rng.uniform(0.4, 0.95, judges)
    seen = rng.random((judges, items)) < share
    seen[rng.integers(judges, size=items), np.arange(items)] = True
    judge, item = np.nonzero(seen)
    right = rng.random(len(judge)) < skill[judge]
    said = np.where(right, truth[item], rng.integers(0, top + 1, len(judge)))
    frame = pl.DataFrame({"judge": [f"j{k}" for k in judge], "item": [f"i{k:02d}" for k in item], "grade": said})
    return frame, pl.DataFrame({"item": [f"i{k:02d}" for k in range(items)], "grade": truth})


def fit(name, judgments, gold=None, *, supervision=None, seed=0):
    """Fit the model itself; those that need gold get some where the test gives none."""
    if gold is None and name in NEED_GOLD:
        documents = judgments.documents.gather(judgments.item_document).head(12)
        gold = kt.read_gold(pl.DataFrame({"item": documents, "grade": np.arange(len(documents)) % 2}))
    supervision = supervision or ("none" if gold is None else "full")
    return parse_model(name).model.fit(judgments, gold=gold, supervision=supervision, rng=seed)


def check_sound(posterior, items):
    assert posterior.probability.shape[0] == items
    np.testing.assert_allclose(posterior.probability.sum(axis=1), 1, atol=1e-9)
    assert (posterior.probability >= 0).all()
    assert np.isfinite(posterior.trace).all()
    for name, values in posterior.parameters.items():
        assert np.isfinite(values).all(), name
    accuracy = posterior.parameters.get("accuracy", np.empty(0))
    assert ((accuracy >= 0) & (accuracy <= 1 + 1e-12)).all()


@pytest.mark.parametrize(("name", "top"), SHAPES)
@pytest.mark.parametrize("supervision", ["none", "light", "full"])
def test_beliefs_are_probabilities_and_better_than_chance(name, top, supervision):
    if supervision == "none" and name in NEED_GOLD:
        return
    frame, truth = make_crowd(3, top=top)
    gold = None if supervision == "none" else kt.read_gold(truth.head(15))
    posterior = fit(name, kt.read_judgments(frame), gold, supervision=supervision)
    check_sound(posterior, 40)
    assert posterior.accuracy(kt.read_gold(truth.tail(25))) > 1.4 / (top + 1)
    if gold is not None:
        assert posterior.accuracy(gold) == 1.0


@pytest.mark.parametrize(("name", "top"), SHAPES)
def test_order_of_rows_does_not_matter(name, top):
    frame, _ = make_crowd(1, top=top)
    one, two = (fit(name, kt.read_judgments(f)) for f in (frame, frame.sample(fraction=1, shuffle=True, seed=4)))
    np.testing.assert_array_equal(one.probability, two.probability)


@pytest.mark.parametrize(("name", "top"), SHAPES)
def test_names_do_not_matter(name, top):
    frame, truth = make_crowd(2, top=top)
    gold = truth.head(10)
    one = by_item(fit(name, kt.read_judgments(frame), kt.read_gold(gold)))
    renamed = frame.with_columns(turn("judge"), turn("item"))
    two = by_item(fit(name, kt.read_judgments(renamed), kt.read_gold(gold.with_columns(turn("item")))))
    np.testing.assert_allclose(one, two[::-1], atol=1e-9)


def turn(column):
    """Names in the opposite order."""
    return pl.col(column).str.head(1) + (90 - pl.col(column).str.slice(1).cast(pl.Int64)).cast(pl.String)


def by_item(posterior):
    """Probabilities in the order of the items' names."""
    return posterior.to_frame().sort("item").select("^p[0-9]+$").to_numpy()


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_result_and_nothing_is_changed(name):
    frame, truth = make_crowd(5)
    judgments, gold = kt.read_judgments(frame), kt.read_gold(truth.head(9))
    before = judgments.grade.copy(), gold.grade.copy()
    one, two = (fit(name, judgments, gold, seed=8) for _ in range(2))
    np.testing.assert_array_equal(one.probability, two.probability)
    np.testing.assert_array_equal(one.grades, two.grades)
    np.testing.assert_array_equal(one.trace, two.trace)
    np.testing.assert_array_equal(before[0], judgments.grade)
    np.testing.assert_array_equal(before[1], gold.grade)


@pytest.mark.parametrize("name", NAMES)
def test_threads_change_nothing(name, monkeypatch):
    monkeypatch.setattr("karatage.kernels.voting.ROWS_PER_BLOCK", 20)
    judgments = kt.read_judgments(make_crowd(6, items=90)[0])
    found = []
    for threads in "1", "2":
        monkeypatch.setenv("KARATAGE_THREADS", threads)
        found.append(fit(name, judgments))
    np.testing.assert_array_equal(found[0].probability, found[1].probability)
    np.testing.assert_array_equal(found[0].trace, found[1].trace)


@pytest.mark.parametrize("name", NAMES)
def test_models_and_posteriors_pickle(name):
    posterior = fit(name, kt.read_judgments(make_crowd(7)[0]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(posterior)).probability, posterior.probability)
    named = parse_model(name)
    assert pickle.loads(pickle.dumps(named)) == named
    assert parse_model(named.name) == named


@pytest.mark.parametrize("name", SELF_TAUGHT)
def test_one_judge_is_followed(name):
    frame = pl.DataFrame({"judge": ["a"] * 20, "item": [f"i{k:02d}" for k in range(20)], "grade": [0, 1] * 10})
    posterior = fit(name, kt.read_judgments(frame))
    check_sound(posterior, 20)
    assert posterior.grades.tolist() == [0, 1] * 10


@pytest.mark.parametrize("name", NAMES)
def test_a_judge_with_one_grade(name):
    frame, _ = make_crowd(8)
    single = pl.DataFrame({"judge": ["late"], "item": ["i05"], "grade": [1]}, schema=frame.schema)
    check_sound(fit(name, kt.read_judgments(pl.concat([frame, single]))), 40)


@pytest.mark.parametrize("name", NAMES)
def test_an_item_without_grades_is_noted(name):
    judge, item = np.array([0, 1, 2, 0, 1, 2, 3]), np.array([0, 0, 0, 2, 2, 2, 2])
    grade = np.array([1, 1, 0, 0, 0, 1, 0])
    crowd = kt.Judgments.from_codes(judge=judge, item=item, grade=grade)
    gold = kt.read_gold(pl.DataFrame({"item": ["0"], "grade": [1]})) if name in NEED_GOLD else None
    posterior = fit(name, crowd, gold)
    check_sound(posterior, 3)
    assert has_note(posterior, "aggregation.silent", items=1)


@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_grades_on_one_item(name):
    rng = np.random.default_rng(0)
    judge = np.r_[np.arange(10_000), np.arange(10_000)]
    item = np.r_[np.zeros(10_000, int), rng.integers(1, 200, 10_000)]
    crowd = kt.Judgments.from_codes(judge=judge, item=item, grade=(rng.random(20_000) < 0.7).astype(np.int8))
    posterior = fit(name, crowd)
    check_sound(posterior, len(posterior.grades))
    assert posterior.grades[0] == 1 or name in NEED_GOLD or name not in SELF_TAUGHT


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("supervision", ["light", "full"])
def test_gold_for_every_item(name, supervision):
    frame, truth = make_crowd(9)
    posterior = fit(name, kt.read_judgments(frame), kt.read_gold(truth), supervision=supervision)
    check_sound(posterior, 40)
    assert posterior.grades.tolist() == truth["grade"].to_list()


# To votes all grades are as likely, and shares of judges are no beliefs.
@pytest.mark.parametrize("name", sorted(set(MODELS) - {"binmv", "emgz", "mv", "qbinmv", "wawa"}))
def test_gold_tells_which_grade_is_common(name):
    """Two judges who are right on gold, all of grade 1, and at odds elsewhere."""
    rows = [(j, i, 1 if i < 8 else (i + j) % 2) for j in range(2) for i in range(14)]
    judge, item, grade = np.array(rows).T
    crowd = kt.Judgments.from_codes(judge=judge, item=item, grade=grade)
    gold = kt.read_gold(pl.DataFrame({"item": [str(i) for i in range(8)], "grade": [1] * 8}))
    assert fit(name, crowd, gold, supervision="light").probability[8:, 1].min() > 0.75


@pytest.mark.parametrize("name", GRADED)
@pytest.mark.parametrize("supervision", ["light", "full"])
def test_gold_with_a_grade_that_no_judge_gave(name, supervision):
    frame, truth = make_crowd(10)
    gold = kt.read_gold(truth.head(10).with_columns(pl.Series("grade", [2, 0, 1, 1, 0, 2, 0, 1, 0, 1])))
    posterior = fit(name, kt.read_judgments(frame), gold, supervision=supervision)
    check_sound(posterior, 40)
    assert posterior.probability.shape[1] == 3
    assert posterior.grades[0] == 2


@pytest.mark.parametrize("name", GRADED)
def test_only_one_grade_in_use(name):
    frame, _ = make_crowd(11)
    posterior = fit(name, kt.read_judgments(frame.with_columns(grade=pl.lit(0))), gold=None)
    check_sound(posterior, 40)
    assert name in NEED_GOLD or not posterior.grades.any()


@pytest.mark.parametrize("name", CLIMBING)
@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    top=st.sampled_from([1, 3]),
    shape=st.tuples(st.integers(1, 25), st.integers(1, 8)),
    supervision=st.sampled_from(["none", "light", "full"]),
)
def test_no_step_lowers_the_objective(name, seed, top, shape, supervision):
    top = 1 if name in BINARY else top
    frame, truth = make_crowd(seed, items=shape[0], judges=shape[1], top=top, share=0.4)
    supervision = "full" if supervision == "none" and name in NEED_GOLD else supervision
    gold = None if supervision == "none" else kt.read_gold(truth.head(3))
    posterior = fit(name, kt.read_judgments(frame), gold, supervision=supervision)
    check_sound(posterior, shape[0])
    slack = 1e-9 * (1 + np.abs(posterior.trace).max(initial=0.0))
    assert (np.diff(posterior.trace) >= -slack).all()


@pytest.mark.parametrize("name", NEED_GOLD)
def test_a_model_that_needs_gold_says_so(name):
    with pytest.raises(OptionError, match="gold and supervision"):
        kt.aggregate(kt.read_judgments(make_crowd()[0]), name)


@pytest.mark.parametrize("name", NAMES)
def test_supervision_without_gold(name):
    with pytest.raises(OptionError, match=r"gold.*none"):
        kt.aggregate(kt.read_judgments(make_crowd()[0]), name, supervision="full")


@pytest.mark.parametrize("name", BINARY)
def test_a_binary_model_refuses_five_grades(name):
    with pytest.raises(KaratageError, match=r"(two|0 and 1|binary)") as caught:
        fit(name, kt.read_judgments(make_crowd(top=4)[0]))
    assert isinstance(caught.value, DataError | OptionError)
