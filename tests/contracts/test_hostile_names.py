"""Names that would order a terminal, browser, spreadsheet or file system about, through every command and output."""

import csv
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

import karatage as kt
from karatage.cli.app import main
from tests.invoking import invoke, list_commands

# In TREC's files control characters separate fields, so that only the first few of these can be systems.
ANYWHERE = [
    "../../../evil",
    "</script><script>alert(1)</script>",
    "=cmd|'/C-calc'!A1",
    "\u202eevil\u2066",
    "@SUM(1+1)",
    "a\\..\\b",
]
IN_TABLES = [
    "\x1b[2J\x1b[31mred",
    "\x9b31m",
    "bell\x07",
    "-1+1",
    "+1",
    "two\nlines",
    "tab\there",
    "\u200b",
    "%s{0}",
    "\x7f",
]
NAMES = [*ANYWHERE, *IN_TABLES]
TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
COMMANDS = {
    "aggregate": "judgments.csv -g gold.csv --judges judges{ending}",
    "audit": "judgments.csv -g gold.csv --families families.tsv",
    "compare": "runs -j judgments.csv -g gold.csv -m P@5 --chart chart.svg",
    "compare two": "runs -j judgments.csv -g gold.csv -m P@5 --a {a} --b {b}",
    "doctor": "runs -j judgments.csv -g gold.csv -m P@5",
    "evaluate": "runs -j judgments.csv -g gold.csv -m P@5 --weights -a sgl_tau_msd -a mv",
    "plan": "runs -j judgments.csv -m P@5 --budget 20",
    "queue": "runs -j judgments.csv -m P@5 --budget 100 --prices A",
    "simulate": "gold.csv",
}
ENDINGS = {
    "plan": ("", ".csv", ".tsv", ".jsonl", ".parquet"),
    "queue": ("", ".csv", ".jsonl", ".parquet"),
    "simulate": ("", ".csv", ".jsonl", ".parquet"),
}
USUAL = ("", ".csv", ".json", ".parquet", ".txt")
CASES = [(name, ending) for name in COMMANDS for ending in ENDINGS.get(name, USUAL)]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A collection in which everything is called so."""
    home = tmp_path_factory.mktemp("hostile")
    world = kt.simulation.simulate_collection(systems=len(ANYWHERE), topics=8, depth=6, rng=5)
    (home / "runs").mkdir()
    for n, system in enumerate(world.runs.systems):
        kt.write_run(world.runs, system, home / "run")
        text = (home / "run").read_text().replace(system, ANYWHERE[n])
        (home / "runs" / f"{n}.run").write_text(text)
    (home / "run").unlink()
    graded = world.judgments.to_frame()
    judges = {
        judge: NAMES[n % len(NAMES)] + ("" if n < len(NAMES) else str(n))
        for n, judge in enumerate(world.judgments.judges)
    }
    graded = graded.with_columns(pl.col("judge").replace(judges))
    graded.write_csv(home / "judgments.csv")
    extra = pl.DataFrame({"topic": "other\x1b[31m", "document": NAMES, "grade": 1}, schema_overrides={"grade": pl.Int8})
    gold = world.pool.to_frame().select("topic", "document", "grade")
    pl.concat([gold, extra.with_columns(pl.col("grade").cast(gold["grade"].dtype))]).write_csv(home / "gold.csv")
    lines = [f"{judge}\tfamily {judge}" for judge in judges.values() if not re.search(r"[\n\t]", judge)]
    (home / "families.tsv").write_text("\n".join(lines))
    return home


@pytest.fixture
def beside(hostile, tmp_path, monkeypatch):
    work = tmp_path / "deep" / "in" / "a" / "folder"
    work.mkdir(parents=True)
    for path in hostile.iterdir():
        (work / path.name).symlink_to(path)
    monkeypatch.chdir(work)
    return tmp_path


def run(line, words=()):
    names = {"{a}": ANYWHERE[0], "{b}": ANYWHERE[1]}
    return invoke([*(names.get(word, word) for word in line.split()), *words])


@pytest.mark.parametrize(("name", "ending"), CASES)
def test_names_are_shown_and_never_obeyed(beside, name, ending):
    words = [] if not ending else ["-o", f"result{ending}"]
    line = f"{name.split()[0]} {COMMANDS[name]}".replace("{ending}", ending or ".txt")
    done = run(line, words)
    assert done.exit_code in (0, 2), done.exception
    if done.exit_code == 2:
        assert name == "doctor", done.exception
    assert not TERMINAL.search(done.stdout + done.stderr)
    outside = [path for path in beside.rglob("*") if path.is_file() and path.parent.name != "folder"]
    assert not outside
    for path in Path.cwd().glob("*.csv"):
        if not path.is_symlink():
            cells = [cell for row in csv.reader(io.StringIO(path.read_text(), newline="")) for cell in row]
            assert not [cell for cell in cells if re.match(r"[=+@\t\r]|-(?![0-9.]+(e-?\d+)?$)", cell)]
    if ending == ".txt":
        assert not TERMINAL.search(Path("result.txt").read_text())


def test_machines_get_names_as_they_are(beside):
    """JSON, Parquet, and .csv that is asked for raw."""
    judges = set(kt.read_judgments("judgments.csv").judges)
    assert run("audit judgments.csv -q -o audit.json").exit_code == 0
    assert {row["judge"] for row in json.loads(Path("audit.json").read_text())["judges"]} == judges
    assert run("audit judgments.csv -q -o audit.parquet").exit_code == 0
    assert set(pl.read_parquet("audit.parquet")["judge"]) == judges
    assert run("audit judgments.csv -q --raw -o audit.csv").exit_code == 0
    assert set(pl.read_csv("audit.csv")["judge"]) == judges
    assert run("aggregate judgments.csv -q --raw --judges judges.csv -o merged.csv").exit_code == 0
    assert set(pl.read_csv("judges.csv")["judge"]) == judges


def test_a_guarded_queue_is_gold_for_the_same_documents(beside):
    rows = {"topic": "1", "document": ["=1", "-x", "@y", "'=z"], "grade": 1}
    frame = pl.DataFrame({**rows, "pi": 0.5, "batch": 1, "batch_size": 4})
    from karatage.io.writing import encode_table

    Path("queue.csv").write_bytes(encode_table(frame, ".csv"))
    assert sorted(kt.read_gold("queue.csv").to_frame()["document"]) == sorted(rows["document"])


def test_pages_figures_and_tables_stay_in_their_folders(beside):
    words = "report runs -j judgments.csv -g gold.csv -m P@5 -q -o out/page.html --figures out/a/f --tables out/a/t"
    done = run(words)
    assert done.exit_code == 0, done.exception
    assert not TERMINAL.search(done.stdout + done.stderr)
    written = [
        path for path in beside.rglob("*") if path.is_file() and "out" not in path.parts and not path.is_symlink()
    ]
    assert written == []
    assert "<script>alert(1)" not in Path("out/page.html").read_text()


def test_an_edited_measure_names_no_path(beside):
    assert run("compare runs -j judgments.csv -g gold.csv -m P@5 -q -o result.json").exit_code == 0
    evil = Path("result.json").read_text().replace('"P@5"', '"../../../../logo"')
    Path("evil.json").write_text(evil)
    done = run("report evil.json --figures a/figs -q")
    assert isinstance(done.exception, kt.KaratageError)
    assert not [path for path in beside.rglob("*.svg") if "figs" not in path.parts]


def test_errors_show_names(beside, monkeypatch, capsys):
    Path("bad.csv").write_text("judge,topic,document,grade\nann,1,d1,\x1b[31mred\x07\n")
    for words in (
        ["aggregate", "bad.csv"],
        ["aggregate", "no\x1b[31mthing.csv"],
        ["compare", "runs", "-j", "judgments.csv", "--a", "\x1b[31m", "--b", "x"],
    ):
        monkeypatch.setattr("sys.argv", ["karatage", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        told = capsys.readouterr()
        assert told.err.startswith("error: ")
        assert not TERMINAL.search(told.err + told.out)


def test_a_terminal_gets_printable_tables_of_machines(capsys, monkeypatch):
    from karatage.cli.output import emit

    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    emit(b"judge\tgrade\na\x1b[31m\t1\n", "-")
    assert capsys.readouterr().out == "judge\tgrade\na\N{REPLACEMENT CHARACTER}[31m\t1\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    emit(b"a\x1b[31m\n", "-")
    assert capsys.readouterr().out == "a\x1b[31m\n"


def test_sentences_and_pages_are_printable_whatever_they_are_made_of(capsys, tmp_path):
    from karatage.cli.output import emit, say, write_paragraphs
    from karatage.text import shorten

    say("a\x1b[31m")
    assert capsys.readouterr().err == "a\N{REPLACEMENT CHARACTER}[31m\n"
    assert write_paragraphs("a\x1b", "[red]b\x1b") == "a\N{REPLACEMENT CHARACTER}\n[red]b\N{REPLACEMENT CHARACTER}\n"
    assert shorten("a\x1b\n") == "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    emit("\x1b[1mbold\x1b[0m\n", str(tmp_path / "page.txt"))
    assert (tmp_path / "page.txt").read_text() == "bold\n"


def test_every_command_is_tried():
    tried = {name.split()[0] for name in COMMANDS} | {"report"}
    assert {name.split()[0] for name in list_commands()} - tried == {
        "benchmark",
        "experiment",
        "demo",
    }  # names there are data sets, or simulated
