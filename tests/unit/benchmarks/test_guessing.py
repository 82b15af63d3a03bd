"""The study of the best guess: figures of a board, tables without the judge, and taking up where it stopped."""

import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import karatage as kt

MEASURE = "P(rel=2)@5"


@pytest.fixture(scope="module")
def study():
    """The modules; benchmarks are imported from the folder of the project, and not installed with it."""
    root = str(Path(__file__).parents[3])
    sys.path.insert(0, root)
    try:
        from benchmarks import bias, guessing

        yield SimpleNamespace(bias=bias, main=guessing)
    finally:
        sys.path.remove(root)
        for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def collection(study):
    judges = [kt.simulation.JudgeProfile(f"m{j}_{kind}", noise=0.4 + 0.1 * j) for j, kind in enumerate("xyxyx")]
    shape = kt.simulation.CollectionShape(pool=15, relevant=0.3)
    made = kt.simulation.simulate_collection(systems=8, topics=14, depth=15, judges=judges, shape=shape, rng=3)
    return study.bias.Collection("c", made.runs, made.judgments, kt.read_gold(made.pool.to_frame().drop("judge")))


@pytest.fixture(scope="module")
def seen(study, collection):
    measures = (("binary", MEASURE), ("graded", "DCG@5"))
    return tuple(study.bias.observe(collection, j, f, m) for j in collection.judgments.judges for f, m in measures)


def make_cell(study, **changes):
    settings = {
        "collection": "c",
        "judge": "m1_y",
        "measure": MEASURE,
        "design": "drawn",
        "size": 60,
        "claim": "these",
        "resampled": False,
        "left_out": "judge",
        "seed": 0,
    }
    return study.main.Cell(**settings | changes)


@pytest.mark.parametrize("changes", [{}, {"design": "even"}, {"claim": "new", "resampled": True}])
def test_a_board_is_held_against_the_truth(study, collection, seen, changes):
    cell = make_cell(study, **changes)
    found = study.main.compare_once(collection, seen, cell, 0)
    assert (
        found
        == study.main.compare_once(collection, seen, cell, 0)
        != study.main.compare_once(collection, seen, cell, 1)
    )
    for form in study.main.FORMS:
        error, half, cover, apart, wrong = found["all"][form]
        assert error > 0 < half
        assert 0.5 < cover <= 1
        assert 0 <= wrong <= apart <= 1
    assert found["all"]["guess"][0] == found["all"]["usual"][0]
    if not changes:
        judged = collection.judgments.to_frame().filter(judge="m1_y").drop("judge")
        true, own = (
            kt.score(collection.runs, kt.read_gold(rows), MEASURE).value[0].mean(axis=0)
            for rows in (collection.gold.to_frame().drop("judge"), judged)
        )
        off = [own[b] - own[a] - true[b] + true[a] for a, b in combinations(range(len(true)), 2)]
        assert found["all"]["alone"] == pytest.approx(np.mean(np.square(off)))


def test_pairs_are_counted(study):
    found = SimpleNamespace(
        value=np.array([0.2, -0.2, 0.1, 0.3, 9.0]),
        low=np.array([0.1, -0.3, -0.1, 0.2, 9.0]),
        high=np.array([0.3, -0.1, 0.3, 0.4, 9.0]),
    )
    truth = np.array([0.25, 0.1, 0.0, 0.0, 0.0])
    error, half, cover, apart, wrong = study.main.measure_form(found, truth, np.arange(5) < 4)
    assert error == pytest.approx((0.05**2 + 0.3**2 + 0.1**2 + 0.3**2) / 4)
    assert half == pytest.approx(0.1)
    assert (cover, apart, wrong) == (0.5, 0.75, 0.5)


def test_the_table_is_learned_without_the_judge(study, collection, seen):
    def count(left):
        return [row["judges"] for row in study.main.learn_without(seen, "m1_y(0=0,1=2)", left)]

    assert count("judge") == count("model") == [4, 4]
    more = (*seen, *(replace(found, judge=f"m1_{n}") for n in range(2) for found in seen[:2]))
    assert [row["judges"] for row in study.main.learn_without(more, "m1_y", "model")] == [4, 4]
    assert [row["judges"] for row in study.main.learn_without(more, "m1_y", "judge")] == [6, 6]
    named = tuple(replace(found, judge=found.judge.replace("y", "nuggets-y")) for found in seen)
    assert [row["judges"] for row in study.main.learn_without(named, "m1_nuggets-y", "prompt")] == [3, 3]


def test_boards_are_kept_and_judged(study, collection, seen, tmp_path, monkeypatch):
    results = tmp_path / "guessing.jsonl"
    cell, bad = make_cell(study), make_cell(study, size=4)
    study.main.run(collection, seen, [(c, draw) for draw in range(3) for c in (cell, bad)], results)
    kept = results.read_text()
    monkeypatch.setattr(study.main, "compare_once", None)  # nothing is computed again
    results.write_text(kept + '{"cell"')
    study.main.run(collection, seen, [(cell, 0)], results)
    assert results.read_text() == kept
    found = study.main.read_results(results)
    unexplained = study.main.find_unexplained(seen)
    line = study.main.summarise(cell, found, unexplained)
    assert line.draws == 3
    errors = [row["all"]["guess"][0] for row in found[cell].values()]
    assert line.rmse("all", "guess") == pytest.approx(np.sqrt(np.mean(errors)))
    assert study.main.summarise(bad, found, unexplained) is None  # 4 labels are refused
    assert study.main.summarise(make_cell(study, size=5), found, unexplained) is None
    assert any(
        "half-width" in text for text in study.main.judge_lines([replace(line, cell=make_cell(study, size=200))])
    )
    assert len(list(study.main.tabulate([line]))) == 2 + len(study.main.SETS)
    low = np.array([[0.0, 1.0, cover, 0.1, 0.0] for cover in (0.90, 0.91, 0.92, 0.90)])
    some = replace(line, form=dict.fromkeys(line.form, low))
    assert some.covers_too_little("all", "guess")
    enough = replace(line, form=dict.fromkeys(line.form, low + np.array([0, 0, 0.02, 0, 0])))
    assert not enough.covers_too_little("all", "guess")
