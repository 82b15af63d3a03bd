"""Every result shows itself: a page, HTML for notebooks and a chart, whatever names it holds."""

import inspect
import re
from dataclasses import replace
from functools import cache
from html import escape
from html.parser import HTMLParser

import altair as alt
import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

import karatage as kt
from karatage.errors import OptionError
from karatage.experiments.aware.findings import AwareFindings
from karatage.experiments.collection import Collection, PanelRules, prepare_gold
from karatage.experiments.square.data_sets import DataSet, DataSets
from karatage.text import make_printable, shorten
from karatage.views.html import render_page
from karatage.views.page import Figure
from karatage.views.showing import lay_out, list_views
from karatage.views.table import clean, write_column, write_header
from karatage.views.text import render_page as print_page

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"quoted\" 'twice' `thrice` &amp; \\\\ ${alert(3)} {{ 7 * 7 }}",
    "\N{RIGHT-TO-LEFT OVERRIDE}live\N{HEBREW LETTER SHIN}\N{HEBREW LETTER LAMED}",
    "x" * 10_000,
    "constructor",
    "\N{PILE OF POO} two\nlines\tand a tab",
    "datum.score",
    "__proto__",
    "\x00\x08",
)
ELEMENTS = {"p", "b", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li"}
WIDEST = 1200  # pixels; a name of 10,000 characters on an axis would take 56,000


@cache
def make_world():
    """Runs, judgments and gold of a small collection in which nothing has a harmless name."""
    judges = [kt.simulation.JudgeProfile(name, noise=0.3 + k / 10) for k, name in enumerate(HOSTILE[:5])]
    world = kt.simulation.simulate_collection(systems=6, topics=5, judges=judges, depth=15, rng=3)
    topics = HOSTILE[-5:]
    runs = replace(world.runs, systems=HOSTILE[:6], topics=topics)
    return rename(runs), rename(replace(world.judgments, topics=topics)), rename(replace(world.pool, topics=topics))


def rename(part):
    """Documents that look like elements."""
    return replace(part, documents=pl.Series([f"<b>{name}" for name in part.documents]))


def merge():
    return kt.aggregate(make_world()[1], "ds", rng=1)


def decide():
    runs, judgments, gold = make_world()
    return kt.compare(runs, judgments, gold, "P@5", a=HOSTILE[0], b=HOSTILE[4])


def evaluate():
    runs, judgments, gold = make_world()
    return kt.evaluate(runs, judgments, ["P@5"], approach=["sgl_tau_msd", "mv"], gold=gold, rng=1)


def analyse():
    frame = kt.score(*make_world()[:2], "P@5").to_frame().drop_nulls()
    factors = {"judge": HOSTILE[0], "system": HOSTILE[4], "topic": HOSTILE[2]}
    return kt.stats.anova(
        frame.rename({**factors, "score": HOSTILE[1]}),
        HOSTILE[1],
        factors=list(factors.values()),
        interactions=[(HOSTILE[0], HOSTILE[4])],
    )


def learn():
    runs, judgments, _ = make_world()
    return kt.experiments.learn_disagreement(runs, judgments, trials=10, rng=0)


def summarise():
    _, judgments, gold = make_world()
    return kt.simulation.summarise_crowd(judgments, gold, name=HOSTILE[4])


def size():
    rates = kt.RateCounts(170, 200, 216, 262)
    return kt.plan_sizes(kt.Figures(50, 0.427, 0.240), kt.Figures(50, 0.313, 0.260), rates)


def plan():
    runs, judgments, _ = make_world()
    return kt.plan(runs, judgments, kt.Question(measure="P@5"), budget=[20])


def queue():
    runs, judgments, _ = make_world()
    return kt.queue(runs, judgments, None, kt.QueueRules(prices=kt.parse_prices("A"), measure="P@5"), budget="60")


def try_aware():
    measures, sizes, systems, panels = ("AP",), (2, 3), (HOSTILE[0],), HOSTILE[4:6]
    plan = kt.experiments.AwarePlan(
        approaches=("uniform", "mv", "sgl_tau_msd"), measures=measures, sizes=sizes, samples=5
    )
    contenders = plan.find_contenders()
    shape = (len(systems), len(panels), 1, len(sizes), 3, len(contenders))
    return AwareFindings(
        plan=plan,
        collection=HOSTILE[1],
        judges=HOSTILE,
        systems=systems,
        panels=panels,
        measures=measures,
        sizes=sizes,
        samples=np.array([5, 5]),
        mean=np.random.default_rng(0).normal(0.7, 0.05, shape),
        covariance=np.broadcast_to(np.eye(shape[-1]) * 1e-4, (*shape, shape[-1])).copy(),
    )


def collect():
    runs, judgments, gold = make_world()
    return Collection.of({HOSTILE[4]: runs}, {HOSTILE[0]: judgments}, prepare_gold(gold, PanelRules()))


def try_supervised():
    plan = kt.experiments.SupervisedPlan(
        approaches=("mv", "uniform"), measures=("P@5",), sizes=(2,), samples=2, replicates=4
    )
    return kt.experiments.experiment_supervised(collect(), plan)


def try_random_relevance():
    return kt.experiments.experiment_random_relevance(
        collect(), kt.experiments.RandomRelevancePlan(sizes=(2,), samples=2, draws=10)
    )


def try_collaborative():
    runs, _, gold = make_world()
    return kt.experiments.experiment_collaborative(
        runs, gold, kt.experiments.CollaborativePlan(studies=("finding",), orders=("depth",))
    )


def try_noisy():
    return kt.experiments.experiment_noisy(kt.experiments.NoisyPlan(simulations=100))


def try_merges():
    _, judgments, gold = make_world()
    sets = DataSets(tuple(DataSet.of(name, judgments, gold) for name in (HOSTILE[0], HOSTILE[4])))
    return kt.benchmark(sets, amounts=[], approach=["mv", "ds"])


def diagnose():
    return kt.doctor(*make_world(), "P@5")


def survey():
    return kt.report(*make_world(), "P@5", approach=("mv", "uniform"))


EXAMPLES = {
    "Accuracy": lambda: kt.stats.judge_accuracy(*make_world()[1:]),
    "Anova": analyse,
    "Audit": lambda: kt.audit(make_world()[1], gold=make_world()[2], rng=1),
    "AwareFindings": try_aware,
    "Benchmark": try_merges,
    "Board": lambda: kt.compare_all(*make_world(), "P@5"),
    "Calibration": lambda: kt.calibrate(*make_world()[1:]),
    "CollaborativeFindings": try_collaborative,
    "Comparison": decide,
    "CrowdModel": lambda: kt.simulation.learn_crowd(*make_world()[1:], name=HOSTILE[4]),
    "CrowdSummary": summarise,
    "Diagnosis": diagnose,
    "DisagreementModel": learn,
    "Draws": lambda: kt.stats.draw_scores(make_world()[0], merge(), "P@5", draws=20, rng=1),
    "Evaluation": evaluate,
    "GoldPlan": plan,
    "JudgingQueue": queue,
    "NoisyFindings": try_noisy,
    "PairedTest": lambda: kt.stats.paired_test([0.2, 0.5, 0.3], [0.4, 0.6, 0.6]),
    "Posterior": merge,
    "RandomRelevanceFindings": try_random_relevance,
    "Scores": lambda: kt.score(*make_world()[:2], "P@5"),
    "Settling": lambda: queue().settling,
    "SizePlan": size,
    "SupervisedFindings": try_supervised,
    "Survey": survey,
    "Tukey": lambda: kt.stats.tukey(analyse(), HOSTILE[4]),
    "UnpairedTest": lambda: kt.stats.welch_test([0.2, 0.5, 0.3], [0.4, 0.6, 0.6]),
    "Weights": lambda: evaluate().weights[0],
}
UNDRAWN = {"Diagnosis"}  # checks are words
PUBLIC = [getattr(home, name) for home in (kt, kt.stats, kt.experiments, kt.simulation) for name in home.__all__]
SPEAKING = {kind.__name__ for kind in PUBLIC if inspect.isclass(kind) and hasattr(kind, "sentence")}


@cache
def make(kind):
    return EXAMPLES[kind]()


class Text(HTMLParser):
    """What a reader of HTML sees, and the elements there are."""

    def __init__(self):
        super().__init__()
        self.text, self.elements = [], set()

    def handle_data(self, data):
        self.text.append(data)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")], attrs


def read_html(text):
    parser = Text()
    parser.feed(text)
    parser.close()
    return parser


def test_every_result_with_a_sentence_has_a_page_and_an_example_here():
    assert {kind.__name__ for kind in list_views()} == SPEAKING | {"Judgments", "Runs"}
    assert set(EXAMPLES) == SPEAKING


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_results_are_of_the_kind_they_stand_for(kind):
    assert type(make(kind)).__name__ == kind


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_a_notebook_shows_the_sentence_and_a_table_as_text(kind):
    result = make(kind)
    shown = result._repr_html_()
    sentence = clean(result.sentence)
    assert escape(sentence[1:], quote=False) in shown.replace("&#34;", '"').replace("&#39;", "'")
    found = read_html(shown)
    assert sentence[1:].casefold() in "".join(found.text).casefold()
    assert "table" in found.elements
    assert found.elements <= ELEMENTS


@pytest.mark.parametrize("kind", sorted(set(EXAMPLES) - UNDRAWN))
def test_every_result_draws_itself(kind):
    assert isinstance(make(kind).plot(), alt.TopLevelMixin)


@pytest.mark.parametrize("kind", sorted(set(EXAMPLES) - UNDRAWN))
def test_every_chart_is_as_the_schema_of_vega_lite_wants_it(kind):
    charts = [figure.chart for _, figure in lay_out(make(kind)).figures]
    for chart in charts:
        chart.to_dict(validate=True)  # raises
    assert charts


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_every_chart_of_a_page_is_drawn_with_names_as_text(kind):
    page = render_page(lay_out(make(kind)))
    widths = [float(width) for width in re.findall(r'<svg [^>]*?width="([\d.]+)"', page)]
    assert widths or kind in UNDRAWN
    assert max(widths, default=0) < WIDEST
    body = page.partition("<body>")[2].partition("<footer>")[0]
    assert "<script>alert" not in body
    assert "<img" not in body
    assert "<b>doc" not in body


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_the_terminal_prints_every_page_in_80_columns_without_drawing(kind, monkeypatch):
    monkeypatch.setattr(Figure, "chart", property(lambda _: pytest.fail("a chart was drawn")))
    page = lay_out(make(kind))
    for shown, detail in ((page.short, False), (page, True)):
        text = print_page(page, detail=detail)
        lines = text.splitlines()
        assert max(map(cell_len, lines)) <= 80
        assert not {c for c in text if not c.isprintable()} - {"\n"}
        assert make_printable(page.sentence).split()[0][:40] in text
        for section in shown.sections:
            for table in section.tables:
                first = next(name for name in table.columns if name != table.group)
                for cell in (write_header(table, first, plain=True), *write_column(table, first, plain=True)):
                    assert make_printable(cell)[:6].split("�")[0] in text, (table.caption, cell)


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_a_result_prints_its_sentence_and_first_table(kind):
    result = make(kind)
    text = str(result)
    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert not {c for c in text if not c.isprintable()} - {"\n"}
    assert make_printable(lay_out(result).sentence).split()[0][:40] == lines[0].split()[0][:40]
    page = lay_out(result)
    first = next(table for part in (*page.short.sections, *page.sections) for table in part.tables)
    assert make_printable(first.caption).split()[0][:40] in text
    column = next(name for name in first.columns if name != first.group)
    assert make_printable(write_header(first, column, plain=True))[:6] in text


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_a_result_is_told_in_a_line(kind):
    result = make(kind)
    told = repr(result)
    assert told == f"{kind}({shorten(result.sentence, 80)})"
    assert told.isprintable()


def test_judgments_and_runs_are_counted_gone_through_and_shown():
    runs, judgments, _ = make_world()
    for data, first in ((runs, ("system", "topic", "rank", "document")), (judgments, ("judge", "topic", "document"))):
        rows = list(data)
        assert len(data) == len(rows) == len(data.to_frame()) == len(data.to_pandas())
        assert rows[0]._fields[: len(first)] == first
        assert tuple(rows[-1]) == data.to_frame().row(-1)
        found = read_html(data._repr_html_())
        assert found.elements <= ELEMENTS
        assert {"table"} <= found.elements
        assert f"The first 5 of {len(data):,} rows" in "".join(found.text)
        assert "\n" not in repr(data)


def test_rows_of_runs_are_their_rankings():
    runs = make_world()[0]
    for row in list(runs)[::7]:
        low, _ = runs.bounds[runs.topics.index(row.topic), runs.systems.index(row.system)]
        assert row.document == runs.documents[int(runs.listed[low + row.rank - 1])]
    two = runs.only(runs.systems[2:4])
    assert two.to_frame().equals(runs.to_frame().filter(pl.col("system").is_in(two.systems)))


def test_what_cannot_be_drawn_says_why():
    rates = kt.RateCounts(17, 38, 216, 262)
    refused = kt.plan_sizes(kt.Figures(50, 0.527, 0.240), kt.Figures(50, 0.513, 0.260), rates)
    with pytest.raises(OptionError, match="no chart"):
        refused.plot()
    assert "No number of topics" in refused._repr_html_()


def test_what_is_no_result_has_no_page():
    with pytest.raises(OptionError, match="page"):
        lay_out({})
