"""All approaches by name, and those that merge grades before they measure, or use one judge alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from karatage.aggregation.registry import MODELS, NamedModel, fit_across_topics, merge, parse_model
from karatage.approaches.downstream import Aware, Supervised, merge_alike
from karatage.approaches.evidence import Approach, Evidence, Merged
from karatage.data.posterior import Posterior
from karatage.errors import OptionError, UnknownNameError
from karatage.measures.expected import randomise, score_expected
from karatage.measures.registry import parse_measure
from karatage.measures.scoring import score_aligned
from karatage.merging.estimators import ESTIMATORS, OWN, SUPERVISED, Estimator, parse_estimator
from karatage.text import shorten

JUDGE = "judge:"
ALL_JUDGES = "judge:*"
EXPECTED = "expected:"
MULTI = re.compile(r"multi\((?P<measures>.*)\)\s*:\s*(?P<estimator>[^:]+)")
GROUPS = {"all30": tuple(ESTIMATORS), "own": tuple(OWN), "sup": tuple(SUPERVISED)}


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
    """The approach of trusting one judge's grades to 95 %: [RANDREL19] 4.2."""

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
    found = parse_estimator(text)
    if found is None:
        return None
    name, estimator = found
    if isinstance(estimator, Estimator):
        return Aware(prefix + name, estimator, measures)
    return Supervised(prefix + name, estimator, measures)


APPROACHES: dict[str, Approach] = {
    "uniform": merge_alike,
    **{named.name: merge_first(named, expected=named.expected) for named in map(parse_model, MODELS)},
    **{name: Aware(name, estimator) for name, estimator in {**ESTIMATORS, **OWN}.items()},
    **{name: Supervised(name, estimator) for name, estimator in SUPERVISED.items()},
}


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
        elif name in APPROACHES:
            yield name, APPROACHES[name]
        else:
            yield _read(name)


def _read(text: str) -> tuple[str, Approach]:
    """An approach whose name has more to it than a word."""
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
