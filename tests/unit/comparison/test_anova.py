"""Analysis of variance: small tables by hand, levels and notes, and what is refused."""

import itertools
import json
import sys

import numpy as np
import polars as pl
import pytest

from karatage.comparison.anova import anova, omega_squared
from karatage.errors import DataError, OptionError, UnknownNameError
from tests.notes import gives, has_note, list_facts


def make_frame(seed=0, repeats=2):
    rng = np.random.default_rng(seed)
    rows = [
        (k, approach, measure, 0.1 * k + 0.3 * (approach == "ds") + rng.normal())
        for k, approach, measure in itertools.product((2, 10, 3), ("mv", "ds", "glad"), ("AP", "ERR"))
        for _ in range(repeats)
    ]
    return pl.DataFrame(rows, schema=["k", "approach", "measure", "score"], orient="row")


def explain(frame, **options):
    return anova(frame, "score", factors=["k", "approach", "measure"], **options)


def test_two_by_two_by_hand():
    """Means 2, 4 | 5, 9: effects of row 2, of column 1.5, jointly 0.5; rows lie 1 above and below their mean."""
    cells = {("a", "x"): 2, ("a", "y"): 4, ("b", "x"): 5, ("b", "y"): 9}
    rows = [(*cell, mean + off) for cell, mean in cells.items() for off in (-1, 1)]
    frame = pl.DataFrame(rows, schema=["row", "column", "score"], orient="row")
    result = anova(frame, "score", factors=["row", "column"], interactions=[("row", "column")])
    table = result.to_frame()
    assert table["source"].to_list() == ["row", "column", "row*column", "error", "total"]
    assert table["ss"].to_list() == [8 * 2**2, 8 * 1.5**2, 8 * 0.5**2, 8, 60]
    assert table["df"].to_list() == [1, 1, 1, 4, 7]
    assert table["ms"].to_list() == [32, 18, 2, 2, None]
    assert table["f"].to_list() == [16, 9, 1, None, None]
    assert table["omega_squared"].to_list() == [15 / 23, 0.5, 0, None, None]
    assert result.p_value.tolist() == pytest.approx([0.016130, 0.039942, 0.373901], abs=1e-6)
    means = result.means("row")
    assert means["level"].to_list() == ["a", "b"]
    assert means["mean"].to_list() == [3, 7]
    assert means["size"].to_list() == [4, 4]
    half = 2.776445 * (2 / 4) ** 0.5  # t with 4 degrees of freedom
    assert means["low"].to_list() == pytest.approx([3 - half, 7 - half], abs=1e-5)
    assert means["high"].to_list() == pytest.approx([3 + half, 7 + half], abs=1e-5)
    joint = result.cell_means("column", "row")
    assert joint.select("first", "second", "mean", "size").rows() == [
        ("x", "a", 2, 2),
        ("x", "b", 5, 2),
        ("y", "a", 4, 2),
        ("y", "b", 9, 2),
    ]
    assert (joint["high"] - joint["mean"]).to_list() == pytest.approx([2.776445] * 4, abs=1e-5)
    wider = result.means("row", confidence=0.99)
    assert (wider["high"] > means["high"]).all()


def test_effect_sizes_are_published_ones_and_never_negative():
    assert omega_squared(33, 171.8716, 5916) == pytest.approx(0.4880, abs=5e-5)
    assert omega_squared(2, 30230.129, 5916) == pytest.approx(0.9109, abs=5e-5)
    assert omega_squared(3, 0.2, 100) == 0
    assert omega_squared(300, 0.2, 100) == 0  # where also the denominator would be negative


def test_an_interaction_takes_its_part_from_the_error():
    frame = make_frame()
    plain, crossed = explain(frame), explain(frame, interactions=[("approach", "measure")])
    np.testing.assert_allclose(plain.fit.ss, crossed.fit.ss[:3])
    assert plain.error_df == crossed.error_df + 2
    assert plain.fit.error_ss == pytest.approx(crossed.fit.error_ss + crossed.fit.ss[3])
    total = crossed.to_frame()["ss"]
    assert total[:-1].sum() == pytest.approx(total[-1])


def test_a_factor_without_interactions_is_the_subject_of_repeated_measures():
    """Taking the subject's means away first gives the same sums of squares for the rest."""
    frame = make_frame(3)
    apart = frame.with_columns(score=pl.col("score") - pl.col("score").mean().over("k"))
    full = explain(frame, interactions=[("approach", "measure")])
    within = anova(apart, "score", factors=["approach", "measure"], interactions=[("approach", "measure")])
    np.testing.assert_allclose(full.fit.ss[1:], within.fit.ss)
    assert full.fit.error_ss == pytest.approx(within.fit.error_ss)


def test_order_of_rows_shift_and_scale_do_not_matter():
    frame = make_frame(1)
    result = explain(frame, interactions=[("k", "approach")])
    shuffled = frame.sample(fraction=1, shuffle=True, seed=5).with_columns(score=7 + 1000 * pl.col("score"))
    other = explain(shuffled, interactions=[("k", "approach")])
    np.testing.assert_allclose(other.f, result.f, rtol=1e-9)
    np.testing.assert_allclose(other.means("k")["mean"], 7 + 1000 * result.means("k")["mean"])


def test_a_large_offset_costs_no_digits():
    frame = make_frame(1).with_columns(score=(pl.col("score") * 1024).round() / 1024)
    far = frame.with_columns(score=pl.col("score") + 2.0**30)
    np.testing.assert_allclose(explain(far).f, explain(frame).f, rtol=1e-7)


def test_levels_stand_in_their_own_order():
    frame = make_frame()
    assert explain(frame).means("k")["level"].to_list() == ["2", "3", "10"]
    texts = frame.with_columns(pl.col("k").cast(pl.String))
    assert explain(texts).means("k")["level"].to_list() == ["2", "3", "10"]
    assert explain(frame).means("approach")["level"].to_list() == ["ds", "glad", "mv"]
    named = frame.with_columns(pl.col("approach").cast(pl.Enum(["mv", "glad", "ds"])))
    assert explain(named).means("approach")["level"].to_list() == ["mv", "glad", "ds"]
    np.testing.assert_allclose(explain(named).f, explain(frame).f)
    real = frame.with_columns(pl.col("k") / 4)
    assert explain(real).means("k")["level"].to_list() == ["0.5", "0.75", "2.5"]


def test_balance_means_every_combination():
    frame = make_frame(repeats=1)
    assert explain(frame).balanced
    assert not explain(frame.head(-1)).balanced
    assert not explain(pl.concat([frame, frame.head(1)])).balanced
    swapped = pl.concat([frame.head(-1), frame.head(1)])  # as many rows, but one combination twice and one never
    assert not explain(swapped).balanced


def test_unbalanced_designs_say_so():
    frame = make_frame()
    result = explain(frame.head(-3))
    assert has_note(result, "comparison.unbalanced")
    assert explain(frame).notes == ()


def test_one_factor_needs_no_balance_and_no_statsmodels(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.regression.linear_model", None)
    frame = make_frame().head(-5)
    result = anova(frame, "score", factors=["approach"])
    assert not result.balanced
    assert result.notes == ()
    table = result.to_frame()["ss"]
    assert table[0] + table[1] == pytest.approx(table[2])


def test_without_statsmodels_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.regression.linear_model", None)
    assert explain(make_frame()).balanced
    with pytest.raises(OptionError, match="statsmodels"):
        explain(make_frame().head(-1))


def test_a_factor_of_one_level_is_left_out_with_its_interactions():
    frame = make_frame(repeats=3).filter(pl.col("measure") == "AP")
    result = explain(frame, interactions=[("approach", "measure"), ("k", "approach")])
    assert result.sources == ("k", "approach", "k*approach")
    assert list_facts(result) == {"comparison.one-level": {"factor": "measure", "level": "AP"}}
    with pytest.raises(UnknownNameError, match="'measure'"):
        result.means("measure")
    with pytest.raises(DataError, match="'measure'"):
        anova(frame, "score", factors=["measure"])


def test_few_degrees_of_freedom_are_noted():
    frame = make_frame(repeats=1)
    result = explain(frame, interactions=[("k", "approach"), ("k", "measure")])
    assert result.error_df == 6
    assert list_facts(result) == {"comparison.few-degrees": {"degrees": 6}}
    for rows, noted in (11, True), (12, False):
        pair = pl.DataFrame({"half": [k % 2 for k in range(rows)], "score": np.random.default_rng(1).random(rows)})
        few = anova(pair, "score", factors=["half"])
        assert few.error_df == rows - 2
        assert has_note(few, "comparison.few-degrees") == noted


def test_what_leaves_no_error_is_refused():
    frame = make_frame(repeats=1).filter(pl.col("measure") == "AP").drop("measure")
    with pytest.raises(DataError, match=r"\b9\b.*\b8\b"):
        anova(frame, "score", factors=["k", "approach"], interactions=[("k", "approach")])
    exact = make_frame().with_columns(score=0.1 * pl.col("k") + (pl.col("approach") == "mv") * 0.7 + 0.3)
    with pytest.raises(DataError, match="'score'"):
        explain(exact)
    with pytest.raises(DataError, match=r"'score'.*\b2\b"):
        explain(make_frame().with_columns(score=2.0))


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
def test_gaps_in_the_response_are_refused(bad):
    frame = make_frame().with_columns(score=pl.when(pl.col("k") == 3).then(bad).otherwise(pl.col("score")))
    with pytest.raises(DataError, match=r"'score'.*\b12\b.*\b36\b"):
        explain(frame)


@pytest.mark.parametrize(("name", "bad"), [("approach", None), ("k", None), ("k", float("nan"))])
def test_gaps_in_factors_are_refused(name, bad):
    frame = make_frame().with_columns(pl.when(pl.col("measure") == "AP").then(bad).otherwise(pl.col(name)).alias(name))
    with pytest.raises(DataError, match=rf"'{name}'.*\b18\b"):
        explain(frame)


def test_what_cannot_be_estimated_is_refused():
    frame = make_frame().with_columns(twin=pl.col("approach").str.to_uppercase())
    with pytest.raises(DataError, match=r"\b5\b.*\b3\b"):
        anova(frame, "score", factors=["approach", "twin"])
    hole = make_frame().filter((pl.col("approach") != "ds") | (pl.col("measure") != "ERR"))
    assert not explain(hole).balanced
    with pytest.raises(DataError, match=r"'approach'.*'measure'.*'ds'"):
        explain(hole, interactions=[("approach", "measure")])
    assert len(explain(hole).cell_means("approach", "measure")) == 5


def test_bad_requests_are_told():
    frame = make_frame()
    with pytest.raises(UnknownNameError, match=r"'scores'.*'score'"):
        anova(frame, "scores", factors=["k"])
    with pytest.raises(UnknownNameError, match=r"'aproach'.*'approach'"):
        anova(frame, "score", factors=["aproach"])
    with pytest.raises(UnknownNameError, match="'measure'"):
        anova(frame, "score", factors=["k"], interactions=[("k", "measure")])
    with pytest.raises(OptionError, match="factor"):
        anova(frame, "score", factors=[])
    for factors, names in ((["k", "k"], "'score', 'k', 'k'"), (["k", "score"], "'score', 'k', 'score'")):
        with pytest.raises(OptionError, match=names):
            anova(frame, "score", factors=factors)
    for pairs in ([("k", "k")], [("k", "approach"), ("approach", "k")]):
        with pytest.raises(OptionError, match="interaction"):
            explain(frame, interactions=pairs)
    with pytest.raises(DataError, match="'measure'"):
        anova(frame, "measure", factors=["k"])
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        explain(frame).means("k", confidence=95)


def test_results_are_whole_and_protected():
    frame = make_frame()
    before = frame.clone()
    result = explain(frame)
    assert frame.equals(before)
    found = json.loads(result.to_json())
    assert found["response"] == "score"
    assert found["balanced"] is True
    assert found["table"] == result.to_frame().to_dicts()
    assert found["means"]["measure"] == result.means("measure").to_dicts()
    assert "approach" in result._repr_html_()
    for array in (result.fit.ss, result.effect("k").mean, result.effect("k").covariance, result.design.response):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_sentence_names_the_largest_sure_effect_and_its_size():
    rng = np.random.default_rng(1)
    rows = [
        {"a": a, "b": b, "y": 3.0 * a + rng.normal(0, 0.1), "noise": rng.normal()}
        for a in range(3)
        for b in range(3)
        for _ in range(4)
    ]
    frame = pl.DataFrame(rows)
    found = anova(frame, "y", factors=["a", "b"])
    assert gives(found.sentence, "y", 1, 2, 0.05, "a", "large")
    nothing = anova(frame, "noise", factors=["a", "b"])
    assert min(nothing.p_value) > 0.05
    assert gives(nothing.sentence, "noise", 2, 0.05)
