"""`karatage demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karatage.cli import options


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
    typer.echo(
        f"Wrote {len(world.runs.systems)} runs to {files[0]}, {len(world.judgments.judges)} judges' grades to "
        f"{files[1]}, gold to {files[2]}.\n"
    )
    command = f"karatage evaluate {files[0]} -j {files[1]} -g {files[2]} -m nDCG@10 -a uniform -a mv -a 'judge:*'"
    typer.echo(f"$ {command}\n")
    evaluate(
        [files[0]],
        judgments=[files[1]],
        gold=files[2],
        measure=["nDCG@10"],
        approach=["uniform", "mv", "judge:*"],
        quiet=quiet,
    )
