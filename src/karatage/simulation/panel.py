"""Simulated judges of mixed quality, who may err on the same documents."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karatage.data.alignment import match_gold
from karatage.data.axes import FloatArray, GradeArray
from karatage.data.judgments import Judgments
from karatage.errors import DataError, OptionError
from karatage.random_streams import settle_seed, stream
from karatage.text import counted

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class PanelQuality:
    """How good the judges of a panel are: each draws its two rates uniformly from these ranges.

    Some of the judges may be random (relevant with probability `random_share`, for any document), others inverted
    (as good as the rest, with the scale inverted).
    """

    true_positive: Range = (0.45, 0.95)
    true_negative: Range = (0.85, 0.99)
    random: int = 0
    random_share: float = 0.5
    inverted: int = 0

    def __post_init__(self) -> None:
        """Check the ranges and numbers."""
        for name, (low, high) in ("true_positive", self.true_positive), ("true_negative", self.true_negative):
            if not 0 <= low <= high <= 1:
                raise OptionError(f"{name} ({low}, {high}) is no range of rates; give 0 <= low <= high <= 1")
        if not 0 <= self.random_share <= 1:
            raise OptionError(f"random_share {self.random_share} is no probability; give a number from 0 to 1")
        if min(self.random, self.inverted) < 0:
            raise OptionError("the numbers of random and inverted judges start at 0")


MIXED = PanelQuality()


def simulate_panel(
    gold: Judgments,
    *,
    judges: int = 31,
    correlation: float = 0.0,
    quality: PanelQuality = MIXED,
    rng: int | np.random.Generator | None = None,
) -> Judgments:
    """Let `judges` grade every item of gold, each with its own rates of error.

    Judge k errs on item i when sqrt(c) z_i + sqrt(1 - c) e_ik lies below the quantile of its error rate for gold's
    grade. z is the document's, the same for all judges, so c = `correlation` is the tetrachoric correlation of two
    judges' errors among items of one gold grade, and no judge's rates depend on it. Each judge has its own stream:
    more judges, or another correlation, leave the draws of the first ones as they are.

    With more than two grades an error goes to a neighbouring grade, up or down alike, and 1 - `true_positive` is the
    rate of errors on all grades above 0; a random judge gives the top grade or 0.

    Args:
        gold: The truth; one grade for each item.
        judges: How many, the random and inverted ones among them; called judge-01, random-01, inverted-01 and so on.
        correlation: From 0 (errors independent given the document) to below 1.
        quality: The ranges that rates are drawn from.
        rng: Seed or generator.
    """
    ordinary = judges - quality.random - quality.inverted
    if judges < 1 or ordinary < 0:
        others = f", of which {quality.random} random and {quality.inverted} inverted" if judges > 0 else ""
        raise OptionError(f"a panel of {judges} judges{others} cannot be; ask for more judges")
    if not 0 <= correlation < 1:
        raise OptionError(f"correlation {correlation} cannot be simulated; give a number from 0 to below 1")
    known = match_gold(gold, gold)
    if (known < 0).any():
        raise DataError(f"gold has no grade for {counted(int((known < 0).sum()), 'item')}, so no judge can err there")
    seed, top = settle_seed(rng), max(gold.top_grade, 1)
    shared = np.sqrt(correlation) * stream(seed, "panel documents").standard_normal(len(known))
    names, said = [], []
    width = max(2, len(str(judges)))
    for kind, count in ("inverted", quality.inverted), ("judge", ordinary), ("random", quality.random):
        for k in range(1, count + 1):
            source = stream(seed, f"panel {kind} {k}")
            names.append(f"{kind}-{k:0{width}d}")
            if kind == "random":
                said.append(np.where(source.random(len(known)) < quality.random_share, top, 0).astype(np.int8))
                continue
            grade = _err(known, top, shared, np.sqrt(1 - correlation), _draw_rates(quality, source), source)
            said.append(top - grade if kind == "inverted" else grade)
    return replace(
        gold,
        judges=tuple(names),
        judge=np.tile(np.arange(judges, dtype=np.int32), len(known)),
        item=np.repeat(np.arange(len(known), dtype=np.int32), judges),
        grade=np.stack(said, axis=1).ravel(),
        draw=None,
        top_grade=top,
        notes=(*gold.notes, _tell(judges, correlation, quality, seed)),
        with_repeats=None,
    )


def _draw_rates(quality: PanelQuality, source: np.random.Generator) -> FloatArray:
    """A judge's rate of error on items without relevance, and on others."""
    hit, rejection = source.uniform(*quality.true_positive), source.uniform(*quality.true_negative)
    return np.array([1 - rejection, 1 - hit])


def _err(
    known: GradeArray, top: int, shared: FloatArray, own: float, rates: FloatArray, source: np.random.Generator
) -> GradeArray:
    from scipy.special import ndtri

    bound = np.asarray(ndtri(rates))[(known > 0).astype(np.intp)]
    wrong = shared + own * source.standard_normal(len(known)) < bound
    step = np.where(known == 0, 1, -1)
    if top > 1:
        upwards = source.random(len(known)) < 0.5
        step[upwards & (known < top)] = 1
    grade: GradeArray = np.where(wrong, known + step, known).astype(np.int8)
    return grade


def _tell(judges: int, correlation: float, quality: PanelQuality, seed: int) -> str:
    (low, high), (least, most) = quality.true_positive, quality.true_negative
    return (
        f"{counted(judges, 'judge')} simulated ({quality.random} random, {quality.inverted} inverted; the others find "
        f"{low:g}-{high:g} of relevant items and {least:g}-{most:g} of the rest), error correlation {correlation:g}, "
        f"seed {seed}"
    )
