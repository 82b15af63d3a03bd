"""How many threads there are, and that their order does not matter."""

import multiprocessing
import time

import pytest

from karatage.errors import OptionError
from karatage.memory import count_threads, spread


@pytest.mark.parametrize(("asked", "found"), [("3", 3), ("1", 1)])
def test_the_environment_sets_the_number(monkeypatch, asked, found):
    monkeypatch.setenv("KARATAGE_THREADS", asked)
    assert count_threads() == found


def test_nothing_said_means_all_there_are(monkeypatch):
    monkeypatch.setenv("KARATAGE_THREADS", "")
    given = count_threads()
    monkeypatch.delenv("KARATAGE_THREADS")
    assert given == count_threads() >= 1


@pytest.mark.parametrize("asked", ["0", "many", "-2", "٣", "1025"])
def test_nonsense_is_refused(monkeypatch, asked):
    monkeypatch.setenv("KARATAGE_THREADS", asked)
    with pytest.raises(OptionError, match=rf"KARATAGE_THREADS.*'{asked}'.*1.*1,024"):
        count_threads()


def test_results_keep_the_order_of_the_pieces(monkeypatch):
    monkeypatch.setenv("KARATAGE_THREADS", "4")

    def work(n):
        time.sleep(0.01 * (4 - n))
        return n

    assert spread(work, range(5)) == list(range(5))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(monkeypatch):
    monkeypatch.setenv("KARATAGE_THREADS", "2")
    spread(time.sleep, (0.05, 0.05))  # both threads are at work
    child = multiprocessing.get_context("fork").Process(target=spread, args=(abs, (-1, -2)), daemon=True)
    child.start()
    child.join(10)
    ended = child.exitcode
    child.kill()
    assert ended == 0
