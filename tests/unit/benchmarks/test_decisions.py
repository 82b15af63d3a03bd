"""The study of decisions: its truth, its gold, its figures, and that it takes up where it stopped."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import binom_test

import karatage as kt

MEASURE = "P(rel=2)@5"
CUTOFF = 5


@pytest.fixture(scope="module")
def study():
    """The modules; benchmarks are imported from the folder of the project, and not installed with it."""
    root = str(Path(__file__).parents[3])
    sys.path.insert(0, root)
    try:
        from benchmarks import decision_cells, decision_tables, decisions

        yield SimpleNamespace(cells=decision_cells, tables=decision_tables, main=decisions)
    finally:
        sys.path.remove(root)
        for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def simulated():
    judges = (
        kt.simulation.JudgeProfile("good", noise=0.4),
        kt.simulation.JudgeProfile("odd name (x)", noise=0.9, leniency=0.5),
    )
    shape = kt.simulation.CollectionShape(pool=12, relevant=0.3)
    return kt.simulation.simulate_collection(systems=6, topics=14, depth=20, judges=judges, shape=shape, rng=3)


@pytest.fixture(scope="module")
def gold(simulated):
    """All of gold; the first topic and some documents have none."""
    rows = simulated.pool.to_frame().drop("judge")
    return rows.filter(pl.col("topic") != simulated.runs.topics[0], pl.int_range(pl.len()) % 7 > 0)


@pytest.fixture(scope="module")
def folder(simulated, gold, tmp_path_factory):
    """A collection on disk, as a user has one."""
    path = tmp_path_factory.mktemp("other-collection")
    (path / "runs").mkdir()
    for system in simulated.runs.systems:
        kt.write_run(simulated.runs, system, path / "runs" / f"{system}.run")
    kt.write_judgments(simulated.judgments, path / "judgments.tsv")
    kt.write_judgments(kt.read_gold(gold), path / "gold.tsv")
    return path


@pytest.fixture(scope="module")
def collection(study, folder):
    return study.cells.Collection.read(folder / "runs", folder / "judgments.tsv", folder / "gold.tsv")


@pytest.fixture
def small_blocks(study, monkeypatch):
    for module in (study.cells, study.main):
        monkeypatch.setattr(module, "BLOCK", 8)


def make_cell(study, **changes):
    settings = {
        "collection": "c",
        "judge": "good",
        "measure": MEASURE,
        "design": "even",
        "frame": "top",
        "size": 30,
        "claim": "these",
        "correction": "even",
        "resampled": False,
        "best": 4,
        "others": 3,
        "seed": 0,
    }
    return study.cells.Cell(**settings | changes)


def rank(runs):
    """Documents of each (topic, system), best first, from the arrays alone."""
    names = runs.documents.to_list()
    return {
        (topic, system): [names[d] for d in runs.listed[slice(*runs.bounds[t, s])]]
        for t, topic in enumerate(runs.topics)
        for s, system in enumerate(runs.systems)
    }


def precision(ranked, grades, system):
    topics = sorted({topic for topic, _ in grades})
    found = [sum(grades.get((t, d), 0) >= 2 for d in ranked[t, system][:CUTOFF]) / CUTOFF for t in topics]
    return sum(found) / len(found)


def test_pairs_know_the_truth_and_what_they_weigh_differently(study, collection, simulated, gold):
    world = study.cells.make_world(collection, "good")
    pairs = study.cells.list_pairs(world, MEASURE, 4, 3, 0)
    ranked = rank(simulated.runs)
    true = {(t, d): g for t, d, g in gold.rows()}
    said = simulated.judgments.to_frame().rows()
    judged = {(t, d): g for judge, t, d, g in said if judge == "good" and t in set(gold["topic"])}
    scores = {system: precision(ranked, true, system) for system in simulated.runs.systems}
    best = sorted(scores, key=lambda system: -scores[system])[:4]
    assert len(pairs) == math.comb(4, 2) + 3
    assert {frozenset(pair[:2]) for pair in pairs[:6]} == {frozenset((a, b)) for a in best for b in best if a != b}
    assert not any(set(pair[:2]) <= set(best) for pair in pairs[6:])
    for pair in pairs:
        assert (pair.truth_a, pair.truth_b) == pytest.approx((scores[pair.a], scores[pair.b]))
        own = precision(ranked, judged, pair.b) - precision(ranked, judged, pair.a)
        assert pair.judged == pytest.approx(own)
        alone = [set(ranked[t, pair.a][:CUTOFF]) ^ set(ranked[t, pair.b][:CUTOFF]) for t in world.topics]
        assert pair.differ == sum(map(len, alone))
        assert pair.turn().truth == -pair.truth


def test_systems_with_the_same_first_ranks_are_one(study):
    documents = [f"d{i}" for i in range(8)]

    def retrieve(order):
        return {f"t{t}": {documents[d]: 9.0 - r for r, d in enumerate(order)} for t in range(3)}

    runs = kt.read_runs({"x": retrieve([0, 1, 2, 3]), "y": retrieve([0, 1, 3, 2]), "z": retrieve([4, 1, 2, 3])})
    grades = pl.DataFrame([(f"t{t}", d, i % 2) for t in range(3) for i, d in enumerate(documents)], orient="row")
    grades.columns = ["topic", "document", "grade"]
    world = study.cells.World(runs, kt.read_judgments(grades.with_columns(judge=pl.lit("j"))), grades)
    assert len(study.cells.list_pairs(world, "P@2", 3, 0, 0)) == 1
    assert len(study.cells.list_pairs(world, "P@4", 3, 0, 0)) == 3


@pytest.mark.parametrize("measure", [MEASURE, "DCG@5"])
@pytest.mark.parametrize("name", ["pool", "top", "pair"])
def test_even_samples_come_from_their_frame(study, collection, simulated, gold, measure, name):
    world = study.cells.make_world(collection, "good")
    cell = make_cell(study, frame=name, measure=measure)
    pair = study.cells.choose_pairs(world, cell)[0]
    ranked = rank(simulated.runs)
    if name == "pool":
        expected = {row[1:3] for row in simulated.judgments.to_frame().rows() if row[1] in world.topics}
    elif name == "top":
        expected = {(t, d) for (t, _), listed in ranked.items() if t in world.topics for d in listed[:CUTOFF]}
    else:
        places = [
            {(t, d): 0 if measure == MEASURE else r for t in world.topics for r, d in enumerate(ranked[t, s][:CUTOFF])}
            for s in pair[:2]
        ]
        expected = {item for item in {*places[0], *places[1]} if places[0].get(item) != places[1].get(item)}
    assert set(study.cells.find_frame(world, cell, pair).rows()) == expected
    rows = study.cells.draw_gold(world, cell, pair, np.random.default_rng(0)).to_frame().drop("judge").rows()
    graded = {(t, d): g for t, d, g in gold.rows()}
    assert len({row[:2] for row in rows}) == cell.size
    assert all(row[:2] in expected and row[2] == graded.get(row[:2], 0) for row in rows)
    assert not all(row[:2] in graded for row in rows)
    again, other = (
        study.cells.draw_gold(world, cell, pair, np.random.default_rng(seed)).to_frame().drop("judge").rows()
        for seed in (0, 1)
    )
    assert again == rows != other


def test_drawn_gold_reads_as_a_judged_queue(study, collection, tmp_path):
    world = study.cells.make_world(collection, "good")
    cell = make_cell(study, design="drawn", frame=None)
    pair = study.cells.choose_pairs(world, cell)[0]
    gold = study.cells.draw_gold(world, cell, pair, np.random.default_rng(5))
    seed = int(np.random.default_rng(5).integers(2**31))
    question = kt.Question(measure=MEASURE, seed=seed)
    plan = kt.plan(world.runs, world.judgments, question, budget=30, a=pair.a, b=pair.b)
    kt.write_queue(plan, tmp_path / "queue.csv")
    filled = pl.read_csv(tmp_path / "queue.csv", schema_overrides={"topic": pl.String, "document": pl.String})
    filled = filled.drop("grade").join(world.gold, on=["topic", "document"], how="left").fill_null(0)
    filled.write_csv(tmp_path / "judged.csv")
    assert gold.to_frame().equals(kt.read_gold(tmp_path / "judged.csv").to_frame())
    assert gold.draw.frame == plan.frame


def test_spoiled_gold_is_what_it_is_called(study, collection, simulated):
    world = study.cells.make_world(collection, "good")
    ranked = rank(simulated.runs)
    said = {row[1:3]: row[3] for row in simulated.judgments.to_frame().rows() if row[0] == "good"}
    found = {}
    for design in study.cells.SPOILED:
        cell = make_cell(study, design=design, frame=None, measure="DCG@5")
        pair = study.cells.choose_pairs(world, cell)[0]
        found[design] = study.cells.draw_gold(world, cell, pair, np.random.default_rng(0))
        assert len(found[design].grade) == cell.size
        assert found[design].draw is None
    items = {design: [row[1:3] for row in gold.to_frame().rows()] for design, gold in found.items()}
    assert all(document in ranked[topic, pair.b][:CUTOFF] for topic, document in items["ranks"])
    assert {said[item] for item in items["negatives"]} == {0}
    cell = make_cell(study, design="drawn", frame=None, measure="DCG@5")
    queue = study.cells.draw_gold(world, cell, pair, np.random.default_rng(0))
    assert items["no-pi"] == [row[1:3] for row in queue.to_frame().rows()]


def test_spoiled_gold_is_judged_by_its_refusals_alone(study):
    rows = pl.DataFrame(ROWS, schema=study.cells.SCHEMA)
    sound = study.tables.summarise(make_cell(study), rows, pairs=1, left_out=0)
    caught = study.tables.summarise(make_cell(study, design="ranks", frame=None), rows, pairs=1, left_out=0)
    told = study.tables.judge_lines([sound, caught])
    assert told[1:] == study.tables.judge_lines([sound])
    assert "refused least often in good" in told[0]
    assert "(NO, 0.95 at least)" in told[0]


def test_whole_topics_have_all_their_gold(study, collection, simulated, gold):
    world = study.cells.make_world(collection, "good")
    cell = make_cell(study, design="topics", frame=None, size=6)
    pair = study.cells.choose_pairs(world, cell)[0]
    found = study.cells.draw_gold(world, cell, pair, np.random.default_rng(0)).to_frame().drop("judge")
    drawn = set(found["topic"])
    assert len(drawn) == 6
    graded = {(t, d): g for t, d, g in gold.rows()}
    whole = {row[1:3] for row in simulated.judgments.to_frame().rows() if row[1] in drawn}
    assert {(t, d): g for t, d, g in found.rows()} == {item: graded.get(item, 0) for item in whole}
    assert not study.cells.choose_pairs(world, make_cell(study, design="topics", frame=None, size=12))


def test_resampled_topics_are_copies(study, collection):
    world = study.cells.make_world(collection, "odd name (x)")
    drawn = np.random.default_rng(2).integers(len(world.topics), size=len(world.topics))
    again = world.resample(np.random.default_rng(2))
    assert len(set(drawn.tolist())) < len(drawn) == len(again.topics)
    for graded, copied in ((world.judgments, again.judgments), (kt.read_gold(world.gold), kt.read_gold(again.gold))):
        scores, copies = (kt.score(*pair, MEASURE) for pair in ((world.runs, graded), (again.runs, copied)))
        place = [scores.topics.index(world.topics[t]) for t in drawn]
        np.testing.assert_array_equal(copies.value[0], scores.value[0][place])


def test_judges_grades_can_be_renamed(study, collection):
    plain, renamed = (study.cells.make_world(collection, f"good{how}") for how in ("", "(0=0,1=0,2=3,3=3)"))
    expected = plain.judgments.to_frame().with_columns(pl.col("grade").replace({1: 0, 2: 3}))
    assert renamed.judgments.to_frame().equals(expected)
    assert set(collection.list_judges()) == {"good", "odd name (x)"}


def test_comparisons_are_those_of_compare(study, collection):
    """A block's row, computed again by hand."""
    world = study.cells.make_world(collection, "good")
    cell = make_cell(study)
    pair = study.cells.choose_pairs(world, cell)[0]
    row = study.cells.compare_once(world, cell, pair, np.random.default_rng(1))
    gold = study.cells.draw_gold(world, cell, pair, np.random.default_rng(1))
    question = kt.Question(measure=MEASURE, claim="these", correction="even")
    found = kt.compare(world.runs, world.judgments, gold, question, a=pair.a, b=pair.b)
    assert (row["value"], row["low"], row["high"]) == (
        found.corrected.difference.value,
        found.corrected.difference.low,
        found.corrected.difference.high,
    )
    assert row["judges"] == found.naive.difference.value == pytest.approx(pair.judged)
    assert row["truth"] == pair.truth != pair.judged
    assert row["miss"] == pytest.approx(abs(found.naive.difference.value - pair.truth))
    assert row["claim"] == found.significant
    refused = study.cells.compare_once(world, make_cell(study, correction="sampled"), pair, np.random.default_rng(1))
    assert refused["refusal"]
    assert "value" not in refused


ROWS = {  # ten pairs, of which the judge is most wrong about the last
    "a": [*"abcdefghi", "x"],
    "b": [*"klmnopqrs", "j"],
    "truth": [0.1, -0.1, 0.2, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3],
    "value": [0.2, -0.1, 0.1, 0.1, -0.2, None, 0.1, 0.1, 0.1, 0.1],
    "low": [0.0, -0.2, 0.0, 0.05, -0.3, None, 0.0, 0.0, 0.0, 0.0],
    "high": [0.4, 0.0, 0.2, 0.15, -0.1, None, 0.2, 0.2, 0.2, 0.2],
    "claim": [False, False, False, True, True, False, True, False, False, False],
    "truth_a": [0.5] * 10,
    "truth_b": [0.6, 0.4, 0.7, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8],
    "value_a": [0.6] * 4 + [None] * 6,
    "value_b": [0.8, 0.4, 0.7, 0.5] + [None] * 6,
    "judges": [0.1, -0.1, 0.2, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5],
    "judges_a": [0.5] * 10,
    "judges_b": [0.6, 0.4, 0.7, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 1.0],
    "miss": [0.0] * 9 + [0.2],
    "seconds": [0.5] * 10,
    "refusal": [None] * 5 + ["no gold"] + [None] * 4,
    "alarm": [None] * 9 + ["odd"],
    "way": ["even"] * 10,
}


def test_figures_by_hand(study):
    rows = pl.DataFrame(ROWS, schema=study.cells.SCHEMA)
    line = study.tables.summarise(make_cell(study), rows, pairs=10, left_out=2)
    found = {name: figure.value for name, figure in line.figures.items()}
    assert (line.count, line.intervals, line.covered) == (10, 9, 6)  # an end of the interval holds
    assert found["cover"] == pytest.approx(6 / 9)
    assert found["worst"] == 0
    assert found["rmse"] == pytest.approx(math.sqrt((4 * 0.01 * 0 + 0.01 + 0.01 + 0.01 + 0.09 + 0.04) / 9))
    truth, value = (np.array([x for x, v in zip(ROWS[n], ROWS["value"], strict=True) if v is not None], float)
                    for n in ("truth", "value"))  # fmt: skip
    assert found["slope"] == pytest.approx(np.linalg.lstsq(truth[:, None], value)[0][0])
    assert found["rmse_judges"] == pytest.approx(math.sqrt(0.04 / 10))
    assert found["half"] == pytest.approx(0.1)
    assert found["claims"] == pytest.approx(0.3)
    assert found["wrong"] == pytest.approx(0.2)  # the other direction, and a difference where there is none
    assert found["level"] == pytest.approx(math.sqrt((4 * 0.01 + 0.04) / 8))
    assert found["level_judges"] == pytest.approx(math.sqrt(0.04 / 20))
    assert (found["alarms"], found["refused"]) == (0.1, 0.1)
    assert line.refusal == "no gold"
    assert line.figures["claims"].error == pytest.approx(math.sqrt(0.3 * 0.7 / 10), rel=0.15)


def test_low_coverage_is_tested_over_all_cells(study):
    covered = [940, 905, 912, 930, 50, 890]
    counts = [1000] * 4 + [60, 1000]
    rows = pl.DataFrame(ROWS, schema=study.cells.SCHEMA)
    plain = study.tables.summarise(make_cell(study), rows, pairs=1, left_out=0)
    lines = [replace(plain, intervals=n, covered=c) for n, c in zip(counts, covered, strict=True)]
    chance = [binom_test(c, n, 0.93, "smaller") for n, c in zip(counts, covered, strict=True)]
    rejected = multipletests(chance, 0.05, "holm")[0]
    assert 0 < rejected.sum() < len(lines)
    low = study.tables.find_low(lines)
    assert [any(line is found for found in low) for line in lines] == rejected.tolist()
    assert study.tables.find_low(lines[-1:]) == lines[-1:]


def test_lines_with_the_same_gold_err_together(study):
    rows = pl.DataFrame(ROWS, schema=study.cells.SCHEMA)
    plain = study.tables.summarise(make_cell(study), rows, pairs=1, left_out=0)
    settings = ({"judge": "x"}, {"judge": "y"}, {"size": 40})
    errors = (0.03, 0.05, 0.06)
    lines = [
        replace(plain, cell=make_cell(study, **changes), figures={"slope": study.tables.Figure(value, error)})
        for changes, value, error in zip(settings, (0.9, 1.0, 1.4), errors, strict=True)
    ]
    assert study.tables.average(lines, "slope") == pytest.approx((1.1, math.hypot(0.03 + 0.05, 0.06) / 3))


@pytest.mark.usefixtures("small_blocks")
def test_a_second_run_does_nothing_and_a_torn_line_is_done_again(study, folder, tmp_path, capsys):
    results = tmp_path / "results.jsonl"
    options = ["--data", str(folder), "--results", str(results), "--judges", "good", "--measures", MEASURE, "AP"]
    options += ["--sizes", "30", "--draws", "8", "--best", "4", "--others", "3", "--corrections", "even"]
    options += ["--designs", "even", "--claims", "these"]
    study.main.main(options)
    table = capsys.readouterr().out
    content = results.read_bytes()
    first, second = map(json.loads, content.splitlines())
    assert first["cell"]["measure"] == MEASURE
    assert len(first["rows"]["truth"]) == study.cells.BLOCK
    assert second["rows"]["value"] == [None] * study.cells.BLOCK  # AP is refused, which is a finding
    assert "1 cells with intervals of 2" in table
    study.main.main(options)
    assert results.read_bytes() == content
    assert capsys.readouterr().out == table
    results.write_bytes(content[: -len(content) // 5])  # as if killed while writing
    assert len(study.main.read_results(results)) == 1
    study.main.main([*options, "--markdown"])
    again = json.loads(results.read_bytes().splitlines()[1])
    assert results.read_bytes().splitlines()[0] == content.splitlines()[0]
    assert {**again, "rows": {**again["rows"], "seconds": 0}} == {**second, "rows": {**second["rows"], "seconds": 0}}
    assert "| AP |" in capsys.readouterr().out


@pytest.mark.usefixtures("small_blocks")
def test_more_draws_go_on_with_the_first(study, collection):
    cell = make_cell(study)
    first, second, again = (study.cells.run_block(collection, cell, b)["rows"] for b in (0, 1, 0))
    assert first["value"] == again["value"] != second["value"]
    assert study.cells.run_block(collection, make_cell(study, seed=1), 0)["rows"]["value"] != first["value"]
    assert min(first["truth"]) < 0 < max(first["truth"])  # either of two systems may be called b


@pytest.mark.soak
def test_two_processes_find_what_one_finds(study, folder, collection, tmp_path):
    paths = folder / "runs", folder / "judgments.tsv", folder / "gold.tsv"
    tasks = [(make_cell(study, collection=collection.name, frame=frame), 0) for frame in ("top", "pool")]
    results = tmp_path / "results.jsonl"
    assert study.main.run(paths, collection, tasks, results, 2) == 2
    assert study.main.run(paths, collection, tasks, results, 2) == 0
    found, alone = study.main.read_results(results), study.cells.run_block(collection, *tasks[1])
    assert found.keys() == set(tasks)
    assert {**found[tasks[1]]["rows"], "seconds": 0} == {**alone["rows"], "seconds": 0}
