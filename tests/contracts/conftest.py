"""What contracts share: the files that examples run on."""

import pytest

from tests.invoking import invoke


@pytest.fixture(scope="session")
def demo_files(tmp_path_factory):
    """The folder that `karatage demo` writes, less its page, which takes longest and no example reads."""
    home = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setattr("karatage.cli.demo._Telling.draw", lambda _: "")
        assert invoke(["demo", "-q"]).exit_code == 0
    return home / "demo"


@pytest.fixture
def beside_demo(demo_files, tmp_path, monkeypatch):
    """A folder of one's own with the demo's files in it, and the current one."""
    (tmp_path / "demo").symlink_to(demo_files)
    monkeypatch.chdir(tmp_path)
    return tmp_path
