"""All approaches by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from karatage.aggregation.registry import MODELS, NamedModel, parse_model
from karatage.approaches.downstream import Aware, Supervised, merge_alike
from karatage.approaches.evidence import Approach
from karatage.approaches.upstream import expect_of_judge, judge_alone, merge_then_expect, merge_then_measure
from karatage.errors import OptionError, UnknownNameError
from karatage.measures.spec import parse_measure
from karatage.merging.estimators import ESTIMATORS, OWN, SUPERVISED, Estimator, parse_estimator
from karatage.text import shorten

JUDGE = "judge:"
ALL_JUDGES = "judge:*"
EXPECTED = "expected:"
MULTI = re.compile(r"multi\((?P<measures>.*)\)\s*:\s*(?P<estimator>[^:]+)")


def _of_model(named: NamedModel) -> Approach:
    return merge_then_expect(named) if named.expected else merge_then_measure(named)


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
    **{name: _of_model(parse_model(name)) for name in MODELS},
    **{name: Aware(name, estimator) for name, estimator in {**ESTIMATORS, **OWN}.items()},
    **{name: Supervised(name, estimator) for name, estimator in SUPERVISED.items()},
}


GROUPS = {"all30": tuple(ESTIMATORS), "own": tuple(OWN), "sup": tuple(SUPERVISED)}


def resolve_approaches(names: Sequence[str], judges: tuple[str, ...]) -> Iterator[tuple[str, Approach]]:
    """Find approaches by name, with what they are printed by.

    `judge:NAME` is one judge alone, `judge:*` every judge in turn; `expected:MODEL` takes the expected measure under a
    model's probabilities, `expected:judge:NAME` under one judge's grades trusted to 95 %; `multi(AP,nDCG@20):ESTIMATOR`
    averages weights over measures. `all30`, `own` and `sup` are all estimators of a kind.
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
        return EXPECTED + named.name, merge_then_expect(named)
    multi = MULTI.fullmatch(text.strip())
    if multi:
        return _read_multi(text, multi["measures"], multi["estimator"])
    estimated = _of_estimator(text)
    if estimated is not None:
        return estimated.name, estimated
    if text.partition("(")[0].strip() in MODELS:
        named = parse_model(text)
        return named.name, _of_model(named)
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
