"""`compare`: is one system better than another, once the judges' errors are undone?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Unpack

from karatage.comparison.paired import paired_test
from karatage.data.arguments import require_data, show_options
from karatage.data.comparison import Comparison, Opinion, find_digits
from karatage.data.estimate import Estimate
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.data.standing import JUDGES
from karatage.decisions.case import Case, make_case
from karatage.decisions.correct import Choice, correct, find_ceiling, keep_possible
from karatage.decisions.estimators.contract import LEAST_TOPICS, POWER, Fitted, compare_means
from karatage.decisions.notes import tell
from karatage.decisions.question import Question, QuestionOptions, check_pair, choose_pair
from karatage.errors import OptionError
from karatage.measures.spec import Measure
from karatage.random_streams import stream
from karatage.text import counted


@show_options(Question)
def compare(
    runs: Runs,
    judgments: Judgments,
    gold: Judgments | None = None,
    measure: str | Measure | Question = Question.measure,
    *,
    a: str | None = None,
    b: str | None = None,
    **options: Unpack[QuestionOptions],
) -> Comparison:
    """Say whether system `b` is better than `a`: what the judges say, and what is left once their errors are undone.

    Args:
        runs: What the systems retrieved. A gold queue that was planned for more systems needs all of them.
        judgments: What the judges said; several are merged first.
        gold: Trusted grades of some items. From its design follows what is done with it: items drawn with known chances
            (`pi`), whole topics, or a plain sample. None: only the judges' own difference is given.
        measure: A measure such as `P@10`, or a `kt.Question` that says what is claimed and assumed.
        a: One system; default: of two runs, the first.
        b: The other; differences are b - a.
        options: What else a `kt.Question` says, by the same names.
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
    return compare_pair(make_case(runs, judgments, gold, question, systems=pair, seed=question.seed))


def compare_pair(case: Case) -> Comparison:
    """The same for a case of two systems."""
    question, gold, (a, b) = case.question, case.gold, case.systems
    naive = trust_judges(case)
    same = case.same
    choice = Choice(None) if gold is None or same is not None else correct(case)
    found = choice.corrected
    opinion = None if found is None else found.compare(0, 1, question.confidence)
    others, told = _ask_others(case, choice)
    doubt = None if choice.second is None else choice.second.doubt_pair(0, 1)
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
        alarm=choice.alarm or (None if doubt is None else doubt.alarm),
        needed=None if found is None or opinion is None else _find_need(case, naive, opinion, found),
        assumed=_list_assumptions(case, found),
        seed=question.seed,
        versions=list_versions(),
        notes=tuple(
            dict.fromkeys(
                (
                    *case.notes,
                    *choice.notes,
                    *(() if found is None else found.notes),
                    *told,
                    *(() if doubt is None else doubt.notes),
                    *tell_sample(case),
                )
            )
        ),
    )


def trust_judges(case: Case) -> Opinion:
    """The judges' own difference of two systems, with the test that was asked for."""
    question = case.question
    value, variance, pairs = compare_means(case.scores, case)
    p_value = None
    if pairs.variance[0, 1] == 0:
        p_value = float(pairs.p_value[0, 1])
    if question.test != "t":
        if not case.paired:
            raise OptionError(f"the {question.test} test is for paired topics; unpaired ones take the t test")
        rng = stream(case.seed, "test")
        p_value = paired_test(*case.scores.T, test=question.test, confidence=question.confidence, rng=rng).p_value
    singles = [
        Estimate.of(
            float(value[s]),
            float(variance[s]),
            degrees=max(len(case.topics_of(s)) - 1.0, 1.0),
            confidence=question.confidence,
        )
        for s in (0, 1)
    ]
    found = Estimate.of(
        float(pairs.value[0, 1]),
        float(pairs.variance[0, 1]),
        degrees=float(pairs.degrees[0, 1]),
        confidence=question.confidence,
    )
    return Opinion(method=JUDGES, a=singles[0], b=singles[1], difference=found, test_p_value=p_value)


def _ask_others(case: Case, choice: Choice) -> tuple[tuple[Opinion, ...], tuple[Note, ...]]:
    """Second opinions, and what is said of those that cannot be one."""
    others: list[Opinion] = []
    if choice.second is not None and choice.second.second is not None:
        others.append(choice.second.second.compare(0, 1, case.question.confidence))
    if choice.corrected is not None:
        others += choice.corrected.list_more(case, 0, 1)
    return keep_possible(others, find_ceiling(case))


def _find_need(case: Case, naive: Opinion, opinion: Opinion, found: Fitted) -> str | None:
    """How much more gold would show the difference that judges see, if it is there."""
    target = naive.difference
    if opinion.significant or target.value == 0:
        return None
    more = found.count_more_gold(case, target, POWER)
    if more == 0 or math.isnan(more):
        return None
    power = f"give {POWER:.0%} power for {abs(target.value):.{max(find_digits(target), 3)}f}"
    bought = None if math.isinf(more) else found.name_more_gold(case, int(more))
    if bought is None:
        return f"More gold on {counted(len(case.topics), 'topic')} would hardly {power}: add topics."
    return f"{bought} would {power}."


def _list_assumptions(case: Case, found: Fitted | None) -> tuple[str, ...]:
    pairing = "the same topics, paired" if case.paired else "separate topics, not paired"
    topics = (
        "topics are a random sample of those that matter"
        if case.question.claim == "new"
        else "these topics are all that matter"
    )
    return (f"{topics}; both systems answered {pairing}", *(found.assumed if found is not None else ()))


def tell_sample(case: Case) -> Iterator[Note]:
    """Doubts about the topics and the gold, whatever is found with them."""
    yield from tell.when(len(case.topics) < LEAST_TOPICS, "few-topics", topics=len(case.topics))
    batches = 1 if case.gold is None or case.gold.draw is None else int(case.gold.draw.batch.max())
    yield from tell.when(batches > 1, "batches", batches=batches)
