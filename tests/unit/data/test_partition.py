"""People put together: every grade stays, no pseudo-judge has an item twice, whole judges stay what they are."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karatage as kt
from karatage.data.partition import Partition, assemble_judges
from karatage.errors import DataError
from tests.notes import has_note, list_facts

CROWDS = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=60)


def crowd(rows, names=None):
    """Judgments from (person, topic, document) triples; the grade is the person's number."""
    called = names or {}
    table = [(called.get(p, f"p{p}"), f"t{t}", f"d{d}", p) for p, t, d in rows]
    judge, topic, document, grade = zip(*table, strict=True)
    return kt.read_judgments(
        {"judge": list(judge), "topic": list(topic), "document": list(document), "grade": list(grade)}
    )


def assemble_slowly(rows):
    """The same by hand: {(topic, document, slot): person}."""
    total = {p: sum(q == p for q, _, _ in rows) for p, _, _ in rows}
    taken = {}
    for person in sorted(total, key=lambda p: (-total[p], p)):
        for topic in range(3):
            left = [d for p, t, d in rows if (p, t) == (person, topic)]
            graded = [sum((t, d) == (topic, x) for _, t, d in rows) for x in range(7)]
            while left:
                free = [[d for d in left if (topic, d, s) not in taken] for s in range(max(graded))]
                best = max(range(len(free)), key=lambda s: (len(free[s]), -s))
                taken |= {(topic, d, best): person for d in free[best]}
                left = [d for d in left if d not in free[best]]
    return taken


@given(CROWDS)
def test_the_greedy_way_by_hand(rows):
    rows = sorted(rows)
    judgments = crowd(rows)
    found = assemble_judges(judgments)
    made = found.judgments
    key = list(zip(made.item.tolist(), made.judge.tolist(), strict=True))
    assert key == sorted(set(key))  # rows in order, and no item twice
    people = [int(found.people[p][1:]) for p in found.person]
    assert people == made.grade.tolist()
    assert sorted(zip(made.item, people, strict=True)) == sorted(
        zip(judgments.item, judgments.grade.tolist(), strict=True)
    )
    most = np.diff(judgments.row_start).max()
    assert len(made.judges) == most
    frame = made.to_frame().with_columns(person=pl.Series(people))
    if made.judges[0].startswith("pseudo"):
        got = {(int(t[1:]), int(d[1:]), int(j[-2:]) - 1): p for j, t, d, _, p in frame.rows()}
        assert got == assemble_slowly(rows)
    else:
        assert made is judgments


@given(CROWDS, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_matter_for_ties_only(rows, random):
    rows = sorted(rows)
    totals = [sum(q == p for q, _, _ in rows) for p in range(8)]
    shuffled = list(rows)
    random.shuffle(shuffled)
    plain, mixed = (assemble_judges(crowd(order)) for order in (rows, shuffled))
    np.testing.assert_array_equal(plain.judgments.judge, mixed.judgments.judge)
    np.testing.assert_array_equal(plain.person, mixed.person)
    if len(set(filter(None, totals))) == len(list(filter(None, totals))):
        names = random.sample("abcdefgh", 8)
        renamed = assemble_judges(crowd(rows, dict(enumerate(names))))
        if renamed.judgments.judges == plain.judgments.judges:
            np.testing.assert_array_equal(renamed.judgments.judge, plain.judgments.judge)
            np.testing.assert_array_equal(renamed.judgments.grade, plain.judgments.grade)


def test_whole_judges_stay_what_they_are():
    judgments = kt.simulation.simulate_collection(topics=4, rng=1).judgments
    found = assemble_judges(judgments)
    assert found.judgments is judgments
    assert found.people == judgments.judges
    np.testing.assert_array_equal(found.person, judgments.judge)


def test_nearly_whole_judges_stay_too_whatever_they_lack():
    rows = [(p, t, d) for p in range(3) for t in range(3) for d in range(7) if (p, t, d) not in {(0, 1, 2), (2, 2, 2)}]
    found = assemble_judges(crowd(rows))
    assert found.judgments.judges == ("p0", "p1", "p2")


def test_people_of_different_topics_become_one():
    found = assemble_judges(crowd([(0, 0, 1), (0, 0, 2), (1, 1, 1), (2, 2, 5), (2, 2, 6)]))
    assert found.judgments.judges == ("pseudo-01",)
    assert found.people == ("p0", "p1", "p2")
    assert list_facts(found.judgments) == {"data.pseudo-judges": {"people": 3, "judges": 1, "pairs": 3, "split": 0}}
    frame = found.to_frame()
    assert frame.rows() == [
        ("pseudo-01", "t0", "p0", 2, 1.0),
        ("pseudo-01", "t1", "p1", 1, 1.0),
        ("pseudo-01", "t2", "p2", 2, 1.0),
    ]


def test_a_person_is_split_only_where_it_must_be():
    # Three people who meet in pairs on single documents: two slots, so that one of them sits in both.
    found = assemble_judges(crowd([(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 2), (2, 0, 2), (2, 0, 0)]))
    assert len(found.judgments.judges) == 2
    assert has_note(found.judgments, "data.pseudo-judges", pairs=3, split=1)
    shares = found.to_frame().group_by("person").len().sort("person")["len"].to_list()
    assert shares == [1, 1, 2]


def test_of_pseudo_judges_who_lack_as_much_the_first_is_chosen():
    """Persons 0 and 1 share documents 1 to 3, so that both pseudo-judges lack two of those that person 2 graded."""
    graded = {0: (0, 1, 2, 3), 1: (4, 1, 2, 3), 2: (0, 4, 5)}
    found = assemble_judges(crowd([(p, 0, d) for p, documents in graded.items() for d in documents]))
    placed = zip(found.judgments.item.tolist(), found.judgments.judge.tolist(), found.person.tolist(), strict=True)
    assert [(item, judge) for item, judge, person in placed if person == 2] == [(0, 1), (4, 0), (5, 0)]


def test_of_repeated_grades_the_last_counts():
    rows = {"judge": list("aabc"), "item": list("xxxy"), "grade": [0, 1, 1, 0]}
    found = assemble_judges(kt.read_judgments(rows))
    assert found.judgments.grade.tolist() == [1, 1, 0]
    assert found.judgments.every is found.judgments
    assert has_note(found.judgments, "data.last-kept")


def test_inclusion_probabilities_move_along():
    rows = {"judge": list("cabb"), "item": list("xxxy"), "grade": [0, 1, 1, 0], "pi": [0.1, 0.2, 0.3, 0.4]}
    found = assemble_judges(kt.read_judgments(rows))
    assert found.judgments.draw is not None
    names = [found.people[p] for p in found.person]
    assert dict(zip(names, found.judgments.draw.pi.tolist(), strict=True)) == {"c": 0.1, "a": 0.2, "b": 0.4}


def test_a_person_for_every_grade():
    judgments = crowd([(0, 0, 0), (1, 0, 0)])
    with pytest.raises(DataError, match=r"\b2\b.*\b1\b"):
        Partition(judgments=judgments, people=("a",), person=np.zeros(1, np.int32))


@pytest.fixture(scope="module")
def rf10(shared_data):
    path = shared_data / "trec-rf10-crowd" / "trec-rf10-data.txt.gz"
    return kt.read_judgments(path, columns={"grade": "label"}, grades={"-2": "drop"})


@pytest.fixture(scope="module")
def crowd_2011(shared_data):
    labels = pl.read_csv(shared_data / "trec-crowd-2011" / "labels.tsv.gz", separator="\t")
    parts = labels["item"].str.split_exact("_", 1).struct.rename_fields(["topic", "document"]).struct.unnest()
    return kt.read_judgments(labels.drop("item").hstack(parts))


@pytest.mark.parametrize(("name", "slots", "split"), [("rf10", 10, 0.07), ("crowd_2011", 63, 0.011)])
def test_real_crowds_are_assembled_into_as_many_judges_as_grades_per_item(request, name, slots, split):
    judgments = request.getfixturevalue(name)
    found = assemble_judges(judgments)
    made = found.judgments
    assert len(made.judges) == slots == np.diff(judgments.row_start).max()
    key = made.item.astype(np.int64) * slots + made.judge
    assert (np.diff(key) > 0).all()
    given_by = judgments.item.astype(np.int64) * len(judgments.judges) + judgments.judge
    own = made.item.astype(np.int64) * len(judgments.judges) + found.person
    order = np.argsort(own)
    np.testing.assert_array_equal(own[order], given_by)
    np.testing.assert_array_equal(made.grade[order], judgments.grade)
    pieces = found.to_frame().group_by("person", "topic").len()
    assert (pieces["len"] > 1).mean() < split
    coverage = np.bincount(made.judge) / len(made.item_topic)
    assert coverage[0] > 0.8  # the first pseudo-judges are nearly whole
