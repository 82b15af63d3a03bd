"""Partitioned judges: every document once, by someone of the team, and by nobody twice."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karatage as kt
from karatage.data.axes import Coded
from karatage.data.judgments import Judgments
from karatage.errors import OptionError, UnknownNameError
from karatage.simulation.panel import partition_judges
from tests.notes import has_note


def make_people(people, topics=3, documents=20, present=1.0, seed=0):
    """Each grade tells who gave it: the person's number."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"p{k:02d}", str(t + 1), f"d{t}-{d:03d}", k)
        for k in range(people)
        for t in range(topics)
        for d in range(documents)
        if rng.random() < present
    ]
    judge, topic, document, grade = zip(*rows, strict=True)
    return Judgments.build(
        judge=Coded.of(judge), topic=Coded.of(topic), document=Coded.of(document), grade=np.array(grade, np.int8)
    )


@given(
    people=st.integers(1, 12),
    judges=st.integers(1, 15),
    low=st.integers(1, 4),
    more=st.integers(0, 3),
    teams=st.sampled_from(["kept", "redrawn"]),
    seed=st.integers(0, 9),
)
def test_every_document_once_and_nobody_twice(people, judges, low, more, teams, seed):
    whole = make_people(people)
    if low > people:
        with pytest.raises(OptionError, match=rf"\b{low}\b.*\b{low + more}\b"):
            partition_judges(whole, judges=judges, people=(low, low + more), teams=teams, rng=seed)
        return
    found = partition_judges(whole, judges=judges, people=(low, low + more), teams=teams, rng=seed)
    made = found.judgments
    assert made.judges == tuple(f"pseudo-{k + 1:02d}" for k in range(judges))
    np.testing.assert_array_equal(made.item, np.repeat(np.arange(60), judges))
    np.testing.assert_array_equal(made.judge, np.tile(np.arange(judges), 60))
    np.testing.assert_array_equal(made.grade, found.person)  # the grade is the person's own
    assert found.people == whole.judges
    topic = made.item_topic[made.item]
    for t in range(3):
        for k in range(judges):
            assert len(np.unique(found.person[(topic == t) & (made.judge == k)])) <= low + more
    who = found.person.reshape(60, judges)
    distinct = np.array([len(np.unique(row)) for row in who])
    crowded = has_note(made, "simulation.teams-crowded")
    if not crowded:
        assert (distinct == judges).all()
    if judges > people:
        assert crowded
    elif teams == "kept":
        most = min(low + more, people)
        assert crowded == (judges > people // most * most)
    elif (low, low + more) == (2, 4) and people >= judges:
        assert not crowded


@pytest.mark.parametrize("judges", [5, 31])
def test_teams_of_the_papers_size(judges):
    """With 31 people the teams use everybody, whatever sizes are drawn, so that no document is graded twice."""
    found = partition_judges(make_people(31, topics=12, documents=80), judges=judges, rng=3)
    frame = found.to_frame()
    assert not has_note(found.judgments, "simulation.teams-crowded")
    sizes = frame.group_by("judge", "topic").len()["len"]
    assert sizes.max() <= 4
    assert sizes.mean() > 2
    np.testing.assert_allclose(frame.group_by("judge", "topic").agg(pl.col("share").sum())["share"], 1)


def test_shares_are_even_over_all_that_sum_to_one():
    """A member of a team of two has a uniform share, of mean 1/2 and variance 1/12."""
    found = partition_judges(make_people(2, topics=400, documents=100), judges=1, people=(2, 2), rng=1)
    first = found.person.reshape(400, 100) == 0
    share = first.mean(axis=1)
    assert abs(share.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 400)
    assert share.var() == pytest.approx(1 / 12 + 1 / 600, rel=0.15)


def test_people_and_shares_vary_from_topic_to_topic():
    frame = partition_judges(make_people(12, topics=6, documents=60), judges=4, rng=2).to_frame()
    for _, own in frame.group_by("judge"):
        teams = {tuple(sorted(team["person"])) for _, team in own.group_by("topic")}
        assert len(teams) > 3


def gather(frame):
    """judge -> (topic -> people, all people)."""
    found = {}
    for (judge,), own in frame.group_by("judge", maintain_order=True):
        teams = {topic: set(team["person"]) for (topic,), team in own.group_by("topic")}
        found[judge] = teams, set().union(*teams.values())
    return found


@pytest.mark.parametrize("judges", [2, 7])
def test_people_who_are_kept_recur_with_other_shares(judges):
    """31 people make 7 crews of 4 or 5, of whom 2 to 4 work in each topic."""
    whole = make_people(31, topics=40, documents=60)
    frame = partition_judges(whole, judges=judges, teams="kept", rng=2).to_frame()
    found = gather(frame)
    crews = [crew for _, crew in found.values()]
    assert {len(crew) for crew in crews} <= {4, 5}
    assert len(set().union(*crews)) == sum(map(len, crews))  # nobody works for two judges
    if judges == 7:
        assert len(set().union(*crews)) == 31
    for teams, crew in found.values():
        assert {2, 3, 4} <= {len(team) for team in teams.values()} <= {1, 2, 3, 4}  # a share may be close to 0
        assert all(sum(person in team for team in teams.values()) > 10 for person in crew)
    shares = frame.group_by("judge", "person").agg(pl.col("share").std())["share"]
    assert shares.min() > 0.1


def test_more_judges_than_crews_share_people_but_no_document():
    """13 people make three crews; the judges of a crew have the same people in each topic."""
    found = partition_judges(make_people(13, topics=6, documents=40), judges=7, teams="kept", rng=2)
    assert not has_note(found.judgments, "simulation.teams-crowded")
    who = found.person.reshape(-1, 7)
    assert (np.array([len(np.unique(row)) for row in who]) == 7).all()
    crews = [crew for _, crew in gather(found.to_frame()).values()]
    for k, other in itertools.combinations(range(7), 2):
        assert bool(crews[k] & crews[other]) == (k % 3 == other % 3)


def test_a_team_of_one_that_is_kept_is_a_whole_judge():
    whole = make_people(6)
    found = partition_judges(whole, people=(1, 1), teams="kept", rng=3)
    assert sorted(found.person[:6]) == list(range(6))
    assert (found.person.reshape(-1, 6) == found.person[:6]).all()


def test_a_crew_without_anybody_in_a_topic_leaves_it_without_grades():
    people = make_people(2, topics=2)
    absent = people.keep_rows((people.judge == 0) | (people.item < 20))
    made = partition_judges(absent, people=(1, 1), teams="kept", rng=0).judgments
    assert sorted(np.bincount(made.judge)) == [20, 40]


def test_anybody_may_meet_anybody():
    frame = partition_judges(make_people(8, topics=60, documents=30), rng=2).to_frame()
    colleagues, rivals = set(), set()
    for _, own in frame.group_by("topic"):
        teams = {judge: frozenset(team["person"]) for (judge,), team in own.group_by("judge")}
        colleagues |= {pair for team in teams.values() for pair in itertools.combinations(sorted(team), 2)}
        rivals |= {pair for pair in itertools.combinations(sorted(teams), 2) if teams[pair[0]] & teams[pair[1]]}
    assert len(colleagues) == 28  # every pair of people is in a team at some time
    assert len(rivals) == 28  # and every pair of pseudo-judges shares one


def test_the_seed_decides_and_topics_do_not_disturb_each_other():
    people = make_people(8)
    first, same, other = (partition_judges(people, judges=5, rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.person, same.person)
    assert (first.person != other.person).any()
    fewer = make_people(8, topics=2)
    np.testing.assert_array_equal(partition_judges(fewer, judges=5, rng=1).person, first.person[: 5 * 40])
    assert len(partition_judges(people, rng=1).judgments.judges) == 8


def test_what_a_person_has_not_graded_stays_without_a_grade():
    people = make_people(6, present=0.7)
    found = partition_judges(people, judges=4, rng=1)
    made = found.judgments
    missing = 4 * len(made.item_topic) - len(made.grade)
    assert 0.15 < missing / (4 * len(made.item_topic)) < 0.45
    assert has_note(made, "simulation.missing", grades=missing)
    given_by = {(k, i): g for k, i, g in zip(people.judge, people.item, people.grade, strict=True)}
    for person, item, grade in zip(found.person, made.item, made.grade, strict=True):
        assert given_by[person, item] == grade


def test_only_people_of_the_topic_are_drawn():
    rows = {
        "judge": list("abcd"),
        "topic": ["1", "1", "1", "2"],
        "document": ["x", "x", "x", "y"],
        "grade": [0, 1, 0, 1],
    }
    found = partition_judges(kt.read_judgments(rows), judges=1, people=(2, 3), rng=0)
    assert len(found.judgments.grade) == 2  # topic 2 has one person, who is then a team
    assert found.people[found.person[-1]] == "d"


def test_bad_numbers_are_refused():
    people = make_people(5)
    with pytest.raises(OptionError, match=r"\b0\b.*pseudo"):
        partition_judges(people, judges=0)
    with pytest.raises(UnknownNameError, match="kept"):
        partition_judges(people, teams="keep")
    for teams in (0, 2), (3, 2), (6, 7):
        with pytest.raises(OptionError, match=r"\b5\b.*judges"):
            partition_judges(people, people=teams)
