"""Records of judges: merging loses nothing, and does not depend on order."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karatage.data.records import GRADES, GRID, Study, StudyRecord
from karatage.errors import DataError

BINARY, GRADED = (0.0, 1.0, 1.0, 1.0, 1.0), (0.0, 1.0, 2.0, 3.0, 4.0)


def make_study(judge="judge:a", collection="c1", *, labels=100, day=1, gains=BINARY, measure="P@10", peak=0.05):
    """A study whose likelihood is highest at a spread."""
    likelihood = -2 * (np.log(GRID) - np.log(peak)) ** 2
    return Study(
        judge=judge,
        collection=collection,
        measure=measure,
        gains=gains,
        date=f"2026-01-{day:02d}",
        labels=labels,
        topics=20,
        systems=10,
        unexplained=0.5,
        confusion=((60, 10), (10, 20)),
        likelihood=tuple(np.round(likelihood - likelihood.max(), 4).tolist()),
    )


STUDIES = st.lists(
    st.builds(
        make_study,
        st.sampled_from(["judge:a", "judge:b", "mv of 2 judges 00"]),
        st.sampled_from(["c1", "c2"]),
        labels=st.integers(100, 102),
        day=st.integers(1, 3),
        gains=st.sampled_from([BINARY, GRADED]),
        measure=st.sampled_from(["P@10", "P@20"]),
        peak=st.sampled_from([0.02, 0.05]),
    ),
    max_size=8,
)


@given(STUDIES, STUDIES, STUDIES)
def test_merging_is_commutative_associative_and_idempotent(one, two, three):
    first, second, third = (StudyRecord().merge(studies) for studies in (one, two, three))
    assert first.merge(second.studies) == second.merge(first.studies)
    assert first.merge(second.studies).merge(third.studies) == first.merge(second.merge(third.studies).studies)
    assert first.merge(first.studies) == first
    assert StudyRecord().merge(one[::-1]) == first
    assert {study.key for study in first.studies} == {study.key for study in one}


def test_the_study_with_the_most_gold_is_kept_then_the_latest():
    small, large, later = make_study(day=3), make_study(labels=200), make_study(labels=200, day=2)
    assert StudyRecord().merge([large, small]).studies == (large,)
    assert StudyRecord().merge([later, large, small]).studies == (later,)


def test_a_key_is_judge_collection_and_gains():
    others = [make_study("judge:b"), make_study(collection="c2"), make_study(gains=GRADED)]
    assert len(StudyRecord().merge([make_study(), *others, make_study(measure="P@20")]).studies) == 4
    with pytest.raises(DataError, match="study 2"):
        StudyRecord(studies=(make_study(), make_study(day=2)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("judge", ""),
        ("date", "yesterday"),
        ("gains", BINARY[1:]),
        ("gains", (0.0, 1.0, 0.5, 1.0, 1.0)),
        ("labels", 99),
        ("labels", 2**62),
        ("confusion", ((2**62, 2**62), (2**62, 2**62))),
        ("systems", 0),
        ("unexplained", 1.5),
        ("confusion", ()),
        ("confusion", ((1, 2), (3,))),
        ("likelihood", (0.0,) * (len(GRID) - 1)),
        ("likelihood", (1.0,) + (0.0,) * (len(GRID) - 1)),
        ("likelihood", (-1.0,) * len(GRID)),
        ("likelihood", (float("nan"),) + (0.0,) * (len(GRID) - 1)),
    ],
)
def test_impossible_studies_are_refused_by_name(name, value):
    with pytest.raises(DataError, match=name):
        replace(make_study(), **{name: value})


def test_the_grid_of_the_first_format():
    """Another grid would need another version of the file."""
    assert (len(GRID), GRADES) == (67, 5)
    np.testing.assert_allclose(GRID, np.geomspace(0.002, 1.5, 67))
