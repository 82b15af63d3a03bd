"""Unit tests of simulated judges of a queue."""

import math

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.crowd import Contribution, CrowdModel
from karatage.errors import DataError, InputFileError, OptionError
from karatage.io.queues import read_asked, write_judged
from karatage.simulation.answering import answer_queue
from tests.notes import gives, list_facts

SMALL = CrowdModel(
    name="small",
    source="one kind of judge",
    judges=10,
    judgments=100,
    balance=np.array([0.8, 0.2]),
    voxel=np.array([[8, 8, 1]], np.int32),
    share=np.array([1.0]),
    mean=np.array([[0.85, 0.85, math.log(0.35)]]),
    covariance=np.diag([1e-4, 1e-4, 1e-3])[None],
    contribution=Contribution(0.01, math.nan, math.nan),
)
HEADER = "topic,document,grade,to,judgments,priority,pi,cost,batch,order,seed"


@pytest.fixture(scope="module")
def gold():
    return kt.simulation.simulate_collection(systems=2, topics=4, depth=20, rng=3).gold


@pytest.fixture
def write(tmp_path):
    def make(*lines, header=HEADER, name="queue.csv"):
        path = tmp_path / name
        path.write_text("\n".join([header, *lines]) + "\n")
        return path

    return make


def rows_of(gold, *, judgments=5, batch=1, experts=3):
    """Every item of gold, the first few to experts."""
    frame = gold.to_frame()
    lines = []
    for k, (topic, document) in enumerate(frame.select("topic", "document").iter_rows()):
        to = "expert,1" if k < experts else f"crowd,{judgments if isinstance(judgments, int) else judgments(k)}"
        lines.append(f"{topic},{document},,{to},{k + 1},,0.5,{batch},depth,0")
    return lines


def test_experts_give_golds_grades_and_the_crowd_its_own(write, gold):
    queue = read_asked(write(*rows_of(gold, experts=40)))
    answers = answer_queue(queue, gold, SMALL, rng=1)
    assert answers.grade.to_list() == gold.grade.tolist()
    crowd = answers.crowd
    counts = crowd.to_frame().group_by("topic", "document").len()
    assert set(counts["len"]) == {5}
    assert set(counts.select("topic", "document").rows()) == set(
        gold.to_frame().select("topic", "document").rows()[40:]
    )
    assert answers.notes == ()
    again = answer_queue(queue, gold, SMALL, rng=1).crowd
    np.testing.assert_array_equal(crowd.grade, again.grade)
    assert (crowd.grade != answer_queue(queue, gold, SMALL, rng=2).crowd.grade).any()


def test_each_document_gets_as_many_judgments_as_the_queue_says(write, gold):
    queue = read_asked(write(*rows_of(gold, judgments=lambda k: 1 + k % 7)))
    answers = answer_queue(queue, gold, SMALL, rng=1)
    counts = answers.crowd.to_frame().group_by("topic", "document").agg(pl.len(), pl.col("judge").n_unique())
    wanted = dict(zip(queue.document.to_list(), queue.judgments.tolist(), strict=True))
    assert len(counts) == len(gold.grade) - 3
    for _, document, rows, judges in counts.iter_rows():
        assert rows == judges == wanted[document]
    assert len(answers.crowd.judges) == answers.crowd.to_frame()["judge"].n_unique()


def test_judgments_left_open_are_those_asked_for(write, gold):
    queue = read_asked(
        write(*(f"{line},crowd" for line in ("101,doc-000-001", "101,doc-000-002")), header="qid,docid,to")
    )
    assert len(answer_queue(queue, gold, SMALL, per_item=3, rng=1).crowd.grade) == 6


def test_numbers_may_be_written_as_fractions(write, gold, tmp_path):
    path = tmp_path / "queue.parquet"
    frame = pl.DataFrame({"topic": [101, 101], "document": ["doc-000-001", "doc-000-002"], "to": ["crowd"] * 2})
    frame.with_columns(judgments=pl.Series([2.0, None])).write_parquet(path)
    assert read_asked(path).judgments.tolist() == [2, 0]
    assert len(answer_queue(read_asked(path), gold, SMALL, per_item=3, rng=1).crowd.grade) == 5
    frame.with_columns(judgments=pl.Series([2.5, 1])).write_parquet(path)
    with pytest.raises(InputFileError, match=r"\b1\b.*'2\.5'"):
        read_asked(path)


@pytest.mark.parametrize("number", ["1e400", "1e10", "inf", "nan"])
def test_numbers_that_no_crowd_gives_are_refused(write, number):
    with pytest.raises(InputFileError, match=rf"queue\.csv:2.*judgments.*'{number}'.*\b1\b"):
        read_asked(write(f"1,a,,crowd,{number},1,,4,1,d,0"))


def test_every_batch_has_judges_of_its_own(write, gold):
    first, second = (answer_queue(read_asked(write(*rows_of(gold, batch=b))), gold, SMALL, rng=1).crowd for b in (1, 2))
    assert all(name.startswith("batch-1-") for name in first.judges)
    assert not set(first.judges) & set(second.judges)
    assert (first.grade.size != second.grade.size) or (first.grade != second.grade).any()


def test_only_the_crowd_is_asked_for_several_judgments_in_batches(write):
    queue = read_asked(write("1,a,,expert,1,1,,4,1,d,0", "1,b,,crowd,5,2,,1,3,d,0", "1,c,,crowd,4,2,,1,2,d,0"))
    assert queue.judgments.tolist() == [0, 5, 4]
    assert queue.batch == 2


def test_a_document_without_gold_is_not_relevant_and_told(write, gold):
    queue = read_asked(write("101,doc-000-001,,expert,1,1,,4,1,depth,0", "101,unheard-of,,expert,1,2,,4,1,depth,0"))
    answers = answer_queue(queue, gold, SMALL)
    assert answers.grade.to_list() == [int(gold.grade[1]), 0]
    assert answers.crowd is None
    assert list_facts(answers) == {"simulation.without-gold": {"documents": ("101 unheard-of",)}}


def test_a_queue_of_other_documents_is_refused(write, gold):
    with pytest.raises(DataError, match=r"queue\.csv.*\b1\b"):
        answer_queue(read_asked(write("101,x,,expert,1,1,,4,1,depth,0")), gold)


def test_gold_without_topics_is_refused(write):
    items = kt.read_gold({"item": ["a"], "grade": [1]})
    with pytest.raises(DataError, match="topics"):
        answer_queue(read_asked(write("101,x,,expert,1,1,,4,1,depth,0")), items)


def test_a_plan_of_gold_is_all_experts(write):
    queue = read_asked(
        write("101,a,,0.5,1,1,DCG@10,f,0", header="topic,document,grade,pi,batch,batch_size,measure,frame,seed")
    )
    assert queue.expert.all()
    assert queue.batch is None


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_judged_rows_keep_all_other_columns(write, gold, tmp_path, ending):
    path = write(*rows_of(gold))
    queue = read_asked(path)
    judged = tmp_path / f"judged.{ending}"
    write_judged(queue, answer_queue(queue, gold, SMALL, rng=1).grade, judged)
    back = read_asked(judged)
    assert back.frame.columns == HEADER.split(",")
    assert back.frame["grade"].cast(pl.Int64).to_list() == gold.grade[:3].tolist()
    before = queue.frame.head(3).drop("grade").fill_null("").rows()
    assert back.frame.drop("grade").cast(pl.String).fill_null("").rows() == before
    assert kt.read_gold(judged).grade.tolist() == gold.grade[:3].tolist()


def test_grades_that_are_there_stay(write, gold, tmp_path):
    queue = read_asked(write("101,doc-000-001,3,expert,1,1,,4,1,depth,0", "101,doc-000-002,,expert,1,2,,4,1,depth,0"))
    write_judged(queue, pl.Series([0, 1]), tmp_path / "judged.csv")
    assert pl.read_csv(tmp_path / "judged.csv")["grade"].to_list() == [3, 1]


def test_a_queue_without_a_column_for_the_grade_gets_one(write, tmp_path):
    write_judged(read_asked(write("1,a", header="topic,document")), pl.Series([2]), tmp_path / "judged.csv")
    assert (tmp_path / "judged.csv").read_text() == "topic,document,grade\n1,a,2\n"


@pytest.mark.parametrize(
    ("lines", "place", "facts"),
    [
        (["1,a,,expert,1,1,,4,1,d,0", "1,b,,nobody,1,1,,4,1,d,0"], ":3", ["'nobody'", "'to'"]),
        (["1,a,,,1,1,,4,1,d,0"], ":2", ["''", "'to'", "expert", "crowd"]),
        (["1,a,,crowd,many,1,,4,1,d,0"], ":2", ["judgments", "'many'", 1]),
        (["1,a,,crowd,0,1,,4,1,d,0"], ":2", ["judgments", "'0'", 1]),
        (["1,a,,crowd,5,1,,4,x,d,0"], ":2", ["batch", "'x'", 1]),
        ([",a,,crowd,5,1,,4,1,d,0"], ":2", ["topic"]),
        (["1,,,crowd,5,1,,4,1,d,0"], ":2", ["document"]),
        (["1,a,,crowd,5,1,,4,1,d,0"] * 2, ":3", ["'a'", "'1'", "crowd"]),
        (["1,a,,crowd"], ":2", [11, 4]),
        ([], "", ["header"]),
    ],
)
def test_broken_queues_are_refused_by_line(write, lines, place, facts):
    path = write(*lines)
    with pytest.raises(InputFileError) as refused:
        read_asked(path)
    assert str(refused.value).startswith(f"{path}{place}: ")
    assert gives(refused.value, *facts)


def test_a_queue_without_documents_is_refused(write):
    with pytest.raises(InputFileError, match=r"queue\.csv:1"):
        read_asked(write("1,expert", header="topic,to"))


def test_an_item_may_go_to_both(write):
    assert len(read_asked(write("1,a,,crowd,5,1,,4,1,d,0", "1,a,,expert,1,1,,4,1,d,0")).document) == 2


def test_one_queue_at_a_time(write, tmp_path):
    write("1,a", header="topic,document", name="one.csv")
    write("1,a", header="topic,document", name="two.csv")
    with pytest.raises(OptionError, match=r"queue.*\b2\b"):
        read_asked(tmp_path)


def test_simulate_asks_a_shipped_crowd_or_one_like_the_judges():
    world = kt.simulation.simulate_collection(systems=2, topics=6, depth=20, rng=5)
    plain = kt.simulation.simulate_crowd(world.pool, "hcb", per_item=3, rng=0)
    assert kt.simulate(world.pool, per_item=3).to_frame().equals(plain.to_frame())
    alone = kt.simulate(world.pool, kt.simulation.load_crowd("hcb"), per_item=3, independent=True)
    assert not alone.to_frame().equals(plain.to_frame())
    learned = kt.simulation.learn_crowd(world.judgments, world.pool, rng=2)
    expected = kt.simulation.simulate_crowd(world.pool, learned, rng=2)
    assert kt.simulate(world.pool, like=world.judgments, rng=2).to_frame().equals(expected.to_frame())
    with pytest.raises(OptionError):
        kt.simulate(world.pool, "hcb", like=world.judgments)
    with pytest.raises(OptionError, match="judgments"):
        kt.simulate(world.pool, like_gold=world.pool)
