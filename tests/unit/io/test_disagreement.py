"""Disagreement models as files: what was written is read back, and what is damaged is refused by its name."""

import json
import math

import pytest

import karatage as kt
from karatage.data.disagreement import HeldOut, TopicModel
from karatage.errors import InputFileError, OptionError

RATES = HeldOut(0.6, 0.3, 0.8, math.nan, 0.75)


@pytest.fixture
def model():
    topic = TopicModel(
        topic="Köln", items=50, disagreed=9, intercept=-1 / 3, coefficients=(0.1, 1e-17), mean=RATES, spread=RATES
    )
    return kt.experiments.DisagreementModel(
        feature_set="votes", features=("mean_grade", "doubt"), topics=(topic,), trials=10, seed=0, versions={}
    )


@pytest.mark.parametrize("name", ["model.json", "model.json.gz", "model.json.zst"])
def test_back_and_forth(tmp_path, model, name):
    kt.experiments.write_disagreement(model, tmp_path / name)
    again = kt.experiments.read_disagreement(tmp_path / name)
    assert again.to_json() == model.to_json()
    assert again.topics[0].intercept == -1 / 3
    kt.experiments.write_disagreement(again, tmp_path / "again.json")
    kt.experiments.write_disagreement(model, tmp_path / "once.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "once.json").read_bytes()


def write_changed(tmp_path, model, **changes):
    kt.experiments.write_disagreement(model, tmp_path / "model.json")
    found = json.loads((tmp_path / "model.json").read_text()) | changes
    (tmp_path / "model.json").write_text(json.dumps(found))
    return tmp_path / "model.json"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, r"model\.json.*\b2\b.*\b1\b"),
        ({"format": "a crowd"}, r"model\.json"),
        ({"features": ["meta_ap"]}, r"model\.json"),
        ({"threshold": math.nan}, r"model\.json"),
        ({"topics": [{}]}, r"model\.json"),
    ],
)
def test_changed_models_are_refused(tmp_path, model, changes, message):
    with pytest.raises(InputFileError, match=message):
        kt.experiments.read_disagreement(write_changed(tmp_path, model, **changes))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"format": "karatage dis', r"model\.json:1"),
        (b"[]", r"model\.json"),
        (b"", r"model\.json"),
        (b"\xff{", r"model\.json:1.*\b8\b"),
        (b"[" * 100_000, r"model\.json"),
    ],
)
def test_damaged_files_are_refused(tmp_path, content, message):
    (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(InputFileError, match=message):
        kt.experiments.read_disagreement(tmp_path / "model.json")


def test_a_folder_of_models_is_refused(tmp_path, model):
    for name in "ab":
        kt.experiments.write_disagreement(model, tmp_path / f"{name}.json")
    with pytest.raises(OptionError, match=r"file.*\b2\b"):
        kt.experiments.read_disagreement(tmp_path)
    with pytest.raises(InputFileError, match=r"c\.json: "):
        kt.experiments.read_disagreement(tmp_path / "c.json")
