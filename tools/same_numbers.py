"""Does another version print the same numbers? Runs every command with two versions and compares what they write.

    python tools/same_numbers.py OLD/bin/karatage NEW/bin/karatage WORK_FOLDER [--data ../shared/data] [--only demo]

Layout and wording may differ between versions, numbers may not. Each column of the old JSON (the numbers of one field,
in their order, over all rows) has to be in the new JSON, to the last digit, though its name may differ. Each number of
the old text has to be in the new text. Numbers that only the new version writes are listed with their fields; facts of
notes are not, since the old version wrote them in sentences. Findings are kept in the work folder, so that a run that
was interrupted goes on; delete a version's folder to run it again.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

DEMO = {
    "doctor": "doctor demo/runs -j demo/judgments.csv -g demo/judged-queue.csv -m DCG@10 --a system-12 --b system-11",
    "doctor-no-gold": "doctor demo/runs -j demo/judgments.csv -m nDCG@10",
    "compare": "compare demo/runs -j demo/judgments.csv -g demo/judged-queue.csv -m DCG@10 --a system-12 --b system-11",
    "compare-all": "compare demo/runs -j demo/judgments.csv -g demo/gold.qrels -m nDCG@10",
    "compare-these": "compare demo/runs -j demo/judgments.csv -g demo/gold.qrels --claim these --resamples 200",
    "compare-figures": "compare --figures-a 10278,0.6260,0.414 --figures-b 20604,0.6385,0.402 --rates 43/59,67/84",
    "compare-no-gold": "compare demo/runs -j demo/judgments.csv -m AP --a system-12 --b system-11 --test permutation",
    "evaluate": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -m AP -m 'P(rel=2)@5'",
    "evaluate-judges": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -a 'judge:*'",
    "evaluate-models": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -a ds -a nb --draws 200",
    "evaluate-weights": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -m AP -a sgl_rmse_own4 "
    "-a sgl_tau_msd -a sup_tau_cubed --weights --explain --train 30%",
    "evaluate-expected": "evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels -m AP -a binmv -a expected:ds "
    "--draws 200 --gold-certainty 0.95",
    "aggregate": "aggregate demo/judgments.csv",
    "aggregate-gold": "aggregate demo/judgments.csv -a zc -g demo/gold.qrels --supervision none",
    "audit": "audit demo/judgments.csv -g demo/gold.qrels",
    "plan": "plan demo/runs -j demo/judgments.csv --budget 200 -m DCG@10 --a system-12 --b system-11",
    "plan-leaderboard": "plan demo/runs -j demo/judgments.csv --budget 300 --looks 2 --seed 3",
    "plan-figures": "plan --figures-a 10278,0.6260,0.414 --figures-b 20604,0.6385,0.402 --rates 43/59,67/84 "
    "--power 0.8 --prices 0.1,2,2 --depth 3 --budget 20000",
    "queue": "queue demo/runs -j demo/judgments.csv -g demo/judged-queue.csv -m DCG@10 --indifference 0.1 --best 1 "
    "--budget 250 --prices expert=4,crowd=0.05",
    "queue-first": "queue demo/runs -m nDCG@10 --order thompson --budget 100 --prices B",
    "report": "report demo/runs -j demo/judgments.csv -g demo/gold.qrels -o report.html",
    "benchmark": "benchmark -j demo/judgments.csv -g demo/gold.qrels -a mv -a ds -a zc --amounts 50",
    "experiment-aware": "experiment aware demo/runs -j demo/judgments.csv -g demo/gold.qrels -m AP -a uniform "
    "-a sgl_tau_msd -a tpc_rmse_own4 -a mv --sizes 2-4 --samples 6 --replicates 8",
    "experiment-noisy": "experiment noisy --study ebay --study trec --study dcg",
    "experiment-collaborative": "experiment collaborative demo/runs -g demo/gold.qrels --preset small",
    "experiment-supervised": "experiment supervised demo/runs -j demo/judgments.csv -g demo/gold.qrels --preset small",
    "experiment-random-relevance": "experiment random-relevance --preset small",
}
DL21 = {
    "audit": "audit {data}/trec-dl-2021-passage/llm_labels.tsv.gz -g {data}/trec-dl-2021-passage/gold.qrels",
    "aggregate": "aggregate {data}/trec-dl-2021-passage/llm_labels.tsv.gz -a ds",
    "evaluate": "evaluate {data}/trec-dl-2021-passage/runs -j {data}/trec-dl-2021-passage/llm_labels.tsv.gz "
    "-g {data}/trec-dl-2021-passage/gold.qrels -m nDCG@10 -a mv -a ds -a sgl_tau_msd",
    "compare-all": "compare {data}/trec-dl-2021-passage/runs -j {data}/trec-dl-2021-passage/llm_labels.tsv.gz "
    "-g {data}/trec-dl-2021-passage/gold.qrels -m nDCG@10",
    "doctor": "doctor {data}/trec-dl-2021-passage/runs -j {data}/trec-dl-2021-passage/llm_labels.tsv.gz "
    "-g {data}/trec-dl-2021-passage/gold.qrels -m DCG@10",
    "plan": "plan {data}/trec-dl-2021-passage/runs -j {data}/trec-dl-2021-passage/llm_labels.tsv.gz --budget 400",
    "queue": "queue {data}/trec-dl-2021-passage/runs -j {data}/trec-dl-2021-passage/llm_labels.tsv.gz "
    "--budget 400 --prices A",
    "report": "report {data}/trec-dl-2021-passage/runs -j {data}/trec-dl-2021-passage/llm_labels.tsv.gz "
    "-g {data}/trec-dl-2021-passage/gold.qrels -m DCG@10 -o report.html",
}
T08 = {
    "simulate": "simulate {data}/trec8-adhoc-10topics/gold.qrels --model hcb --seed 3 -o crowd.csv",
    "aggregate": "aggregate crowd.csv -a glad",
    "audit": "audit crowd.csv -g {data}/trec8-adhoc-10topics/gold.qrels",
    "evaluate": "evaluate {data}/trec8-adhoc-10topics/runs -j crowd.csv -g {data}/trec8-adhoc-10topics/gold.qrels "
    "-m AP -a mv -a uniform -a tpc_rmse_own4",
    "compare-all": "compare {data}/trec8-adhoc-10topics/runs -j crowd.csv -g {data}/trec8-adhoc-10topics/gold.qrels "
    "-m P@10",
    "doctor": "doctor {data}/trec8-adhoc-10topics/runs -j crowd.csv -g {data}/trec8-adhoc-10topics/gold.qrels",
    "plan": "plan {data}/trec8-adhoc-10topics/runs -j crowd.csv --budget 300 -m DCG@20",
    "queue": "queue {data}/trec8-adhoc-10topics/runs -m AP --order thompson --budget 200 --prices A",
}
STUDIES = {"demo": DEMO, "dl21": DL21, "t08": T08}
EARLIER = {"--claim": "--topics", "--looks": "--batches", "--indifference": "--margin"}  # names before version 0.2
NOT_COMPARED = frozenset({"versions", "schema", "seconds", "version", "command", "written"})
FACTS = ".notes[].facts."
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def main() -> int:
    """Compare two versions; the exit code is 1 where a number differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("work", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=STUDIES)
    given = parser.parse_args()
    different = 0
    for study, commands in STUDIES.items():
        if given.only not in (None, study):
            continue
        for version, program in (("old", given.old), ("new", given.new)):
            folder = given.work / version / study
            folder.mkdir(parents=True, exist_ok=True)
            if study == "demo" and not (folder / "demo").exists():
                _run(program, "demo -q", folder)
        for name, command in commands.items():
            written = command.format(data=given.data.resolve())
            found = [
                _collect(version, program, written, given.work / version / study, name)
                for version, program in (("old", given.old), ("new", given.new))
            ]
            different += _tell(f"{study} {name}", *found)
    print(f"{different} commands differ")
    return 1 if different else 0


def _collect(version: str, program: str, command: str, folder: Path, name: str) -> dict[str, object]:
    """What a command prints as JSON and as text."""
    kept = folder / f"{name}.found.json"
    if not kept.exists():
        if version == "old" and " --claim " not in _run(program, f"{command.split()[0]} --help", folder).stdout:
            for now, before in EARLIER.items():
                command = command.replace(f"{now} ", f"{before} ")
        text = _run(program, command, folder)
        as_json = _run(program, f"{command} -f json", folder)
        result = {"code": text.returncode, "text": text.stdout, "json": as_json.stdout, "error": text.stderr}
        kept.write_text(json.dumps(result))
    found: dict[str, object] = json.loads(kept.read_text())
    return found


def _run(program: str, command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(program).absolute()), *shlex.split(command)], cwd=folder, capture_output=True, text=True, check=False
    )


def _tell(title: str, old: dict[str, object], new: dict[str, object]) -> bool:
    """Print how two findings differ."""
    problems = []
    if old["code"] != new["code"]:
        problems.append(f"exit code {old['code']} became {new['code']}: {str(new['error'])[-300:]}")
    before, after = _read_columns(str(old["json"])), _read_columns(str(new["json"]))
    if (before is None) != (after is None):
        problems.append("one of both is not JSON")
    written = set((after or {}).values())
    lost = [f"{field} ({len(column)})" for field, column in (before or {}).items() if column not in written]
    if lost:
        problems.append(f"JSON: {len(lost)} of {len(before or ())} columns are lost: {', '.join(lost[:8])}")
    known = {number for column in (before or {}).values() for number in column}
    added = [field for field, column in (after or {}).items() if FACTS not in field and set(column) - known]
    if added:
        problems.append(f"JSON: fields with new numbers: {', '.join(added[:8])}")
    one, other = (set(_find_numbers(str(found["text"]))) for found in (old, new))
    if one - other:
        problems.append(f"text: {len(one - other)} of {len(one)} numbers are lost: {sorted(one - other)[:8]}")
    if other - one:
        problems.append(f"text: {len(other - one)} numbers are new: {sorted(other - one)[:8]}")
    print(f"{title}: {'the same' if not problems else ''}", flush=True)
    for problem in problems:
        print(f"    {problem}", flush=True)
    return bool(problems)


def _read_columns(text: str) -> dict[str, tuple[float, ...]] | None:
    """The numbers of each field, over all rows."""
    try:
        result = json.loads(text)
    except json.JSONDecodeError:
        return None
    columns: defaultdict[str, list[float]] = defaultdict(list)
    for field, number in _list_numbers(result, ""):
        columns[field].append(number)
    return {field: tuple(column) for field, column in columns.items()}


def _list_numbers(value: object, field: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for name, member in value.items():
            if name not in NOT_COMPARED:
                yield from _list_numbers(member, f"{field}.{name}")
    elif isinstance(value, list):
        for member in value:
            yield from _list_numbers(member, f"{field}[]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield field, float(value)


def _find_numbers(text: str) -> Iterator[str]:
    return (number.rstrip(",") for number in NUMBER.findall(text))


if __name__ == "__main__":
    sys.exit(main())
