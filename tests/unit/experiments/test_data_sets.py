"""Data sets: what a folder may hold, and what is done about grades and gold that do not fit."""

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, InputFileError, OptionError, UnknownNameError
from karatage.experiments.square.data_sets import DataSet, read_data_sets
from tests.notes import has_note, list_facts

LABELS = "item\tworker\tlabel\na\tw1\t0\na\tw2\t1\nb\tw1\t1\nb\tw1\t0\nc\tw2\t1\n"
GOLD = "item\tlabel\nb\t1\na\t0\nz\t1\n"


@pytest.fixture
def home(tmp_path):
    def put(name, labels=LABELS, gold=GOLD, files=("labels.tsv", "gold.tsv")):
        folder = tmp_path / name
        folder.mkdir()
        for file, text in zip(files, (labels, gold), strict=True):
            (folder / file).write_text(text)
        return folder

    put.path = tmp_path
    return put


def test_a_folder_is_a_data_set_called_by_its_name(home):
    (member,) = read_data_sets(home("birds"))
    assert member.name == "birds"
    assert member.judgments.grade.tolist() == [0, 1, 1, 0, 1]  # repeated grades stay, as SQUARE keeps them
    assert member.gold.tolist() == [0, 1, -1]
    assert member.items.tolist() == [0, 1]
    assert member.scale == (0, 1)
    assert has_note(member, "experiments.gold-unjudged", items=1)
    assert has_note(member, "experiments.gold-partial", gold=2, items=3)


def test_repeats_can_be_settled_otherwise(home):
    (member,) = read_data_sets(home("birds"), repeats="first")
    assert member.judgments.grade.tolist() == [0, 1, 1, 1]


def test_folders_of_folders_and_folders_without_tables(home):
    home("b"), home("a")
    (home.path / "runs").mkdir()
    (home.path / "README.md").write_text("gold")
    (home.path / "c").mkdir()
    (home.path / "c" / "gold.tsv").write_text(GOLD)
    sets = read_data_sets(home.path)
    assert [member.name for member in sets] == ["a", "b"]
    assert list_facts(sets) == {"experiments.folders-without-tables": {"folders": ("c", "runs")}}


def test_square_files_and_tables_are_read(home, tmp_path):
    square = home("hcb", "7 1 1\n7 2 2\n9 1 2\n", "7 1\n9 2\n", ("responses.txt", "gold.txt"))
    table = home("table", "", "", ("labels.parquet", "gold.csv"))
    pl.DataFrame({"judge": ["x", "y"], "qid": ["1", "1"], "doc": ["d", "e"], "rel": [2, 0]}).write_parquet(
        table / "labels.parquet"
    )
    (table / "gold.csv").write_text("topic,document,grade\n1,d,1\n1,e,0\n")
    hcb, graded = read_data_sets([square, table])
    assert hcb.scale == (1, 2)
    assert hcb.judgments.grade.tolist() == [0, 1, 1]
    assert hcb.judgments.top_grade == 1
    assert hcb.gold.tolist() == [0, 1]
    assert has_note(hcb, "experiments.only-grades", grades="1, 2", count=2)
    assert graded.scale == (0, 1, 2)  # 1 occurs in gold only
    assert graded.gold.tolist() == [1, 0]
    assert graded.judgments.top_grade == 2


def test_words_and_columns_are_told_for_both_tables(home):
    folder = home(
        "spam", LABELS.replace("\t1\n", "\tyes\n").replace("\t0\n", "\tno\n"), "item\tbinary\na\tno\nb\tyes\n"
    )
    with pytest.raises(DataError, match=r"'spam'.*labels\.tsv:2.*'no'"):
        read_data_sets(folder)
    with pytest.raises(DataError, match=r"'spam'.*gold\.tsv:1"):
        read_data_sets(folder, grades="no=0,yes=1")
    (member,) = read_data_sets(folder, grades="no=0,yes=1", gold_columns={"grade": "binary"})
    assert member.gold.tolist() == [0, 1, -1]


def test_one_grade_only_still_leaves_two_to_choose_from(home):
    (member,) = read_data_sets(home("one", LABELS.replace("\t0\n", "\t1\n"), "item\tlabel\na\t1\n"))
    assert member.scale == (0, 1)
    assert set(member.judgments.grade.tolist()) == {1}


def test_training_gold_is_gold_of_those_items():
    judgments = kt.read_judgments({"judge": list("xxx"), "item": list("abc"), "grade": [0, 1, 1]})
    gold = kt.read_gold({"item": list("abc"), "grade": [1, 0, 1]})
    trained = DataSet.of("d", judgments, gold).training_gold(np.array([0, 2]))
    assert trained.to_frame().select("item", "grade").rows() == [("a", 1), ("c", 1)]
    assert trained.judges == ("gold",)


def test_the_digest_tells_contents_apart():
    def digest(names="abc", grades=(0, 1, 1), gold=(1, 0, 1)):
        judgments = kt.read_judgments({"judge": list("xxx"), "item": list(names), "grade": list(grades)})
        return DataSet.of("d", judgments, kt.read_gold({"item": list(names), "grade": list(gold)})).digest

    assert digest() == digest()
    assert len({digest(), digest(names="abd"), digest(grades=(1, 1, 1)), digest(gold=(0, 0, 1))}) == 4


def test_only_items_with_gold_and_their_judges_are_left(home):
    labels = "item\tworker\tlabel\na\tw2\t0\na\tw2\t1\nb\tw1\t2\nc\tw0\t1\nd\tw2\t0\nd\tw2\t1\n"
    (member,) = read_data_sets(home("birds", labels, "item\tlabel\nb\t2\nd\t0\nz\t1\n"))
    left = member.only_gold_items()
    assert left.judgments.judges == ("w1", "w2")
    assert left.judgments.to_frame().rows() == [("w1", "b", 2), ("w2", "d", 0), ("w2", "d", 1)]
    assert left.gold.tolist() == [2, 0]
    assert left.scale == member.scale
    assert left.digest != member.digest
    assert has_note(left, "experiments.only-gold-items", items=2, grades=3, judges=1)
    assert not has_note(left, "experiments.gold-partial")
    assert has_note(left, "experiments.gold-unjudged", items=1)
    # Of two grades for an item, one is right: half of it.
    assert member.judges.rows() == [("w0", 1, 0, None), ("w1", 1, 1, 1.0), ("w2", 2, 1, 0.5)]


def test_grades_of_one_data_set_stand_after_its_name(home):
    words = LABELS.replace("\t1\n", "\tyes\n").replace("\t0\n", "\tno\n")
    told = GOLD.replace("\t1\n", "\tyes\n").replace("\t0\n", "\tno\n")
    folders = [home("spam", words, told), home("birds"), home("turned", words, GOLD)]
    scales = "0-1, [spam], no=0, yes=1, [turned],no=1,yes=0"
    spam, birds, turned = read_data_sets(folders, grades=scales, gold_grades="[turned],0-1")
    assert spam.judgments.grade.tolist() == birds.judgments.grade.tolist() == [0, 1, 1, 0, 1]
    assert turned.judgments.grade.tolist() == [1, 0, 0, 1, 0]
    assert spam.gold.tolist() == birds.gold.tolist() == turned.gold.tolist() == [0, 1, -1]
    (alone,) = read_data_sets(folders[:1], grades="[spam],no=0,yes=1")
    assert alone.judgments.grade.tolist() == spam.judgments.grade.tolist()
    (same,) = read_data_sets(folders[2:], grades="no=1,yes=0", gold_grades="0-1")
    assert same.gold.tolist() == turned.gold.tolist()
    (odd,) = read_data_sets([home("no: 1, [2]", words, told)], grades="0-1,[no: 1, [2]],no=0,yes=1")
    assert odd.judgments.grade.tolist() == spam.judgments.grade.tolist()


@pytest.mark.parametrize(
    ("grades", "error", "message"),
    [
        ("[spam],no=0,[bird],0-1", UnknownNameError, "'bird'.*'birds'"),
        ("[birds],0-1,[birds],0-2", OptionError, r"'\[birds\]'"),
        ("[],0-1", OptionError, r"'\[\]'"),
        ("0-1,[birds]", OptionError, r"\[birds\]"),
        ("[birds],", OptionError, r"\[birds\]"),
        ("[birds],[spam],0-1", OptionError, r"\[birds\]"),
        ("0-1,[birds],no", DataError, "'no'"),
    ],
)
def test_wrong_names_in_grades_are_refused(home, grades, error, message):
    folders = [home("birds"), home("spam")]
    for option in "grades", "gold_grades":
        with pytest.raises(error, match=message):
            read_data_sets(folders, **{option: grades})


def test_a_label_with_brackets_is_still_a_label(home):
    odd = LABELS.replace("\t1\n", "\t[yes]\n").replace("\t0\n", "\t[no\n")
    (member,) = read_data_sets(home("birds", odd), grades="0-1,[yes]=1,[no=0")
    assert member.judgments.grade.tolist() == [0, 1, 1, 0, 1]


def test_bad_folders_are_told(home, tmp_path):
    with pytest.raises(InputFileError, match="nowhere: "):
        read_data_sets(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputFileError, match="table"):
        read_data_sets(tmp_path / "empty")
    apart = home("apart", gold="item\tlabel\nq\t1\n")
    with pytest.raises(DataError, match="'apart'"):
        read_data_sets(apart)
    twice = home("twice")
    (twice / "labels.csv").write_text(LABELS)
    with pytest.raises(DataError, match=r"'labels\.csv'.*'labels\.tsv'"):
        read_data_sets(twice)
    (tmp_path / "deep").mkdir()
    with pytest.raises(OptionError, match="'birds'"):
        read_data_sets([home("birds"), home("deep/birds")])
