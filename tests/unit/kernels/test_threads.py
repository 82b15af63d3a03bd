"""How many threads there are, and that their order does not matter."""

import time

import pytest

from karatage.kernels.threads import count_threads, spread


@pytest.mark.parametrize(("asked", "found"), [("3", 3), ("1", 1)])
def test_the_environment_sets_the_number(monkeypatch, asked, found):
    monkeypatch.setenv("KARATAGE_THREADS", asked)
    assert count_threads() == found


@pytest.mark.parametrize("asked", ["", "0", "many", "-2"])
def test_nonsense_means_all_there_are(monkeypatch, asked):
    monkeypatch.setenv("KARATAGE_THREADS", asked)
    given = count_threads()
    monkeypatch.delenv("KARATAGE_THREADS")
    assert given == count_threads() >= 1


def test_results_keep_the_order_of_the_pieces(monkeypatch):
    monkeypatch.setenv("KARATAGE_THREADS", "4")

    def work(n):
        time.sleep(0.01 * (4 - n))
        return n

    assert spread(work, range(5)) == list(range(5))
