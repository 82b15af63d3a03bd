"""Simulated panels: rates and correlations are what was asked for, and judges have streams of their own."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import karatage as kt
from karatage.data.axes import Coded
from karatage.data.judgments import Judgments
from karatage.errors import DataError, OptionError
from karatage.simulation.panel import PanelQuality, simulate_panel
from tests.notes import has_note

ITEMS = 40_000
FIXED = PanelQuality(true_positive=(0.7, 0.7), true_negative=(0.9, 0.9))


def make_gold(grades, top=None):
    names = [f"d{k:06d}" for k in range(len(grades))]
    return Judgments.build(
        judge=Coded.constant("gold", len(names)),
        topic=Coded.of([str(401 + k % 5) for k in range(len(names))]),
        document=Coded.of(names),
        grade=np.asarray(grades, np.int8),
        top_grade=top,
    )


def table(panel):
    """Grades, (judge, item); every judge has graded every item."""
    assert len(panel.grade) == len(panel.judges) * len(panel.item_topic)
    return panel.grade.reshape(len(panel.item_topic), len(panel.judges)).T


@pytest.fixture(scope="module")
def gold():
    return make_gold((np.arange(ITEMS) % 4 == 0).astype(np.int8))


def close(share, expected, size):
    """Within four standard deviations of a binomial share."""
    return abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / size)


def test_every_judge_grades_every_item_of_gold(gold):
    panel = simulate_panel(gold, judges=3, rng=1)
    assert panel.judges == ("judge-01", "judge-02", "judge-03")
    assert panel.topics == gold.topics
    np.testing.assert_array_equal(panel.item, np.repeat(np.arange(ITEMS), 3))
    np.testing.assert_array_equal(panel.judge, np.tile(np.arange(3), ITEMS))
    assert set(np.unique(panel.grade)) == {0, 1}
    assert has_note(panel, "simulation.panel", correlation=0, seed=1)
    assert not panel.grade.flags.writeable
    again = kt.read_judgments(panel.to_frame())  # its axes are in the order that reading gives
    assert again.judges == panel.judges
    np.testing.assert_array_equal(again.grade, panel.grade)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.95])
def test_rates_do_not_depend_on_the_correlation(gold, correlation):
    said = table(simulate_panel(gold, judges=4, correlation=correlation, quality=FIXED, rng=2))
    relevant = gold.grade == 1
    for own in said:
        assert close(own[relevant].mean(), 0.7, relevant.sum())
        assert close(own[~relevant].mean(), 0.1, (~relevant).sum())


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
def test_two_judges_err_together_as_often_as_the_bivariate_normal_says(gold, correlation):
    wrong = table(simulate_panel(gold, judges=2, correlation=correlation, quality=FIXED, rng=3)) != gold.grade
    for grade, rate in (0, 0.1), (1, 0.3):
        of_grade = gold.grade == grade
        bound = np.full(2, norm.ppf(rate))
        both = multivariate_normal.cdf(bound, mean=np.zeros(2), cov=[[1, correlation], [correlation, 1]])
        assert close((wrong[0] & wrong[1])[of_grade].mean(), both, of_grade.sum())
        if correlation:  # and not as often as without
            assert not close((wrong[0] & wrong[1])[of_grade].mean(), rate**2, of_grade.sum())


def test_judges_of_mixed_quality_have_rates_from_the_ranges(gold):
    quality = PanelQuality(true_positive=(0.2, 0.8), true_negative=(0.9, 0.96))
    said = table(simulate_panel(gold, judges=200, quality=quality, rng=4))
    relevant = gold.grade == 1
    hit, rejection = said[:, relevant].mean(axis=1), 1 - said[:, ~relevant].mean(axis=1)
    for rate, (low, high) in (hit, quality.true_positive), (rejection, quality.true_negative):
        noise = 4 * 0.5 / np.sqrt(relevant.sum())
        assert rate.min() > low - noise
        assert rate.max() < high + noise
        spread = (high - low) / np.sqrt(12)
        assert abs(rate.mean() - (low + high) / 2) < 4 * spread / np.sqrt(len(rate))
        assert rate.std() == pytest.approx(spread, rel=0.15)
    assert abs(np.corrcoef(hit, rejection)[0, 1]) < 4 / np.sqrt(200)


def test_seeds_seed_and_more_judges_leave_the_first_ones_alone(gold):
    few = table(simulate_panel(gold, judges=3, correlation=0.4, rng=5))
    np.testing.assert_array_equal(few, table(simulate_panel(gold, judges=3, correlation=0.4, rng=5)))
    np.testing.assert_array_equal(few, table(simulate_panel(gold, judges=120, correlation=0.4, rng=5))[:3])
    mixed = simulate_panel(gold, judges=6, correlation=0.4, quality=PanelQuality(random=2, inverted=1), rng=5)
    assert mixed.judges == ("inverted-01", "judge-01", "judge-02", "judge-03", "random-01", "random-02")
    np.testing.assert_array_equal(few, table(mixed)[1:4])
    assert (few != table(simulate_panel(gold, judges=3, correlation=0.4, rng=6))).any()
    generated = simulate_panel(gold, judges=3, rng=np.random.default_rng(5))
    np.testing.assert_array_equal(generated.grade, simulate_panel(gold, judges=3, rng=np.random.default_rng(5)).grade)


def test_another_correlation_is_another_panel_of_the_same_judges(gold):
    free, bound = (table(simulate_panel(gold, judges=2, correlation=c, rng=7)) for c in (0.0, 0.5))
    assert (free != bound).any()
    relevant = gold.grade == 1
    np.testing.assert_allclose(free[:, relevant].mean(axis=1), bound[:, relevant].mean(axis=1), atol=0.03)


def test_which_documents_are_hard_is_drawn_too(gold):
    of_grade = gold.grade == 0
    one, two = (
        table(simulate_panel(gold, judges=1, correlation=0.99, quality=FIXED, rng=seed))[0] == 1 for seed in (1, 2)
    )
    assert close((one & two)[of_grade].mean(), 0.01, of_grade.sum())


def test_random_and_inverted_judges(gold):
    quality = PanelQuality(true_positive=(0.9, 0.9), true_negative=(0.8, 0.8), random=1, random_share=0.3, inverted=1)
    inverted, random = table(simulate_panel(gold, judges=2, correlation=0.5, quality=quality, rng=8))
    relevant = gold.grade == 1
    for of_grade, share in (relevant, 0.1), (~relevant, 0.8):
        assert close(inverted[of_grade].mean(), share, of_grade.sum())
        assert close(random[of_grade].mean(), 0.3, of_grade.sum())
    neither = (inverted == relevant) & (random == relevant)  # the random one shares nothing with the others
    assert close(neither[relevant].mean(), 0.1 * 0.3, relevant.sum())


def test_with_more_grades_errors_go_to_a_neighbour():
    gold = make_gold(np.arange(ITEMS) % 4)
    said = table(simulate_panel(gold, judges=1, quality=FIXED, rng=9))[0]
    moved = said - gold.grade
    assert set(np.unique(moved)) == {-1, 0, 1}
    size = ITEMS // 4
    for grade, up, down in (0, 0.1, 0.0), (1, 0.15, 0.15), (2, 0.15, 0.15), (3, 0.0, 0.3):
        of_grade = gold.grade == grade
        for step, rate in (1, up), (-1, down):
            share = (moved[of_grade] == step).mean()
            assert close(share, rate, size) if rate else share == 0
    random = table(simulate_panel(gold, judges=1, quality=PanelQuality(random=1), rng=9))[0]
    assert set(np.unique(random)) == {0, 3}
    inverted = table(
        simulate_panel(gold, judges=1, quality=PanelQuality(inverted=1, true_positive=(1, 1), true_negative=(1, 1)))
    )[0]
    np.testing.assert_array_equal(inverted, 3 - gold.grade)


def test_certain_rates_are_certain(gold):
    perfect = PanelQuality(true_positive=(1, 1), true_negative=(1, 1))
    wrong = PanelQuality(true_positive=(0, 0), true_negative=(0, 0))
    np.testing.assert_array_equal(table(simulate_panel(gold, judges=1, quality=perfect, rng=1))[0], gold.grade)
    np.testing.assert_array_equal(table(simulate_panel(gold, judges=1, quality=wrong, rng=1))[0], 1 - gold.grade)


def test_gold_that_calls_nothing_relevant_still_has_two_grades():
    panel = simulate_panel(make_gold(np.zeros(500)), judges=2, rng=1)
    assert panel.top_grade == 1
    assert 0 < panel.grade.mean() < 0.2


def test_what_cannot_be_simulated_is_refused(gold):
    for options, message in (
        ({"judges": 0}, r"\b0\b.*judges"),
        ({"judges": 2, "quality": PanelQuality(random=2, inverted=1)}, r"\b2\b.*\b2\b.*random.*\b1\b.*inverted"),
        ({"correlation": 1.0}, r"correlation.*\b1\.0\b"),
        ({"correlation": -0.1}, r"correlation.*-0\.1\b.*\b0\b.*\b1\b"),
        ({"correlation": float("nan")}, "correlation.*nan"),
        ({"rng": -1}, r"seed.*\b0\b.*-1\b"),
    ):
        with pytest.raises(OptionError, match=message):
            simulate_panel(gold, **options)
    for options, message in (
        ({"true_positive": (0.9, 0.5)}, r"true_positive.*\(0\.9, 0\.5\)"),
        ({"true_negative": (0.9, 1.5)}, "true_negative"),
        ({"random_share": 2}, r"random_share.*\b2\b"),
        ({"inverted": -1}, r"inverted.*\b0\b"),
    ):
        with pytest.raises(OptionError, match=message):
            PanelQuality(**options)
    holes = Judgments.from_codes(judge=np.zeros(2, int), item=np.array([0, 2]), grade=np.array([0, 1]))
    with pytest.raises(DataError, match=r"grade.*\b1\b"):
        simulate_panel(holes)


def test_a_panel_for_the_papers_pool(shared_data):
    gold = kt.read_gold(shared_data / "trec8-adhoc-10topics" / "gold.qrels")
    said = table(simulate_panel(gold, rng=1))
    assert said.shape == (31, 18_260)
    relevant = np.stack([said[:, gold.item_topic == t].sum(axis=1) for t in range(10)], axis=1)
    assert relevant.min() > 0  # nobody has to be dropped
    assert said.mean(axis=1).min() > 0.03
    assert said.mean(axis=1).max() < 0.2
