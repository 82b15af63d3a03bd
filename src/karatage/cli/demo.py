"""`karatage demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options

if TYPE_CHECKING:
    from karatage.simulation.collection import World

PAIR = ("system-12", "system-11")
MEASURE = "DCG@10"
LABELS = 200


def demo(
    folder: Annotated[str, typer.Option("--folder", help="Where to write the files.")] = "demo",
    seed: options.Seed = 7,
    quiet: options.Quiet = False,
) -> None:
    """Write a small simulated collection as ordinary files, and evaluate it.

    Example:

        karatage demo
    """
    import karatage as kt
    from karatage.cli.evaluate import evaluate

    home = Path(folder)
    world = kt.simulate_collection(rng=seed)
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
    kt.write_judgments(world.judgments, home / "judgments.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    files = [str(home / "runs"), str(home / "judgments.csv"), str(home / "gold.qrels")]
    queue = home / "judged-queue.csv"
    _write_judged_queue(world, queue)
    typer.echo(
        f"Wrote {len(world.runs.systems)} runs to {files[0]}, {len(world.judgments.judges)} judges' grades to "
        f"{files[1]}, gold to {files[2]}.\n"
        f"Wrote gold on {LABELS} documents drawn for {PAIR[0]} and {PAIR[1]} to {queue}.\n"
    )
    command = f"karatage evaluate {files[0]} -j {files[1]} -g {files[2]} -m nDCG@10 -a uniform -a mv -a 'judge:*'"
    typer.echo(f"$ {command}\n")
    evaluate(
        [files[0]],
        judgments=[files[1]],
        gold=[files[2]],
        measure=["nDCG@10"],
        approach=["uniform", "mv", "judge:*"],
        quiet=quiet,
    )
    decide = f"karatage compare {files[0]} -j {files[1]} -g {queue} -m {MEASURE}"
    typer.echo(f"\nNext, is {PAIR[1]} better than {PAIR[0]}?\n$ {decide} --a {PAIR[0]} --b {PAIR[1]}")


def _write_judged_queue(world: World, path: Path) -> None:
    """What `karatage plan` would draw for two systems, as it comes back from the gold judges."""
    import karatage as kt
    from karatage.io.writing import encode_table, write_bytes

    queue = kt.plan(world.runs, world.judgments, MEASURE, budget=LABELS, systems=PAIR).queue
    gold = world.gold.to_frame().select("topic", "document", "grade")
    judged = queue.drop("grade").join(gold, on=["topic", "document"], how="left", maintain_order="left")
    write_bytes(path, encode_table(judged, ".csv"))
