"""SQUARE's setting on the thesis' data: its sizes, and its finding about GLAD on WVSCM."""

import pytest

from karatage.experiments.square.cells import benchmark
from karatage.experiments.square.data_sets import read_data_sets

SIZES = {  # [COLLAB14] tables 2.1 and 3.2: items, judges and labels
    "duchenne-wvscm": (159, 17, 1_221),
    "gal-hitspam-crowdflower": (100, 150, 2_297),
    "agg-adult-s5": (333, 269, 3_317),
    "gal-tweets-bm": (1_000, 83, 5_000),
    "square-hcb": (3_275, 722, 18_479),
    "snow-rte": (800, 164, 8_000),
    "snow-temp": (462, 76, 4_620),
    "agg-bluebird": (108, 39, 4_212),
}


def test_sizes_are_the_thesis(shared_data):
    folders = [shared_data / name for name in SIZES]
    sets = read_data_sets(folders, grades="[gal-hitspam-crowdflower],no=0,yes=1")
    result = benchmark(sets, approach=["mv"], amounts=[], gold_items_only=True, rng=0)
    found = result.crowds().select("data_set", "items", "judges", "labels")
    assert {name: tuple(sizes) for name, *sizes in found.iter_rows()} == SIZES


@pytest.mark.parametrize("repeats", ["all", "first", "last", "majority"])
def test_glad_is_best_or_tied_on_wvscm(shared_data, repeats):
    """Whatever is done about repeated labels, of which the thesis says nothing."""
    sets = read_data_sets(shared_data / "duchenne-wvscm", repeats=repeats)
    models = ["mv", "zc(dialect=square)", "glad(dialect=square)", "ds(dialect=gal)", "ry(dialect=square)", "cubam"]
    frame = benchmark(sets, approach=models, amounts=[], gold_items_only=True, rng=0).to_frame()
    accuracy = dict(frame.select("approach", "accuracy").iter_rows())
    assert accuracy["glad(dialect=square)"] == max(accuracy.values())
    assert 0.767 <= round(accuracy["glad(dialect=square)"], 3) <= 0.774
    assert 0.720 <= round(accuracy["mv"], 3) <= 0.726


THESIS = {  # [COLLAB14] table 2.3, accuracy: numbers of approaches, each with its kinds of supervision
    "gal-tweets-bm": "5fl 6lf 7u",
    "square-hcb": "6f 5u 7u",
    "snow-rte": "4f 2ulf 3ul 5uf 6ulf",
    "gal-hitspam-crowdflower": "7u",
    "snow-temp": "6lu 1u 2ulf 3ulf 7u",
    "agg-bluebird": "4f 5ulf 6lf 7u",
    "duchenne-wvscm": "3lfu 2ulf 5ulf 6ulf",
}


def list_entries(text):
    """'5f, 6lf' as {5f, 6l, 6f}."""
    return {part[0] + letter for part in text.replace(",", "").split() for letter in part[1:]}


@pytest.mark.soak
def test_the_preset_finds_the_thesis_leaders(shared_data):
    """Three of 49 are missing with the seed 0; folds are drawn differently, so a few more may be with others."""
    scales = "[gal-hitspam-crowdflower],no=0,yes=1,[square-hcb],1=0,2=1,[snow-temp],1=0,2=1"
    sets = read_data_sets([shared_data / name for name in THESIS], grades=scales)
    result = benchmark(sets, preset="square", amounts=[50], rng=0)
    rows = result.leaders().filter(quality="accuracy").select("data_set", "leaders").iter_rows()
    ours, theirs = {name: list_entries(text) for name, text in rows}, {n: list_entries(t) for n, t in THESIS.items()}
    assert sum(map(len, theirs.values())) == 49
    assert sum(len(theirs[name] & ours[name]) for name in THESIS) >= 44
    assert sum(map(len, ours.values())) < 90  # of 16 x 7: the lists say something
    without = result.averages().filter(quality="accuracy").sort("none", descending=True, nulls_last=True)
    assert without["approach"][0] == "ds(dialect=gal)"
    wvscm = result.table(("duchenne-wvscm",)).filter(quality="accuracy").sort("none", descending=True, nulls_last=True)
    assert wvscm["approach"][0] == "glad(dialect=square)"
