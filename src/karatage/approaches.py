"""The registry of approaches and `evaluate`: the only place where the stages meet.

An approach turns judgments into one score per topic and system. A model that merges grades becomes one by its entry in
`aggregation.registry.MODELS`; for any other, write a function from `Evidence` to scores and enter it in `APPROACHES`.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version

import numpy as np

from karatage.aggregation.crossfit import fit_across_topics
from karatage.aggregation.registry import MODELS, NamedModel, merge, parse_model
from karatage.comparison.rankings import kendall_tau, rmse, tau_ap
from karatage.data.alignment import Alignment, align
from karatage.data.axes import FloatArray
from karatage.data.evaluation import Evaluation, Fidelity
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior
from karatage.data.runs import Runs
from karatage.data.scores import Scores, mean_over_topics
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.measures.scoring import score_aligned
from karatage.measures.spec import Measure, parse_measure
from karatage.seeding import settle_seed, stream
from karatage.wording import count_names, counted

JUDGE = "judge:"
ALL_JUDGES = "judge:*"
FEW_ITEMS = 10


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What an approach may look at; work that several approaches need is done once."""

    alignment: Alignment
    judgments: Judgments
    gold: Judgments | None
    measures: tuple[str, ...]
    seed: int

    @cached_property
    def by_judge(self) -> dict[str, Scores]:
        """Scores under every judge alone."""
        return score_aligned(self.alignment, self.judgments, self.measures)

    def rng(self, name: str) -> np.random.Generator:
        """The random stream of an approach."""
        return stream(self.seed, name)


@dataclass(frozen=True, eq=False)
class Merged:
    """An approach's scores for one measure."""

    value: FloatArray  # (topic, system), NaN where there is none
    posterior: Posterior | None = None  # of approaches that merge grades
    notes: tuple[str, ...] = ()


Approach = Callable[[Evidence], dict[str, Merged]]


def _uniform(evidence: Evidence) -> dict[str, Merged]:
    """The plain mean of the scores under each judge present in a topic."""
    return {name: Merged(_mean_over_judges(scores)) for name, scores in evidence.by_judge.items()}


def _mean_over_judges(scores: Scores) -> FloatArray:
    weight = scores.judged[:, :, None] & np.isfinite(scores.value)
    total = np.where(weight, scores.value, 0.0).sum(axis=0)
    count = weight.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _upstream(named: NamedModel) -> Approach:
    def approach(evidence: Evidence) -> dict[str, Merged]:
        """Grades merged by a model, then measured."""
        posterior = _merge_grades(named, evidence)
        scored = score_aligned(evidence.alignment, posterior.as_judgments(), evidence.measures)
        return {
            name: Merged(scores.value[0], posterior, scores.notes + posterior.notes) for name, scores in scored.items()
        }

    return approach


def _merge_grades(named: NamedModel, evidence: Evidence) -> Posterior:
    """Without gold, unless the name asks for it: gold is there to compare with."""
    supervision = named.supervision or ("full" if named.needs_gold else "none")
    if supervision == "none":
        return merge(named, evidence.judgments, rng=evidence.rng(named.name))
    if evidence.gold is None:
        raise OptionError(f"{named.name} learns from gold, and none is given; give gold, or choose another approach")
    return fit_across_topics(named, evidence.judgments, evidence.gold, supervision, seed=evidence.seed)


def _judge_alone(judge: int) -> Approach:
    def approach(evidence: Evidence) -> dict[str, Merged]:
        """One judge's own scores, on the topics the judge has seen."""
        return {
            name: Merged(np.where(scores.judged[judge][:, None], scores.value[judge], np.nan))
            for name, scores in evidence.by_judge.items()
        }

    return approach


APPROACHES: dict[str, Approach] = {"uniform": _uniform, **{name: _upstream(parse_model(name)) for name in MODELS}}


def resolve_approaches(names: Sequence[str], judges: tuple[str, ...]) -> Iterator[tuple[str, Approach]]:
    """Find approaches by name; `judge:NAME` is one judge alone, `judge:*` every judge in turn."""
    for name in names:
        if name == ALL_JUDGES:
            yield from ((JUDGE + judge, _judge_alone(k)) for k, judge in enumerate(judges))
        elif name.startswith(JUDGE):
            if name.removeprefix(JUDGE) not in judges:
                raise UnknownNameError("judge", name.removeprefix(JUDGE), judges)
            yield name, _judge_alone(judges.index(name.removeprefix(JUDGE)))
        elif name in APPROACHES:
            yield name, APPROACHES[name]
        elif name.partition("(")[0].strip() in MODELS:
            named = parse_model(name)
            yield named.name, _upstream(named)
        else:
            raise UnknownNameError("approach", name, [*APPROACHES, "judge:NAME", ALL_JUDGES])


def evaluate(
    runs: Runs,
    judgments: Judgments,
    measure: str | Measure | Sequence[str | Measure],
    *,
    approach: str | Sequence[str] = "uniform",
    gold: Judgments | None = None,
    rng: int | np.random.Generator | None = None,
) -> Evaluation:
    """Rank systems by one or more measures and approaches; with gold, say how near each comes to gold's ranking.

    Args:
        runs: What the systems retrieved.
        judgments: What the judges said.
        measure: A measure such as `nDCG@10`, or several.
        approach: `uniform`, a model that merges grades such as `mv`, `ds` or `glad`, `judge:NAME`, `judge:*` for
            every judge in turn, or several.
        gold: Trusted grades to compare with. Models that learn from gold see, for each topic, that of the others.
        rng: Seed for approaches that draw at random.
    """
    measures = [measure] if isinstance(measure, str | Measure) else list(measure)
    names = [approach] if isinstance(approach, str) else list(approach)
    if not measures or not names:
        raise DataError("evaluate needs at least one measure and one approach")
    asked = tuple(dict.fromkeys(str(parse_measure(m)) for m in measures))
    evidence = Evidence(
        alignment=align(runs, judgments), judgments=judgments, gold=gold, measures=asked, seed=settle_seed(rng)
    )
    found = dict(resolve_approaches(names, judgments.judges))
    merged = {name: approach(evidence) for name, approach in found.items()}
    scores = {name: _stack(evidence, name, {a: m[name] for a, m in merged.items()}) for name in asked}
    trusted = None if gold is None else _score_gold(runs, gold, asked)
    fidelity = [] if trusted is None else _compare_with_gold(scores, trusted)
    notes = (
        *(note for s in evidence.by_judge.values() for note in s.notes),
        *_tell_judges(evidence, gold),
        *(note for s in scores.values() for note in s.notes),
        *(f"gold: {note}" for s in (trusted or {}).values() for note in s.notes if note not in runs.notes),
        *_tell_topics(evidence, gold),
    )
    return Evaluation(
        scores=scores,
        gold=trusted,
        fidelity=tuple(fidelity),
        posteriors={name: p for name, m in merged.items() if (p := m[asked[0]].posterior) is not None},
        judges=len(judgments.judges),
        judges_first={name: _count_winners(evidence.by_judge[name]) for name in asked},
        seed=evidence.seed,
        versions={"karatage": version("karatage"), "python": platform.python_version()},
        notes=tuple(dict.fromkeys(notes)),
    )


def _stack(evidence: Evidence, measure: str, merged: dict[str, Merged]) -> Scores:
    """Approaches side by side, on the topics that some run has: the others tell nothing of any system."""
    value = np.stack([m.value for m in merged.values()])
    return Scores(
        measure=measure,
        judges=tuple(merged),
        topics=evidence.alignment.topics,
        systems=evidence.alignment.systems,
        value=value,
        judged=np.asarray(np.isfinite(value).all(axis=2)),
        notes=tuple(dict.fromkeys(note for m in merged.values() for note in m.notes)),
    ).on_topics(evidence.alignment.retrieved_topics)


def _score_gold(runs: Runs, gold: Judgments, measures: Sequence[str]) -> dict[str, Scores]:
    alignment = align(runs, gold)
    scored = score_aligned(alignment, gold, measures)
    return {name: scores.on_topics(alignment.retrieved_topics) for name, scores in scored.items()}


def _count_winners(scores: Scores) -> int:
    return len(set(np.argmax(np.nan_to_num(scores.mean, nan=-1.0), axis=1).tolist()))


def _compare_with_gold(scores: dict[str, Scores], gold: dict[str, Scores]) -> Iterator[Fidelity]:
    """Each approach against gold, on the topics that both have."""
    for name, found in scores.items():
        place = {topic: t for t, topic in enumerate(gold[name].topics)}
        if not any(topic in place for topic in found.topics):
            raise DataError("judgments and gold share no topic that some run has, so they cannot be compared")
        for a, approach in enumerate(found.judges):
            common = [t for t, topic in enumerate(found.topics) if topic in place and found.judged[a, t]]
            own = found.value[a : a + 1, common]
            theirs = gold[name].value[:, [place[found.topics[t]] for t in common]]
            yield _fidelity(name, approach, own, theirs)


def _fidelity(measure: str, approach: str, own: FloatArray, gold: FloatArray) -> Fidelity:
    """How near scores (1, topic, system) come to gold's."""
    topics, systems = own.shape[1:]
    ours, theirs = mean_over_topics(own)[0], mean_over_topics(gold)[0]
    several = topics > 0 and systems > 1
    return Fidelity(
        measure=measure,
        approach=approach,
        tau=kendall_tau(ours, theirs) if several else None,
        tau_ap=tau_ap(theirs, ours) if several else None,
        rmse=rmse(ours, theirs) if topics else None,
        topics=topics,
    )


def _tell_judges(evidence: Evidence, gold: Judgments | None) -> Iterator[str]:
    judgments, kept = evidence.judgments, evidence.alignment.retrieved_topics
    items = np.bincount(judgments.judge, minlength=len(judgments.judges))
    few = [judgments.judges[k] for k in np.flatnonzero(items < FEW_ITEMS)]
    if few:
        yield f"judges with fewer than {FEW_ITEMS} items: {count_names(few)}"
    seen = next(iter(evidence.by_judge.values())).judged[:, kept].sum(axis=1)
    partial = [judgments.judges[k] for k in np.flatnonzero(seen < len(kept))]
    if partial:
        topics = counted(len(kept), "topic")
        yield f"judges who saw only some of the {topics}, counted where they did: {count_names(partial)}"
    if gold is not None and gold.top_grade != judgments.top_grade:
        off = int((judgments.grade > gold.top_grade).sum())
        beyond = f"; {counted(off, 'grade')} off gold's scale" if off else ""
        yield f"judges grade up to {judgments.top_grade}, gold up to {gold.top_grade}{beyond}"
    top = np.zeros(len(judgments.judges), int)
    np.maximum.at(top, judgments.judge, judgments.grade)
    scales, count = np.unique(top, return_counts=True)
    if len(scales) > 1:
        shown = ", ".join(f"{n} up to {t}" for t, n in zip(scales, count, strict=True))
        yield f"judges use different scales: {shown}"


def _tell_topics(evidence: Evidence, gold: Judgments | None) -> Iterator[str]:
    if gold is None:
        return
    names = [evidence.alignment.topics[t] for t in evidence.alignment.retrieved_topics]
    missing = [name for name in names if name not in set(gold.topics)]
    if missing:
        yield f"judged topics without gold, left out when comparing with it: {count_names(missing)}"
    extra = [name for name in gold.topics if name not in set(evidence.judgments.topics)]
    if extra:
        yield f"topics with gold but without judgments: {count_names(extra)}"
