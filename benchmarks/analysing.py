"""Analysis of variance in the papers' design, and Tukey's test of all systems; scipy takes only some of the pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.measuring import Figures, Trial
from benchmarks.setting import SEED, Setting
from karatage.comparison.anova import Anova, anova, omega_squared
from karatage.comparison.tukey import tukey

if TYPE_CHECKING:
    from collections.abc import Sequence

FACTORS = ("tuple", "approach", "measure", "collection")
CROSSED = (("approach", "measure"), ("approach", "collection"), ("measure", "collection"))
MEASURES, COLLECTIONS, OTHERS = 3, 2, 4
ROWS_PER_SYSTEM = 50
DIGITS = 6  # of p-values, which a table has to seven


def karatage_anova(setting: Setting) -> Trial:
    frame = _scores(setting)
    return Trial(lambda: anova(frame, "score", factors=FACTORS, interactions=CROSSED), _name_effects)


def statsmodels_anova(setting: Setting) -> Trial:
    """With a formula, as its documentation has it; data frames are ready before."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = _scores(setting)
    terms = {name: f"C({name}, Sum)" for name in FACTORS}
    pairs = [f"{terms[a]}:{terms[b]}" for a, b in CROSSED]
    formula, table = f"score ~ {' + '.join([*terms.values(), *pairs])}", frame.to_pandas()

    def name(found: Sequence[float]) -> Figures:
        sources = (*FACTORS, *(f"{a}*{b}" for a, b in CROSSED))
        return dict(zip(sources, found, strict=True))

    def run() -> list[float]:
        found = anova_lm(ols(formula, table).fit(), typ=2).drop(index="Residual")
        return [omega_squared(df, f, len(table)) for df, f in zip(found["df"], found["F"], strict=True)]

    return Trial(run, name)


def karatage_tukey(setting: Setting) -> Trial:
    """All pairs; the analysis of variance is done before."""
    result, pairs = _systems(setting), _pairs(setting)

    def run() -> NDArray[np.float64]:
        test = tukey(result, "system")
        order = np.argsort([int(level) for level in test.levels])
        return test.p_value[np.ix_(order, order)][np.triu_indices(len(order), 1)]

    return Trial(run, lambda p: _name_pairs(p[: len(pairs)]), setting.size.systems * (setting.size.systems - 1) / 2)


def scipy_tukey(setting: Setting) -> Trial:
    """The distribution function that its `tukey_hsd` calls, on some of the pairs."""
    from scipy.stats import studentized_range

    result, pairs = _systems(setting), _pairs(setting)
    effect = result.effect("system")
    first, second = pairs.T
    q = np.abs(effect.mean[first] - effect.mean[second]) / np.sqrt(result.error_ms / ROWS_PER_SYSTEM)
    return Trial(lambda: studentized_range.sf(q, len(effect.levels), result.error_df), _name_pairs, len(pairs))


def _scores(setting: Setting) -> pl.DataFrame:
    """As many rows as [AWARE17] has at full size: sizes of tuples, approaches, measures and collections."""
    tuples, approaches = setting.size.reference_rankings, setting.size.noisy_copies + OTHERS
    code = np.indices((tuples, approaches, MEASURES, COLLECTIONS)).reshape(4, -1)
    source = np.random.default_rng(SEED)
    score = 0.6 + source.normal(0.0, 0.02, code.shape[1])
    for axis in range(4):
        score += source.normal(0.0, 0.02, code[axis].max() + 1)[code[axis]]
    names = [pl.Series(name, [f"{name[0]}{c}" for c in own]) for name, own in zip(FACTORS, code, strict=True)]
    return pl.DataFrame([*names, pl.Series("score", score)])


def _systems(setting: Setting) -> Anova:
    """Systems that differ about as much as those of a TREC track."""
    source, systems = np.random.default_rng(SEED), setting.size.systems
    system = np.repeat(np.arange(systems), ROWS_PER_SYSTEM)
    score = source.uniform(0.1, 0.4, systems)[system] + source.normal(0.0, 0.2, len(system))
    return anova(pl.DataFrame({"system": system, "score": score}), "score", factors=["system"])


def _pairs(setting: Setting) -> NDArray[np.int64]:
    """The first pairs of systems, (pair, 2)."""
    return np.stack(np.triu_indices(setting.size.systems, 1), axis=1)[: setting.size.rival_rankings]


def _name_effects(result: Anova) -> Figures:
    table = result.to_frame().head(-2)
    return dict(zip(table["source"], table["omega_squared"], strict=True))


def _name_pairs(p_value: NDArray[np.float64]) -> Figures:
    return {f"pair {k}": round(p, DIGITS) for k, p in enumerate(p_value.tolist())}
