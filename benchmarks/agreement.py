"""Krippendorff's alpha on a crowd's grades, from integers to the coefficient."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.consensus import Crowd, simulate_crowd
from benchmarks.measuring import Figures, Trial
from karatage.agreement.coefficients import krippendorff_alpha

if TYPE_CHECKING:
    from benchmarks.setting import Setting
    from karatage.agreement.coefficients import Level

GRADES = 5


def _crowd(setting: Setting) -> Crowd:
    return simulate_crowd(setting.size.crowd_many, setting.size.crowd_judges, GRADES)


def _karatage(setting: Setting, level: Level) -> Trial:
    crowd = _crowd(setting)
    return Trial(lambda: krippendorff_alpha(crowd.to_judgments(), level), _name)


def _direct(setting: Setting, level: Level) -> Trial:
    crowd = _crowd(setting)
    return Trial(lambda: _direct_alpha(crowd, level), _name)


def _direct_alpha(crowd: Crowd, level: Level) -> float:
    """[KRI11] as written: a table of coincidences (grade, grade) over the pairs within each item."""
    cell = crowd.item.astype(np.int64) * GRADES + crowd.grade
    votes = np.bincount(cell, minlength=len(crowd.truth) * GRADES).reshape(-1, GRADES).astype(float)
    size = votes.sum(axis=1)
    votes, size = votes[size > 1], size[size > 1]
    weighted = votes / (size - 1)[:, None]
    coincidence = votes.T @ weighted - np.diag(weighted.sum(axis=0))
    total = coincidence.sum(axis=1)
    difference = 1.0 - np.eye(GRADES)
    if level == "ordinal":
        middle = np.cumsum(total) - total / 2
        difference = (middle[:, None] - middle[None, :]) ** 2
    expected = np.outer(total, total) / (total.sum() - 1)
    return float(1 - (coincidence * difference).sum() / (expected * difference).sum())


def _name(alpha: float) -> Figures:
    return {"alpha": alpha}


karatage_nominal = partial(_karatage, level="nominal")
karatage_ordinal = partial(_karatage, level="ordinal")
direct_nominal = partial(_direct, level="nominal")
direct_ordinal = partial(_direct, level="ordinal")
