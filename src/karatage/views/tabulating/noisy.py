"""The noisy experiment, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.noisy.findings import SOUND
from karatage.experiments.noisy.testing import TESTS
from karatage.views.noisy_charts import WHO, spell_rates
from karatage.views.tables import MINUS, Table

if TYPE_CHECKING:
    from karatage.experiments.noisy.findings import NoisyFindings

SHORT = dict(zip(TESTS, ("naive", "naive p", "(10)", "shared", "shared p"), strict=True))
TESTS_TEXT = (
    "naive: Welch's t (9); p: paired over topics; (10): corrected as if judges were independent; shared: corrected "
    "with one gold sample for both; level .05"
)
RIGHT = ("right", "P@k", "b - a")  # as they were given, without zeros that say nothing


def tabulate_intervals(found: NoisyFindings) -> Iterator[Table]:
    """For each number of topics, estimates and how often 95 % intervals cover, in %."""
    chance = f"{found.plan.simulations:,} simulations, ± {found.tolerance * 100:.1f}"
    for (topics,), here in found.intervals.group_by("topics", maintain_order=True):
        frame = _spell_worlds(here).select(
            "right",
            "gold",
            "P@k",
            here["naive"],
            (here["naive_covered"] * 100).alias("naive covers"),
            here["corrected"],
            (here["covered"] * 100).alias("corrected covers"),
            (here["covered_t"] * 100).alias("(t)"),
            (here["refused"] * 100).alias("refused"),
        )
        yield Table(
            frame,
            f"{topics} topics: % of 95 % intervals that cover {found.measure} ({chance})",
            digits={"naive covers": 1, "corrected covers": 1, "(t)": 1, "refused": 1},
            name=f"intervals-{topics}",
            headers={"naive covers": "covers", "corrected covers": "covers", "P@k": found.measure},
            right=RIGHT,
        )


def tabulate_coverage(found: NoisyFindings, *, column: str) -> Iterator[Table]:
    """The same for many worlds: coverage by rates and gold, a column for each P@k.

    What is refused hangs on rates and gold only, but for luck.
    """
    which = {"covered": "z", "covered_t": "t"}[column]
    chance = f"{found.plan.simulations:,} simulations, ± {found.tolerance * 100:.1f}"
    for (topics,), here in found.intervals.group_by("topics", maintain_order=True):
        values = here["precision"].unique(maintain_order=True).to_list()
        rows = []
        for _, group in here.group_by("right_relevant", "right_other", "gold_size", maintain_order=True):
            covered = dict(group.select("precision", column).iter_rows())
            refused = float(group["refused"].to_numpy().mean())
            shares = [None if covered[value] is None else covered[value] * 100 for value in values]
            rows.append((spell_rates(group.row(0, named=True)), group["gold_size"][0], refused * 100, *shares))
        names = ["refused", *(f"at {value:g}" for value in values)]
        schema = {"right": pl.String, "gold": pl.Int64} | dict.fromkeys(names, pl.Float64)
        caption = f"{topics} topics: % of 95 % intervals ({which}) that cover {found.measure} ({chance})"
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        yield Table(frame, caption, digits=1, name=f"coverage-{which}-{topics}", right=RIGHT)


def tabulate_estimates(found: NoisyFindings) -> Table:
    """Corrected estimates in every world: mean, bias, and whether standard errors tell their spread."""
    here = found.intervals
    names = ["corrected", "bias", "outside", "spread", "standard_error"]
    frame = _spell_worlds(here).select("right", "gold", "topics", "P@k", *(here[name] for name in names))
    return Table(
        frame.rename({"standard_error": "standard error"}),
        "Corrected estimates: mean, expected bias, share outside 0 to 1, spread and median standard error",
        name="estimates",
        headers={"P@k": found.measure},
        right=RIGHT,
    )


def tabulate_sizes_of_tests(found: NoisyFindings, samples: str) -> Iterator[Table]:
    """How often tests reject where there is no difference, in %."""
    table = found.pivot_tests(samples).filter(difference=0.0)
    for (topics,), here in table.group_by("topics", maintain_order=True):
        caption = f"{WHO[samples]}, {topics} topics, no difference: % rejected"
        yield _list_tests(here, found, caption, f"size-{samples}-{topics}")


def tabulate_power(found: NoisyFindings, samples: str) -> Iterator[Table]:
    """How often tests reject a difference, in %, where the sound one is nearest 80."""
    for (topics,), here in found.compare_power(samples).group_by("topics", maintain_order=True):
        caption = f"{WHO[samples]}, {topics} topics: % rejected, where '{SHORT[SOUND[samples]]}' is nearest 80"
        yield _list_tests(here, found, caption, f"power-{samples}-{topics}", difference=True)


def tabulate_covered_differences(found: NoisyFindings, samples: str, covered: pl.DataFrame) -> Table:
    """How often intervals cover the difference, in %, in the worlds of `covered`."""
    caption = f"{WHO[samples]}: % of 95 % intervals that cover that difference"
    return _list_tests(covered, found, caption, f"covered-{samples}", difference=True, topics=True)


def _list_tests(
    here: pl.DataFrame, found: NoisyFindings, caption: str, name: str, *, difference: bool = False, topics: bool = False
) -> Table:
    names = ["right", "gold", *(["topics"] if topics else []), "P@k", *(["b - a"] if difference else [])]
    tests = [test for test in TESTS if test in here.columns]
    frame = _spell_worlds(here).select(*names, *(here[test] * 100 for test in tests))
    headers = {test: SHORT[test] for test in tests} | {"P@k": found.measure, "b - a": f"b {MINUS} a"}
    return Table(frame, caption, digits=1, name=name, headers=headers, right=RIGHT)


def _spell_worlds(here: pl.DataFrame) -> pl.DataFrame:
    """Worlds as they were given."""
    rates = pl.struct("right_relevant", "right_other").map_elements(spell_rates, return_dtype=pl.String)
    given = {"precision": "P@k", "difference": "b - a"}
    spelt = [
        pl.col(name).map_elements("{:g}".format, return_dtype=pl.String).alias(title)
        for name, title in given.items()
        if name in here.columns
    ]
    return here.select(rates.alias("right"), pl.col("gold_size").alias("gold"), "topics", *spelt)


def tabulate_example(figures: pl.DataFrame, caption: str) -> Table:
    """A worked example: a row for each quantity, a column for each of what it is of."""
    shown = figures.with_columns(shown=pl.struct("value", "digits", "text").map_elements(_show, return_dtype=pl.String))
    wide = shown.pivot("of", index=["quantity", "by"], values="shown", maintain_order=True).fill_null("")
    owners = wide.columns[2:]
    return Table(wide, caption, name=str(figures["example"][0]), headers={"quantity": ""}, right=owners)


def _show(row: Mapping[str, float | str | None]) -> str:
    value, digits = float(row["value"] or 0), int(row["digits"] or 0)
    return str(row["text"]) if row["text"] else "infinite" if math.isinf(value) else f"{value:.{digits}f}"
