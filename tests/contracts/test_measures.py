"""What every declared measure keeps: it agrees with its oracle, and nobody asks for its name."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import ir_measures
import numpy as np
import pytest

import karatage as kt
from karatage.cli.options import list_measures
from karatage.measures.expected import score_expected
from karatage.measures.registry import ALIASES, FAMILIES, as_weighted_sum, ceiling
from karatage.measures.spec import Family
from tests.oracles import brute_force as bf

TOP = 3
NAMES = {*FAMILIES, *ALIASES}
every = pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))


def spell(family: Family) -> list[str]:
    """The example, the same for higher grades, and at other depths."""
    heads = [family.name, f"{family.name}(rel=2)"] if "rel" in family.options else [family.name]
    tails = {"never": [""], "optional": ["", "@1", "@4", "@50"], "required": ["@1", "@4", "@50"]}[family.cutoff]
    return [family.example, *(head + tail for head, tail in product(heads, tails))]


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, dict[str, int]]]:
    """Runs without ties, and one judge's grades, of which some documents have none."""
    rng = np.random.default_rng(11)
    documents, topics = [f"d{k}" for k in range(14)], [f"t{k}" for k in range(12)]
    runs = {
        system: {t: {d: float(rng.random()) for d in rng.permutation(documents)[: rng.integers(1, 11)]} for t in topics}
        for system in ("one", "two", "three")
    }
    qrels = {t: {d: int(rng.integers(TOP + 1)) for d in documents if rng.random() < 0.7} for t in topics}
    qrels["t0"] = dict.fromkeys(documents, 0)
    return runs, qrels


def ask_ir_measures(text: str, runs: dict, qrels: dict) -> np.ndarray | None:
    """Values (system, topic) of trec_eval and other programs behind ir_measures; None where none computes it."""
    measure = ir_measures.parse_measure(text)
    if not measure.params.keys() <= measure.SUPPORTED_PARAMS.keys() or not ir_measures.DefaultPipeline.supports(
        measure
    ):
        return None
    found = {
        (system, value.query_id): value.value
        for system, run in runs.items()
        for value in ir_measures.iter_calc([measure], qrels, run)
    }
    return np.array([[found[system, topic] for topic in qrels] for system in runs])


def ask_definition(name: str, text: str, runs: dict, qrels: dict) -> np.ndarray:
    """The same by the definition in `brute_force`."""
    parsed, definition = kt.parse_measure(text), getattr(bf, name)
    options = {"k": parsed.cutoff}
    if parsed.has("rel"):
        options |= {"gain": lambda grade: float(grade >= 2)} if "gains" in FAMILIES[parsed.name].options else {"rel": 2}
    if "max" in FAMILIES[parsed.name].options:
        options["top"] = TOP
    return np.array(
        [[definition(bf.rank_documents(run[t]), qrels[t], **options) for t in qrels] for run in runs.values()]
    )


@every
def test_it_agrees_with_its_oracle(family: Family, made: tuple[dict, dict]) -> None:
    runs, qrels = made
    scored = kt.score_all(kt.read_runs(runs), kt.read_judgments({"j": qrels}, grades=f"0-{TOP}"), spell(family))
    compared = []
    for text, scores in scored.items():
        theirs = (
            ask_ir_measures(text, runs, qrels)
            if family.oracle == "ir_measures"
            else ask_definition(family.oracle.removeprefix("brute_force."), text, runs, qrels)
        )
        if theirs is None:  # with an option that the oracle lacks; tests/oracles has every option
            continue
        compared.append(text)
        own = scores.value[0, [scores.topics.index(t) for t in qrels]][:, [scores.systems.index(s) for s in runs]]
        np.testing.assert_allclose(own.T, theirs, rtol=0, atol=1e-12, err_msg=text)
        assert np.ptp(own) > 0, text
    assert family.example in compared


# A topic of five items under three grades; rankings with documents that nobody judged.
POOL, GRADES = "abcde", 3
WORLDS = np.array(list(product(range(GRADES), repeat=len(POOL))), np.int8)  # (world, item)
RANKINGS = ("cxaeb", "ab", "y", "edcbaz")


@pytest.fixture(scope="module")
def alignment() -> kt.stats.Alignment:
    runs = {f"s{k}": {"t": {d: -float(n) for n, d in enumerate(r)}} for k, r in enumerate(RANKINGS)}
    pool = kt.read_judgments({"j": {"t": dict.fromkeys(POOL, 0)}}, grades=f"0-{GRADES - 1}")
    return kt.stats.align(kt.read_runs(runs), pool)


@every
def test_its_expected_score_is_that_of_all_worlds(family: Family, alignment: kt.stats.Alignment) -> None:
    """The mean score; tests/oracles enumerates both parts of ratios, which equal the score where grades are certain."""
    if family.expected is None:
        with pytest.raises(kt.KaratageError):
            score_expected(alignment, np.eye(GRADES)[WORLDS], [family.example])
        return
    scores = kt.stats.score_grades(alignment, WORLDS.T, spell(family), top_grade=GRADES - 1)
    certain = score_expected(alignment, np.eye(GRADES)[WORLDS], spell(family))
    probability = np.random.default_rng(2).dirichlet(np.ones(GRADES), len(POOL))
    chance = probability[np.arange(len(POOL)), WORLDS].prod(axis=1)  # (world,)
    unsure = score_expected(alignment, probability[None], spell(family))
    for text, found in scores.items():
        np.testing.assert_allclose(certain[text].value, found.value, rtol=0, atol=1e-12, err_msg=text)
        exact = np.allclose(unsure[text].value[0], chance @ found.value[:, 0], rtol=0, atol=1e-12)
        assert exact != family.ratio, text


@every
def test_its_weights_give_its_score(family: Family, alignment: kt.stats.Alignment) -> None:
    ranked = alignment.ranked[0]
    for text in spell(family):
        linear = as_weighted_sum(kt.parse_measure(text), ranked.shape[1], GRADES - 1)
        if family.weights is None:
            assert linear is None
            continue
        assert linear is not None
        gain = linear.gain[WORLDS]  # (world, item)
        shown = np.where(ranked >= 0, gain[:, ranked], 0.0)[:, :, : len(linear.weight)]
        found = np.einsum("wsr,r->ws", shown, linear.weight)
        if linear.normalised:
            ideal = np.sort(gain, axis=1)[:, ::-1][:, : len(linear.weight)] @ linear.weight[: len(POOL)]
            found = np.divide(found, ideal[:, None], out=np.zeros_like(found), where=ideal[:, None] > 0)
        scores = kt.stats.score_grades(alignment, WORLDS.T, [text], top_grade=GRADES - 1)[text]
        np.testing.assert_allclose(found, scores.value[:, 0], rtol=0, atol=1e-12, err_msg=text)


@every
def test_no_score_is_above_its_ceiling(family: Family, alignment: kt.stats.Alignment) -> None:
    for text, scores in kt.stats.score_grades(alignment, WORLDS.T, spell(family), top_grade=GRADES - 1).items():
        highest = ceiling(kt.parse_measure(text), alignment.ranked.shape[2], GRADES - 1)
        assert scores.value.min() >= 0
        assert scores.value.max() <= highest + 1e-12
        assert highest == 1 or not family.bounded


@every
def test_it_is_offered_where_names_are_completed(family: Family) -> None:
    assert kt.parse_measure(family.example).name == family.name
    assert family.example in list_measures()
    assert len(list_measures()) == len(FAMILIES)


def find_naming(code: str) -> list[int]:
    """Lines that compare with a measure's name, or look something up by it."""

    def names(node: ast.AST) -> bool:
        parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
        return any(isinstance(part, ast.Constant) and part.value in NAMES for part in parts)

    def asks(node: ast.AST) -> bool:
        """`measure.name`, `self.parsed.name`, `parse_measure(x).name`."""
        if not (isinstance(node, ast.Attribute) and node.attr == "name"):
            return False
        words = ast.unparse(node.value)
        return any(word in words for word in ("measure", "parsed", "family"))

    def is_wrong(node: ast.AST) -> bool:
        if isinstance(node, ast.Compare):
            return any(asks(side) or names(side) for side in (node.left, *node.comparators))
        if isinstance(node, ast.Match):
            return asks(node.subject)
        if isinstance(node, ast.Dict):
            return len(node.keys) > 1 and all(isinstance(k, ast.Constant) and k.value in NAMES for k in node.keys)
        return isinstance(node, ast.Subscript) and asks(node.slice)

    return [getattr(node, "lineno", 0) for node in ast.walk(ast.parse(code)) if is_wrong(node)]


@pytest.mark.parametrize(
    "code",
    [
        "if measure.name == 'RBP': pass",
        "if self.parsed.name in WEIGHTED: pass",
        "if parse_measure(text).name not in (*SUMS, 'nDCG'): pass",
        "if name == 'nDCG': pass",
        "if name in ('P', 'R'): pass",
        "match measure.name:\n    case 'AP': pass",
        "WORDS = {'AP': 'a', 'RBP': 'b'}",
        "SCORERS[measure.name](measure)",
    ],
)
def test_asking_for_a_name_is_seen(code: str) -> None:
    assert find_naming(code)


def test_nobody_asks_for_a_measure_by_name() -> None:
    root = Path(kt.__file__).parent
    modules = [path for path in root.rglob("*.py") if path != root / "measures" / "registry.py"]
    assert len(modules) > 100
    found = {str(path.relative_to(root)): find_naming(path.read_text()) for path in modules}
    assert {name: lines for name, lines in found.items() if lines} == {}
