"""`audit`: measures agreement, accuracy and merges of judges, to say which judges to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.aggregation.registry import MODELS, aggregate, parse_model
from karatage.agreement.coefficients import agreement_intervals
from karatage.agreement.gold import (
    FOLDS,
    INDEPENDENT_GOLD,
    Gain,
    Picked,
    compare_right,
    find_copies_of_gold,
    find_inversion,
    pick_judge,
    pick_merge,
    share_right,
    tell_copies,
)
from karatage.agreement.habits import Panel
from karatage.agreement.independence import GROUPS, LEAST_SHARED, Independence, group_items, measure_independence
from karatage.agreement.intervals import NOTHING, Interval, PairSample, Rows
from karatage.agreement.pairs import Pairs, choose_pairs, compare_pairs, count_joint, fits, kappa_of
from karatage.agreement.suspicion import ENOUGH, Flag, can_find_copies, choose_likely, find_suspects
from karatage.agreement.tables import (
    tabulate_confusion,
    tabulate_families,
    tabulate_flags,
    tabulate_judges,
    tabulate_pairs,
    tabulate_panel,
    tell_below_gold,
    tell_coverage,
    tell_likely,
    tell_sample,
    tell_topics,
)
from karatage.data.alignment import require_data, tell_scales
from karatage.data.audit import BEST_JUDGE, BEST_MERGE, Audit
from karatage.data.axes import FloatArray, GradeArray, IntArray, LongArray
from karatage.data.judgments import Judgments, match_gold
from karatage.data.note import Note
from karatage.data.options import show_options
from karatage.data.posterior import Posterior
from karatage.data.records import Remembered, StudyRecord
from karatage.data.result import list_versions
from karatage.decisions.gold_errors import audit_gold
from karatage.decisions.notes import tell
from karatage.decisions.records import review_judges, tell_change
from karatage.progress import follow
from karatage.random_streams import settle_seed, stream

RELIABILITY = "ds"
MANY_GRADES = 1_000_000  # beyond which slow merges are tried only on request
MANY_JUDGES = 50_000  # likewise
MANY_CELLS = 10_000_000  # of a table by topic, judge, grade and judged grade, likewise
_NUMBERS = ("accuracy", "low", "high", "kappa", "weighted_kappa", "gain", "gain_low", "gain_high")
CONTENDER: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("name", "picked", "also_picked"), pl.String),
    **dict.fromkeys(_NUMBERS, pl.Float64),
    **dict.fromkeys(("items", "shared", "topics"), pl.Int64),
}


class TriedMerge(NamedTuple):
    """The grade of each item and the accuracy of each judge, by a merge."""

    picked: Picked
    accuracy: FloatArray  # (judge,)
    notes: tuple[Note, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditCase:
    """The input of an audit; work for several parts is done once."""

    panel: Panel
    judgments: Judgments
    families: Mapping[str, str]
    approaches: tuple[str, ...]
    costly: tuple[str, ...]  # approaches that are left out
    fitted: Mapping[str, Posterior]  # earlier merges with the same seed
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """The judges."""
        return self.judgments.judges

    @cached_property
    def group(self) -> IntArray:
        """Groups of items that are left out in turn, (item,)."""
        return group_items(self.judgments, GROUPS, stream(self.seed, "groups"))

    @cached_property
    def fold(self) -> IntArray:
        """Folds of items for cross-validation, (item,)."""
        return group_items(self.judgments, FOLDS, stream(self.seed, "folds"))

    @cached_property
    def rows(self) -> Rows:
        """Grades in the form for comparisons of pairs."""
        return Rows.of(self.judgments)

    @cached_property
    def sample(self) -> PairSample | None:
        """The pairs that are compared; None: all of them."""
        return choose_pairs(self.rows, GROUPS * self.rows.grades**2, stream(self.seed, "pairs"))

    @cached_property
    def pairs(self) -> Pairs:
        """Cohen's kappa of pairs of judges."""
        group = self.group if fits(self.rows, GROUPS, self.sample) else None
        return compare_pairs(self.rows, group=group, sample=self.sample)

    @cached_property
    def weighted_pairs(self) -> Pairs | None:
        """The same with quadratic weights, if there are more than two grades."""
        return compare_pairs(self.rows, "quadratic", sample=self.sample) if self.panel.graded else None

    @cached_property
    def independence(self) -> Independence | None:
        """The correlation of errors; None without gold."""
        if not self.panel.has_gold:
            return None
        return measure_independence(self.judgments, self.panel.known, self.group, self.families, self.sample)

    @cached_property
    def merged(self) -> dict[str, TriedMerge]:
        """The merge that estimates reliability, and with gold every merge asked for."""
        asked = self.approaches if self.panel.has_gold and self.panel.judges > 1 else ()
        names = dict.fromkeys([RELIABILITY, *asked])
        return {name: self._merge(name) for name in follow(names, len(names), "merges")}

    def _merge(self, name: str) -> TriedMerge:
        """The needed part of a merge; all its parameters would take much memory with many judges."""
        posterior = self.fitted.get(name)
        if posterior is None:
            posterior = aggregate(self.judgments, name, rng=stream(self.seed, name))
        picked = Picked((), _right(posterior, self.panel.known), posterior.grades)
        unknown = np.full(self.panel.judges, np.nan)  # for merges without an accuracy of judges
        return TriedMerge(picked, posterior.parameters.get("accuracy", unknown), posterior.notes)

    @cached_property
    def flags(self) -> list[Flag]:
        """Suspicious judges."""
        return find_suspects(self.panel, self.likely)

    @cached_property
    def likely(self) -> PairSample | None:
        """The pairs that are tested for copies; None: all of them."""
        return choose_likely(self.panel, self.seed)


@show_options()
def audit(
    judgments: Judgments,
    *,
    gold: Judgments | None = None,
    families: Mapping[str, str] | None = None,
    approach: str | Sequence[str] = (),
    record: StudyRecord | None = None,
    rng: int | np.random.Generator | None = 0,
) -> Audit:
    """Measure how much, how leniently and how well each judge grades, and how many votes the panel is worth.

    Args:
        judgments: The judges' grades. Where a judge graded an item again, the last grade is used; all of them measure
            the judge's consistency.
        gold: Trusted grades; without them agreement is known, but not accuracy.
        families: {judge: family} of judges that may share errors.
        approach: Merges to compare with the best single judge; default: every model that needs no gold.
        record: Earlier studies of the judges, from `kt.stats.read_studies`.
        rng: Seed of resampling, folds and ties.
    """
    require_data("gold", judgments=judgments, gold=gold)
    names = (approach,) if isinstance(approach, str) else tuple(approach)
    return audit_fitted({}, judgments, gold, families or {}, names or None, settle_seed(rng), record)


def audit_fitted(
    fitted: Mapping[str, Posterior],
    judgments: Judgments,
    gold: Judgments | None,
    families: Mapping[str, str],
    approaches: Sequence[str] | None,
    seed: int,
    record: StudyRecord | None = None,
) -> Audit:
    """The same with merges that were `fitted` before to the same judgments, with the same seed."""
    known = np.full(len(judgments.item_topic), -1, np.int8) if gold is None else match_gold(judgments, gold)
    panel = Panel.of(judgments, known)
    merges, costly = _every_merge(panel) if approaches is None else (tuple(parse_model(a).name for a in approaches), ())
    case = AuditCase(
        panel=panel,
        judgments=judgments,
        families=dict(families),
        approaches=merges,
        costly=costly,
        fitted=fitted,
        seed=seed,
    )
    names, flags = judgments.judges, case.flags
    reliability = case.merged[RELIABILITY].accuracy
    judges = tabulate_judges(panel, case.pairs, case.weighted_pairs, reliability, flags)
    if families:
        family = pl.Series("family", [families.get(name) for name in names], dtype=pl.String)
        judges = judges.insert_column(1, family)
    tried, confusion = _merges(case), tabulate_confusion(panel)
    remembered = () if record is None else _review(record, names, confusion, tried)
    return Audit(
        judges=judges,
        panel=tabulate_panel(_panel(case)),
        pairs=tabulate_pairs(names, case.pairs, case.weighted_pairs, case.independence),
        merges=tried,
        confusion=confusion,
        families=tabulate_families(case.independence),
        flags=tabulate_flags(names, flags),
        has_topics=judgments.has_topics,
        items=len(known),
        gold_items=panel.gold_items,
        counts=panel.count_items(),
        gold_errors=audit_gold(gold),
        record=remembered,
        seed=case.seed,
        versions=list_versions(),
        notes=tuple(dict.fromkeys((*_notes(case, gold), *(note for row in remembered for note in tell_change(row))))),
    )


def _review(
    record: StudyRecord, names: tuple[str, ...], confusion: pl.DataFrame, merges: pl.DataFrame
) -> tuple[Remembered, ...]:
    """The studies of judges in the record, beside their grades of gold items now."""
    size = 1 + int(np.max(confusion.select("gold", "grade").to_numpy(), initial=0))
    counts: dict[str, LongArray] = {}
    for judge, gold, grade, items in confusion.select("judge", "gold", "grade", "items").iter_rows():
        counts.setdefault(judge, np.zeros((size, size), np.int64))[gold, grade] = items
    return review_judges(record, names, counts, dict(merges.select("name", "accuracy").iter_rows()))


def _every_merge(panel: Panel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The models that can merge these judgments without gold, and those that need too much time or memory here.

    Models of shares for expected measures are left out, since their grades are those of mv.
    """
    models = [m for m in map(parse_model, sorted(MODELS)) if not (m.needs_gold or m.expected)]
    models = [m for m in models if not (m.knows_two_grades and panel.grades > 2)]
    many = len(panel.judgments.every.grade) > MANY_GRADES or panel.judges > MANY_JUDGES
    large = panel.judges * len(panel.judgments.topics) * panel.grades**2 > MANY_CELLS
    costly = [m.name for m in models if (m.slow and many) or (m.by_topic and large)]
    return tuple(m.name for m in models if m.name not in costly), tuple(costly)


def _panel(case: AuditCase) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    if (np.diff(case.panel.judgments.row_start) > 1).any():
        found = agreement_intervals(case.judgments, rng=stream(case.seed, "resampling"))
    if len(case.pairs.first):
        found["cohen"] = case.pairs.mean
    if case.sample is not None:
        counts = {"pairs_compared": float(len(case.sample)), "pairs_of_judges": case.sample.pairs}
        found |= {name: Interval(count, np.nan, np.nan) for name, count in counts.items()}
    return found if case.independence is None else found | _worth(case.independence)


def _worth(found: Independence) -> dict[str, Interval]:
    """Error correlations of pairs with enough shared items, and effective votes; pooled where these are few."""
    told = {
        "error_correlation": found.correlation,
        "error_correlation_within": found.correlation_within,
        "error_correlation_pooled": found.pooled if found.sparse else NOTHING,
        "effective_votes": found.effective_votes,
        "effective_votes_per_item": found.effective_votes_per_item,
        "judges_compared": Interval(float(found.judges) if found.judges else np.nan, np.nan, np.nan),
        "grades_per_item": Interval(found.votes, np.nan, np.nan),
    }
    known = np.isfinite(told["effective_votes_per_item"].value)
    return {name: value for name, value in told.items() if known and np.isfinite(value.value)}


def _merges(case: AuditCase) -> pl.DataFrame:
    """Every merge, the best merge and the best judge; the best are chosen and scored on different folds."""
    panel, rows = case.panel, []
    if panel.has_gold and panel.judges > 1:
        single = pick_judge(panel, case.fold)
        merges = {name: case.merged[name].picked for name in case.approaches}
        if merges:
            right, said = ({name: getattr(m, part) for name, m in merges.items()} for part in ("right", "grade"))
            merges[BEST_MERGE] = pick_merge(right, said, case.fold)
        rows = [_contender(panel, name, merge, single) for name, merge in merges.items()]
        rows.append(_contender(panel, BEST_JUDGE, single, None))
    found = pl.DataFrame(rows, schema=CONTENDER, orient="row").filter(pl.col("items") > 0)
    return found.with_columns(pl.col(pl.Float64).fill_nan(None))


def _right(posterior: Posterior, known: GradeArray) -> FloatArray:
    """1 where the merged grade is gold's, 1/m where gold's is one of m tied grades, NaN without gold, (item,)."""
    winners = posterior.winners
    right = np.full(len(known), np.nan)
    has = (known >= 0) & (np.diff(posterior.judgments.row_start) > 0)
    right[has] = 0.0
    inside = np.flatnonzero(has & (known < winners.shape[1]))
    right[inside] = winners[inside, known[inside]] / winners[inside].sum(axis=1)
    return right


def _contender(panel: Panel, name: str, picked: Picked, single: Picked | None) -> tuple[object, ...]:
    """A row of the table of merges; the gain is on the items that the best judge graded."""
    at = np.flatnonzero(np.isfinite(picked.right))
    kappa, weighted = np.nan, np.nan
    if at.size:
        size = max(panel.grades, int(picked.grade.max()) + 1)
        joint = count_joint(panel.known[at].astype(np.int64), picked.grade[at].astype(np.int64), size)
        kappa, weighted = kappa_of(joint), kappa_of(joint, "quadratic") if panel.graded else np.nan
    names = (picked.names[0] if picked.names else None, ", ".join(picked.names[1:]) or None)
    topic = panel.judgments.item_topic
    share = share_right(picked.right, topic)
    shared, topics, gain = Gain(0, 0, NOTHING) if single is None else compare_right(picked.right, single.right, topic)
    return (name, *names, *share, kappa, weighted, *gain, at.size, shared, topics)


def _notes(case: AuditCase, gold: Judgments | None) -> Iterator[Note]:
    panel, names = case.panel, case.judgments.judges
    yield from case.panel.judgments.notes
    yield from (note.about("gold") for note in (gold.notes if gold is not None else ()))
    items = np.bincount(panel.judgments.judge, minlength=len(names))
    few = tuple(names[j] for j in np.flatnonzero(items < ENOUGH))
    yield from tell.when(few, "few-items", least=ENOUGH, judges=few)
    if not (np.diff(panel.judgments.row_start) > 1).any():
        yield tell("alone")
    elif not can_find_copies(panel):
        yield tell("many-grades", grades=panel.grades)
    if case.sample is not None:
        yield tell_sample(len(names), case.sample, case.pairs)
    if case.likely is not None:
        yield tell("copies-sampled", finding=tell_likely(panel, case.likely))
    yield from _tell_gold(case, gold)
    yield from tell_scales(panel.judgments, gold)
    yield from tell_below_gold(panel)
    heard = set(names)
    strangers = tuple(name for name in case.families if name not in heard)
    yield from tell.when(strangers, "families-strange", judges=strangers)
    alone = tuple(name for name in names if name not in case.families)
    yield from tell.when(case.families and alone, "families-alone", judges=alone)
    yield from case.merged[RELIABILITY].notes


def _tell_gold(case: AuditCase, gold: Judgments | None) -> Iterator[Note]:
    panel = case.panel
    if gold is None:
        yield tell("no-gold")
        return
    if not panel.has_gold:
        yield tell("no-gold-shared")
        return
    if panel.judges > 1 and case.independence is not None and not case.independence.judges:
        who = "no two judges who both err" if case.sample is None else "no two judges of a pair drawn who both err"
        yield tell("pairs-unshared", who=who, least=LEAST_SHARED)
    yield from tell.when(case.costly and panel.judges > 1, "merges-costly", merges=", ".join(case.costly))
    copies = find_copies_of_gold(panel.judgments, panel.known)
    if copies:
        yield tell("copy", finding=tell_copies(copies, panel.judgments), advice=INDEPENDENT_GOLD)
    inversion = find_inversion(panel.judgments.grade, panel.gold, panel.judgments, panel.known)
    if inversion is not None:
        yield tell("inverted", finding=inversion.finding, advice=inversion.advice)
    yield from tell_coverage(panel)
    yield from tell_topics(panel)
    graded, all_gold = panel.gold_items, len(gold.item_topic)
    yield from tell.when(graded < all_gold, "gold-graded", items=graded, gold=all_gold)
