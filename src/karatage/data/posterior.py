"""What is believed about each item once the judges have been heard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, GradeArray, freeze
from karatage.data.judgments import Judgments


@dataclass(frozen=True, eq=False, kw_only=True)
class Posterior:
    """A probability for every item and grade, and the grade decided on."""

    model: str
    judgments: Judgments
    probability: FloatArray  # (item, grade)
    grades: GradeArray  # (item,)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.probability, self.grades)

    def as_judgments(self) -> Judgments:
        """The decided grades as judgments by one judge, called as the model, over the same items."""
        source = self.judgments
        items = len(self.grades)
        return Judgments(
            judges=(self.model,),
            topics=source.topics,
            documents=source.documents,
            item_topic=source.item_topic,
            item_document=source.item_document,
            judge=np.zeros(items, np.int32),
            item=np.arange(items, dtype=np.int32),
            grade=self.grades,
            top_grade=source.top_grade,
            notes=self.notes,
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per item: its grade and the probability of each."""
        frame = self.as_judgments().to_frame().drop("judge")
        return frame.with_columns([pl.Series(f"p{grade}", column) for grade, column in enumerate(self.probability.T)])
