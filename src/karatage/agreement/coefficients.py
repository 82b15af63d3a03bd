"""Agreement of judges as coefficients: percent agreement, kappa, alpha, and their intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from karatage.agreement.intervals import Interval
from karatage.data.alignment import require_data
from karatage.data.axes import FloatArray, LongArray
from karatage.data.judgments import Judgments
from karatage.data.options import CONFIDENCE, check_confidence
from karatage.errors import DataError, OptionError
from karatage.random_streams import generator

AT_ONCE = 4_000_000
LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class Profiles:
    """Distinct ways in which items with at least two grades were graded."""

    grade: FloatArray  # (grade,) the grades that occur
    count: FloatArray  # (profile, grade) how often each was given
    items: LongArray  # (profile,) items of this kind

    @property
    def size(self) -> FloatArray:
        """Grades given to an item, (profile,)."""
        size: FloatArray = self.count.sum(axis=1)
        return size

    def resample(self, resamples: int, source: np.random.Generator) -> Iterator[FloatArray]:
        """How often each profile occurs when items are drawn with replacement, (resample, profile), in pieces."""
        total, profiles = int(self.items.sum()), len(self.items)
        piece = max(1, AT_ONCE // max(profiles, 1))
        for begin in range(0, resamples, piece):
            rows = min(piece, resamples - begin)
            if 4 * profiles < total:
                yield source.multinomial(total, self.items / total, size=rows).astype(float)
            else:  # drawing the items one by one is cheaper than a binomial for each profile
                profile_of = np.repeat(np.arange(profiles), self.items)
                draws = (profile_of[source.integers(total, size=total)] for _ in range(rows))
                yield np.stack([np.bincount(drawn, minlength=profiles) for drawn in draws]).astype(float)


def profile(judgments: Judgments) -> Profiles:
    """Count each item's grades; of repeated grades by one judge the last counts, items with a single grade do not."""
    settled = judgments.settle()
    used = np.flatnonzero(np.bincount(settled.grade))
    code = np.zeros(int(used[-1]) + 1, np.int64)
    code[used] = np.arange(len(used))
    items = len(settled.item_topic)
    flat = np.bincount(settled.item * np.int64(len(used)) + code[settled.grade], minlength=items * len(used))
    count = flat.reshape(items, len(used))
    count = count[count.sum(axis=1) > 1]
    key = _encode(count)
    if key is None:
        return Profiles(used.astype(float), count.astype(float), np.ones(len(count), np.int64))
    _, first, number = np.unique(key, return_index=True, return_counts=True)
    return Profiles(used.astype(float), count[first].astype(float), number.astype(np.int64))


def require_pairs(profiles: Profiles) -> Profiles:
    """The same, or an error where no item has two grades."""
    if len(profiles.items) == 0:
        raise DataError("no item was graded by two judges, so agreement cannot be measured")
    return profiles


def _encode(count: LongArray) -> LongArray | None:
    """One number for each row of counts, where it fits."""
    base = int(count.max(initial=0)) + 1
    if base ** count.shape[1] > LARGEST_KEY:
        return None
    key = np.zeros(len(count), np.int64)
    for column in count.T:
        key *= base
        key += column
    return key


Level = Literal["nominal", "ordinal", "interval"]
# From profiles and how often each occurs, (resample, profile), to the coefficient of each resample.
Coefficient = Callable[[Profiles, FloatArray], FloatArray]
RESAMPLES = 2_000


def percent_agreement(judgments: Judgments) -> float:
    """How often two judges give an item the same grade: over the item's pairs of judges, then over items.

    Items with a single grade do not count.
    """
    require_data(judgments=judgments)
    return _once(judgments, _percent)


def fleiss_kappa(judgments: Judgments) -> float:
    """Fleiss' kappa [FLE71], for items with any number of grades, two or more, in Gwet's form [GWE14].

    Observed: `percent_agreement`. Expected: the sum over grades of the squared mean share of that grade in an item.
    With equally many grades everywhere it is Fleiss' own. NaN where all grades are the same.
    """
    require_data(judgments=judgments)
    return _once(judgments, _fleiss)


def krippendorff_alpha(judgments: Judgments, level: Level = "nominal") -> float:
    """Krippendorff's alpha [KRI11], for any number of judges and with grades missing.

    Args:
        judgments: What the judges said; items with a single grade do not count.
        level: `nominal` (grades are alike or not), `ordinal` (a difference counts by how many grades lie between, in
            the panel's own distribution) or `interval` (by its square).

    Returns:
        1 = perfect, 0 = as by chance; NaN where all grades are the same.
    """
    require_data(judgments=judgments)
    return _once(judgments, _alpha(level))


def agreement_intervals(
    judgments: Judgments,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    rng: int | np.random.Generator | None = None,
) -> dict[str, Interval]:
    """Percent, Fleiss' kappa and alpha at its three levels, each with a percentile bootstrap interval over items.

    All are computed on the same resamples. Each has its own value in every resample: the marginals behind chance
    agreement, and behind alpha's ordinal metric, are those of the resample.
    """
    require_data(judgments=judgments)
    if resamples < 1:
        raise OptionError(f"resamples must be at least 1, not {resamples}")
    tail = 100 * (1 - check_confidence(confidence)) / 2
    profiles, source = require_pairs(profile(judgments)), generator(rng)
    coefficients: dict[str, Coefficient] = {"percent": _percent, "fleiss": _fleiss}
    coefficients |= {f"alpha_{level}": _alpha(level) for level in get_args(Level)}
    drawn: dict[str, list[FloatArray]] = {name: [] for name in coefficients}
    for weight in profiles.resample(resamples, source):
        for name, coefficient in coefficients.items():
            drawn[name].append(coefficient(profiles, weight))
    found = {}
    for name, coefficient in coefficients.items():
        values = np.concatenate(drawn[name])
        values = values[np.isfinite(values)]
        low, high = np.percentile(values, [tail, 100 - tail]) if len(values) else (np.nan, np.nan)
        found[name] = Interval(float(coefficient(profiles, _as_found(profiles))[0]), float(low), float(high))
    return found


def _once(judgments: Judgments, coefficient: Coefficient) -> float:
    profiles = require_pairs(profile(judgments))
    return float(coefficient(profiles, _as_found(profiles))[0])


def _as_found(profiles: Profiles) -> FloatArray:
    return profiles.items[None, :].astype(float)


def _agreeing(profiles: Profiles) -> FloatArray:
    """The share of an item's pairs of judges who agree, (profile,)."""
    size = profiles.size
    share: FloatArray = (profiles.count * (profiles.count - 1)).sum(axis=1) / (size * (size - 1))
    return share


def _percent(profiles: Profiles, weight: FloatArray) -> FloatArray:
    share: FloatArray = weight @ _agreeing(profiles) / weight.sum(axis=1)
    return share


def _fleiss(profiles: Profiles, weight: FloatArray) -> FloatArray:
    observed = _percent(profiles, weight)
    share = weight @ (profiles.count / profiles.size[:, None]) / weight.sum(axis=1, keepdims=True)
    return _beyond_chance(1 - observed, 1 - (share**2).sum(axis=1))


def _alpha(level: Level) -> Coefficient:
    if level not in get_args(Level):
        raise OptionError(f"alpha's level is one of {', '.join(get_args(Level))}, not '{level}'")
    return _alpha_nominal if level == "nominal" else lambda p, w: _alpha_metric(p, w, ordinal=level == "ordinal")


def _alpha_nominal(profiles: Profiles, weight: FloatArray) -> FloatArray:
    size = profiles.size
    total = weight @ profiles.count  # (resample, grade)
    grades = total.sum(axis=1)
    observed = weight @ (size * (1 - _agreeing(profiles))) / grades
    expected = (grades**2 - (total**2).sum(axis=1)) / (grades * (grades - 1))
    return _beyond_chance(observed, expected)


def _alpha_metric(profiles: Profiles, weight: FloatArray, *, ordinal: bool) -> FloatArray:
    """Alpha for a squared distance between places of the grades on a line, (resample, grade).

    The ordinal metric of [KRI11] is one too: the places are the mid-ranks of the grades among all grades given. Squared
    distances within an item are sums of squares, so no table of coincidences is needed.
    """
    total = weight @ profiles.count
    grades = total.sum(axis=1, keepdims=True)
    place = np.cumsum(total, axis=1) - total / 2 if ordinal else np.broadcast_to(profiles.grade, total.shape)
    place = place - (total * place).sum(axis=1, keepdims=True) / grades  # centred, against cancellation
    size = profiles.size
    within = size * (place**2 @ profiles.count.T) - (place @ profiles.count.T) ** 2  # (resample, profile)
    observed = 2 * (weight * within / (size - 1)).sum(axis=1) / grades[:, 0]
    expected = 2 * (total * place**2).sum(axis=1) / (grades[:, 0] - 1)
    return _beyond_chance(observed, expected)


def _beyond_chance(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """One minus observed over expected disagreement; NaN where none is to be expected."""
    possible = expected > 1e-12
    return np.where(possible, 1 - observed / np.where(possible, expected, 1.0), np.nan)
