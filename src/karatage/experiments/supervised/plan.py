"""The design of the s-AWARE experiment: approaches, and how gold is split [SAWARE20]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, get_args

from karatage.data.options import TEAMS, Teams
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.notes import tell
from karatage.experiments.plans import check_lists
from karatage.random_streams import settle_seed
from karatage.text import counted, shorten

if TYPE_CHECKING:
    import numpy as np

    from karatage.aggregation.registry import NamedModel
    from karatage.data.axes import BoolArray, IntArray, LongArray
    from karatage.data.note import Note
    from karatage.merging.estimators import Estimator, SupervisedEstimator

    Way = Literal["uniform"] | Estimator | SupervisedEstimator | NamedModel

Configuration = Literal["whole", "partitioned"]
CONFIGURATIONS: tuple[Configuration, ...] = get_args(Configuration)
UNIFORM: Literal["uniform"] = "uniform"
APPROACHES = (  # the columns of [SAWARE20] table 1
    "sup_rmse",
    "sup_tau",
    "sup_rmse_squared",
    "sup_tau_squared",
    "sup_rmse_cubed",
    "sup_tau_cubed",
    "unsup_rmse_tpc",
    "unsup_tau_tpc",
    UNIFORM,
    "mv",
    "emmv",
    "emGZ",
    "emsemi",
)
PAPER_NAMES = {"unsup_rmse_tpc": "tpc_rmse_msd", "unsup_tau_tpc": "tpc_tau_msd", "emGZ": "emgz(supervision=full)"}
TAUGHT_ON_DOCUMENTS = "emsemi"  # trained on some documents of every topic; all others on some topics


class Place(NamedTuple):
    """A set of systems, a panel of judges, and whether its judges are whole or partitioned."""

    systems: str
    panel: str
    configuration: str


@dataclass(frozen=True, kw_only=True)
class SupervisedPlan:
    """Which approaches are tried on how many judges, how often, and how much of gold is for training.

    Approaches are names or groups (`table1`, `sup`, `all30`, `own`). For emsemi, `training` is also the share of each
    topic's documents that are for training. In the partitioned configuration, a judge of a topic is a team of people.

    Args:
        measures: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8); may be repeated.
        approaches: An approach or a group of them; may be repeated.
        configurations: Whole or partitioned judges; may be repeated.
        sizes: Judges in a k-tuple: 2-30, or 2,3,5.
        samples: k-tuples drawn of each size.
        replicates: Random judges of each class for the weights.
        training: Share of topics whose gold is for training.
        people: People in a partitioned judge of a topic, at least and at most: 2-4.
        teams: Whether a partitioned judge's people are kept from topic to topic, or redrawn.
        seed: Seed of all random numbers.
    """

    measures: tuple[str, ...] = ("AP",)
    approaches: tuple[str, ...] = ("table1",)
    configurations: tuple[Configuration, ...] = CONFIGURATIONS
    sizes: tuple[int, ...] = (2, 3, 4, 5, 6, 7)
    samples: int = 100
    replicates: int = 1000
    training: float = 0.3
    people: tuple[int, int] = (2, 4)
    teams: Teams = "kept"
    seed: int = 0

    earlier: ClassVar[Mapping[str, str]] = {"teams": "redrawn"}  # in files without the option

    def __post_init__(self) -> None:
        """Check the options."""
        from karatage.measures.registry import parse_measure

        measures = [str(parse_measure(name)) for name in self.measures]
        check_lists(measure=measures, approach=self.approaches, configuration=self.configurations, size=self.sizes)
        unknown = next((name for name in self.configurations if name not in CONFIGURATIONS), None)
        if unknown is not None:
            raise UnknownNameError("configuration", unknown, CONFIGURATIONS)
        if min(self.sizes) < 1 or self.samples < 1 or self.replicates < 1:
            raise OptionError("sizes of k-tuples, samples and replicates are whole numbers from 1")
        if not 0 < self.training < 1:
            raise OptionError(f"training {self.training} is not a share of gold; give a number between 0 and 1")
        if not 1 <= self.people[0] <= self.people[1]:
            told = "-".join(map(str, self.people))
            raise OptionError(f"people {told}: give the least (1 or more) and the most people of a team, such as 2-4")
        if self.teams not in TEAMS:
            raise UnknownNameError("teams", self.teams, TEAMS)
        settle_seed(self.seed)
        assert self.ways  # unknown names are refused before any work

    @cached_property
    def ways(self) -> Mapping[str, Way]:
        """The approaches, by the names that were given; groups are replaced by their members."""
        groups = _list_groups()
        names = (member.strip() for name in self.approaches for member in groups.get(name, (name,)))
        return {name: read_way(name) for name in names}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the approaches, in order."""
        return tuple(self.ways)

    def find_sizes(self, place: Place, judges: int, notes: list[Note]) -> tuple[int, ...]:
        """The sizes of k-tuples that can be drawn from a number of judges; the others are noted."""
        sizes = tuple(size for size in self.sizes if size <= judges)
        lost = ", ".join(str(size) for size in self.sizes if size > judges)
        where = ", ".join(place)
        if not sizes:
            told = f"k-tuples of {lost} cannot be drawn from {counted(judges, 'judge')}"
            raise OptionError(f"{where}: {told}; give smaller sizes")
        if lost:
            notes.append(tell("sizes-large", sizes=lost, judges=judges).about(where))
        return sizes


def _list_groups() -> dict[str, tuple[str, ...]]:
    """Names of groups of approaches."""
    from karatage.approaches.registry import GROUPS

    return {"table1": APPROACHES, **GROUPS}


def read_way(name: str) -> Way:
    """The approach of a name; the paper's names are known, too."""
    from karatage.aggregation.registry import MODELS, parse_model
    from karatage.merging.estimators import ESTIMATORS, OWN, SUPERVISED, Estimator, parse_estimator
    from karatage.simulation.crowd import list_crowds

    text = PAPER_NAMES.get(name, name)
    if text == UNIFORM:
        return UNIFORM
    estimated = parse_estimator(text, list_crowds())
    if estimated is not None:
        estimator = estimated[1]
        if isinstance(estimator, Estimator) and "replicates" in text:
            raise OptionError(f"approach '{shorten(name)}': replicates are an option of the plan; leave them out here")
        return estimator
    if text.partition("(")[0].strip() not in MODELS:
        raise UnknownNameError(
            "approach", name, [UNIFORM, *_list_groups(), *PAPER_NAMES, *SUPERVISED, *ESTIMATORS, *OWN, *MODELS]
        )
    model = parse_model(text)
    if model.expected:
        raise OptionError(f"approach '{shorten(name)}' is for expected measures, which this experiment does not have")
    return model


def find_family(name: str) -> str:
    """The kind of an approach, as coloured in table 1 of [SAWARE20]."""
    from karatage.aggregation.registry import NamedModel
    from karatage.merging.estimators import SupervisedEstimator

    way = read_way(name)
    if isinstance(way, NamedModel):
        return "merged grades"
    return "s-AWARE" if isinstance(way, SupervisedEstimator) else "u-AWARE"


class Split(NamedTuple):
    """The gold that one sample uses for training: some topics, or some documents of every topic."""

    topics: BoolArray  # (topic,) for training
    documents: BoolArray  # (item,) for training
    evaluated: BoolArray  # (item,) documents that are not for training, in topics that are not


def draw_split(
    item_topic: IntArray, pool: BoolArray, topics: LongArray, share: float, rng: np.random.Generator
) -> Split:
    """Draw a share of `topics`, and of each one's items in the `pool`, for training: at least one, but not all.

    A topic with a single document has no documents for training.
    """
    import numpy as np

    if len(topics) < 2:
        raise DataError(f"a split into training and test topics needs at least two topics, not {len(topics)}")
    training = np.zeros(int(item_topic.max()) + 1, bool)
    training[rng.permutation(topics)[: _cut(share, len(topics))]] = True
    documents = np.zeros(len(pool), bool)
    for t in topics:
        items = np.flatnonzero(pool & (item_topic == t))
        if len(items) > 1:
            documents[rng.permutation(items)[: _cut(share, len(items))]] = True
    test = np.isin(item_topic, topics) & ~training[item_topic]
    return Split(training, documents, pool & test & ~documents)


def _cut(share: float, count: int) -> int:
    """The number of items for training: the nearest whole number, but neither none nor all."""
    return min(max(int(share * count + 0.5), 1), count - 1)
