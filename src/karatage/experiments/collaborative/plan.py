"""The design of the collaborative experiment: who judges how much, in which order [COLLAB14]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from karatage.data.options import parse_prices
from karatage.errors import OptionError, UnknownNameError
from karatage.experiments.plans import check_lists
from karatage.random_streams import settle_seed
from karatage.text import shorten

if TYPE_CHECKING:
    from karatage.data.crowd import CrowdModel

Study = Literal["orders", "finding", "consensus", "shares"]
STUDIES: tuple[Study, ...] = get_args(Study)
DISAGREEMENT = "disagreement"
DEPTH = "depth"  # the order that others are compared with
SHARES = (0.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
APPROACHES = ("mv", "cubam", "ds", "glad", "ry", "zc")  # the columns of [COLLAB14] table 3.3
FILE_ENDINGS = (".json", ".json.gz", ".json.zst")
INDEPENDENT = ":independent"  # after a crowd's name: as in the thesis, judges have independent errors
UNKNOWN_BEFORE = "effect"  # a field of the state that needs judgments; this experiment starts without any


class Mix(NamedTuple):
    """How much of the pool experts and the crowd judge, in %."""

    experts: float
    crowd: float

    @property
    def name(self) -> str:
        """Its name in random streams."""
        return f"{self.experts:g}+{self.crowd:g}"


@dataclass(frozen=True, kw_only=True)
class CollaborativePlan:
    """What is studied: orders, crowds, consensus approaches, shares of the pool in %, and what judgments cost.

    Orders are compared with experts alone, and each is mixed with each of the crowds, which are names or files. In the
    study of shares, the crowd is merged by `approach`; in the study of consensus, it has `fixed_share` of the pool.
    The order `disagreement` needs a model or other judges to learn one from; without, it is left out.

    Args:
        studies: What to study; may be repeated.
        orders: effect, meta-ap, average-rank, depth, disagreement, move-to-front, thompson; may be repeated.
        crowds: E.g. hcb, careful, hcb:independent, own.json; may be repeated.
        table_crowds: Crowds of table 3.3; default: as --crowd.
        approach: Merges the crowd where shares are varied.
        approaches: An approach to compare, at a fixed share; may be repeated.
        expert_shares: Experts' shares of the pool in %.
        crowd_shares: The crowd's shares of the pool in %.
        fixed_share: The crowd's share where approaches are compared.
        ratios: A (10:1), B (5:2), 4:1, or expert=4,crowd=0.05; may be repeated.
        per_item: Crowd judges of each document.
        measure: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8).
        relevant: The lowest relevant grade.
        depth: Pool: documents in this many first ranks; default: gold's.
        samples: Crowds drawn.
        resamples: Sets of topics drawn, for intervals.
        disagreement: A model (.json) for the order disagreement.
        splits: Random 70:30 splits of each topic, to try what is learned about disagreement.
        seed: Seed of all random numbers.
    """

    optional = ("splits",)

    studies: tuple[Study, ...] = STUDIES
    orders: tuple[str, ...] = (DEPTH, "average-rank", "meta-ap", "disagreement", "move-to-front", "thompson")
    crowds: tuple[str, ...] = ("hcb", "careful")
    table_crowds: tuple[str, ...] = ()
    approach: str = "ry"
    approaches: tuple[str, ...] = APPROACHES
    expert_shares: tuple[float, ...] = SHARES
    crowd_shares: tuple[float, ...] = SHARES
    fixed_share: float = 32.0
    ratios: tuple[str, ...] = ("A", "B")
    per_item: int = 5
    measure: str = "Bpref"
    relevant: int = 1
    depth: int | None = None
    samples: int = 5
    resamples: int = 200
    disagreement: str | None = None
    splits: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options; shares may be written as whole numbers, too."""
        from karatage.measures.registry import parse_measure
        from karatage.orders.orders import parse_order
        from karatage.simulation.crowd import list_crowds

        for field in ("expert_shares", "crowd_shares"):
            object.__setattr__(self, field, tuple(map(float, getattr(self, field))))
        object.__setattr__(self, "fixed_share", float(self.fixed_share))
        self._check_lists()
        _check_shares("expert", self.expert_shares)
        _check_shares("crowd", (*self.crowd_shares, self.fixed_share))
        if "orders" in self.studies and not any(self.expert_shares):
            raise OptionError("an expert share of 0 has no judgments; give another, or leave the study 'orders' out")
        if "shares" in self.studies and not any(self.crowd_shares):
            raise OptionError("a crowd share of 0 is experts alone; give another, or leave the study 'shares' out")
        if self.fixed_share == 0:
            raise OptionError("approaches merge the crowd's judgments; give it a fixed share of the pool above 0")
        if min(self.per_item, self.samples, self.relevant, self.splits) < 1 or self.resamples < 0:
            raise OptionError(
                "judges per item, samples, splits and the relevant grade are whole numbers from 1, resamples from 0"
            )
        settle_seed(self.seed)
        if self.depth is not None and self.depth < 1:
            raise OptionError(f"a pool of depth {self.depth} is empty; give 1 at least")
        parse_measure(self.measure)
        for name in self.orders:
            if UNKNOWN_BEFORE in parse_order(name).needs:
                raise OptionError(f"order '{name}' needs judgments, and this experiment has none; see karatage queue")
        for name in (*self.crowds, *self.table_crowds):
            known = name.removesuffix(INDEPENDENT)
            if not known.endswith(FILE_ENDINGS) and known not in list_crowds():
                raise UnknownNameError("crowd", name, list_crowds())
        for name in {self.approach, *self.approaches}:
            _check_approach(name)
        assert self.label_prices  # impossible prices are refused before any work

    def _check_lists(self) -> None:
        check_lists(study=self.studies, order=self.orders, crowd=self.crowds, approach=self.approaches)
        check_lists(expert_share=self.expert_shares, crowd_share=self.crowd_shares, ratio=self.ratios)
        check_lists(crowd_of_the_table=self.table_crowds or self.crowds)
        unknown = next((study for study in self.studies if study not in STUDIES), None)
        if unknown is not None:
            raise OptionError(f"study '{shorten(unknown)}' is not one of {', '.join(STUDIES)}")

    @cached_property
    def label_prices(self) -> Mapping[str, Fraction]:
        """The cost of the crowd's merged judgment of a document for each ratio; an expert's is 1."""
        prices = {text: parse_prices(text, judgments=self.per_item) for text in self.ratios}
        return {text: Fraction(price.label) / Fraction(price.expert) for text, price in prices.items()}

    @property
    def tabled(self) -> tuple[str, ...]:
        """The crowds of table 3.3."""
        return (self.table_crowds or self.crowds) if "consensus" in self.studies else ()

    @cached_property
    def mixes(self) -> Mapping[Mix, tuple[str, ...]]:
        """The mixes: shares that do not exceed the pool, and the approaches for each."""
        found: dict[Mix, dict[str, None]] = {}
        for mix, approaches in self._list_mixes():
            if mix.experts + mix.crowd <= 100:
                found.setdefault(mix, {}).update(dict.fromkeys(approaches))
        return {mix: tuple(approaches) for mix, approaches in sorted(found.items())}

    def _list_mixes(self) -> Iterator[tuple[Mix, tuple[str, ...]]]:
        for experts in self.expert_shares:
            if "consensus" in self.studies:
                yield Mix(experts, self.fixed_share), self.approaches
            if "shares" in self.studies:
                yield from ((Mix(experts, crowd), (self.approach,)) for crowd in self.crowd_shares if crowd)


def find_crowd(text: str) -> CrowdModel:
    """A crowd by name or file; with `:independent` after it, the same judges without shared errors.

    >>> find_crowd("hcb:independent").correlation.item
    0.0
    """
    from karatage.io.models import read_crowd
    from karatage.simulation.crowd import load_crowd

    name = text.removesuffix(INDEPENDENT)
    model = read_crowd(name) if name.endswith(FILE_ENDINGS) else load_crowd(name)
    return model if name == text else model.independent()


def _check_shares(who: str, shares: tuple[float, ...]) -> None:
    bad = next((share for share in shares if not 0 <= share <= 100), None)
    if bad is not None:
        raise OptionError(f"{who} share {bad:g} is not a percentage of the pool; give numbers from 0 to 100")


def _check_approach(name: str) -> None:
    """The thesis merges without gold, and decides on grades."""
    from karatage.aggregation.registry import parse_model

    named = parse_model(name)
    if named.needs_gold or named.supervision not in (None, "none") or named.expected:
        raise OptionError(f"approach '{shorten(name)}' does not merge grades without gold, as this experiment does")
