"""One question about some systems: their rankings, the judges' grades, and gold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from karatage.approaches.registry import evaluate_known
from karatage.correction.curved import Ranked
from karatage.correction.design import NEARLY_ALL, GoldDesign, errors_given_gold, find_whole_topics, read_design
from karatage.correction.ideal import DRAWS, Pool, draw_ideals, measure_ideals
from karatage.correction.sampled import Drawn, choose_sizes, learn_gains, level_sizes
from karatage.data.alignment import Alignment, align, tell_scales
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray
from karatage.data.evaluation import Evaluation
from karatage.data.judgments import Judgments, find_items
from karatage.data.note import Note
from karatage.data.records import StudyRecord
from karatage.data.runs import Runs
from karatage.decisions.gold_errors import LearnedErrors, average_answers, count_answers, learn_errors
from karatage.decisions.material import DEFAULT_MERGE, Kept, Material, Meeting, gives_grades, name_process
from karatage.decisions.notes import tell
from karatage.decisions.question import Question
from karatage.errors import DataError
from karatage.measures.registry import as_curve, as_weighted_sum
from karatage.measures.scoring import say_unjudged
from karatage.measures.spec import Curve, WeightedSum
from karatage.random_streams import stream
from karatage.text import count_names

UNJUDGED = 0.2  # of the usual gain, for documents that no judge graded; only sizes depend on it
DIGITS = 16  # of a fingerprint
IMPUTED = 8  # draws of gold's true grades, for ideal gains
LETTER = "f"  # in front, or a spreadsheet would take some fingerprints for numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class Case:
    """Systems over the topics that some of them answered; items are the pool and all documents that count."""

    question: Question
    material: Material  # all that was given
    approach: str
    merge: str  # whose grades gold corrects: the approach, or a vote where that gives scores
    meeting: Meeting  # of these systems and the judges
    topics: LongArray  # those that count
    gold: Judgments | None
    seed: int
    frame: BoolArray | None = None  # (item,) what gold is a simple random sample of, if it is one
    shift: FloatArray | None = None  # (grade,) of the gains of gold's answers, whose correction is uncertain
    kept: Kept = field(init=False, default_factory=Kept, repr=False)

    @property
    def gives_grades(self) -> bool:
        """Whether the approach gives grades; others give scores."""
        return self.merge == self.approach

    @property
    def runs(self) -> Runs:
        """The runs of these systems."""
        return self.meeting.runs

    @property
    def pool(self) -> Judgments:
        """The grades of the merged judge, over all items."""
        return self.meeting.pool

    @property
    def alignment(self) -> Alignment:
        """The systems' rankings as items."""
        return self.meeting.alignment

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems."""
        return self.runs.systems

    @property
    def scores(self) -> FloatArray:
        """Scores (topic, system) by the judges."""
        return self._scored[0]

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Notes on scores, judges and gold."""
        notes = dict.fromkeys((*self._scored[1], *self._tell_gaps()))
        return tuple(note for note in notes if not (self.disjoint and note.kind == "data.lacking-topics"))

    def _tell_gaps(self) -> Iterator[Note]:
        """Notes on what judges and gold graded."""
        pool, alignment, measure = self.pool, self.alignment, self.question.parsed
        shown = alignment.ranked[:, :, : measure.cutoff]
        placed = shown[shown >= 0]
        missing = int((np.diff(pool.row_start)[placed] == 0).sum())
        yield from say_unjudged(missing, len(placed), measure, len(alignment.systems))
        if self.gold is not None:
            told = {"data.gold-answers"} if self.gold_errors is not None else set()  # its result says more
            yield from (note.about("gold") for note in self.gold.notes if note.kind not in told)
            yield from tell_scales(self.material.judgments, self.gold)
        unseen = np.ones(len(alignment.topics), bool)
        unseen[pool.item_topic[pool.item]] = False
        names = tuple(alignment.topics[t] for t in alignment.retrieved_topics if unseen[t])
        yield from tell.when(names, "topics-unjudged", topics=names)

    @cached_property
    def _scored(self) -> tuple[FloatArray, tuple[Note, ...]]:
        if self.gives_grades:
            scored = self.material.score(self.meeting, self.question.parsed)
            return scored.value[0][self.topics], scored.notes
        result = self._evaluation
        (scored,) = result.scores.values()
        if len(scored.judges) > 1:
            raise DataError(f"'{self.approach}' stands for several approaches; name one")
        row = {name: t for t, name in enumerate(scored.topics)}
        column = [scored.systems.index(name) for name in self.systems]
        return scored.value[0][[row[name] for name in self.topic_names]][:, column], result.notes

    @property
    def _evaluation(self) -> Evaluation:
        """Scores by an approach that merges scores, which may use all systems."""
        material, measure = self.material, self.question.parsed
        return material.kept.once(
            ("evaluate", self.approach, measure, self.seed),
            lambda: evaluate_known(
                material.list_known(self.seed),
                material.runs,
                material.judgments,
                measure,
                approach=self.approach,
                rng=self.seed,
            ),
        )

    @property
    def depth(self) -> int:
        """Ranks that count."""
        return min(self.question.parsed.cutoff or self.runs.depth, int(self.alignment.ranked.shape[2]))

    @cached_property
    def top_grade(self) -> int:
        """The highest grade of judges or gold."""
        return max(self.pool.top_grade, 0 if self.gold is None else self.gold.top_grade)

    @cached_property
    def linear(self) -> WeightedSum | None:
        """The measure as a weighted sum, if it is one."""
        return as_weighted_sum(self.question.parsed, self.depth, self.top_grade)

    @cached_property
    def curve(self) -> Curve | None:
        """The measure as a smooth function of gains, if it is one."""
        return as_curve(self.question.parsed, self.top_grade)

    @property
    def gain(self) -> FloatArray | None:
        """The gain of each grade (grade,); None for measures that gold on single documents does not correct."""
        if self.linear is not None:
            return self.linear.gain
        return None if self.curve is None else self.curve.gain

    @cached_property
    def said(self) -> GradeArray:
        """The judges' grade of each item, -1 = none."""
        said = np.full(len(self.pool.item_topic), -1, np.int8)
        said[self.pool.item] = self.pool.grade
        return said

    @cached_property
    def topic(self) -> LongArray:
        """Which of the topics that count an item belongs to, -1 = none."""
        place = np.full(len(self.alignment.topics), -1)
        place[self.topics] = np.arange(len(self.topics))
        return place[self.pool.item_topic]

    @property
    def additive(self) -> bool:
        """Whether a score is a sum over the documents that a system retrieved, without ideal gains."""
        return self.linear is not None and not self.linear.normalised

    @cached_property
    def weight(self) -> FloatArray:
        """The weight of an item for each system, (item, system): of a curve, the derivatives at what is known."""
        if self.curve is not None:
            weight = np.zeros((len(self.said), len(self.systems)))
            weight[self.topic >= 0] = self._climb()
            return weight
        if self.scale is None:
            return self.rank_weight
        return self.rank_weight * np.where(self.topic >= 0, self.scale[self.topic], 0.0)[:, None]

    @cached_property
    def weight_without_gold(self) -> FloatArray:
        """The same without gold, which changes the ideal gains of nDCG."""
        return self.weight if self.additive else replace(self, gold=None).weight

    def _climb(self) -> FloatArray:
        """Derivatives of a curve (item, system), at the gains to expect before gold, or by gold."""
        assert self.curve is not None
        inside = self.topic >= 0
        said, gain = self.said[inside].astype(np.int64), self.curve.gain
        if self.gold is not None and (self.gold_item >= 0).any():
            place = np.cumsum(inside) - 1
            drawn = replace(self.drawn, item=place[self.drawn.item])
            likely = learn_gains(said, self.topic[inside], drawn)
            likely[drawn.item] = drawn.gain
        else:
            middle = gain.mean() or 0.5  # judges whose scale ends below the lowest relevant grade
            likely = np.where(said >= 0, (gain[said] + middle) / 2, UNJUDGED * middle)
        return self.rankings.expand(likely, likely).weight

    @property
    def rankings(self) -> Ranked:
        """The systems' rankings of the items in topics that count, for a curve."""
        assert self.curve is not None
        inside = self.topic >= 0
        place = np.r_[np.cumsum(inside) - 1, -1].astype(np.int32)
        ranked = self.alignment.ranked[self.topics][:, :, : self.depth]
        return Ranked(self.curve.climb, self.curve.ratio, place[ranked], self.topic[inside])

    @cached_property
    def scale(self) -> FloatArray | None:
        """The factor of a topic's sums (topic,): 1 over the ideal gain, by judges and gold."""
        if self.inverse_ideals is None:
            return None
        mean: FloatArray = self.inverse_ideals.mean(axis=0)
        return mean if self.gold is not None or not mean.any() else np.where(mean > 0, mean, np.median(mean[mean > 0]))

    @cached_property
    def inverse_ideals(self) -> FloatArray | None:
        """1 over likely ideal gains (draw, topic), 0 where they are 0; None for measures without ideal gains."""
        if self.linear is None or not self.linear.normalised:
            return None
        inside = self.topic >= 0
        if self.frame is not None:  # else an item could be not relevant in the sums but relevant in the ideal
            inside &= self.frame | self.judged
        pool = Pool(
            said=self.said[inside].astype(np.int64),
            topic=self.topic[inside],
            topics=len(self.topics),
            systems=(self.rank_weight[inside] > 0).sum(axis=1),
        )
        if self.gold is None or not (self.gold_item >= 0).any():
            counts = np.zeros((len(self.topics), len(self.linear.gain)), np.int64)
            judged = self.judged
            np.add.at(counts, (self.topic[judged], self.said[judged]), 1)
            ideal = measure_ideals(counts, self.linear.gain, self.linear.weight)[None]
        else:
            place = np.cumsum(inside) - 1
            drawn = replace(self.drawn, item=place[self.drawn.item])
            grade = self.gold_grade[self.drawn.item].astype(np.int64)
            ideal = self._draw_ideals(pool, drawn, grade)
        return np.where(ideal > 0, 1 / np.where(ideal > 0, ideal, 1.0), 0.0)

    def _draw_ideals(self, pool: Pool, drawn: Drawn, grade: LongArray) -> FloatArray:
        """Likely ideal gains (draw, topic); with gold's errors, for likely true grades of gold's items."""
        assert self.linear is not None
        assert self.gold is not None
        rng = stream(self.seed, "ideal")
        gain, weight = self.linear.gain, self.linear.weight
        gold, errors = self.gold, self.gold_errors
        if errors is None:
            return draw_ideals(pool, drawn, grade, gain, weight, rng=rng)

        def draw() -> FloatArray:
            inside = self.gold_item >= 0
            likely = errors.weigh_kinds(gold, inside, self.said[self.gold_item[inside]], 1 / drawn.pi)
            return np.concatenate(
                [
                    draw_ideals(
                        pool, drawn, errors.draw_grades(likely, rng), gain, weight, rng=rng, draws=DRAWS // IMPUTED
                    )
                    for _ in range(IMPUTED)
                ]
            )

        frame = None if self.frame is None else self.frame.tobytes()
        key = ("ideals", self.question.parsed, self.systems, self.merge, self.seed, frame)
        return self.material.kept.once(key, draw)  # gains, which may be shifted, have no effect on them

    @cached_property
    def rank_weight(self) -> FloatArray:
        """The weight of an item's rank for each system, (item, system)."""
        assert self.linear is not None
        weight = np.zeros((len(self.pool.item_topic), len(self.systems)))
        ranked = self.alignment.ranked[self.topics][:, :, : len(self.linear.weight)]
        _, system, rank = np.nonzero(ranked >= 0)
        weight[ranked[ranked >= 0], system] = self.linear.weight[rank]
        return weight

    @cached_property
    def matters(self) -> BoolArray:
        """Items on which systems differ; for measures that are not weighted sums, all judged items.

        A curve depends on all documents of topics that systems rank differently: on what is retrieved, or on all
        relevant documents.
        """
        counts = self.topic >= 0
        if self.curve is not None:
            ranked = self.alignment.ranked[self.topics][:, :, : self.depth]
            differ = (ranked != ranked[:, :1]).any(axis=(1, 2))
            counts[counts] = differ[self.topic[counts]]
            if not self.curve.ratio:
                retrieved = np.zeros_like(counts)
                retrieved[ranked[ranked >= 0]] = True
                counts &= retrieved
            return counts
        if self.linear is None:
            return counts & (self.said >= 0)
        return np.asarray(counts & (self.rank_weight.max(axis=1) > self.rank_weight.min(axis=1)))

    @cached_property
    def same(self) -> str | None:
        """What two systems have in common, if they cannot differ by the measure."""
        if len(self.systems) != 2:
            return None
        if self.linear is not None:
            alike = not self.matters.any()
        else:
            shown = self.alignment.ranked[self.topics][:, :, : self.depth]
            alike = bool((shown[:, 0] == shown[:, 1]).all())
        return self.question.sameness if alike else None

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of the documents that matter, from which gold is drawn."""
        return take_fingerprint(self.pool, np.flatnonzero(self.matters))

    @cached_property
    def ranks(self) -> NDArray[np.int16]:
        """The rank of an item in each given system, among the ranks that count; 0 = none, (item, system)."""
        given = self.material.runs
        same = given.systems == self.systems
        ranked = (self.alignment if same else align(given, self.pool)).ranked[self.topics][:, :, : self.depth]
        rank = np.zeros((len(self.pool.item_topic), len(given.systems)), np.int16)
        _, system, place = np.nonzero(ranked >= 0)
        rank[ranked[ranked >= 0], system] = place + 1
        return rank

    def find_sizes(self, weight: FloatArray, pairs: Sequence[tuple[int, int]] | None = None) -> FloatArray:
        """How much items that matter do so, by their `weight` (item, system), when gold is drawn."""
        size = choose_sizes(weight, pairs)
        return size if self.curve is None else level_sizes(size)

    @cached_property
    def gold_item(self) -> LongArray:
        """The item of each grade of gold, -1 = outside the pool or the topics that count."""
        assert self.gold is not None
        item = find_items(self.gold, self.pool)[self.gold.item]
        return np.where((item >= 0) & (self.topic[item] >= 0), item, -1)

    @cached_property
    def gold_grade(self) -> GradeArray:
        """Gold's grade of each item, -1 = none."""
        grade = np.full(len(self.pool.item_topic), -1, np.int8)
        if self.gold is not None:
            inside = self.gold_item >= 0
            grade[self.gold_item[inside]] = self.gold.grade[inside]
        return grade

    @cached_property
    def drawn(self) -> Drawn:
        """Gold's items that count, with their sampling probabilities; 1 where gold has none."""
        assert self.gold is not None
        inside = np.flatnonzero(self.gold_item >= 0)
        draw = self.gold.draw
        return Drawn(
            item=self.gold_item[inside],
            gain=self.gold_gain[inside],
            pi=np.ones(len(inside)) if draw is None else draw.pi[inside],
            batch=np.ones(len(inside), np.int64) if draw is None else draw.batch[inside].astype(np.int64),
        )

    @cached_property
    def gold_errors(self) -> LearnedErrors | None:
        """Gold's own errors, if enough items were graded more than once; only for weighted sums."""
        if self.gold is None or self.gold.answers is None or self.linear is None:
            return None
        gold, gain = self.gold, self.linear.gain
        return self.material.kept.once(("gold errors", gain.tobytes()), lambda: learn_errors(gold, gain))

    @cached_property
    def gold_errors_by_grade(self) -> LearnedErrors | None:
        """The same by grades, for measures that are not weighted sums."""
        return None if self.gold is None else learn_errors(self.gold, np.arange(self.top_grade + 1.0))

    @cached_property
    def gold_gain(self) -> FloatArray:
        """The gain of each grade of gold (row,), corrected for gold's own errors where these are known."""
        assert self.gold is not None
        assert self.gain is not None
        if self.gold_errors is None:
            return self.gain[self.gold.grade]
        shift = 0.0 if self.shift is None else self.shift
        return average_answers(self.gold, self.gold_errors.gain + shift)

    @cached_property
    def gold_noise(self) -> FloatArray | None:
        """The variance of these gains around the target (row,); None where gold is taken as correct."""
        if self.gold is None or self.gold_errors is None:
            return None
        answers = count_answers(self.gold, by_judge=self.gold_errors.told_apart)
        return average_answers(self.gold, self.gold_errors.noise) / answers

    @cached_property
    def gold_scores(self) -> FloatArray:
        """Gold's scores (topic, system), NaN for topics without gold."""
        assert self.gold is not None
        if self.gold_errors is not None:
            return self._add_gold()
        scored = self.material.score_by_gold(self.runs, self.question.parsed)
        place = {name: t for t, name in enumerate(self.gold.topics)}
        value = np.full(self.scores.shape, np.nan)
        for t, topic in enumerate(self.topic_names):
            if topic in place:
                value[t] = scored.value[0, place[topic]]
        return value

    def _add_gold(self) -> FloatArray:
        """Gold's scores as sums of corrected gains."""
        inside = self.gold_item >= 0
        item = self.gold_item[inside]
        value = np.zeros(self.scores.shape)
        np.add.at(value, self.topic[item], self.weight[item] * self.gold_gain[inside][:, None])
        value[np.bincount(self.topic[item], minlength=len(value)) == 0] = np.nan
        return value

    @property
    def topic_names(self) -> tuple[str, ...]:
        """The topics that count."""
        return tuple(self.alignment.topics[t] for t in self.topics)

    @property
    def judged(self) -> BoolArray:
        """Judged items in topics that count."""
        return (self.topic >= 0) & (self.said >= 0)

    @cached_property
    def design(self) -> GoldDesign:
        """What kind of sample gold is.

        For a weighted sum gold on all documents that matter is as good as gold on the whole pool.
        """
        assert self.gold is not None
        known = self.judged & (self.gold_grade >= 0)
        design = self.read_design_in(self.judged)
        if design.kind == "items" and self.gold.draw is not None and self.gain is not None:
            return replace(design, kind="sampled", clustered=False)  # pi is 1, but the ideal also depends on the rest
        if design.kind == "items" and self.additive:
            needed = self._count(self.matters)  # judged or not, gold must contain them
            whole = self._count(self.matters & (self.gold_grade >= 0)) >= NEARLY_ALL * needed
            touched = self._count(known) > 0
            if whole.all() and needed.any():
                return replace(design, kind="census", clustered=False)
            if whole[touched].all() and (needed[touched] > 0).sum() > 1:
                return replace(design, kind="topics", clustered=True)
        return design

    def read_design_in(self, pool: BoolArray) -> GoldDesign:
        """What kind of sample of a `pool` (item,) gold is."""
        assert self.gold is not None
        known = self.judged & (self.gold_grade >= 0)
        rest = len(self.gold.grade) - int(known.sum())
        return read_design(
            np.r_[self.topic[known], np.full(rest, -1)],
            np.r_[self._errors(known), np.zeros(rest)],
            self._count(pool),
            pi=None if self._is_census else np.ones(len(self.gold.grade)),
        )

    @property
    def _is_census(self) -> bool:
        """Whether gold is not known to be a sample: pi is absent, or 1 everywhere and no plain weighted sum."""
        assert self.gold is not None
        return self.gold.draw is None or (not self.additive and bool((self.gold.draw.pi == 1).all()))

    @cached_property
    def gold_topics(self) -> BoolArray:
        """Topics (topic,) with gold on all judged documents, or for weighted sums on all that matter."""
        whole = find_whole_topics(self._count(self.judged & (self.gold_grade >= 0)), self._count(self.judged))
        if not self.additive:
            return whole
        return whole | find_whole_topics(self._count(self.matters & (self.gold_grade >= 0)), self._count(self.matters))

    def _errors(self, known: BoolArray) -> FloatArray:
        """The judges' errors on gold items."""
        gain = self.gain
        if gain is None:
            return errors_given_gold(self.gold_grade[known], self.said[known])
        return errors_given_gold(
            np.unique(gain, return_inverse=True)[1][self.gold_grade[known]], gain[self.said[known]]
        )

    def _count(self, items: BoolArray) -> LongArray:
        """The number of these items in each topic, (topic,)."""
        return np.bincount(self.topic[items], minlength=len(self.topics))

    @cached_property
    def disjoint(self) -> bool:
        """Whether no two systems answered the same topic."""
        return int(self.answered.any(axis=0).sum()) > 1 and not (self.answered.sum(axis=1) > 1).any()

    @cached_property
    def answered(self) -> BoolArray:
        """Topics for which a system retrieved something, (topic, system)."""
        return self.alignment.length[self.topics] > 0

    def topics_of(self, system: int) -> LongArray:
        """The topics of a system's mean score: those it answered where systems share none, else all."""
        return np.flatnonzero(self.answered[:, system]) if self.disjoint else np.arange(len(self.topics))

    @property
    def paired(self) -> bool:
        """Whether differences are taken topic by topic."""
        return self.question.paired and not self.disjoint


def take_fingerprint(pool: Judgments, items: LongArray) -> str:
    """A hash of items, independent of their order."""
    topic = [pool.topics[t] for t in pool.item_topic[items]]
    document = pool.documents.gather(pool.item_document[items]).to_list()
    lines = sorted(f"{t}\t{d}\n" for t, d in zip(topic, document, strict=True))
    return LETTER + hashlib.sha256("".join(lines).encode()).hexdigest()[: DIGITS - 1]


def make_case(
    runs: Runs,
    judgments: Judgments,
    gold: Judgments | None,
    question: Question,
    *,
    systems: Sequence[str],
    seed: int,
    record: StudyRecord | None = None,
) -> Case:
    """The case of a question about new data."""
    material = Material(runs=runs, judgments=judgments, gold=gold, record=record)
    return ask(material, question, systems=systems, seed=seed)


def ask(material: Material, question: Question, *, systems: Sequence[str], seed: int | None = None) -> Case:
    """The case of a question about some systems; it shares work with other questions about the material."""
    seed = question.seed if seed is None else seed
    key = question, tuple(systems), seed
    case = material.cases.get(key)
    if case is None:
        case = material.cases[key] = _make(material, question, systems, seed)
    return case


def _make(material: Material, question: Question, systems: Sequence[str], seed: int) -> Case:
    approach = name_process(question.approach, material.judgments)
    merge = approach if gives_grades(approach) else DEFAULT_MERGE
    meeting = material.meet(merge, seed, systems, question.parsed.cutoff)
    alignment = meeting.alignment
    judged = material.judge(merge, seed)
    seen = np.zeros(len(alignment.topics), bool)
    seen[judged.item_topic[judged.item]] = True
    topics = alignment.retrieved_topics
    topics = topics[seen[topics]]
    if not len(topics):
        raise DataError("the judges graded no document of the topics that these systems answered")
    idle = [name for s, name in enumerate(systems) if not alignment.length[topics, s].any()]
    if len(systems) - len(idle) < 2:
        raise DataError(
            f"systems without a document for the judged topics: {count_names(idle)}; give runs of two systems or more "
            f"with judged topics"
        )
    case = Case(
        question=question,
        material=material,
        approach=approach,
        merge=merge,
        meeting=meeting,
        topics=topics,
        gold=material.gold,
        seed=seed,
    )
    if not case.gives_grades:
        case.scores  # noqa: B018 refuse unknown approaches first
    return case
