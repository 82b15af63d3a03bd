"""Collections for the experiments: read, simulated or both; their fingerprint; and k-tuples of judges."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karatage as kt
from karatage.data.note import Note
from karatage.errors import DataError, InputFileError, OptionError
from karatage.experiments.collection import Collection, PanelRules, fingerprint, read_collection
from karatage.experiments.tuples import sample_tuples
from karatage.io.writing import write_judgments
from tests.notes import has_note, list_facts


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A small collection on disk: runs, a folder of qrels files, a table of judgments, gold."""
    folder = tmp_path_factory.mktemp("small")
    world = kt.simulation.simulate_collection(systems=4, topics=5, depth=60, rng=1)
    runs = world.runs
    (folder / "runs").mkdir()
    for s, system in enumerate(runs.systems):
        lines = []
        for t, topic in enumerate(runs.topics):
            low, high = runs.bounds[t, s]
            for rank, document in enumerate(runs.listed[low:high]):
                lines.append(f"{topic} Q0 {runs.documents[int(document)]} {rank + 1} {100 - rank} {system}\n")
        (folder / "runs" / f"{system}.txt").write_text("".join(lines))
    (folder / "judges").mkdir()
    frame = world.judgments.to_frame()
    for (judge,), own in frame.group_by("judge"):
        text = "".join(f"{t} 0 {d} {g}\n" for _, t, d, g in own.rows())
        (folder / "judges" / f"{judge}.qrels").write_text(text)
    frame.write_csv(folder / "table.csv")
    write_judgments(world.gold, folder / "gold.qrels")
    return folder


@pytest.mark.parametrize("judges", ["judges", "table.csv"])
def test_given_judges_from_a_folder_or_a_table(home, judges):
    found = read_collection(home / "runs", home / judges, home / "gold.qrels", rules=PanelRules(level=2))
    assert found.name == home.name
    assert list(found.runs) == [home.name]
    assert len(found.runs[home.name].systems) == 4
    assert list(found.panels) == ["given"]
    assert found.judges == found.panels["given"].judges
    assert len(found.judges) == 9
    assert set(np.unique(found.panels["given"].grade)) == {0, 1}
    gold = kt.read_gold(home / "gold.qrels")
    np.testing.assert_array_equal(found.gold.grade, gold.grade >= 2)
    graded = kt.read_judgments(home / "table.csv")
    np.testing.assert_array_equal(found.panels["given"].grade, graded.grade >= 2)


def test_several_sets_of_systems(home, tmp_path):
    other = tmp_path / "t13"
    other.mkdir()
    for path in sorted((home / "runs").iterdir())[:2]:
        (other / path.name).write_bytes(path.read_bytes())
    found = read_collection([f"{home}/runs/*.txt", other], home / "judges", home / "gold.qrels")
    assert {name: len(runs.systems) for name, runs in found.runs.items()} == {home.name: 4, "t13": 2}
    assert found.name == f"{home.name} + t13"
    named = read_collection({"T08": home / "runs", "T13": other}, home / "judges", home / "gold.qrels")
    assert list(named.runs) == ["T08", "T13"]
    with pytest.raises(OptionError, match="'t13'"):
        read_collection([other, other / "runs"], home / "judges", home / "gold.qrels")


def test_simulated_judges_of_given_gold(home):
    found = read_collection(
        home / "runs", "simulated:7", home / "gold.qrels", correlations=(0, 0.5), rules=PanelRules(gold_level=2), rng=3
    )
    assert list(found.panels) == ["correlation 0", "correlation 0.5"]
    gold = kt.read_gold(home / "gold.qrels")
    np.testing.assert_array_equal(found.gold.grade, gold.grade >= 2)
    free, bound = found.panels.values()
    assert free.judges == bound.judges
    assert (free.grade != bound.grade).any()
    assert has_note(found, "simulation.panel", correlation=0.5, seed=3)
    again = read_collection(home / "runs", "simulated:7", home / "gold.qrels", rules=PanelRules(gold_level=2), rng=3)
    np.testing.assert_array_equal(again.panels["correlation 0"].grade, free.grade)
    other = read_collection(home / "runs", "simulated:7", home / "gold.qrels", rng=4)
    assert (other.panels["correlation 0"].grade[:50] != free.grade[:50]).any()
    assert len(read_collection(home / "runs", "simulated", home / "gold.qrels", rng=3).judges) == 31


def test_a_wholly_simulated_collection():
    found = read_collection("simulated", "simulated:5", rng=2)
    assert found.name == "simulated"
    assert len(found.judges) == 5
    assert found.gold.top_grade == 1
    scores = kt.score(found.runs["simulated"], found.panels["correlation 0"], "AP")
    assert scores.value.shape == (5, 40, 12)
    assert fingerprint(found) == fingerprint(read_collection("simulated", "simulated:5", rng=2))
    assert fingerprint(found) != fingerprint(read_collection("simulated", "simulated:5", rng=3))


def test_what_does_not_go_together_is_refused(home):
    with pytest.raises(OptionError):
        read_collection("simulated", gold=home / "gold.qrels")
    with pytest.raises(OptionError):
        read_collection("simulated", home / "judges")
    with pytest.raises(OptionError, match="qrels"):
        read_collection(home / "runs", "simulated:5")
    with pytest.raises(OptionError, match="correlations"):
        read_collection(home / "runs", home / "judges", home / "gold.qrels", correlations=[0.3])
    for judges in "simulated:x", "simulated:0", "simulated:-3":
        with pytest.raises(OptionError, match="simulated:31"):
            read_collection(home / "runs", judges, home / "gold.qrels")
    with pytest.raises(InputFileError, match="nowhere: no such"):
        read_collection(home / "nowhere", "simulated:5", home / "gold.qrels")
    with pytest.raises(OptionError, match="panel"):
        Collection.of({}, {}, kt.read_gold(home / "gold.qrels"))
    with pytest.raises(DataError, match=r"two judges.*\b1 of 1\b"):
        read_collection(home / "runs", "simulated:1", home / "gold.qrels")


def test_the_fingerprint_tells_contents_apart(home):
    found = read_collection(home / "runs", home / "judges", home / "gold.qrels")
    (name, runs), panel = next(iter(found.runs.items())), found.panels["given"]
    flipped = panel.grade.copy()
    flipped[0] = 1 - flipped[0]
    gold = found.gold.grade.copy()
    gold[-1] = 1 - gold[-1]
    listed = runs.listed.copy()
    listed[:2] = listed[1::-1]
    others = [
        replace(found, panels={"given": replace(panel, grade=flipped)}),
        replace(found, panels={"other": panel}),
        replace(found, panels={"given": panel, "again": panel}),
        replace(found, gold=replace(found.gold, grade=gold)),
        replace(found, runs={"other": runs}),
        replace(found, runs={name: replace(runs, listed=listed)}),
        replace(found, runs={name: replace(runs, systems=(*runs.systems[:-1], "renamed"))}),
        replace(found, panels={"given": replace(panel, judges=(*panel.judges[:-1], "renamed"))}),
    ]
    prints = [fingerprint(found), *map(fingerprint, others)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(replace(found, notes=(Note.of("told"),))) == fingerprint(found)


@given(judges=st.integers(1, 9), k=st.integers(1, 9), samples=st.integers(1, 150), seed=st.integers(0, 3))
def test_tuples_are_distinct_sets(judges, k, samples, seed):
    if k > judges:
        with pytest.raises(OptionError, match="drawn"):
            sample_tuples(judges, k, samples, seed)
        return
    drawn = sample_tuples(judges, k, samples, seed)
    there = math.comb(judges, k)
    assert drawn.shape == (min(samples, there), k)
    assert drawn.dtype == np.int64  # as the kernels that merge panels want it
    rows = list(map(tuple, drawn.tolist()))
    assert len(set(rows)) == len(rows)
    assert set(rows) <= set(itertools.combinations(range(judges), k))
    if there <= samples:
        assert rows == list(itertools.combinations(range(judges), k))
    np.testing.assert_array_equal(drawn, sample_tuples(judges, k, samples, seed))


@pytest.mark.parametrize(("judges", "k", "samples"), [(31, 7, 1000), (31, 2, 200), (31, 29, 80), (12, 11, 5)])
def test_every_judge_is_drawn_equally_often(judges, k, samples):
    """Over many draws; sets drawn without replacement vary less than independent ones."""
    times = 40
    count = np.zeros(judges)
    for seed in range(times):
        count += np.bincount(sample_tuples(judges, k, samples, seed).ravel(), minlength=judges)
    share = k / judges
    assert np.abs(count / (times * samples) - share).max() < 4 * np.sqrt(share * (1 - share) / (times * samples))


def test_every_set_is_drawn_equally_often():
    """On both sides of where sets are listed: 4 of 10 sets, and 2 of 10."""
    for samples in (4, 2):
        count = dict.fromkeys(itertools.combinations(range(5), 2), 0)
        for seed in range(2000):
            for row in sample_tuples(5, 2, samples, seed).tolist():
                count[tuple(row)] += 1
        share = samples / 10
        assert max(abs(n / 2000 - share) for n in count.values()) < 4 * np.sqrt(share * (1 - share) / 2000)


def test_the_seed_decides_which_tuples():
    assert (sample_tuples(31, 5, 100, 1) != sample_tuples(31, 5, 100, 2)).any()
    with pytest.raises(OptionError, match=r"\b0\b.*samples"):
        sample_tuples(5, 2, 0)


def test_llm_judges_of_a_real_collection(shared_data):
    folder = shared_data / "trec-dl-2021-passage"
    found = read_collection(
        folder / "runs", folder / "llm_labels.tsv.gz", folder / "gold.qrels", rules=PanelRules(level=2)
    )
    assert found.name == "trec-dl-2021-passage"
    assert len(found.judges) == 13
    panel = found.panels["given"]
    share = {judge: panel.grade[panel.judge == k].mean() for k, judge in enumerate(found.judges)}
    assert found.gold.grade.mean() == pytest.approx(0.3165, abs=1e-4)
    assert share["gpt-4o_umbrela"] == pytest.approx(0.346, abs=1e-3)
    assert share["llama3.2_binary"] == pytest.approx(0.710, abs=1e-3)
    assert has_note(found, "experiments.outside-gold", grades=152526)
    assert "gpt-4_exam-selfrate_binary-mean.M" in list_facts(found)["experiments.found-none"]["judges"]
    umbrela = panel.judge == found.judges.index("gpt-4o_umbrela")
    agree = (panel.grade == found.gold.grade[panel.item])[umbrela].mean()
    assert agree == pytest.approx(0.7782, abs=1e-4)  # the folder's own figure


def test_the_papers_pool_with_simulated_judges(shared_data):
    folder = shared_data / "trec8-adhoc-10topics"
    found = read_collection({"T08": folder / "runs"}, "simulated:31", folder / "gold.qrels", rng=1)
    assert len(found.runs["T08"].systems) == 129
    assert len(found.judges) == 31
    assert found.gold.grade.sum() == 668
