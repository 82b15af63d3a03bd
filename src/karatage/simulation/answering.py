"""Answers of a simulated crowd to a queue, and a summary of the crowd."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.alignment import require_data
from karatage.data.axes import BoolArray, Coded, FloatArray, IntArray
from karatage.data.crowd import CrowdModel, CrowdSummary
from karatage.data.judgments import Judgments, match_gold
from karatage.data.note import Note
from karatage.data.queue import AskedQueue
from karatage.errors import DataError, OptionError
from karatage.random_streams import settle_seed, stream
from karatage.simulation.crowd import load_crowd, simulate_crowd
from karatage.simulation.learning import learn_crowd
from karatage.simulation.notes import tell
from karatage.text import counted

if TYPE_CHECKING:
    from karatage.data.crowd import CrowdModel


DEFAULT = "hcb"


def simulate(
    gold: Judgments,
    model: str | CrowdModel | None = None,
    *,
    like: Judgments | None = None,
    like_gold: Judgments | None = None,
    families: Mapping[str, str] | None = None,
    per_item: int = 5,
    judges: int | None = None,
    independent: bool = False,
    rng: int | np.random.Generator | None = 0,
) -> Judgments:
    """Let a crowd judge the items of gold: a shipped crowd, a model of yours, or one like your own judges.

    Args:
        gold: The truth; the crowd judges its items.
        model: A model, or the name of one of `kt.simulation.list_crowds()`; default hcb.
        like: Judgments to learn a crowd from, instead of a model.
        like_gold: Gold for them; default: `gold`.
        families: Judge to family, for errors that families share.
        per_item: Crowd judges of each document.
        judges: Size of the crowd; default: as the model has it.
        independent: No shared errors.
        rng: Seed or generator.
    """
    require_data("like", "like_gold", gold=gold, like=like, like_gold=like_gold)
    seed = settle_seed(rng)
    if like is None:
        if like_gold is not None or families is not None:
            raise OptionError("like_gold and families are about judgments to learn from; give them as like")
        crowd = load_crowd(model or DEFAULT) if model is None or isinstance(model, str) else model
    elif model is not None:
        raise OptionError("model names a crowd and like asks for one to be learned; give one of them")
    else:
        crowd = learn_crowd(like, gold if like_gold is None else like_gold, families=families, rng=seed)
    crowd = crowd.independent() if independent else crowd
    return simulate_crowd(gold, crowd, per_item=per_item, judges=judges, rng=seed)


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Judgments of a queue."""

    grade: pl.Series  # (row,) gold's, 0 where gold has none
    crowd: Judgments | None  # None where nothing is asked of the crowd
    asked: Judgments | None  # gold of the crowd's items
    notes: tuple[Note, ...]


def answer_queue(
    queue: AskedQueue,
    gold: Judgments,
    model: str | CrowdModel = "hcb",
    *,
    per_item: int = 5,
    judges: int | None = None,
    rng: int | np.random.Generator | None = None,
) -> Answers:
    """Judge what a queue asks for, each row by whom and as often as it says.

    A document that gold does not have counts as not relevant, as is usual for pools. Every batch has a separate
    crowd, whose judges carry the batch's number in their names: files of several batches can be put together.

    Args:
        queue: Who is asked what.
        gold: The truth.
        model: The crowd, by name or as learned.
        per_item: Judgments of a document where the queue does not say how many.
        judges: Size of the crowd; default: what the model takes.
        rng: Seed or generator.
    """
    if not gold.has_topics:
        raise DataError(
            "gold names items but no topics, and queues have both; give gold with a topic column, e.g. qrels"
        )
    seed = settle_seed(rng if queue.batch is None else stream(settle_seed(rng), f"batch {queue.batch}"))
    known = gold.to_frame().select("topic", "document", "grade")
    rows = pl.DataFrame({"topic": queue.topic, "document": queue.document})
    grade = rows.join(known, on=["topic", "document"], how="left", maintain_order="left")["grade"]
    lacking = grade.is_null()
    if lacking.all():
        raise DataError(
            f"{queue.source}: gold has none of its {counted(len(grade), 'document')}; check that ids are "
            "written the same way"
        )
    grade = grade.fill_null(0)
    crowd = asked = None
    if not queue.expert.all():
        wanted = np.where(queue.judgments > 0, queue.judgments, per_item)[~queue.expert]
        asked = _as_gold(rows, grade, ~queue.expert, gold.top_grade)
        crowd = simulate_crowd(asked, model, per_item=int(wanted.max()), judges=judges, rng=seed)
        if wanted.min() < wanted.max():
            crowd = _thin(crowd, _number_items(asked, rows.filter(pl.Series(~queue.expert)), wanted), seed)
        if queue.batch is not None:
            crowd = replace(crowd, judges=tuple(f"batch-{queue.batch}-{name}" for name in crowd.judges))
    return Answers(grade=grade, crowd=crowd, asked=asked, notes=_tell_lacking(rows.filter(lacking)))


def _as_gold(rows: pl.DataFrame, grade: pl.Series, kept: BoolArray, top: int) -> Judgments:
    chosen = rows.filter(pl.Series(kept))
    return Judgments.build(
        judge=Coded.constant("gold", len(chosen)),
        topic=Coded.of(chosen["topic"]),
        document=Coded.of(chosen["document"]),
        grade=grade.filter(pl.Series(kept)).to_numpy().astype(np.int8),
        top_grade=top,
    )


def _number_items(asked: Judgments, rows: pl.DataFrame, wanted: IntArray) -> IntArray:
    """How many judgments each item of `asked` should have, (item,)."""
    items = asked.to_frame().select("topic", "document")
    numbers = rows.with_columns(wanted=pl.Series(wanted))
    return items.join(numbers, on=["topic", "document"], how="left", maintain_order="left")["wanted"].to_numpy()


def _thin(crowd: Judgments, wanted: IntArray, seed: int) -> Judgments:
    """As many judgments of each item as are wanted, drawn from those there are."""
    chance = stream(seed, "queue").random(len(crowd.item))
    order = np.lexsort((chance, crowd.item))
    place = np.arange(len(order)) - crowd.row_start[crowd.item[order]]
    kept = np.zeros(len(order), bool)
    kept[order] = place < wanted[crowd.item[order]]
    thinned = crowd.keep_rows(kept)
    working, judge = np.unique(thinned.judge, return_inverse=True)
    return replace(thinned, judges=tuple(crowd.judges[k] for k in working), judge=judge.astype(np.int32))


def _tell_lacking(rows: pl.DataFrame) -> tuple[Note, ...]:
    names = tuple(f"{topic} {document}" for topic, document in rows.iter_rows())
    return tell.when(names, "without-gold", documents=names)


def summarise_crowd(judgments: Judgments, gold: Judgments, *, name: str = "crowd") -> CrowdSummary:
    """Compare a crowd, simulated or real, with gold: rates of its judges, its majority, its shared errors.

    A grade above 0 is relevant. The majority says relevant where more than half of an item's judgments do; where they
    are even, the item counts half. Items without gold are left out.
    """
    require_data(judgments=judgments, gold=gold)
    known = match_gold(judgments, gold)
    kept = known[judgments.item] >= 0
    if not kept.any():
        raise DataError("judgments and gold share no item, so this crowd cannot be described")
    judge, item = judgments.judge[kept], judgments.item[kept]
    positive, said = known[item] > 0, judgments.grade[kept] > 0
    votes = np.bincount(item, minlength=len(known))
    yes = np.bincount(item[said], minlength=len(known))
    seen = votes > 0
    called = np.where(2 * yes == votes, 0.5, 2 * yes > votes)[seen]
    relevant = known[seen] > 0
    hits, alarms = float(called[relevant].sum()), float(called[~relevant].sum())
    missed, rejected = float((1 - called[relevant]).sum()), float((1 - called[~relevant]).sum())
    return CrowdSummary(
        name=name,
        judges=_rate_judges(judgments.judges, judge, positive, said),
        items=int(seen.sum()),
        relevant=int(relevant.sum()),
        recall=hits / float(relevant.sum()) if relevant.any() else None,
        precision=hits / (hits + alarms) if hits + alarms else None,
        specificity=rejected / float((~relevant).sum()) if not relevant.all() else None,
        npv=rejected / (rejected + missed) if rejected + missed else None,
        tied=int((called == 0.5).sum()),
        correlation=_correlate(known > 0, item, said != positive),
        pairs=int((votes * (votes - 1)).sum()) // 2,
        notes=tell.when(not kept.all(), "without-gold-aside", judgments=int((~kept).sum())),
    )


def _rate_judges(names: tuple[str, ...], judge: IntArray, positive: BoolArray, said: BoolArray) -> pl.DataFrame:
    """Judges who gave a grade, and how often they were right."""
    columns: dict[str, pl.Series] = {"judge": pl.Series(names, dtype=pl.String)}
    columns["grades"] = pl.Series(np.bincount(judge, minlength=len(names)))
    for rate, group in ("tpr", positive), ("tnr", ~positive):
        among = np.bincount(judge[group], minlength=len(names))
        right = np.bincount(judge[group & (said == positive)], minlength=len(names))
        columns[rate] = pl.Series(right / np.maximum(among, 1)).set(pl.Series(among == 0), None)
    return pl.DataFrame(columns).filter(pl.col("grades") > 0)


def _correlate(relevant: BoolArray, item: IntArray, wrong: BoolArray) -> float | None:
    """Correlation of the errors of two judges of an item: over all pairs, within relevant and within other items."""
    votes = np.bincount(item, minlength=len(relevant)).astype(np.float64)
    errors = np.bincount(item[wrong], minlength=len(relevant)).astype(np.float64)
    parts = [_covary(votes[group], errors[group]) for group in (relevant, ~relevant)]
    covariance, variance = (float(sum(part)) for part in zip(*parts, strict=True))
    return covariance / variance if variance > 0 else None


def _covary(votes: FloatArray, errors: FloatArray) -> tuple[float, float]:
    """Sums over ordered pairs of judges of an item: of the products of their errors, less the mean, and of squares."""
    pairs = float((votes * (votes - 1)).sum())
    if not pairs:
        return 0.0, 0.0
    mean = float((errors * (votes - 1)).sum()) / pairs
    both = float((errors * (errors - 1)).sum())
    return both - pairs * mean**2, pairs * mean * (1 - mean)
