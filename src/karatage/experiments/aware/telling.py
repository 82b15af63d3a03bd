"""What to say about the AWARE experiment: whether the paper's order holds here, and the closing sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from karatage.experiments.aware.analysis import APPROACH, GAP, GRANULARITY, SIZE, WEIGHT, Analysis
from karatage.experiments.aware.families import find_baseline
from karatage.experiments.square.telling import list_ranges, short
from karatage.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from karatage.comparison.tukey import Tukey
    from karatage.data.axes import FloatArray
    from karatage.experiments.aware.findings import AwareFindings

STATE_OF_THE_ART = ("mv", "emmv", "emneu")
# [AWARE17] table 5: the top groups that it found.
TOP = {
    ("tau_ap", APPROACH): "sgl_tau_msd",
    ("rmse", APPROACH): "sgl_rmse_med",
    ("tau_ap", GRANULARITY): "sgl and tpc",
    ("rmse", GRANULARITY): "sgl",
    ("tau_ap", GAP): "apc and tau",
    ("rmse", GAP): "fro and kld",
    ("tau_ap", WEIGHT): "md and med",
    ("rmse", WEIGHT): "med",
}
MOST_NAMED = 5
LEVEL = 0.05


class Claim(NamedTuple):
    """A finding of the paper, and whether it is found here, too."""

    panel: str
    outcome: str
    claim: str
    holds: bool | None  # None: what is there cannot be told from the opposite
    here: str


def frame_claims(findings: AwareFindings) -> pl.DataFrame:
    """The paper's order of approaches, point by point, on this collection."""
    rows = [claim for analysis in findings.analyses.found for claim in _list_claims(findings, analysis)]
    types = (pl.String, pl.String, pl.String, pl.Boolean, pl.String)
    return pl.DataFrame(rows, schema=dict(zip(Claim._fields, types, strict=True)), orient="row")


def _list_claims(findings: AwareFindings, analysis: Analysis) -> Iterator[Claim]:
    panel, outcome = analysis.panel, analysis.outcome
    for test in analysis.groups:
        here = f"top group: {_name_some(test.top_group)}"
        paper = TOP[outcome, test.factor]
        if test.factor != APPROACH:
            holds = set(paper.split(" and ")) == set(test.top_group)
            yield Claim(panel, outcome, f"the top group of {test.factor} is {paper}", holds, here)
            continue
        if paper in test.levels:
            yield Claim(panel, outcome, f"{paper} is in the top group", paper in test.top_group, here)
        merged = [name for name in STATE_OF_THE_ART if name in test.levels]
        if merged:
            inside = [name for name in merged if name in test.top_group]
            found = f"in it: {_name_some(inside)}" if inside else "none is in it"
            yield Claim(panel, outcome, f"not in the top group: {_name_some(merged)}", not inside, found)
        yield from _compare_means(panel, outcome, test)
    if outcome == "tau_ap" and len(findings.sizes) > 1:
        table = analysis.whole.to_frame()
        p = table.filter(pl.col("source") == SIZE)["p_value"].to_list()
        yield from _compare_sizes(findings, panel, sure=bool(p) and p[0] is not None and p[0] < LEVEL)


def _compare_means(panel: str, outcome: str, test: Tukey) -> Iterator[Claim]:
    mean = dict(zip(test.levels, test.mean.tolist(), strict=True))
    order = test.levels.index
    if set(STATE_OF_THE_ART) <= set(mean):
        here = ", ".join(f"{name} {short(mean[name])}" for name in STATE_OF_THE_ART)
        best = min(STATE_OF_THE_ART, key=order)
        second = sorted(STATE_OF_THE_ART, key=order)[1]
        sure = bool(test.differs[order(best), order(second)])
        yield Claim(panel, outcome, "mv is the best of mv, emmv and emneu", best == "mv" if sure else None, here)
    if {"uniform", "mv"} <= set(mean):
        here = f"uniform {short(mean['uniform'])}, mv {short(mean['mv'])}"
        sure = bool(test.differs[order("uniform"), order("mv")])
        yield Claim(panel, outcome, "uniform is ahead of mv", order("uniform") < order("mv") if sure else None, here)


def _compare_sizes(findings: AwareFindings, panel: str, *, sure: bool) -> Iterator[Claim]:
    by_size = _average(findings, panel)  # (size, approach)
    whole = by_size.mean(axis=1)
    here = f"{short(whole[0])} with {findings.sizes[0]}, {short(whole[-1])} with {findings.sizes[-1]}"
    yield Claim(panel, "tau_ap", "larger k-tuples are better", bool(whole[-1] > whole[0]) if sure else None, here)
    if {"uniform", "mv"} <= set(findings.approaches):
        uniform, vote = (by_size[:, findings.approaches.index(name)] for name in ("uniform", "mv"))
        ahead = [size for size, lead in zip(findings.sizes, uniform > vote, strict=True) if lead]
        holds = findings.sizes[0] in ahead and findings.sizes[-1] not in ahead
        here = f"uniform is ahead at {list_ranges(ahead)}" if ahead else "mv is ahead at all sizes"
        yield Claim(panel, "tau_ap", "uniform leads small k-tuples, mv large ones", holds, here)


def _average(findings: AwareFindings, panel: str) -> FloatArray:
    """Mean tau_ap over systems and measures, (size, approach)."""
    found: FloatArray = findings.mean[:, findings.panels.index(panel), :, :, 1].mean(axis=(0, 1))
    return found


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def conclude(findings: AwareFindings) -> str:
    """Which approach comes nearest to gold's ranking, how merging scores fares against merging grades, and where."""
    sizes = list_ranges(findings.sizes)
    start = f"tau_ap to gold with k-tuples of {sizes} out of {counted(len(findings.judges), 'judge')}"
    over = [counted(len(found), word) for found, word in ((findings.measures, "measure"),) if len(found) > 1]
    start += f", mean over {over[0]}" if over else f" ({findings.measures[0]})"
    said = [f"{_name_panel(panel, findings)}{_say_best(findings, panel)}" for panel in findings.ends]
    return f"{start}: {'; '.join(said)}.{_say_crossings(findings)}"


def _name_panel(panel: str, findings: AwareFindings) -> str:
    return f"{panel}: " if len(findings.panels) > 1 else ""


def _say_best(findings: AwareFindings, panel: str) -> str:
    value = _average(findings, panel).mean(axis=0)
    best = int(np.argmax(value))
    said = f"best is {findings.approaches[best]} with {short(value[best])}"
    baseline = find_baseline(findings)
    scores = [k for k, contender in enumerate(findings.contenders) if contender.merges_scores]
    if baseline is None or not scores:
        return said
    if best not in scores:
        merge = max(scores, key=lambda k: value[k])
        said += f", best merge of scores {findings.approaches[merge]} with {short(value[merge])}"
    if findings.approaches[best] != baseline:
        said += f", {baseline} {short(value[findings.approaches.index(baseline)])}"
    return said


def _say_crossings(findings: AwareFindings) -> str:
    """From which correlation of errors on merging scores is better, if several were simulated."""
    found = findings.crossings
    if found.is_empty():
        return ""
    crossing = found.filter(verdict="scores overtake")
    baseline = find_baseline(findings)
    if crossing.is_empty():
        counts = found["verdict"].value_counts().sort("count", descending=True)
        return f" Whatever the correlation of errors tried, {counts['verdict'][0]} of {baseline} in most places."
    places = sorted(crossing["crossing"])
    share = f"{len(crossing)} of {len(found)} measures and sizes"
    between = f"{short(places[0])} and {short(places[-1])}"
    return f" Merging scores overtakes {baseline} at an error correlation between {between}, in {share}."
