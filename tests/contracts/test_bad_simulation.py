"""Bad input to `karatage simulate`: one clear message, exit code 2, nothing written, no traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import karatage as kt
from karatage.cli.app import main

LONGEST_MESSAGE = 400
HEADER = "topic,document,grade,to,judgments,priority,pi,cost,batch,order,seed\n"
ASKED = "1,d1,,expert,1,1,,4,1,depth,0\n1,d2,,crowd,5,2,,0.05,1,depth,0\n"
FILES = {
    "gold.qrels": "1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n2 0 d4 0\n",
    "zero.qrels": "1 0 d1 0\n1 0 d2 0\n",
    "items.csv": "item,grade\na,1\nb,0\n",
    "other.csv": "judge,topic,document,grade\nann,9,x,1\nbob,9,x,0\n",
    "crowd.csv": "judge,topic,document,grade\nann,1,d1,1\nbob,1,d1,0\nann,2,d4,1\n",
    "families.tsv": "ann\tone\tmore\n",
    "queue.csv": HEADER + ASKED,
    "experts.csv": HEADER + ASKED.splitlines(keepends=True)[0],
    "crowd-only.csv": HEADER + ASKED.splitlines(keepends=True)[1],
    "elsewhere.csv": HEADER + ASKED.replace("1,d", "7,e"),
    "nobody.csv": HEADER + ASKED.replace("crowd", "nobody"),
    "some.csv": HEADER + ASKED.replace("crowd,5", "crowd,some"),
    "twice.csv": HEADER + ASKED + "1,d2,,crowd,5,3,,0.05,1,depth,0\n",
    "empty.csv": "",
    "broken.json": '{"format": "karatage crowd 1", ',
    "strange.json": '{"format": "other"}',
    "notes.json": "[1, 2]",
}
MISTAKES = {
    "no gold": ("-o out.csv", "no gold was given, e.g. karatage simulate gold.qrels -o crowd.csv"),
    "a crowd as experiments name it": ("--model hcb:independent", "--model hcb --independent"),
    "nothing at all": ("", "no gold was given"),
    "gold that is not there": ("gold.qrel -o out.csv", "gold.qrel: no such file; did you mean gold.qrels?"),
    "gold named twice": (
        "gold.qrels -g gold.qrels",
        "'gold.qrels'",
    ),
    "gold without relevant items": ("zero.qrels -o out.csv", "zero.qrels: no item is relevant (all grades are 0)"),
    "unknown model": ("gold.qrels --model hbc -o out.csv", "unknown crowd model 'hbc'; did you mean 'hcb'?"),
    "a model file that is not there": ("gold.qrels --model brokn.json", "brokn.json: no such file; did you mean"),
    "a model file cut short": ("gold.qrels --model broken.json", "broken.json:1: is not JSON, or cut short"),
    "a model file of another kind": (
        "gold.qrels --model strange.json",
        "strange.json: is not a crowd model: format is",
    ),
    "a list as a model": ("gold.qrels --model notes.json", "notes.json: is not a crowd model: "),
    "judgments as a model": ("gold.qrels --model crowd.csv", "crowd.csv:1: is not JSON"),
    "a model and judges to learn from": ("gold.qrels --model hcb --like crowd.csv", "give one of them"),
    "like without gold": ("--like crowd.csv --save out.json", "--like-gold"),
    "like, not there": ("gold.qrels --like crwd.csv", "crwd.csv: no such file; did you mean crowd.csv?"),
    "like without overlap": ("gold.qrels --like other.csv -o out.csv", "share no item"),
    "like, gold without relevant items": ("gold.qrels --like crowd.csv --like-gold zero.qrels", "no item is relevant"),
    "like-gold alone": ("gold.qrels --like-gold gold.qrels", "--like-gold is"),
    "families alone": ("gold.qrels --families families.tsv", "--families is"),
    "bad families": (
        "gold.qrels --like crowd.csv --families families.tsv",
        "families.tsv:1: expected judge<TAB>family",
    ),
    "fewer judges than each item needs": ("gold.qrels --judges 3 -o out.csv", "3 judges cannot give 5 judgments of an"),
    "more judges than judgments": ("gold.qrels --judges 500 -o out.csv", "500 judges cannot share 20 judgments"),
    "judged without queue": ("gold.qrels --judged out.csv", "name the queue with --queue"),
    "queue without gold": ("--queue queue.csv -o out.csv", "no gold was given"),
    "queue that is not there": ("gold.qrels --queue que.csv", "que.csv: no such file; did you mean queue.csv?"),
    "empty queue": ("gold.qrels --queue empty.csv", "empty.csv: is empty; remove it or fill it"),
    "queue of other documents": (
        "gold.qrels --queue elsewhere.csv -o out.csv",
        "elsewhere.csv: gold has none of its 2",
    ),
    "queue to nobody": ("gold.qrels --queue nobody.csv -o out.csv", "nobody.csv:3: 'nobody' in column 'to' is neither"),
    "queue for some": (
        "gold.qrels --queue some.csv -o out.csv",
        "some.csv:3: judgments 'some' is not a whole number from 1",
    ),
    "queue with a document twice": ("gold.qrels --queue twice.csv", "twice.csv:4: document 'd2' of topic '1' goes to"),
    "gold without topics for a queue": ("items.csv --queue queue.csv -o out.csv", "gold names items but no topics"),
    "queue file as gold": ("queue.csv -o out.csv", "row has a grade yet"),
    "bad ending": ("gold.qrels -o out.xlsx", "out.xlsx: cannot tell the format; use .csv, .tsv, .jsonl, .parquet"),
    "crowd as qrels": ("gold.qrels -o out.qrels", "out.qrels: cannot tell the format; use .csv"),
    "bad ending of judged": (
        "gold.qrels --queue queue.csv --judged out.txt",
        "out.txt: cannot tell the queue's format",
    ),
    "bad ending of a model": ("gold.qrels --save out.csv", "out.csv: a crowd model is written as .json"),
    "bad ending of a chart": ("gold.qrels --chart out.pdf", "out.pdf: cannot tell the format of the chart"),
    "two outputs of one name": (
        "gold.qrels --queue queue.csv -o out.csv --judged out.csv",
        "both name out.csv; give them different names",
    ),
    "gold written over": (
        "items.csv -o items.csv",
        "items.csv would be overwritten, but it is read; name another file",
    ),
    "a queue written over": (
        "gold.qrels --queue queue.csv --judged queue.csv",
        "queue.csv would be overwritten, but it is read",
    ),
    "collection and gold": ("gold.qrels --collection out", "its own gold and judgments; leave out GOLD"),
    "collection and queue": ("--collection out --queue queue.csv", "leave out --queue"),
    "collection and output": ("--collection out -o out.csv", "leave out --output"),
    "collection options alone": ("gold.qrels --systems 5", "--systems is"),
    "collection: pool too deep": (
        "--collection out --depth 5 --pool 6",
        "a pool of 6 ranks cannot be made from rankings",
    ),
    "collection: too few documents": ("--collection out --documents 10", "10 documents a topic do not fill rankings"),
    "collection: bad quality": (
        "--collection out --quality high",
        "--quality 'high' has 1 part; write two numbers",
    ),
    "collection: no quality": ("--collection out --quality 1,x", "--quality '1,x' is not a list of numbers"),
    "collection: quality upside down": ("--collection out --quality 2,1", "quality (2, 1) is not a range"),
    "collection: all relevant": ("--collection out --relevant 1", "relevant 1 is not a share of documents"),
    "collection: negative spread": ("--collection out --difficulty -1", "difficulty -1 is not a spread"),
    "collection in a file": ("--collection gold.qrels", "gold.qrels"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, says = MISTAKES[name]
    for file, content in FILES.items():
        (tmp_path / file).write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["karatage", "simulate", *arguments.split()])
    with pytest.raises(SystemExit) as stop:
        main()
    shown = capsys.readouterr()
    assert stop.value.code == 2, shown
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1, shown.err
    assert says in shown.err
    assert len(shown.err) < LONGEST_MESSAGE
    assert {path.name for path in tmp_path.iterdir()} == set(FILES), "something was written"


@pytest.mark.parametrize(
    "ask",
    [
        lambda gold: kt.simulation.simulate_crowd(gold, "hbc"),
        lambda gold: kt.simulation.simulate_crowd(gold, per_item=5, judges=3),
        lambda _: kt.simulation.load_crowd("hbc"),
        lambda _: kt.simulation.simulate_collection(shape=kt.simulation.CollectionShape(pool=51)),
    ],
)
def test_the_library_refuses_the_same(ask: Callable[[kt.Judgments], object]) -> None:
    with pytest.raises(kt.KaratageError):
        ask(kt.read_gold({"1": {"d1": 1, "d2": 0}}))
