"""Correct the judges' errors: choose the estimator for the gold, fit it, and check its input and its results.

A guard refuses with an error, or allows the figures but no claim (an alarm). All commands call `correct`, so they have
the same guards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from karatage.agreement.gold import INDEPENDENT_GOLD, find_copies_of_gold, find_inversion, tell_copies
from karatage.approaches.registry import JUDGE
from karatage.correction.sampled import Drawn, count_planned, find_reach, weigh_count
from karatage.data.axes import FloatArray
from karatage.data.comparison import Opinion
from karatage.data.estimate import t_quantile
from karatage.data.gold_errors import GoldErrors
from karatage.data.judgments import find_items
from karatage.data.note import Note
from karatage.decisions.case import Case, ask
from karatage.decisions.estimators.contract import WEIGHTED_SUMS, Doubt, Estimator, Fitted, Objection, SecondOpinion
from karatage.decisions.estimators.registry import choose
from karatage.decisions.gold_errors import (
    LEAST_DOUBLES,
    LEAST_SLOPE,
    MOST_KINDS,
    MOST_SLIPS,
    LearnedErrors,
    count_doubles,
)
from karatage.decisions.notes import tell
from karatage.decisions.question import Question
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.kernels.sampling import FLOOR, mean_positive
from karatage.measures.registry import ceiling, parse_measure
from karatage.text import count_names, counted, shorten

CHANCE = 0.001  # of a false alarm
NEARLY = 0.1  # relative error of probabilities that is accepted: lost digits or grades have little effect
ROUNDING = 1e-9
FEW_IMPOSSIBLE = 0.01  # of a board's differences, which may be beyond the range by chance
MOST_PAST = 0.25  # of the range, by which they may be beyond it


class Choice(NamedTuple):
    """A correction and its estimator, or why there is none; and a second opinion."""

    corrected: Fitted | None
    refusal: str | None = None
    estimator: Estimator | None = None
    second: SecondOpinion | Objection | None = None
    alarm: str | None = None  # why the correction allows no claim
    notes: tuple[Note, ...] = ()

    def doubt_pair(self, a: int, b: int) -> Doubt:
        """What may not be claimed about the difference of two systems, and why."""
        return self._add_alarm(self._nothing if self.second is None else self.second.doubt_pair(a, b))

    def doubt_board(self) -> Doubt:
        """What may not be claimed about all pairs, and why."""
        return self._add_alarm(self._nothing if self.second is None else self.second.doubt_board())

    @property
    def _nothing(self) -> Doubt:
        systems = 0 if self.corrected is None else len(self.corrected.pairs.value)
        return Doubt(np.zeros((systems, systems), bool))

    def _add_alarm(self, doubt: Doubt) -> Doubt:
        return doubt._replace(alarm=self.alarm or doubt.alarm)


def correct(case: Case) -> Choice:
    """Correct judges' errors by the estimator asked for, or by the one for the design of the gold."""
    return case.kept.once("correct", lambda: _correct(case))


def _correct(case: Case) -> Choice:
    assert case.gold is not None
    if not case.design.items and not (case.gold_item >= 0).any():
        return Choice(
            None,
            f"none of the {len(case.gold.grade):,} gold items is among the judged documents of these topics; are "
            "topics and documents written in the same way?",
        )
    if case.gain is not None and not np.ptp(case.gain):
        return Choice(
            None,
            f"no grade from 0 to {case.top_grade}, the highest of judges and gold, has a gain in "
            f"{case.question.parsed}; use a lower rel",
        )
    notes: tuple[Note, ...] = ()
    try:
        estimator, notes = choose(case)
        require_upright(case)
        if estimator.needs_chances and case.gold.draw is not None and case.gain is not None:
            notes += require_frame(case)
        require_agreement(case, estimator)
        found = _doubt_gold(estimator, case, _fit(estimator, case))
        _require_few_slips(case)
    except DataError as problem:
        return Choice(None, f"{problem}", notes=notes)
    copies = find_copies(case)
    second, told = _ask_again(case, found)
    return Choice(found, None, estimator, second, copies.alarm, (*notes, *copies.notes, *told, *found.notes))


def _fit(estimator: Estimator, case: Case) -> Fitted:
    """An estimate, with guards on its input and its results."""
    if estimator.needs_chances:
        require_chances(case)
    return require_spread(case, require_possible(case, estimator.fit(case)))


def _doubt_gold(estimator: Estimator, case: Case, found: Fitted) -> Fitted:
    """The same with the uncertainty of gold's own error rates."""
    errors = case.gold_errors
    if errors is None or not estimator.corrects_gold:
        return replace(found, notes=(*found.notes, *tell_gold_errors(case, estimator)))
    pairs, levels = np.zeros_like(found.pairs.variance), np.zeros(len(found.pairs.variance))
    for shift in errors.list_shifts():
        moved = estimator.fit(replace(case, shift=shift))
        pairs += (moved.pairs.value - found.pairs.value) ** 2
        if moved.levels is not None and found.levels is not None:
            levels += (moved.levels.value - found.levels.value) ** 2
    return replace(
        found,
        pairs=replace(found.pairs, variance=found.pairs.variance + pairs),
        levels=found.levels and replace(found.levels, variance=found.levels.variance + levels),
        erring_variance=found.erring_variance + pairs,
        assumed=(*found.assumed, errors.assumption),
        notes=(*found.notes, *tell_gold_errors(case, estimator)),
    )


def require_agreement(case: Case, estimator: Estimator) -> None:
    """Refuse gold by the judges that it should correct, and gold whose judges agree too little."""
    gold, errors = case.gold, case.gold_errors
    if gold is None or gold.answers is None:
        return
    same = set(gold.answers.judges) & set(case.material.judgments.judges)
    if len(same) > 1 and same == set(gold.answers.judges):
        names = count_names(sorted(same))
        raise GuardError(f"gold is by judges whose errors it should correct ({names}); {INDEPENDENT_GOLD}")
    if errors is not None and estimator.corrects_gold and errors.slips.factor < LEAST_SLOPE:
        raise GuardError(
            f"gold's judges agree too little: {_say_slips(errors)}, so differences cannot be corrected; clarify what "
            "the grades mean, and grade again"
        )


def _require_few_slips(case: Case) -> None:
    """Refuse measures that cannot be corrected for gold's own errors, if these are frequent."""
    errors = None if case.linear is not None else case.gold_errors_by_grade
    if errors is not None and errors.slips.rate >= MOST_SLIPS:
        raise DataError(
            f"{_say_slips(errors)}, and {case.question.parsed} cannot be corrected for them, as it is not a weighted "
            f"sum of grades; use {WEIGHTED_SUMS}, or take gold as correct with one grade for each item"
        )


def _say_slips(errors: LearnedErrors) -> str:
    items = counted(errors.doubles.count_items()[0], "item")
    return f"{errors.slips.rate:.0%} of gold's grades are slips, by {items} graded more than once"


def tell_gold_errors(case: Case, estimator: Estimator) -> tuple[Note, ...]:
    """What to know about the correction of gold's own errors."""
    gold, errors = case.gold, case.gold_errors
    if gold is None or gold.answers is None or case.linear is None:
        return ()
    if errors is None:
        found = count_doubles(gold, np.arange(gold.top_grade + 1))
        doubles, split = (0, 0) if found is None else found.count_items()
        if doubles >= LEAST_DOUBLES:
            grades = len(np.unique(gold.answers.grade))
            return tell.when(grades > MOST_KINDS, "gold-many-grades", grades=grades, most=MOST_KINDS)
        return tell.when(doubles, "gold-few-doubles", doubles=doubles, split=split, least=LEAST_DOUBLES)
    if not estimator.corrects_gold:
        return (tell("gold-errors-kept", estimator=estimator.name, slips=errors.slips.rate),)
    untold = errors.doubles.judges > 1 and not errors.told_apart
    return tell.when(untold, "gold-opinions", shrinks=errors.slips.factor, least=LEAST_DOUBLES)


def describe_gold_errors(case: Case, choice: Choice) -> GoldErrors | None:
    """Gold's own errors, and the share of the width of intervals that is due to them, as a median over pairs."""
    errors, found = case.gold_errors, choice.corrected
    if case.linear is None and case.gold is not None:
        errors = case.gold_errors_by_grade
    if errors is None:
        return None
    corrected = found is not None and choice.estimator is not None and choice.estimator.corrects_gold
    if found is None or not corrected or case.linear is None:
        return errors.tell(corrected=False)
    variance, part = found.pairs.variance, np.broadcast_to(found.erring_variance, found.pairs.variance.shape)
    known = np.triu(np.isfinite(variance) & (variance > 0), 1)
    if not known.any():
        return errors.tell(corrected=True)
    share = 1 - np.sqrt(1 - np.minimum(part[known] / variance[known], 1.0))
    return errors.tell(corrected=True, share=float(np.median(share)))


def _ask_again(case: Case, found: Fitted) -> tuple[SecondOpinion | Objection | None, tuple[Note, ...]]:
    """The second opinion on a result; a note if guards refuse it."""
    try:
        return found.second_opinion(case, _fit), ()
    except GuardError as problem:
        return None, (tell("no-second", reason=str(problem)),)
    except DataError:
        return None, ()


class GuardError(DataError):
    """The refusal of a guard."""


class Copies(NamedTuple):
    """Gold that looks like a judge's own grades."""

    alarm: str | None = None  # about a judge that the answer uses
    notes: tuple[Note, ...] = ()  # about others


def require_upright(case: Case) -> None:
    """Refuse gold that is inverted against every judge."""
    found = find_inversion(case.said, case.gold_grade, case.material.judgments, case.material.known)
    if found is not None:
        raise GuardError(f"{found.finding}; {found.advice}")


def find_copies(case: Case) -> Copies:
    """Whether gold is a copy of a judge; a copy of a judge in use allows no claim."""
    judgments = case.material.judgments
    found = find_copies_of_gold(judgments, case.material.known)
    if not found:
        return Copies()
    only = case.approach.removeprefix(JUDGE) if case.approach.startswith(JUDGE) else None
    used = [copy for copy in found if only in (None, judgments.judges[copy.judge])]
    told = tell_copies(used or found, judgments)
    if used:
        return Copies(f"{told}; {INDEPENDENT_GOLD}")
    return Copies(notes=(tell("copy-unused", finding=told),))


def require_chances(case: Case) -> None:
    """Refuse drawn gold if its probabilities are too small or too large for what it was drawn from."""
    if case.gold is None or case.gold.draw is None or case.frame is not None or case.gain is None:
        return
    drawn = case.drawn
    size = np.zeros(len(case.said))
    size[case.matters] = case.find_sizes(case.weight_without_gold[case.matters])
    size = np.where(size > 0, np.maximum(size, FLOOR * mean_positive(size)), 0.0)  # as plan draws
    frame = case.gold.draw.frame
    fixed = frame is not None and case.fingerprint == frame
    reach = find_reach(size, drawn, fixed=fixed)
    evidence = reach.evidence.copy()
    evidence[0] = max(evidence[0], weigh_count(size, _take_first(drawn)))
    off = np.abs(np.log(np.maximum(reach.share, ROUNDING))) > math.log1p(NEARLY)
    worst = int(np.argmax(np.where(off, evidence, 0.0)))
    if not off[worst] or evidence[worst] <= math.log(2 * len(off) / CHANCE):
        _require_whole(size, drawn)
        return
    share = float(reach.share[worst])
    batch = np.unique(drawn.batch)[worst]
    own = (drawn.batch == batch) & (size[drawn.item] > 0)
    before = (drawn.batch < batch) & (size[drawn.item] > 0)
    raised = float((1 / drawn.pi[own]).sum())
    where = f" of batch {batch}" if len(off) > 1 else ""
    found = (
        f"the sampling probabilities pi{where} do not match what gold was drawn from: 1/pi of its {own.sum():,} items "
        f"adds up to {raised:,.0f}, but {(size > 0).sum() - before.sum():,} documents matter here (by weight, the sum "
        f"is {share:.2g} times what it should be)"
    )
    if share > 1:
        raise GuardError(
            f"{found}. The values of pi are too small, so that gold would count {share:.2g} times; take the column pi "
            "from the queue that karatage plan wrote for these systems and this measure"
        )
    raise GuardError(
        f"{found}. Either part of the queue was not graded, or pi is too large, or gold was drawn for other systems or "
        "another measure. Grade the whole queue, use its column pi, or plan gold for these systems"
    )


def _require_whole(size: FloatArray, drawn: Drawn) -> None:
    """Refuse a queue with missing rows; only the first batch is checked, as later ones may have other sizes."""
    first = _take_first(drawn)
    planned, found = count_planned(size, first), len(first.item)
    if planned is not None and found < planned:
        raise GuardError(
            f"the sampling probabilities pi are those of a queue of {counted(planned, 'document')}, and gold has "
            f"{found:,} of them; grade all rows of the queue, since missing rows may differ from the rest"
        )


def _take_first(drawn: Drawn) -> Drawn:
    first = drawn.batch == drawn.batch.min()
    return Drawn(drawn.item[first], drawn.gain[first], drawn.pi[first], drawn.batch[first])


def require_possible(case: Case, found: Fitted) -> Fitted:
    """Refuse impossible differences and scores. Those of a board that are impossible by chance are only not shown."""
    top = find_ceiling(case)
    found = _require_possible_pairs(case, found, top)
    within = max(found.within[0], 0.0), min(found.within[1], top)
    bounded, levels = replace(found, possible=(0.0, top), within=within), found.levels
    if levels is None or bounded.shown.all():
        return bounded
    outside = ~bounded.shown
    past = np.maximum(-levels.value, levels.value - top)
    limit = [t_quantile(1 - CHANCE / len(outside), degrees) for degrees in levels.degrees]
    wrong = outside & (past > np.array(limit) * np.sqrt(levels.variance) + ROUNDING)
    if wrong.any():
        s = int(np.flatnonzero(wrong)[0])
        raise GuardError(
            f"the corrected score of {case.systems[s]} is {levels.value[s]:.3f}, and {case.question.parsed} lies "
            f"between 0 and {top:.4g}: {_blame(case)}"
        )
    names = tuple(case.systems[s] for s in np.flatnonzero(outside))
    note = tell("impossible-scores", top=top, measure=str(case.question.parsed), systems=names)
    return replace(bounded, notes=(*found.notes, note))


def _require_possible_pairs(case: Case, found: Fitted, top: float) -> Fitted:
    pairs = found.pairs
    past = np.abs(pairs.value) - top
    beyond = past > ROUNDING
    if not beyond.any():
        return found
    first = np.triu_indices(len(beyond), 1)
    gap, count = pairs.value[first], int(beyond[first].sum())
    limit = t_quantile(1 - CHANCE / len(gap), float(pairs.degrees[beyond].min()))
    few = count <= FEW_IMPOSSIBLE * len(gap) and past.max() <= MOST_PAST * top
    if not few or (past[beyond] > limit * np.sqrt(pairs.variance[beyond])).any():
        worst = gap[np.argmax(np.abs(gap))]
        told = "the corrected difference is"
        if len(gap) > 1:
            told = f"{count:,} of {len(gap):,} corrected differences are impossible, the largest is"
        raise GuardError(
            f"{told} {worst:+.3f}, and a difference in {case.question.parsed} lies between {-top:.4g} and "
            f"{top:.4g}: {_blame(case)}"
        )
    bounded = replace(pairs, value=np.clip(pairs.value, -top, top), variance=np.where(beyond, np.inf, pairs.variance))
    note = tell("impossible-pairs", pairs=count, top=top, measure=str(case.question.parsed))
    return replace(found, pairs=bounded, notes=(*found.notes, note))


def require_spread(case: Case, found: Fitted) -> Fitted:
    """A difference that is the same in every topic has no variance estimate, so no claim is made about it."""
    pairs = found.pairs
    fixed = (pairs.variance == 0) & (pairs.value != 0)
    if case.question.claim == "these" or not fixed.any():
        return found
    if len(fixed) == 2:
        raise GuardError(
            f"the difference is {pairs.value[0, 1]:+.3f} in each of {counted(len(case.topics), 'topic')}, so the "
            "variance between topics is unknown; judge more topics, or claim these topics only (--claim these)"
        )
    return replace(found, pairs=replace(pairs, variance=np.where(fixed, np.inf, pairs.variance)))


def find_ceiling(case: Case) -> float:
    """The highest possible score; the lowest is 0."""
    return ceiling(case.question.parsed, case.depth, case.top_grade)


def keep_possible(opinions: Sequence[Opinion], top: float) -> tuple[tuple[Opinion, ...], tuple[Note, ...]]:
    """Second opinions with a possible difference, and a note on the others."""
    kept = tuple(o for o in opinions if abs(o.difference.value) <= top + ROUNDING)
    lost = [f"{o.way} ({o.difference.value:+.3f})" for o in opinions if o not in kept]
    return kept, tell.when(lost, "impossible", top=top, opinions=", ".join(lost))


def _blame(case: Case) -> str:
    assert case.gold is not None
    if case.gold.draw is not None:
        return "check the column pi of the gold, or draw more of it (karatage plan)"
    return "there is too little gold, or it was not drawn from these systems' documents; draw more (karatage plan)"


def require_frame(case: Case) -> tuple[Note, ...]:
    """Refuse gold drawn from other items than those that matter here; a note where that is unknown."""
    assert case.gold is not None
    assert case.gold.draw is not None
    draw = case.gold.draw
    if draw.frame is None:
        return (tell("frame-unknown"),)
    measure = draw.measure or str(case.question.parsed)
    try:
        parse_measure(measure)
    except (OptionError, UnknownNameError):
        raise DataError(f"the gold queue was drawn for '{shorten(measure)}', which is not a measure") from None
    if measure == str(case.question.parsed) and case.fingerprint == draw.frame:
        return ()
    for systems in dict.fromkeys([case.systems, case.material.runs.systems]):
        question = Question(measure=measure, approach=case.question.approach)
        drawn_for = ask(case.material, question, systems=systems, seed=case.seed)
        if drawn_for.gain is None:
            break
        if drawn_for.fingerprint == draw.frame:
            _require_inside(case, drawn_for)
            return ()
    raise DataError(
        f"the gold queue was planned for other systems, or with other runs or judgments (frame {shorten(draw.frame)}, "
        f"for {shorten(measure)}): name the systems that it was planned for with --a and --b, give all runs and "
        "judgments that it was planned with, or plan a queue for these systems"
    )


def _require_inside(case: Case, drawn_for: Case) -> None:
    place = find_items(case.pool, drawn_for.pool)
    lost = case.matters & ~np.where(place >= 0, drawn_for.matters[place], False)
    if lost.any():
        raise DataError(
            f"{int(lost.sum()):,} documents that matter for {case.question.parsed} could not be drawn for "
            f"{drawn_for.question.measure}, which the gold queue was planned for; use that measure, or plan a "
            "queue for this one"
        )
