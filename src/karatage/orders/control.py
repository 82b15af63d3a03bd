"""Is disagreement predicted at all? The same with outcomes shuffled within each topic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze
from karatage.data.disagreement import THRESHOLD, HeldOut
from karatage.errors import DataError, OptionError
from karatage.orders.disagreement import FeatureTable, Outcome, draw_splits, find_obstacle, fitting, try_splits
from karatage.random_streams import settle_seed, stream


@dataclass(frozen=True, eq=False, kw_only=True)
class Control:
    """Held-out rates, mean over topics, with outcomes as they are and shuffled."""

    topics: int
    items: int
    found: HeldOut
    shuffled: FloatArray  # (shuffle, rate)

    def __post_init__(self) -> None:
        """Protect the array."""
        freeze(self.shuffled)

    def p_value(self, rate: str = "auc") -> float:
        """One-sided: how often shuffled outcomes are predicted as well, the observed ones counted among them."""
        return self._compare(getattr(self.found, rate), self.shuffled[:, HeldOut._fields.index(rate)])

    @property
    def gain(self) -> float:
        """TPR - FPR, 0 for uninformative flags."""
        return self.found.tpr + self.found.tnr - 1

    @property
    def shuffled_gain(self) -> FloatArray:
        """The same of shuffled outcomes (shuffle,)."""
        return np.asarray(self.shuffled[:, 0] + self.shuffled[:, 2] - 1)

    @property
    def gain_p_value(self) -> float:
        """Of TPR - FPR."""
        return self._compare(self.gain, self.shuffled_gain)

    def _compare(self, found: float, shuffled: FloatArray) -> float:
        hits = int((shuffled >= found - 1e-12).sum())  # rounding must not turn a tie into a miss
        return (1 + hits) / (1 + len(shuffled))


def control_disagreement(
    table: FeatureTable,
    outcome: Outcome,
    *,
    trials: int = 10,
    shuffles: int = 99,
    threshold: float = THRESHOLD,
    rng: int | np.random.Generator | None = None,
) -> Control:
    """Held-out rates over all topics that can be tried, none dropped for its recall; then with shuffled outcomes.

    Splits stay the same for all shuffles, so that under no relation the observed outcomes are one shuffle among others.
    """
    if trials < 1 or shuffles < 1:
        raise OptionError(f"{trials} trials and {shuffles} shuffles: at least 1 of each")
    seed = settle_seed(rng)
    parts: list[tuple[str, FloatArray, BoolArray, list[tuple[LongArray, LongArray]]]] = []
    for t, name in enumerate(table.topics):
        rows = (table.item_topic == t) & outcome.known
        if find_obstacle(outcome.disagree[rows]) is None:
            splits = draw_splits(int(rows.sum()), trials, stream(seed, f"splits {name}"))
            parts.append((name, table.value[rows], outcome.disagree[rows], splits))
    if not parts:
        raise DataError("no topic has enough items of both kinds to try a disagreement model on")
    rates = np.empty((1 + shuffles, len(parts), len(HeldOut._fields)))
    with fitting():
        for p, (name, value, disagree, splits) in enumerate(parts):
            shuffle = stream(seed, f"shuffles {name}")
            for k in range(1 + shuffles):
                order = shuffle.permutation(len(disagree)) if k else np.arange(len(disagree))
                rates[k, p] = _mean_known(try_splits(value, disagree[order], splits, threshold))
    mean = np.stack([_mean_known(of) for of in rates])
    return Control(
        topics=len(parts),
        items=sum(len(disagree) for _, _, disagree, _ in parts),
        found=HeldOut(*mean[0].tolist()),
        shuffled=mean[1:],
    )


def _mean_known(rates: FloatArray) -> FloatArray:
    """Mean of each column where it is known."""
    known = ~np.isnan(rates)
    total = np.where(known, rates, 0).sum(axis=0)
    return np.asarray(np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan))
