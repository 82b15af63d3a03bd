"""The core table of docs/theory/correction.md on real LLM judges, 1,000 comparisons in each of its 72 cells."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.soak
def test_default_decisions_hold_on_real_judges(shared_data, tmp_path, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import decisions

    decisions.main(["--data", str(shared_data), "--results", str(tmp_path / "core.jsonl"), "--workers", "2"])
    told = capsys.readouterr().out
    assert "72 cells with intervals of 72" in told
    assert "(ok" in told
    assert "(NO" not in told
