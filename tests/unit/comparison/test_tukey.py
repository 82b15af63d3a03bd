"""Tukey's test: groups, letters, order, and options that matter."""

import itertools
import json

import numpy as np
import polars as pl
import pytest

from karatage.comparison.anova import anova
from karatage.comparison.tukey import quantile, tukey
from karatage.errors import OptionError, UnknownNameError
from tests.notes import gives, has_note

MEANS = {"mv": 0.50, "ds": 0.58, "glad": 0.60, "uniform": 0.52, "best": 0.63}


def make_frame(means=MEANS, *, rows=12, noise=0.03, sizes=None):
    """Every level has exactly the mean and spread asked for."""
    pattern = np.resize([-noise, noise], rows)
    frames = []
    for k, (name, mean) in enumerate(means.items()):
        part = pl.DataFrame({"approach": [name] * rows, "block": np.arange(rows) // 2 % 3, "score": mean + pattern})
        frames.append(part if sizes is None else part.head(sizes[k]))
    return pl.concat(frames)


def compare(frame=None, **options):
    return tukey(anova(make_frame() if frame is None else frame, "score", factors=["approach"]), "approach", **options)


def test_levels_stand_best_first():
    assert compare().levels == ("best", "glad", "ds", "uniform", "mv")
    low = compare(lower_is_better=True)
    assert low.levels == ("mv", "uniform", "ds", "glad", "best")
    assert low.top_group == ("mv", "uniform")
    assert compare().top_group == ("best", "glad")
    np.testing.assert_allclose(low.p_value, compare().p_value[::-1, ::-1])


def test_margins_are_the_paper_s():
    """[AWARE17] (30)."""
    result = anova(make_frame(), "score", factors=["approach"])
    test = tukey(result, "approach")
    expected = quantile(0.05, 5, 55) / np.sqrt(2) * np.sqrt(result.error_ms * (1 / 12 + 1 / 12))
    np.testing.assert_allclose(test.margin[~np.eye(5, dtype=bool)], expected)
    gap = np.abs(np.subtract.outer(test.mean, test.mean))
    np.testing.assert_array_equal(test.differs, (gap > expected) & ~np.eye(5, dtype=bool))
    np.testing.assert_array_equal(test.differs, test.p_value < 0.05)


def test_intervals_overlap_exactly_where_levels_do_not_differ():
    frame = compare().to_frame()
    low, high = frame["low"].to_numpy(), frame["high"].to_numpy()
    apart = (low[:, None] > high[None, :]) | (low[None, :] > high[:, None])
    np.testing.assert_array_equal(apart, compare().differs)
    assert apart.any()
    assert not apart.all()


def test_groups_and_letters():
    test = compare()
    assert dict(zip(test.levels, test.letters, strict=True)) == {
        "best": "a",
        "glad": "ab",
        "ds": "b",
        "uniform": "c",
        "mv": "c",
    }
    assert test.group_of("ds") == ("glad", "ds")
    assert test.group_of("mv") == ("uniform", "mv")
    with pytest.raises(UnknownNameError, match=r"'glat'.*'glad'"):
        test.group_of("glat")


@pytest.mark.parametrize("seed", range(8))
def test_two_levels_share_a_letter_exactly_when_they_do_not_differ(seed):
    """Also where levels of few rows lie between levels of many, so that groups are no stretches of the order."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([2, 3, 40], 14)
    level = np.repeat(np.arange(14), sizes)
    score = rng.normal(0, 1, 14)[level] + rng.normal(0, 0.7, len(level))
    test = tukey(anova(pl.DataFrame({"level": level, "score": score}), "score", factors=["level"]), "level")
    for i, j in itertools.combinations(range(14), 2):
        assert bool(set(test.letters[i]) & set(test.letters[j])) == (not test.differs[i, j])
    groups = [{i for i in range(14) if letter in test.letters[i]} for letter in sorted(set("".join(test.letters)))]
    assert not any(a < b for a in groups for b in groups)  # none could be spared


def test_letters_beyond_z_carry_a_number():
    means = {f"s{i:02d}": 0.1 * i for i in range(40)}
    test = compare(make_frame(means, noise=0.02))
    assert test.letters[0] == "a"
    assert test.letters[25:28] == ("z", "a2", "b2")
    assert len(set(test.letters)) == 40


def test_the_level_matters():
    assert len(compare(level=0.001).top_group) > len(compare(level=0.05).top_group)
    assert (compare(level=0.001).margin >= compare().margin).all()
    np.testing.assert_array_equal(compare(level=0.001).p_value, compare().p_value)
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        compare(level=0)


def test_the_paper_s_degrees_of_freedom_ignore_the_other_factors():
    frame = make_frame(rows=6)
    alone = anova(frame, "score", factors=["approach"])
    assert tukey(alone, "approach").df == tukey(alone, "approach", freedom="paper").df == 25
    both = anova(frame, "score", factors=["approach", "block"], interactions=[("approach", "block")])
    ours, paper = tukey(both, "approach"), tukey(both, "approach", freedom="paper")
    assert (ours.df, paper.df) == (15, 25)
    assert paper.margin[0, 1] < ours.margin[0, 1]
    assert paper.p_value[0, 1] < ours.p_value[0, 1]
    with pytest.raises(OptionError, match="'none'"):
        tukey(both, "approach", freedom="none")


def test_many_pairs_go_through_the_table_to_the_same_p_values(monkeypatch):
    rng = np.random.default_rng(4)
    level = np.repeat(np.arange(30), 5)
    frame = pl.DataFrame({"level": level, "score": rng.normal(size=150) + 0.1 * level})
    result = anova(frame, "score", factors=["level"])
    table = tukey(result, "level").p_value
    monkeypatch.setattr("karatage.comparison.tukey.FEW_PAIRS", 1000)
    direct = tukey(result, "level").p_value
    assert (table != direct).any()
    np.testing.assert_allclose(table, direct, rtol=1e-7)


def test_unequal_precision_is_noted():
    uneven = compare(make_frame(sizes=[12, 12, 12, 4, 12]))
    assert has_note(uneven, "comparison.precision-differs")
    assert compare().notes == ()
    place = uneven.levels.index("uniform")
    assert uneven.half_width.argmax() == place
    assert uneven.size[place] == 4


def test_two_levels_have_two_letters_and_half_of_one_margin():
    test = compare(make_frame({"a": 0.5, "b": 0.9}))
    assert test.levels == ("b", "a")
    assert test.letters == ("a", "b")
    np.testing.assert_allclose(test.half_width, test.margin[0, 1] / 2)
    assert gives(test.sentence, "b", "approach", "0.9000", 0.05)


def test_the_sentence_names_the_best_and_those_as_good():
    assert gives(compare().sentence, "best", "0.6300", 1, 0.05, "'glad'")
    clear = compare(make_frame(MEANS | {"best": 0.9}))
    assert gives(clear.sentence, "best", "0.9000", 4, 0.05)
    assert "'glad'" not in clear.sentence


def test_pairs_and_json():
    test = compare()
    pairs = test.pairs()
    assert len(pairs) == 10
    assert pairs.columns == ["first", "second", "difference", "low", "high", "p_value", "differs"]
    first = pairs.row(0, named=True)
    assert (first["first"], first["second"]) == ("best", "glad")
    assert first["difference"] == pytest.approx(0.03)
    assert not first["differs"]
    assert ((pairs["low"] > 0) == pairs["differs"]).all()
    found = json.loads(test.to_json())
    assert found["pairs"] == pairs.to_dicts()
    assert found["levels"] == test.to_frame().to_dicts()
    assert "glad" in test._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        test.p_value[0, 1] = 1
    with pytest.raises(UnknownNameError, match="'aproach'"):
        tukey(anova(make_frame(), "score", factors=["approach"]), "aproach")
