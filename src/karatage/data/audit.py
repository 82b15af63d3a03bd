"""What an audit of the judges found, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from karatage.data.axes import HIGHEST_GRADE
from karatage.data.checks import (
    AMOUNT,
    CORRELATION,
    COUNT,
    NUMBER,
    SHARE,
    TEXT,
    Column,
    maybe,
    require_equal,
    require_known,
    require_names,
    require_numbers,
    require_ordered,
    require_table,
)
from karatage.data.estimate import wilson_interval
from karatage.data.gold_errors import GoldErrors
from karatage.data.note import Note
from karatage.data.records import Remembered
from karatage.data.result import Result
from karatage.errors import DataError, OptionError
from karatage.text import counted, list_names, shorten

Regime = Literal["shared", "mixed", "independent", "unknown"]
SHARED = 0.1  # correlation of errors, among items of equal gold grade, at which infinitely many judges are worth ten
ENOUGH_GOLD = 100
GOLD_WANTED = 400  # a share is then known within 5 points
MOST_NAMES = 6
MOST_PAIRED = 100  # judges, whose pairs are always written down
MOST_SQUARED = 5_000  # judges, whose pairs are a square table
_ADVICE: dict[Regime, str] = {
    "shared": "they share errors, so more judges like these add little: add gold, or another kind of judge",
    "mixed": "they share some errors",
    "independent": "their errors are independent",
    "unknown": "",
}
_WAY: dict[Regime, str] = {
    "shared": ", and average scores rather than merge grades",
    "mixed": "; try both merging grades and averaging scores",
    "independent": ", so merge grades rather than average scores",
    "unknown": "",
}
BEST_JUDGE, BEST_MERGE = "best judge alone", "best merge"
FLAGS = ("constant", "random", "inverted", "copied")
TABLES: dict[str, dict[str, Column]] = {
    "judges": {"judge": TEXT, "items": COUNT, "coverage": SHARE, "flags": TEXT, "why": TEXT},
    "panel": {"statistic": TEXT, "value": maybe(NUMBER), "low": maybe(NUMBER), "high": maybe(NUMBER)},
    "pairs": {"judge": TEXT, "other": TEXT, "shared": COUNT},
    "merges": {
        "name": TEXT,
        **dict.fromkeys(("picked", "also_picked"), maybe(TEXT)),
        **dict.fromkeys(("accuracy", "low", "high"), SHARE),
        **dict.fromkeys(("kappa", "weighted_kappa", "gain"), maybe(CORRELATION)),
        **dict.fromkeys(("gain_low", "gain_high"), maybe(NUMBER)),
        **dict.fromkeys(("items", "shared", "topics"), COUNT),
    },
    "confusion": {
        "judge": TEXT,
        **dict.fromkeys(("gold", "grade", "items"), COUNT),
        **dict.fromkeys(("share", "share_low", "share_high"), SHARE),
    },
    "families": {
        "family": TEXT,
        "judges": COUNT,
        "error_correlation": maybe(CORRELATION),
        "effective_votes": maybe(AMOUNT),
    },
    "flags": {"judge": TEXT, "flag": TEXT, "other": maybe(TEXT), "why": TEXT},
}
_RATES = tuple(f"{rate}{end}" for rate in ("accuracy", "tpr", "tnr", "ppv") for end in ("", "_low", "_high"))
_LENIENCY = tuple(f"{of}leniency{end}" for of in ("", "gold_") for end in ("", "_low", "_high"))
ASIDE: dict[str, dict[str, Column]] = {  # columns that depend on what there is
    "judges": {
        "family": maybe(TEXT),
        **{f"share_{grade}": maybe(SHARE) for grade in range(HIGHEST_GRADE + 1)},
        **dict.fromkeys(("repeats", "gold_items"), COUNT),
        **dict.fromkeys(("self_agreement", "percent", "reliability", *_RATES), maybe(SHARE)),
        **dict.fromkeys(("kappa", "weighted_kappa", "gold_kappa", "gold_weighted_kappa"), maybe(CORRELATION)),
        **dict.fromkeys(_LENIENCY, maybe(NUMBER)),
    },
    "pairs": {
        "percent": SHARE,
        "gold_shared": COUNT,
        **dict.fromkeys(("kappa", "weighted_kappa", "error_correlation"), maybe(CORRELATION)),
    },
}
INTERVALS = (
    *(
        ("judges", of, (f"{of}_low", f"{of}_high"))
        for of in ("accuracy", "tpr", "tnr", "ppv", "leniency", "gold_leniency")
    ),
    ("panel", "high", ("low", "high")),  # percentiles, which need not lie around the value
    ("merges", "accuracy", ("low", "high")),
    ("merges", "gain", ("gain_low", "gain_high")),
    ("confusion", "share", ("share_low", "share_high")),
)


class ItemCount(NamedTuple):
    """Items with the same number of judges."""

    judges: int
    items: int
    agree: int | None  # items to which all their judges gave the same grade; None below two judges


@dataclass(frozen=True, eq=False, kw_only=True)
class Audit(Result, kind="audit"):
    """Judges one by one, in pairs, as a panel, and against their merges."""

    derived = ("sentence", "drop", "regime")
    optional = ("counts", "gold_errors", "record")

    judges: pl.DataFrame  # one row per judge
    panel: pl.DataFrame  # statistic, value, low, high
    pairs: pl.DataFrame  # one row per pair of judges with shared items
    merges: pl.DataFrame  # accuracy of every merge and of the best judge alone; empty without gold
    confusion: pl.DataFrame  # one row per judge, gold's grade and grade said; empty without gold
    families: pl.DataFrame  # empty unless families were given
    flags: pl.DataFrame  # judge, flag, other, why
    has_topics: bool  # without which there are no scores to average
    items: int
    gold_items: int
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()
    counts: tuple[ItemCount, ...] = ()  # by number of judges; empty in files of earlier versions
    gold_errors: GoldErrors | None = None  # gold's own, where items were graded more than once
    record: tuple[Remembered, ...] = ()  # earlier studies of the judges

    def __post_init__(self) -> None:
        """Refuse wrong tables, unknown judges, and shares that do not follow from counts."""
        for name, columns in TABLES.items():
            table: pl.DataFrame = getattr(self, name)
            there = {column: kind for column, kind in ASIDE.get(name, {}).items() if column in table.columns}
            require_table(name, table, columns | there)
        known = self.judges["judge"].to_list()
        require_names("judges", known)
        for name, column in (("pairs", "judge"), ("pairs", "other"), ("confusion", "judge"), ("flags", "judge")):
            require_known(f"{name}: {column}", getattr(self, name)[column].unique(), known, "judges")
        require_known("flags: other", self.flags["other"].drop_nulls(), known, "judges")
        require_known("flags: flag", self.flags["flag"].unique(), FLAGS, "flags")
        require_names("panel: statistic", self.panel["statistic"].to_list(), least=0)
        require_names("merges: name", self.merges["name"].to_list(), least=0)
        require_numbers("items", self.items, 1)
        require_numbers("gold_items", self.gold_items, 0, self.items)
        self._check_shares()
        for remembered in self.record:
            remembered.check()
        if self.counts:
            self._check_counts()
        for of, value, ends in INTERVALS:
            frame: pl.DataFrame = getattr(self, of)
            if {value, *ends} <= set(frame.columns):
                low, middle, high = (frame[name].cast(pl.Float64).to_numpy() for name in (ends[0], value, ends[1]))
                require_ordered(f"{of}: {value}", low, middle, high)

    def _check_shares(self) -> None:
        """Check entries that follow from others."""
        coverage, items = (self.judges[name].to_numpy() for name in ("coverage", "items"))
        require_equal("judges: coverage", coverage, items / self.items)
        said = self.judges.select(pl.col("^share_[0-9]+$")).drop_nulls()
        require_equal("the sum of judges: share", said.to_numpy().sum(axis=1), np.ones(len(said)))
        whole = pl.col("items").sum().over("judge", "gold")
        follows = self.confusion.select(pl.col("items") / whole).to_series()
        require_equal("confusion: share", self.confusion["share"].to_numpy(), follows.to_numpy())
        low, high = wilson_interval(*(self.confusion.select(items=pl.col("items"), all=whole).get_columns()))
        require_equal("confusion: share_low", self.confusion["share_low"].to_numpy(), low)
        require_equal("confusion: share_high", self.confusion["share_high"].to_numpy(), high)
        self._check_gold()
        copied = self.flags.filter(pl.col("flag") == "copied")
        if copied["other"].null_count():
            raise DataError("flags: a copied judge has no other judge")
        best = self.merges.filter(pl.col("name").is_in([BEST_MERGE, BEST_JUDGE]))
        if best["picked"].null_count():
            raise DataError("merges: the best one has no name in picked")
        known = self.families.drop_nulls()
        judges, correlation, votes = (
            known[name].to_numpy() for name in ("judges", "error_correlation", "effective_votes")
        )
        require_equal("families: effective_votes", votes, judges / (1 + (judges - 1) * np.maximum(correlation, 0)))
        pairs = self.pairs.select("judge", "other")
        if (pairs["judge"] == pairs["other"]).any() or pairs.is_duplicated().any():
            raise DataError("pairs: a judge is paired with itself, or two judges are paired twice")
        require_numbers("pairs: shared", self.pairs["shared"], 0, self.items)
        if self.confusion.select("judge", "gold", "grade").is_duplicated().any():
            raise DataError("confusion: a row is repeated")

    def _check_counts(self) -> None:
        """Check that all items and all grades are counted."""
        judges = [count.judges for count in self.counts]
        items = [count.items for count in self.counts]
        require_numbers("counts: judges", judges, 0, len(self.judges))
        require_numbers("counts: items", items, 1)
        require_equal("the sum of counts: items", sum(items), self.items)
        require_equal("the sum of counts: grades", np.dot(judges, items), int(self.judges["items"].sum()))
        if judges != sorted(set(judges)):
            raise DataError("counts: rows are not in the order of judges, or one is repeated")
        for count in self.counts:
            if (count.agree is None) != (count.judges < 2):
                raise DataError(f"counts: agree is missing or not possible for judges = {count.judges}")
            require_numbers("counts: agree", count.agree or 0, 0, count.items)

    def _check_gold(self) -> None:
        """Check that figures on gold items follow from the confusion."""
        require_numbers("merges: items", self.merges["items"], 0, self.gold_items)
        if "gold_items" not in self.judges.columns:
            return
        items, right = pl.col("items"), pl.col("grade") == pl.col("gold")
        told = self.confusion.group_by("judge").agg(
            gold_items=items.sum(),
            accuracy=items.filter(right).sum() / items.sum(),
            gold_leniency=((pl.col("grade") - pl.col("gold")) * items).sum() / items.sum(),
        )
        found = self.judges.select("judge", "gold_items", "accuracy", "gold_leniency").filter(pl.col("gold_items") > 0)
        follows = found.select("judge").join(told, on="judge", how="left", maintain_order="left")
        for name in ("gold_items", "accuracy", "gold_leniency"):
            values = (table[name].cast(pl.Float64).to_numpy() for table in (found, follows))
            require_equal(f"judges: {name}", *values)

    def tell_facts(self, *, pairs: bool = False) -> dict[str, Any]:
        """All facts for JSON; pairs of more than 100 judges only on request."""
        few = pairs or len(self.judges) <= MOST_PAIRED or self.pairs.is_empty()
        return super().tell_facts() if few else replace(self, pairs=self.pairs.clear()).tell_facts()

    def to_frame(self) -> pl.DataFrame:
        """One row per judge."""
        return self.judges

    def statistic(self, name: str) -> float | None:
        """A value of the panel, such as `alpha_ordinal`; None where it could not be computed."""
        found = self.panel.filter(pl.col("statistic") == name)["value"]
        return None if found.is_empty() else found[0]

    def matrix(self, value: str = "kappa") -> pl.DataFrame:
        """A column of `pairs` as a square table, one row and one column per judge; null where there is no value."""
        names = self.judges["judge"].to_list()
        if len(names) > MOST_SQUARED:
            raise OptionError(f"a square of {len(names):,} judges is too large for a table; use `pairs`")
        if self.pairs.is_empty():
            raise DataError("no two judges share an item, or their pairs were not saved, so there is no matrix")
        offered = [name for name in self.pairs.columns if name not in {"judge", "other"}]
        if value not in offered:
            raise OptionError(f"pairs have no '{shorten(value)}'; they have {', '.join(offered)}")
        place = {name: k for k, name in enumerate(names)}
        cells: list[list[float | None]] = [[None] * len(names) for _ in names]
        for one, other, found in self.pairs.select("judge", "other", value).iter_rows():
            cells[place[one]][place[other]] = cells[place[other]][place[one]] = found
        columns = [
            pl.Series(f"judge:{name}" if name == "judge" else name, row) for name, row in zip(names, cells, strict=True)
        ]
        return pl.DataFrame([pl.Series("judge", names, dtype=pl.String), *columns])

    @property
    def drop(self) -> tuple[str, ...]:
        """Judges to leave out: constant, random and inverted ones."""
        bad = self.flags.filter(pl.col("flag") != "copied")
        return tuple(dict.fromkeys(bad["judge"].to_list()))

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """Judges that copy one another, in groups; each group counts as one judge."""
        group_of: dict[str, list[str]] = {}
        copied = self.flags.filter(pl.col("flag") == "copied").select("judge", "other")
        for one, other in copied.iter_rows():
            fewer, more = sorted((group_of.setdefault(name, [name]) for name in (one, other)), key=len)
            if fewer is not more:
                more += fewer
                group_of |= dict.fromkeys(fewer, more)
        groups = {id(group): tuple(sorted(group)) for group in group_of.values()}
        return tuple(sorted(groups.values()))

    @property
    def regime(self) -> Regime:
        """Whether judges share errors, so that scores should be averaged, not grades merged; `mixed` is undecided."""
        found = self.panel.filter(pl.col("statistic") == "error_correlation_within").select("low", "high")
        if found.is_empty():
            return "unknown"
        low, high = found.row(0)
        if low is None or low <= SHARED <= high:
            return "mixed"
        return "shared" if low > SHARED else "independent"

    @property
    def sentence(self) -> str:
        """What to do: keep, drop, or spend on gold."""
        parts = [self._say_judges(), self._say_alike(), self._say_merges(), self._say_votes(), self._say_gold()]
        return " ".join(part for part in parts if part)

    def _say_judges(self) -> str:
        total = len(self.judges)
        if total == 1:
            return self._say_only_judge()
        if not self.drop:
            if not self.gold_items and self.judges["kappa"].null_count() == total:
                return (
                    f"None of {total:,} judges is constant. No item was graded by two judges, so random and inverted "
                    "ones cannot be found without gold."
                )
            return (
                f"None of {total:,} judges is constant, random or inverted; this does not prove that all are accurate."
            )
        kinds = []
        for kind in ("constant", "random", "inverted"):
            names = self.flags.filter(pl.col("flag") == kind)["judge"].to_list()
            if names:
                kinds.append(f"{list_names(names, MOST_NAMES)} ({kind})")
        return f"Drop {len(self.drop):,} of {counted(total, 'judge')}: {'; '.join(kinds)}."

    def _say_only_judge(self) -> str:
        judge = self.judges.row(0, named=True)
        text = f"There is one judge, {shorten(judge['judge'])}"
        if judge.get("accuracy") is None:
            text += ": it can be compared only with gold"
        else:
            interval = f"[{judge['accuracy_low']:.1%}, {judge['accuracy_high']:.1%}]"
            text += f", right on {judge['accuracy']:.1%} {interval} of {counted(judge['gold_items'], 'gold item')}"
        return f"{text}; it looks {self.flags['flag'][0]}." if self.drop else f"{text}."

    def _say_alike(self) -> str:
        if not self.alike:
            return ""
        first = list_names(self.alike[0], MOST_NAMES)
        more = "; count each group as one judge" if len(self.alike) > 1 else ": count them as one judge"
        others = f", the first of {counted(len(self.alike), 'such group')}" if len(self.alike) > 1 else ""
        return f"{first} give nearly the same grades{others}{more}."

    def _say_merges(self) -> str:
        rows = {row["name"]: row for row in self.merges.to_dicts()}
        if BEST_MERGE not in rows:
            return ""
        merge, judge = rows[BEST_MERGE], rows.get(BEST_JUDGE)
        text = f"Grades merged by {merge['picked']} are correct on {_share(merge)} of {merge['items']:,} gold items; "
        if judge is None:
            return f"{text}no judge graded enough of them to be compared."
        who = f"{judge['picked']}, in some folds {judge['also_picked']}" if judge["also_picked"] else judge["picked"]
        text += f"the best judge alone ({who}) on {_share(judge)} of the {judge['items']:,} it graded."
        few = judge["items"] < merge["items"] / 2
        gain = _say_gain(merge["gain"], merge["gain_low"], merge["gain_high"], few=few)
        return f"{text} {'By topic, the' if merge['topics'] else 'The'} {gain}"

    def _say_votes(self) -> str:
        judges, grades = self.statistic("judges_compared"), self.statistic("grades_per_item")
        if grades is None:
            return ""
        r, votes = self.statistic("error_correlation_pooled"), self.statistic("effective_votes_per_item")
        who, way = f"The {grades:.1f} grades of an item", "pooled over items"
        if r is None:  # nearly all judges graded every item
            r, votes = self.statistic("error_correlation"), self.statistic("effective_votes")
            who, way = f"{judges or 0:,.0f} judges", "mean over pairs"
        if r is None or votes is None:
            return ""
        text = f"{who} are worth {votes:.1f} effective votes (error correlation {r:.2f}, {way})"
        advice = _ADVICE[self.regime] + (_WAY[self.regime] if self.has_topics else "")
        return f"{text}: {advice}." if advice else f"{text}."

    def _say_gold(self) -> str:
        if self.gold_items >= ENOUGH_GOLD:
            return ""
        wanted = f"all {counted(self.items, 'item')}" if self.items > 1 else "the item"
        if self.items > GOLD_WANTED:
            wanted = f"about {GOLD_WANTED:,} of the {self.items:,} items, drawn at random,"
        if self.gold_items == 0:
            alpha = self.statistic("alpha_ordinal")
            why = "it is not known which judges are right"
            if alpha is not None:
                why = f"judges may agree (ordinal alpha {alpha:.2f}) because they share errors"
            return f"Get gold: {why}; have {wanted} graded by someone you trust."
        half = 98 / math.sqrt(self.gold_items)
        text = (
            f"Get more gold: with {counted(self.gold_items, 'gold item')}, accuracy is known only to ± {half:.0f} "
            f"points"
        )
        return f"{text}; have {wanted} graded."


def _say_gain(gain: float, low: float | None, high: float | None, *, few: bool) -> str:
    """What a merge gains over a judge that graded less than half as much (`few`) or more, and what follows."""
    text = f"difference of merge minus judge is {100 * gain:+.1f} points"
    if low is None or high is None:
        return f"{text} on these items, without an interval: too few items."
    text += f" [{100 * low:+.1f}, {100 * high:+.1f}] on these items"
    if low > 0:
        return f"{text}: keep all judges."
    if few:
        return f"{text}: too few items to leave out the other judges."
    return f"{text}: use this judge alone." if high < 0 else f"{text}: not a significant difference."


def _share(row: Mapping[str, float | None]) -> str:
    kappa = "" if row["weighted_kappa"] is None else f", quadratic kappa {row['weighted_kappa']:.2f}"
    return f"{row['accuracy']:.1%} [{row['low']:.1%}, {row['high']:.1%}{kappa}]"
