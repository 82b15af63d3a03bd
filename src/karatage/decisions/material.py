"""Runs, judgments and gold, and what is computed from them: each thing once, for all questions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np

from karatage.aggregation.registry import NamedModel, merge, parse_model
from karatage.approaches.evidence import Known
from karatage.approaches.registry import JUDGE
from karatage.data.alignment import Alignment, align, widen_pool
from karatage.data.axes import GradeArray
from karatage.data.judgments import Judgments, match_gold
from karatage.data.posterior import Posterior
from karatage.data.records import StudyRecord
from karatage.data.runs import Runs
from karatage.data.scores import Scores
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.measures.scoring import score_aligned
from karatage.measures.spec import Measure
from karatage.random_streams import stream

if TYPE_CHECKING:
    from karatage.decisions.case import Case

DEFAULT_MERGE = "mv"

Made = TypeVar("Made")


class Meeting(NamedTuple):
    """Some systems, over the pool of judged and retrieved documents."""

    runs: Runs  # of these systems
    pool: Judgments  # by the merged judge
    alignment: Alignment


class Kept:
    """Values by the inputs that they were computed from."""

    def __init__(self) -> None:
        self._made: dict[Hashable, object] = {}

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The value of this key, computed if it is new."""
        if key not in self._made:
            self._made[key] = make()
        return cast("Made", self._made[key])


@dataclass(frozen=True, eq=False, kw_only=True)
class Material:
    """The data of all questions that are asked together."""

    runs: Runs
    judgments: Judgments
    gold: Judgments | None
    record: StudyRecord | None = None  # earlier studies of the judges
    cases: WeakValueDictionary[Hashable, Case] = field(default_factory=WeakValueDictionary, repr=False)
    _merged: dict[tuple[str, int], Posterior] = field(default_factory=dict, repr=False)
    kept: Kept = field(default_factory=Kept, repr=False)

    @cached_property
    def known(self) -> GradeArray:
        """Gold's grade of each judged item, -1 = none."""
        if self.gold is None:
            return np.full(len(self.judgments.item_topic), -1, np.int8)
        return match_gold(self.judgments, self.gold)

    @cached_property
    def alignment(self) -> Alignment:
        """All runs, over the judged documents."""
        return align(self.runs, self.judgments)

    def list_known(self, seed: int) -> Known:
        """What `evaluate` can reuse: the alignment, and the merges with this seed."""
        return Known(
            self.alignment, {name: posterior for (name, used), posterior in self._merged.items() if used == seed}
        )

    def judge(self, approach: str, seed: int) -> Judgments:
        """One grade for each item: one judge's, or all judges' merged."""
        if approach.startswith(JUDGE):
            return self.kept.once((approach,), lambda: judge_items(approach, self.judgments, seed))
        named = _parse_merge(approach)
        key = named.name, seed
        if key not in self._merged:
            self._merged[key] = _merge(named, self.judgments, seed)
        return self.kept.once(("judge", *key), lambda: _decide(self.judgments, self._merged[key]))

    def meet(self, approach: str, seed: int, systems: Sequence[str], depth: int | None) -> Meeting:
        """Some systems and the judges; documents in the first `depth` ranks are items even if they are unjudged."""
        chosen = self.runs.only(systems)
        ranks = min(depth or chosen.depth, chosen.depth)

        def make() -> Meeting:
            pool = widen_pool(self.judge(approach, seed), chosen, ranks)
            return Meeting(chosen, pool, align(chosen, pool))

        return self.kept.once(("meet", approach, seed, tuple(systems), ranks), make)

    def score(self, meeting: Meeting, measure: Measure) -> Scores:
        """The systems' scores by the judges."""

        def make() -> Scores:
            (scored,) = score_aligned(meeting.alignment, meeting.pool, [measure]).values()
            return scored

        return self.kept.once(("score", meeting.alignment, measure), make)

    def score_by_gold(self, runs: Runs, measure: Measure) -> Scores:
        """Scores by gold, for topics with gold."""
        assert self.gold is not None
        gold = self.gold
        alignment = self.kept.once(("align gold", runs.systems), lambda: align(runs, gold))

        def make() -> Scores:
            (scored,) = score_aligned(alignment, gold, [measure]).values()
            return scored

        return self.kept.once(("score by gold", runs.systems, measure), make)


def name_process(approach: str | None, judgments: Judgments) -> str:
    """How judges are merged: as asked, else the only judge, or a majority vote."""
    if approach is not None:
        return approach.strip()
    return f"{JUDGE}{judgments.judges[0]}" if len(judgments.judges) == 1 else DEFAULT_MERGE


def gives_grades(approach: str) -> bool:
    """Whether the approach gives grades; others give scores."""
    if approach.startswith(JUDGE):
        return True
    try:
        return not parse_model(approach).expected
    except (OptionError, UnknownNameError):  # expected:ds, uniform ...: `evaluate` checks the name
        return False


def judge_items(approach: str, judgments: Judgments, seed: int) -> Judgments:
    """The grades of one judge, or all judges' merged; gold is not used, since it corrects them later."""
    if approach.startswith(JUDGE):
        return _pick_judge(judgments, approach.removeprefix(JUDGE))
    return _decide(judgments, _merge(_parse_merge(approach), judgments, seed))


def _parse_merge(approach: str) -> NamedModel:
    named = parse_model(approach)
    if named.needs_gold or named.supervision not in (None, "none"):
        raise OptionError(
            f"{approach} is trained on gold, so the same gold cannot correct it; choose an approach without gold, "
            f"such as mv, ds or judge:NAME"
        )
    return named


def _merge(named: NamedModel, judgments: Judgments, seed: int) -> Posterior:
    return merge(named, judgments, rng=stream(seed, named.name))


def _decide(judgments: Judgments, posterior: Posterior) -> Judgments:
    """One grade for each judged item."""
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
