"""Error rates of a judge or a judging process, from a gold sample."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError, OptionError
from tests.notes import gives

GRADES = pl.DataFrame({"topic": ["1"] * 8, "document": list("abcdefgh"), "grade": [0, 0, 0, 1, 2, 2, 2, 2]})
SAID = [0, 1, 2, 1, 2, 2, 0, 2]


def judged(**said: list[int]) -> kt.Judgments:
    frames = [GRADES.with_columns(pl.lit(name).alias("judge"), pl.Series("grade", g)) for name, g in said.items()]
    return kt.read_judgments(pl.concat(frames))


def test_rates_of_one_judge() -> None:
    found = kt.stats.judge_accuracy(judged(ann=SAID), kt.read_gold(GRADES), relevant=2)
    assert found.count.tolist() == [[3, 1], [1, 3]]
    assert (found.m_r, found.m_n, found.d) == (0.75, 0.75, 0.5)
    low, high = kt.stats.wilson_interval(3, 4)
    row = found.to_frame().filter(gold="relevant", said="relevant").row(0, named=True)
    assert (row["low"], row["high"]) == (pytest.approx(float(low)), pytest.approx(float(high)))
    assert gives(found.sentence, "75.0%", 4)
    assert kt.stats.judge_accuracy(judged(ann=SAID), kt.read_gold(GRADES)).m_n == pytest.approx(1 / 3)


def test_confusion_of_all_grades() -> None:
    found = kt.stats.judge_accuracy(judged(ann=SAID), kt.read_gold(GRADES), relevant=None)
    assert found.count.tolist() == [[1, 1, 1], [0, 1, 0], [1, 0, 3]]
    assert found.condition == pytest.approx(np.linalg.cond(found.share))


def test_a_grade_without_gold_is_left_out_of_the_sentence() -> None:
    gold = kt.read_gold(GRADES.filter(pl.col("grade") != 1))
    found = kt.stats.judge_accuracy(judged(ann=SAID), gold, relevant=None)
    assert "nan" not in found.sentence
    assert not gives(found.sentence, "grade 1")


def test_a_process_of_several_judges() -> None:
    judgments = judged(ann=[0, 0, 0, 0, 1, 1, 1, 1], bob=[1, 0, 0, 0, 1, 1, 0, 0], eve=[1, 1, 0, 0, 1, 0, 0, 1])
    gold = kt.read_gold(GRADES.with_columns((pl.col("grade") > 1).cast(pl.Int64).alias("grade")))
    assert kt.stats.judge_accuracy(judgments, gold, approach="judge:ann").d == 1
    assert kt.stats.judge_accuracy(judgments, gold).count.tolist() == [[3, 1], [1, 3]]
    assert kt.stats.judge_accuracy(judgments, gold, approach="mv(min=3)").count.tolist() == [[4, 0], [3, 1]]


def test_drawn_items_weigh_their_inverse_chance() -> None:
    drawn = GRADES.with_columns(pl.Series("pi", [0.5, 1, 1, 1, 0.25, 1, 1, 1]))
    found = kt.stats.judge_accuracy(judged(ann=SAID), kt.read_gold(drawn), relevant=2)
    assert found.m_r == pytest.approx((4 + 1 + 1) / (4 + 1 + 1 + 1))
    assert found.m_n == pytest.approx((2 + 1 + 1) / (2 + 1 + 1 + 1))
    assert found.size[1] == pytest.approx(7**2 / (16 + 3))


def test_accuracy_needs_shared_items_and_grades() -> None:
    with pytest.raises(DataError, match="gold item"):
        kt.stats.judge_accuracy(
            judged(ann=SAID), kt.read_gold(GRADES.with_columns(document=pl.lit("x") + pl.col("document")))
        )
    with pytest.raises(OptionError, match="scores"):
        kt.stats.judge_accuracy(judged(ann=SAID), kt.read_gold(GRADES), approach="uniform")
    with pytest.raises(OptionError, match=r"relevant.*\b1\b"):
        kt.stats.judge_accuracy(judged(ann=SAID), kt.read_gold(GRADES), relevant=0)
