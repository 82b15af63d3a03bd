"""Learning the table of usual judges: what gold shows of a judge, the line, and the file."""

import json
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import multivariate_normal

import karatage as kt
from karatage.correction.shrinkage import GRID, LOOSE
from karatage.decisions import bias as table


@pytest.fixture(scope="module")
def bias():
    """The module; benchmarks are imported from the folder of the project, and not installed with it."""
    root = str(Path(__file__).parents[3])
    sys.path.insert(0, root)
    try:
        from benchmarks import bias

        yield bias
    finally:
        sys.path.remove(root)
        for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    judges = [kt.simulation.JudgeProfile(f"model{j}_x", noise=0.4 + 0.2 * j) for j in range(3)]
    shape = kt.simulation.CollectionShape(pool=15, relevant=0.3)
    made = kt.simulation.simulate_collection(systems=6, topics=12, depth=15, judges=judges, shape=shape, rng=3)
    path = tmp_path_factory.mktemp("collection")
    (path / "runs").mkdir()
    for system in made.runs.systems:
        kt.write_run(made.runs, system, path / "runs" / f"{system}.run")
    binary = made.judgments.to_frame().filter(pl.col("judge") == "model1_x")
    yes = binary.with_columns(judge=pl.lit("binary_x"), grade=(pl.col("grade") > 1).cast(binary["grade"].dtype))
    kt.write_judgments(kt.read_judgments(pl.concat([made.judgments.to_frame(), yes])), path / "judgments.tsv")
    kt.write_judgments(kt.read_gold(made.pool.to_frame().drop("judge")), path / "gold.tsv")
    return path


@pytest.fixture(scope="module")
def collection(bias, folder):
    return bias.Collection.read(folder / "runs", folder / "judgments.tsv", folder / "gold.tsv")


@pytest.mark.parametrize("measure", ["P(rel=2)@5", "nDCG@5"])
def test_gaps_and_masses_are_those_of_all_gold(bias, collection, measure):
    world = bias.make_world(collection, "model2_x")
    found, span = bias.gather_all(world, measure)
    assert span == (1 if measure.startswith("P") else 3)
    scores = kt.score(world.runs, collection.gold, measure).value[0].mean(axis=0)
    np.testing.assert_allclose(found.corrected - found.corrected[0], scores - scores[0], atol=1e-9)
    assert not found.noise.any()
    if measure.startswith("P"):
        said = kt.score(world.runs, world.judgments, measure).value[0].mean(axis=0)
        np.testing.assert_allclose(found.judged, said, atol=1e-9)
        shown = world.show(measure)
        for a, b in combinations(range(len(scores)), 2):
            apart = sum(len(set(row[a]) ^ set(row[b])) for row in shown)
            assert found.mass[a, b] == pytest.approx(apart / 5 / len(shown))


def test_what_grades_leave_unexplained_is_measured_on_documents_that_matter(bias, collection):
    """Against gold's variance within grades; expectations come from other topics, so a little more is left."""
    world = bias.make_world(collection, "model2_x")
    found, _ = bias.gather_all(world, "P(rel=2)@5")
    ranked = [[set(row[s].tolist()) for s in range(len(found.judged))] for row in world.show("P(rel=2)@5")]
    matters = [
        (world.topics[t], collection.runs.documents[d])
        for t, shown in enumerate(ranked)
        for d in set.union(*shown) - set.intersection(*shown)
    ]
    items = pl.DataFrame(matters, schema=["topic", "document"], orient="row")
    gold = items.join(world.gold, on=["topic", "document"], how="left").fill_null(0)
    said = items.join(world.judgments.to_frame(), on=["topic", "document"], how="left")["grade"].fill_null(-1)
    gain = gold["grade"].to_numpy() >= 2
    within = sum(gain[said == g].var() * (said == g).sum() for g in said.unique()) / len(gain)
    assert found.scatter == pytest.approx(gain.std(ddof=1), rel=0.01)
    assert within / gain.var() < found.unexplained < 1.15 * within / gain.var()


def test_the_likelihood_is_the_normal_density(bias, collection):
    """Computed again in differences to the first system."""
    found, _ = bias.gather_all(bias.make_world(collection, "binary_x(0=0,1=2)"), "DCG@5")
    assert not found.same_grades
    apart = np.c_[-np.ones(len(found.judged) - 1), np.eye(len(found.judged) - 1)]
    steps = found.steps.T * (2 * LOOSE[1] * found.scatter)
    centred = np.eye(len(found.judged)) - 1 / len(found.judged)
    value, axis = np.linalg.eigh(centred @ (-0.5 * found.mass**2) @ centred)
    shape = axis * value.clip(0) @ axis.T
    fixed = found.items + steps @ steps.T + LOOSE[0] ** 2 * np.outer(found.judged, found.judged)
    gap = apart @ (found.corrected - found.judged)
    expected = [
        multivariate_normal(cov=apart @ (fixed + (s * found.scatter) ** 2 * shape) @ apart.T).logpdf(gap) for s in GRID
    ]
    np.testing.assert_allclose(bias.measure_likelihood(found), np.array(expected) - max(expected), atol=1e-6)


def plant(bias, *, judges, measures, doubt, rng, collection="c", shift=0.0):
    """Judges on a known line, whose spreads gold shows give or take .2."""
    seen = []
    for j in range(judges):
        x = rng.uniform(0.3, 1.0)
        spread = -2.0 + shift + 2.5 * np.log(x) + doubt * rng.normal()
        shown = spread + 0.2 * rng.normal()
        likelihood = -0.5 * ((np.log(GRID) - shown) / 0.2) ** 2
        for m in range(measures):
            common = {"family": "binary", "systems": 9, "topics": 9, "alone": float(np.exp(spread))}
            judge, measure = f"m{j % 3}_{j}", f"P@{m + 1}"
            seen.append(
                bias.Seen(
                    collection=collection,
                    judge=judge,
                    measure=measure,
                    unexplained=x,
                    likelihood=tuple(likelihood - likelihood.max()),
                    **common,
                )
            )
    return seen


def test_a_planted_line_is_found(bias):
    seen = plant(bias, judges=300, measures=2, doubt=0.3, rng=np.random.default_rng(1))
    line = bias.fit_line(seen)
    assert line.level == pytest.approx(-2.0, abs=0.1)
    assert line.slope == pytest.approx(2.5, abs=0.2)
    assert line.seen_doubt == pytest.approx(0.3, abs=0.05)
    assert (line.judges, line.models, line.observations) == (300, 3, 600)
    again = bias.fit_line([*seen, *seen[:2], *seen[:2]])  # more measures of one judge
    assert again.level == pytest.approx(line.level, abs=1e-3)


def test_unseen_collections_are_less_certain(bias):
    rng = np.random.default_rng(2)
    one = plant(bias, judges=60, measures=1, doubt=0.2, rng=rng)
    other = plant(bias, judges=60, measures=1, doubt=0.2, rng=rng, collection="d", shift=1.5)
    narrow, wide = bias.fit_line(one), bias.fit_line([*one, *other])
    assert narrow.widen(0.2) == pytest.approx(np.sqrt(0.04 * 4 / 3 + 2 * bias.LEAST_BETWEEN**2))
    assert wide.between == pytest.approx(1.5 / np.sqrt(2), abs=0.15)
    assert wide.widen(0.2) > wide.between


def test_the_table_is_written_from_files_and_taken_up_again(bias, folder, tmp_path, monkeypatch, capsys):
    written, results = tmp_path / "table.json", tmp_path / "bias.jsonl"
    monkeypatch.setattr(bias, "TABLE", written)
    monkeypatch.setattr(bias, "MEASURES", {"binary": ("P(rel=2)@5",), "graded": ("DCG@5",)})
    options = ["--data", str(folder), "--results", str(results), "--write"]
    bias.main(options)
    first = json.loads(written.read_text())
    seen = bias.read_seen(results)
    assert {found.judge for found in seen} == {*(f"model{j}_x" for j in range(3)), "binary_x", "binary_x(0=0,1=2)"}
    assert [row["judges"] for row in first["families"]] == [4, 4]
    assert str(folder) not in written.read_text()
    monkeypatch.setattr(bias, "observe", None)  # nothing is computed again
    bias.main([*options, "--leave-out", "binary"])
    assert [row["judges"] for row in json.loads(written.read_text())["families"]] == [3, 3]
    with bias.use_table(first["families"]):
        assert table.load_usual_biases()["binary"].level == first["families"][0]["level"]
    assert table.load_usual_biases() is table.load_usual_biases()
    with pytest.raises(SystemExit, match="too few"):
        bias.main([*options, "--leave-out", "model[01]"])
    assert "binary" in capsys.readouterr().out
