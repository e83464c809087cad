import threading
import time
from functools import partial

import pytest

from podium.trainables.batches.cpu_batches import prefetched


def ours():
    return [thread for thread in threading.enumerate() if thread.name.startswith("images")]


def squares(count, *, parts=3, pause_s=0.0, taken=None):
    """Jobs whose results are filled by several parts."""
    for number in range(count):
        if taken is not None:
            taken.append(number)
        result = [None] * parts
        yield result, [partial(fill, result, place, number, pause_s) for place in range(parts)]


def fill(result, place, number, pause_s):
    time.sleep(pause_s)
    result[place] = number**2


@pytest.mark.parametrize("num_threads", [1, 2, 7])
def test_results_are_complete_and_in_order_whatever_the_number_of_threads(num_threads):
    found = [list(result) for result in prefetched(squares(20), num_threads)]
    assert found == [[number**2] * 3 for number in range(20)]
    assert ours() == []


def test_nothing_comes_of_nothing():
    assert list(prefetched(iter(()), 2)) == []
    assert ours() == []


def test_parts_run_at_the_same_time():
    both = threading.Barrier(2, timeout=10)
    (result,) = prefetched(iter([("done", [both.wait, both.wait])]), 2)
    assert result == "done"


def test_the_next_three_are_prepared_while_one_is_used_and_no_more():
    taken = []
    results = prefetched(squares(50, taken=taken), 2)
    assert taken == []
    next(results)
    assert taken == [0, 1, 2, 3]
    next(results)
    assert taken == [0, 1, 2, 3, 4]
    results.close()


def test_an_iteration_that_is_left_early_drops_what_has_not_begun():
    calls = []

    def slow_jobs():
        for number in range(50):
            yield number, [partial(slow, number)]

    def slow(number):
        time.sleep(0.05)
        calls.append(number)

    results = prefetched(slow_jobs(), 1)
    assert next(results) == 0
    results.close()
    assert ours() == []
    assert len(calls) <= 2


@pytest.mark.parametrize("error", [ValueError("no whole image"), KeyboardInterrupt()])
def test_an_error_of_a_part_reaches_the_caller_in_its_turn(error):
    def fail():
        raise error

    jobs = [(0, [int]), (1, [int, fail]), *((number, [int]) for number in range(2, 9))]
    results = prefetched(iter(jobs), 2)
    assert next(results) == 0
    with pytest.raises(type(error)) as raised:
        next(results)
    assert raised.value is error
    assert ours() == []


def test_an_error_of_the_caller_leaves_no_thread():
    def use():
        for result in prefetched(squares(50, pause_s=0.001), 2):
            raise KeyboardInterrupt(result)

    with pytest.raises(KeyboardInterrupt):
        use()
    assert ours() == []


def test_an_error_of_the_jobs_leaves_no_thread():
    def jobs():
        yield from squares(2)
        raise RuntimeError("no more batches")

    with pytest.raises(RuntimeError, match="no more batches"):
        list(prefetched(jobs(), 2))
    assert ours() == []
