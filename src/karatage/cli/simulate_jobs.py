"""The jobs of `karatage simulate`: judge gold, judge a queue, make a collection."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from karatage.cli.parsing import STANDARD_OUTPUT
from karatage.cli.simulate_tables import Crowd, NextStep, print_collection, print_crowd, print_experts
from karatage.cli.terminal import progress

if TYPE_CHECKING:
    from karatage.cli.simulate import Request
    from karatage.data.crowd import CrowdModel
    from karatage.data.judgments import Judgments
    from karatage.simulation.collection import CollectionShape


def judge_gold(crowd: CrowdModel, gold: Judgments, request: Request) -> None:
    """A crowd on the user's gold."""
    import karatage as kt
    from karatage.simulation.answering import summarise_crowd

    with progress("Simulating", quiet=request.quiet):
        judgments = kt.simulation.simulate_crowd(
            gold, crowd, per_item=request.per_item, judges=request.judges, rng=request.seed
        )
        summary = summarise_crowd(judgments, gold, name=crowd.name)
    print_crowd(Crowd(crowd, judgments, summary), request, [_write_crowd(judgments, request)])


def judge_queue(crowd: CrowdModel, gold: Judgments, request: Request) -> None:
    """What a queue asks for: experts' rows from gold, the others from the crowd."""
    from karatage.io.queues import read_asked, write_judged
    from karatage.simulation.answering import answer_queue, summarise_crowd

    assert request.queue is not None
    queue = read_asked(request.queue)
    experts = int(queue.expert.sum())
    unwritten = []  # in a loop of judging either side may have nothing to do, which is no reason to stop it
    if request.judged is not None and not experts:
        unwritten.append(f"no row of {queue.source} goes to an expert, so {request.judged} is not written")
    if request.output != STANDARD_OUTPUT and experts == len(queue.expert):
        unwritten.append(f"no row of {queue.source} goes to the crowd, so {request.output} is not written")
    with progress("Judging", quiet=request.quiet):
        answers = answer_queue(queue, gold, crowd, per_item=request.per_item, judges=request.judges, rng=request.seed)
    answers = replace(answers, notes=(*answers.notes, *unwritten))
    steps = []
    if experts:
        if request.judged is not None:
            write_judged(queue, answers.grade, request.judged, raw=request.raw)
        steps.append(NextStep("experts", experts, request.judged))
    if answers.crowd is None or answers.asked is None:
        print_experts(queue, answers, request, steps)
        return
    summary = summarise_crowd(answers.crowd, answers.asked, name=crowd.name)
    steps.append(_write_crowd(answers.crowd, request))
    print_crowd(Crowd(crowd, answers.crowd, summary), request, steps, answers.notes)


def make_collection(crowd: CrowdModel, request: Request, shape: CollectionShape) -> None:
    """Runs, gold, truth and a crowd's judgments, as ordinary files."""
    import karatage as kt
    from karatage.io.writing import encode_table, refuse_other_collection, write_bytes
    from karatage.simulation.answering import summarise_crowd

    assert request.collection is not None
    home = Path(request.collection)
    with progress("Simulating", quiet=request.quiet):
        world = kt.simulation.simulate_collection(
            systems=request.systems, topics=request.topics, depth=request.depth, shape=shape, rng=request.seed
        )
        refuse_other_collection(home, world.runs.systems, world.pool)
        gold = _limit_grades(world.pool, crowd)
        judgments = kt.simulation.simulate_crowd(
            gold, crowd, per_item=request.per_item, judges=request.judges, rng=request.seed
        )
        for system in world.runs.systems:
            kt.write_run(world.runs, system, home / "runs" / f"{system}.gz")
        kt.write_judgments(world.pool, home / "gold.qrels")
        kt.write_judgments(judgments, home / "judgments.csv", raw=request.raw)
        kt.write_judgments(world.gold, home / "truth" / "gold.qrels")
        write_bytes(home / "truth" / "systems.tsv", encode_table(world.systems, ".tsv"))
        write_bytes(home / "truth" / "topics.tsv", encode_table(world.topics, ".tsv"))
        summary = summarise_crowd(judgments, world.pool, name=crowd.name)
    print_collection(world, Crowd(crowd, judgments, summary), request)


def _write_crowd(judgments: Judgments, request: Request) -> NextStep:
    from karatage.io.writing import write_judgments

    if request.output != STANDARD_OUTPUT:
        write_judgments(judgments, request.output, raw=request.raw)
    return NextStep("crowd", len(judgments.grade), None if request.output == STANDARD_OUTPUT else request.output)


def _limit_grades(gold: Judgments, crowd: CrowdModel) -> Judgments:
    """Gold as far as the judges' scale goes: what is above it is its top grade."""
    import numpy as np

    top = crowd.grades - 1
    if crowd.confusion is None or gold.top_grade <= top:
        return gold
    note = (
        f"the judges of '{crowd.name}' know 0 to {top}, so documents of a higher grade are graded as if it were {top}"
    )
    return replace(gold, grade=np.minimum(gold.grade, top).astype(np.int8), top_grade=top, notes=(*gold.notes, note))
