"""Agreement over a panel: percent, Fleiss' kappa and Krippendorff's alpha, with intervals over items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from karatage.agreement.intervals import Interval
from karatage.agreement.profiles import Profiles, profile, require_pairs
from karatage.data.axes import FloatArray
from karatage.data.estimate import CONFIDENCE, check_confidence
from karatage.data.judgments import Judgments
from karatage.errors import OptionError
from karatage.random_streams import generator

Level = Literal["nominal", "ordinal", "interval"]
# From profiles and how often each occurs, (resample, profile), to the coefficient of each resample.
Coefficient = Callable[[Profiles, FloatArray], FloatArray]
RESAMPLES = 2_000


def percent_agreement(judgments: Judgments) -> float:
    """How often two judges give an item the same grade: over the item's pairs of judges, then over items.

    Items with a single grade do not count.
    """
    return _once(judgments, _percent)


def fleiss_kappa(judgments: Judgments) -> float:
    """Fleiss' kappa [FLE71], for items with any number of grades, two or more, in Gwet's form [GWE14].

    Observed: `percent_agreement`. Expected: the sum over grades of the squared mean share of that grade in an item.
    With equally many grades everywhere it is Fleiss' own. NaN where all grades are the same.
    """
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
