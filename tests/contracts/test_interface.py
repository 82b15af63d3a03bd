"""The public interface: names, laziness, documentation."""

import inspect
import subprocess
import sys

import pytest

import karatage as kt
from tests.invoking import list_commands


def test_public_names_are_sorted_and_resolve():
    assert list(kt.__all__) == sorted(kt.__all__)
    assert set(kt.__all__) == set(kt._HOME)
    for name in kt.__all__:
        assert getattr(kt, name).__name__ == name
    assert set(kt.__all__) <= set(dir(kt))


@pytest.mark.parametrize("name", kt.__all__)
def test_public_names_are_documented(name):
    assert inspect.getdoc(getattr(kt, name))


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="no attribute 'evaluete'"):
        _ = kt.evaluete


@pytest.mark.parametrize("statement", ["import karatage", "import karatage.cli.app"])
def test_importing_loads_nothing_heavy(statement):
    code = f"import sys; {statement}; print(sorted({{'numpy', 'numba', 'polars', 'scipy'}} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_at_most_six_parameters_and_options_by_keyword():
    """Not counted: keywords that are options of the command of the same name."""
    options = {
        command: {argument.field_info.name for argument in arguments} for command, arguments in list_commands().items()
    }
    for name in kt.__all__:
        member = getattr(kt, name)
        if inspect.isfunction(member):
            parameters = inspect.signature(member).parameters.values()
            counted = [p for p in parameters if p.kind is not p.KEYWORD_ONLY or p.name not in options.get(name, ())]
            assert len(counted) <= 6, name
