"""Reading judgments and gold: every format, every word for a column, and what is told about doubts."""

from __future__ import annotations

import gzip
import io
import json
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import karatage as kt
from karatage.errors import KaratageError
from tests.notes import gives, has_note, list_facts

ROWS = [("ann", "1", "d1", 2), ("bob", "1", "d1", 0), ("ann", "1", "d2", 1), ("bob", "2", "d9", 3)]
FRAME = pl.DataFrame(ROWS, schema=["judge", "topic", "document", "grade"], orient="row")


def rows(judgments: kt.Judgments) -> list[tuple[object, ...]]:
    return judgments.to_frame().rows()


def save(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def encode(frame: pl.DataFrame, kind: str) -> bytes:
    out = io.BytesIO()
    if kind == "jsonl":
        frame.write_ndjson(out)
    elif kind == "json":
        out.write(json.dumps(frame.to_dicts(), indent=2).encode())
    elif kind == "parquet":
        frame.write_parquet(out)
    elif kind == "txt":
        frame.write_csv(out, separator=" ")
    else:
        frame.write_csv(out, separator={"csv": ",", "tsv": "\t", "ssv": ";"}[kind])
    return out.getvalue()


FORMATS = ["csv", "tsv", "ssv", "txt", "json", "jsonl", "parquet"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_long_tables_are_read_in_every_format(kind: str, packed: bool, tmp_path: Path) -> None:
    content = encode(FRAME, kind)
    path = save(tmp_path / f"j.{kind}", gzip.compress(content) if packed else content)
    judgments = kt.read_judgments(path)
    assert rows(judgments) == ROWS
    assert (judgments.judges, judgments.topics, judgments.top_grade) == (("ann", "bob"), ("1", "2"), 3)
    assert judgments.notes == ()


@pytest.mark.parametrize(
    ("role", "alias"),
    [
        *(
            ("judge", word)
            for word in ["judge", "worker", "assessor", "annotator", "performer", "rater", "workerId", "Judge_ID"]
        ),
        *(("topic", word) for word in ["topic", "qid", "query", "query_id", "topicID", "queryId"]),
        *(("document", word) for word in ["document", "doc", "docid", "docno", "doc_id", "DocNo", "document_id"]),
        *(("grade", word) for word in ["grade", "label", "relevance", "rel", "rating"]),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_fields_words_for_columns(role: str, alias: str, kind: str, tmp_path: Path) -> None:
    path = save(tmp_path / f"j.{kind}", encode(FRAME.rename({role: alias}), kind))
    assert rows(kt.read_judgments(path)) == ROWS


@pytest.mark.parametrize("word", ["item", "task", "item_id", "taskID"])
def test_items_without_topics(word: str, tmp_path: Path) -> None:
    judgments = kt.read_judgments(save(tmp_path / "j.tsv", f"{word}\tworker\tlabel\ni2\tw1\t1\ni1\tw1\t0\n"))
    assert not judgments.has_topics
    assert judgments.to_frame().columns == ["judge", "item", "grade"]
    assert rows(judgments) == [("w1", "i1", 0), ("w1", "i2", 1)]


def test_topic_and_document_are_preferred_to_an_item_number(tmp_path: Path) -> None:
    path = save(tmp_path / "j.csv", "item,judge,topic,doc,grade\n7,ann,1,d1,2\n")
    assert rows(kt.read_judgments(path)) == [("ann", "1", "d1", 2)]


def test_an_item_within_a_topic(tmp_path: Path) -> None:
    path = save(tmp_path / "j.csv", "judge,topic,item,grade\nann,1,7,2\n")
    assert rows(kt.read_judgments(path)) == [("ann", "1", "7", 2)]


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = save(tmp_path / "j.csv", "team,topic,doc,label,score\nt1,1,d1,0,3\n")
    named = kt.read_judgments(path, columns={"judge": "team", "grade": "score"})
    assert rows(named) == [("t1", "1", "d1", 3)]


def test_names_lose_surrounding_space_and_quotes(tmp_path: Path) -> None:
    path = save(tmp_path / "j.csv", 'judge, topic ,document,grade\n"ann", 1 ,"d,1", 2\n"b ""b""",1,"d\n2",0\n')
    assert rows(kt.read_judgments(path)) == [('b "b"', "1", "d\n2", 0), ("ann", "1", "d,1", 2)]


def test_quotes_inside_a_field_are_letters(tmp_path: Path) -> None:
    text = 'judge,query,doc,grade\nann,tv 32" led,d1,1\nbob,tv 40" led,d1,0\nann,"a, b",d1,2\n'
    found = rows(kt.read_judgments(save(tmp_path / "j.csv", text)))
    assert found == [("ann", "a, b", "d1", 2), ("ann", 'tv 32" led', "d1", 1), ("bob", 'tv 40" led', "d1", 0)]


def test_tabs_know_no_quotes(tmp_path: Path) -> None:
    path = save(tmp_path / "j.tsv", 'judge\tquery\tdoc\tgrade\nann\t"a\td1\t1\n')
    assert rows(kt.read_judgments(path)) == [("ann", '"a', "d1", 1)]


def test_qrels_are_one_judge_called_by_the_file(tmp_path: Path) -> None:
    path = save(tmp_path / "gpt-4.1.qrels", "1 0 d1 2\n1 0 d2 0\n")
    assert rows(kt.read_judgments(path)) == [("gpt-4.1", "1", "d1", 2), ("gpt-4.1", "1", "d2", 0)]


def test_a_folder_of_qrels_is_one_judge_per_file(tmp_path: Path) -> None:
    save(tmp_path / "judges" / "ann.qrels", "1 0 d1 2\n1\t0\td2\t1\n")
    save(tmp_path / "judges" / "bob.qrels.gz", gzip.compress(b"1 0 d1 0\n2 0 d9 3\n"))
    assert rows(kt.read_judgments(tmp_path / "judges")) == ROWS
    assert rows(kt.read_judgments(f"{tmp_path}/judges/*")) == ROWS


def test_a_document_called_doc_is_no_header(tmp_path: Path) -> None:
    path = save(tmp_path / "ann.qrels", "1 0 doc 1\n1 0 d2 0\n")
    assert rows(kt.read_judgments(path)) == [("ann", "1", "d2", 0), ("ann", "1", "doc", 1)]


def test_documents_with_commas_are_no_csv(tmp_path: Path) -> None:
    path = save(tmp_path / "ann.qrels", "1 0 http://x/a,b;c 1\n")
    assert rows(kt.read_judgments(path)) == [("ann", "1", "http://x/a,b;c", 1)]


def test_files_of_square_are_read(tmp_path: Path) -> None:
    assert rows(kt.read_judgments(save(tmp_path / "r.txt", "2971 1 1\n3019 1 0\n2971 2 2\n"))) == [
        ("1", "2971", 1),
        ("2", "2971", 2),
        ("1", "3019", 0),
    ]
    gold = kt.read_gold(save(tmp_path / "g.txt", "335 1\n3103 2\n"))
    assert rows(gold) == [("gold", "3103", 2), ("gold", "335", 1)]
    assert not gold.has_topics


def test_quepid_csv_is_read(tmp_path: Path) -> None:
    text = 'query,docid,Ann Lee,row,Ann Lee\n"jeans, blue",d1,1,,0\nshoes,d2,,3,\nhats,d3,,,\n'
    assert rows(kt.read_judgments(save(tmp_path / "book.csv", text))) == [
        ("Ann Lee", "jeans, blue", "d1", 1),
        ("Ann Lee (2)", "jeans, blue", "d1", 0),
        ("row", "shoes", "d2", 3),
    ]


def test_quepid_csv_as_gold(tmp_path: Path) -> None:
    gold = kt.read_gold(save(tmp_path / "book.csv", "query,docid,Ann,Bob\nq,d1,1,\nq,d2,,2\n"))
    assert rows(gold) == [("gold", "q", "d1", 1), ("gold", "q", "d2", 2)]


def test_quepid_json_is_read(tmp_path: Path) -> None:
    pairs = [
        {
            "query_text": "jeans",
            "doc_id": "d1",
            "judgements": [
                {"rating": 1.0, "unrateable": False, "user_email": "ann@x.org"},
                {"rating": None, "unrateable": True, "user_email": "bob@x.org"},
                {"rating": 2.0, "unrateable": True, "user_email": "cy@x.org"},
            ],
        },
        {"query_text": "shoes", "doc_id": 7, "judgements": [{"rating": 3, "user_email": None}]},
        {"query_text": "hats", "doc_id": "d3"},
    ]
    for indent in (None, 2):
        path = save(tmp_path / "book.json", json.dumps({"name": "b", "query_doc_pairs": pairs}, indent=indent))
        assert rows(kt.read_judgments(path)) == [("ann@x.org", "jeans", "d1", 1), ("Unknown", "shoes", "7", 3)]


def test_json_lines_of_changing_shape(tmp_path: Path) -> None:
    lines = [
        {"judge": "ann", "topic": 1, "doc": "d1", "grade": 1, "meta": {"a": [1, {"b": 2}]}},
        {"grade": "2", "judge": "bob", "topic": "1", "doc": "d1", "meta": 7},
        {"judge": "zoë \U0001f600", "topic": 1, "doc": "{d2}", "grade": 0.0},
    ]
    for ascii_only in (True, False):
        text = "\n\n".join(json.dumps(line, ensure_ascii=ascii_only) for line in lines)
        assert rows(kt.read_judgments(save(tmp_path / "j.jsonl", text))) == [
            ("ann", "1", "d1", 1),
            ("bob", "1", "d1", 2),
            ("zoë \U0001f600", "1", "{d2}", 0),
        ]


MEMORY = {
    "polars": FRAME,
    "pandas": FRAME.to_pandas(),
    "pyarrow": FRAME.to_arrow(),
    "dict of columns": FRAME.to_dict(as_series=False),
    "nested dicts": {"ann": {"1": {"d1": 2, "d2": 1}}, "bob": {1: {"d1": 0}, "2": {"d9": 3}}},
    "categories": FRAME.with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "pandas with numbers as topics": FRAME.to_pandas().astype({"topic": "float64"}),
    "pyarrow dictionary": pa.table(FRAME.to_pandas().astype({"judge": "category"})),
}


@pytest.mark.parametrize("kind", MEMORY)
def test_tables_in_memory(kind: str) -> None:
    assert rows(kt.read_judgments(MEMORY[kind])) == ROWS


def test_reading_leaves_the_table_alone() -> None:
    frame = FRAME.clone()
    kt.read_judgments(frame)
    assert frame.equals(FRAME)
    assert frame.columns == FRAME.columns


def test_gold_in_memory() -> None:
    expected = [("gold", "1", "d1", 2), ("gold", "1", "d2", 0)]
    assert rows(kt.read_gold({"1": {"d1": 2, "d2": 0}})) == expected
    assert rows(kt.read_gold(pd.DataFrame({"qid": [1, 1], "docno": ["d1", "d2"], "rel": [2, 0]}))) == expected


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"grade": [1, None, 2, 3]}, ["row", 2, "grade", "missing"]),
        ({"grade": [1.0, float("nan"), 2.0, 3.0]}, ["row", 2, "grade", "missing"]),
        ({"topic": [1.0, float("nan"), 2.0, 3.0]}, ["row", 2, "topic", "missing"]),
        ({"judge": ["a", "b", " ", "c"]}, ["row", 3, "judge", "missing"]),
        ({"grade": [[1], [1], [1], [1]]}, ["row", 1, "'grade'", "list"]),
        ({"document": [b"a", b"b", b"c", b"d"]}, ["row", 1, "'document'", "list"]),
        ({"judge": [1, 2]}, ["table", "'judge'", 2]),
    ],
)
def test_bad_tables_in_memory_name_the_row(change: dict[str, list[object]], facts: list[object]) -> None:
    with pytest.raises(KaratageError) as refused:
        kt.read_judgments(FRAME.to_dict(as_series=False) | change)
    assert gives(refused.value, *facts)


def test_gold_dicts_are_no_judgments() -> None:
    with pytest.raises(KaratageError, match="grade"):
        kt.read_judgments({"1": {"d1": 2}})
    with pytest.raises(KaratageError, match="rows"):
        kt.read_judgments({})


def test_gold_column_is_preferred_in_gold(tmp_path: Path) -> None:
    path = save(tmp_path / "t.tsv", "topicID\tworkerID\tdocID\tgold\tlabel\n1\tw1\td1\t2\t0\n1\tw2\td1\t2\t1\n")
    assert rows(kt.read_gold(path)) == [("gold", "1", "d1", 2)]
    assert rows(kt.read_judgments(path)) == [("w1", "1", "d1", 0), ("w2", "1", "d1", 1)]


GOLD_JUDGES = "topic,judge,doc,grade\n1,ann,d1,2\n1,bob,d1,0\n1,cem,d1,0\n1,ann,d2,1\n1,bob,d2,3\n2,bob,d3,1\n"


def test_gold_by_several_judges_has_one_grade_and_all_answers(tmp_path: Path) -> None:
    """The most frequent grade; of equally frequent ones that of the first judge."""
    found = kt.read_gold(save(tmp_path / "t.csv", GOLD_JUDGES))
    assert rows(found) == [("gold", "1", "d1", 0), ("gold", "1", "d2", 1), ("gold", "2", "d3", 1)]
    assert found.answers is not None
    assert len(rows(found.answers)) == 6
    assert has_note(found, "data.gold-answers", items=2, judges=3)
    again = found.only_topics(["1"]).keep_rows(np.array([False, True]))
    assert again.answers is not None
    assert rows(again.answers) == [("ann", "1", "d2", 1), ("bob", "1", "d2", 3)]
    apart = "\n".join(line for line in GOLD_JUDGES.splitlines() if "bob,d2" not in line and ",d1," not in line)
    assert kt.read_gold(save(tmp_path / "u.csv", apart)).answers is None


def test_files_that_grade_the_same_items_are_judges_of_gold(tmp_path: Path) -> None:
    ann = save(tmp_path / "ann.csv", "topic,doc,grade\n1,d1,2\n1,d2,1\n")
    bob = save(tmp_path / "bob.csv", "topic,doc,grade\n1,d1,0\n")
    more = save(tmp_path / "more.csv", "topic,doc,grade\n1,d3,0\n")
    found = kt.read_gold([ann, bob])
    assert found.answers is not None
    assert rows(found.answers) == [("ann", "1", "d1", 2), ("bob", "1", "d1", 0), ("ann", "1", "d2", 1)]
    assert kt.read_gold([ann, more]).answers is None  # batches
    timed = [
        save(tmp_path / f"{name}-timed.csv", "topic,doc,grade,time\n1,d1,2,1\n1,d1,1,2\n1,d2,0,1\n")
        for name in ("ann", "bob")
    ]
    assert len(answers_of(timed)) == 6
    assert rows(kt.read_gold(timed)) == [("gold", "1", "d1", 1), ("gold", "1", "d2", 0)]
    (tmp_path / "other").mkdir()
    same = save(tmp_path / "other" / "ann.csv", "topic,doc,grade\n1,d1,0\n")
    assert len(answers_of([ann, same]).judges) == 2


def answers_of(source: list[Path]) -> kt.Judgments:
    found = kt.read_gold(source).answers
    assert found is not None
    return found


def test_repeated_rows_are_answers_only_with_a_judge_or_a_time(tmp_path: Path) -> None:
    """Tables that were joined repeat rows; that is no evidence that gold is right."""
    text = "topic,doc,grade\n1,d1,2\n1,d1,2\n"
    assert kt.read_gold(save(tmp_path / "a.csv", text)).answers is None
    timed = "topic,doc,grade,time\n1,d1,2,2\n1,d1,0,1\n"
    found = kt.read_gold(save(tmp_path / "b.csv", timed))
    assert (rows(found), found.answers is None) == ([("gold", "1", "d1", 2)], False)
    assert kt.read_gold(save(tmp_path / "b.csv", timed), repeats="last").answers is None


def test_a_gold_column_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    text = "topic,judge,doc,gold,label\n1,ann,d1,2,1\n1,bob,d1,0,1\n"
    with pytest.raises(KaratageError, match=r"t\.csv.*\bgold\b.*\b1\b"):
        kt.read_gold(save(tmp_path / "t.csv", text))
    one = kt.read_gold(save(tmp_path / "u.csv", text.replace("d1,0", "d1,2")))
    assert (rows(one), one.answers is None) == ([("gold", "1", "d1", 2)], True)


def test_pi_is_kept(tmp_path: Path) -> None:
    gold = kt.read_gold(save(tmp_path / "g.csv", "topic,doc,rel,pi\n1,d2,1,0.25\n1,d1,0,1\n"))
    assert gold.draw is not None
    assert gold.draw.pi.tolist() == [1.0, 0.25]
    assert rows(gold) == [("gold", "1", "d1", 0, 1.0), ("gold", "1", "d2", 1, 0.25)]


def test_a_judge_of_gold_may_change_its_mind(tmp_path: Path) -> None:
    path = save(tmp_path / "gold.csv", "judge,topic,document,grade\nann,1,a,0\nbob,1,b,1\nann,1,a,2\n")
    assert kt.read_gold(path).to_frame().select("document", "grade").rows() == [("a", 2), ("b", 1)]


def test_pi_of_a_repeated_grade_is_that_of_the_last(tmp_path: Path) -> None:
    gold = kt.read_gold(save(tmp_path / "g.csv", "topic,doc,rel,pi\n1,d1,1,0.25\n1,d1,0,0.5\n1,d2,0,1\n"))
    assert rows(gold) == [("gold", "1", "d1", 0, 0.5), ("gold", "1", "d2", 0, 1.0)]


def test_pi_in_some_files_only_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "a.csv", "topic,doc,rel,pi\n1,d2,1,0.25\n")
    save(tmp_path / "b.csv", "topic,doc,rel\n1,d3,1\n")
    with pytest.raises(KaratageError, match=r"b\.csv.*a\.csv"):
        kt.read_gold(tmp_path)


AGAIN = "judge,topic,doc,grade\nann,1,d1,{}\nann,1,d1,{}\nann,1,d1,{}\nbob,1,d1,3\n"


@pytest.mark.parametrize(
    ("grades", "repeats", "kept"),
    [
        ((1, 0, 2), "last", 2),
        ((1, 0, 2), "first", 1),
        ((1, 1, 2), "majority", 1),
        ((2, 1, 1), "majority", 1),
        ((2, 0, 1), "majority", 1),  # all equally frequent: the latest
    ],
)
def test_repeats_are_kept_as_asked(grades: tuple[int, int, int], repeats: str, kept: int, tmp_path: Path) -> None:
    judgments = kt.read_judgments(save(tmp_path / "j.csv", AGAIN.format(*grades)), repeats=repeats)
    assert rows(judgments) == [("ann", "1", "d1", kept), ("bob", "1", "d1", 3)]
    assert list_facts(judgments) == {"data.repeats-one": {"pairs": 1, "kept": repeats, "dropped": 2}}


def test_of_several_repeats_the_first_in_the_file_is_named(tmp_path: Path) -> None:
    path = save(tmp_path / "j.csv", "judge,item,grade\nzoe,z,1\nann,a,1\nzoe,z,0\nann,a,0\n")
    with pytest.raises(KaratageError, match=r"j\.csv:4"):
        kt.read_judgments(path, repeats="error")


def test_repeats_as_error_name_the_second_line(tmp_path: Path) -> None:
    path = save(tmp_path / "j.csv", AGAIN.format(1, 1, 1))
    with pytest.raises(KaratageError, match=r"j\.csv:3"):
        kt.read_judgments(path, repeats="error")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("time", ["3", "20", "100"]),  # numbers, not text
        ("timestamp", ["2024-01-02T09:00", "2024-01-02T10:00", "2024-01-03"]),
        ("repeat", ["1", "2", "3"]),
        ("seq", ["", "1", "2"]),  # unknown is earliest
    ],
)
def test_time_decides_what_is_last(column: str, values: list[str], tmp_path: Path) -> None:
    early, middle, late = values
    text = f"judge,topic,doc,grade,{column}\nann,1,d1,2,{late}\nann,1,d1,0,{early}\nann,1,d1,1,{middle}\n"
    path = save(tmp_path / "j.csv", text)
    assert kt.read_judgments(path).grade.tolist() == [2]
    assert kt.read_judgments(path, repeats="first").grade.tolist() == [0]


def test_time_is_compared_across_files(tmp_path: Path) -> None:
    """The one time in the second file lies between the two in the first."""
    save(tmp_path / "a.csv", "judge,item,grade,time\nann,i,0,2024-01-01\nann,i,2,2024-01-09\n")
    save(tmp_path / "b.csv", "judge,item,grade,time\nann,i,1,2024-01-05\n")
    assert kt.read_judgments(tmp_path).grade.tolist() == [2]


def test_time_in_some_files_only_is_told(tmp_path: Path) -> None:
    save(tmp_path / "a.csv", "judge,item,grade,time\nann,i,0,2\nann,i,2,1\n")
    save(tmp_path / "b.csv", "judge,item,grade\nbob,i,1\n")
    judgments = kt.read_judgments(tmp_path)
    assert judgments.grade.tolist() == [2, 1]
    assert has_note(judgments, "io.no-times", source=str(tmp_path / "b.csv"))


def test_dates_in_memory() -> None:
    frame = pl.DataFrame(
        {"judge": ["a", "a"], "item": ["i", "i"], "grade": [1, 2], "time": [datetime(2024, 2, 1), datetime(2024, 1, 1)]}
    )
    assert kt.read_judgments(frame).grade.tolist() == [1]


@pytest.mark.parametrize("grades", ["no=0,yes=1,skip=drop", {"no": 0, "yes": 1, "skip": None}])
def test_labels_by_mapping(grades: object, tmp_path: Path) -> None:
    path = save(tmp_path / "j.csv", "worker,item,label\na,i,yes\nb,i,no\nc,i,skip\nd,i, yes \ne,i,3\n")
    judgments = kt.read_judgments(path, grades=grades)
    assert rows(judgments) == [("a", "i", 1), ("b", "i", 0), ("d", "i", 1), ("e", "i", 3)]
    assert judgments.judges == ("a", "b", "d", "e")
    assert list_facts(judgments) == {"io.dropped": {"judgments": 1}}


@pytest.mark.parametrize(
    ("grades", "labels", "expected", "top"),
    [
        ("-2=drop", ["-2", "-2.0", "1"], [1], 1),
        ("=drop", ["", "1"], [1], 1),
        ("0-5", ["1", "2"], [1, 2], 5),
        ("0-3, bad=0", ["bad", "2"], [0, 2], 3),
        ("1=0,2=1", ["1", "2.0"], [0, 1], 1),
        ("a=b=2", ["a=b"], [2], 2),
        (None, ["1.0", "2e0", "+3"], [1, 2, 3], 3),
    ],
)
def test_grades_are_mapped_to_their_scale(grades: str | None, labels: list[str], expected: list[int], top: int) -> None:
    table = {"judge": "j", "item": [f"{k}" for k in range(len(labels))], "grade": labels}
    judgments = kt.read_judgments(pl.DataFrame(table), grades=grades)
    assert judgments.grade.tolist() == expected
    assert judgments.top_grade == top


def test_fractions_are_rounded_and_told() -> None:
    table = {"judge": ["a", "a", "b", "b"], "item": ["1", "2", "1", "2"], "grade": [0.5, 1.49, 2.0, 2.5]}
    judgments = kt.read_judgments(table)
    assert rows(judgments) == [("a", "1", 1), ("b", "1", 2), ("a", "2", 1), ("b", "2", 3)]
    assert list_facts(judgments) == {"io.fractions": {"fractions": 3, "grades": 4, "judges": ("a", "b")}}


def test_gold_scale_of_missing_cells(tmp_path: Path) -> None:
    path = save(tmp_path / "g.tsv", "item\tgold_ternary\tgold_binary\na\t2\t1\nb\t-1\t\n")
    gold = kt.read_gold(path, columns={"grade": "gold_binary"}, grades="=drop")
    assert rows(gold) == [("gold", "a", 1)]
    assert kt.read_gold(path, columns={"grade": "gold_ternary"}, grades="-1=drop").grade.tolist() == [2]


def test_lines_are_right_after_blank_lines_and_quoted_newlines(tmp_path: Path) -> None:
    text = '\n\njudge,topic,doc,grade\n\n"a\nb",1,"d\n\n1",0\n \nann,1,d1,oops\n'
    with pytest.raises(KaratageError, match=r"j\.csv:10.*'oops'"):
        kt.read_judgments(save(tmp_path / "j.csv", text))
    with pytest.raises(KaratageError, match=r"j\.txt:6.*'oops'"):
        kt.read_judgments(save(tmp_path / "j.txt", "\n\n1 w1 0\n\n \n2 w1 oops\n"))
    good, bad = (json.dumps({"judge": "a", "item": 1, "grade": grade}) for grade in ("1", "oops"))
    with pytest.raises(KaratageError, match=r"j\.jsonl:4.*'oops'"):
        kt.read_judgments(save(tmp_path / "j.jsonl", f"\n{good}\n\n{bad}\n"))


def test_lines_are_counted_in_the_right_file(tmp_path: Path) -> None:
    save(tmp_path / "a.csv", "judge,item,grade\nann,i,0\nann,j,0\n")
    save(tmp_path / "b.csv", "judge,item,grade\nbob,i,0\nann,j,1\n")
    with pytest.raises(KaratageError, match=r"b\.csv:3"):
        kt.read_judgments(tmp_path, repeats="error")


REAL = [
    ("agg-adult-s5/labels.tsv.gz", {}, 89_799, 825, 11_040),
    ("agg-bluebird/labels.tsv.gz", {}, 4_212, 39, 108),
    ("duchenne-wvscm/labels.tsv.gz", {}, 17_729, 64, 2_134),
    ("gal-hitspam-crowdflower/labels.tsv.gz", {"grades": "no=0,yes=1"}, 38_593, 153, 5_380),
    ("gal-tweets-bm/labels.tsv.gz", {}, 5_000, 83, 1_000),
    ("snow-rte/labels.tsv.gz", {}, 8_000, 164, 800),
    ("snow-temp/labels.tsv.gz", {}, 4_620, 76, 462),
    ("snow-wsd/labels.tsv.gz", {}, 1_770, 34, 177),
    ("square-hcb/responses.txt", {}, 18_479, 722, 3_275),
    ("trec-crowd-2011/labels.tsv.gz", {}, 57_504, 956, 3_387),
    ("trec-crowd-2011/team_labels.tsv.gz", {"columns": {"judge": "team"}}, 16_825, 8, 3_200),
    ("trec-dl-2021-passage/llm_labels.tsv.gz", {}, 374_500, 27, 30_543),
    ("trec-rf10-crowd/trec-rf10-data.txt.gz", {"grades": "-2=drop"}, 90_438, 762, 20_026),
]


@pytest.mark.parametrize(("name", "options", "grades", "judges", "items"), REAL, ids=[case[0] for case in REAL])
def test_real_files_have_their_known_sizes(
    name: str, options: dict[str, object], grades: int, judges: int, items: int, shared_data: Path
) -> None:
    found = kt.read_judgments(shared_data / name, **options)
    assert (len(found.grade), len(found.judges), len(found.item_topic)) == (grades, judges, items)


def test_real_gold_with_gaps(shared_data: Path) -> None:
    path = shared_data / "trec-crowd-2011" / "gold.tsv"
    with pytest.raises(KaratageError, match=r"gold\.tsv:377"):
        kt.read_gold(path, columns={"grade": "gold_binary"})
    gold = kt.read_gold(path, columns={"grade": "gold_binary"}, grades="=drop")
    assert (len(gold.grade), int(gold.grade.sum())) == (395, 267)
    assert list_facts(gold) == {"io.dropped": {"judgments": 2805}}
