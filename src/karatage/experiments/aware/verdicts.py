"""Whether the findings of [AWARE17] hold here, by intervals of differences over the same k-tuples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karatage.comparison.best import Bounds, add_variances, bound_best, reach
from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.checks import NUMBER, TEXT, maybe
from karatage.experiments.aware.analysis import FIELDS, GAP, GRANULARITY, RESPONSES, WEIGHT
from karatage.experiments.aware.cells import OUTCOMES
from karatage.experiments.engine import frame_rows
from karatage.merging.estimators import ESTIMATORS
from karatage.text import list_ranges, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from karatage.experiments.aware.findings import AwareFindings

STATE_OF_THE_ART = ("mv", "emmv", "emneu")
UNIFORM, VOTE = "uniform", "mv"
BEST, BEST_OTHER = "best of these ", "best of the others "
PAPER = (*ESTIMATORS, UNIFORM, *STATE_OF_THE_ART)
# [AWARE17] table 5: the top groups that it found.
APPROACHES: Mapping[str, tuple[str, ...]] = {
    "tau_ap": ("sgl_tau_msd", "sgl_apc_msd", "tpc_apc_msd", "sgl_tau_md"),
    "rmse": ("sgl_rmse_med", "tpc_rmse_med", "tpc_fro_med", "sgl_fro_med", "sgl_kld_md"),
}
PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    GRANULARITY: {"tau_ap": ("sgl", "tpc"), "rmse": ("sgl",)},
    GAP: {"tau_ap": ("apc", "tau"), "rmse": ("kld", "fro")},
    WEIGHT: {"tau_ap": ("med", "md"), "rmse": ("med",)},
}


class Verdict(NamedTuple):
    """A finding of the paper, and whether it holds here.

    The verdict is yes, no or open; or all, where every level that could fulfil the finding does.
    """

    panel: str
    outcome: str
    claim: str
    verdict: str
    difference: float | None  # above 0 where the finding holds
    low: float | None
    high: float | None
    here: str


COLUMNS = {**dict.fromkeys(Verdict._fields, TEXT), **dict.fromkeys(("difference", "low", "high"), maybe(NUMBER))}


def frame_verdicts(findings: AwareFindings) -> pl.DataFrame:
    """The paper's findings on the order of approaches, in each panel, by tau_ap and by RMSE."""
    places = product(findings.panels, RESPONSES)
    rows = (row for place in places for row in _list_verdicts(PanelMeans.of(findings, *place)))
    return frame_rows(rows, COLUMNS)


def scale_rmse(mean: FloatArray) -> FloatArray:
    """What RMSE is divided by, (measure,): its maximum in the means (systems, measure, size, outcome, approach)."""
    most: FloatArray = mean[..., OUTCOMES.index("rmse"), :].max(axis=(0, 2, 3))
    return np.where(most > 0, most, 1.0)


def pool_places(value: FloatArray, scale: FloatArray) -> FloatArray:
    """Covariances (response, approach, approach) over k-tuples of means over systems and measures.

    Systems and measures share the k-tuples, so the covariances of each do not give those of the mean.

    Args:
        value: (systems, measure, outcome, sample, approach).
        scale: (measure,) what RMSE is divided by.
    """
    shares = value[:, :, OUTCOMES.index("rmse")] / scale[:, None, None]
    found = [part.mean(axis=(0, 1)) for part in (value[:, :, OUTCOMES.index("tau_ap")], shares)]
    rest = np.stack(found) - np.mean(found, axis=1, keepdims=True)
    pooled: FloatArray = np.einsum("rnx,rny->rxy", rest, rest) / (value.shape[3] - 1)
    return pooled


class Pairs(NamedTuple):
    """Differences of all pairs of levels, (level, level), row minus column; above 0 where the row is better."""

    difference: FloatArray
    variance: FloatArray
    df: FloatArray

    def bound(self, first: Sequence[int], second: Sequence[int], *, tests: int = 1) -> Bounds:
        """The best of some levels minus the best of others."""
        return bound_best(*self, first, second, tests=tests)


@dataclass(frozen=True, eq=False)
class PanelMeans:
    """The results of a panel by one outcome: means over systems and measures, and their covariances over k-tuples.

    If the file of an earlier version has the covariances of each systems and measure only, the standard deviation of a
    mean is at most the mean of the standard deviations.
    """

    panel: str
    outcome: str
    names: tuple[str, ...]  # of approaches
    sizes: tuple[int, ...]
    mean: FloatArray  # (size, approach); higher is better
    covariance: FloatArray  # (place, size, approach, approach) of one k-tuple
    share: FloatArray  # (size,) of it that the mean over the k-tuples drawn has, as a sample without replacement
    df: LongArray  # (size,)

    @staticmethod
    def of(findings: AwareFindings, panel: str, outcome: str) -> PanelMeans:
        """Average over systems and measures, RMSE as a share of its maximum by each measure."""
        p, o = findings.panels.index(panel), OUTCOMES.index(outcome)
        mean, covariance = findings.mean[:, p], findings.covariance[:, p, :, :, o]
        scale = -scale_rmse(mean) if outcome == "rmse" else np.ones(len(findings.measures))
        value = (mean[..., o, :] / scale[:, None, None]).mean(axis=(0, 1))
        if findings.pooled is None:
            every = covariance / scale[:, None, None, None] ** 2
            places = every.reshape(-1, *covariance.shape[2:])
        else:
            places = findings.pooled[p, None, :, [*RESPONSES].index(outcome)]
        drawn = findings.samples.astype(float)
        there = np.array([float(math.comb(len(findings.judges), size)) for size in findings.sizes])
        share = (1 - drawn / there) / drawn
        who = panel, outcome, findings.approaches, findings.sizes
        return PanelMeans(*who, value, places, share, findings.samples - 1)

    def weigh(self, weight: FloatArray) -> Levels:
        """Levels whose means are weighted sums over approaches, by weights (level, approach)."""
        joint = weight @ self.covariance @ weight.T
        own = np.diagonal(joint, axis1=-2, axis2=-1)
        spread = np.sqrt(np.maximum(own[..., :, None] + own[..., None, :] - 2 * joint, 0.0)).mean(axis=0)
        variance = np.where(self.share[:, None, None] == 0, 0.0, spread**2 * self.share[:, None, None])
        return Levels(self.mean @ weight.T, variance, self.df, self.share > 0)

    @cached_property
    def approaches(self) -> Levels:
        """Each approach is a level."""
        return self.weigh(np.eye(len(self.names)))

    def tell(self, claim: str, verdict: str, bounds: Bounds | None, here: str) -> Verdict:
        """A row of the table."""
        ends = [None if math.isnan(end) else end for end in bounds] if bounds is not None else [None] * 3
        return Verdict(self.panel, self.outcome, claim, verdict, ends[0], ends[1], ends[2], here)


@dataclass(frozen=True, eq=False)
class Levels:
    """Means of levels by size, and the variance of their differences."""

    mean: FloatArray  # (size, level)
    variance: FloatArray  # (size, level, level)
    df: LongArray  # (size,)
    sampled: BoolArray  # (size,) whether some k-tuples were not used

    def pair(self, sizes: slice = slice(None)) -> Pairs:
        """Means over sizes, which all count the same."""
        mean = self.mean[sizes].mean(axis=0)
        total, df = add_variances(self.variance[sizes] / len(self.mean[sizes]) ** 2, self.df[sizes])
        difference = np.subtract.outer(mean, mean)
        # A sample in which a difference never varies says nothing about how it does.
        unknown = self.sampled[sizes].any() & (total == 0) & (difference != 0)
        return Pairs(difference, np.where(unknown, np.nan, total), df)


def _list_verdicts(means: PanelMeans) -> Iterator[Verdict]:
    here = [name for name in PAPER if name in means.names]
    levels = {name: means.names.index(name) for name in here}
    best = [name for name in APPROACHES[means.outcome] if name in levels]
    if best:
        others = [name for name in here if name not in best]
        claim = f"the best approach is {list_either(best)}"
        yield _judge_best(means, claim, means.approaches, levels, best, others)
    merged = [name for name in STATE_OF_THE_ART if name in levels]
    scores = [name for name in here if name not in STATE_OF_THE_ART]
    if merged and scores:
        claim = f"the best merge of scores is better than {list_all(merged)}"
        yield _judge_best(means, claim, means.approaches, levels, scores, merged, like=scores)
    if VOTE in levels and len(merged) > 1:
        others = [name for name in merged if name != VOTE]
        claim = f"{VOTE} is better than {list_all(others)}"
        yield _judge_best(means, claim, means.approaches, levels, [VOTE], others)
    if {UNIFORM, VOTE} <= set(levels):
        claim, like = f"{UNIFORM} is better than {VOTE}", [name for name in here if name != VOTE]
        yield _judge_best(means, claim, means.approaches, levels, [UNIFORM], [VOTE], like=like)
    if set(ESTIMATORS) <= set(levels):
        yield from (_judge_part(means, part) for part in PARTS)
    if levels and len(means.sizes) > 1:
        yield _compare_sizes(means, [*levels.values()])
        if {UNIFORM, VOTE} <= set(levels) and means.outcome == "tau_ap":
            yield _judge_few_and_many(means, levels[UNIFORM], levels[VOTE])


def _judge_part(means: PanelMeans, part: str) -> Verdict:
    """Whether the best levels of a part of the thirty estimators are the paper's."""
    words = [getattr(estimator, FIELDS[part]) for estimator in ESTIMATORS.values()]
    names = list(dict.fromkeys(words))
    weight = np.zeros((len(names), len(means.names)))
    for approach, word in zip(ESTIMATORS, words, strict=True):
        weight[names.index(word), means.names.index(approach)] = 1 / words.count(word)
    best = PARTS[part][means.outcome]
    numbers = {name: k for k, name in enumerate(names)}
    others = [name for name in names if name not in best]
    claim = f"the best {part} is {list_either(best)}"
    return _judge_best(means, claim, means.weigh(weight), numbers, best, others)


def _judge_best(
    means: PanelMeans,
    claim: str,
    levels: Levels,
    numbers: Mapping[str, int],
    first: Sequence[str],
    second: Sequence[str],
    *,
    like: Sequence[str] = (),
) -> Verdict:
    """Whether the best of the first exceeds all of the second.

    Where each level that is `like` the first does, that says nothing on the first in particular.
    """
    pairs, mean = levels.pair(), levels.mean.mean(axis=0)
    ours, theirs = ([numbers[name] for name in names] for names in (first, second))

    def name_best(names: Sequence[str]) -> str:
        best = max(names, key=lambda name: mean[numbers[name]])
        return f"{best} {short(abs(float(mean[numbers[best]])))}"

    if not second:
        found = ", ".join(f"{name} {short(abs(float(mean[numbers[name]])))}" for name in first)
        return means.tell(claim, "all", None, f"there are no others: {found}{_tell_difference(pairs, ours, first)}")
    bounds = pairs.bound(ours, theirs)
    these, others = (what if len(names) > 1 else "" for what, names in ((BEST, first), (BEST_OTHER, second)))
    verdict, here = bounds.verdict, f"{these}{name_best(first)}, {others}{name_best(second)}"
    if len(like) > 1 and all(pairs.bound([numbers[name]], theirs).verdict == "yes" for name in like):
        verdict, here = "all", f"{here}; each of {len(like)} approaches is better than {list_all(second)}"
    elif verdict == "open" and len(first) + len(second) > 2 and _are_all_alike(pairs, [*ours, *theirs]):
        here += f"; no two of the {len(ours) + len(theirs)} differ significantly"
    return means.tell(claim, verdict, bounds, here)


def _tell_difference(pairs: Pairs, levels: Sequence[int], names: Sequence[str]) -> str:
    """Whether two levels differ; the paper found that they do not."""
    if len(levels) != 2:
        return ""
    found = pairs.bound(levels[:1], levels[1:])
    if math.isnan(found.low):
        return ""
    told = "no significant difference" if found.verdict == "open" else "a significant difference"
    return f"; {' minus '.join(names)} {found.difference:+.4f} ({found.low:+.4f} to {found.high:+.4f}), {told}"


def _are_all_alike(pairs: Pairs, levels: Sequence[int]) -> bool:
    """Whether no two levels differ, all pairs tested together."""
    difference, variance, df = (part[np.ix_(levels, levels)][np.triu_indices(len(levels), 1)] for part in pairs)
    return bool((np.abs(difference) <= reach(variance, df, len(difference))).all())


def _compare_sizes(means: PanelMeans, approaches: Sequence[int]) -> Verdict:
    """Whether the largest k-tuples are better than the smallest, on average over approaches."""
    weight = np.zeros((2, len(means.names)))
    weight[0, approaches] = 1 / len(approaches)  # minus nothing
    levels = means.weigh(weight)
    at = [0, -1]
    variance, df = add_variances(levels.variance[at], levels.df[at])
    small, large = levels.mean[at, 0]
    difference = np.array([[0.0, large - small], [small - large, 0.0]])
    bounds = bound_best(difference, variance, df, [0], [1])
    told = [f"{short(abs(float(value)))} with {means.sizes[k]}" for k, value in zip(at, (small, large), strict=True)]
    return means.tell("larger k-tuples are better", bounds.verdict, bounds, ", ".join(told))


def _judge_few_and_many(means: PanelMeans, uniform: int, vote: int) -> Verdict:
    """Whether one leads with the fewest judges and the other with the most; the lesser difference is shown."""
    sizes = range(len(means.sizes))
    single = [means.approaches.pair(slice(k, k + 1)) for k in sizes]
    few, many = single[0].bound([uniform], [vote], tests=2), single[-1].bound([vote], [uniform], tests=2)
    low = [single[0].bound([uniform], [vote]).low, single[-1].bound([vote], [uniform]).low]
    bounds = Bounds(min(few.difference, many.difference), float(np.min(low)), float(np.min([few.high, many.high])))
    ahead = [means.sizes[k] for k in sizes if single[k].bound([uniform], [vote]).verdict == "yes"]
    behind = [means.sizes[k] for k in sizes if single[k].bound([vote], [uniform]).verdict == "yes"]
    leads = [f"{name} leads with {list_ranges(found)}" for name, found in ((UNIFORM, ahead), (VOTE, behind)) if found]
    claim = f"{UNIFORM} is better for small k-tuples, {VOTE} for large ones"
    lesser = (
        f"the lesser of {UNIFORM} minus {VOTE} with {means.sizes[0]} and {VOTE} minus {UNIFORM} with {means.sizes[-1]}"
    )
    here = "; ".join([lesser, *(leads or ["neither leads significantly at any size"])])
    return means.tell(claim, bounds.verdict, bounds, here)


def list_either(names: Sequence[str]) -> str:
    """Alternatives.

    >>> list_either(["apc", "tau", "kld"])
    'apc, tau or kld'
    """
    return _join(names, "or")


def list_all(names: Sequence[str]) -> str:
    """All of them.

    >>> list_all(["mv", "emmv"])
    'mv and emmv'
    """
    return _join(names, "and")


def _join(names: Sequence[str], word: str) -> str:
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
