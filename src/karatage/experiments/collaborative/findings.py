"""Findings of the collaborative experiment, in the layout of [COLLAB14]'s figures and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from karatage.data.alignment import require_data
from karatage.data.axes import FloatArray
from karatage.data.checks import AMOUNT, COUNT, SHARE, SLACK, TEXT, maybe, require_numbers
from karatage.data.codec import Columns
from karatage.data.estimate import t_quantile
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.options import CONFIDENCE
from karatage.data.result import Result
from karatage.data.runs import Runs
from karatage.experiments.collaborative.cells import STUDIES, Ground, absorb, list_cells, list_first, prepare
from karatage.experiments.collaborative.lesson import RATES, OtherJudges, Predicted
from karatage.experiments.collaborative.plan import DEPTH, CollaborativePlan
from karatage.experiments.engine import (
    Execution,
    Experiment,
    Findings,
    Results,
    TableRule,
    count_loose,
    frame_rows,
    run_experiment,
    stack_cells,
)
from karatage.experiments.notes import tell
from karatage.io.files import PathLike
from karatage.text import counted

ABOVE, BELOW, OPEN = "above", "below", "undecided"
LIMITS = {"tau_ap": 1.0, "gap": 2.0}  # of quantities that have intervals
SPREADS = ("low", "high", "topics_low", "topics_high")
TARGET = 0.9  # of tau_ap, at which costs are compared
VOTE = "mv"
MIDDLE = 16.0  # % of the pool, at which orders are compared where that was tried
PLACE = ("order", "crowd", "ratio")
FEW_TOPICS = 25
_FACTS = {"area": SHARE, "topics_above": COUNT, "topics_below": COUNT}
AREAS = TableRule({"order": TEXT, "sample": COUNT, **_FACTS}, ("order", "sample"))
REACH = {**dict.fromkeys(PLACE, TEXT), **dict.fromkeys(("cost", "experts", "crowd_share", "alone"), maybe(AMOUNT))}
_ENDS = (("gap_low", "gap_high"), ("gap_topics_low", "gap_topics_high"))


def find_interval(values: FloatArray) -> tuple[float | None, float | None]:
    """A 95% t interval of the mean over samples; None for one sample."""
    if len(values) < 2:
        return None, None
    half = t_quantile((1 + CONFIDENCE) / 2, len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def find_topic_interval(value: float, errors: Sequence[float | None], topics: int) -> tuple[float | None, float | None]:
    """A 95% t interval over topics, for one crowd: the mean of samples' variances, not divided by their number."""
    known = [error for error in errors if error is not None]
    if not known or topics < 2:
        return None, None
    half = t_quantile((1 + CONFIDENCE) / 2, topics - 1) * math.sqrt(float(np.square(known).mean()))
    return value - half, value + half


def decide(low: float | None, high: float | None) -> str | None:
    """Whether the interval of a difference is above 0, below, or neither; None without an interval."""
    if low is None or high is None:
        return None
    return ABOVE if low > 0 else BELOW if high < 0 else OPEN


def summarise(
    frame: pl.DataFrame, keys: Sequence[str], quantities: Mapping[str, str | None], topics: int
) -> pl.DataFrame:
    """A row for each group of samples: means of all quantities, and intervals of some.

    `quantities` are columns, each with the column of its standard error over topics, or None for no intervals.
    """
    schema = pl.Schema({key: frame.schema[key] for key in keys} | {"samples": pl.Int64()})
    schema |= dict.fromkeys(_name_columns(quantities), pl.Float64())
    rows = []
    for key, group in frame.group_by(keys, maintain_order=True):
        row: list[object] = [*key, len(group)]
        for name, error in quantities.items():
            values = group[name].to_numpy()
            mean = float(values.mean())
            row.append(mean)
            if error is not None:
                ends = [*find_interval(values), *find_topic_interval(mean, group[error].to_list(), topics)]
                row += [end if end is None else min(max(end, -LIMITS[name]), LIMITS[name]) for end in ends]
        rows.append(row)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _name_columns(quantities: Mapping[str, str | None]) -> list[str]:
    return [
        column
        for name, error in quantities.items()
        for column in (name, *(f"{name}_{spread}" for spread in SPREADS if error is not None))
    ]


def conclude(findings: CollaborativeFindings) -> str:
    """Which mixes are worth their cost; or, if that was not studied, which orders and approaches are best."""
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
    best = f"{first['order']} is closest to full judging, tau_ap {first['tau_ap']:.3f}"
    text = f"Experts alone on {share:g}% of the pool: {best}"
    if first["order"] == DEPTH:
        return f"{text}."
    gap = _tell_gap(first["gap"], first["gap_topics_low"], first["gap_topics_high"])
    return f"{text}; difference from depth {gap} over topics."


def _tell_finding(findings: CollaborativeFindings) -> str:
    found = findings.finding_means.sort("area", descending=True, maintain_order=True)
    first = found.row(0, named=True)
    text = f"Relevant documents are found earliest by {first['order']}, area {first['area']:.3f}"
    depth = found.filter(order=DEPTH)
    if first["order"] == DEPTH or not len(depth):
        return f"{text}."
    above = f"earlier in {first['topics_above']:.3g} of {counted(findings.topics, 'topic')}"
    return f"{text}, against {depth['area'].item():.3f} by depth; {above}."


def _tell_consensus(findings: CollaborativeFindings, crowd: str, here: pl.DataFrame) -> str:
    means = here.group_by("approach", maintain_order=True).agg(pl.col("tau_ap").mean()).sort("tau_ap", descending=True)
    (best, high), (worst, low) = means.row(0), means.row(-1)
    share = f"with {findings.plan.fixed_share:g}% by the crowd {crowd}"
    if best == worst:
        return f"Merged by {best}, tau_ap is {high:.3f} on average over expert shares {share}."
    ends = f"{high:.3f} on average over expert shares; {worst} has the lowest, {low:.3f}"
    return f"Of {len(means)} approaches, {best} has the highest tau_ap {share}: {ends}."


def _tell_wins(findings: CollaborativeFindings, where: str, wins: pl.DataFrame, reach: pl.DataFrame) -> str:
    total, above, below = (int(wins[name].sum()) for name in ("mixes", ABOVE, BELOW))
    gap = f"mean gap {float((wins['gap'] * wins['mixes']).sum()) / total:+.3f}"
    if findings.plan.samples < 2:
        return f"{where}: {_tell_reach(reach)}; {total:,} mixes against experts alone at the same cost, {gap}."
    text = f"{above:,} of {total:,} mixes are better than experts alone at the same cost, {below:,} are worse"
    sure = f"95% intervals over {counted(findings.plan.samples, 'crowd')}"
    if findings.plan.resamples > 1:
        sure += f"; over topics {int(wins['topics_above'].sum()):,} and {int(wins['topics_below'].sum()):,}"
    return f"{where}: {_tell_reach(reach)}; {text} ({sure})."


def _tell_reach(reach: pl.DataFrame) -> str:
    mixed = reach.drop_nulls("cost").sort("cost", maintain_order=True)
    alone = reach.drop_nulls("alone").sort("alone", maintain_order=True)
    own = f"{alone['alone'][0]:.1%} with experts alone" if len(alone) else "more than was tried with experts alone"
    if not len(mixed):
        return f"no mix reaches a tau_ap of {TARGET:g}, which costs {own}"
    row = mixed.row(0, named=True)
    mix = f"{row['experts']:g}% experts + {row['crowd_share']:g}% crowd, {row['order']}"
    return f"a tau_ap of {TARGET:g} costs {row['cost']:.1%} of full judging with a mix ({mix}), {own}"


def _tell_gap(gap: float, low: float | None, high: float | None) -> str:
    return f"{gap:+.3f}" if low is None else f"{gap:+.3f} [{low:+.3f}, {high:+.3f}]"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CollaborativeFindings(Findings, Result, kind="collaborative"):
    """How close experts and crowds are to experts who judge the whole pool, and what that costs.

    `orders` has a row for each order, sample and share of experts alone, `finding` the same in steps of 1%, and
    `areas` the area under the curve of relevant documents found. `mixes` has a row for each order, crowd, sample, mix,
    approach and ratio, with experts alone at the same cost. `quality` has one for each crowd, sample and approach on
    the whole pool. `predicted` is the model of the order `disagreement`, and its rates on the pool. A sample is a
    crowd, and a draw of a random order. Costs are shares of the cost of full expert judging.
    """

    derived = ("sentence", "tables")
    optional = ("predicted",)

    plan: CollaborativePlan
    items: int
    relevant: float  # share of them
    topics: int
    systems: int
    orders: Columns
    finding: Columns
    areas: Columns
    mixes: Columns
    quality: Columns
    predicted: Predicted | None = None

    def __post_init__(self) -> None:
        """Refuse tables with other columns or values, and names that are not the plan's."""
        known = {
            "order": self.plan.orders,
            "crowd": (*self.plan.crowds, *self.plan.tabled),
            "approach": (self.plan.approach, *self.plan.approaches),
            "ratio": self.plan.ratios,
        }
        for study, rule in STUDIES.items():
            self.check_table(study, rule, known)
        if "finding" in self.plan.studies or len(self.areas):
            self.check_table("areas", AREAS, known)
        for name in ("items", "topics", "systems"):
            require_numbers(name, getattr(self, name), 1)
        require_numbers("relevant", self.relevant, 0, 1)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Everything, in long form."""
        parts = []
        for study, (_, key) in STUDIES.items():
            table: pl.DataFrame = getattr(self, study)
            numbers = [name for name in table.columns if name not in key]
            long = table.unpivot(numbers, index=key, variable_name="quantity", value_name="value")
            parts.append(long.select(pl.lit(study).alias("study"), *key, "quantity", pl.col("value").cast(pl.Float64)))
        return pl.concat(parts, how="diagonal")

    @cached_property
    def order_means(self) -> pl.DataFrame:
        """[COLLAB14] figure 3.4: experts alone, by order and share; `gap` is the lead over depth in tau_ap."""
        wanted = {"judged": None, "found": None, "tau": None, "tau_ap": "error", "gap": "gap_error"}
        return summarise(self.orders, ("order", "experts"), wanted, self.topics)

    @cached_property
    def finding_means(self) -> pl.DataFrame:
        """How early relevant documents are found, by order: the area under the curve, at most 1.

        `topics_above` and `topics_below` count topics whose relevant documents come earlier, or later, than by depth.
        """
        if "finding" not in self.plan.studies:
            return pl.DataFrame(schema={"order": pl.String, "area": pl.Float64})
        means = [pl.col(name).mean() for name in ("area", "topics_above", "topics_below")]
        spans = [pl.col("area").min().alias("area_least"), pl.col("area").max().alias("area_most")]
        return self.areas.group_by("order", maintain_order=True).agg(*means, *spans)

    @cached_property
    def mix_means(self) -> pl.DataFrame:
        """Every mix and ratio: cost, tau_ap, experts `alone` at the same cost, and the `gap` between the two.

        `verdict` is above or below if the 95% interval over samples excludes 0, `topics_verdict` the same over topics.
        """
        keys = ("order", "crowd", "approach", "ratio", "experts", "crowd_share")
        wanted = {"cost": None, "tau": None, "tau_ap": "error", "alone": None, "gap": "gap_error"}
        found = summarise(self.mixes, keys, wanted, self.topics)
        told = [[decide(low, high) for low, high in found.select(*ends).rows()] for ends in _ENDS]
        names = ("verdict", "topics_verdict")
        return found.with_columns(
            pl.Series(name, words, dtype=pl.String) for name, words in zip(names, told, strict=True)
        )

    @cached_property
    def shares(self) -> pl.DataFrame:
        """[COLLAB14] figures 3.7 and 3.8: expert and crowd shares varied, the crowd merged by one approach."""
        asked = self.plan.crowd_shares if "shares" in self.plan.studies else ()
        return self.mix_means.filter(pl.col("approach") == self.plan.approach, pl.col("crowd_share").is_in(asked))

    @cached_property
    def consensus(self) -> pl.DataFrame:
        """[COLLAB14] figure 3.6: approaches compared, the crowd's share fixed.

        `lead` is the difference in tau_ap from the first approach, for the same crowds, with its interval over samples.
        """
        asked = self.plan.approaches if "consensus" in self.plan.studies else ()
        chosen = [pl.col("crowd_share") == self.plan.fixed_share, pl.col("approach").is_in(asked)]
        keys = ["order", "crowd", "ratio", "experts"]
        every = self.mixes.filter(*chosen)
        first = every.filter(pl.col("approach") == self.plan.approaches[0])
        paired = every.join(first.select(*keys, "sample", first="tau_ap"), on=[*keys, "sample"])
        rows = [
            (*key, float(lead.mean()), *find_interval(lead))
            for key, group in paired.group_by(*keys, "approach", maintain_order=True)
            for lead in [(group["tau_ap"] - group["first"]).to_numpy()]
        ]
        schema = pl.Schema({key: self.mixes.schema[key] for key in (*keys, "approach")})
        schema |= dict.fromkeys(("lead", "lead_low", "lead_high"), pl.Float64())
        leads = pl.DataFrame(rows, schema=schema, orient="row")
        means = self.mix_means.filter(*chosen)
        return means.join(leads, on=[*keys, "approach"], maintain_order="left")

    @cached_property
    def quality_means(self) -> pl.DataFrame:
        """Recall, precision and accuracy of each crowd's merged grades on the whole pool: means over samples."""
        numbers = [pl.col(name).mean() for name in ("recall", "precision", "accuracy")]
        spread = [pl.col(name).std().alias(f"{name}_spread") for name in ("recall", "precision")]
        return self.quality.group_by("crowd", "approach", maintain_order=True).agg(*numbers, *spread)

    @cached_property
    def table33(self) -> pl.DataFrame:
        """[COLLAB14] table 3.3: recall (R) and precision (P) in %, a column for each approach."""
        long = self.quality_means.unpivot(["recall", "precision"], index=["crowd", "approach"], variable_name="rate")
        wide = long.with_columns(pl.col("value") * 100).pivot(
            "approach", index=["crowd", "rate"], values="value", maintain_order=True
        )
        place = pl.col("crowd").replace_strict({name: k for k, name in enumerate(self.plan.tabled)}, default=0)
        return wide.sort(place, maintain_order=True).with_columns(
            pl.col("rate").replace({"recall": "R", "precision": "P"})
        )

    @cached_property
    def table32(self) -> pl.DataFrame:
        """[COLLAB14] table 3.2: the majority vote's R, P, specificity (SPC) and NPV in %, a row for each crowd.

        Errors are what recall and accuracy leave: relevant documents missed, and false alarms. Means over samples.
        """
        relevant, error = self.relevant, 1 - pl.col("accuracy")
        missed = (1 - pl.col("recall")) * relevant
        rejected = 1 - relevant - (error - missed)
        called = rejected + missed
        rates = {
            "R": pl.col("recall"),
            "P": pl.col("precision"),
            "SPC": rejected / (1 - relevant) if relevant < 1 else pl.lit(None, pl.Float64),
            "NPV": pl.when(called > SLACK).then(rejected / called),
        }
        found = self.quality.filter(approach=VOTE).select("crowd", **{name: 100 * rate for name, rate in rates.items()})
        return found.group_by("crowd", maintain_order=True).mean().select("crowd", pl.col(list(rates)).clip(0, 100))

    @cached_property
    def wins(self) -> pl.DataFrame:
        """For each order, crowd and ratio, how many mixes are better or worse than experts alone at the same cost.

        `gap` is the mean over mixes; costs are the ranges of better and of worse ones.
        """
        counts = [
            (pl.col(column) == word).sum().cast(pl.Int64).alias(f"{prefix}{word}")
            for column, prefix in (("verdict", ""), ("topics_verdict", "topics_"))
            for word in (ABOVE, BELOW, OPEN)
        ]
        spans = [
            getattr(pl.col("cost").filter(pl.col("verdict") == word), end)().alias(f"{word}_{end}")
            for word in (ABOVE, BELOW)
            for end in ("min", "max")
        ]
        grouped = self.shares.group_by(PLACE, maintain_order=True)
        return grouped.agg(pl.len().cast(pl.Int64).alias("mixes"), *counts, pl.col("gap").mean(), *spans)

    @cached_property
    def alone_means(self) -> pl.DataFrame:
        """Experts alone in steps of 1% of the pool: relevant documents found, tau and tau_ap, means over samples."""
        numbers = [pl.col(name).mean() for name in ("found", "tau", "tau_ap")]
        return self.finding.group_by("order", "judged", maintain_order=True).agg(*numbers)

    def reach(self, target: float = TARGET) -> pl.DataFrame:
        """The lowest cost at which the mean tau_ap is `target` or more: by a mix, and by experts alone in whole %.

        Null if no mix reaches it. The lowest of many noisy costs is slightly too low.
        """
        rows = []
        for place, here in self.shares.group_by(PLACE, maintain_order=True):
            mixes = here.filter(pl.col("tau_ap") >= target).sort("cost", maintain_order=True)
            alone = self.alone_means.filter(pl.col("order") == place[0], pl.col("tau_ap") >= target)["judged"]
            first = mixes.row(0, named=True) if len(mixes) else {}
            mix = [first.get(name) for name in ("cost", "experts", "crowd_share")]
            rows.append((*place, *mix, min(alone.to_list(), default=None)))
        return frame_rows(rows, REACH)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by the names of their files."""
        found = {
            "orders": self.order_means,
            "finding": self.finding_means,
            "curves": self.alone_means,
            "shares": self.shares,
            "wins": self.wins,
            "reach": self.reach(),
            "consensus": self.consensus,
            "table33": self.table33,
        }
        return {name: table for name, table in found.items() if len(table)}

    @property
    def sentence(self) -> str:
        """The conclusion."""
        return conclude(self)


def experiment_collaborative(
    runs: Runs,
    gold: Judgments,
    plan: CollaborativePlan | None = None,
    *,
    others: OtherJudges | None = None,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> CollaborativeFindings:
    """Let experts judge the top of a queue and a simulated crowd the next part; compare with experts judging all.

    Gold has the experts' grades, which are taken as correct; documents without gold are not in the pool.

    For the order `disagreement`, a model is learned from gold and other judges: from the lesson, another collection;
    or without one, from judgments of this pool. A topic never gets its own model. With both, the model that was learned
    from the lesson is tried on the judgments.

    Args:
        runs: The systems.
        gold: The experts' grades of the pool's documents.
        plan: The design; default: the thesis'.
        others: Other judges than gold's.
        output: A folder in which each cell's result is stored as Parquet, for the next run.
        execution: How many processes, whether to ignore stored results, and a callback for progress.
    """
    judgments, lesson = others or OtherJudges()
    require_data("judgments", runs=runs, gold=gold, judgments=judgments)
    if lesson is not None:
        require_data(**lesson._asdict())
    material = (runs, gold, judgments, lesson)
    return run_experiment(COLLABORATIVE, *material, plan=plan, output=output, execution=execution)


def _sum_up(ground: Ground, results: Results) -> CollaborativeFindings:
    stacked = {study: stack_cells(results, rule.columns, study) for study, rule in STUDIES.items()}
    areas = [
        (cell.key["order"], cell.key["sample"], *(outcome.facts[name] for name in _FACTS))
        for cell, outcome in results
        if cell.key["study"] == "finding"
    ]
    return CollaborativeFindings(
        plan=ground.plan,
        items=ground.items,
        relevant=float((ground.grade > 0).mean()),
        topics=len(ground.alignment.topics),
        systems=len(ground.alignment.systems),
        areas=frame_rows(areas, AREAS.columns) if areas else pl.DataFrame(),
        orders=stacked["orders"],
        finding=stacked["finding"],
        mixes=stacked["mixes"],
        quality=stacked["quality"],
        predicted=_find_predicted(ground),
        notes=tuple(dict.fromkeys([*ground.notes, *_tell_limits(ground, results)])),
    )


def _find_predicted(ground: Ground) -> Predicted | None:
    if ground.model is None:
        return None
    return Predicted(model=ground.model, rates=frame_rows((), RATES) if ground.rates is None else ground.rates)


def _tell_limits(ground: Ground, results: Results) -> Iterator[Note]:
    samples, topics = ground.plan.samples, len(ground.alignment.topics)
    if ground.plan.resamples > 1:
        yield tell("over-samples-topics", samples=samples, topics=topics)
    else:
        yield tell("over-samples", samples=samples)
    yield from tell.when(topics < FEW_TOPICS, "few-topics", topics=topics)
    yield from tell.when(ground.missed, "never-retrieved", documents=ground.missed)
    for approach, loose in count_loose(outcome for _, outcome in results).items():
        yield from tell.when(loose, "loose-fits", approach=approach, loose=loose)


COLLABORATIVE = Experiment(
    kind="collaborative",
    plan=CollaborativePlan,
    prepare=prepare,
    list_first=list_first,
    absorb=absorb,
    list_cells=list_cells,
    sum_up=_sum_up,
)
