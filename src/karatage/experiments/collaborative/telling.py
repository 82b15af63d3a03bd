"""What the collaborative experiment is summed up in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.collaborative.plan import DEPTH
from karatage.experiments.collaborative.summing import ABOVE, BELOW
from karatage.text import counted

if TYPE_CHECKING:
    from karatage.experiments.collaborative.findings import CollaborativeFindings

TARGET = 0.9  # of tau_ap, at which costs are compared
MIDDLE = 16.0  # % of the pool, at which orders are compared where that was tried


def conclude(findings: CollaborativeFindings) -> str:
    """Where mixing pays; or, if that was not studied, which order leads, what finds soonest, what merges best."""
    return " ".join(_tell_mixes(findings) if len(findings.wins) else _tell_parts(findings))


def _tell_mixes(findings: CollaborativeFindings) -> Iterator[str]:
    reach = findings.reach()
    for (crowd, ratio), here in findings.wins.group_by(["crowd", "ratio"], maintain_order=True):
        yield _tell_wins(findings, f"Crowd {crowd} at {ratio}", here, reach.filter(crowd=crowd, ratio=ratio))


def _tell_parts(findings: CollaborativeFindings) -> Iterator[str]:
    if len(findings.order_means):
        yield _tell_orders(findings)
    if len(findings.finding_means):
        yield _tell_finding(findings)
    for (crowd,), here in findings.consensus.group_by(["crowd"], maintain_order=True):
        yield _tell_consensus(findings, str(crowd), here)


def _tell_orders(findings: CollaborativeFindings) -> str:
    shares = findings.order_means["experts"].unique().sort().to_list()
    share = min(shares, key=lambda tried: abs(tried - MIDDLE))
    here = findings.order_means.filter(experts=share).sort("tau_ap", descending=True, maintain_order=True)
    first = here.row(0, named=True)
    text = f"Experts alone on {share:g} % of the pool: {first['order']} comes nearest, tau_ap {first['tau_ap']:.3f}"
    if first["order"] == DEPTH:
        return f"{text}."
    gap = _tell_gap(first["gap"], first["gap_topics_low"], first["gap_topics_high"])
    return f"{text}, {gap} from depth over topics."


def _tell_finding(findings: CollaborativeFindings) -> str:
    found = findings.finding_means.sort("area", descending=True, maintain_order=True)
    first = found.row(0, named=True)
    text = f"Relevant documents are found soonest by {first['order']}, area {first['area']:.3f}"
    depth = found.filter(order=DEPTH)
    if first["order"] == DEPTH or not len(depth):
        return f"{text}."
    above = f"sooner in {first['topics_above']:.3g} of {counted(findings.topics, 'topic')}"
    return f"{text}; by depth {depth['area'].item():.3f}, {above}."


def _tell_consensus(findings: CollaborativeFindings, crowd: str, here: pl.DataFrame) -> str:
    means = here.group_by("approach", maintain_order=True).agg(pl.col("tau_ap").mean()).sort("tau_ap", descending=True)
    (best, high), (worst, low) = means.row(0), means.row(-1)
    share = f"with {findings.plan.fixed_share:g} % by the crowd {crowd}"
    if best == worst:
        return f"Merged by {best}, tau_ap is {high:.3f} on average over expert shares {share}."
    ends = f"tau_ap {high:.3f} on average over expert shares, {worst} worst, {low:.3f}"
    return f"Of {len(means)} approaches {best} merges best {share}, {ends}."


def _tell_wins(findings: CollaborativeFindings, where: str, wins: pl.DataFrame, reach: pl.DataFrame) -> str:
    total, above, below = (int(wins[name].sum()) for name in ("mixes", ABOVE, BELOW))
    gap = f"mean gap {float((wins['gap'] * wins['mixes']).sum()) / total:+.3f}"
    if findings.plan.samples < 2:
        return f"{where}: {_tell_reach(reach)}; {total:,} mixes against experts alone at the same cost, {gap}."
    text = f"{above:,} of {total:,} mixes beat experts alone at the same cost, {below:,} fall short"
    sure = f"95 % intervals over {counted(findings.plan.samples, 'crowd')}"
    if findings.plan.resamples > 1:
        sure += f"; over topics {int(wins['topics_above'].sum()):,} and {int(wins['topics_below'].sum()):,}"
    return f"{where}: {_tell_reach(reach)}; {text} ({sure})."


def _tell_reach(reach: pl.DataFrame) -> str:
    mixed = reach.drop_nulls("cost").sort("cost", maintain_order=True)
    alone = reach.drop_nulls("alone").sort("alone", maintain_order=True)
    own = f"{alone['alone'][0]:.1%} with experts alone" if len(alone) else "more than was tried with experts alone"
    if not len(mixed):
        return f"no mix comes to a tau_ap of {TARGET:g}, which costs {own}"
    row = mixed.row(0, named=True)
    mix = f"{row['experts']:g} % experts + {row['crowd_share']:g} % crowd, {row['order']}"
    return f"a tau_ap of {TARGET:g} costs {row['cost']:.1%} of full judging if mixed ({mix}), {own}"


def _tell_gap(gap: float, low: float | None, high: float | None) -> str:
    return f"{gap:+.3f}" if low is None else f"{gap:+.3f} [{low:+.3f}, {high:+.3f}]"
