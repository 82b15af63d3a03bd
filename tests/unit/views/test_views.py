"""Pages of smaller results: what they hold, and what they leave out."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.views.audit import VOTES
from karatage.views.page import list_options
from karatage.views.posterior import DOUBTFUL
from karatage.views.scores import MOST_REASONS
from karatage.views.showing import chart, lay_out


@pytest.fixture(scope="module")
def world():
    return kt.simulation.simulate_collection(systems=5, topics=4, depth=12, rng=3)


def test_options_that_say_nothing_are_left_out():
    assert list_options(measure="AP", gold_items=0, power=None, name="") == [("measure", "AP"), ("gold items", "0")]


def test_merged_grades_list_the_least_sure_first(world):
    merged = kt.aggregate(world.judgments, "ds", rng=1)
    page = lay_out(merged)
    (doubtful,) = page.sections[0].tables
    sure = doubtful.frame.select(name for name in doubtful.frame.columns if name.startswith("p")).max_horizontal()
    assert sure.is_sorted()
    assert len(sure) == DOUBTFUL
    assert sure[0] == pytest.approx(merged.probability.max(axis=1).min())
    assert dict(page.facts)["steps"] == str(merged.iterations)
    assert page.notes == merged.notes


def test_a_vote_without_parameters_says_nothing_of_judges(world):
    merged = kt.aggregate(world.judgments, "mv", rng=1)
    assert [section.title for section in lay_out(replace(merged, parameters={})).sections] == ["Merged grades"]


def test_a_plan_without_labels_still_has_a_page(world):
    plan = kt.plan(world.runs, world.judgments, kt.Question(measure="P@5"), budget=[5])
    done = replace(plan, items=plan.items.clear(), earlier=plan.frame_size, these=None, new=None)
    assert not done.labels
    page = lay_out(done)
    assert (page.sentence, len(list(page.figures))) == (done.sentence, 0)
    with pytest.raises(kt.KaratageError, match="no chart"):
        chart(done)


def test_a_queue_that_stops_shows_the_leaderboard_alone(world):
    rules = kt.QueueRules(prices=kt.parse_prices("A"), measure="P@5")
    queue = kt.queue(world.runs, None, world.gold, rules, budget="60")
    assert queue.stop
    assert [name for name, _ in lay_out(queue).figures] == ["settling"]


def test_scores_of_a_single_judge_have_no_map(world):
    assert [name for name, _ in lay_out(kt.score(world.runs, world.gold, "P@5")).figures] == ["systems"]
    assert [name for name, _ in lay_out(kt.score(world.runs, world.judgments, "P@5")).figures] == ["systems", "judges"]


def test_reasons_are_given_for_the_heaviest_judges_only():
    many = MOST_REASONS + 5
    weights = kt.stats.Weights(
        approach="x",
        measure="AP",
        judges=tuple(f"j{k}" for k in range(many)),
        topics=("1",),
        share=np.full((many, 1), 1 / many),
        present=np.ones((many, 1), bool),
        gap="tau",
    )
    *reasons, rest = lay_out(weights).sections[1].text.split("\n\n")
    assert len(reasons) == MOST_REASONS
    assert rest.startswith("5 ")


def test_interactions_have_a_line_for_each_level_of_the_smaller_factor(world):
    frame = kt.score(world.runs, world.judgments, "P@5").to_frame()
    result = kt.stats.anova(frame, "score", factors=["judge", "system"], interactions=[("judge", "system")])
    page = lay_out(result)
    assert [section.title for section in page.sections] == ["Sources", "judge", "system", "judge by system"]
    means = page.sections[2].charts[0].table
    assert means.about == "system"
    assert list(means.columns.values()) == ["system", "mean", "rows", "95% from", "to"]


def test_all_pairs_of_few_levels_are_listed(world):
    frame = kt.score(world.runs, world.judgments, "P@5").to_frame()
    test = kt.stats.tukey(kt.stats.anova(frame, "score", factors=["judge", "system"]), "system")
    levels, pairs = lay_out(test).sections
    assert levels.tables[0].frame["system"].to_list() == list(test.levels)
    assert len(pairs.tables[0].frame) == 10


def test_one_judge_has_no_panel(world):
    first = world.judgments.judges[0]
    alone = kt.read_judgments(world.judgments.to_frame().filter(judge=first))
    found = kt.audit(alone, gold=world.gold, rng=1, approach=["mv"])
    assert [section.title for section in lay_out(found).sections] == ["Judges"]
    every = lay_out(kt.audit(world.judgments, gold=world.gold, rng=1, approach=["mv"]))
    assert [section.title for section in every.sections] == ["Judges", "The panel"]
    assert every.sections[1].background == VOTES


def test_a_result_imports_its_own_view_only():
    code = "import sys; from karatage.views.showing import import_view; import_view('comparison'); print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "karatage.views.comparison" in said
    assert [name for name in said if name.startswith(("karatage.experiments", "karatage.views.board", "altair"))] == []
