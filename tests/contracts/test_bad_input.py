"""Bad input: one clear message with file and line, exit code 2, no traceback; from the library and the command."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
import zstandard

import karatage as kt
from karatage.cli.app import main

LONGEST_MESSAGE = 400  # beside the path
GOOD_RUN = b"1 Q0 d1 1 3.5 alpha\n1 Q0 d2 2 2.5 alpha\n2 Q0 d3 1 1.5 alpha\n"
GOOD_QRELS = b"1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n"
HEADER = b"judge,topic,document,grade\n"
GOOD_CSV = HEADER + b"ann,1,d1,1\nbob,1,d1,0\nann,2,d3,1\n"
QUEUE = b"topic,doc,rel,pi,batch,measure,frame\n1,d1,1,0.5,1,P@10,f\n1,d2,0,0.5,1,P@10,f\n2,d3,1,0.5,2,P@10,f\n"
ROW = {"judge": "ann", "topic": "1", "document": "d1", "grade": 1}
LONG_LINE = b"x" * 10_000_000
READERS: dict[str, Callable[..., object]] = {
    "run": kt.read_runs,
    "judgments": kt.read_judgments,
    "gold": kt.read_gold,
}


def parquet(**columns: list[object]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def jsonl(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def book(*pairs: object) -> bytes:
    return json.dumps({"query_doc_pairs": pairs}, indent=1).encode()


PARQUET = parquet(**{name: [value] * 50 for name, value in ROW.items()})
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0"
EMPTY, DAMAGED = "is empty; remove it or fill it", "is damaged or cut short and cannot be unpacked"
RETURN = "has a carriage return inside the line"


class Bad(NamedTuple):
    """A broken file: what it is called, what it holds, the line at fault (None = the file) and what is said."""

    name: str
    role: str
    file: str
    content: bytes
    line: int | None
    says: str


BROKEN = [
    Bad("truncated gz", "run", "a.run.gz", gzip.compress(GOOD_RUN * 50)[:-15], None, DAMAGED),
    Bad("truncated gz judgments", "judgments", "j.csv.gz", gzip.compress(GOOD_CSV)[:-4], None, DAMAGED),
    Bad("gz with a wrong checksum", "run", "a.gz", gzip.compress(GOOD_RUN)[:-8] + b"12345678", None, DAMAGED),
    Bad("garbage after gz magic", "run", "a.run.gz", b"\x1f\x8b" + b"garbage " * 9, None, DAMAGED),
    Bad("garbage after a gz member", "run", "a.run.gz", gzip.compress(GOOD_RUN) + b"garbage", None, DAMAGED),
    Bad("truncated zst", "run", "a.run.zst", zstandard.compress(GOOD_RUN * 50)[:-9], None, DAMAGED),
    Bad("second zst frame cut", "gold", "g.zst", zstandard.compress(GOOD_QRELS) * 2 + b"\x28\xb5", None, DAMAGED),
    Bad("garbage after zst magic", "gold", "g.zst", b"\x28\xb5\x2f\xfd" + b"garbage " * 9, None, DAMAGED),
    Bad("NULs in a run", "run", "a.run", GOOD_RUN + b"2 Q0 d\0 1 1.5 a\n", 4, "contains binary data, not text"),
    Bad("NULs in a table", "judgments", "j.csv", GOOD_CSV + b"ann,3,\0,1\n", 5, "contains binary data, not text"),
    Bad("UTF-16", "judgments", "j.csv", GOOD_CSV.decode().encode("utf-16"), None, "looks like UTF-16"),
    Bad("PNG as run", "run", "a.png", PNG, 3, "contains binary data, not text"),
    Bad("PNG as judgments", "judgments", "j.png", PNG, 3, "contains binary data, not text"),
    Bad("invalid UTF-8 in a run", "run", "a.run", GOOD_RUN + b"2 Q0 d\xe9 1 1.5 a\n", 4, "is not UTF-8 text; convert"),
    Bad("invalid UTF-8 in a table", "judgments", "j.csv", GOOD_CSV + b"z\xff,1,d1,1\n", 5, "is not UTF-8 text"),
    Bad("empty run", "run", "a.run", b"", None, EMPTY),
    Bad("empty judgments", "judgments", "j.csv", b"", None, EMPTY),
    Bad("empty gold, packed", "gold", "g.qrels.gz", gzip.compress(b""), None, EMPTY),
    Bad("white space only", "run", "a.run", b" \n\t\n\r\n", None, EMPTY),
    Bad("white space only judgments", "judgments", "j.csv", b" \n\t\n\r\n", None, EMPTY),
    Bad("byte order mark only", "judgments", "j.csv", b"\xef\xbb\xbf\n", None, EMPTY),
    Bad("control characters only", "run", "a.run", b"\x01\x02\n", None, EMPTY),
    Bad("header only", "judgments", "j.csv", HEADER, None, "has a header but no rows"),
    Bad("header only, blank lines", "judgments", "j.csv", b"\n" + HEADER + b"\n \n", None, "has a header but no rows"),
    Bad("run with 5 columns", "run", "a.run", GOOD_RUN + b"\n2 Q0 d4 2 1\n", 5, "expected 6 columns, got 5"),
    Bad("run with 7 columns", "run", "a.run", GOOD_RUN + b"2 Q0 d4 2 1 a b\n", 4, "expected 6 columns, got 7"),
    Bad("run with a header", "run", "a.run", b"qid q0 docno rank score tag\n" + GOOD_RUN, 1, "score 'score' is not a"),
    Bad("qrels as run", "run", "a.run", GOOD_QRELS, 1, "expected 6 columns, got 4"),
    Bad("text score", "run", "a.run", GOOD_RUN + b"2 Q0 d4 2 high alpha\n", 4, "score 'high' is not a number"),
    Bad("score with underscore", "run", "a.run", GOOD_RUN + b"2 Q0 d4 2 1_0 a\n", 4, "score '1_0' is not a number"),
    Bad("NaN score", "run", "a.run", GOOD_RUN + b"2 Q0 d4 2 NaN a\n", 4, "score 'NaN' is not a finite number"),
    Bad("infinite score", "run", "a.run", GOOD_RUN + b"2 Q0 d4 2 -inf a\n", 4, "score '-inf' is not a finite number"),
    Bad("score beyond double", "run", "a.run", GOOD_RUN + b"2 Q0 d4 2 1e999 a\n", 4, "score '1e999' is not a finite"),
    Bad("document twice", "run", "a.run", GOOD_RUN + b"1 Q0 d1 3 0.5 alpha\n", 4, "document 'd1' is listed twice for"),
    Bad("lone returns in a run", "run", "a.run", GOOD_RUN.replace(b"\n", b"\r"), 1, RETURN),
    Bad("a lone return in line 2", "run", "a.run", GOOD_RUN.replace(b"alpha\n2 Q0", b"alpha\r2 Q0"), 2, RETURN),
    Bad("lone returns in a table", "judgments", "j.csv", GOOD_CSV.replace(b"\n", b"\r"), 1, RETURN),
    Bad("a lone return in a table", "judgments", "j.csv", GOOD_CSV.replace(b"0\nann", b"0\rann"), 3, RETURN),
    Bad("lone returns in gold", "gold", "g.qrels", GOOD_QRELS.replace(b"\n", b"\r"), 1, RETURN),
    Bad("10 MB line in a run", "run", "a.run", GOOD_RUN + LONG_LINE, 4, "expected 6 columns, got 1"),
    Bad("10 MB score", "run", "a.run", GOOD_RUN + b"2 Q0 d4 2 " + LONG_LINE + b" a\n", 4, "score 'xxxxx"),
    Bad("10 MB line in judgments", "judgments", "j.csv", LONG_LINE, 1, "1 column without a header that names a grade"),
    Bad("10 MB grade", "judgments", "j.csv", GOOD_CSV + b"cy,1,d1," + LONG_LINE, 5, "grade 'xxxxx"),
    Bad("10 MB field", "judgments", "j.csv", HEADER + b"ann,1\nbob,1," + LONG_LINE, 2, "expected 4 columns, got 2"),
    Bad("10 MB column name", "judgments", "j.csv", b"judge," + LONG_LINE + b"\nann,1\n", 1, "no column for the grade"),
    Bad("10 MB line in gold", "gold", "g.qrels", GOOD_QRELS + LONG_LINE, 4, "expected 4 columns, got 1"),
    Bad("10 MB of JSON", "judgments", "j.jsonl", b'{"judge":' + LONG_LINE, 1, "is not JSON: "),
    Bad(
        "wrong columns", "judgments", "j.csv", b"who,topic,what,when\na,1,b,c\n", 1, "there is no column for the grade"
    ),
    Bad(
        "misspelt grade",
        "judgments",
        "j.csv",
        GOOD_CSV.replace(b"grade", b"garde"),
        1,
        "--columns grade=garde",
    ),
    Bad("no judge", "judgments", "j.csv", b"topic,document,grade\n1,d1,1\n", 1, "there is no column for the judge"),
    Bad("no topic", "judgments", "j.csv", b"judge,document,grade\na,d1,1\n", 1, "there is no column for the topic"),
    Bad("no document", "judgments", "j.csv", b"judge,topic,grade\na,1,1\n", 1, "there is no column for the document"),
    Bad("two grades", "judgments", "j.csv", b"judge,item,grade,grade\na,1,1,0\n", 1, "two columns are called 'grade'"),
    Bad(
        "header after blank lines", "judgments", "j.csv", b"\n\njudge,topic,garde\na,1,1\n", 3, "--columns grade=garde"
    ),
    Bad("narrow row", "judgments", "j.csv", GOOD_CSV + b"\ncy,1,d1\n", 6, "expected 4 columns, got 3"),
    Bad("wide row", "judgments", "j.csv", GOOD_CSV + b"cy,1,d1,1,7\n", 5, "expected 4 columns, got 5"),
    Bad("narrow row, time last", "judgments", "j.tsv", b"judge\titem\tgrade\ttime\na\t1\t1\n", 2, "expected 4 columns"),
    Bad(
        "open quote", "judgments", "j.csv", GOOD_CSV + b'cy,1,"d1,1\ndi,1,d1,0\n', 5, "a quotation mark is never closed"
    ),
    Bad("stray quote", "judgments", "j.csv", GOOD_CSV + b'cy,1,"d"1,1\n', 5, "a quotation mark is in the middle"),
    Bad("negative grade", "judgments", "j.csv", GOOD_CSV + b"cy,1,d1,-2\n", 5, "grade '-2' is negative"),
    Bad("negative gold", "gold", "g.qrels", GOOD_QRELS + b"2 0 d4 -1\n", 4, "grade '-1' is negative"),
    Bad("NaN grade", "judgments", "j.csv", GOOD_CSV + b"cy,1,d1,NaN\n", 5, "grade 'NaN' is not a number"),
    Bad("text grade", "judgments", "j.csv", GOOD_CSV + b"cy,1,d1,yes\n", 5, "grade 'yes' is not a number"),
    Bad(
        "text grade, quoted lines before", "judgments", "j.csv", HEADER + b'"a\nb",1,d,0\nc,1,d,x\n', 4, "grade 'x' is"
    ),
    Bad("empty grade", "judgments", "j.csv", GOOD_CSV + b"cy,1,d1,\n", 5, "the grade is missing; remove the row"),
    Bad("empty judge", "judgments", "j.csv", GOOD_CSV + b",1,d1,1\n", 5, "the judge is missing"),
    Bad("blank topic", "judgments", "j.csv", GOOD_CSV + b"cy, ,d1,1\n", 5, "the topic is missing"),
    Bad("huge grade", "judgments", "j.csv", GOOD_CSV + b"cy,1,d1,1e9\n", 5, "grade '1e9' is outside 0-126"),
    Bad("huge gold", "gold", "g.qrels", GOOD_QRELS + b"2 0 d4 127\n", 4, "grade '127' is outside 0-126"),
    Bad("bad JSON line", "judgments", "j.jsonl", jsonl(ROW) + b'\n{"judge": \n', 3, "is not JSON: "),
    Bad("JSON scalar", "judgments", "j.jsonl", jsonl(ROW, 42), 2, "expected a JSON object, got 42"),
    Bad("JSON null", "judgments", "j.jsonl", jsonl(ROW, None), 2, "expected a JSON object, got null"),
    Bad("JSON nested", "judgments", "j.jsonl", jsonl(ROW, ROW | {"document": {"id": 1}}), 2, "the document in column"),
    Bad("JSON nested always", "judgments", "j.jsonl", jsonl(ROW | {"topic": [1]}), 1, "the topic in column 'topic' is"),
    Bad("JSON without grade", "judgments", "j.jsonl", jsonl(ROW, {"judge": "bob", "topic": "1"}), 2, "is missing"),
    Bad("JSON list", "judgments", "j.json", b'[{"judge":"a","item":1,"grade":"x"}]', None, "row 1: grade 'x' is not a"),
    Bad("JSON half a character", "judgments", "j.jsonl", jsonl(ROW, ROW | {"judge": "\ud800"}), 2, "surrogate"),
    Bad("deep JSON", "judgments", "j.jsonl", b'{"judge":' + b"[" * 200_000 + b"]" * 200_000 + b"}", 1, "is not JSON: "),
    Bad("empty JSON", "judgments", "j.json", b"[]", None, "has no rows"),
    Bad("corrupt Parquet", "judgments", "j.parquet", PARQUET[:40] + b"\xff" * 60 + PARQUET[100:], None, "Parquet"),
    Bad("truncated Parquet", "judgments", "j.parquet", PARQUET[:-20], None, "is not a readable Parquet file"),
    Bad("Parquet magic only", "gold", "g.parquet", b"PAR1PAR1", None, "is not a readable Parquet file"),
    Bad(
        "Parquet without grade",
        "judgments",
        "j.parquet",
        parquet(judge=["a"], item=["1"]),
        None,
        "no column for the gr",
    ),
    Bad("Parquet of other things", "judgments", "j.parquet", parquet(x=[1], y=[2]), None, "the columns are x, y"),
    Bad("Parquet without rows", "judgments", "j.parquet", parquet(judge=[], item=[], grade=[]), None, "no rows"),
    Bad("Parquet of lists", "gold", "g.parquet", parquet(topic=[[1]], doc=["d"], rel=[1]), None, "row 1: the topic in"),
    Bad(
        "Quepid book without grades", "judgments", "b.csv", b"query,docid,Ann,Bob\nq,d1,,\n", None, "no judge has given"
    ),
    Bad(
        "Quepid text grade", "judgments", "b.csv", b"query,docid,Ann\nq,d,1\nr,d,good\n", 3, "grade 'good' is not a num"
    ),
    Bad("Quepid without query", "judgments", "b.csv", b"query,docid,Ann\nq,d,1\n,d,1\n", 3, "the topic is missing"),
    Bad(
        "Quepid JSON without grades",
        "judgments",
        "b.json",
        book({"query_text": "q"}),
        None,
        "no judge has given a grade",
    ),
    Bad("Quepid JSON, other shape", "judgments", "b.json", book({"judgements": "none"}), None, "not a Quepid book"),
    Bad("Quepid JSON, no pair", "judgments", "b.json", book(7), None, "query_doc_pairs 1 is not a JSON object"),
    Bad("a run as judgments", "judgments", "j.txt", GOOD_RUN, 1, "this looks like a run"),
    Bad("SQUARE with 5 columns", "judgments", "s.txt", b"1 w1 0 0 0\n", 1, "5 columns without a header"),
    Bad("SQUARE, ragged", "judgments", "s.txt", b"1 w1 0\n2 w1\n", 2, "expected 3 columns, got 2"),
    Bad(
        "CSV without header",
        "judgments",
        "j.csv",
        b"\nann,1,d1,1\n",
        2,
        "4 columns without a header that names a grade",
    ),
    Bad("gold with 3 columns", "gold", "g.txt", b"1 d1 0\n", 1, "3 columns without a header that names a grade"),
    Bad(
        "pi of zero",
        "gold",
        "g.csv",
        b"topic,doc,rel,pi\n1,d1,1,0.5\n1,d2,1,0\n",
        3,
        "pi '0' is not a probability in (0, 1]",
    ),
    Bad(
        "pi above one", "gold", "g.csv", b"topic,doc,rel,pi\n1,d1,1,1.5\n", 2, "pi '1.5' is not a probability in (0, 1]"
    ),
    Bad(
        "pi not given",
        "gold",
        "g.csv",
        b"topic,doc,rel,pi\n1,d1,1,\n",
        2,
        "pi is missing; every drawn item",
    ),
    Bad(
        "a grade left out of a queue",
        "gold",
        "q.csv",
        QUEUE.replace(b"d2,0", b"d2,"),
        3,
        "judge whole batches",
    ),
    Bad("no grade in a queue", "gold", "q.csv", b"topic,doc,rel,pi\n1,d1,,0.5\n", 1, "no row has a grade yet; fill in"),
    Bad(
        "batch 1 waits", "gold", "q.csv", QUEUE.replace(b"d1,1", b"d1,").replace(b"d2,0", b"d2,"), 2, "judge batches in"
    ),
    Bad("batch 2 is missing", "gold", "q.csv", QUEUE.replace(b",2,P", b",3,P"), None, "batch 2 is missing, though"),
    Bad("batch in words", "gold", "q.csv", QUEUE.replace(b",2,P", b",last,P"), 4, "batch 'last' is not a whole number"),
    Bad(
        "batch below 1", "gold", "q.csv", QUEUE.replace(b"0.5,1,P", b"0.5,0,P", 1), 2, "batch '0' is not a whole number"
    ),
    Bad("queues of two measures", "gold", "q.csv", QUEUE + b"2,d4,1,0.5,2,AP,f\n", 1, "'measure' has 2 values"),
    Bad(
        "queues of two frames", "gold", "q.csv", QUEUE + b"2,d4,1,0.5,2,P@10,g\n", 1, "rows of several queues: the col"
    ),
    Bad(
        "Parquet queue, not judged",
        "gold",
        "q.parquet",
        parquet(topic=[1], doc=[1], rel=[None], pi=[1]),
        None,
        "no row",
    ),
]


class Run(NamedTuple):
    """What a command did."""

    code: object
    out: str
    err: str


Cli = Callable[..., Run]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line, in this process."""

    def run(*arguments: object) -> Run:
        monkeypatch.setattr(sys, "argv", ["karatage", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return Run(stop.value.code, shown.out, shown.err)

    return run


@pytest.fixture
def good(tmp_path: Path) -> dict[str, Path]:
    """Three files without fault."""
    files = {"run": tmp_path / "good.run", "judgments": tmp_path / "good.csv", "gold": tmp_path / "good.qrels"}
    for role, content in (("run", GOOD_RUN), ("judgments", GOOD_CSV), ("gold", GOOD_QRELS)):
        files[role].write_bytes(content)
    return files


def evaluate(files: dict[str, Path], *more: object) -> list[object]:
    return ["evaluate", files["run"], "-j", files["judgments"], "-g", files["gold"], *more]


def check_refusal(done: Run, *fragments: str) -> None:
    """One line on standard error, nothing on standard output, exit code 2."""
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.endswith("\n")
    assert done.err.count("\n") == 1, done.err
    assert "Traceback" not in done.err
    for fragment in fragments:
        assert fragment in done.err, done.err


def test_the_good_files_are_good(good: dict[str, Path], cli: Cli) -> None:
    done = cli(*evaluate(good))
    assert done.code == 0
    assert "alpha" in done.out
    assert "error" not in done.err


def test_there_are_many_broken_files() -> None:
    assert len({bad.name for bad in BROKEN}) == len(BROKEN) >= 35


@pytest.mark.parametrize("bad", BROKEN, ids=lambda bad: bad.name)
def test_a_broken_file_is_refused(bad: Bad, tmp_path: Path, good: dict[str, Path], cli: Cli) -> None:
    path = tmp_path / bad.file
    path.write_bytes(bad.content)
    with pytest.raises(kt.KaratageError) as refused:
        READERS[bad.role](path)
    message = str(refused.value)
    place = f"{path}: " if bad.line is None else f"{path}:{bad.line}: "
    assert message.startswith(place), message
    assert bad.says in message.removeprefix(place), message
    assert len(message) - len(str(path)) < LONGEST_MESSAGE
    done = cli(*evaluate(good | {bad.role: path}))
    check_refusal(done, f"error: {message}\n")


@pytest.mark.parametrize("name", ["truncated gz", "corrupt Parquet"])
def test_a_broken_file_is_refused_by_the_program(name: str, tmp_path: Path, good: dict[str, Path]) -> None:
    bad = next(bad for bad in BROKEN if bad.name == name)
    path = tmp_path / bad.file
    path.write_bytes(bad.content)
    command = [sys.executable, "-m", "karatage", *map(str, evaluate(good | {bad.role: path}))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check_refusal(Run(done.returncode, done.stdout, done.stderr), str(path), bad.says)


class Mistake(NamedTuple):
    """Something wrong with the request, or with files that are each in order."""

    name: str
    arguments: Callable[[dict[str, Path]], list[object]]
    ask: Callable[[dict[str, Path]], object]
    says: str


def score(files: dict[str, Path], **options: object) -> object:
    runs, judgments = kt.read_runs(files["run"]), kt.read_judgments(files["judgments"])
    return kt.evaluate(runs, judgments, **({"measure": "P@1"} | options))


def beside(files: dict[str, Path], name: str) -> Path:
    return files["run"].parent / name


def replaced(files: dict[str, Path], role: str, content: bytes, name: str) -> dict[str, Path]:
    path = beside(files, name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return files | {role: path}


def items_only(files: dict[str, Path]) -> dict[str, Path]:
    return replaced(files, "judgments", b"item,worker,label\n1,ann,1\n", "items.csv")


def other_topics(files: dict[str, Path]) -> dict[str, Path]:
    return replaced(files, "judgments", GOOD_CSV.replace(b",1,", b",x1,").replace(b",2,", b",x2,"), "other.csv")


def twice(files: dict[str, Path]) -> dict[str, Path]:
    return replaced(files, "judgments", GOOD_CSV + b"\nann,2,d3,0\n", "twice.csv")


def steep(files: dict[str, Path]) -> dict[str, Path]:
    return replaced(files, "judgments", GOOD_CSV + b"cy,2,d3,4\n", "steep.csv")


def folder(files: dict[str, Path]) -> Path:
    made = beside(files, "folder")
    made.mkdir(exist_ok=True)
    return made


def same_stem(files: dict[str, Path]) -> list[Path]:
    return [replaced(files, "run", GOOD_RUN, f"{name}/same.run")["run"] for name in ("one", "two")]


def broken_among_good(files: dict[str, Path]) -> Path:
    for name, content in (("a.run", GOOD_RUN), ("b.run", GOOD_RUN + b"x\n"), ("c.run", GOOD_RUN)):
        replaced(files, "run", content, f"mixed/{name}")
    return beside(files, "mixed")


def mixed_judges(files: dict[str, Path]) -> list[Path]:
    return [files["judgments"], items_only(files)["judgments"]]


MISTAKES = [
    Mistake(
        "missing file suggests the nearest",
        lambda f: evaluate(f | {"run": beside(f, "goood.run")}),
        lambda f: kt.read_runs(beside(f, "goood.run")),
        "goood.run: no such file; did you mean",
    ),
    Mistake(
        "missing judgments",
        lambda f: evaluate(f | {"judgments": beside(f, "nowhere/x.csv")}),
        lambda f: kt.read_judgments(beside(f, "nowhere/x.csv")),
        "x.csv: no such file",
    ),
    Mistake(
        "name too long",
        lambda f: evaluate(f | {"judgments": Path("x" * 3000)}),
        lambda _: kt.read_judgments("x" * 3000),
        "cannot be read: File name too long",
    ),
    Mistake(
        "empty folder",
        lambda f: evaluate(f | {"run": folder(f)}),
        lambda f: kt.read_runs(folder(f)),
        "folder: is a folder without files",
    ),
    Mistake(
        "glob without match",
        lambda f: evaluate(f | {"run": beside(f, "*.zzz")}),
        lambda f: kt.read_runs(beside(f, "*.zzz")),
        "*.zzz: matches no file",
    ),
    Mistake(
        "a broken file among good ones",
        lambda f: evaluate(f | {"run": broken_among_good(f)}),
        lambda f: kt.read_runs(broken_among_good(f)),
        "mixed/b.run:4: expected 6 columns, got 1",
    ),
    Mistake(
        "same tag, same file name",
        lambda f: ["evaluate", *same_stem(f), "-j", f["judgments"]],
        lambda f: kt.read_runs(same_stem(f)),
        "two/same.run: another run has the name 'same'",
    ),
    Mistake(
        "items and topics mixed",
        lambda f: ["evaluate", f["run"], "-j", mixed_judges(f)[0], "-j", mixed_judges(f)[1]],
        lambda f: kt.read_judgments(mixed_judges(f)),
        "items.csv: has no topics, but",
    ),
    Mistake(
        "judgments without topics",
        lambda f: evaluate(items_only(f)),
        lambda f: score(items_only(f)),
        "the judgments have items but no topics",
    ),
    Mistake(
        "no topic in common",
        lambda f: evaluate(other_topics(f)),
        lambda f: score(other_topics(f)),
        "runs and judgments share no topic: runs have '1', '2', judgments 'x1', 'x2'",
    ),
    Mistake(
        "repeats are errors",
        lambda f: evaluate(twice(f), "--repeats", "error"),
        lambda f: kt.read_judgments(twice(f)["judgments"], repeats="error"),
        "twice.csv:6: this judge has graded this item before",
    ),
    Mistake(
        "grade above the scale",
        lambda f: evaluate(steep(f), "--grades", "0-3"),
        lambda f: kt.read_judgments(steep(f)["judgments"], grades="0-3"),
        "steep.csv:5: grade '4' is outside 0-3; pass --grades to widen the scale",
    ),
    Mistake(
        "bad --grades",
        lambda f: evaluate(f, "--grades", "low"),
        lambda f: kt.read_judgments(f["judgments"], grades="low"),
        "grades 'low' is neither a scale like 0-3 nor a mapping like yes=1",
    ),
    Mistake(
        "bad target in --grades",
        lambda f: evaluate(f, "--grades", "yes=many"),
        lambda f: kt.read_judgments(f["judgments"], grades="yes=many"),
        "grades: 'yes=many' must map to 0-126 or to drop",
    ),
    Mistake(
        "--grades that contradict themselves",
        lambda f: evaluate(f, "--grades", "0-1,yes=2"),
        lambda f: kt.read_judgments(f["judgments"], grades="0-1,yes=2"),
        "grades: 'yes=2' is outside the scale 0-1",
    ),
    Mistake(
        "--grades that drop everything",
        lambda f: evaluate(f, "--grades", "0=drop,1=drop"),
        lambda f: kt.read_judgments(f["judgments"], grades="0=drop,1=drop"),
        "good.csv: no judgment is left after the grade mapping",
    ),
    Mistake(
        "--columns of an unknown role",
        lambda f: evaluate(f, "--columns", "jugde=judge"),
        lambda f: kt.read_judgments(f["judgments"], columns={"jugde": "judge"}),
        "columns: 'jugde' is not a role; roles are judge, topic",
    ),
    Mistake(
        "--columns of an unknown column",
        lambda f: evaluate(f, "--columns", "grade=score"),
        lambda f: kt.read_judgments(f["judgments"], columns={"grade": "score"}),
        "good.csv:1: there is no column 'score' for the grade; the columns are judge, topic, document, grade",
    ),
    Mistake(
        "bad --measure",
        lambda f: evaluate(f, "--measure", "nCDG@10"),
        lambda f: score(f, measure="nCDG@10"),
        "did you mean 'nDCG'?",
    ),
    Mistake(
        "unknown approach",
        lambda f: evaluate(f, "--approach", "uniforn"),
        lambda f: score(f, approach="uniforn"),
        "unknown approach 'uniforn'; did you mean 'uniform'?",
    ),
    Mistake(
        "unknown estimator",
        lambda f: evaluate(f, "--approach", "sgl_tau_mdd"),
        lambda f: score(f, approach="sgl_tau_mdd"),
        "unknown approach 'sgl_tau_mdd'; did you mean 'sgl_tau_md'?",
    ),
    Mistake(
        "an approach that needs gold",
        lambda f: ["evaluate", f["run"], "-j", f["judgments"], "--approach", "sup_tau"],
        lambda f: score(f, approach="sup_tau"),
        "sup_tau learns from gold, and none is given; give gold, or choose another approach",
    ),
    Mistake(
        "weights from one measure only",
        lambda f: evaluate(f, "--approach", "multi(AP):sgl_tau_md"),
        lambda f: score(f, approach="multi(AP):sgl_tau_md"),
        "name at least two measures",
    ),
    Mistake(
        "no expected form",
        lambda f: evaluate(f, "--approach", "binmv", "-m", "Bpref"),
        lambda f: score(f, approach="binmv", measure="Bpref"),
        "Bpref",
    ),
    Mistake(
        "unknown judge",
        lambda f: evaluate(f, "--approach", "judge:anne"),
        lambda f: score(f, approach="judge:anne"),
        "unknown judge 'anne'; did you mean 'ann'?",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_explained(mistake: Mistake, tmp_path: Path, good: dict[str, Path], cli: Cli) -> None:
    with pytest.raises(kt.KaratageError) as refused:
        mistake.ask(good)
    message = str(refused.value)
    assert mistake.says in message
    assert len(message) < LONGEST_MESSAGE + 2 * len(str(tmp_path))
    check_refusal(cli(*mistake.arguments(good)), f"error: {message}\n")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--train", "1"], "train and gold_certainty need gold"),
        (["--gold-certainty", "0.9"], "add gold"),
        (["--gold", "GOLD", "--gold-certainty", "0.4"], "gold's certainty 0.4 must lie above 0.5"),
        (["--gold", "GOLD", "--train", "99"], "training topics without gold: 1 ('99')"),
        (["--gold", "GOLD", "--train", "120%"], "'120%' is not a share of the topics"),
        (["--weights"], "no requested approach weights judges; name one such as sgl_tau_msd"),
        (["--explain", "-a", "mv"], "no requested approach weights judges"),
        (["--weights", "-a", "sgl_tau_md", "--per-topic"], "--per-topic and --weights are two tables"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: list[str], says: str, good: dict[str, Path], cli: Cli) -> None:
    arguments = [str(good["gold"]) if option == "GOLD" else option for option in options]
    check_refusal(cli("evaluate", good["run"], "-j", good["judgments"], *arguments), says)


def test_columns_must_be_pairs(good: dict[str, Path], cli: Cli) -> None:
    check_refusal(cli(*evaluate(good, "--columns", "grade")), "columns 'grade' is not of the form role=column")


def test_runs_must_be_given(good: dict[str, Path], cli: Cli) -> None:
    check_refusal(cli("evaluate", "-j", good["judgments"]), "no runs were given")


@pytest.mark.parametrize("arguments", [["evaluate", "x.run"], ["evaluate", "--sed", "1"], ["evalute"]])
def test_misuse_of_the_command_exits_2(arguments: list[str], cli: Cli) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert "Traceback" not in done.err


NOT_BROKEN = {
    "mixed line ends": lambda text: text.replace(b"\n", b"\r\n", 2),
    "windows line ends": lambda text: text.replace(b"\n", b"\r\n"),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "no last newline": lambda text: text.rstrip(),
    "blank lines": lambda text: b"\n \n" + text.replace(b"\n", b"\n\n \t\n", 2) + b"\n\n",
}


@pytest.mark.parametrize("how", NOT_BROKEN)
def test_harmless_oddities_are_read(how: str, tmp_path: Path) -> None:
    change = NOT_BROKEN[how]
    (tmp_path / "a.run").write_bytes(change(GOOD_RUN))
    (tmp_path / "j.csv").write_bytes(change(GOOD_CSV))
    (tmp_path / "g.qrels").write_bytes(change(GOOD_QRELS))
    (tmp_path / "j.jsonl").write_bytes(change(jsonl(ROW, ROW | {"topic": "2"})))
    runs = kt.read_runs(tmp_path / "a.run")
    assert (runs.systems, runs.topics) == (("alpha",), ("1", "2"))
    assert runs.documents.gather(runs.listed).to_list() == ["d1", "d2", "d3"]
    judged = kt.read_judgments(tmp_path / "j.csv").to_frame().rows()
    assert judged == [("ann", "1", "d1", 1), ("bob", "1", "d1", 0), ("ann", "2", "d3", 1)]
    gold = kt.read_gold(tmp_path / "g.qrels").to_frame().rows()
    assert gold == [("gold", "1", "d1", 1), ("gold", "1", "d2", 0), ("gold", "2", "d3", 1)]
    objects = kt.read_judgments(tmp_path / "j.jsonl").to_frame().rows()
    assert objects == [("ann", "1", "d1", 1), ("ann", "2", "d1", 1)]


def test_tabs_and_many_spaces_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(b"  1\tQ0 \t d1   1 2e0\talpha  \n1 Q0 d2 2\t3.0 alpha\n")
    runs = kt.read_runs(tmp_path / "a.run")
    assert runs.documents.gather(runs.listed).to_list() == ["d2", "d1"]
    (tmp_path / "g.qrels").write_bytes(b"1\t0\td1\t2\n 1  0  d2  1 \n")
    assert kt.read_gold(tmp_path / "g.qrels").to_frame().rows() == [("gold", "1", "d1", 2), ("gold", "1", "d2", 1)]
