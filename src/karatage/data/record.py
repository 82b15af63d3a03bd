"""What judges have answered so far, to be counted again in the next batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, freeze
from karatage.data.checks import require_names, require_numbers, require_shape
from karatage.data.posterior import Posterior
from karatage.errors import OptionError


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeRecord:
    """How often each judge said what of items of each grade, as far as a model could tell."""

    judges: tuple[str, ...]
    answers: FloatArray  # (judge, grade, said)

    def __post_init__(self) -> None:
        """Refuse counts that are none, and protect the array."""
        require_names("judges", self.judges)
        grades = self.answers.shape[1] if self.answers.ndim == 3 else 0
        require_shape("answers", self.answers, len(self.judges), grades, grades)
        require_numbers("answers", self.answers, 0)
        freeze(self.answers)

    def extend(self, judges: pl.DataFrame) -> pl.DataFrame:
        """A table of judges, and below it the answers of those judges in the record who are not in it."""
        absent = [j for j, name in enumerate(self.judges) if name not in set(judges["judge"])]
        columns = {
            f"answers_{grade}_{said}": self.answers[absent, grade, said]
            for grade, said in np.ndindex(*self.answers.shape[1:])
        }
        names = pl.Series("judge", [self.judges[j] for j in absent], dtype=pl.String)
        return pl.concat([judges, pl.DataFrame({"judge": names, **columns})], how="diagonal_relaxed")

    @staticmethod
    def of(posterior: Posterior) -> JudgeRecord:
        """The record that a model kept."""
        if "answers" not in posterior.parameters or posterior.judge_topics:
            raise OptionError(
                f"{posterior.model} keeps no record of its judges; a history comes from ds or emgz over all topics"
            )
        return JudgeRecord(judges=posterior.judge_names, answers=posterior.parameters["answers"])
