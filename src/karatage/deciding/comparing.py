"""`compare`: is one system better than another, once the judges' errors are undone?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from karatage.correction.power import gold_needed
from karatage.data.comparison import Comparison, Opinion, find_digits
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.data.versions import list_versions
from karatage.deciding.case import Case, make_case
from karatage.deciding.choosing import Choice, correct, name_way
from karatage.deciding.corrected import Corrected, find_gap
from karatage.deciding.guards import find_ceiling, keep_possible
from karatage.deciding.naive import trust_judges
from karatage.deciding.question import Question
from karatage.deciding.rates import LEAST_TOPICS, bootstrap_rates
from karatage.errors import OptionError
from karatage.measures.spec import Measure
from karatage.wording import counted

POWER = 0.8


def compare(
    runs: Runs, judgments: Judgments, gold: Judgments | None, measure: str | Measure | Question, *, a: str, b: str
) -> Comparison:
    """Say whether system `b` is better than `a`: what the judges say, and what is left once their errors are undone.

    Args:
        runs: What the systems retrieved. A gold queue that was planned for more systems needs all of them.
        judgments: What the judges said; several are merged first.
        gold: Trusted grades of some items. From its design follows what is done with it: items drawn with known chances
            (`pi`), whole topics, or a plain sample. None: only the judges' own difference is given.
        measure: A measure such as `P@10`, or a `kt.Question` that says what is claimed and assumed.
        a: One system.
        b: The other; differences are b - a.
    """
    question = Question.of(measure)
    if a == b:
        raise OptionError(f"a and b are the same system, '{a}'; name two")
    case = make_case(runs, judgments, gold, question, systems=(a, b), seed=question.seed)
    naive = trust_judges(case)
    same = find_sameness(case)
    choice = Choice(None) if gold is None or same is not None else correct(case, runs, judgments)
    found = choice.corrected
    opinion = None if found is None else replace(found.compare(0, 1, question.confidence), way=name_way(case, found))
    others, told = _ask_others(case, choice)
    alarm, shift = choice.alarm, _find_shift(found, choice.second)
    if shift is not None and found is not None and found.way == "rates":
        alarm = alarm or f"{shift}; draw gold for these two systems (karatage plan)"
    elif shift is not None:
        told += (f"{shift}; this answer does not use error rates",)
    return Comparison(
        measure=str(question.parsed),
        a=a,
        b=b,
        approach=case.approach,
        claim=question.claim,
        topics=len(case.topics),
        naive=naive,
        corrected=opinion,
        others=others,
        refusal=choice.refusal,
        same=same,
        gold=None if gold is None else case.design.sentence,
        accuracy=next((c.accuracy for c in (found, choice.second) if c is not None and c.accuracy is not None), None),
        alarm=alarm,
        needed=None if found is None or opinion is None else _find_need(case, naive, opinion, found),
        assumed=_list_assumptions(case, found),
        seed=question.seed,
        versions=list_versions(),
        notes=tuple(
            dict.fromkeys((*case.notes, *choice.notes, *(found.notes if found else ()), *told, *tell_sample(case)))
        ),
    )


def find_sameness(case: Case) -> str | None:
    """Why the systems cannot differ, where they cannot."""
    if case.linear is not None:
        alike = not case.matters.any()
    else:
        shown = case.alignment.ranked[case.topics][:, :, : case.depth]
        alike = bool((shown[:, 0] == shown[:, 1]).all())
    return case.question.sameness if alike else None


def _ask_others(case: Case, choice: Choice) -> tuple[tuple[Opinion, ...], tuple[str, ...]]:
    """Second opinions, and what is said of those that cannot be one."""
    others = []
    if choice.second is not None:
        others.append(choice.second.compare(0, 1, case.question.confidence))
    by_rates = next((c for c in (choice.corrected, choice.second) if c is not None and c.way == "rates"), None)
    if case.question.resamples and by_rates is not None and case.paired:
        others.append(bootstrap_rates(case, 0, 1))
    return keep_possible(others, find_ceiling(case))


def _find_shift(found: Corrected | None, second: Corrected | None) -> str | None:
    """Whether two corrections are further apart than chance explains."""
    if found is None or second is None:
        return None
    rates, sampled = (found, second) if found.way == "rates" else (second, found)
    gap = find_gap(rates, sampled)
    if not gap.wide[0, 1]:
        return None
    return (
        f"error rates alone give {rates.pairs.value[0, 1]:+.3f}, gold among these systems' documents "
        f"{sampled.pairs.value[0, 1]:+.3f}, {abs(gap.value[0, 1]) / gap.error[0, 1]:.1f} standard errors apart: judges "
        "seem to err otherwise on one system's documents than on the other's, so error rates may mislead here"
    )


def _find_need(case: Case, naive: Opinion, opinion: Opinion, found: Corrected) -> str | None:
    """How much more gold would show the difference that judges see, if it is there."""
    target = abs(naive.difference.value)
    if opinion.significant or target == 0:
        return None
    gold = float(found.gold_variance[0, 1])
    rest = max(float(found.pairs.variance[0, 1]) - gold, 0.0)
    if found.way == "sampled" and case.question.topics == "new":
        rest = max(rest, naive.difference.standard_error**2)  # the rest is a difference of two noisy variances
    more = math.inf
    if gold > 0:
        more = float(gold_needed(rest, gold, found.gold_items, target, level=case.question.level, power=POWER))
    power = f"give {POWER:.0%} power for {target:.{max(find_digits(naive.difference), 3)}f}"
    aim, hardly = (
        f"would {power}",
        f"More gold on {counted(len(case.topics), 'topic')} would hardly {power}: add topics.",
    )
    if more == 0:
        return None
    if found.way == "topics":
        if more <= len(case.topics) - found.gold_items:
            return f"Gold on {counted(int(more), 'more topic')} {aim}."
        return hardly
    if math.isinf(more):
        return hardly
    left = int((case.matters & (case.gold_grade < 0)).sum())
    if found.way == "sampled" and more >= left:
        return f"Gold on all {left:,} other documents that matter {aim}." if left else None
    return f"About {counted(int(more), 'more gold label')} {aim}."


def _list_assumptions(case: Case, found: Corrected | None) -> tuple[str, ...]:
    pairing = "the same topics, paired" if case.paired else "topics of their own, not paired"
    topics = (
        "topics are a random sample of those that matter"
        if case.question.topics == "new"
        else "these topics are all that matter"
    )
    return (f"{topics}; both systems answered {pairing}", *(found.assumed if found is not None else ()))


def tell_sample(case: Case) -> Iterator[str]:
    """Doubts about the topics and the gold, whatever is found with them."""
    if len(case.topics) < LEAST_TOPICS:
        yield f"{counted(len(case.topics), 'topic')} only: intervals over topics lean on their scores being normal"
    batches = 1 if case.gold is None or case.gold.draw is None else int(case.gold.draw.batch.max())
    if batches > 1:
        yield (
            f"gold came in {batches} batches: p-values hold if their number was fixed beforehand, not if judging "
            "stopped when a difference first showed"
        )
