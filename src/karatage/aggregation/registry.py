"""Every model by name, with its options as part of it: `ds(prior=none,scope=topic)`; and how a model is fitted.

Binomial votes are here, since their weights may come from any other model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from types import NoneType, UnionType
from typing import ClassVar, Literal, Protocol, Union, get_args, get_origin, get_type_hints

import numpy as np

from karatage.aggregation.dawid_skene import DawidSkene, JudgeHistory, TopicEM
from karatage.aggregation.glad import Glad
from karatage.aggregation.latent import Cubam, Ordinal
from karatage.aggregation.majority import AgreementWeighted, MajorityVote, agree_beyond_chance
from karatage.aggregation.notes import tell
from karatage.aggregation.reliability import OneCoin, Raykar, ZenCrowd
from karatage.aggregation.supervised import NaiveBayes, SemiSupervised
from karatage.aggregation.variational import Ibcc, Mace
from karatage.aggregation.votes import Progress, Rng, Votes, judges_meet
from karatage.data.alignment import require_data
from karatage.data.axes import FloatArray
from karatage.data.judgments import Judgments, deal_topics, match_gold
from karatage.data.note import Note
from karatage.data.options import Supervision, show_options
from karatage.data.posterior import JudgeRecord, Posterior
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.kernels.voting import count_votes
from karatage.notation import parse_notation, print_word
from karatage.random_streams import stream
from karatage.text import shorten

Quality = Literal["ds", "glad", "ibcc", "mace", "onecoin", "ordinal", "ry", "wawa", "zc"]
HUGE = 1e9  # options beyond this are slips
WORTH_CHECKING = 5_000_000  # rows up to which a result is compared with the plain vote
MANY = 0.1
EXAMPLES = "mv, ds, ds(prior=none,scope=topic) or zc(supervision=light)"


class Model(Protocol):
    """What a model is: options, and `fit`."""

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Judgments | None = None,
        supervision: Supervision = "none",
        rng: Rng = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Merge the judgments."""
        ...


@dataclass(frozen=True, kw_only=True)
class BinomialVote:
    """BINMV: the probability of a grade is the share of the judges who gave it, among those who graded the item.

    With `quality`, a judge's weight is its agreement, beyond chance, with the consensus that this model finds. Each
    judge has one vote for an item, the last one given.
    """

    expected: ClassVar[bool] = True
    name: ClassVar[str] = "binmv"

    quality: Quality | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        if self.quality is not None and self.quality not in get_args(Quality):
            raise OptionError(f"quality '{self.quality}' is not one of {', '.join(get_args(Quality))}; leave it out")

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Judgments | None = None,
        supervision: Supervision = "none",
        rng: Rng = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Count votes, weighted with `quality`."""
        single = replace(judgments.settle(), with_repeats=None)
        votes = Votes.prepare(single, gold, supervision)
        notes = _tell_repeats(self.name, judgments.every, single)
        parameters: dict[str, FloatArray] = {}
        if self.quality is None:
            share = votes.share()
        elif supervision == "none" and not judges_meet(single):
            share, notes = votes.share(), (*notes, tell("alone-weighted"))
        else:
            found = MODELS[self.quality]().fit(
                judgments, gold=gold, supervision=supervision, rng=rng, progress=progress
            )
            quality = agree_beyond_chance(single, found.probability)
            share = votes.weigh(quality)
            notes = (*notes, *found.notes, *_tell_weights(f"{self.name}(quality={self.quality})", votes, quality))
            parameters["quality"] = quality
        # A document without grades is not relevant, as in all measures.
        share[np.diff(votes.rows.start) == 0] = np.arange(votes.grades) == 0
        posterior = votes.posterior(self.name, self._shape(share), parameters=parameters)
        return replace(posterior, notes=tuple(dict.fromkeys((*posterior.notes, *notes))))

    def _shape(self, share: FloatArray) -> FloatArray:
        """From shares of votes to probabilities, (item, grade)."""
        return share


@dataclass(frozen=True, kw_only=True)
class QuantisedBinomialVote(BinomialVote):
    """QBINMV: shares are moved towards 0 and 1 by a sigmoid of this `slope`, P(grade >= level) at each level from 1."""

    name: ClassVar[str] = "qbinmv"

    slope: float = 15.0

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        if not 0 < self.slope < math.inf:
            raise OptionError(f"slope {self.slope} must be a number above 0; a larger slope is closer to majority vote")

    def _shape(self, share: FloatArray) -> FloatArray:
        """1 / (1 + exp(-slope (p - 1/2))) of each tail; rising in p, so that tails still fall with the level."""
        tail = np.cumsum(share[:, :0:-1], axis=1)[:, ::-1]
        sharp = (1 + np.tanh(self.slope / 2 * (tail - 0.5))) / 2  # the same function, without overflow
        edge = np.ones((len(share), 1))
        probability: FloatArray = np.maximum(-np.diff(np.hstack([edge, sharp, 0 * edge]), axis=1), 0.0)
        return probability


def _tell_repeats(name: str, every: Judgments, single: Judgments) -> tuple[Note, ...]:
    aside = len(every.grade) - len(single.grade)
    return tell.when(aside, "earlier-aside", model=name, grades=aside)


def _tell_weights(name: str, votes: Votes, quality: FloatArray) -> tuple[Note, ...]:
    """Warnings, where weights are 0."""
    if not quality.any():
        return (tell("no-quality", model=name),)
    heard = np.diff(votes.rows.start)
    weight = np.bincount(np.repeat(np.arange(votes.items), heard), quality[votes.rows.judge], minlength=votes.items)
    unheard = int(((weight == 0) & (heard > 0)).sum())
    return tell.when(unheard, "unheard", model=name, items=unheard)


MODELS: Mapping[str, Callable[..., Model]] = {
    "binmv": BinomialVote,
    "cubam": Cubam,
    "ds": DawidSkene,
    "emgz": JudgeHistory,
    "emmv": TopicEM,
    "emneu": partial(TopicEM, start="neutral"),
    "emsemi": SemiSupervised,
    "glad": Glad,
    "ibcc": Ibcc,
    "mace": Mace,
    "mv": MajorityVote,
    "nb": NaiveBayes,
    "onecoin": OneCoin,
    "ordinal": Ordinal,
    "qbinmv": QuantisedBinomialVote,
    "ry": Raykar,
    "wawa": AgreementWeighted,
    "zc": ZenCrowd,
}


@dataclass(frozen=True)
class NamedModel:
    """A model with its options, under the name it was asked for by."""

    name: str
    model: Model
    supervision: Supervision | None = None

    @property
    def needs_gold(self) -> bool:
        """Whether the model can do nothing without gold."""
        return getattr(self.model, "needs_gold", False)

    @property
    def expected(self) -> bool:
        """Whether the model's probabilities are meant for expected measures rather than for a decision."""
        return getattr(self.model, "expected", False)

    @property
    def knows_two_grades(self) -> bool:
        """Whether the model can tell no more than two grades apart."""
        return getattr(self.model, "knows_two_grades", False)

    @property
    def by_topic(self) -> bool:
        """Whether the model learns about each judge on each topic."""
        return getattr(self.model, "scope", "all") == "topic"

    @property
    def slow(self) -> bool:
        """Whether merging millions of grades takes minutes."""
        return getattr(self.model, "slow", False)


def parse_model(text: str) -> NamedModel:
    """Read a model's name; `supervision` may stand among its options.

    >>> parse_model("ds(prior=none, scope='topic')").name
    'ds(prior=none,scope=topic)'
    """
    name, given, depth = parse_notation(text.strip(), "approach", EXAMPLES)
    if name not in MODELS:
        raise UnknownNameError("approach", name, MODELS)
    where = f"approach '{shorten(text)}'"
    if depth is not None:
        raise OptionError(f"{where}: a depth after @ is for measures")
    constructor = MODELS[name]
    model_class = constructor.func if isinstance(constructor, partial) else constructor
    assert isinstance(model_class, type)
    offered = {**_written_options(model_class), "supervision": Supervision}
    unknown = [option for option in given if option not in offered]
    if unknown:
        raise OptionError(f"{where}: {name} has no option '{shorten(unknown[0])}'; its options: {', '.join(offered)}")
    values = {option: _convert(f"{where}: {option}", value, offered[option]) for option, value in given.items()}
    spelled = ",".join(f"{option}={_print(value)}" for option, value in values.items())
    supervision = values.pop("supervision", None)
    assert supervision is None or isinstance(supervision, str)
    chosen: Supervision | None = next((s for s in get_args(Supervision) if s == supervision), None)
    return NamedModel(f"{name}({spelled})" if spelled else name, constructor(**values), chosen)


@show_options()
def aggregate(
    judgments: Judgments,
    approach: str | Model = "ds",
    *,
    gold: Judgments | None = None,
    supervision: Supervision | None = None,
    history: JudgeRecord | Posterior | None = None,
    rng: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
) -> Posterior:
    """Merge many judges' grades into one probability table per item.

    Args:
        judgments: The judges' grades.
        approach: A model's name, such as `mv`, `ds` or `zc(dialect=square)`, or a model.
        gold: Trusted grades for some of the items.
        supervision: What gold is used for: `none`, `light` (only priors of judges and grades are learned
            from it) or `full` (its grades are fixed and used in every step). Default: `full` where gold is given.
        history: Records of the judges from an earlier batch, as `kt.read_record` returns it; for `ds` and `emgz`.
        rng: Seed for models that draw at random.
        progress: Called with the number of each step and the objective after it.
    """
    require_data("gold", judgments=judgments, gold=gold)
    named = parse_model(approach) if isinstance(approach, str) else NamedModel("", approach)
    if history is not None:
        if not isinstance(named.model, DawidSkene | JudgeHistory):
            known = f"'{named.name}'" if named.name else type(named.model).__name__
            raise OptionError(f"a history is for ds and emgz, which keep a record of their judges, not for {known}")
        named = replace(named, model=replace(named.model, history=history))
    if supervision and named.supervision and supervision != named.supervision:
        raise OptionError(f"the name {named.name} and the option supervision '{supervision}' contradict each other")
    asked = supervision or named.supervision or ("none" if gold is None else "full")
    return merge(named, judgments, gold=gold, supervision=asked, rng=rng, progress=progress)


def merge(
    named: NamedModel,
    judgments: Judgments,
    *,
    gold: Judgments | None = None,
    supervision: Supervision = "none",
    rng: int | np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Posterior:
    """Fit a model; a note says if no item has two judges, or if the result often differs from majority vote."""
    if gold is not None and supervision != "none" and not (match_gold(judgments, gold) >= 0).any():
        raise DataError(
            "gold and judgments share no item, so gold has no effect; check that items are written the same way in both"
        )
    model = named.model
    counts = named.expected or isinstance(model, MajorityVote)
    learns = not named.needs_gold and not counts and getattr(model, "history", None) is None
    alone = supervision == "none" and learns and not judges_meet(judgments.every)
    if alone:
        model = MajorityVote()
    posterior = model.fit(judgments, gold=gold, supervision=supervision, rng=rng, progress=progress)
    posterior = replace(posterior, model=named.name or posterior.model)
    comparable = supervision == "none" and not isinstance(model, MajorityVote)
    doubts = (*tell.when(alone, "alone"), *(_tell_far_from_votes(posterior) if comparable else ()))
    return replace(posterior, notes=(*posterior.notes, *doubts))


def _tell_far_from_votes(posterior: Posterior) -> tuple[Note, ...]:
    """A warning, where a model often differs from the plain vote: it may be right, or judges may share errors."""
    judgments = posterior.judgments.every
    if len(judgments.grade) > WORTH_CHECKING:
        return ()
    votes = count_votes(judgments.row_start, judgments.grade, posterior.probability.shape[1])
    chosen = votes[np.arange(len(votes)), posterior.grades]
    share = float((chosen < votes.max(axis=1)).mean())
    return tell.when(share > MANY, "far-from-votes", model=posterior.model, share=share)


def fit_across_topics(
    named: NamedModel, judgments: Judgments, gold: Judgments, supervision: Supervision, *, seed: int
) -> Posterior:
    """Fit once per fold of topics with the gold of the other folds, and keep that fold's items."""
    with_gold = np.unique(judgments.item_topic[match_gold(judgments, gold) >= 0])
    fold_of, folds = deal_topics(named.name, len(judgments.topics), with_gold, seed)
    place = {name: t for t, name in enumerate(judgments.topics)}
    fold_of_gold = np.array([fold_of[place[name]] if name in place else -1 for name in gold.topics])
    parts = [
        named.model.fit(
            judgments,
            gold=gold.keep_rows(fold_of_gold[gold.item_topic[gold.item]] != fold),
            supervision=supervision,
            rng=stream(seed, named.name),
        )
        for fold in range(folds)
    ]
    probability, grades = parts[0].probability.copy(), parts[0].grades.copy()
    width = probability.shape[1]
    for fold, part in enumerate(parts):
        own = fold_of[judgments.item_topic] == fold
        if part.probability.shape[1] != width:
            raise DataError(f"gold has grades in only some topics that the judges never gave; {named.name} needs them")
        probability[own], grades[own] = part.probability[own], part.grades[own]
    told = (note for part in parts for note in part.notes if note.kind != "aggregation.gold-known")
    return replace(
        parts[0],
        model=named.name,
        probability=probability,
        grades=grades,
        parameters={},
        trace=np.empty(0),
        converged=all(part.converged for part in parts),
        notes=(tell("crossfit", model=named.name, folds=folds), *told),
    )


def _written_options(model: type) -> dict[str, object]:
    """Options that can be written in a name, with what they may be."""
    hints = get_type_hints(model)
    return {field.name: hints[field.name] for field in fields(model) if any(map(_describe, _parts(hints[field.name])))}


def _parts(hint: object) -> tuple[object, ...]:
    """What an annotation admits, one by one."""
    return get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)


def _describe(part: object) -> list[str]:
    """What can be written for a part of an annotation; nothing for None, and for what has no notation."""
    if get_origin(part) is Literal:
        return [str(word) for word in get_args(part)]
    if get_origin(part) is tuple:
        return ["numbers like (0.5,3)"]
    return [words for plain, words in _PLAIN.items() if part is plain]


_PLAIN = {bool: "True or False", float: "a number", int: "a whole number"}


def _convert(where: str, value: object, hint: object) -> object:
    parts = _parts(hint)
    for part in parts:
        if part is NoneType and value in (None, "none"):
            return None
        if get_origin(part) is Literal and value in get_args(part):
            return value
        if get_origin(part) is tuple and isinstance(value, tuple | list) and all(map(_is_number, value)):
            return tuple(float(number) for number in value)
        if part is float and isinstance(value, int | float) and _is_number(value):
            return float(value)
        if part in {bool, int} and type(value) is part:
            return value
    offered = [word for part in parts for word in _describe(part)] + ["none"] * (NoneType in parts)
    raise OptionError(f"{where} must be {' or '.join(offered)}, not {shorten(str(value))}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < HUGE


def _print(value: object) -> str:
    if isinstance(value, tuple):
        return "(" + ",".join(f"{number:g}" for number in value) + ")"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else print_word(value)
