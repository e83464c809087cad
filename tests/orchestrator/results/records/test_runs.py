from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.runs import (
    Run,
    RunSpent,
    StartedTrial,
    next_number,
    read_runs,
    write_run,
)
from podium.orchestrator.results.storage.checksummed_text import (
    write_checksummed,
)

SPENT = RunSpent(
    search="a.b",
    stage="search",
    use="complete",
    tries=2,
    seconds=10.0,
    cpu_seconds=20.0,
    gpu_seconds=5.0,
    whole_tries=1,
    whole_seconds=6.0,
)
RUN = Run(
    number=1,
    started_at=datetime(2026, 1, 2, tzinfo=UTC),
    host="here",
    pid=7,
    podium_version="1",
    seconds=12.5,
    end="budget",
    budget={"gpu_hours": 2.0, "wall_hours": None, "trials": None},
    trials_per_search=5,
    ended_searches={"a.b": 3},
    spent=(SPENT,),
)


def test_runs_come_back_in_the_order_of_their_numbers(paths):
    assert read_runs(paths) == []
    assert next_number(paths) == 1
    started = StartedTrial(trial_id="t0", search="s0", stage="search", attempt=2)
    lasting = replace(RUN, seconds_left=12.5, running=(started,), end=None, spent=())
    runs = [replace(lasting, number=number) for number in (3, 2, 1)]
    for run in (*runs, RUN):  # the last of which replaces the one before
        write_run(paths, run)
    assert read_runs(paths) == [RUN, *runs[1::-1]]
    assert next_number(paths) == 4


def damaged(**changes):
    return {
        **asdict(replace(RUN, spent=())),
        "started_at": RUN.started_at.isoformat(),
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra": 1}, "is no run: extra: Unexpected keyword argument"),
        ({"end": "gone"}, "end: Input should be 'finished', .*; got 'gone'"),
        (
            {"ended_searches": {"a": 1.5}},
            "ended_searches.a: Input should be a valid integer; got 1.5",
        ),
        ({"spent": [{"search": "a"}]}, "spent.0.stage: Field required"),
        ({"spent": 3}, "is no run"),
        ({"running": [{"trial_id": "t0"}]}, r"running\.0\.search: Field required"),
        (
            {"budget": {"gpu_hours": -2, "wall_hours": None, "trials": None}},
            "budget.gpu_hours: Input should be greater than or equal to 0; got -2",
        ),
        ({"number": 2}, "holds the run 2, which does not match its name"),
    ],
)
def test_what_is_no_run_is_refused_with_its_place(paths, changes, message):
    paths.runs.mkdir(parents=True)
    write_checksummed(paths.run(1), damaged(**changes))
    with pytest.raises(CorruptFileError, match=f"000001.json.*{message}"):
        read_runs(paths)
