"""`karatage simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from karatage.cli import options
from karatage.cli.completing import complete_crowds
from karatage.cli.output import STANDARD_OUTPUT
from karatage.cli.simulate_jobs import judge_gold, judge_queue, make_collection
from karatage.cli.simulate_request import Request, ShapeOptions
from karatage.cli.simulate_tables import print_model, print_models
from karatage.cli.terminal import progress

if TYPE_CHECKING:
    from karatage.data.crowd import CrowdModel
    from karatage.data.judgments import Judgments, Repeats

DEFAULT = "hcb"


def simulate(
    gold_file: Annotated[
        str | None, options.reads_arguments("GOLD", "What the crowd is to judge: qrels or a table.")
    ] = None,
    *,
    gold: options.GoldFile = None,
    model: Annotated[
        str | None,
        options.reads(
            "--model",
            help="A shipped crowd (see --list), or a file of --save; default hcb.",
            autocompletion=complete_crowds,
        ),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Show the shipped crowds.")] = False,
    like: Annotated[
        list[str] | None, options.reads("--like", help="Judgments to learn a crowd from; may be repeated.")
    ] = None,
    like_gold: Annotated[str | None, options.reads("--like-gold", help="Gold for them; default: GOLD.")] = None,
    families: options.Families = None,
    save: Annotated[
        str | None, options.writes("--save", help="Write the crowd's model here (.json); without -o, do nothing else.")
    ] = None,
    per_item: Annotated[int, typer.Option("--per-item", min=1, help=f"{options.PER_ITEM_HELP}.")] = 5,
    judges: Annotated[
        int | None, typer.Option("--judges", min=1, help="Size of the crowd; default: as the model has it.")
    ] = None,
    independent: Annotated[bool, typer.Option("--independent", help="No shared errors.")] = False,
    queue: Annotated[str | None, options.reads("--queue", help="Judge what this queue asks for.")] = None,
    judged: Annotated[
        str | None, options.writes("--judged", help="Its rows to experts with gold's grades, written here.")
    ] = None,
    collection: Annotated[
        str | None,
        options.writes(
            "--collection", kind="own folder", help="Make a whole collection in this folder; needs no GOLD."
        ),
    ] = None,
    systems: Annotated[int | None, typer.Option("--systems", min=1, help="Of the collection; default 12.")] = None,
    topics: Annotated[int | None, typer.Option("--topics", min=1, help="Of the collection; default 40.")] = None,
    depth: Annotated[int | None, typer.Option("--depth", min=1, help="Of its runs; default 50.")] = None,
    documents: Annotated[
        int | None, typer.Option("--documents", min=1, help="Of a topic; default twice the depth.")
    ] = None,
    pool: Annotated[
        int | None, typer.Option("--pool", min=1, help="Judge the first ranks of each run only; default: all.")
    ] = None,
    relevant: Annotated[
        float | None, typer.Option("--relevant", help="Share of relevant documents; default some 0.15.")
    ] = None,
    quality: Annotated[
        str | None, typer.Option("--quality", help="Of the worst and the best system; default 0.8,1.6.")
    ] = None,
    difficulty: Annotated[
        float | None, typer.Option("--difficulty", help="How far topics differ; default 0.5, 0: not at all.")
    ] = None,
    chart: options.Chart = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: Annotated[
        str, options.writes("--output", "-o", help="Write the judgments here: .csv, .tsv, .jsonl, .parquet; also .gz.")
    ] = STANDARD_OUTPUT,
    raw: options.Raw = False,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Make a crowd that judges your gold, one like your own judges, or a whole collection.

    Example, on the files that `karatage demo` writes:

        karatage simulate demo/gold.qrels --model hcb -o crowd.csv
    """
    if list_all:
        print_models(style, output)
        return
    request = Request(
        gold=_name_gold(gold_file, gold),
        model=model,
        like=like or [],
        like_gold=like_gold,
        families=families,
        save=save,
        per_item=per_item,
        judges=judges,
        queue=queue,
        judged=judged,
        collection=collection,
        shape=ShapeOptions(systems, topics, depth, documents, pool, relevant, quality, difficulty),
        chart=chart,
        seed=seed,
        style=style,
        output=output,
        raw=raw,
        quiet=quiet,
    )
    request.check()
    scale = (grades, grades if gold_grades is None else gold_grades)
    reader = Reader(scale, (columns, gold_columns), repeats)
    with progress("Reading", quiet=quiet):
        trusted = None if request.gold is None else reader.read_gold(request.gold)
    crowd = _find_crowd(request, trusted, reader)
    crowd = crowd.independent() if independent else crowd
    _keep(crowd, request)
    if collection is not None:
        make_collection(crowd, request)
    elif request.only_learns or trusted is None:
        print_model(crowd, request)
    elif queue is not None:
        judge_queue(crowd, trusted, request)
    else:
        judge_gold(crowd, trusted, request)


class Reader(NamedTuple):
    """How files are to be read; what is said of judgments comes first, of gold second."""

    grades: tuple[str | None, str | None]
    columns: tuple[str | None, str | None]
    repeats: options.RepeatRule | None

    def read_gold(self, path: str) -> Judgments:
        """Gold with something to find in it."""
        import karatage as kt
        from karatage.errors import DataError

        found = kt.read_gold(
            path, grades=self.grades[1], columns=options.parse_columns(self.columns[1]), repeats=self._rule
        )
        if not (found.grade > 0).any():
            raise DataError(f"{path}: no item is relevant (all grades are 0), so there is nothing a crowd could find")
        return found

    def read_judgments(self, paths: list[str]) -> Judgments:
        """Judgments to learn from."""
        import karatage as kt

        return kt.read_judgments(
            paths, grades=self.grades[0], columns=options.parse_columns(self.columns[0]), repeats=self._rule
        )

    @property
    def _rule(self) -> Repeats | None:
        return None if self.repeats is None else self.repeats.value


def _name_gold(argument: str | None, option: str | None) -> str | None:
    from karatage.errors import OptionError

    if argument is not None and option is not None:
        raise OptionError("gold was named twice, behind the command and with --gold; name it once")
    return option if argument is None else argument


def _find_crowd(request: Request, trusted: Judgments | None, reader: Reader) -> CrowdModel:
    """The crowd that was named, or one like the user's judges."""
    import karatage as kt

    if not request.like:
        name = request.model or DEFAULT
        is_file = name.endswith((".json", ".json.gz", ".json.zst")) or Path(name).is_file()
        return kt.read_crowd(name) if is_file else kt.load_crowd(name)
    with progress("Learning", quiet=request.quiet):
        known = trusted if request.like_gold is None else reader.read_gold(request.like_gold)
        assert known is not None
        families = None if request.families is None else kt.read_families(request.families)
        return kt.learn_crowd(reader.read_judgments(request.like), known, name=_name_model(request), families=families)


def _name_model(request: Request) -> str:
    """After the file that it is kept in, or that it was learned from."""
    from karatage.io.sources import Source

    return Source(request.save or request.like[0]).stem


def _keep(crowd: CrowdModel, request: Request) -> None:
    import karatage as kt

    if request.save is not None:
        kt.write_crowd(crowd, request.save)
    if request.chart is not None:
        from karatage.views.crowds import draw_crowd

        kt.write_chart(draw_crowd(crowd), request.chart)
