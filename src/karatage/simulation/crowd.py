"""Crowds: judges drawn by a model of a real crowd, who grades what, and how."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from numbers import Integral
from typing import Final, NamedTuple

import numpy as np

from karatage.data.alignment import require_data
from karatage.data.axes import FloatArray, GradeArray, IntArray, LongArray
from karatage.data.crowd import CONTRIBUTION_LEVELS, Correlation, CrowdModel, voxel_walls
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.random_streams import settle_seed, stream
from karatage.simulation.notes import tell
from karatage.text import counted

_POINTS = np.linspace(0.0, 1.0, 81)  # across a voxel
_HALVINGS: Final = 28
_SHARPEST = np.log(1 / 0.03**2)  # a standard deviation of 3 % of the voxel's width
_FINE_HALVINGS = 60
_FOLDER = "archetypes"
_TRIAL = 2000  # judges drawn to see how much one does


class DrawnJudges(NamedTuple):
    """What each judge is like."""

    contribution: FloatArray  # (judge,) share of a topic's items
    level: IntArray  # (judge,) of it
    confusion: FloatArray  # (judge, gold, said)
    family: IntArray  # (judge,) own numbers where the model has no families


def draw_judges(model: CrowdModel, count: int, source: np.random.Generator) -> DrawnJudges:
    """Draw voxels by their shares, evenly spread, then a point in each from its Gaussian cut off at the walls."""
    kind = deal(model.share, count, source)
    point = _draw_points(model, kind, source)
    hit, rejection = point[:, 0], point[:, 1]
    if model.confusion is None:
        confusion = np.stack([rejection, 1 - rejection, 1 - hit, hit], axis=1).reshape(count, 2, 2)
    else:
        confusion = _draw_confusion(model, kind, hit, rejection, source)
    if model.families:
        family = deal(np.array(list(model.families.values())), count, source)
    else:
        family = np.arange(count, dtype=np.int32)
    return DrawnJudges(np.exp(point[:, 2]), model.voxel[kind, 2], confusion, family)


def draw_rates(name: str, count: int, source: np.random.Generator) -> FloatArray:
    """Shares of items that judges drawn from a crowd of the library call relevant, (judge,), on that crowd's items."""
    model = load_crowd(name)
    rates: FloatArray = 1 - draw_judges(model, count, source).confusion[:, :, 0] @ model.balance
    return rates


def deal(share: FloatArray, count: int, source: np.random.Generator) -> IntArray:
    """Kinds for `count` judges, each as often as its share says up to the next whole number, in random order."""
    bound = np.cumsum(share)
    at = (source.random() + np.arange(count)) / count * bound[-1]
    kind = np.minimum(np.searchsorted(bound, at, side="right"), len(share) - 1)
    return source.permutation(kind.astype(np.int32))


def binarise(confusion: FloatArray, balance: FloatArray) -> FloatArray:
    """Chances (judge, relevant, said relevant) from those by grade; grades above 0 are relevant, mixed by `balance`."""
    weight = balance[1:] / balance[1:].sum()
    reject = np.stack([confusion[:, 0, 0], (confusion[:, 1:, 0] * weight).sum(axis=1)], axis=1)
    return np.stack([reject, 1 - reject], axis=2)


def _draw_points(model: CrowdModel, kind: IntArray, source: np.random.Generator) -> FloatArray:
    """Rates and log contributions, (judge, 3)."""
    from scipy.special import ndtr

    low, high, below, factor = _prepare(model)
    free = source.standard_normal((len(kind), 3))
    place = ndtr((factor[kind] * free[:, None, :]).sum(axis=2))
    point = np.empty((len(kind), 3))
    for k in range(len(model.share)):
        rows = np.flatnonzero(kind == k)
        for axis in range(3):
            inside = np.interp(place[rows, axis], below[k, axis], _POINTS)
            point[rows, axis] = low[k, axis] + inside * (high[k, axis] - low[k, axis])
    return point


@lru_cache(maxsize=32)
def _prepare(model: CrowdModel) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """What does not depend on chance: walls, distributions and how the three properties go together."""
    low, high = voxel_walls(model.voxel, model.contribution.least)
    spread = np.sqrt(np.diagonal(model.covariance, axis1=1, axis2=2))
    below = _find_distribution((model.mean - low) / (high - low), spread / (high - low))
    return low, high, below, _factorise(model.covariance, spread)


def _find_distribution(mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Distribution functions (archetype, 3, point) of Gaussians cut off at 0 and 1 that have this mean and spread.

    Cutting off moves the mean, so the Gaussian exp(a x - b x^2 / 2) is sought whose remainder has the mean, and, as far
    as b >= 0 allows, the spread.
    """
    mean = np.clip(mean, 0.01, 0.99)
    lowest, highest = np.full(mean.shape, -8.0), np.full(mean.shape, _SHARPEST)
    for _ in range(_HALVINGS):
        middle = (lowest + highest) / 2
        wide = _tilt(mean, np.exp(middle))[1] > spread
        lowest, highest = np.where(wide, middle, lowest), np.where(wide, highest, middle)
    mass = _tilt(mean, np.exp(highest))[0]
    below = np.cumsum((mass[..., 1:] + mass[..., :-1]) / 2, axis=-1)
    below = np.concatenate([np.zeros((*mean.shape, 1)), below], axis=-1)
    found: FloatArray = below / below[..., -1:]
    return found


def _tilt(mean: FloatArray, sharpness: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mass at each point for the slope that gives the mean, and its standard deviation."""
    low, high = -4000.0 + 0 * mean, 4000.0 + 0 * mean
    for _ in range(_HALVINGS):
        slope = (low + high) / 2
        small = (_mass(mean, slope, sharpness) * _POINTS).sum(axis=-1) < mean
        low, high = np.where(small, slope, low), np.where(small, high, slope)
    mass = _mass(mean, (low + high) / 2, sharpness)
    variance = (mass * (_POINTS - mean[..., None]) ** 2).sum(axis=-1)
    return mass, np.sqrt(variance)


def _mass(mean: FloatArray, slope: FloatArray, sharpness: FloatArray) -> FloatArray:
    off = _POINTS - mean[..., None]
    power = slope[..., None] * off - sharpness[..., None] * off**2 / 2
    mass = np.exp(power - power.max(axis=-1, keepdims=True))
    found: FloatArray = mass / mass.sum(axis=-1, keepdims=True)
    return found


def _factorise(covariance: FloatArray, spread: FloatArray) -> FloatArray:
    """Lower triangles (archetype, 3, 3) whose product with themselves is the correlation matrix."""
    scale = np.where(spread > 0, spread, 1.0)
    r = covariance / (scale[:, :, None] * scale[:, None, :])
    r = np.clip(r, -0.99, 0.99)
    out: FloatArray = np.zeros(r.shape)
    out[:, 0, 0] = 1
    out[:, 1, 0] = r[:, 1, 0]
    out[:, 1, 1] = np.sqrt(1 - r[:, 1, 0] ** 2)
    out[:, 2, 0] = r[:, 2, 0]
    out[:, 2, 1] = np.clip((r[:, 2, 1] - r[:, 2, 0] * r[:, 1, 0]) / out[:, 1, 1], -1, 1)
    rest = 1 - out[:, 2, 0] ** 2 - out[:, 2, 1] ** 2
    out[:, 2, 2] = np.sqrt(np.clip(rest, 0, None))
    return out


def _draw_confusion(
    model: CrowdModel, kind: IntArray, hit: FloatArray, rejection: FloatArray, source: np.random.Generator
) -> FloatArray:
    """Rows from Dirichlet distributions, bent so that the judge has the rates drawn for it on gold's balance."""
    assert model.confusion is not None
    assert model.concentration is not None
    shape = model.confusion[kind] * model.concentration[kind][:, None, None]
    drawn = source.standard_gamma(np.clip(shape, 1e-3, None)) + 1e-9
    drawn /= drawn.sum(axis=2, keepdims=True)
    odds = drawn[:, :, 0] / (1 - drawn[:, :, 0])  # of being rejected
    weight = model.balance[1:] / model.balance[1:].sum()
    low, high = np.full(len(kind), -30.0), np.full(len(kind), 30.0)
    for _ in range(_HALVINGS):
        shift = (low + high) / 2
        bent = odds[:, 1:] * np.exp(shift)[:, None]
        small = (weight * bent / (1 + bent)).sum(axis=1) < 1 - hit
        low, high = np.where(small, shift, low), np.where(small, high, shift)
    bent = odds[:, 1:] * np.exp((low + high) / 2)[:, None]
    reject = np.column_stack([rejection, bent / (1 + bent)])
    rest = drawn[:, :, 1:] / drawn[:, :, 1:].sum(axis=2, keepdims=True)
    found: FloatArray = np.concatenate([reject[:, :, None], (1 - reject[:, :, None]) * rest], axis=2)
    return found


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
    work on every topic and do more of it. Where they do more than all topics need, each does less.

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
    for _ in range(_FINE_HALVINGS):
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

    For judge k and item i a number is drawn:

        sqrt(c_item) z_i + sqrt(c_family) z_(i, family) + sqrt(c_topic) z_(topic, relevant or not) + sqrt(rest) e_ki

    The judge's confusion row for gold's grade divides the line into bins that have its probabilities under a standard
    normal, and the judge gives the grade of the number's bin. So judges' rates do not depend on what they share. The z
    are normal quantiles, dealt at random to items of the same gold grade, or to topics.

    Args:
        gold: The truth. Only items with a grade are judged; all keep their numbers.
        model: A model, or the name of one of `list_crowds()`.
        per_item: Different judges for each item.
        judges: How many judges share the work; default: as many as it takes if each works on one topic. With fewer,
            they judge several topics, and if necessary more or less of each.
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
        raise OptionError(f"{per_item} judges for each item are not possible; ask for a whole number from 1")
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
