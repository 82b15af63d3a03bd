"""What to bear in mind when runs, judgments and gold have met."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karatage.data.alignment import Alignment
from karatage.data.judgments import Judgments
from karatage.data.scales import tell_scales
from karatage.measures.scoring import say_unjudged
from karatage.measures.spec import Measure
from karatage.text import count_names


def tell_meeting(
    judgments: Judgments, gold: Judgments | None, pool: Judgments, alignment: Alignment, measure: Measure
) -> Iterator[str]:
    """Doubts about what judges and gold have graded; `pool` is widened, so that every retrieved document is an item."""
    yield from _tell_unjudged(pool, alignment, measure)
    if gold is not None:
        yield from (f"gold: {note}" for note in gold.notes)
        yield from tell_scales(judgments, gold)
    unseen = np.ones(len(alignment.topics), bool)
    unseen[pool.item_topic[pool.item]] = False
    names = [alignment.topics[t] for t in alignment.retrieved_topics if unseen[t]]
    if names:
        yield f"topics that the judges did not see, left out: {count_names(names)}"


def _tell_unjudged(pool: Judgments, alignment: Alignment, measure: Measure) -> Iterator[str]:
    """In the words of scores over the pool as it was judged."""
    shown = alignment.ranked[:, :, : measure.cutoff]
    placed = shown[shown >= 0]
    missing = int((np.diff(pool.row_start)[placed] == 0).sum())
    yield from say_unjudged(missing, len(placed), measure, len(alignment.systems))
