"""The judging process: however many judges there are, one grade for an item."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karatage.aggregation.registry import merge, parse_model
from karatage.data.judgments import Judgments
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.random_streams import stream

JUDGE = "judge:"
DEFAULT_MERGE = "mv"


def name_process(approach: str | None, judgments: Judgments) -> str:
    """How judges become one, when nothing is said: the only judge, or a vote."""
    if approach is not None:
        return approach.strip()
    return f"{JUDGE}{judgments.judges[0]}" if len(judgments.judges) == 1 else DEFAULT_MERGE


def gives_grades(approach: str) -> bool:
    """Whether the approach ends in grades; others end in scores."""
    if approach.startswith(JUDGE):
        return True
    try:
        return not parse_model(approach).expected
    except (OptionError, UnknownNameError):  # expected:ds, uniform ...: `evaluate` knows, or tells what is wrong
        return False


def judge_items(approach: str, judgments: Judgments, seed: int) -> Judgments:
    """The grades of one judge, or all judges' merged; gold is not asked, since it is to correct them."""
    if approach.startswith(JUDGE):
        return _pick_judge(judgments, approach.removeprefix(JUDGE))
    named = parse_model(approach)
    if named.needs_gold or named.supervision not in (None, "none"):
        raise OptionError(
            f"{approach} learns from gold, which would then have to correct its own pupils; choose an approach that "
            "needs none, such as mv, ds or judge:NAME"
        )
    posterior = merge(named, judgments, rng=stream(seed, named.name))
    graded = np.diff(judgments.row_start) > 0
    merged = posterior.as_judgments()
    return replace(merged.keep_rows(graded), notes=tuple(dict.fromkeys(judgments.notes + posterior.notes)))


def _pick_judge(judgments: Judgments, name: str) -> Judgments:
    if name not in judgments.judges:
        raise UnknownNameError("judge", name, judgments.judges)
    kept = judgments.judge == judgments.judges.index(name)
    if not kept.any():
        raise DataError(f"judge '{name}' graded nothing")
    alone = judgments.keep_rows(kept)
    return replace(alone, judges=(name,), judge=np.zeros(int(kept.sum()), np.int32))
