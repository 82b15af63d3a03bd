"""Plans: layers, types, errors that name file and line, and files that are read back as they were written."""

import tomllib
from dataclasses import dataclass, fields
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karatage.errors import InputFileError, OptionError, UnknownNameError
from karatage.experiments import plans
from karatage.experiments.plans import Plan, list_presets, make_plan, read_plan, write_plan
from karatage.io.files import start_over


@dataclass(frozen=True, kw_only=True)
class Toy:
    """Options of every type."""

    measures: tuple[str, ...] = ("AP",)
    sizes: tuple[int, ...] = ()
    shares: tuple[float, ...] = (0.5,)
    people: tuple[int, int] = (2, 4)
    order: Literal["up", "down"] = "up"
    samples: int = 10
    level: float = 0.05
    whole: bool = True
    title: str = ""
    depth: int | None = None

    def __post_init__(self):
        if self.samples < 1:
            raise OptionError(f"samples {self.samples} must be at least 1")


@pytest.fixture
def presets(tmp_path, monkeypatch):
    folder = tmp_path / "presets"
    folder.mkdir()
    (folder / "toy-small.toml").write_text('[experiment]\nkind = "toy"\nsamples = 3\nsizes = [2, 3]\n')
    (folder / "toy-paper.toml").write_text('[experiment]\nkind = "toy"\nsamples = 1000\n')
    (folder / "toys-other.toml").write_text('[experiment]\nkind = "toys"\n')
    monkeypatch.setattr(plans, "_presets", lambda: folder)
    return folder


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "my.toml"
        path.write_text(text)
        return path

    return write


def test_preset_or_file_then_what_is_given(presets, write):
    path = write('[experiment]\nkind = "toy"\nsizes = [7]\nlevel = 1\n')
    assert make_plan(Toy, "toy").options == Toy()
    assert make_plan(Toy, "toy", preset="small").options == Toy(samples=3, sizes=(2, 3))
    with pytest.raises(OptionError, match="preset"):
        make_plan(Toy, "toy", preset="small", path=path)
    options = {"level": 0.1, "samples": None, "measures": ["P@5", "AP"]}
    found = make_plan(Toy, "toy", path=path, given=options).options
    assert found == Toy(sizes=(7,), level=0.1, measures=("P@5", "AP"))
    assert isinstance(make_plan(Toy, "toy", path=path).options.level, float)


def test_presets_are_found_by_their_kind(presets):
    assert list_presets("toy") == ["paper", "small"]
    assert list_presets("nothing") == []
    with pytest.raises(UnknownNameError, match=r"'papr'.*'paper'"):
        make_plan(Toy, "toy", preset="papr")


TOYS = st.builds(
    Toy,
    measures=st.lists(st.text(), max_size=3).map(tuple),
    sizes=st.lists(st.integers(0, 2**63 - 1), max_size=3).map(tuple),
    shares=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3).map(tuple),
    people=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    order=st.sampled_from(["up", "down"]),
    samples=st.integers(1, 10**12),
    level=st.floats(allow_nan=False, allow_infinity=False),
    whole=st.booleans(),
    title=st.text(),
    depth=st.none() | st.integers(0, 99),
)


@given(options=TOYS)
def test_a_plan_is_read_back_as_it_was_written(tmp_path_factory, options):
    folder = tmp_path_factory.mktemp("plan")
    plan = Plan("toy", options)
    assert write_plan(plan, folder) == ()
    again = read_plan(folder / "plan.toml", Toy, "toy")
    assert again == plan
    assert again.fingerprint == plan.fingerprint
    assert repr(again.options) == repr(options)


@given(title=st.text(st.characters(exclude_categories=["Cs"], min_codepoint=0, max_codepoint=0x2FF)))
def test_any_character_can_be_written(title):
    assert tomllib.loads(Plan("toy", Toy(title=title)).to_toml())["experiment"]["title"] == title


def test_the_fingerprint_tells_options_and_kind_apart():
    values = {"measures": ("P",), "sizes": (1,), "shares": (), "people": (1, 1), "order": "down", "samples": 11}
    values |= {"level": 0.051, "whole": False, "title": "x", "depth": 3}
    assert set(values) == {field.name for field in fields(Toy)}
    found = {Plan("toy", Toy(**{name: value})).fingerprint for name, value in values.items()}
    found |= {Plan("toy", Toy()).fingerprint, Plan("boy", Toy()).fingerprint}
    assert len(found) == len(values) + 2
    assert Plan("toy", Toy()).fingerprint == Plan("toy", Toy()).fingerprint


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("sampels = 3", 4, "unknown option 'sampels'; did you mean 'samples'? Known: depth, kind"),
        ('samples = "many"', 4, "samples is 'many', not a whole number from 0"),
        ("samples = 3.0", 4, "samples is 3.0, not a whole number from 0"),
        ("samples = true", 4, "samples is True, not a whole number from 0"),
        ("whole = 1", 4, "whole is 1, not true or false"),
        ('level = "x"', 4, "level is 'x', not a number"),
        ("title = 2024-01-01", 4, "title is datetime.date(2024, 1, 1), not text"),
        ('measures = "AP"', 4, "measures is 'AP', not a list"),
        ("\nsizes = [2, 2.5]", 5, "sizes[1] is 2.5, not a whole number from 0"),
        ("shares = [[1]]", 4, "shares[0] is [1], not a number"),
        ("people = [1, 2, 3]", 4, "people has 3 entries, not 2"),
        ('order = "left"', 4, "order is 'left', not one of up, down"),
        ("depth = 1.5", 4, "depth is 1.5, not a whole number from 0"),
        ("samples = ", 4, "is not TOML: Invalid value (at line 4, column 11)"),
        ("samples = [1,", 4, "is not TOML: "),
        (f"sizes = {'[' * 5000}", None, "is nested too deeply to be a plan"),
        ("[other]\nx = 1", 4, "a plan has only options, all of them under [experiment]"),
        ("samples = 0", None, "samples 0 must be at least 1"),
    ],
)
def test_mistakes_are_told_with_their_line(write, text, place, message):
    path = write(f'# mine\n[experiment]\nkind = "toy"\n{text}\n')
    with pytest.raises(InputFileError) as caught:
        read_plan(path, Toy, "toy")
    where = f"{path}:{place}" if place else f"{path}"
    assert str(caught.value).startswith(f"{where}: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "toy"\n', "my.toml:1: a plan has only options, all of them under [experiment]"),
        ("experiment = 3\n", "my.toml: a plan has only options, all of them under [experiment]"),
        ('[experiment]\nkind = "boy"\n', "my.toml:2: has kind = 'boy', but this is kind = \"toy\""),
        ("[experiment]\nsamples = 3\n", 'my.toml: has no kind, but this is kind = "toy"'),
        ("\n", "my.toml: is empty"),
    ],
)
def test_files_that_are_no_plan_of_this_kind_are_told(write, text, message):
    with pytest.raises(InputFileError) as caught:
        read_plan(write(text), Toy, "toy")
    assert message in str(caught.value)


def test_bytes_and_absent_files_are_told(tmp_path):
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputFileError, match="UTF-8"):
        read_plan(tmp_path / "x.toml", Toy, "toy")
    with pytest.raises(InputFileError, match=r"y\.toml: "):
        read_plan(tmp_path / "y.toml", Toy, "toy")


def test_what_is_given_is_checked_too():
    with pytest.raises(UnknownNameError, match=r"'sample'.*'samples'"):
        make_plan(Toy, "toy", given={"sample": 3})
    with pytest.raises(OptionError, match=r"samples.*'3'.*\b0\b"):
        make_plan(Toy, "toy", given={"samples": "3"})
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        make_plan(Toy, "toy", given={"samples": 0})
    with pytest.raises(OptionError):
        make_plan(Toy, "toy", given={"title": "half \ud800"})


def test_a_folder_with_another_plan_is_told(tmp_path):
    first, other = Plan("toy", Toy()), Plan("toy", Toy(samples=99, depth=3))
    assert write_plan(first, tmp_path) == ()
    assert write_plan(first, tmp_path) == ()
    (note,) = write_plan(other, tmp_path)
    assert note.facts == {"folder": str(tmp_path), "options": ("samples", "depth")}
    assert read_plan(tmp_path / "plan.toml", Toy, "toy") == other
    with pytest.raises(OptionError):  # in the same run: it was asked for by --plan
        write_plan(first, tmp_path)
    start_over()
    (note,) = write_plan(Plan("toy", Toy(samples=99)), tmp_path)
    assert note.facts["options"] == ("depth",)
    (tmp_path / "plan.toml").write_bytes(b"\xff[")
    assert len(write_plan(first, tmp_path)) == 1
    (tmp_path / "plan.toml").write_text(first.to_toml() + "# a remark\n")
    assert write_plan(first, tmp_path) == ()
    assert "# a remark" in (tmp_path / "plan.toml").read_text()


def test_a_plan_file_looks_like_this():
    assert Plan("toy", Toy(sizes=(2, 3), title='a "b"')).to_toml() == (
        "# To do the same again: karatage experiment toy --plan plan.toml\n"
        '[experiment]\nkind = "toy"\nmeasures = ["AP"]\nsizes = [2, 3]\nshares = [0.5]\npeople = [2, 4]\n'
        'order = "up"\nsamples = 10\nlevel = 0.05\nwhole = true\ntitle = "a \\"b\\""\n'
    )
