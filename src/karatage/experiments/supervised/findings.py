"""What the s-AWARE experiment found, in the layout of [SAWARE20] table 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray
from karatage.data.checks import AMOUNT, CORRELATION, COUNT, TEXT, Column, require_known, require_table
from karatage.data.codec import Columns
from karatage.data.result import Result, list_versions
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.supervised.plan import UNIFORM, SupervisedPlan, find_family
from karatage.experiments.supervised.telling import conclude

CONFIDENCE = 0.95
OUTCOMES = ("tau_ap", "tau", "rmse")
LOWER_IS_BETTER = frozenset({"rmse"})
PLACE = ("systems", "panel", "configuration")
SAMPLES = {**dict.fromkeys((*PLACE, "measure", "approach"), TEXT), "size": Column("int64", 1), "rmse": AMOUNT}
SAMPLES |= {**dict.fromkeys(("sample", "topics", "unseen"), COUNT), "tau": CORRELATION, "tau_ap": CORRELATION}


class Place(NamedTuple):
    """Who was judged by whom: a set of systems, a panel, and whether its judges were whole or partitioned."""

    systems: str
    panel: str
    configuration: str


class Mean(NamedTuple):
    """A mean over samples with its 95 % interval; NaN where one sample cannot tell."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SupervisedFindings(Result, kind="supervised"):
    """tau_ap, tau and RMSE of leaderboards against gold's, over samples.

    A sample is a k-tuple of judges and a split of gold. Intervals are about other such samples of the same collection;
    they say nothing of other judges, topics or systems.
    """

    derived = ("sentence", "baseline", "summary", "overall")
    unsaved = ("log",)

    plan: SupervisedPlan
    collection: str
    frame: Columns  # a row for each place, size, sample, measure and approach
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)
    log: tuple[str, ...] = ()  # of this run: what an earlier one had done, files that were damaged

    def __post_init__(self) -> None:
        """Refuse a table that is none, and rows that do not come sample by sample, approach by approach."""
        require_table("samples", self.frame, SAMPLES)
        names, width = self.plan.names, len(self.plan.names)
        if self.frame.is_empty() or self.frame["approach"].to_list() != list(names) * (len(self.frame) // width):
            raise DataError("samples: the approaches of each sample are not those of the plan, in its order")
        keys = (*PLACE, "measure", "size", "sample")
        if (self.frame.select(keys).unique(maintain_order=True).height * width) != len(self.frame):
            raise DataError("samples: a sample does not have one row for each approach")
        known = {"measure": self.plan.measures, "configuration": self.plan.configurations}
        for column, offered in known.items():
            require_known(f"samples: {column}", self.frame[column].unique(), offered, f"plan's {column}s")

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where approaches were tried, in order."""
        return tuple(Place(*row) for row in self.frame.select(PLACE).unique(maintain_order=True).iter_rows())

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Of the k-tuples."""
        return tuple(self.frame["size"].unique().sort())

    @property
    def baseline(self) -> str:
        """What others are compared with: uniform, or else the first approach."""
        return UNIFORM if UNIFORM in self.plan.names else self.plan.names[0]

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per place, measure, size, approach and outcome.

        The mean over samples with its standard error and 95 % interval, and how far it is above the baseline in the
        same samples, with a 95 % interval.
        """
        return self._summarise([(size,) for size in self.sizes])

    @cached_property
    def overall(self) -> pl.DataFrame:
        """The same with all sizes together, each counting alike; `size` is null."""
        return self._summarise([self.sizes])

    def _summarise(self, groups: Sequence[tuple[int, ...]]) -> pl.DataFrame:
        rows: list[tuple[object, ...]] = []
        for place in self.places:
            for measure in self.plan.measures:
                for sizes in groups:
                    for outcome in OUTCOMES:
                        rows += self._summarise_group(place, measure, sizes, outcome)
        numbers = ("mean", "standard_error", "low", "high", "gap", "gap_low", "gap_high")
        schema = {
            **dict.fromkeys((*PLACE, "measure"), pl.String),
            "size": pl.Int64,
            **dict.fromkeys(("approach", "family", "outcome"), pl.String),
            "samples": pl.Int64,
            **dict.fromkeys(numbers, pl.Float64),
        }
        return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(numbers).fill_nan(None))

    def _summarise_group(
        self, place: Place, measure: str, sizes: tuple[int, ...], outcome: str
    ) -> Iterator[tuple[object, ...]]:
        tables = [found for size in sizes if len(found := self._look_up(place, measure, size, outcome))]
        if not tables:
            return
        base = self.plan.names.index(self.baseline)
        for n, name in enumerate(self.plan.names):
            mean = find_mean([table[:, n] for table in tables])
            gap = find_mean([table[:, n] - table[:, base] for table in tables])
            error = _find_error([table[:, n] for table in tables])
            size = sizes[0] if len(sizes) == 1 else None
            about = (*place, measure, size, name, find_family(name), outcome, sum(map(len, tables)))
            yield *about, mean.value, error, mean.low, mean.high, *gap

    def _look_up(self, place: Place, measure: str, size: int, outcome: str) -> FloatArray:
        """Values (sample, approach)."""
        found = self._values.get((*place, measure, size))
        if found is None:
            return np.empty((0, len(self.plan.names)))
        return found[outcome]

    @cached_property
    def _values(self) -> dict[tuple[object, ...], dict[str, FloatArray]]:
        keys, width = (*PLACE, "measure", "size"), len(self.plan.names)
        groups = self.frame.group_by(keys, maintain_order=True)
        # Rows come sample by sample, and in each approach by approach.
        return {key: {name: part[name].to_numpy().reshape(-1, width) for name in OUTCOMES} for key, part in groups}

    def compare(
        self, first: str, second: str, place: Place, *, measure: str | None = None, outcome: str = "tau_ap"
    ) -> Mean:
        """The mean difference of two approaches over the same samples of all sizes, first less second."""
        a, b = (self._find(name) for name in (first, second))
        asked = measure or self.plan.measures[0]
        tables = [self._look_up(place, asked, size, _check_outcome(outcome)) for size in self.sizes]
        return find_mean([table[:, a] - table[:, b] for table in tables if len(table)])

    def table(self, *, measure: str | None = None, outcome: str = "tau_ap") -> pl.DataFrame:
        """[SAWARE20] table 1: a row for each place and size of k-tuple, a column for each approach."""
        chosen = self.summary.filter(
            pl.col("measure") == (measure or self.plan.measures[0]), pl.col("outcome") == _check_outcome(outcome)
        )
        return chosen.pivot("approach", index=[*PLACE, "size"], values="mean", maintain_order=True)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by the names of their files."""
        several = len(self.plan.measures) > 1
        found = {}
        for n, measure in enumerate(self.plan.measures, 1):
            for outcome in OUTCOMES:
                name = "table1" if outcome == OUTCOMES[0] else f"table1-{outcome}"
                found[name + f"-{n}" * several] = self.table(measure=measure, outcome=outcome)
        return {**found, "means": self.summary, "overall": self.overall}

    @property
    def sentence(self) -> str:
        """What to take away."""
        return conclude(self)

    def __repr__(self) -> str:
        return f"SupervisedFindings({self.sentence})"

    def to_frame(self) -> pl.DataFrame:
        """The same as `frame`."""
        return self.frame

    def _find(self, name: str) -> int:
        if name not in self.plan.names:
            raise UnknownNameError("approach", name, self.plan.names)
        return self.plan.names.index(name)


def find_mean(groups: Sequence[FloatArray]) -> Mean:
    """The mean of the groups' means; samples are drawn anew in each group, so that its variance is theirs summed."""
    from scipy.special import stdtrit

    value, error = float(np.mean([group.mean() for group in groups])), _find_error(groups)
    freedom = sum(len(group) - 1 for group in groups)
    half = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error if freedom > 0 else float("nan")
    return Mean(value, value - half, value + half)


def _find_error(groups: Sequence[FloatArray]) -> float:
    if min(len(group) for group in groups) < 2:
        return float("nan")
    return float(np.sqrt(sum(group.var(ddof=1) / len(group) for group in groups)) / len(groups))


def _check_outcome(outcome: str) -> str:
    if outcome not in OUTCOMES:
        raise OptionError(f"outcome '{outcome}' is none of {', '.join(OUTCOMES)}")
    return outcome
