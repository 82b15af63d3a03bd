"""Whoever follows the tutorial sees what it shows, and reaches a decision on runs of their own."""

import csv
import gzip
import re
import shlex
import subprocess
from pathlib import Path

from tests.invoking import invoke

TUTORIAL = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
OWN = re.compile(r"^karatage .*\bmine/.*$", re.M)
LEFT_OUT = "…"


def run(command):
    """What goes to standard output; notes do not."""
    words = shlex.split(command)
    if words[0] != "karatage":
        return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
    done = invoke(words[1:])
    assert done.exit_code == 0, (command, done.output, done.exception)
    return done.stdout


def find_transcripts():
    """Each command with the lines shown below it."""
    for block in CONSOLE.findall(TUTORIAL):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def test_commands_print_what_is_shown(beside_demo):
    transcripts = list(find_transcripts())
    assert len(transcripts) > 9
    for command, shown in transcripts:
        if shown == f"{LEFT_OUT}\n":  # the page, which the other test draws
            continue
        pieces = map(re.escape, shown.split(f"{LEFT_OUT}\n"))
        assert re.fullmatch(".*".join(pieces), run(command), re.S), command


def test_a_newcomer_decides_between_two_runs_of_their_own(beside_demo):
    bring_own_files(Path("demo/story"), Path("mine"))
    commands = OWN.findall(TUTORIAL)
    assert [command.split()[1] for command in commands] == ["doctor", "plan", "compare", "report", "plan", "compare"]
    answers = []
    for command in commands:
        answers.append(run(command))
        for queue in Path("mine").glob("queue*.csv"):
            judge(queue, Path("demo/story/truth/gold.qrels"))
    assert "new is better, on topics like these" in " ".join(answers[2].split())
    assert Path("mine/report.html").stat().st_size > 100_000


def bring_own_files(story, mine):
    """Two runs, and grades under other column names."""
    mine.mkdir()
    for name, source in {"old": "old", "new": "newer"}.items():
        lines = gzip.decompress((story / "runs" / f"{source}.gz").read_bytes()).decode()
        (mine / f"{name}.run").write_text(re.sub(rf"{source}$", name, lines, flags=re.M))
    grades = (story / "judgments.csv").read_text().partition("\n")[2]
    (mine / "llm-grades.csv").write_text("worker,qid,docno,label\n" + grades)


def judge(queue, truth):
    """Fill in the column `grade`."""
    grades = {tuple(line.split()[0:3:2]): line.split()[3] for line in truth.read_text().splitlines()}
    rows = list(csv.DictReader(queue.read_text().splitlines()))
    for row in rows:
        row["grade"] = grades[row["topic"], row["document"]]
    with queue.with_name(queue.name.replace("queue", "judged")).open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
