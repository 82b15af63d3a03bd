"""A table of very many judgments: read, aligned and scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import karatage as kt
from benchmarks.measuring import Trial

if TYPE_CHECKING:
    from benchmarks.setting import Setting


def karatage(setting: Setting) -> Trial:
    def read_and_score() -> kt.Scores:
        judgments = kt.read_judgments(setting.table)
        return kt.score(kt.read_runs(pl.read_parquet(setting.table_runs)), judgments, "nDCG@10")

    return Trial(read_and_score, lambda scores: {"mean": float(scores.value.mean())})
