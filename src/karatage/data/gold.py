"""Gold, and how it is to be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karatage.data.judgments import Judgments
from karatage.errors import DataError, OptionError
from karatage.random_streams import generator
from karatage.text import count_names, shorten


@dataclass(frozen=True, eq=False)
class Gold:
    """Trusted grades; which topics only teach, and how certain a grade is.

    Approaches that learn from gold learn from the `training` topics, and all are compared with gold on the others.
    Without training topics each topic is merged with the gold of others. A `certainty` below 1 makes gold random, the
    randomised gold of [RANDREL19]: a relevant document is relevant with that probability, another one with the rest.
    """

    grades: Judgments
    training: tuple[str, ...] = ()
    certainty: float = 1.0

    def __post_init__(self) -> None:
        """Check the options."""
        unknown = [topic for topic in self.training if topic not in set(self.grades.topics)]
        if unknown:
            raise DataError(f"training topics without gold: {count_names(unknown)}")
        if set(self.training) >= set(self.grades.topics):
            raise DataError("all topics with gold are training topics, so none is left to compare with")
        if not 0.5 < self.certainty <= 1:
            raise OptionError(f"gold's certainty {self.certainty:g} must lie above 0.5 and be at most 1")

    @staticmethod
    def split(
        grades: Judgments, share: float, *, certainty: float = 1.0, rng: int | np.random.Generator | None = None
    ) -> Gold:
        """Gold with a share of its topics, drawn at random, for training: one at least, and not all."""
        topics = len(grades.topics)
        if not 0 < share < 1 or topics < 2:
            raise OptionError(f"a share {share:g} of {topics} topics cannot be split off; give one between 0 and 1")
        size = min(max(round(share * topics), 1), topics - 1)
        chosen = np.sort(generator(rng).permutation(topics)[:size])
        return Gold(grades, tuple(grades.topics[t] for t in chosen), certainty)

    @staticmethod
    def of(
        gold: Judgments | Gold | None,
        train: str | Sequence[str] | None = None,
        certainty: float = 1.0,
        *,
        rng: int | np.random.Generator | None = None,
    ) -> Gold | None:
        """Gold with what is said of it: training topics or a share of all like `30%`, and how certain a grade is."""
        if train is None and certainty == 1:
            return Gold(gold) if isinstance(gold, Judgments) else gold
        if gold is None:
            raise OptionError("train and gold_certainty say how gold is used, and there is none; add gold")
        if isinstance(gold, Gold):
            raise OptionError("kt.Gold says itself what is for training and how certain it is; leave out these options")
        if train is None or not isinstance(train, str):
            return Gold(gold, tuple(train or ()), certainty)
        text = train.strip()
        if re.fullmatch(r"0?\.\d+", text) and text not in gold.topics:
            return Gold.split(gold, float(text), certainty=certainty, rng=rng)
        if not text.endswith("%"):
            return Gold(gold, tuple(part.strip() for part in text.split(",")), certainty)
        share = text.removesuffix("%")
        if not share.isdecimal() or not 0 < int(share) < 100:
            raise OptionError(f"train '{shorten(train)}' is no share of the topics; write it like 30%")
        return Gold.split(gold, int(share) / 100, certainty=certainty, rng=rng)
