"""`compare_all`: who beats whom on a leaderboard, once the judges' errors are undone?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.board import Board
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.data.scores import settle_ties
from karatage.data.standing import Adjust, Differences, Standing, find_claims
from karatage.data.versions import list_versions
from karatage.deciding.case import Case, make_case
from karatage.deciding.choosing import Choice, correct, name_way
from karatage.deciding.comparing import tell_sample
from karatage.deciding.corrected import ALARM, Pairs, find_gap
from karatage.deciding.naive import compare_all as trust_judges
from karatage.deciding.question import Question
from karatage.deciding.resampling import compare_boards
from karatage.errors import OptionError
from karatage.measures.spec import Measure
from karatage.wording import counted

MANY = 1e9  # degrees of freedom that are as good as infinite
EXPECTED_APART = 0.05  # of pairs, about what chance puts more than two standard errors apart


class _Shift(NamedTuple):
    """Whether two corrections contradict each other, and the answer rests on the one in doubt."""

    apart: BoolArray  # (system, system)
    alarm: str | None = None
    notes: tuple[str, ...] = ()


def compare_all(
    runs: Runs,
    judgments: Judgments,
    gold: Judgments | None,
    measure: str | Measure | Question,
    *,
    systems: Sequence[str] | None = None,
    adjust: Adjust = "holm",
) -> Board:
    """Rank systems and compare all pairs of them: what the judges say, and what is left once their errors are undone.

    Args:
        runs: What the systems retrieved.
        judgments: What the judges said; several are merged first.
        gold: Trusted grades of some items, used as in `compare`. None: only the judges' own board is given.
        measure: A measure such as `P@10`, or a `kt.Question`. Its `resamples` are those behind the intervals of tau,
            tau_ap and slope, 1,000 if it says nothing.
        systems: Some of the runs; default: all.
        adjust: How pairs are claimed to differ. `holm`: hardly any claim is false, for a board that is read as who
            beats whom; `bh`: a small share of the claims is, for exploring; `none`: each pair as if it were the only
            one. The board holds all three p-values.
    """
    question = Question.of(measure)
    names = tuple(runs.systems if systems is None else systems)
    _check(names, question, adjust)
    case = make_case(runs, judgments, gold, question, systems=names, seed=question.seed)
    value, variance, pairs = trust_judges(case.scores, case)
    choice = Choice(None) if gold is None else correct(case, runs, judgments)
    found, shift = choice.corrected, _find_shift(choice, len(names))
    alarm = choice.alarm or shift.alarm
    order = np.lexsort((np.array(names), -settle_ties(value if found is None else found.value)))
    b, a = (order[index] for index in np.triu_indices(len(order), 1))
    naive_pairs = _test(pairs, (a, b), question, adjust, np.zeros(len(a), bool))
    corrected, corrected_pairs, near = None, None, None
    if found is not None:
        doubted = shift.apart[a, b] | (alarm is not None)
        width = found.within[1] - found.within[0]
        corrected_pairs = _test(found.pairs, (a, b), question, adjust, doubted, width)
        corrected = _stand(
            name_way(case, found),
            np.where(found.shown, found.value, np.nan)[order],
            found.variance[order],
            found.degrees[order],
            question,
            found.within,
        )
        near = compare_boards(case, value, found)
    degrees = np.array([max(len(case.topics_of(s)) - 1.0, 1.0) for s in range(len(names))])
    return Board(
        measure=str(question.parsed),
        approach=case.approach,
        claim=question.claim,
        topics=len(case.topics),
        adjust=adjust,
        confidence=question.confidence,
        systems=tuple(names[s] for s in order),
        naive=_stand("judges", value[order], variance[order], degrees[order], question),
        naive_pairs=naive_pairs,
        corrected=corrected,
        corrected_pairs=corrected_pairs,
        tau=None if near is None else near.tau,
        tau_ap=None if near is None else near.tau_ap,
        slope=None if near is None else near.slope,
        refusal=choice.refusal,
        gold=None if gold is None else case.design.sentence,
        accuracy=next((c.accuracy for c in (found, choice.second) if c is not None and c.accuracy is not None), None),
        alarm=alarm,
        assumed=(_assume_topics(case), *(() if found is None else found.assumed)),
        seed=question.seed,
        versions=list_versions(),
        notes=tuple(
            dict.fromkeys(
                (
                    *case.notes,
                    *choice.notes,
                    *(() if found is None else found.notes),
                    *shift.notes,
                    *(() if near is None else near.notes),
                    *_tell(corrected_pairs),
                    *tell_sample(case),
                )
            )
        ),
    )


def _check(names: tuple[str, ...], question: Question, adjust: str) -> None:
    if len(names) < 2:
        raise OptionError(f"a leaderboard compares two systems at least, got {counted(len(names), 'system')}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"system '{twice}' was named twice; name each once")
    if adjust not in get_args(Adjust):
        raise OptionError(f"adjust '{adjust}' is none of {', '.join(get_args(Adjust))}")
    if question.test != "t":
        raise OptionError(f"a leaderboard takes the t test for all pairs; compare two systems for {question.test}")


def _test(
    found: Pairs,
    pair: tuple[LongArray, LongArray],
    question: Question,
    adjust: Adjust,
    doubted: BoolArray,
    width: float = np.inf,
) -> Differences:
    """The pairs (a, b) with all p-values; what is `doubted` is not claimed, and differences are within `width`."""
    value, error, degrees = found.value[pair], np.sqrt(found.variance[pair]), found.degrees[pair]
    half = _half(error, degrees, question)
    p_value = found.p_value[pair]
    return Differences(
        value=value,
        standard_error=error,
        low=np.maximum(value - half, -width),
        high=np.minimum(value + half, width),
        p_value=p_value,
        claimed=find_claims(p_value, adjust, question.confidence) & ~doubted,
        doubted=doubted,
    )


def _stand(
    way: str,
    value: FloatArray,
    variance: FloatArray,
    degrees: FloatArray,
    question: Question,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> Standing:
    error = np.where(np.isnan(value), np.nan, np.sqrt(variance))
    half = _half(error, degrees, question)
    return Standing(
        way=way,
        value=value,
        standard_error=error,
        low=np.maximum(value - half, within[0]),
        high=np.minimum(value + half, within[1]),
    )


def _half(error: FloatArray, degrees: FloatArray, question: Question) -> FloatArray:
    """Half the width of t intervals."""
    from scipy.special import stdtrit

    return np.where(error == 0, 0.0, stdtrit(np.minimum(degrees, MANY), (1 + question.confidence) / 2) * error)


def _find_shift(choice: Choice, systems: int) -> _Shift:
    """Two corrections: pairs that are further apart than chance explains, and whether most are.

    A single pair's doubt is as in `compare`; all of them are doubted with the alarm.
    """
    none = np.zeros((systems, systems), bool)
    if choice.corrected is None or choice.second is None:
        return _Shift(none)
    rates, sampled = choice.corrected, choice.second
    if rates.way != "rates":
        rates, sampled = sampled, rates
    apart = find_gap(rates, sampled).wide
    upper = apart[np.triu_indices(len(apart), 1)]
    told = (
        f"error rates alone and gold among these systems' documents are more than {ALARM:g} standard errors apart on "
        f"{upper.sum():,} of {counted(len(upper), 'pair')}"
    )
    if choice.corrected.way != "rates":
        aside = (f"{told}; this answer does not use error rates",)
        return _Shift(none, notes=aside if upper.mean() > EXPECTED_APART else ())
    if upper.mean() > 0.5:
        return _Shift(
            apart,
            f"{told}: judges err otherwise on some systems' documents, so error rates mislead here; draw gold for "
            "these systems (karatage plan)",
        )
    if upper.mean() <= EXPECTED_APART:
        return _Shift(apart)
    return _Shift(apart, notes=(f"{told}, of which nothing is claimed",))


def _assume_topics(case: Case) -> str:
    topics = (
        "topics are a random sample of those that matter"
        if case.question.topics == "new"
        else "these topics are all that matter"
    )
    return f"{topics}; systems answered {'the same ones, paired' if case.paired else 'their own, not paired'}"


def _tell(pairs: Differences | None) -> Iterator[str]:
    unknown = 0 if pairs is None else int(np.isinf(pairs.standard_error).sum())
    if unknown:
        yield f"{counted(unknown, 'pair')} of which gold tells too little to know the error, not claimed to differ"
