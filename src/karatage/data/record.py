"""What judges have answered so far, to be counted again in the next batch."""

from __future__ import annotations

from dataclasses import dataclass

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

    @staticmethod
    def of(posterior: Posterior) -> JudgeRecord:
        """The record that a model kept."""
        if "answers" not in posterior.parameters or posterior.judge_topics:
            raise OptionError(
                f"{posterior.model} keeps no record of its judges; a history comes from ds or emgz over all topics"
            )
        return JudgeRecord(judges=posterior.judge_names, answers=posterior.parameters["answers"])
