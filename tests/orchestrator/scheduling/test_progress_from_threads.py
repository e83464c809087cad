"""Watchers look at a search while its trials end in another thread."""

import sys
import threading
from typing import cast

import pytest

from podium.orchestrator.scheduling.early_stopping import EarlyStopper
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.search_samplers.suggester import Outcome, Suggester
from podium.orchestrator.study.study import Search, SearchSettings

PRUNED = Outcome(state="PRUNED", objective=None, path=(), selected_epoch=None)


@pytest.fixture
def threads_that_take_turns_often():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("threads_that_take_turns_often")
def test_trials_are_counted_while_others_end():
    run = SearchRun(
        cast("Search", None),  # neither counting nor ending looks at these
        SearchSettings(order="deterministic", trials=10_000),
        cast("Suggester", None),
        [],
        lambda index, config: pytest.fail("nothing is suggested"),
        EarlyStopper((), 2),
    )
    for number in range(2_000):
        run.finish(f"early{number}", PRUNED)
    problems, is_over = [], threading.Event()

    def watch():
        while not is_over.is_set():
            try:
                run.count("PRUNED")
            except RuntimeError as error:
                problems.append(error)
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(20_000):
        run.finish(f"late{number}", PRUNED)
    is_over.set()
    watcher.join()
    assert problems == []
    assert run.count("PRUNED") == 22_000
