"""SQUARE 2.0's own output on its HCB data, item by item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from karatage.aggregation.glad import Glad
from karatage.aggregation.latent import Cubam
from karatage.data.judgments import Judgments


class Square:
    """Its files number items from 1 and call the grades 1 and 2."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        item, judge, grade = np.loadtxt(folder / "responses.txt", dtype=int).T
        self.judgments = Judgments.from_codes(judge=judge, item=item - 1, grade=grade - 1)
        self.gold = self.grades("gold.txt")

    def table(self, name: str) -> np.ndarray:
        return np.loadtxt(self.folder / name, dtype=int, ndmin=2) - 1

    def grades(self, name: str) -> np.ndarray:
        found = np.full(len(self.judgments.item_topic), -1)
        item, grade = self.table(name).T
        found[item] = grade
        return found

    def training(self, name: str) -> Judgments:
        item, grade = self.table(name).T
        return Judgments.from_codes(judge=np.zeros_like(item), item=item, grade=grade)

    def pooled(self, model: Glad, folds: str, supervision) -> np.ndarray:
        """Predictions of every fold for the items that are to be kept from it."""
        found = np.full(len(self.gold), -1)
        for path in sorted((self.folder / folds).glob("fold_retain_*.txt")):
            number = path.stem.removeprefix("fold_retain_")
            training = self.training(f"{folds}/gt_nFold_tune_{number}.txt")
            kept = self.table(f"{folds}/{path.name}")[:, 0]
            found[kept] = model.fit(self.judgments, gold=training, supervision=supervision).grades[kept]
        return found


@pytest.fixture(scope="module")
def square(shared_data: Path) -> Square:
    return Square(shared_data / "square-hcb")


@pytest.mark.parametrize(("model", "agreement"), [(Glad(), 0.99), (Glad(dialect="square"), 0.998)])
def test_glad_without_gold(square: Square, model: Glad, agreement: float) -> None:
    theirs = square.grades("unsupervised/GLAD.txt")
    assert (theirs == square.gold).mean() == pytest.approx(0.56824, abs=1e-5)
    ours = model.fit(square.judgments).grades
    assert (ours == theirs).mean() >= agreement
    assert (ours == square.gold).mean() == pytest.approx(0.566, abs=0.003)


@pytest.mark.parametrize(
    ("folds", "supervision", "name", "agreement"),
    [
        ("fold10", "light", "semisupervised", 0.995),
        ("fold10", "full", "supervised", 0.995),
        ("fold50", "light", "semisupervised", 0.994),
        ("fold50", "full", "supervised", 0.988),
    ],
)
def test_glad_with_gold(square: Square, folds: str, supervision, name: str, agreement: float) -> None:
    theirs = square.grades(f"{folds}/GLAD_{name}_aggregated.txt")
    ours = square.pooled(Glad(dialect="square"), folds, supervision)
    assert (ours == theirs).mean() >= agreement


def test_cubam_without_gold(square: Square) -> None:
    """SQUARE keeps no file of its CUBAM, only the accuracy."""
    assert (Cubam().fit(square.judgments).grades == square.gold).mean() == pytest.approx(0.6947, abs=0.001)


def test_snow_rte(shared_data: Path) -> None:
    import karatage as kt

    judgments = kt.read_judgments(shared_data / "snow-rte" / "labels.tsv.gz")
    gold = kt.read_gold(shared_data / "snow-rte" / "gold.tsv")
    assert Glad().fit(judgments).accuracy(gold) == pytest.approx(0.925, abs=0.002)
