"""Every measure as its definition reads: slow, obvious, one ranking and one judge at a time.

`ranking` lists document ids, best first; `grades` maps judged documents to their grades.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product

Ranking = Sequence[str]
Grades = Mapping[str, int]


def rank_documents(scores: Mapping[str, float]) -> list[str]:
    """Score descending, ties by document id descending, bytewise."""
    return sorted(scores, key=lambda document: (scores[document], document.encode()), reverse=True)


def relevant(grades: Grades, document: str, rel: int) -> bool:
    return grades.get(document, -1) >= rel


def count_relevant(grades: Grades, rel: int) -> int:
    return sum(grade >= rel for grade in grades.values())


def precision(ranking: Ranking, grades: Grades, k: int, rel: int = 1) -> float:
    return sum(relevant(grades, d, rel) for d in ranking[:k]) / k


def recall(ranking: Ranking, grades: Grades, k: int, rel: int = 1) -> float:
    total = count_relevant(grades, rel)
    return sum(relevant(grades, d, rel) for d in ranking[:k]) / total if total else 0.0


def average_precision(ranking: Ranking, grades: Grades, k: int | None = None, rel: int = 1) -> float:
    total = count_relevant(grades, rel)
    if not total:
        return 0.0
    precisions = [
        precision(ranking, grades, n, rel)
        for n, document in enumerate(ranking[:k], start=1)
        if relevant(grades, document, rel)
    ]
    return sum(precisions) / total


def r_precision(ranking: Ranking, grades: Grades, rel: int = 1) -> float:
    total = count_relevant(grades, rel)
    return precision(ranking, grades, total, rel) if total else 0.0


def reciprocal_rank(ranking: Ranking, grades: Grades, k: int | None = None, rel: int = 1) -> float:
    for n, document in enumerate(ranking[:k], start=1):
        if relevant(grades, document, rel):
            return 1 / n
    return 0.0


def bpref(ranking: Ranking, grades: Grades, rel: int = 1) -> float:
    total = count_relevant(grades, rel)
    if not total:
        return 0.0
    judged_nonrelevant = len(grades) - total
    score = 0.0
    for n, document in enumerate(ranking):
        if relevant(grades, document, rel):
            above = sum(d in grades and grades[d] < rel for d in ranking[:n])
            score += 1 - min(above, total) / min(total, judged_nonrelevant) if above else 1
    return score / total


def judged(ranking: Ranking, grades: Grades, k: int | None = None) -> float:
    shown = ranking[:k]
    return sum(document in grades for document in shown) / len(shown) if shown else 0.0


def rank_biased_precision(
    ranking: Ranking, grades: Grades, p: float = 0.8, k: int | None = None, rel: int = 1
) -> float:
    return (1 - p) * sum(p**n for n, d in enumerate(ranking[:k]) if relevant(grades, d, rel))


def log2_discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def jk_discount(base: float) -> Callable[[int], float]:
    """Järvelin and Kekäläinen: no discount before rank `base`."""
    return lambda rank: 1 / max(1.0, math.log(rank, base))


def dcg(
    ranking: Ranking,
    grades: Grades,
    k: int | None = None,
    *,
    gain: Callable[[int], float] = float,
    discount: Callable[[int], float] = log2_discount,
) -> float:
    return sum(
        gain(grades[document]) * discount(n) for n, document in enumerate(ranking[:k], start=1) if document in grades
    )


def ndcg(
    ranking: Ranking,
    grades: Grades,
    k: int | None = None,
    *,
    gain: Callable[[int], float] = float,
    discount: Callable[[int], float] = log2_discount,
) -> float:
    best = sorted(grades, key=lambda document: gain(grades[document]), reverse=True)
    ideal = dcg(best, grades, k, gain=gain, discount=discount)
    return dcg(ranking, grades, k, gain=gain, discount=discount) / ideal if ideal else 0.0


def expected_reciprocal_rank(
    ranking: Ranking, grades: Grades, top: int, k: int | None = None, gain: int | None = None, rel: int = 1
) -> float:
    """`gain` replaces every relevant grade."""
    score, reads_on = 0.0, 1.0
    for n, document in enumerate(ranking[:k], start=1):
        grade = grades.get(document, 0)
        value = 0 if grade < rel else grade if gain is None else gain
        stops = (2**value - 1) / 2**top
        score += reads_on * stops / n
        reads_on *= 1 - stops
    return score


def kendall_tau(x: Sequence[float], y: Sequence[float], variant: str = "a") -> float:
    balance = untied_x = untied_y = pairs = 0
    for i in range(len(x)):
        for j in range(i):
            sign_x, sign_y = _sign(x[i] - x[j]), _sign(y[i] - y[j])
            balance += sign_x * sign_y
            untied_x += sign_x != 0
            untied_y += sign_y != 0
            pairs += 1
    if variant == "a":
        return balance / pairs
    return balance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else math.nan


def tau_ap(reference: Sequence[float], estimate: Sequence[float]) -> float:
    """The mean over all orders that break the ties of either vector."""
    found = [
        _tau_ap_of_orders(trusted, guessed) for trusted, guessed in product(orders(reference), list(orders(estimate)))
    ]
    return sum(found) / len(found)


def orders(scores: Sequence[float]) -> Iterator[list[int]]:
    """Every order of the entries, best first, that respects the scores."""
    groups = [[i for i, s in enumerate(scores) if s == value] for value in sorted(set(scores), reverse=True)]
    for choice in product(*(permutations(group) for group in groups)):
        yield [i for group in choice for i in group]


def _tau_ap_of_orders(reference: list[int], estimate: list[int]) -> float:
    place = {entry: n for n, entry in enumerate(reference)}
    total = 0.0
    for i in range(1, len(estimate)):
        correct = sum(place[above] < place[estimate[i]] for above in estimate[:i])
        total += correct / i
    return 2 * total / (len(estimate) - 1) - 1


def _sign(difference: float) -> int:
    return int(difference > 0) - int(difference < 0)
