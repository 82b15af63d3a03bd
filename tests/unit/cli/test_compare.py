"""Unit tests of `karatage compare`."""

import io
import json
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

import karatage as kt
from karatage.cli.app import main
from karatage.errors import DataError, InputFileError, KaratageError, OptionError, UnknownNameError
from karatage.views.showing import lay_out
from karatage.views.text import render_page
from tests.invoking import invoke
from tests.notes import gives

PAIR = "--a system-01 --b system-04"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("compare")
    world = kt.simulation.simulate_collection(systems=4, topics=20, depth=20, rng=7)
    kt.write_judgments(world.judgments, home / "crowd.csv")
    kt.write_judgments(world.gold, home / "gold.qrels")
    for system in world.runs.systems:
        kt.write_run(world.runs, system, home / f"{system}.run")
    frame = world.gold.to_frame().drop("judge")
    rows = np.sort(np.random.default_rng(0).choice(len(frame), 200, replace=False))
    frame[rows].write_csv(home / "sample.csv")
    drawn = frame[rows].with_columns(pi=pl.lit(200 / len(frame)))
    drawn.write_csv(home / "drawn.csv")
    drawn.with_columns(batch=pl.Series([1] * 150 + [2] * 50), grade=pl.Series([0] * 150 + [None] * 50)).write_csv(
        home / "waiting.csv"
    )
    drawn.with_columns(measure=pl.Series(["P@10"] * 100 + ["DCG@10"] * 100)).write_csv(home / "two.csv")
    drawn.with_columns(batch=pl.Series([1] * 150 + [3] * 50)).write_csv(home / "gap.csv")
    drawn.with_columns(pi=pl.lit(1.5)).write_csv(home / "pi.csv")
    return home


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)

    def call(command, code=0, **options):
        done = invoke(["compare", *command.split()], **options)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, done.output
        return done

    return call


FILES = f"system-01.run system-04.run -j crowd.csv {PAIR}"


def test_tables_fit_the_page_and_end_in_the_sentence(run):
    for correction, label in (("auto", ["gold", "drawn", "evenly"]), ("rates", ["error", "rates", "corrected"])):
        done = run(f"{FILES} -g sample.csv -m P(rel=2)@10 --correction {correction}")
        lines = done.stdout.splitlines()
        assert any(line.split()[:3] == label for line in lines)
    assert max(cell_len(line) for line in lines) <= 80
    assert "Scores; a = system-01, b = system-04" in lines
    assert "Difference; a = system-01, b = system-04" in lines
    assert gives(" ".join(done.stdout.split("\n\n")[-1].split()), "system-04", "system-01")
    assert done.stderr.startswith("note: ")


def test_of_two_runs_the_first_is_a_whatever_their_names(run):
    for first, second in (("system-01", "system-04"), ("system-04", "system-01")):
        found = json.loads(run(f"{first}.run {second}.run -j crowd.csv -f json -q").stdout)
        assert (found["a"], found["b"]) == (first, second)


def test_two_runs_need_no_names_and_the_order_of_options_is_the_order_of_systems(run):
    plain = json.loads(run("system-01.run system-04.run -j crowd.csv -f json -q").stdout)
    assert (plain["a"], plain["b"]) == ("system-01", "system-04")
    for given in ("--a system-04", "--b system-01"):
        other = json.loads(run(f"system-01.run system-04.run -j crowd.csv {given} -f json -q").stdout)
        assert (other["a"], other["b"]) == ("system-04", "system-01")
        gap = other["naive"]["difference"]["value"]
        assert gap == pytest.approx(-plain["naive"]["difference"]["value"])


@pytest.mark.parametrize("gold", ["sample.csv", "drawn.csv", "gold.qrels", None])
@pytest.mark.parametrize("measure", ["P@10", "DCG", "RBP(p=0.99)", "AP", "P(rel=9)@10"])
def test_json_is_json(run, gold, measure):
    command = f"{FILES} -m {measure} -f json -q" + (f" -g {gold}" if gold else "")
    told = json.loads(run(command).stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert told["measure"] == measure
    assert (told["gold"] is None) == (gold is None)
    assert set(told) >= {"naive", "corrected", "p_value", "significant", "refusal", "notes", "sentence", "seed"}


def test_tables_for_machines(run, folder):
    frames = {}
    for ending in ("tsv", "csv", "parquet"):
        run(f"{FILES} -g sample.csv -q -o out.{ending}")
        path = folder / f"out.{ending}"
        read = pl.read_parquet if ending == "parquet" else pl.read_csv
        frames[ending] = read(path, **({"separator": "\t"} if ending == "tsv" else {}))
    assert frames["tsv"].equals(frames["csv"])
    assert frames["parquet"]["p_value"].to_list() == pytest.approx(frames["csv"]["p_value"].to_list())
    assert frames["csv"]["opinion"].to_list()[:2] == ["judges", "even"]
    assert gives(run(f"{FILES} -g sample.csv -f tsv").stderr.rstrip().splitlines()[-1], "system-04", "system-01")


def test_fail_unless_significant_sets_the_exit_code(run):
    for topics, significant in (("these", True), ("new", False)):
        asked = f"{FILES} -g gold.qrels -m P(rel=2)@10 --claim {topics} -f json -q"
        assert json.loads(run(asked).stdout)["significant"] is significant
        run(f"{asked} --fail-unless-significant", code=0 if significant else 1)
    refused = run(f"{FILES} -g sample.csv -m AP -q --fail-unless-significant", code=1)
    assert json.loads(run(f"{FILES} -g sample.csv -m AP -q -f json").stdout)["refusal"]
    assert gives(refused.stdout, "AP")
    run("--figures-a 50,0.5,0.2 --figures-b 50,0.51,0.2 --rates 43/59,67/84 -q --fail-unless-significant", code=1)
    run("--figures-a 500,0.4,0.2 --figures-b 500,0.6,0.2 --rates 430/590,670/840 -q --fail-unless-significant")


def test_without_gold_the_gate_stays_shut(run):
    told = json.loads(run(f"{FILES} -m P(rel=2)@10 --confidence 0.5 -f json -q").stdout)
    assert told["naive"]["significant"]
    assert not told["significant"]
    run(f"{FILES} -m P(rel=2)@10 --confidence 0.5 -q --fail-unless-significant", code=1)


def test_judges_and_corrections_that_do_not_go_together_are_refused(run):
    for correction, chosen in {"--correction judge-rates": "judge-rates", "": "sampled|even"}.items():
        with pytest.raises(OptionError, match=rf"independent.*({chosen})"):
            run(f"{FILES} -g sample.csv {correction} --judges independent")
    figures = "--figures-a 50,0.5,0.2 --figures-b 50,0.51,0.2 --rates 43/59,67/84"
    with pytest.raises(OptionError, match=r"judge-rates.*files"):
        run(f"{figures} --correction judge-rates")
    run(f"{figures} --correction rates")


USELESS = "--resamples 200,--undo-bias,--claim these,--measure P@5,--test wilcoxon,--seed 1,--unpaired,--adjust bh"


@pytest.mark.parametrize("option", [*USELESS.split(","), "--grades 0-1"])
def test_options_without_effect_on_figures_are_refused(run, option):
    figures = "--figures-a 50,0.5,0.2 --figures-b 50,0.51,0.2 --rates 43/59,67/84"
    with pytest.raises(OptionError, match=rf"^{option.split()[0]} .*figures"):
        run(f"{figures} {option}")
    run(f"{figures} --judges independent --confidence 0.9 --correction rates -q")


def test_options_reach_the_question(run):
    def told(more):
        return json.loads(run(f"{FILES} -g sample.csv -f json -q {more}").stdout)

    default, base = told(""), told("--correction rates")
    assert told("--approach ds")["approach"] == "ds"
    assert told("--claim these")["claim"] != default["claim"]
    assert told("--claim these --correction rates")["refusal"] is not None
    assert told("--judges independent --correction rates")["p_value"] > base["p_value"]
    assert (default["corrected"]["way"], base["corrected"]["way"]) == ("even", "rates")
    assert told("--correction even")["corrected"] == default["corrected"]
    assert told("--unpaired --correction rates")["corrected"]["difference"] != base["corrected"]["difference"]
    assert told("--test permutation")["naive"]["p_value"] != base["naive"]["p_value"]
    undone = told("--undo-bias --correction rates")["corrected"]["difference"]["value"]
    assert undone != base["corrected"]["difference"]["value"]
    assert told("--confidence 0.5")["corrected"]["difference"]["confidence"] == 0.5
    assert [o["way"] for o in told("--resamples 200 --correction rates")["others"]] == ["even", "bootstrap"]
    assert told("--seed 5")["seed"] == 5
    assert told("-m DCG@5")["measure"] == "DCG@5"
    assert told("--gold-grades 0=0,1=0,2=1,3=1")["corrected"] != base["corrected"]


def test_standard_input_is_read_like_a_file(run, folder):
    by_file = run(f"{FILES} -g sample.csv -f json -q").stdout
    text = (folder / "crowd.csv").read_text()
    assert run(f"system-01.run system-04.run -j - {PAIR} -g sample.csv -f json -q", given=text).stdout == by_file
    gold = (folder / "sample.csv").read_text()
    assert run(f"{FILES} -g - -f json -q", given=gold).stdout == by_file


def test_waiting_batches_are_left_out(run):
    told = json.loads(run(f"{FILES} -g waiting.csv -f json -q").stdout)
    assert "150 items" in told["gold"]


REFUSED = [
    ("", OptionError, "no runs"),
    ("system-01.run", OptionError, "no judgments"),
    ("system-01.run -j crowd.csv", OptionError, "'system-01' is the only"),
    (
        "system-01.run system-02.run system-03.run -j crowd.csv --a system-01",
        OptionError,
        "missing",
    ),
    ("system-01.run system-02.run -j crowd.csv --a system-01 --b system-01", OptionError, "the same system"),
    (
        "system-01.run system-02.run -j crowd.csv --a system-01 --b systm-02",
        UnknownNameError,
        "'system-02'",
    ),
    ("system-01.run system-02.run -j crowd.csv --a nobody", UnknownNameError, "nobody"),
    (f"{FILES} -m nCDG@10", UnknownNameError, "'nDCG'"),
    (f"{FILES} -m P", KaratageError, "'P'"),
    (f"{FILES} --confidence 0", OptionError, "confidence"),
    (f"{FILES} --confidence 1", OptionError, "confidence"),
    (f"{FILES} --confidence 2", OptionError, "confidence"),
    (f"{FILES} --resamples 3", OptionError, "100"),
    (f"{FILES} --test wilcoxon --unpaired", OptionError, "wilcoxon"),
    (f"{FILES} -g two.csv", InputFileError, "queues"),
    (f"{FILES} -g gap.csv", DataError, "batch 2"),
    (f"{FILES} -g pi.csv", InputFileError, "pi '1.5'"),
    (f"{FILES} --figures-a 50,0.5,0.2", OptionError, "--figures-a"),
    ("--figures-a 50,0.5,0.2", OptionError, "--figures-b and --rates"),
    ("--figures-a 50,0.5 --figures-b 50,0.5,0.1 --rates 1/2,1/2", OptionError, "--figures-a '50,0.5'"),
    ("--figures-a 50,5,1 --figures-b 50,0.5,0.1 --rates 9/9,9/9", DataError, "P@k"),
]


@pytest.mark.parametrize(("command", "kind", "says"), REFUSED, ids=[command or "nothing" for command, _, _ in REFUSED])
def test_mistakes_are_refused_with_their_names_and_numbers(run, command, kind, says):
    with pytest.raises(kind) as refused:
        run(command)
    assert says in str(refused.value)


def test_the_program_prints_one_line_and_exits_with_2(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    monkeypatch.setattr(sys, "argv", ["karatage", "compare", *FILES.split(), "-g", "two.csv"])
    with pytest.raises(SystemExit) as stop:
        main()
    shown = capsys.readouterr()
    assert stop.value.code == 2
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("error: two.csv")


def test_all_systems_where_none_is_named(run):
    told = json.loads(run("system-01.run system-02.run system-04.run -j crowd.csv -g sample.csv -f json -q").stdout)
    assert "systems" in json.dumps(told)


@pytest.mark.parametrize("adjust", ["holm", "bh", "none"])
def test_the_adjustment_reaches_the_board(run, adjust):
    files = "system-01.run system-02.run system-04.run -j crowd.csv -g sample.csv"
    assert json.loads(run(f"{files} --adjust {adjust} -f json -q").stdout)["adjust"] == adjust


def test_whose_judges_reaches_the_comparison_of_figures(run):
    figures = "--figures-a 100,0.5,0.3 --figures-b 80,0.6,0.2 --rates 90/100,160/200 -f json -q"
    for judges in ("shared", "independent"):
        told = json.loads(run(f"{figures} --judges {judges}").stdout)
        assert told["corrected"]["way"] == f"{judges} judges"


def test_small_p_values_and_alarms_are_shown():
    rates = kt.RateCounts(900, 1000, 900, 1000)
    found = kt.compare_figures(kt.Figures(400, 0.5, 0.3), kt.Figures(400, 0.6, 0.3), rates)
    assert 1e-9 < found.p_value < 1e-4
    text = render_page(lay_out(replace(found, alarm="two corrections contradict each other")))
    assert "< 0.0001" in text
    assert "two corrections contradict each other." in " ".join(text.split())
    assert "contradict" not in render_page(lay_out(found))
