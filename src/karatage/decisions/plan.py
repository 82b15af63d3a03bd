"""`plan`: which documents to grade for gold, and the precision that their gold will give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import NamedTuple, Unpack

import numpy as np
import polars as pl

from karatage.correction.sampled import Chosen, Drawn, draw_batches, learn_gains, match_uniform
from karatage.data.alignment import require_data
from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.board import find_claims
from karatage.data.estimate import t_quantile
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.options import show_options
from karatage.data.plan import Forecast, GoldPlan
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.decisions.case import Case, make_case
from karatage.decisions.correct import correct, require_chances, require_upright
from karatage.decisions.estimators.contract import (
    BY_DOCUMENT,
    CLAIM_THESE,
    FEWEST_TOPICS,
    LEAST_ITEMS,
    LEAST_TOPICS,
    Fitted,
    tell_few_topics,
    trust_judges,
)
from karatage.decisions.estimators.registry import AUTO, find
from karatage.decisions.notes import tell
from karatage.decisions.question import Question, QuestionOptions, name_both
from karatage.errors import DataError, OptionError
from karatage.kernels.sampling import count_gaps, find_chances, sum_square_gaps
from karatage.measures.spec import Measure
from karatage.random_streams import stream
from karatage.text import counted, shorten


@show_options(Question)
def plan(
    runs: Runs,
    judgments: Judgments,
    measure: str | Measure | Question = Question.measure,
    *,
    budget: int | Sequence[int],
    looks: int = 1,
    a: str | None = None,
    b: str | None = None,
    judged: Judgments | None = None,
    **options: Unpack[QuestionOptions],
) -> GoldPlan:
    """Draw the documents whose gold is most informative about which system is better.

    Only documents that systems rank differently matter. Each is drawn with a probability proportional to its
    difference in weight. `kt.write_queue` writes them for the gold judges; the judged file is the gold of `kt.compare`.

    Args:
        runs: What the systems retrieved.
        judgments: The judges' grades; several judges are merged first.
        measure: Such as `nDCG@10`, `P@10`, `RBP(p=0.8)` or `AP`, or a `kt.Question`, whose seed draws.
        budget: Number of gold labels; several numbers are batches, to be judged in turn.
        looks: Number of batches of about the same size into which the budget is divided.
        a: One of two systems to compare; default: all of them, as a leaderboard.
        b: The other.
        judged: Gold from earlier batches of the same plan. New batches are drawn from the rest, for the pairs that are
            still undecided. Default: all pairs are undecided, for any grades of the judges.
        options: Other fields of `kt.Question`.
    """
    require_data("judged", runs=runs, judgments=judgments, judged=judged)
    question = _settle_correction(Question.of(measure, **options))
    counts, systems = _check_budget(budget, looks), _name_systems(runs, name_both(a, b))
    case = make_case(runs, judgments, judged, question, systems=systems, seed=question.seed)
    return plan_gold(case, counts)


def plan_gold(case: Case, counts: list[int]) -> GoldPlan:
    """The same for a case whose gold is that of earlier batches."""
    question = case.question
    _require_weights(case, sum(counts))
    frame = np.flatnonzero(case.matters)
    weight = case.weight[frame]
    differ = np.triu(count_told(weight, np.ones(len(frame), bool)) > 0)
    known = _start(differ) if case.gold is None else _continue(case, frame, differ)
    size = _find_sizes(case, weight, differ, known.undecided)
    chosen, batches = _draw(size, counts, known, question.seed)
    these, new, even = _value(case, frame, weight, known, batches, (size, chosen))
    return GoldPlan(
        measure=str(question.parsed),
        systems=case.systems,
        approach=case.approach,
        confidence=question.confidence,
        topics=len(case.topics),
        items=_list_items(case, frame[chosen.item], chosen),
        earlier=len(known.taken),
        frame_size=len(frame),
        frame=case.fingerprint,
        pairs=int(differ.sum()),
        undecided=int(known.undecided.sum()),
        even=even,
        these=these,
        new=new,
        informed=known.residual is not None,
        same=None if len(frame) else question.sameness,
        seed=question.seed,
        versions=list_versions(),
        notes=tuple(dict.fromkeys((*case.notes, *known.notes, *_tell(case, known, chosen, new)))),
    )


class _Known(NamedTuple):
    """What is known from earlier gold."""

    undecided: BoolArray  # (system, system) pairs, a before b
    taken: LongArray  # places in the frame that have gold
    chance: LongArray  # those of them with pi < 1
    last: int  # batch
    variance: FloatArray | None = None  # (system, system) of the differences
    residual: float | None = None
    notes: tuple[Note, ...] = ()


def _settle_correction(question: Question) -> Question:
    """The judged gold of a plan has sampling probabilities, so the estimator must use them."""
    fits = question.correction != AUTO and find(question.correction).needs_chances
    return question if fits else replace(question, correction=AUTO)


def _check_budget(budget: int | Sequence[int], looks: int) -> list[int]:
    counts = list(budget) if isinstance(budget, Sequence) else [budget]
    if not counts or not all(isinstance(count, Integral) and count >= 1 for count in counts):
        raise OptionError(
            f"a budget of {budget} is not a number of gold labels: give whole numbers from 1, one per batch"
        )
    if looks == 1:
        return [int(count) for count in counts]
    if len(counts) > 1:
        raise OptionError(
            "several budgets are already batches; give one number with looks, or several numbers without looks"
        )
    total = int(counts[0])
    if not (isinstance(looks, Integral) and 1 <= looks <= total):
        raise OptionError(f"a budget of {total} cannot be divided into {looks} batches; give fewer looks, at least 1")
    return [total // looks + (n < total % looks) for n in range(looks)]


def _name_systems(runs: Runs, systems: tuple[str, str] | None) -> tuple[str, ...]:
    if systems is None:
        if len(runs.systems) < 2:
            raise DataError(f"there is only one system, '{shorten(runs.systems[0])}'; give runs of at least two")
        return runs.systems
    return systems


def _require_weights(case: Case, budget: int) -> None:
    if not case.gives_grades:
        raise OptionError(f"{case.approach} gives scores, not grades of documents; choose mv, ds or judge:NAME")
    if case.gain is None:
        pool = int(case.judged.sum()) / len(case.topics)
        raise DataError(
            f"{case.question.parsed} is not computed from gains, so gold on single documents does not correct it. "
            f"Draw topics at random and re-judge all judged documents of each ({pool:.0f} on average, so {budget:,} "
            f"labels are enough for {budget / pool:.0f} topics; use at least {LEAST_TOPICS}), or plan for "
            f"{BY_DOCUMENT}"
        )
    if case.disjoint:
        raise DataError(
            "the systems answered different topics, so their documents cannot be compared; give runs over "
            "the same topics"
        )


def _start(differ: BoolArray) -> _Known:
    """Without gold all pairs are undecided: tests on judges' scores ignore the judges' errors."""
    nothing = np.zeros(0, np.int64)
    return _Known(undecided=differ, taken=nothing, chance=nothing, last=0)


def _continue(case: Case, frame: LongArray, differ: BoolArray) -> _Known:
    """Correct with the earlier gold, to find the pairs that are still undecided."""
    draw = _require_same_plan(case)
    place = np.full(len(case.said), -1)
    place[frame] = np.arange(len(frame))
    taken = place[case.drawn.item]
    if (taken < 0).any():
        raise DataError(f"{counted(int((taken < 0).sum()), 'gold item')} could not have been drawn for this plan")
    residual = measure_residuals(case) if len(taken) >= LEAST_ITEMS else None
    require_upright(case)
    require_chances(case)
    choice = correct(case)
    undecided, variance, notes = differ, None, choice.notes
    if choice.corrected is None:
        notes = (*notes, tell("decides-nothing", reason=str(choice.refusal)))
    else:
        found = choice.corrected
        if choice.alarm is not None:
            notes = (*notes, tell("decides-nothing", reason=choice.alarm))
        open_still = ~_find_decided(found, case.question.confidence)
        if (
            choice.alarm is not None or len(case.systems) == 2
        ):  # to stop at the first significant difference would inflate false claims
            open_still = np.ones_like(open_still)
        undecided = differ & open_still & (found.gold_variance > 0)
        variance = found.gold_variance * len(case.topics) ** 2
    return _Known(undecided, taken, taken[case.drawn.pi < 1], draw, variance, residual, notes)


def _find_decided(found: Fitted, confidence: float) -> BoolArray:
    """Pairs (system, system) that a leaderboard would claim to differ, with p-values adjusted as it does by default."""
    upper = np.triu_indices(len(found.pairs.value), 1)
    decided = np.zeros(found.pairs.value.shape, bool)
    decided[upper] = find_claims(found.pairs.p_value[upper], "holm", confidence)
    return decided | decided.T


def _require_same_plan(case: Case) -> int:
    """Refuse gold of other plans, and return the number of the last batch."""
    assert case.gold is not None
    draw = case.gold.draw
    if draw is None or draw.frame is None:
        raise DataError(
            "the judged gold lacks the columns pi, batch and frame: only queues that karatage plan wrote can be "
            "continued; karatage compare accepts any gold"
        )
    if draw.frame != case.fingerprint or draw.measure != str(case.question.parsed):
        raise DataError(
            f"the judged gold belongs to another plan (frame {shorten(draw.frame)} for {shorten(str(draw.measure))}, "
            f"not {case.fingerprint} for {case.question.parsed}): continue it with the same runs, judgments, measure "
            "and systems"
        )
    return int(draw.batch.max())


def _find_sizes(case: Case, weight: FloatArray, differ: BoolArray, undecided: BoolArray) -> FloatArray:
    if not undecided.any():
        return np.zeros(len(weight))
    pairs = None if (undecided == differ).all() else [(int(a), int(b)) for a, b in np.argwhere(undecided)]
    return case.find_sizes(weight, pairs)


def _draw(size: FloatArray, counts: list[int], known: _Known, seed: int) -> tuple[Chosen, list[Batch]]:
    """The items, and the probabilities of all items in each batch."""
    chosen = draw_batches(size, counts, stream(seed, f"plan {known.last + 1}"), taken=known.taken)
    left = size.copy()
    left[known.taken] = 0.0
    batches = []
    for number, count in enumerate(counts, start=1):
        drawn = np.zeros(len(size), bool)
        drawn[chosen.item[chosen.batch == number]] = True
        batches.append(Batch(find_chances(left, count), drawn))
        left[drawn] = 0.0
    return chosen._replace(batch=chosen.batch + known.last), batches


def _value(
    case: Case,
    frame: LongArray,
    weight: FloatArray,
    known: _Known,
    batches: list[Batch],
    draw: tuple[FloatArray, Chosen],
) -> tuple[Forecast | None, Forecast | None, float]:
    """The forecast of a draw for these topics and for new ones, and the equivalent number of uniformly drawn labels."""
    size, chosen = draw
    if not len(chosen.item):
        return None, None, 0.0
    items = np.zeros(len(case.said), bool)
    items[frame] = True
    residual = guess_residuals(case, items) if known.residual is None else known.residual
    chance = np.zeros(len(size), bool)
    chance[np.r_[known.chance, chosen.item[chosen.pi < 1]]] = True
    variance = find_variance(weight, batches, residual, known.variance) / len(case.topics) ** 2
    these, new = forecast(case, variance, count_told(weight, chance), known.undecided)
    left = size.copy()
    left[known.taken] = 0.0
    gap = np.where(_tells(weight, known.undecided), left, 0.0)
    even = match_uniform(gap, find_chances(left, len(chosen.item)))
    least = FEWEST_TOPICS if len(known.taken) + len(chosen.item) == len(frame) else LEAST_TOPICS
    return these, new if len(case.topics) >= least else None, even


def _tells(weight: FloatArray, pairs: BoolArray) -> BoolArray:
    """Items on which some of these pairs differ."""
    tells = np.zeros(len(weight), bool)
    for a, b in np.argwhere(pairs):
        tells |= weight[:, a] != weight[:, b]
    return tells


def _list_items(case: Case, item: LongArray, chosen: Chosen) -> pl.DataFrame:
    """In the order of batch, topic and document: an order by rank or probability would influence the judges."""
    said = case.said[item]
    frame = pl.DataFrame(
        {
            "place": case.pool.item_topic[item],
            **_name_items(case, item),
            "said": pl.Series([int(s) if s >= 0 else None for s in said], dtype=pl.Int8),
            "pi": chosen.pi,
            "batch": chosen.batch.astype(np.int32),
        }
    )
    return frame.sort("batch", "place", "document").drop("place")


def _name_items(case: Case, item: LongArray) -> dict[str, pl.Series]:
    topics = pl.Series("topic", case.pool.topics, dtype=pl.String)
    return {
        "topic": topics.gather(case.pool.item_topic[item]),
        "document": case.pool.documents.gather(case.pool.item_document[item]),
    }


def _tell(case: Case, known: _Known, chosen: Chosen, new: Forecast | None) -> Iterator[Note]:
    if not len(chosen.item):
        return
    gold, left_to_chance = len(chosen.item) + len(known.taken), (chosen.pi < 1).any()
    yield from tell.when(gold < LEAST_ITEMS and left_to_chance, "few-gold", labels=gold, least=LEAST_ITEMS)
    yield from tell.when(known.residual is None and left_to_chance, "no-gold-yet")
    yield from tell.when(
        case.curve is not None and left_to_chance, "forecast-linear", measure=str(case.question.parsed)
    )
    if new is None and case.question.claim == "new":
        reason = tell_few_topics(len(case.topics))
        yield tell("few-topics-planned", reason=reason, instead=CLAIM_THESE, least=LEAST_TOPICS)
    yield from tell.when(new is not None, "spread-assumed")
    if known.taken.size:
        yield tell("queues-void")
        yield tell("stop-at-budget")


class Batch(NamedTuple):
    """Probabilities of items (item,) in one batch; 0 for items of earlier batches."""

    pi: FloatArray
    drawn: BoolArray


def measure_residuals(case: Case) -> float:
    """The variance of gold's gains around the judges' predictions, from the available gold."""
    inside = case.topic >= 0
    place = np.cumsum(inside) - 1
    drawn = Drawn(place[case.drawn.item], case.drawn.gain, case.drawn.pi, case.drawn.batch)
    learned = learn_gains(case.said[inside].astype(np.int64), case.topic[inside], drawn)[drawn.item]
    return float(np.average((drawn.gain - learned) ** 2, weights=1 / drawn.pi))


def guess_residuals(case: Case, items: BoolArray) -> float:
    """The same without gold, for uninformative judges: the variance of judged gains.

    If that is 0, the largest possible variance of gains.
    """
    assert case.gain is not None
    gain = case.gain
    said = case.said[items & (case.said >= 0)]
    guess = float(gain[said].var()) if len(said) else 0.0
    return guess or (float(np.ptp(gain)) or 1.0) ** 2 / 4


def find_variance(weight: FloatArray, batches: list[Batch], residual: float, known: FloatArray | None) -> FloatArray:
    """The variance of all pairs' differences (system, system), summed over topics, after these batches.

    Each batch gives an unbiased estimate, and they are averaged by precision. `known` is the variance after earlier
    gold, infinite where that contains no information.
    """
    shape = (weight.shape[1], weight.shape[1])
    with np.errstate(divide="ignore"):
        precision = np.zeros(shape) if known is None else 1 / known
        for batch in batches:
            left = batch.pi > 0
            noise = np.sqrt(residual * (1 - batch.pi[left]) / batch.pi[left])[:, None] * weight[left]
            variance = np.zeros(shape)
            sum_square_gaps(noise, variance)
            precision = precision + 1 / variance
        return np.asarray(1 / precision)


def count_told(weight: FloatArray, chance: BoolArray) -> FloatArray:
    """The number of random draws on which two systems differ (system, system)."""
    told = np.zeros((weight.shape[1] + 1, weight.shape[1] + 1), np.int64)
    count_gaps(weight, chance, told)
    return told[:-1, :-1].astype(float)


def forecast(case: Case, variance: FloatArray, told: FloatArray, pairs: BoolArray) -> tuple[Forecast, Forecast]:
    """Forecasts for these topics and for topics like them; the median over `pairs` (system, system).

    The variance between topics is estimated by that of the judges' scores.
    """
    point = (1 + case.question.confidence) / 2
    gold, told = variance[pairs], told[pairs]
    topics = trust_judges(case).pairs.variance[pairs]
    width = np.array([t_quantile(point, max(n - 1, 1.0)) for n in told])
    these = Forecast(float(np.median(np.sqrt(gold))), float(np.median(width * np.sqrt(gold))))
    error = float(np.median(np.sqrt(gold + topics)))
    return these, Forecast(error, t_quantile(point, max(len(case.topics) - 1.0, 1.0)) * error)
