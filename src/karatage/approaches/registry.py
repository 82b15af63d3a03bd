"""All approaches by name, and leaderboards by any number of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from karatage.aggregation.registry import MODELS, NamedModel, fit_across_topics, merge, parse_model
from karatage.approaches.downstream import Aware, Supervised, merge_alike, tell
from karatage.approaches.evidence import Approach, Evidence, Known, Merged
from karatage.data.alignment import tell_scales
from karatage.data.axes import LongArray
from karatage.data.evaluation import Evaluation
from karatage.data.judgments import Gold, Judgments
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.data.scores import Scores, Weights
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.measures.expected import randomise, score_expected
from karatage.measures.registry import parse_measure
from karatage.measures.scoring import score_aligned
from karatage.measures.spec import Measure
from karatage.merging.estimators import ESTIMATORS, OWN, SUPERVISED, Estimator, parse_estimator
from karatage.progress import follow
from karatage.random_streams import settle_seed
from karatage.simulation.crowd import list_crowds
from karatage.text import shorten

JUDGE = "judge:"
ALL_JUDGES = "judge:*"
EXPECTED = "expected:"
MULTI = re.compile(r"multi\((?P<measures>.*)\)\s*:\s*(?P<estimator>[^:]+)")
GROUPS = {"all30": tuple(ESTIMATORS), "own": tuple(OWN), "sup": tuple(SUPERVISED)}
FEW_ITEMS = 10
ALIKE = 0.05  # weights that differ by less are no better than none
HALF = 0.5


def merge_first(named: NamedModel, *, expected: bool) -> Approach:
    """The approach of a model: its grades are measured, or the expected measure of its probabilities is taken."""

    def approach(evidence: Evidence) -> dict[str, Merged]:
        """Scores by grades that a model merged."""
        posterior = merge_grades(named, evidence)
        if expected:
            table, names = posterior.probability[None], (named.name,)
            scored = score_expected(evidence.alignment, table, evidence.measures, names=names)
        else:
            scored = score_aligned(evidence.alignment, posterior.as_judgments(), evidence.measures)
        return {
            name: Merged(scores.value[0], posterior, notes=scores.notes + posterior.notes)
            for name, scores in scored.items()
        }

    return approach


def merge_grades(named: NamedModel, evidence: Evidence) -> Posterior:
    """Without gold, unless the name asks for it: gold is there to compare with."""
    supervision = named.supervision or ("full" if named.needs_gold else "none")
    if supervision == "none":
        known = evidence.known.posteriors.get(named.name)
        return merge(named, evidence.judgments, rng=evidence.rng(named.name)) if known is None else known
    if evidence.gold is None:
        raise OptionError(f"{named.name} learns from gold, and none is given; give gold, or choose another approach")
    grades = evidence.gold.grades
    if evidence.gold.training:
        taught = grades.keep_topics(evidence.gold.training)
        rng = evidence.rng(named.name)
        return merge(named, evidence.judgments, gold=taught, supervision=supervision, rng=rng)
    return fit_across_topics(named, evidence.judgments, grades, supervision, seed=evidence.seed)


def judge_alone(judge: int) -> Approach:
    """The approach of trusting one judge."""

    def approach(evidence: Evidence) -> dict[str, Merged]:
        """One judge's own scores, on the topics the judge has seen."""
        found = {}
        for name in evidence.measures:
            scores = evidence.by_judge[name]
            found[name] = Merged(np.where(scores.judged[judge][:, None], scores.value[judge], np.nan))
        return found

    return approach


def expect_of_judge(judge: int) -> Approach:
    """The approach of trusting one judge's grades to 95%: [RANDREL19] 4.2."""

    def approach(evidence: Evidence) -> dict[str, Merged]:
        """One judge's expected scores, on the topics the judge has seen."""
        own = evidence.judgments.keep_rows(evidence.judgments.judge == judge)
        alone = replace(own, judges=(own.judges[judge],), judge=np.zeros_like(own.judge))
        scored = score_expected(evidence.alignment, randomise(alone), evidence.measures, names=alone.judges)
        seen = next(iter(evidence.by_judge.values())).judged[judge][:, None]
        return {
            name: Merged(np.where(seen, scores.value[0], np.nan), notes=scores.notes) for name, scores in scored.items()
        }

    return approach


def _of_estimator(text: str, measures: tuple[str, ...] = (), prefix: str = "") -> Aware | Supervised | None:
    found = parse_estimator(text, list_crowds())
    if found is None:
        return None
    name, estimator = found
    if isinstance(estimator, Estimator):
        return Aware(prefix + name, estimator, measures)
    return Supervised(prefix + name, estimator, measures)


PLAIN: Mapping[str, Approach] = {"uniform": merge_alike}  # those that are neither a model nor weights
APPROACHES = (*PLAIN, *MODELS, *ESTIMATORS, *OWN, *SUPERVISED)


def resolve_approaches(names: Sequence[str], judges: tuple[str, ...]) -> Iterator[tuple[str, Approach]]:
    """Find approaches by name, with what they are printed by.

    `judge:NAME` is one judge alone, `judge:*` every judge in turn. `expected:MODEL` takes the expected measure under a
    model's probabilities, `expected:judge:NAME` under one judge's grades, each correct with probability 0.95.
    `multi(AP,nDCG@20):ESTIMATOR` averages weights over measures. `all30`, `own` and `sup` are all estimators of a kind.
    """
    for name in chain.from_iterable(GROUPS.get(name, (name,)) for name in names):
        plain, alone = (
            (name.removeprefix(EXPECTED), expect_of_judge) if name.startswith(EXPECTED) else (name, judge_alone)
        )
        if plain == ALL_JUDGES:
            yield from (((name.removesuffix("*") + judge), alone(k)) for k, judge in enumerate(judges))
        elif plain.startswith(JUDGE):
            if plain.removeprefix(JUDGE) not in judges:
                raise UnknownNameError("judge", plain.removeprefix(JUDGE), judges)
            yield name, alone(judges.index(plain.removeprefix(JUDGE)))
        else:
            yield (name, PLAIN[name]) if name in PLAIN else _read(name)


def _read(text: str) -> tuple[str, Approach]:
    """A model or an estimator of weights, with its options."""
    if text.startswith(EXPECTED):
        named = parse_model(text.removeprefix(EXPECTED))
        return EXPECTED + named.name, merge_first(named, expected=True)
    multi = MULTI.fullmatch(text.strip())
    if multi:
        return _read_multi(text, multi["measures"], multi["estimator"])
    estimated = _of_estimator(text)
    if estimated is not None:
        return estimated.name, estimated
    if text.partition("(")[0].strip() in MODELS:
        named = parse_model(text)
        return named.name, merge_first(named, expected=named.expected)
    known = [*APPROACHES, "judge:NAME", ALL_JUDGES, "expected:MODEL", "multi(AP,nDCG@20):sgl_tau_msd"]
    raise UnknownNameError("approach", text, known)


def _read_multi(text: str, measures: str, estimator: str) -> tuple[str, Approach]:
    names = tuple(dict.fromkeys(str(parse_measure(part)) for part in _split(measures)))
    if len(names) < 2:
        raise OptionError(
            f"approach '{shorten(text)}': name at least two measures, as in multi(AP,nDCG@20):sgl_tau_msd"
        )
    found = _of_estimator(estimator, names, f"multi({','.join(names)}):")
    if found is None:
        raise UnknownNameError("estimator", estimator.strip(), [*ESTIMATORS, *OWN, *SUPERVISED])
    return found.name, found


def _split(text: str) -> list[str]:
    """Parts between the commas that stand outside of brackets.

    >>> _split("AP,nDCG(dcg=jk,base=2)@20")
    ['AP', 'nDCG(dcg=jk,base=2)@20']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def evaluate_known(
    known: Known,
    runs: Runs,
    judgments: Judgments,
    measure: str | Measure | Sequence[str | Measure],
    *,
    approach: str | Sequence[str],
    gold: Judgments | Gold | None = None,
    rng: int | np.random.Generator | None = None,
) -> Evaluation:
    """Leaderboards by each measure and approach, without doing again what is known."""
    measures = [measure] if isinstance(measure, str | Measure) else list(measure)
    names = [approach] if isinstance(approach, str) else list(approach)
    if not measures or not names:
        raise DataError("evaluate needs at least one measure and one approach")
    asked = tuple(dict.fromkeys(str(parse_measure(m)) for m in measures))
    found = dict(resolve_approaches(names, judgments.judges))
    evidence = Evidence(
        runs=runs,
        judgments=judgments,
        gold=Gold.of(gold),
        measures=asked,
        weighed_by=tuple(m for a in found.values() if isinstance(a, Aware | Supervised) for m in a.measures),
        estimators=[a.estimator for a in found.values() if isinstance(a, Aware)],
        seed=settle_seed(rng),
        known=known,
    )
    kept = _find_topics(evidence)
    merged = {name: approach(evidence) for name, approach in follow(found.items(), len(found), "approaches")}
    scores = {name: _stack(evidence, name, {a: m[name] for a, m in merged.items()}).on_topics(kept) for name in asked}
    trusted = None if evidence.gold is None else _score_gold(evidence, evidence.gold)
    if trusted is not None:
        _require_shared(scores, trusted)
    weights = tuple(w for name in asked for m in merged.values() if (w := m[name].weights) is not None)
    told = {*runs.notes, *(note for scored in evidence.by_judge.values() for note in scored.notes)}
    notes = (
        *(note for name in asked for note in evidence.by_judge[name].notes),
        *_tell_judges(evidence, kept),
        *(note for s in scores.values() for note in s.notes),
        *(note.about("gold") for s in (trusted or {}).values() for note in s.notes if note not in told),
        *_tell_topics(evidence, kept),
        *_tell_weights(evidence, weights),
    )
    return Evaluation(
        scores=scores,
        gold=trusted,
        posteriors={name: p for name, m in merged.items() if (p := m[asked[0]].posterior) is not None},
        weights=tuple(w.on_topics(kept) for w in weights),
        judges=len(judgments.judges),
        judges_first={name: _count_winners(evidence.by_judge[name]) for name in asked},
        seed=evidence.seed,
        versions=list_versions(),
        notes=tuple(dict.fromkeys(notes)),
    )


def _find_topics(evidence: Evidence) -> LongArray:
    """The topics that are evaluated: those some run has, since others have no scores, and that are not for training."""
    retrieved = evidence.alignment.retrieved_topics
    kept = retrieved[~evidence.training[retrieved]]
    if not len(kept):
        raise DataError("all judged topics that some run has are training topics, so none is left to evaluate")
    return kept


def _stack(evidence: Evidence, measure: str, merged: dict[str, Merged]) -> Scores:
    """Approaches side by side."""
    value = np.stack([m.value for m in merged.values()])
    return Scores(
        measure=measure,
        judges=tuple(merged),
        topics=evidence.alignment.topics,
        systems=evidence.alignment.systems,
        value=value,
        judged=np.asarray(np.isfinite(value).all(axis=2)),
        notes=tuple(dict.fromkeys(note for m in merged.values() for note in m.notes)),
    )


def _score_gold(evidence: Evidence, gold: Gold) -> dict[str, Scores]:
    """Gold's scores on the topics that are not for training; expected ones where gold is not certain."""
    alignment, measures = evidence.gold_alignment, evidence.measures
    topics = alignment.retrieved_topics
    kept = topics[[alignment.topics[t] not in gold.training for t in topics]]
    if gold.certainty < 1:
        probability = randomise(gold.grades, relevant=gold.certainty, other=1 - gold.certainty)
        scored = score_expected(alignment, probability, measures, names=("gold",))
        told = (tell("gold-random", certainty=gold.certainty),)
        scored = {name: replace(scores, notes=told + scores.notes) for name, scores in scored.items()}
    else:
        scored = {name: evidence.by_gold[name] for name in measures}
    return {name: scores.on_topics(kept) for name, scores in scored.items()}


def _count_winners(scores: Scores) -> int:
    return len(set(np.argmax(np.nan_to_num(scores.mean, nan=-1.0), axis=1).tolist()))


def _require_shared(scores: Mapping[str, Scores], gold: Mapping[str, Scores]) -> None:
    for name, found in scores.items():
        if not set(found.topics) & set(gold[name].topics):
            raise DataError("judgments and gold share no topic that some run has, so they cannot be compared")


def _tell_judges(evidence: Evidence, kept: LongArray) -> Iterator[Note]:
    judgments = evidence.judgments
    items = np.bincount(judgments.judge, minlength=len(judgments.judges))
    few = tuple(judgments.judges[k] for k in np.flatnonzero(items < FEW_ITEMS))
    yield from tell.when(few, "few-items", least=FEW_ITEMS, judges=few)
    seen = next(iter(evidence.by_judge.values())).judged[:, kept].sum(axis=1)
    partial = tuple(judgments.judges[k] for k in np.flatnonzero(seen < len(kept)))
    yield from tell.when(partial, "some-topics", topics=len(kept), judges=partial)
    yield from tell_scales(judgments, None if evidence.gold is None else evidence.gold.grades)


def _tell_topics(evidence: Evidence, kept: LongArray) -> Iterator[Note]:
    if evidence.gold is None:
        return
    gold = evidence.gold.grades
    names = [evidence.alignment.topics[t] for t in kept]
    yield from tell.when(evidence.gold.training, "training-topics", topics=evidence.gold.training)
    missing = tuple(name for name in names if name not in set(gold.topics))
    yield from tell.when(missing, "gold-topics-missing", topics=missing)
    extra = tuple(name for name in gold.topics if name not in set(evidence.judgments.topics))
    yield from tell.when(extra, "gold-topics-unjudged", topics=extra)


def _tell_weights(evidence: Evidence, weights: Sequence[Weights]) -> Iterator[Note]:
    alike = [w.approach for w in weights if 0 < w.mean.max() <= (1 + ALIKE) * np.min(w.mean[w.mean > 0])]
    if alike and len(evidence.judgments.judges) > 1:
        yield tell("uniform", least=ALIKE, approaches=tuple(dict.fromkeys(alike)))  # each once for all measures
    if any(not estimator.own for estimator in evidence.estimators):
        judgments, present = evidence.judgments, evidence.panel.present
        pool = present @ np.diff(judgments.item_start)
        counts = present[judgments.judge, judgments.item_topic[judgments.item]]  # other topics are in no run
        graded = np.bincount(judgments.judge[counts], minlength=len(judgments.judges))
        partial = tuple(judgments.judges[k] for k in np.flatnonzero(graded < HALF * pool))
        yield from tell.when(partial, "less-than-half", judges=partial)
