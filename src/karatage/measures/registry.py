"""All measures: each is one declaration, beside the functions that compute it.

To add a measure, write its functions here, declare it as a `Family`, and name its oracle; a new loop over ranks goes
into `kernels.ranking`. Where only probabilities of grades are known, items are taken as independent [RANDREL18]
[RANDREL19].
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, IntArray
from karatage.errors import OptionError, UnknownNameError
from karatage.kernels import ranking
from karatage.measures.spec import (
    Block,
    Chances,
    Check,
    Curve,
    CurveParts,
    Family,
    Measure,
    SumWeights,
    Value,
    WeightedSum,
    check_between,
    check_gains,
    check_grade,
    check_one_of,
)
from karatage.notation import parse_notation
from karatage.text import shorten

EXAMPLES = "AP, nDCG@20, P(rel=2)@10 or RBP(p=0.8)"

Scored = tuple[FloatArray, BoolArray | None]
Expectation = tuple[FloatArray, FloatArray | None]


# Weighted sums: P, RBP, DCG and nDCG.


def _even_weights(measure: Measure, depth: int) -> FloatArray:
    assert measure.cutoff is not None
    return np.full(depth, 1 / measure.cutoff)


@lru_cache(maxsize=64)
def _geometric_weights(measure: Measure, depth: int) -> FloatArray:
    p = measure.number("p", 0.8)
    weight: FloatArray = (1 - p) * np.power(p, np.arange(1.0, depth + 1) - 1)
    return weight


@lru_cache(maxsize=64)
def _discounts(measure: Measure, depth: int) -> FloatArray:
    rank = np.arange(1.0, depth + 1)
    weight: FloatArray
    if measure.discount == "jk":
        weight = 1 / np.maximum(1.0, np.log(rank) / np.log(measure.number("base", 2)))
    else:
        weight = 1 / np.log2(rank + 1)
    return weight


def _one_step(measure: Measure, top_grade: int) -> tuple[IntArray, FloatArray]:
    del top_grade
    return np.array([measure.level], np.int32), np.ones(1)


def _gain_steps(measure: Measure, top_grade: int) -> tuple[IntArray, FloatArray]:
    """A gain per grade as increments: grade g gains the sum of the steps whose level is at most g."""
    gain = np.arange(top_grade + 1, dtype=float)
    if measure.has("rel"):
        gain = (gain >= measure.level).astype(float)
    elif measure.discount == "exp-log2":
        gain = 2.0**gain - 1
    for grade, value in measure.gains:
        if 0 <= grade <= top_grade:
            gain[grade] = value
    step = np.diff(gain, prepend=0.0)
    if step.min() < 0:
        raise OptionError(f"{measure}: a higher grade must not have a lower gain; gains are {gain.tolist()}")
    level = np.flatnonzero(step)
    if level.size == 0:
        level = np.array([1])
    return level.astype(np.int32), np.r_[step, 0.0][level]


PRECISION = SumWeights(_even_weights, _one_step)
GEOMETRIC = SumWeights(_geometric_weights, _one_step)
DISCOUNTED = SumWeights(_discounts, _gain_steps)


def _weighted_sum(weights: SumWeights, measure: Measure, block: Block) -> Scored:
    out = block.empty()
    level, step = weights.gain(measure, block.top_grade)
    weight = weights.rank(measure, measure.depth(block.deepest))
    ranking.sum_gains(block.ranked, block.grade, level, step, weight, out)
    return out, None


def _expected_sum(weights: SumWeights, measure: Measure, chances: Chances) -> Expectation:
    gain = chances.gain(*weights.gain(measure, chances.top_grade))
    return _sum_expected(chances, gain, weights.rank(measure, measure.depth(chances.deepest))), None


def _sum_expected(chances: Chances, gain: FloatArray, weight: FloatArray) -> FloatArray:
    out = chances.empty()
    ranking.sum_expected_gains(chances.ranked, gain, weight, out)
    return out


def _normalised_gain(measure: Measure, block: Block) -> Scored:
    level, step = _gain_steps(measure, block.top_grade)
    count = np.stack([block.count(int(k)) for k in level])
    ideal = np.zeros(block.grade.shape[1])
    ranking.sum_ideal_gains(count, step, _discounts(measure, measure.depth(block.grade.shape[0])), ideal)
    gain, _ = _weighted_sum(DISCOUNTED, measure, block)
    return gain / np.where(ideal > 0, ideal, 1.0), ideal > 0


def _expected_normalised_gain(measure: Measure, chances: Chances) -> Expectation:
    """E[DCG] over the exact E[ideal DCG]: in an ideal ranking rank n reaches a level where n items of the pool do."""
    level, step = _gain_steps(measure, chances.top_grade)
    weight = _discounts(measure, measure.depth(chances.pool))
    ideal = np.zeros(chances.probability.shape[0])
    for reached, size in zip(level.tolist(), step.tolist(), strict=True):
        ranking.add_ideal_gains(chances.tail(reached), size, weight, ideal)
    gain, _ = _expected_sum(DISCOUNTED, measure, chances)
    relevant = np.where(ideal > 0, chances.relevant(int(level[0])), 0.0)
    return gain / np.where(ideal > 0, ideal, 1.0), relevant


# Measures that count relevant documents.


def _hits(measure: Measure, block: Block, level: int) -> FloatArray:
    out = block.empty()
    ones = np.ones(measure.depth(block.deepest))
    ranking.sum_gains(block.ranked, block.grade, np.array([level], np.int32), np.ones(1), ones, out)
    return out


def _expected_hits(measure: Measure, chances: Chances) -> FloatArray:
    return _sum_expected(chances, chances.tail(measure.level), np.ones(measure.depth(chances.deepest)))


def _per_relevant(total: FloatArray, relevant: FloatArray) -> Scored:
    return total / np.maximum(relevant, 1.0), relevant > 0


def _per_expected(total: FloatArray, relevant: FloatArray) -> Expectation:
    return total / np.where(relevant > 0, relevant, 1.0), relevant


def _precision(measure: Measure, block: Block) -> Scored:
    assert measure.cutoff is not None
    return _hits(measure, block, measure.level) / measure.cutoff, None


def _expected_precision(measure: Measure, chances: Chances) -> Expectation:
    assert measure.cutoff is not None
    return _expected_hits(measure, chances) / measure.cutoff, None


def _recall(measure: Measure, block: Block) -> Scored:
    return _per_relevant(_hits(measure, block, measure.level), block.count(measure.level))


def _expected_recall(measure: Measure, chances: Chances) -> Expectation:
    return _per_expected(_expected_hits(measure, chances), chances.relevant(measure.level))


def _average_precision(measure: Measure, block: Block) -> Scored:
    out = block.empty()
    ranking.sum_precisions(block.ranked, block.grade, measure.level, measure.depth(block.deepest), out)
    return _per_relevant(out, block.count(measure.level))


def _expected_average_precision(measure: Measure, chances: Chances) -> Expectation:
    """The paper's eRAP: [RANDREL19], section 2.2."""
    out, depth = chances.empty(), measure.depth(chances.deepest)
    ranking.sum_expected_precisions(chances.ranked, chances.tail(measure.level), depth, out)
    return _per_expected(out, chances.relevant(measure.level))


def _one_gain(measure: Measure, top_grade: int) -> FloatArray:
    return (np.arange(top_grade + 1) >= measure.level).astype(float)


def _r_precision(measure: Measure, block: Block) -> Scored:
    out, relevant = block.empty(), block.count(measure.level)
    ranking.sum_r_precision_hits(block.ranked, block.grade, measure.level, relevant, out)
    return _per_relevant(out, relevant)


def _bpref(measure: Measure, block: Block) -> Scored:
    out, relevant = block.empty(), block.count(measure.level)
    bound = np.maximum(np.minimum(relevant, block.count(0) - relevant), 1.0)
    ranking.sum_preferences(block.ranked, block.grade, measure.level, relevant, bound, out)
    return _per_relevant(out, relevant)


def _judged(measure: Measure, block: Block) -> Scored:
    shown = np.clip(block.length, 1, measure.depth(block.deepest))
    return _hits(measure, block, 0) / shown[:, None], None


# Measures of a reader who stops.


def _reciprocal_rank(measure: Measure, block: Block) -> Scored:
    out = block.empty()
    ranking.find_first_relevant(block.ranked, block.grade, measure.level, measure.depth(block.deepest), out)
    return out, None


def _expected_first(measure: Measure, chances: Chances) -> Expectation:
    return _expected_cascade(measure, chances, chances.tail(measure.level))


def _stop_chances(measure: Measure, top_grade: int) -> FloatArray:
    """The chance that a reader stops at a document of each grade."""
    grade = np.arange(top_grade + 1, dtype=float)
    if measure.has("gain"):
        grade[:] = measure.number("gain", 1)
    grade[: measure.level] = 0.0
    top = measure.number("max", top_grade)
    if grade.max() > top:
        raise OptionError(f"{measure}: max={top:g} is below the top grade {grade.max():g}")
    stop: FloatArray = (2.0**grade - 1) / 2.0**top
    return stop


def _cascade(measure: Measure, block: Block) -> Scored:
    out, stop = block.empty(), _stop_chances(measure, block.top_grade)
    ranking.sum_cascade(block.ranked, block.grade, np.r_[0.0, stop], measure.depth(block.deepest), out)
    return out, None


def _expected_graded_cascade(measure: Measure, chances: Chances) -> Expectation:
    step = np.diff(_stop_chances(measure, chances.top_grade), prepend=0.0)
    return _expected_cascade(measure, chances, chances.gain(np.arange(len(step), dtype=np.int32), step))


def _expected_cascade(measure: Measure, chances: Chances, stop: FloatArray) -> Expectation:
    """Exact, since the chance to read on is a product over independent items."""
    out = chances.empty()
    ranking.sum_expected_cascade(chances.ranked, stop, measure.depth(chances.deepest), out)
    return out, None


REL: dict[str, Check] = {"rel": check_grade}
DISCOUNT: dict[str, Check] = {
    "dcg": check_one_of("log2", "exp-log2", "jk"),
    "base": check_between(1, 1000),
    "gains": check_gains,
    **REL,
}

_DECLARED = (
    Family(
        name="AP",
        about="mean over the judge's relevant documents of the precision at their rank; `AP@k` looks at k ranks",
        example="AP",
        oracle="ir_measures",
        aliases=("MAP",),
        options=REL,
        score=_average_precision,
        expected=_expected_average_precision,
        ratio=True,
        curve=CurveParts(ranking.climb_precisions, _one_gain),
    ),
    Family(
        name="Bpref",
        about="1/R times the sum over relevant documents of 1 - min(judged non-relevant above, R)/min(R, N), as in "
        "trec_eval",
        example="Bpref",
        oracle="ir_measures",
        aliases=("BPref",),
        options=REL,
        cutoff="never",
        score=_bpref,
    ),
    Family(
        name="DCG",
        about="sum of gain times discount, with the options of nDCG; not normalised",
        example="DCG@10",
        oracle="brute_force.dcg",
        options=DISCOUNT,
        only_with={"base": ("dcg", "jk")},
        score=partial(_weighted_sum, DISCOUNTED),
        expected=partial(_expected_sum, DISCOUNTED),
        weights=DISCOUNTED,
        bounded=False,
    ),
    Family(
        name="ERR",
        about="mean of 1/rank at which a reader stops, who stops at a document of grade g with probability "
        "(2^g - 1)/2^max; `max=` is the scale's top grade unless given; `gain=5,max=5` gives every relevant document "
        "31/32, as in [AWARE17]",
        example="ERR@20",
        oracle="brute_force.expected_reciprocal_rank",
        options={"gain": check_grade, "max": check_grade, **REL},
        score=_cascade,
        expected=_expected_graded_cascade,
        curve=CurveParts(ranking.climb_cascade, _stop_chances),
    ),
    Family(
        name="Judged",
        about="share of the first k documents that the judge has seen",
        example="Judged@10",
        oracle="ir_measures",
        score=_judged,
        of_relevance=False,
    ),
    Family(
        name="P",
        about="relevant documents among the first k, over k",
        example="P@10",
        oracle="ir_measures",
        aliases=("Precision",),
        options=REL,
        cutoff="required",
        score=_precision,
        expected=_expected_precision,
        weights=PRECISION,
    ),
    Family(
        name="R",
        about="relevant documents among the first k, over all relevant ones",
        example="R@100",
        oracle="ir_measures",
        aliases=("Recall",),
        options=REL,
        cutoff="required",
        score=_recall,
        expected=_expected_recall,
        ratio=True,
    ),
    Family(
        name="RBP",
        about="(1 - p) times the sum of p^(rank - 1) over relevant documents; `p=` is 0.8 unless given",
        example="RBP",
        oracle="brute_force.rank_biased_precision",
        options={"p": check_between(0, 1), **REL},
        score=partial(_weighted_sum, GEOMETRIC),
        expected=partial(_expected_sum, GEOMETRIC),
        weights=GEOMETRIC,
    ),
    Family(
        name="RR",
        about="1/rank of the first relevant document; `RR@k` looks at k ranks",
        example="RR",
        oracle="ir_measures",
        aliases=("MRR",),
        options=REL,
        score=_reciprocal_rank,
        expected=_expected_first,
    ),
    Family(
        name="Rprec",
        about="precision at rank R, the number of relevant documents",
        example="Rprec",
        oracle="ir_measures",
        aliases=("RPrec",),
        options=REL,
        cutoff="never",
        score=_r_precision,
    ),
    Family(
        name="nDCG",
        about="gain = grade, discount 1/log2(rank + 1), over the ideal; `dcg='exp-log2'` gains 2^grade - 1; "
        "`dcg=jk,base=b` discounts by 1/max(1, log_b rank) after Järvelin and Kekäläinen; `gains={1:0.5,2:1}` sets "
        "gains; `rel=` makes them 0 or 1",
        example="nDCG@10",
        oracle="ir_measures",
        aliases=("NDCG",),
        options=DISCOUNT,
        only_with={"base": ("dcg", "jk")},
        score=_normalised_gain,
        expected=_expected_normalised_gain,
        ratio=True,
        weights=DISCOUNTED._replace(normalised=True),
    ),
)
FAMILIES = {family.name: family for family in _DECLARED}
ALIASES = {alias: family.name for family in _DECLARED for alias in family.aliases}
WITH_EXPECTATION = tuple(family.name for family in _DECLARED if family.expected)
WEIGHTED_SUMS = tuple(family.name for family in _DECLARED if family.weights)


def find_family(measure: str | Measure) -> Family:
    """A measure's declaration."""
    return FAMILIES[parse_measure(measure).name]


def parse_measure(text: str | Measure) -> Measure:
    """Read a measure's name in ir_measures' syntax; quotes around words are optional. Checks a `Measure` too.

    >>> str(parse_measure("nDCG(dcg='jk', base=2)@20"))
    'nDCG(dcg=jk,base=2)@20'
    >>> str(parse_measure("MAP(rel=2)"))
    'AP(rel=2)'
    """
    text = str(text).strip()
    name, given, cutoff = parse_notation(text, "measure", EXAMPLES)
    name = ALIASES.get(name, name)
    if name not in FAMILIES:
        raise UnknownNameError("measure", name, FAMILIES)
    family = FAMILIES[name]
    unknown = [option for option in given if option not in family.options]
    if unknown:
        offered = f"its options: {', '.join(family.options)}" if family.options else "it takes no options"
        raise OptionError(f"measure '{shorten(text)}': {name} has no option '{shorten(unknown[0])}'; {offered}")
    options: list[tuple[str, Value]] = []
    for option, check in family.options.items():
        if option in given:
            try:
                options.append((option, check(given[option])))
            except ValueError as problem:
                raise OptionError(f"measure '{shorten(text)}': {option} {problem}") from None
    for option, needs in family.only_with.items():
        if option in given and needs not in options:
            raise OptionError(f"measure '{shorten(text)}': {option} can be used only with {needs[0]}={needs[1]}")
    if cutoff is None and family.cutoff == "required":
        example = Measure(name, tuple(options), 10)
        raise OptionError(f"measure '{shorten(text)}' needs a depth, for example {example}")
    if cutoff is not None and family.cutoff == "never":
        raise OptionError(f"measure '{shorten(text)}': {name} takes no depth; write {name}")
    return Measure(name, tuple(options), cutoff)


def as_weighted_sum(measure: Measure, depth: int, top_grade: int) -> WeightedSum | None:
    """The weights and gains over `depth` ranks and the grades up to `top_grade`; None for other measures."""
    weights = find_family(measure).weights
    if weights is None:
        return None
    level, step = weights.gain(measure, top_grade)
    gain = np.array([step[level <= grade].sum() for grade in range(top_grade + 1)])
    return WeightedSum(weights.rank(measure, measure.depth(depth)), gain, weights.normalised)


def as_curve(measure: Measure, top_grade: int) -> Curve | None:
    """The measure as a smooth function of gains; None for other measures."""
    family = find_family(measure)
    if family.curve is None:
        return None
    return Curve(family.curve.climb, family.curve.gain(measure, top_grade), family.ratio)


def ceiling(measure: Measure, depth: int, top_grade: int) -> float:
    """The highest score that a ranking of `depth` documents can have; 1 for all measures that are bounded."""
    family = find_family(measure)
    if family.bounded or family.weights is None:
        return 1.0
    _, step = family.weights.gain(measure, top_grade)
    return float(step.sum() * family.weights.rank(measure, measure.depth(depth)).sum()) or 1.0
