from __future__ import annotations

from contextlib import suppress

import ir_measures
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import karatage as kt
from karatage.errors import OptionError, UnknownNameError
from karatage.measures.registry import ALIASES, FAMILIES

PRINTED = [
    "AP",
    "AP(rel=2)@10",
    "Bpref",
    "Bpref(rel=3)",
    "DCG",
    "DCG(dcg=jk,base=10)",
    "DCG(dcg=log2,rel=2)@5",
    "DCG(gains={1:0.5,2:1})@10",
    "ERR@20",
    "ERR(gain=5,max=5)@20",
    "ERR(max=4,rel=2)",
    "Judged@10",
    "P@10",
    "P(rel=126)@1000000000",
    "R@1000",
    "RBP",
    "RBP(p=0.8,rel=2)@100",
    "RR",
    "RR(rel=2)@10",
    "Rprec",
    "nDCG",
    "nDCG(dcg=jk,base=2.5)@20",
    "nDCG(dcg='exp-log2')@10",
    "nDCG(dcg='exp-log2',gains={0:0.1234567891,3:1e+20})",
]
SHARED_WITH_IR_MEASURES = [
    "AP",
    "AP@100",
    "AP(rel=2)@10",
    "Bpref",
    "Bpref(rel=2)",
    "ERR",
    "ERR@20",
    "Judged",
    "Judged@10",
    "P@5",
    "P(rel=2)@10",
    "R@100",
    "R(rel=2)@10",
    "RBP",
    "RBP(p=0.8)",
    "RBP(p=0.5,rel=2)@7",
    "RR",
    "RR(rel=2)@3",
    "Rprec",
    "Rprec(rel=3)",
    "nDCG",
    "nDCG@10",
    "nDCG(dcg='exp-log2')@10",
    "nDCG(gains={1:2,2:2.5})@10",
    "nDCG(dcg='exp-log2',gains={1:2,2:3})@10",
]


@pytest.mark.parametrize("text", PRINTED)
def test_what_is_printed_is_what_was_read(text: str) -> None:
    measure = kt.parse_measure(text)
    assert str(measure) == text
    assert kt.parse_measure(measure) == kt.parse_measure(str(measure)) == measure


@pytest.mark.parametrize("text", SHARED_WITH_IR_MEASURES)
def test_ir_measures_names_are_ours(text: str) -> None:
    theirs = str(ir_measures.parse_measure(text))
    assert str(kt.parse_measure(theirs)) == theirs


@pytest.mark.parametrize("alias", ALIASES)
def test_aliases_mean_what_they_mean_to_ir_measures(alias: str) -> None:
    text = alias if FAMILIES[ALIASES[alias]].cutoff != "required" else f"{alias}@5"
    assert str(kt.parse_measure(text)) == str(ir_measures.parse_measure(text))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (" nDCG( dcg = 'jk' , base = 2 ) @ 20 ", "nDCG(dcg=jk,base=2)@20"),
        ("nDCG(base=2,dcg=jk)@20", "nDCG(dcg=jk,base=2)@20"),
        ('nDCG(dcg="exp-log2")', "nDCG(dcg='exp-log2')"),
        ("nDCG(dcg=exp-log2)", "nDCG(dcg='exp-log2')"),
        ("nDCG(gains={2:1.0,1:0.50})@5", "nDCG(gains={1:0.5,2:1})@5"),
        ("P()@5", "P@5"),
    ],
)
def test_spelling_is_free(text: str, printed: str) -> None:
    assert str(kt.parse_measure(text)) == printed


@pytest.mark.parametrize(("text", "near"), [("nCDG@10", "nDCG"), ("ndcg", "nDCG"), ("bpref", "Bpref"), ("RPB", "RBP")])
def test_an_unknown_name_suggests_the_nearest(text: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"'{near}'"):
        kt.parse_measure(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P(p=0.8)@5", "'p'"),
        ("Judged(rel=1)@5", "'rel'"),
        ("P(rel=0)@5", "grade"),
        ("P(rel=1.5)@5", "grade"),
        ("P(rel=True)@5", "grade"),
        ("P(rel=127)@5", r"\b1\b.*\b126\b"),
        ("P(rel=1,rel=2)@5", "rel"),
        ("RBP(p=1)", r"\b0\b.*\b1\b"),
        ("RBP(p=1e400)", r"\b0\b.*\b1\b"),
        ("ERR(max='a')", "grade"),
        ("nDCG(dcg=ln)", "dcg"),
        ("nDCG(dcg=jk,base=1)", r"\b1\b.*1000"),
        ("nDCG(base=2)", "dcg=jk"),
        ("nDCG(dcg=log2,base=2)", "dcg=jk"),
        ("nDCG(gains=3)", "gains"),
        ("nDCG(gains={'a':1})", "gains"),
        ("nDCG(gains={1:-1})", "gains"),
        ("nDCG(gains={1:1e400})", "gains"),
        (f"nDCG(gains={{1:1{'0' * 400}}})", "gains"),
        ("P", "P@10"),
        ("R(rel=2)", r"rel=2.*\b10\b"),
        ("Bpref@10", "Bpref"),
        ("Rprec(rel=2)@10", "Rprec"),
        ("P@0", "depth"),
        ("P@-3", "depth"),
        ("P@2.0", "depth"),
        ("P@True", "depth"),
        ("P@1000000001", "depth"),
        ("", "measure"),
        ("P@", "measure"),
        ("P@10@20", "measure"),
        ("P(2)@10", "measure"),
        ("a.b", "measure"),
        ("P+AP", "measure"),
        ("P@k", "measure"),
    ],
)
def test_refusals_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        kt.parse_measure(text)


def test_a_measure_made_by_hand_is_checked() -> None:
    with pytest.raises(OptionError, match="depth"):
        kt.parse_measure(kt.Measure("P"))


PIECES = st.sampled_from([*FAMILIES, *ALIASES, *"(){}[]@=,:-+.*'\"# \n\\0159", "rel", "gains", "dcg", "jk", "e9"])


@given(text=st.text(max_size=30) | st.lists(PIECES, max_size=15).map("".join))
@example(text="\0")
@example(text="\ud800")
@example(text="(" * 5000)
@example(text="P(rel=" + "-" * 5000 + "1)@5")
@example(text="P@" + "9" * 5000)
@example(text="P(rel='\\d')@5")
@settings(max_examples=800)
def test_any_text_is_a_measure_or_refused(text: str) -> None:
    measure = None
    with suppress(kt.KaratageError):
        measure = kt.parse_measure(text)
    if measure is not None:
        assert kt.parse_measure(str(measure)) == measure


@pytest.mark.parametrize("text", ["\0", "P(rel=\n2)", "P(rel='\x1b[31m')@5", f"P({'x' * 999}=1)@5", "\ud800"])
def test_a_refusal_is_one_short_printable_line(text: str) -> None:
    with pytest.raises(kt.KaratageError) as refusal:
        kt.parse_measure(text)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 200
