"""Crowd models as files."""

import pytest

import karatage as kt
from karatage.errors import InputFileError, OptionError
from tests.unit.simulation.crowds import make_model


@pytest.mark.parametrize("name", ["crowd.json", "crowd.json.gz"])
def test_to_a_file_and_back(tmp_path, name):
    model = make_model(shared=(0.2, 0, 0), families={"a": 0.25, "b": 0.75})
    kt.simulation.write_crowd(model, tmp_path / name)
    assert kt.simulation.read_crowd(tmp_path / name).to_json() == model.to_json()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"broken\.json:1"),
        ("[]", r"broken\.json"),
        ("{}", r"broken\.json"),
        ("[" * 100_000, None),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path, content, message):
    path = tmp_path / "broken.json"
    path.write_text(content)
    with pytest.raises(InputFileError, match=message):
        kt.simulation.read_crowd(path)


def test_half_a_file_is_refused(tmp_path):
    path = tmp_path / "half.json"
    text = make_model().to_json()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(InputFileError, match=r"half\.json"):
        kt.simulation.read_crowd(path)


def test_two_files_are_one_too_many(tmp_path):
    for k in range(2):
        kt.simulation.write_crowd(make_model(), tmp_path / f"{k}.json")
    with pytest.raises(OptionError, match=r"file.*\b2\b"):
        kt.simulation.read_crowd(tmp_path / "*.json")
