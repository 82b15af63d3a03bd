"""Crowds: who grades what, and how, by a model of a real crowd."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from numbers import Integral
from typing import NamedTuple

import numpy as np

from karatage.data.alignment import require_data
from karatage.data.axes import FloatArray, GradeArray, IntArray, LongArray
from karatage.data.crowd import CONTRIBUTION_LEVELS, Correlation, CrowdModel
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.random_streams import settle_seed, stream
from karatage.simulation.judges import DrawnJudges, binarise, draw_judges
from karatage.simulation.notes import tell
from karatage.text import counted

_HALVINGS = 60


class Assignment(NamedTuple):
    """A judge and an item in each row."""

    judge: IntArray
    item: LongArray
    stretched: bool  # whether contributions had to leave their levels


def assign_items(
    topics: list[LongArray],
    contribution: FloatArray,
    level: IntArray,
    per_item: int,
    source: np.random.Generator,
) -> Assignment:
    """Give each item `per_item` different judges, who do their contribution of a topic before they begin another.

    Judges form a circle, in the order given. A topic takes as many of them in a row that their contributions add up
    to `per_item`, and the next topic goes on from there. Where the judges together do less than one topic needs, all
    work on every topic and do more of it; where they do more than all topics need, each does less.

    Args:
        topics: The items of each topic.
        contribution: Share of a topic's items that each judge does, (judge,).
        level: The level of that share, which a judge keeps if at all possible, (judge,).
        per_item: Judges of an item; no more than there are judges.
        source: Where chance comes from.
    """
    size = np.array([len(items) for items in topics])
    width = np.clip(contribution, 1 / size.mean(), 1.0)
    width *= np.clip(1.0, per_item / width.sum(), per_item * len(topics) / width.sum())
    end = np.cumsum(width)
    lap = float(end[-1])
    middle = end - width / 2
    order = source.permutation(len(topics))
    judges, items, stretched = [], [], False
    for place, t in enumerate(order):
        start = place * per_item % lap
        turn = (middle - start) % lap
        chosen = np.flatnonzero(turn < per_item) if per_item < lap * (1 - 1e-9) else np.arange(len(width))
        chosen = chosen[np.argsort(turn[chosen], kind="stable")]
        quota, left = _find_quotas(contribution[chosen], level[chosen], per_item, int(size[t]), source)
        stretched |= left
        judges.append(np.repeat(chosen, quota).astype(np.int32))
        items.append(topics[t][_deal_items(quota, per_item, int(size[t]), source)])
    return Assignment(np.concatenate(judges), np.concatenate(items), stretched)


def _find_quotas(
    contribution: FloatArray, level: IntArray, per_item: int, items: int, source: np.random.Generator
) -> tuple[LongArray, bool]:
    """How many items each judge does, from 0 to all, `per_item * items` together; and whether levels had to give."""
    work = per_item * items
    low = np.maximum(-(-level * items // CONTRIBUTION_LEVELS), 1).astype(np.int64)
    high = np.minimum(-(-(level + 1) * items // CONTRIBUTION_LEVELS) - (level + 1 < CONTRIBUTION_LEVELS), items)
    high = np.maximum(high, low)
    stretched = not low.sum() <= work <= high.sum()
    if stretched:
        low, high = np.minimum(1, low), np.full(len(level), items)
    if len(level) >= work:  # not everybody gets even one
        quota = np.zeros(len(level), np.int64)
        quota[source.permutation(len(level))[:work]] = 1
        return quota, True
    least, most = -60.0, 60.0
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        small = np.clip(contribution * items * np.exp(middle), low, high).sum() < work
        least, most = (middle, most) if small else (least, middle)
    wanted = np.clip(contribution * items * np.exp(most), low, high)
    quota = np.floor(wanted).astype(np.int64)
    short = work - int(quota.sum())
    # the rest goes to those who lack most of one, as far as their walls allow
    for _ in range(2):
        lacking = np.where(quota < high, wanted - quota, -1.0) + 1e-9 * source.random(len(quota))
        best = np.argsort(-lacking, kind="stable")[: max(short, 0)]
        best = best[quota[best] < high[best]]
        quota[best] += 1
        short = work - int(quota.sum())
    return quota, stretched


def _deal_items(quota: LongArray, per_item: int, items: int, source: np.random.Generator) -> LongArray:
    """Items (row,) for judges who take `quota` each in turn: every item `per_item` times, to a judge only once.

    The items are dealt out in rounds, each in a random order. A judge who began in one round and goes on in the next
    must not get the same again: what it has goes to the end of that round.
    """
    end = np.cumsum(quota)
    out = np.empty(per_item * items, np.int64)
    for round_ in range(per_item):
        start = round_ * items
        order = source.permutation(items)
        before = int(np.searchsorted(end, start, side="right"))  # who holds the first card of this round
        begun = int(end[before] - quota[before])
        if begun < start:
            had = np.zeros(items, bool)
            had[out[begun:start]] = True
            order = np.concatenate([order[~had[order]], order[had[order]]])
        out[start : start + items] = order
    return out


_FOLDER = "archetypes"
_TRIAL = 2000  # judges drawn to see how much one does


def list_crowds() -> tuple[str, ...]:
    """Names of the crowd models that come with the library."""
    folder = files("karatage.simulation") / _FOLDER
    return tuple(sorted(path.name.removesuffix(".json") for path in folder.iterdir() if path.name.endswith(".json")))


def load_crowd(name: str) -> CrowdModel:
    """A crowd model that comes with the library.

    >>> load_crowd("careful").grades
    2
    """
    if name not in list_crowds():
        raise UnknownNameError("crowd model", name, list_crowds())
    return _load(name)


@cache
def _load(name: str) -> CrowdModel:
    text = (files("karatage.simulation") / _FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return CrowdModel.from_dict(json.loads(text))


def simulate_crowd(
    gold: Judgments,
    model: str | CrowdModel = "hcb",
    *,
    per_item: int = 5,
    judges: int | None = None,
    rng: int | np.random.Generator | None = None,
) -> Judgments:
    """Let judges drawn from a crowd model grade the items of gold [COLLAB14].

    Judge k gives item i the grade in whose bin of the judge's confusion row for gold's grade the number

        sqrt(c_item) z_i + sqrt(c_family) z_(i, family) + sqrt(c_topic) z_(topic, relevant or not) + sqrt(rest) e_ki

    falls, bins being as wide as the row says under a standard normal. So judges' rates do not depend on what they
    share. The z are normal quantiles, dealt at random to items of the same gold grade, or to topics.

    Args:
        gold: The truth. Only items with a grade are judged; all keep their numbers.
        model: A model, or the name of one of `list_crowds()`.
        per_item: Different judges for each item.
        judges: How many judges share the work; default: as many as it takes if each works on one topic. With fewer they
            go on to other topics, and where that is not enough, or too much, they do more or less of each.
        rng: Seed or generator.
    """
    require_data(gold=gold)
    crowd = load_crowd(model) if isinstance(model, str) else model
    settled = gold.settle()
    items = settled.item.astype(np.int64)
    if not items.size:
        raise DataError("gold has no grade at all, so there is nothing to judge")
    if len(np.unique(items)) < len(items):
        raise DataError("gold has grades by several judges for an item; a crowd is simulated on one grade each")
    _check_numbers(per_item, judges, len(items))
    graded = crowd.confusion is not None and settled.top_grade > 1
    if graded and settled.top_grade >= crowd.grades:
        raise DataError(
            f"gold has grades up to {settled.top_grade}, but the judges of '{crowd.name}' know 0 to {crowd.grades - 1} "
            "only; map gold to fewer grades, or learn a model from judgments on its scale"
        )
    topic = settled.item_topic[items]
    topics = np.split(items, np.flatnonzero(np.diff(topic)) + 1)
    seed = settle_seed(rng)
    people = draw_judges(crowd, judges or _count_judges(crowd, topics, per_item, seed), stream(seed, "crowd judges"))
    given = assign_items(topics, people.contribution, people.level, per_item, stream(seed, "crowd items"))
    truth: GradeArray = np.zeros(len(settled.item_topic), np.int8)
    truth[items] = settled.grade if graded else settled.grade > 0
    if crowd.confusion is not None and not graded:
        people = people._replace(confusion=binarise(people.confusion, crowd.balance))
    shared = crowd.correlation if len(topics) > 1 else crowd.correlation._replace(topic=0.0)
    rows = _Rows(given.judge, given.item, settled.item_topic[given.item], truth[given.item])
    said = _grade(rows, items, truth[items], people, shared, seed)
    working = np.unique(given.judge)
    names = _name(people.family[working], tuple(crowd.families))
    by_name = sorted(range(len(names)), key=names.__getitem__)
    number = np.full(len(people.family), -1, np.int32)
    number[working[by_name]] = np.arange(len(working), dtype=np.int32)
    order = np.lexsort((number[given.judge], given.item))
    return replace(
        settled,
        judges=tuple(names[k] for k in by_name),
        judge=number[given.judge][order],
        item=given.item[order].astype(np.int32),
        grade=said[order],
        draw=None,
        top_grade=crowd.grades - 1 if graded else 1,
        notes=(*settled.notes, *_tell(crowd, settled.top_grade, len(topics), len(working), given.stretched, seed)),
        with_repeats=None,
    )


class _Rows(NamedTuple):
    """Who grades what."""

    judge: IntArray
    item: LongArray
    topic: IntArray
    truth: GradeArray


def _check_numbers(per_item: int, judges: int | None, items: int) -> None:
    if not isinstance(per_item, Integral) or per_item < 1:
        raise OptionError(f"{per_item} judges for each item cannot be; ask for a whole number from 1")
    if judges is not None and judges < per_item:
        raise OptionError(
            f"{counted(judges, 'judge')} cannot give each item {per_item} different ones; "
            "ask for more judges, or fewer for each item"
        )
    if judges is not None and judges > per_item * items:
        raise OptionError(
            f"{judges:,} judges cannot share {counted(per_item * items, 'judgment')} "
            f"({per_item} for each of {counted(items, 'item')}); ask for fewer judges"
        )


def _count_judges(crowd: CrowdModel, topics: list[LongArray], per_item: int, seed: int) -> int:
    """As many as it takes if each does its contribution of one topic."""
    trial = draw_judges(crowd, _TRIAL, stream(seed, "crowd trial")).contribution
    least = len(topics) / sum(len(items) for items in topics)
    mean = float(np.clip(trial, least, 1.0).mean())
    return max(per_item, round(per_item * len(topics) / mean))


def _grade(
    rows: _Rows, items: LongArray, truth: GradeArray, people: DrawnJudges, shared: Correlation, seed: int
) -> GradeArray:
    """What each row's judge says."""
    from scipy.special import ndtr

    count = int(rows.item.max()) + 1
    own = 1 - sum(shared)
    seen = np.sqrt(own) * stream(seed, "crowd own").standard_normal(len(rows.item))
    if shared.item:
        effect = np.zeros(count)
        effect[items] = deal_normals(truth, stream(seed, "crowd document"))
        seen += np.sqrt(shared.item) * effect[rows.item]
    if shared.family:
        family, source = people.family[rows.judge], stream(seed, "crowd family")
        for k in np.unique(family):
            effect = np.zeros(count)
            effect[items] = deal_normals(truth, source)
            here = family == k
            seen[here] += np.sqrt(shared.family) * effect[rows.item[here]]
    if shared.topic:
        source = stream(seed, "crowd topic")
        for relevant in (False, True):
            here = (rows.truth > 0) == relevant
            which, at = np.unique(rows.topic[here], return_inverse=True)
            seen[here] += np.sqrt(shared.topic) * deal_normals(np.zeros(len(which), np.int8), source)[at]
    bound = np.cumsum(people.confusion, axis=2)[:, :, :-1]
    place = ndtr(seen)
    said: GradeArray = (place[:, None] > bound[rows.judge, rows.truth]).sum(axis=1).astype(np.int8)
    return said


def deal_normals(kind: GradeArray, source: np.random.Generator) -> FloatArray:
    """Standard normal quantiles at equal steps, dealt at random within each kind; a kind with one member gets 0.

    So no kind is favoured by chance, and rates on these items are the judges' rates.
    """
    from scipy.special import ndtri

    out = np.zeros(len(kind))
    for k in np.unique(kind):
        where = source.permutation(np.flatnonzero(kind == k))
        if len(where) > 1:
            step = ndtri((np.arange(len(where)) + 0.5) / len(where))
            out[where] = step / np.sqrt((step**2).mean())
    return out


def _name(family: IntArray, families: tuple[str, ...]) -> list[str]:
    """Judges' names; those of a family begin with its name."""
    width = len(str(len(family)))
    return [f"{families[f] if families else 'judge'}-{k:0{width}d}" for k, f in enumerate(family.tolist(), 1)]


def _tell(crowd: CrowdModel, top: int, topics: int, judges: int, stretched: bool, seed: int) -> tuple[Note, ...]:
    finer, coarser = top <= 1 and crowd.confusion is not None, top > 1 and crowd.confusion is None
    return (
        tell("simulated", judges=judges, crowd=crowd.name, seed=seed),
        *tell.when(coarser, "binary-crowd", crowd=crowd.name),
        *tell.when(finer, "binary-gold", crowd=crowd.name, grades=crowd.grades),
        *tell.when(crowd.correlation.topic and topics == 1, "one-topic"),
        *tell.when(stretched, "stretched"),
    )
