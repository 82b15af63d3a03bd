"""What the s-AWARE experiment is summed up in: doubts, and the closing sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.supervised.plan import SupervisedPlan, find_family
from karatage.merging.estimators import SupervisedEstimator
from karatage.text import counted

if TYPE_CHECKING:
    from karatage.experiments.supervised.findings import Mean, Place, SupervisedFindings

MOST_PLACES = 6  # told one by one
GROUP = ("systems", "panel", "configuration")


def tell_samples(frame: pl.DataFrame, plan: SupervisedPlan) -> Iterator[str]:
    """Doubts about single samples, by how many have them."""
    every = frame.filter(pl.col("measure") == plan.measures[0])
    first = every.filter(pl.col("approach") == plan.names[0])
    for who, sub in ("judges", False), ("people", True):
        names = [n for n, way in plan.ways.items() if isinstance(way, SupervisedEstimator) and way.sub == sub]
        unseen = every.filter(pl.col("approach").is_in(names[:1]), pl.col("unseen") > 0)["unseen"].to_list()
        if unseen:
            where = f"in {len(unseen):,} of {counted(len(first), 'sample')}, up to {max(unseen):,} {who}"
            got = "were unseen in training, and got the mean weight of the others"
            yield f"{names[0]}{' and the like' * (len(names) > 1)}: {where} {got}"
    tried = first.select(*GROUP).unique().join(pl.DataFrame({"size": first["size"].unique()}), how="cross")
    lost = len(tried) * plan.samples - len(first)
    if lost:
        yield f"{counted(lost, 'sample')} left out, whose k-tuple graded nothing that is evaluated"
    short = first.filter(pl.col("topics") < pl.col("topics").max().over(GROUP))
    if len(short):
        yield f"in {counted(len(short), 'sample')} the k-tuple graded nothing in some test topics, which were left out"


def conclude(findings: SupervisedFindings) -> str:
    """Who leads where, how far above the baseline and above the best of another kind, and how sure that is."""
    told = [_conclude_place(findings, place) for place in findings.places[:MOST_PLACES]]
    more = len(findings.places) - MOST_PLACES
    if more > 0:
        told.append(f"{more} more are in the tables.")
    return " ".join(told)


def name_place(findings: SupervisedFindings, place: Place) -> str:
    """As in the paper, T08-whole; with the panel where there are several."""
    several = len({other.panel for other in findings.places}) > 1
    return f"{place.systems}-{place.configuration}" + (f", {place.panel}" if several else "")


def name_sizes(sizes: Sequence[int]) -> str:
    """Sizes in words.

    >>> name_sizes([2, 3, 4]), name_sizes([2, 5])
    ('k = 2-4', 'k = 2, 5')
    """
    if len(sizes) > 2 and list(sizes) == list(range(sizes[0], sizes[-1] + 1)):
        return f"k = {sizes[0]}-{sizes[-1]}"
    return f"k = {', '.join(map(str, sizes))}"


def _conclude_place(findings: SupervisedFindings, place: Place) -> str:
    measure = findings.plan.measures[0]
    same = [pl.col(key) == value for key, value in zip(GROUP, place, strict=True)]
    means = findings.overall.filter(pl.col("outcome") == "tau_ap", pl.col("measure") == measure, *same)
    ordered = means.sort("mean", descending=True, maintain_order=True)["approach"].to_list()
    leader, family = ordered[0], find_family(ordered[0])
    value = means.filter(pl.col("approach") == leader)["mean"].item()
    others = [name for name in ordered if find_family(name) != family]
    rivals = dict.fromkeys(name for name in (findings.baseline, *others[:1]) if name != leader)
    sizes = sorted(findings.frame.filter(*same)["size"].unique())
    text = f"{name_place(findings, place)}: {leader} leads with tau_ap {value:.3f} on average over {name_sizes(sizes)}"
    gaps = [
        _tell_gap(findings.compare(leader, rival, place), rival, rival == others[0] if others else False)
        for rival in rivals
    ]
    return f"{text}, {' and '.join(gaps)}." if gaps else f"{text}."


def _tell_gap(gap: Mean, rival: str, other: bool) -> str:
    best = f", the best of {find_family(rival)}" if other else ""
    if gap.low != gap.low:  # a single sample
        return f"{gap.value:.3f} above {rival}{best}"
    sure = "excludes" if gap.low > 0 else "includes"
    return f"{gap.value:.3f} above {rival}{best} (95 % interval {gap.low:.3f} to {gap.high:.3f}, which {sure} 0)"
