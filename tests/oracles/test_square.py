"""SQUARE 2.0's own grades on its HCB data: the dialects must give them, item by item."""

import numpy as np
import pytest

import karatage as kt

GRADES = "1=0,2=1"


class Square:
    """Its files: responses, gold, folds, and what each of its programs decided."""

    def __init__(self, folder):
        self.folder = folder
        self.judgments = kt.read_judgments(folder / "responses.txt", grades=GRADES)
        documents = self.judgments.documents.gather(self.judgments.item_document)
        self.place = {name: k for k, name in enumerate(documents)}

    def decided(self, name):
        """Its grade of every item."""
        found = np.full(len(self.place), -1)
        for line in (self.folder / name).read_text().splitlines():
            item, grade = line.split()
            found[self.place[item]] = int(grade) - 1
        return found

    def pool(self, model, amount, supervision):
        """Our grades, each from the fold that is to be kept for the item."""
        found = np.full(len(self.place), -1)
        for path in sorted((self.folder / f"fold{amount}").glob("fold_retain_*.txt")):
            gold = kt.read_gold(path.with_name(path.name.replace("fold_retain", "gt_nFold_tune")), grades=GRADES)
            kept = [self.place[name] for name in path.read_text().split()]
            found[kept] = kt.aggregate(self.judgments, model, gold=gold, supervision=supervision).grades[kept]
        return found


@pytest.fixture(scope="module")
def square(shared_data):
    return Square(shared_data / "square-hcb")


@pytest.mark.parametrize(
    ("model", "program"),
    [("zc(dialect=square)", "Zen"), ("ry(dialect=square)", "Raykar"), ("ds(dialect=gal)", "DS")],
)
def test_without_gold(square, model, program):
    np.testing.assert_array_equal(
        kt.aggregate(square.judgments, model).grades, square.decided(f"unsupervised/{program}.txt")
    )


@pytest.mark.parametrize("amount", [50, pytest.param(10, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("model", "program", "supervision", "misses"),
    [
        ("zc(dialect=square)", "Zen", "light", 0),
        ("zc(dialect=square)", "Zen", "full", 0),
        ("ry(dialect=square)", "Raykar", "light", 0),
        ("ry(dialect=square)", "Raykar", "full", 0),
        ("nb(dialect=square)", "Bayes", "full", 0),
        ("ds(dialect=gal)", "DS", "light", 1),
        ("ds(dialect=gal)", "DS", "full", 1),
    ],
)
def test_with_gold(square, model, program, supervision, misses, amount):
    kind = "semisupervised" if supervision == "light" else "supervised"
    theirs = square.decided(f"fold{amount}/{program}_{kind}_aggregated.txt")
    ours = square.pool(model, amount, supervision)
    assert (theirs >= 0).all()
    assert int((ours != theirs).sum()) <= misses


def test_the_default_models_are_not_the_dialects(square):
    for model, program in ("zc", "Zen"), ("ry", "Raykar"), ("ds", "DS"):
        ours = kt.aggregate(square.judgments, model).grades
        agreement = (ours == square.decided(f"unsupervised/{program}.txt")).mean()
        assert 0.8 < agreement < 1 or model == "zc"
