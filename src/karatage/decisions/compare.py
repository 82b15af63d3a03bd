"""`compare` and `compare_all`: is one system better than another, with judge errors corrected?

Chance between topics and in gold makes two orders differ, and resampled boards contain that chance twice: their tau is
too low. So the interval of tau has the spread of resampled boards, but is centred on the tau of the data. It is for as
many topics and gold items as there are. With more of them tau would be higher, by at least what resampling loses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Unpack, get_args

import numpy as np

from karatage.comparison.paired import paired_test
from karatage.comparison.rankings import kendall_tau, tau_ap
from karatage.correction import graded
from karatage.correction.gathering import find_typical
from karatage.data.alignment import require_data
from karatage.data.axes import BoolArray, FloatArray, LongArray, settle_ties
from karatage.data.board import BestGuess, Board, Differences, Standing, find_claims
from karatage.data.comparison import Comparison, Opinion, find_digits
from karatage.data.estimate import Bounded
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.options import Adjust, show_options
from karatage.data.records import StudyRecord
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.decisions.bias import bound_errors
from karatage.decisions.case import Case, make_case
from karatage.decisions.correct import Choice, correct, describe_gold_errors, find_ceiling, keep_possible
from karatage.decisions.estimators.contract import (
    LEAST_TOPICS,
    POWER,
    Boards,
    Fitted,
    Guessed,
    Levels,
    trust_judges,
)
from karatage.decisions.guess import PairGuess, find_study, guess_board, guess_pair
from karatage.decisions.notes import tell
from karatage.decisions.question import Question, QuestionOptions, check_pair, choose_pair
from karatage.errors import OptionError
from karatage.measures.spec import Measure
from karatage.progress import follow
from karatage.random_streams import stream
from karatage.text import counted

MANY = 1e9  # degrees of freedom that are as good as infinite
RESAMPLES = 1000
MUCH = 0.02  # loss of tau by chance, above which there is a note
STEEP = math.pi / 2 - 1e-9  # of a slope without bound


@show_options(Question)
def compare(
    runs: Runs,
    judgments: Judgments,
    gold: Judgments | None = None,
    measure: str | Measure | Question = Question.measure,
    *,
    a: str | None = None,
    b: str | None = None,
    record: StudyRecord | None = None,
    **options: Unpack[QuestionOptions],
) -> Comparison:
    """Compare system `b` with `a`: by the judges, and with their errors corrected.

    Args:
        runs: What the systems retrieved. A gold queue that was planned for more systems needs all of them.
        judgments: The judges' grades; several judges are merged first.
        gold: Trusted grades of some items. How they are used depends on how they were sampled: items drawn with known
            probabilities (`pi`), whole topics, or a simple random sample. None: only the judges' own difference.
        measure: A measure such as `P@10`, or a `kt.Question` with all options.
        a: One system; default: the first of two runs.
        b: The other; differences are b - a.
        record: Earlier studies of the judges, from `kt.stats.read_studies`, for the best guess.
        options: Other fields of `kt.Question`.
    """
    require_data("gold", runs=runs, judgments=judgments, gold=gold)
    question = Question.of(measure, **options)
    pair = choose_pair(runs, a, b)
    if pair is None:
        raise OptionError(
            f"there are {counted(len(runs.systems), 'system')}; name two with a and b, or compare all of them with "
            "kt.compare_all"
        )
    check_pair(*pair)
    return compare_pair(make_case(runs, judgments, gold, question, systems=pair, seed=question.seed, record=record))


def compare_pair(case: Case) -> Comparison:
    """The same for a case of two systems."""
    question, gold, (a, b) = case.question, case.gold, case.systems
    naive = _trust_judges(case)
    same = case.same
    choice = Choice(None) if gold is None or same is not None else correct(case)
    found = choice.corrected
    opinion = None if found is None else found.compare(0, 1, question.confidence)
    guess = guess_pair(case, choice)
    others, told = _ask_others(case, choice, guess)
    doubt = choice.doubt_pair(0, 1)
    return Comparison(
        measure=str(question.parsed),
        a=a,
        b=b,
        approach=case.approach,
        claim=question.about,
        topics=len(case.topics),
        naive=naive,
        corrected=opinion,
        others=others,
        refusal=choice.refusal,
        same=same,
        gold=None if gold is None else case.design.sentence,
        accuracy=None if found is None else found.accuracy,
        by_judge=() if found is None else found.by_judge,
        gold_errors=describe_gold_errors(case, choice),
        alarm=doubt.alarm,
        needed=None if found is None or opinion is None else _find_need(case, naive, opinion, found),
        assumed=_list_assumptions(case, found),
        seed=question.seed,
        versions=list_versions(),
        study=guess.study,
        notes=tuple(
            dict.fromkeys(
                (
                    *case.notes,
                    *choice.notes,
                    *told,
                    *guess.notes,
                    *doubt.notes,
                    *_tell_sample(case),
                    *_tell_usual(case),
                )
            )
        ),
    )


def _trust_judges(case: Case) -> Opinion:
    """The difference of two systems by the judges, with the test that was asked for."""
    question, found = case.question, trust_judges(case)
    p_value = None
    if found.pairs.variance[0, 1] == 0:
        p_value = float(found.pairs.p_value[0, 1])
    if question.test != "t":
        if not case.paired:
            raise OptionError(
                f"the {question.test} test needs paired topics; use test='t' (--test t) for unpaired ones"
            )
        rng = stream(case.seed, "test")
        p_value = paired_test(*case.scores.T, test=question.test, confidence=question.confidence, rng=rng).p_value
    return replace(found.compare(0, 1, question.confidence), test_p_value=p_value)


def _ask_others(case: Case, choice: Choice, guess: PairGuess) -> tuple[tuple[Opinion, ...], tuple[Note, ...]]:
    """Second opinions, and a note on those that are impossible."""
    others: list[Opinion] = []
    if choice.second is not None and choice.second.second is not None:
        others.append(choice.second.second.compare(0, 1, case.question.confidence))
    if choice.corrected is not None:
        others += choice.corrected.list_more(case, 0, 1)
        others += guess.opinions
    return keep_possible(others, find_ceiling(case))


def _find_need(case: Case, naive: Opinion, opinion: Opinion, found: Fitted) -> str | None:
    """How much more gold would show a difference as large as the judges', if there is one."""
    target = naive.difference
    if opinion.significant or target.value == 0:
        return None
    more = found.count_more_gold(case, target, POWER)
    if more == 0 or math.isnan(more):
        return None
    power = f"give {POWER:.0%} power for {abs(target.value):.{max(find_digits(target), 3)}f}"
    bought = None if math.isinf(more) else found.name_more_gold(case, int(more))
    if bought is None:
        return f"More gold on {counted(len(case.topics), 'topic')} would not {power}: add topics."
    return f"{bought} would {power}."


@show_options(Question)
def compare_all(
    runs: Runs,
    judgments: Judgments,
    gold: Judgments | None = None,
    measure: str | Measure | Question = Question.measure,
    *,
    systems: Sequence[str] | None = None,
    adjust: Adjust = "holm",
    record: StudyRecord | None = None,
    **options: Unpack[QuestionOptions],
) -> Board:
    """Rank systems and compare all pairs of them: by the judges, and with their errors corrected.

    Args:
        runs: What the systems retrieved.
        judgments: The judges' grades; several judges are merged first.
        gold: Trusted grades of some items, used as in `compare`. None: only the judges' own board.
        measure: A measure such as `P@10`, or a `kt.Question`. Its `resamples` are used for the intervals of tau,
            tau_ap and slope; 1,000 by default.
        systems: Some of the runs; default: all.
        adjust: Correction for many pairs. `holm`: limits the risk of any false claim, for decisions. `bh`: limits the
            share of false claims, for exploring. `none`: each pair is tested as if it were the only one.
        record: Earlier studies of the judges, from `kt.stats.read_studies`, for the best guess.
        options: Other fields of `kt.Question`.
    """
    require_data("gold", runs=runs, judgments=judgments, gold=gold)
    question = Question.of(measure, **options)
    names = tuple(runs.systems if systems is None else systems)
    check_board(names, question, adjust)
    case = make_case(runs, judgments, gold, question, systems=names, seed=question.seed, record=record)
    return compare_board(case, adjust)


def compare_board(case: Case, adjust: Adjust) -> Board:
    """The same for a case of any number of systems."""
    question, gold, names = case.question, case.gold, case.systems
    judges = trust_judges(case)
    choice = Choice(None) if gold is None else correct(case)
    found = choice.corrected
    doubt = choice.doubt_board()
    guessed = guess_board(case, choice)
    first = (found or judges) if guessed is None else guessed.by_gold
    order = np.lexsort((np.array(names), -settle_ties(first.standing)))
    b, a = (order[index] for index in np.triu_indices(len(order), 1))
    naive_pairs = _test(judges, (a, b), question, adjust, np.zeros(len(a), bool))
    corrected, corrected_pairs, guess, near = None, None, None, Nearness()
    if found is not None:
        doubted = doubt.apart[a, b] | (doubt.alarm is not None)
        corrected_pairs = _test(found, (a, b), question, adjust, doubted)
        corrected = _stand(found, order, question)
        near = compare_boards(case, judges.standing, found)
        guess = None if guessed is None else _tell_guess(guessed, order, (a, b), question, doubted)
    return Board(
        measure=str(question.parsed),
        approach=case.approach,
        claim=question.about,
        topics=len(case.topics),
        adjust=adjust,
        confidence=question.confidence,
        systems=tuple(names[s] for s in order),
        naive=_stand(judges, order, question),
        naive_pairs=naive_pairs,
        corrected=corrected,
        corrected_pairs=corrected_pairs,
        guess=guess,
        tau=near.tau,
        tau_ap=near.tau_ap,
        slope=near.slope,
        refusal=choice.refusal,
        gold=None if gold is None else case.design.sentence,
        accuracy=None if found is None else found.accuracy,
        by_judge=() if found is None else found.by_judge,
        gold_errors=describe_gold_errors(case, choice),
        alarm=doubt.alarm,
        assumed=_list_assumptions(case, found),
        seed=question.seed,
        versions=list_versions(),
        study=find_study(guessed, choice),
        notes=tuple(
            dict.fromkeys(
                (
                    *case.notes,
                    *choice.notes,
                    *doubt.notes,
                    *(() if guessed is None else guessed.notes),
                    *near.notes,
                    *_tell_unknown(corrected_pairs),
                    *_tell_sample(case),
                    *_tell_usual(case),
                )
            )
        ),
    )


def check_board(names: tuple[str, ...], question: Question, adjust: str) -> None:
    """Refuse options that a leaderboard does not have."""
    if len(names) < 2:
        raise OptionError(f"a leaderboard needs at least two systems, got {counted(len(names), 'system')}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"system '{twice}' was named twice; name each once")
    if adjust not in get_args(Adjust):
        raise OptionError(f"adjust '{adjust}' is not one of {', '.join(get_args(Adjust))}")
    if question.test != "t":
        raise OptionError(
            f"a leaderboard uses the t test for all pairs; name two systems (a and b) to use test {question.test}"
        )


def _test(
    found: Fitted, pair: tuple[LongArray, LongArray], question: Question, adjust: Adjust, doubted: BoolArray
) -> Differences:
    """The pairs (a, b) with all p-values; those `doubted` are not claimed to differ."""
    pairs, width = found.pairs, found.within[1] - found.within[0]
    value, error, p_value = pairs.value[pair], np.sqrt(pairs.variance[pair]), pairs.p_value[pair]
    half = _half(error, pairs.degrees[pair], question)
    return Differences(
        value=value,
        standard_error=error,
        low=np.maximum(value - half, -width),
        high=np.minimum(value + half, width),
        p_value=p_value,
        claimed=find_claims(p_value, adjust, question.confidence) & ~doubted,
        doubted=doubted,
    )


def _stand(found: Fitted, order: LongArray, question: Question) -> Standing:
    """The scores that can be shown, in order; NaN for the others."""
    nothing = np.full(len(order), np.nan)
    levels = found.levels or Levels(nothing, nothing, nothing)
    value = np.where(found.shown, levels.value, np.nan)[order]
    error = np.where(np.isnan(value), np.nan, np.sqrt(levels.variance[order]))
    half = _half(error, levels.degrees[order], question)
    return Standing(
        method=found.method,
        value=value,
        standard_error=error,
        low=np.maximum(value - half, found.within[0]),
        high=np.minimum(value + half, found.within[1]),
    )


def _tell_guess(
    guessed: Guessed, order: LongArray, pair: tuple[LongArray, LongArray], question: Question, doubted: BoolArray
) -> BestGuess:
    """The best guess in order; its intervals hold on average, so that they are not adjusted for the number of pairs."""
    return BestGuess(
        standing=_stand(guessed.by_gold, order, question),
        pairs=_test(guessed.by_gold, pair, question, "none", doubted),
        usual=_test(guessed.usual, pair, question, "none", doubted),
        mass=find_typical(guessed.mass),
        unexplained=guessed.unexplained,
        spread=guessed.spread.quantile(0.5),
        spread_by_gold=guessed.spread_by_gold.quantile(0.5),
    )


def _half(error: FloatArray, degrees: FloatArray, question: Question) -> FloatArray:
    """Half the width of t intervals."""
    from scipy.special import stdtrit

    return np.where(error == 0, 0.0, stdtrit(np.minimum(degrees, MANY), (1 + question.confidence) / 2) * error)


def _tell_unknown(pairs: Differences | None) -> Iterator[Note]:
    unknown = 0 if pairs is None else int(np.isinf(pairs.standard_error).sum())
    yield from tell.when(unknown, "errors-unknown", pairs=unknown)


class Nearness(NamedTuple):
    """How close the judges' board is to the corrected one; None where there is no corrected one."""

    tau: Bounded | None = None
    tau_ap: Bounded | None = None
    slope: Bounded | None = None
    notes: tuple[Note, ...] = ()


def compare_boards(case: Case, naive: FloatArray, found: Fitted) -> Nearness:
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
        # Draws of the slope are skewed: its interval covers the percentile interval and the mirror image of it.
        low[2], high[2] = min(ends[2][0], 2 * value[2] - ends[2][1]), max(ends[2][1], 2 * value[2] - ends[2][0])
    least, most = np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)
    tau, order = (Bounded(float(value[k]), float(least[k]), float(most[k])) for k in (0, 1))
    slope = Bounded(*(_steepness(float(angle)) for angle in (value[2], low[2], high[2])))
    steep = not math.isfinite(slope.value)
    notes = tuple(_tell_nearness(case, found, lost=float(lost[0]), steep=steep))
    return Nearness(tau, order, None if steep else slope, notes)


def _relate(boards: Boards, seen: BoolArray) -> FloatArray:
    """(board, 3): tau, tau_ap, and the angle of the slope over the pairs of systems with known gold variance (`seen`).

    An angle, since gold may show no spread beyond chance: then the angle is 90 degrees or more, and the slope is
    unbounded. Only gold's differences contain chance. So the variance of chance is subtracted from the sum of their
    squares; the sum of products is unbiased.
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


def _list_assumptions(case: Case, found: Fitted | None) -> tuple[str, ...]:
    new = case.question.claim == "new"
    topics = "topics are a random sample of those that matter" if new else "these topics are all that matter"
    pairing = "the same topics, paired" if case.paired else "separate topics, not paired"
    return (f"{topics}; the systems answered {pairing}", *(found.assumed if found is not None else ()))


def _tell_sample(case: Case) -> Iterator[Note]:
    """Notes on few topics and on batches of gold."""
    yield from tell.when(len(case.topics) < LEAST_TOPICS, "few-topics", topics=len(case.topics))
    batches = 1 if case.gold is None or case.gold.draw is None else int(case.gold.draw.batch.max())
    yield from tell.when(batches > 1, "batches", batches=batches)


def _tell_usual(case: Case) -> Iterator[Note]:
    """Without gold, what errors of usual judges alone may explain."""
    bound = None if case.gold is not None or case.same is not None else bound_errors(case)
    if bound is None:
        return
    if len(case.systems) == 2:
        yield tell("usual-errors", bound=bound, confidence=case.question.confidence)
    else:
        yield tell("usual-errors-typical", bound=bound, confidence=case.question.confidence)
