"""Correction by error rates: the judges' grades, multiplied by the inverse of their confusion matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from karatage.correction import graded, precision
from karatage.correction.design import GoldDesign
from karatage.correction.precision import measure_separation, require_gold, require_informed
from karatage.data.axes import FloatArray
from karatage.data.comparison import Opinion
from karatage.data.estimate import Accuracy, Estimate, JudgeAccuracy, Method, t_quantile
from karatage.data.note import Note
from karatage.decisions.estimators.answers import LEAST_ALONE, JudgeAnswers, find_luck, gather_merged, gather_own
from karatage.decisions.estimators.contract import (
    CLAIM_THESE,
    LEAST_TOPICS,
    Boards,
    Estimator,
    Fitted,
    Levels,
    Objection,
    SecondOpinion,
    SystemPairs,
    average_topics,
    draw_topics,
    spread,
    tell_few_topics,
)
from karatage.decisions.estimators.drawn import DRAWN, EVEN, UnevenError
from karatage.decisions.notes import tell
from karatage.errors import DataError, JudgeError
from karatage.random_streams import stream
from karatage.text import count_names, list_names

if TYPE_CHECKING:
    from karatage.decisions.case import Case

ROUNDING, TINY = 1e-9, 1e-12
MOST_NAMES = 6
CONTRADICTION = 0.001  # probability of a false refusal of contradictory scores and rates
CLEARLY = 4.0  # standard errors
WORTH_TELLING = 1.1  # design effect
BOOTSTRAP = Method(name="bootstrap", label="bootstrap", about="Topics and gold items resampled.")


@dataclass(frozen=True, eq=False, kw_only=True)
class RatesFitted(Fitted):
    """Scores with error rates corrected."""

    answers: JudgeAnswers
    luck_variance: FloatArray  # (system, system) due to random errors on these documents

    keeps_order: ClassVar[bool] = True

    def second_opinion(self, case: Case, fit: Callable[[Estimator, Case], Fitted]) -> SecondOpinion | Objection | None:
        """Gold as a sample needs no error rates: where both answers differ, the rates are not the same for all systems.

        Both use the same topics, so these cancel. Both contain the variance of gold; only the rates contain that of
        the judges' random errors.
        """
        assert case.gold is not None
        if case.disjoint:
            return None
        try:
            second = fit(EVEN if case.gold.draw is None else DRAWN, case)
        except UnevenError as problem:  # then its rates are those of some documents only
            return Objection(reason=f"{problem}", apart=np.ones((len(case.systems), len(case.systems)), bool))
        return SecondOpinion(
            first=self,
            second=second,
            error=np.sqrt(self.gold_variance + self.luck_variance + second.gold_variance),
            vetoes=True,
            names=("error rates alone", "gold among these systems' documents"),
            on_pair="judges seem to have different error rates on the documents of the two systems, so the correction "
            "may be wrong here; draw gold for these two systems (karatage plan)",
            on_board="judges have different error rates on the documents of some systems, so the correction is wrong "
            "here; draw gold for these systems (karatage plan)",
        )

    def list_more(self, case: Case, a: int, b: int) -> tuple[Opinion, ...]:
        """The bootstrap, if it was asked for."""
        return (bootstrap_rates(case, a, b, self.answers),) if case.question.resamples and case.paired else ()

    def take_board(self, case: Case, naive: FloatArray) -> Boards:
        """The slope is from scores before they are limited to their bounds, which would bias it upwards."""
        plain = np.array([self.answers.scores[s, case.topics_of(s)].mean() for s in range(len(naive))])
        return super().take_board(case, naive)._replace(gold=plain[None])

    def resample(self, case: Case, draws: int, rng: np.random.Generator) -> Boards | None:
        """With gold items resampled too; resamples with a singular confusion matrix are left out."""
        times, answers = draw_topics(len(case.topics), draws, rng), self.answers
        items = answers.share * answers.size[..., None] / case.design.variance_factor
        rows, kept = graded.draw_confusions(items, draws, rng)
        gains = graded.judge_gains(rows, answers.gain)
        naive, plain = average_topics(times[kept], case.scores), np.zeros((int(kept.sum()), len(case.systems)))
        for judge, kind in np.ndindex(gains.shape[1:]):
            plain += average_topics(times[kept], answers.mass[judge, :, :, kind].T) * gains[:, judge, [kind]]
        return Boards(naive, np.clip(plain, *self.within), naive, plain, np.zeros(len(plain)), len(case.topics))


class JudgeRatesFitted(RatesFitted):
    """The same with each judge's error rates, which may change the order of systems."""

    keeps_order: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class ErrorRates(Estimator):
    """[NOISY18] for every system and pair; assumes the same error rates on all systems.

    They are those of the process that merges the judges, or of each judge (section 3.9).
    """

    def suits(self, case: Case) -> bool:  # noqa: ARG002 for no gold
        """On request only: real judges do not have the same error rates on all documents."""
        return False

    def fit(self, case: Case) -> RatesFitted:
        """Correct by the judges' error rates."""
        question, design = case.question, case.design
        _require(case, design)
        answers = gather_merged(case) if self.one_process else gather_own(case)
        unseen = [name for name, filled in zip(case.systems, answers.filled, strict=True) if not filled.any()]
        if unseen:
            raise DataError(
                f"systems without judged documents that count: {count_names(unseen)}; have their documents "
                "judged, or draw gold among them (karatage plan)"
            )
        _require_rates(answers)
        size = answers.size / design.variance_factor
        topics = [case.topics_of(s) for s in range(len(case.systems))]
        if min(map(len, topics)) < 2:
            raise DataError("a system answered 1 topic, and a variance over topics needs at least 2")
        mean = np.stack([answers.mass[:, s, kept].mean(axis=1) for s, kept in enumerate(topics)])
        value = np.array([answers.scores[s, kept].mean() for s, kept in enumerate(topics)])
        by_topics = np.array([answers.scores[s, kept].var(ddof=1) / len(kept) for s, kept in enumerate(topics)])
        by_gold, doubt = _measure_gold(case, answers, mean, size)
        rest = np.array([len(kept) - 1.0 for kept in topics])
        degrees = _find_degrees(by_topics + by_gold, by_topics**2 / rest + doubt, rest)
        if question.parsed.cutoff == 1:  # (8): a binomial share
            by_topics *= [1 - 1 / len(kept) for kept in topics]
        variance = by_topics + by_gold
        value, told = _obey_bounds(case, answers, value, variance)
        if question.undo_bias:
            mass = [answers.mass[:, s, kept] for s, kept in enumerate(topics)]
            value = value - np.array([graded.bias(m, answers.share, size, answers.gain).sum() for m in mass])
        pairs, gold_variance = _compare_all(case, answers, value, mean, size, by_topics)
        items = len(np.unique(answers.labels.item[answers.gold >= 0]))
        assumed = [f"error rates on these systems' documents are those on the {items:,} gold items"]
        if not self.one_process:
            several = (
                f"; several grades of a document are averaged here, and merged by {case.approach} without correction"
            )
            assumed.append("each judge has its own error rates" + several * bool((answers.labels.share < 1).any()))
        elif question.judges == "independent":
            both = variance[:, None] + variance[None, :]
            pairs = SystemPairs(value=pairs.value, variance=both, degrees=np.full_like(both, np.inf))
            degrees = np.full_like(degrees, np.inf)
            gold_variance = by_gold[:, None] + by_gold[None, :]
            assumed.append("each system had separate judges and gold ([NOISY18] (10), (11))")
        else:
            assumed.append("the same judges graded both systems, so their error rates are shared")
        effect = design.variance_factor
        designed = tell.when(effect >= WORTH_TELLING, "design-effect", share=1 / effect, effect=effect)
        together = tell.when(answers.together, "rates-together", least=LEAST_ALONE, judges=answers.together)
        uncertain = [note for accuracy in answers.accuracies for note in _tell_accuracy(accuracy)]
        fitted = RatesFitted if self.one_process else JudgeRatesFitted
        return fitted(
            method=self.method,
            pairs=pairs,
            levels=Levels(value=value, variance=variance, degrees=degrees),
            gold_variance=gold_variance,
            gold_items=items,
            luck_variance=find_luck(case, answers),
            within=(0.0, float(_find_filled(case, answers).max() * answers.gain.max())),
            accuracy=answers.accuracies[0] if self.one_process else None,
            by_judge=() if self.one_process else tuple(map(JudgeAccuracy, answers.judges, answers.accuracies)),
            answers=answers,
            assumed=tuple(assumed),
            notes=(*told, *designed, *together, *uncertain, *_tell_assumption(case)),
        )


RATES = ErrorRates(
    method=Method(
        name="rates",
        label="error rates corrected",
        about="""Scores are corrected by the judges' error rates. They are valid if the rates are the same on all
systems' documents. Otherwise corrected scores may have larger errors than the judges' scores, and their intervals may
be too narrow. Gold drawn for these systems (karatage plan) needs no such assumption.""",
        same_order="All differences are rescaled by one factor, so the judges' and the corrected order agree by "
        "construction.",
    ),
    phrase="by correcting the judges' error rates",
    premise="the judges' error rates can be corrected, if they are the same on all systems' documents",
    one_process=True,
)


JUDGE_RATES = ErrorRates(
    method=Method(
        name="judge-rates",
        label="rates of each judge",
        about="""Each grade is corrected by the error rates of the judge who gave it. Scores are valid if these are the
same on all documents that the judge graded. Gold drawn for these systems (karatage plan) needs no such assumption.""",
    ),
    phrase="by correcting each judge's error rates",
    premise="each judge's error rates can be corrected, if they are the same on all documents that the judge graded",
)


def bootstrap_rates(case: Case, a: int, b: int, answers: JudgeAnswers) -> Opinion:
    """A second opinion on the difference: topics and gold items resampled, with a percentile interval."""
    question = case.question
    found = graded.bootstrap(
        (answers.mass[:, b] - answers.mass[:, a]).swapaxes(0, 1),
        answers.share * (answers.size / case.design.variance_factor)[..., None],
        answers.gain,
        draws=question.resamples,
        rng=stream(case.seed, "bootstrap"),
    )
    topics = len(case.topics)
    low, high = graded.percentile_interval(found.values, topics=topics, confidence=question.confidence)
    estimate = Estimate(
        value=float(np.median(found.values)),  # single draws may be extreme if judges are nearly random
        standard_error=(high - low) / 2 / t_quantile((1 + question.confidence) / 2, topics - 1),
        degrees=topics - 1,
        low=low,
        high=high,
        confidence=question.confidence,
    )
    tail = min(int((found.values <= 0).sum()), int((found.values >= 0).sum()))
    p_value = min(1.0, 2 * (1 + tail) / (1 + len(found.values)))
    return Opinion(method=BOOTSTRAP, a=None, b=None, difference=estimate, test_p_value=p_value)


def _require(case: Case, design: GoldDesign) -> None:
    if not case.additive:
        raise DataError(
            f"{case.question.parsed} is not a plain weighted sum of grades, so error rates do not correct it; use P@k, "
            "DCG@k or RBP, or leave out --correction"
        )
    if not case.gives_grades:
        raise DataError(
            f"{case.approach} gives scores, and scores have no error rates; choose an approach that gives grades, "
            "such as mv, ds or judge:NAME, or re-judge whole topics"
        )
    if case.question.claim == "these":
        raise DataError(
            "error rates are averages, not those of these topics; draw gold with known probabilities (karatage plan), "
            "or make a claim about new topics"
        )
    if len(case.topics) < LEAST_TOPICS:
        raise DataError(
            f"{tell_few_topics(len(case.topics))}; judge at least {LEAST_TOPICS}, or "
            f"draw gold with known probabilities (karatage plan) and {CLAIM_THESE}"
        )
    if design.clustered:
        raise DataError(
            f"gold is in {design.topics} of {design.pool_topics} topics, and judges' errors within a topic are "
            "correlated. So intervals would be far too narrow; spread the gold over more topics (karatage plan does), "
            "or re-judge whole topics"
        )


def _require_rates(answers: JudgeAnswers) -> None:
    """Refuse judges with too little gold, or no better than random."""
    for names, accuracy in zip(answers.judges, answers.accuracies, strict=True):
        try:
            require_gold(accuracy)
            require_informed(accuracy)
        except DataError as problem:
            if not names:
                raise
            raise type(problem)(
                f"{list_names(names, MOST_NAMES)}: {problem}; or leave out the grades of such judges"
            ) from None


def _measure_gold(
    case: Case, answers: JudgeAnswers, mean: FloatArray, size: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The variance due to gold of scores with these mean masses (..., judge, said), and its part of Welch's doubt."""
    by_grade = graded.gold_variance(mean, answers.share, size, answers.gain)
    doubt = (by_grade**2 / np.maximum(size - 1, 1)).sum(axis=-1).sum(axis=-1)
    shared = answers.measure_shared_gold(mean) * case.design.variance_factor
    return (by_grade.sum(axis=-1).sum(axis=-1) + shared).clip(0), doubt


def _find_degrees(variance: FloatArray, doubt: FloatArray, otherwise: ArrayLike) -> FloatArray:
    """Welch's degrees of freedom, or others where nothing varies."""
    known = doubt == 0
    degrees: FloatArray = np.where(known, otherwise, variance**2 / np.where(known, 1, doubt))
    return degrees


def _obey_bounds(
    case: Case, answers: JudgeAnswers, plain: FloatArray, variance: FloatArray
) -> tuple[FloatArray, tuple[Note, ...]]:
    """Binary scores within their bounds by [NOISY18] 3.6, or a refusal; other scores are unchanged."""
    filled = _find_filled(case, answers)
    worst, best = filled * answers.gain.min(), filled * answers.gain.max()
    outside = (plain < worst - ROUNDING) | (plain > best + ROUNDING)
    if not outside.any() or answers.judges != ((),) or not answers.accuracies[0].binary:
        return plain, ()
    names = tuple(case.systems[s] for s in np.flatnonzero(outside))
    said = np.array([answers.mass[0, s, case.topics_of(s), 1].mean() for s in range(len(plain))]) / filled
    accuracy = answers.accuracies[0]
    bounds = f"1 - {accuracy.m_n:.3f} = {1 - accuracy.m_n:.3f} to {accuracy.m_r:.3f}"
    if outside.all() and ((plain > best).all() or (plain < worst).all()):
        raise JudgeError(
            f"error rates and scores contradict each other. With these rates judges call {bounds} of all documents "
            f"relevant ([NOISY18] (17)), but they called {_range(said)} relevant. Either gold was not drawn from what "
            "they judged, or their rates changed: draw gold from these systems' documents (karatage plan)"
        )
    worth = said * (1 - said) / np.maximum(_topic_variance(case, answers, filled), TINY)
    found = precision.constrain(said, worth, (accuracy.m_r, accuracy.m_n), (accuracy.size[1], accuracy.size[0]))
    value = worst + precision.correct(found.share, found.m_r, found.m_n) * (best - worst)
    if (np.abs(plain - value) > NormalDist().inv_cdf(1 - CONTRADICTION / len(plain)) * np.sqrt(variance)).any():
        raise JudgeError(f"error rates and scores contradict each other beyond chance: see ([NOISY18] (17)), {bounds}")
    return value, (tell("bounded", worst=float(worst.min()), best=float(best.max()), systems=names),)


def _find_filled(case: Case, answers: JudgeAnswers) -> FloatArray:
    """The mean weight of a system's judged documents over its topics, (system,)."""
    return np.array([answers.filled[s][case.topics_of(s)].mean() for s in range(len(case.systems))])


def _topic_variance(case: Case, answers: JudgeAnswers, filled: FloatArray) -> FloatArray:
    """The variance over topics of the share that judges called relevant, (system,)."""
    each = [spread(answers.mass[0, s, case.topics_of(s), 1] / filled[s]) for s in range(len(filled))]
    return np.array(each, float)


def _range(share: FloatArray) -> str:
    return f"{share[0]:.3f}" if len(share) == 1 else f"{share.min():.3f} to {share.max():.3f}"


def _compare_all(
    case: Case, answers: JudgeAnswers, value: FloatArray, mean: FloatArray, size: FloatArray, by_topics: FloatArray
) -> tuple[SystemPairs, FloatArray]:
    """All pairs, and the part of their variance due to gold; both systems of a pair have the same error rates."""
    topics = np.array([len(case.topics_of(s)) for s in range(len(value))])
    each = [_measure_gold(case, answers, mean - mean[a], size) for a in range(len(value))]
    gold, doubt = (np.stack(part) for part in zip(*each, strict=True))
    if case.paired:
        score = answers.scores.T
        first = np.stack([spread(score - score[:, [a]]) for a in range(len(value))])
        doubt = first**2 / (len(score) - 1) + doubt
    else:
        first = by_topics[:, None] + by_topics[None, :]
        own = by_topics**2 / (topics - 1)
        doubt = own[:, None] + own[None, :] + doubt
    variance = first + gold
    np.fill_diagonal(variance, 0.0)
    degrees = _find_degrees(variance, doubt, np.inf)
    return SystemPairs(value=value[None, :] - value[:, None], variance=variance, degrees=degrees), gold


def _tell_accuracy(accuracy: Accuracy) -> Iterator[Note]:
    """Notes on rates that are uncertain, even if they look certain."""
    rows = accuracy.count.sum(axis=1).astype(int)
    for kind, row, right in zip(accuracy.kinds, rows, np.diag(accuracy.share), strict=True):
        if right == 1:
            yield tell("error-free", items=int(row), grade=kind, most=3 / row)
    spread = measure_separation(accuracy)
    yield from tell.when(spread < CLEARLY, "nearly-chance", errors=spread)


def _tell_assumption(case: Case) -> tuple[Note, ...]:
    assert case.gold is not None
    instead = "" if case.disjoint else "; leave out --correction for an answer that does not assume it"
    return (tell("rates-assumed", instead=instead),)
