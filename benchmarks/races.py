"""Who runs against whom, and what the project promises. Rivals are named, not imported, until measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Quantity = Literal["cpu", "wall", "peak", "cpu_ratio", "wall_ratio"]


@dataclass(frozen=True)
class Target:
    """A limit on what karatage costs, or on how many times as much its rival does."""

    quantity: Quantity
    limit: float

    @property
    def text(self) -> str:
        """As shown in the table."""
        limit = f"{self.limit:,.4g}"
        return {
            "cpu": f"CPU s <= {limit}",
            "wall": f"wall s <= {limit}",
            "peak": f"MB <= {limit}",
            "cpu_ratio": f"ratio >= {limit}",
            "wall_ratio": f"(wall) >= {limit}",
        }[self.quantity]

    def is_met(self, found: float) -> bool:
        """Ratios are to be large, costs small."""
        return found >= self.limit if self.quantity.endswith("ratio") else found <= self.limit


@dataclass(frozen=True)
class Rival:
    """Another way to do the same, `module:function`."""

    name: str
    contender: str
    targets: tuple[Target, ...] = ()
    repeats: int = 1


@dataclass(frozen=True)
class Race:
    """One task, what karatage may cost, and its rivals."""

    task: str
    contender: str
    targets: tuple[Target, ...] = ()
    rivals: tuple[Rival, ...] = ()
    repeats: int = 3


COMMANDS = (
    "",
    "aggregate",
    "audit",
    "benchmark",
    "compare",
    "demo",
    "doctor",
    "evaluate",
    "experiment aware",
    "experiment collaborative",
    "experiment noisy",
    "experiment random-relevance",
    "experiment supervised",
    "plan",
    "queue",
    "report",
    "simulate",
)
MEMORY = Target("peak", 600)
ORDERS = ("average-rank", "depth", "disagreement", "effect", "meta-ap", "move-to-front", "thompson")

RACES = (
    Race(
        "AP x {sets:,} sets",
        "scoring:karatage_ap",
        (MEMORY,),
        (
            Rival("pytrec_eval", "scoring:pytrec_eval_ap", (Target("cpu_ratio", 1500),), 3),
            Rival("ir_measures", "scoring:ir_measures_ap"),
            Rival("ranx", "scoring:ranx_ap"),
        ),
    ),
    Race(
        "7 measures x {sets:,}",
        "scoring:karatage_seven",
        (Target("cpu", 3), MEMORY),
        (Rival("pytrec_eval (4)", "scoring:pytrec_eval_four"),),
    ),
    Race(
        "read {systems:,} runs, gz",
        "reading:karatage",
        (),
        (
            Rival("pytrec_eval", "reading:pytrec_eval", (Target("wall_ratio", 3),), 5),
            Rival("ir_measures", "reading:ir_measures", (), 5),
        ),
        5,
    ),
    Race(
        "tau x {pairs:,}",
        "correlating:karatage_tau",
        (),
        (Rival("scipy loop", "correlating:scipy_tau", (Target("cpu_ratio", 40),), 5),),
        5,
    ),
    Race(
        "tau_ap x {pairs:,}",
        "correlating:karatage_tau_ap",
        (),
        (Rival("numpy loop", "correlating:textbook_tau_ap", (), 5),),
        5,
    ),
    Race(
        "30 weights x {noisy_copies}",
        "weighing:karatage_weights",
        (Target("cpu", 15), Target("peak", 1000)),
        (Rival("pytrec_eval+scipy", "weighing:pytrec_eval_weights", (Target("cpu_ratio", 100),)),),
    ),
    Race("ANOVA, 4 factors", "analysing:karatage_anova", (), (Rival("statsmodels", "analysing:statsmodels_anova"),), 5),
    Race("board x {systems}, corrected", "deciding:karatage_board", (Target("wall", 20),)),
    Race(
        "permutation, exact",
        "deciding:karatage_permutation",
        (),
        (Rival("scipy", "deciding:scipy_permutation", (), 3),),
        5,
    ),
    Race(
        "ppi x {systems} systems",
        "predicting:karatage_ppi",
        (),
        (Rival("ppi_py", "predicting:ppi_py_ppi", (Target("cpu_ratio", 5),), 3),),
        5,
    ),
    Race("tukey x {systems}", "analysing:karatage_tukey", (), (Rival("scipy", "analysing:scipy_tukey"),)),
    Race("{judgments:,} grades", "scaling:karatage", (Target("peak", 4000),), (), 1),
    Race(
        "ds(2) x {crowd_many:,}",
        "consensus:karatage_ds_2",
        (),
        (Rival("crowd-kit", "consensus:crowd_kit_ds_2", (Target("cpu_ratio", 60),)),),
    ),
    Race(
        "ds(5) x {crowd_many:,}",
        "consensus:karatage_ds_5",
        (),
        (Rival("crowd-kit", "consensus:crowd_kit_ds_5", (Target("cpu_ratio", 20),)),),
    ),
    Race(
        "glad x {crowd_few:,}",
        "consensus:karatage_glad_few",
        (),
        (Rival("crowd-kit", "consensus:crowd_kit_glad_few", (Target("cpu_ratio", 20),)),),
    ),
    Race(
        "glad x {crowd_some:,}",
        "consensus:karatage_glad",
        (),
        (Rival("crowd-kit", "consensus:crowd_kit_glad", (Target("cpu_ratio", 20),)),),
    ),
    Race("mace x {crowd_some:,}", "consensus:karatage_mace", (), (Rival("crowd-kit", "consensus:crowd_kit_mace"),)),
    Race("mv x {crowd_many:,}", "consensus:karatage_mv", (), (Rival("crowd-kit", "consensus:crowd_kit_mv", (), 3),)),
    Race("sort {crowd_most:,}", "consensus:karatage_codes_most", (), (), 1),
    Race("ds(2) x {crowd_most:,}", "consensus:karatage_ds_most", (Target("wall", 60), Target("peak", 4000)), (), 1),
    Race(
        "alpha x {crowd_many:,}",
        "agreement:karatage_nominal",
        (Target("wall", 0.5),),
        (Rival("numpy, direct", "agreement:direct_nominal", (), 3),),
    ),
    Race(
        "alpha, ordinal",
        "agreement:karatage_ordinal",
        (Target("wall", 0.5),),
        (Rival("numpy, direct", "agreement:direct_ordinal", (), 3),),
    ),
    *(
        Race(f"{order} x {{queue_items:,}}", f"orders:{order.replace('-', '_')}", (Target("wall", 5),))
        for order in ORDERS
    ),
    Race("import karatage", "starting:import_karatage", (Target("wall", 0.3),), (), 7),
    *(
        Race(" ".join(f"karatage {command} --help".split()), f"starting:help {command}", (Target("cpu", 0.3),), (), 5)
        for command in COMMANDS
    ),
)


def without_targets(race: Race) -> Race:
    """The same race at a size for which nothing was promised."""
    return replace(race, targets=(), rivals=tuple(replace(rival, targets=()) for rival in race.rivals))
