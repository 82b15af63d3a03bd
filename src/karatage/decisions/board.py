"""`compare_all`: who beats whom on a leaderboard, and how far is the judges' board from the corrected one?

Chance between topics and in gold pulls two orders apart, and resampled boards have that chance twice: their tau is too
low to be taken as it is. So the interval of tau has their spread, but around the tau that was found. It is about topics
and gold as many as there are; without number they would give a higher tau, by at least what resampling loses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Unpack, get_args

import numpy as np

from karatage.comparison.rankings import kendall_tau, tau_ap
from karatage.correction import graded
from karatage.data.alignment import require_data
from karatage.data.axes import BoolArray, FloatArray, LongArray, settle_ties
from karatage.data.board import Board, Differences, Standing, find_claims
from karatage.data.estimate import JUDGES, Bounded, Method
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.options import Adjust, show_options
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.decisions.case import Case, make_case
from karatage.decisions.compare import tell_sample
from karatage.decisions.correct import Choice, correct
from karatage.decisions.estimators.contract import Boards, Doubt, Fitted, Levels, SystemPairs, compare_means
from karatage.decisions.notes import tell
from karatage.decisions.question import Question, QuestionOptions
from karatage.errors import OptionError
from karatage.measures.spec import Measure
from karatage.progress import follow
from karatage.random_streams import stream
from karatage.text import counted

MANY = 1e9  # degrees of freedom that are as good as infinite
RESAMPLES = 1000
MUCH = 0.02  # of tau, lost to chance, that is worth telling
STEEP = math.pi / 2 - 1e-9  # of a slope without bound


@show_options(Question)
def compare_all(
    runs: Runs,
    judgments: Judgments,
    gold: Judgments | None = None,
    measure: str | Measure | Question = Question.measure,
    *,
    systems: Sequence[str] | None = None,
    adjust: Adjust = "holm",
    **options: Unpack[QuestionOptions],
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
        options: What else a `kt.Question` says, by the same names.
    """
    require_data("gold", runs=runs, judgments=judgments, gold=gold)
    question = Question.of(measure, **options)
    names = tuple(runs.systems if systems is None else systems)
    check_board(names, question, adjust)
    case = make_case(runs, judgments, gold, question, systems=names, seed=question.seed)
    return compare_board(case, adjust)


def compare_board(case: Case, adjust: Adjust) -> Board:
    """The same for a case of any number of systems."""
    question, gold, names = case.question, case.gold, case.systems
    value, variance, pairs = compare_means(case.scores, case)
    choice = Choice(None) if gold is None else correct(case)
    found = choice.corrected
    doubt = Doubt(np.zeros((len(names), len(names)), bool)) if choice.second is None else choice.second.doubt_board()
    alarm = choice.alarm or doubt.alarm
    order = np.lexsort((np.array(names), -settle_ties(value if found is None else found.standing)))
    b, a = (order[index] for index in np.triu_indices(len(order), 1))
    naive_pairs = _test(pairs, (a, b), question, adjust, np.zeros(len(a), bool))
    corrected, corrected_pairs, near = None, None, None
    if found is not None:
        doubted = doubt.apart[a, b] | (alarm is not None)
        width = found.within[1] - found.within[0]
        corrected_pairs = _test(found.pairs, (a, b), question, adjust, doubted, width)
        corrected = _stand(found.method, _show(found), order, question, found.within)
        near = compare_boards(case, value, found)
    degrees = np.array([max(len(case.topics_of(s)) - 1.0, 1.0) for s in range(len(names))])
    return Board(
        measure=str(question.parsed),
        approach=case.approach,
        claim=question.about,
        topics=len(case.topics),
        adjust=adjust,
        confidence=question.confidence,
        systems=tuple(names[s] for s in order),
        naive=_stand(JUDGES, Levels(value=value, variance=variance, degrees=degrees), order, question),
        naive_pairs=naive_pairs,
        corrected=corrected,
        corrected_pairs=corrected_pairs,
        tau=None if near is None else near.tau,
        tau_ap=None if near is None else near.tau_ap,
        slope=None if near is None else near.slope,
        refusal=choice.refusal,
        gold=None if gold is None else case.design.sentence,
        accuracy=None if found is None else found.accuracy,
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
                    *doubt.notes,
                    *(() if near is None else near.notes),
                    *_tell_unknown(corrected_pairs),
                    *tell_sample(case),
                )
            )
        ),
    )


def check_board(names: tuple[str, ...], question: Question, adjust: str) -> None:
    """Refuse what a leaderboard cannot be asked."""
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
    found: SystemPairs,
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


def _show(found: Fitted) -> Levels:
    """The scores that can be shown, NaN for others."""
    nothing = np.full(len(found.standing), np.nan)
    levels = found.levels or Levels(value=nothing, variance=nothing, degrees=nothing)
    return replace(levels, value=np.where(found.shown, levels.value, np.nan))


def _stand(
    method: Method,
    levels: Levels,
    order: LongArray,
    question: Question,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> Standing:
    value, degrees = levels.value[order], levels.degrees[order]
    error = np.where(np.isnan(value), np.nan, np.sqrt(levels.variance[order]))
    half = _half(error, degrees, question)
    return Standing(
        method=method,
        value=value,
        standard_error=error,
        low=np.maximum(value - half, within[0]),
        high=np.minimum(value + half, within[1]),
    )


def _half(error: FloatArray, degrees: FloatArray, question: Question) -> FloatArray:
    """Half the width of t intervals."""
    from scipy.special import stdtrit

    return np.where(error == 0, 0.0, stdtrit(np.minimum(degrees, MANY), (1 + question.confidence) / 2) * error)


def _assume_topics(case: Case) -> str:
    topics = (
        "topics are a random sample of those that matter"
        if case.question.claim == "new"
        else "these topics are all that matter"
    )
    return f"{topics}; systems answered {'the same ones, paired' if case.paired else 'their own, not paired'}"


def _tell_unknown(pairs: Differences | None) -> Iterator[Note]:
    unknown = 0 if pairs is None else int(np.isinf(pairs.standard_error).sum())
    yield from tell.when(unknown, "errors-unknown", pairs=unknown)


@dataclass(frozen=True, kw_only=True)
class BoardNearness:
    """How the judges' board relates to the corrected one."""

    tau: Bounded
    tau_ap: Bounded
    slope: Bounded | None
    notes: tuple[Note, ...]


def compare_boards(case: Case, naive: FloatArray, found: Fitted) -> BoardNearness:
    """Tau, tau_ap and slope of the judges' scores (system,) against the corrected ones."""
    seen = np.isfinite(found.gold_variance)
    value = _relate(found.take_board(case, naive), seen)[0]
    low, high, lost = np.full((3, 3), np.nan)
    draws = case.question.resamples or RESAMPLES
    boards = None if case.disjoint else found.resample(case, draws, stream(case.seed, "boards"))
    if boards is not None:
        drawn, confidence = _relate(boards, seen), case.question.confidence
        ends = [graded.percentile_interval(x, topics=boards.topics, confidence=confidence) for x in drawn.T]
        lost = value - drawn.mean(axis=0)
        low, high = (np.array([end[k] for end in ends]) + lost for k in (0, 1))
        # Chance in gold is accounted for in the slope, which is hardly off but lopsided: as drawn, or turned round.
        low[2], high[2] = min(ends[2][0], 2 * value[2] - ends[2][1]), max(ends[2][1], 2 * value[2] - ends[2][0])
    least, most = np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)
    tau, order = (Bounded(float(value[k]), float(least[k]), float(most[k])) for k in (0, 1))
    slope = Bounded(*(_steepness(float(angle)) for angle in (value[2], low[2], high[2])))
    steep = not math.isfinite(slope.value)
    notes = tuple(_tell_nearness(case, found, lost=float(lost[0]), steep=steep))
    return BoardNearness(tau=tau, tau_ap=order, slope=None if steep else slope, notes=notes)


def _relate(boards: Boards, seen: BoolArray) -> FloatArray:
    """(board, 3): tau, tau_ap, and the angle of the slope over the pairs of systems that gold has `seen`.

    An angle, since gold may turn out to have no spread beyond its chance: then it is upright or beyond, and the slope
    without bound. Chance is in gold's differences only, so the sum of their squares has its variance too much, and the
    sum of products is right.
    """
    naive, corrected = settle_ties(boards.naive), settle_ties(boards.corrected)
    out = np.empty((len(naive), 3))
    boards_by_two = enumerate(zip(naive, corrected, strict=True))
    for i, (said, right) in follow(boards_by_two, len(naive), "resampled leaderboards"):
        out[i, 0] = kendall_tau(said, right)
        out[i, 1] = tau_ap(right, said)
    laplacian = np.diag(seen.sum(axis=1)) - seen.astype(float)
    spread = np.einsum("ds,st->dt", boards.gold, laplacian)  # no BLAS: its sums depend on threads
    product = (spread * boards.judge).sum(axis=1)
    square = (spread * boards.gold).sum(axis=1) - boards.noise
    out[:, 2] = np.arctan2(product, square)
    return out


def _steepness(angle: float) -> float:
    if math.isnan(angle) or abs(angle) < STEEP:
        return math.tan(angle)
    return math.copysign(math.inf, angle)


def _tell_nearness(case: Case, found: Fitted, *, lost: float, steep: bool) -> Iterator[Note]:
    yield from tell.when(found.keeps_order, "order-assumed")
    yield from tell.when(lost > MUCH and not found.keeps_order, "chance-apart", lost=lost)
    yield from tell.when(steep, "no-slope")
    yield from tell.when(case.question.claim == "these", "topics-like-these")
    yield from tell.when(case.disjoint, "disjoint")
