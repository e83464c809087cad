"""Several drivers run one study, a part each: it is the study that one driver would have run."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.results.locks.study_lock import StudyLock, lock_owners
from orchestrator.results.records.runs import WHOLE, Part, read_runs
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_study
from orchestrator.results.storage.files import list_below
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools.stored_studies import stored_study
from orchestrator.results_tools.study_status import study_status
from orchestrator.run.study_parts import parts_left
from orchestrator.study.blocks import blocks, search_ids, searches
from orchestrator.study.study import BudgetSettings, StudyLoss
from orchestrator.verify.verify_store import verify_store
from podium.errors import LockHeldError, PodiumError
from tests.orchestrator.drive_part import FOUR_BLOCKS
from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.results.locking import wait_until
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import STUDY, InterruptedAfter, run_here
from tests.podium.calling import output_of

FIRST, SECOND = Part(1, 2), Part(2, 2)
_VOLATILE = ("started_at", "ended_at", "seconds", "test_seconds", "attempts", "git_commit", "log")


@pytest.fixture(params=["local", "s3"])
def storage(request, tmp_path):
    """Where results go: a folder, or a bucket."""
    return tmp_path if request.param == "local" else request.getfixturevalue("bucket")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The storage of one run of the whole study."""
    storage = tmp_path_factory.mktemp("undisturbed")
    run_here(FOUR_BLOCKS, storage)
    return storage


@pytest.fixture
def gate(tmp_path_factory):
    """A file; until there is one, drivers train a few trials and no more."""
    return tmp_path_factory.mktemp("gate") / "open"


@contextmanager
def driver(storage, part, gate) -> Iterator[subprocess.Popen]:
    """A process that runs a part; killed in the end."""
    words = (str(storage), str(part), str(gate))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.orchestrator.drive_part", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process) -> tuple[int, str]:
    """Exit code of a driver, and what it said."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out + err


def folder_of(storage):
    return storage / FOUR_BLOCKS.name


def num_loose(storage, part=WHOLE):
    """Committed trials of a part that were not gathered yet."""
    ids = search_ids(FOUR_BLOCKS, part)
    files = list_below(StudyPaths(folder_of(storage)).trials, ".parquet")
    return sum(StudyPaths.search_of(file) in ids for file in files)


def trials(storage, study=FOUR_BLOCKS):
    frame = Reader(storage / study.name).trials().collect()
    return frame.drop(name for name in frame.columns if name in _VOLATILE)


def problems(storage):
    """What is wrong, but for checkpoints: those of simulated trials are none of torch."""
    found = verify_store(folder_of(storage)).problems
    return [it for it in found if "checkpoints" not in str(it.file)]


def check_complete(storage, undisturbed):
    """The tables are those of one undisturbed run, and everything says so."""
    found = trials(storage)
    assert found["trial_id"].is_unique().all()
    assert_frame_equal(found, trials(undisturbed))
    for name in ("scores", "test_scores", "class_hits"):
        details = [
            getattr(Reader(folder_of(it)), name)().collect() for it in (storage, undisturbed)
        ]
        assert_frame_equal(*details)
    folder = folder_of(storage)
    assert num_loose(storage) == 0, "whoever ended last has gathered the trials"
    assert stored_study(folder).state == "complete"
    total = study_status(folder).total
    assert (total["trials"], total["open"]) == (total["planned"], 0)
    assert problems(storage) == []
    assert lock_owners(StudyPaths(folder)) == {}


def test_two_drivers_complete_one_study_with_each_trial_once(storage, undisturbed, gate, capsys):
    with driver(storage, FIRST, gate) as first, driver(storage, SECOND, gate) as second:
        wait_until(lambda: num_loose(storage, FIRST) and num_loose(storage, SECOND), 60)
        owners = lock_owners(StudyPaths(folder_of(storage)))
        assert {part: owner.pid for part, owner in owners.items()} == {
            FIRST: first.pid,
            SECOND: second.pid,
        }
        assert stored_study(folder_of(storage)).state == "running"
        assert problems(storage) == []
        gate.touch()
        for process in (first, second):
            assert ended(process)[0] == 0
    check_complete(storage, undisturbed)
    runs = read_runs(StudyPaths(folder_of(storage)))
    assert [run.number for run in runs] == [1, 2]
    assert {run.part for run in runs} == {FIRST, SECOND}
    for run in runs:
        assert {spent.search for spent in run.spent} == search_ids(FOUR_BLOCKS, run.part)
        num_trained = sum(spent.tries for spent in run.spent)
        assert (
            num_trained
            == trials(storage)
            .filter(
                pl.col("search").is_in(search_ids(FOUR_BLOCKS, run.part)),
                pl.col("same_as").is_null(),
            )
            .height
        )
    tables = [
        output_of(capsys, "tournament", folder_of(it), "--json") for it in (storage, undisturbed)
    ]
    assert tables[0] == tables[1]


def test_a_killed_part_is_taken_over_by_the_same_command_and_others_are_refused(
    storage, undisturbed, gate
):
    with driver(storage, FIRST, gate) as first, driver(storage, SECOND, gate) as second:
        wait_until(lambda: num_loose(storage, FIRST) and num_loose(storage, SECOND), 60)
        for part, told in (
            (FIRST, f"process {first.pid} on .* is running part 1/2 of this study"),
            (WHOLE, r"is running part \d/2 of this study; wait until it ends, or stop it$"),
            (Part(3, 4), r"is running part \d/2 of this study.*: run a part i/2, not 3/4"),
        ):
            with driver(storage, part, gate) as refused:
                code, said = ended(refused)
            assert code == 4
            assert re.search(told, said, re.MULTILINE | re.DOTALL), said
        first.kill()
        first.wait()
        before = trials(storage)
        with driver(storage, WHOLE, gate) as refused:
            code, said = ended(refused)
        assert (code, f"process {second.pid} on" in said) == (4, True)
        gate.touch()
        with driver(storage, FIRST, gate) as again:
            code, said = ended(again)
            assert code == 0, said
            assert "trials of part 1/2 are done" in said
        assert ended(second)[0] == 0
    check_complete(storage, undisturbed)
    kept = trials(storage).filter(pl.col("trial_id").is_in(before["trial_id"].to_list()))
    assert_frame_equal(kept, before)
    runs = read_runs(StudyPaths(folder_of(storage)))
    assert [(run.number, run.part) for run in runs][2:] == [(3, FIRST)]
    assert [run.end for run in runs if run.part == FIRST] == [None, "finished"]


def test_a_part_does_not_start_while_the_whole_study_runs(storage, gate):
    with driver(storage, WHOLE, gate) as whole:
        wait_until(lambda: num_loose(storage), 60)
        with pytest.raises(
            LockHeldError, match=f"process {whole.pid} on .* is running this study"
        ):
            run_here(FOUR_BLOCKS, storage, part=FIRST)
        assert lock_owners(StudyPaths(folder_of(storage))).keys() == {WHOLE}


def test_the_whole_study_goes_on_where_killed_parts_stopped(storage, undisturbed, gate):
    with driver(storage, FIRST, gate) as first, driver(storage, SECOND, gate) as second:
        wait_until(lambda: num_loose(storage, FIRST) and num_loose(storage, SECOND), 60)
        for process in (first, second):
            process.kill()
            process.wait()
    assert stored_study(folder_of(storage)).state == "stopped"
    run_here(FOUR_BLOCKS, storage)
    check_complete(storage, undisturbed)


@pytest.mark.parametrize("num_parts", [2, 3, 4])
def test_parts_one_after_the_other_are_the_study_too(tmp_path, undisturbed, num_parts):
    whole = Part(1, num_parts)
    assert sorted(block for it in whole.all for block in blocks(FOUR_BLOCKS, it)) == sorted(
        blocks(FOUR_BLOCKS)
    )
    for part in whole.all:
        assert stored_study(folder_of(tmp_path)).state != "complete"
        run_here(FOUR_BLOCKS, tmp_path, part=part)
    check_complete(tmp_path, undisturbed)


def test_parts_of_another_number_go_on_with_what_others_left(tmp_path, undisturbed):
    run_here(FOUR_BLOCKS, tmp_path, InterruptedAfter(25), part=FIRST)
    run_here(FOUR_BLOCKS, tmp_path, InterruptedAfter(25), part=SECOND)
    for part in Part(1, 3).all:
        run_here(FOUR_BLOCKS, tmp_path, part=part)
    check_complete(tmp_path, undisturbed)


def test_a_part_without_work_left_says_so_in_its_account(tmp_path, undisturbed):
    """The whole study had been interrupted when all blocks of one part were done."""
    run_here(FOUR_BLOCKS, tmp_path, part=FIRST)
    run_here(FOUR_BLOCKS, tmp_path, InterruptedAfter(3))
    said = []
    run_here(FOUR_BLOCKS, tmp_path, part=FIRST, say=said.append)
    assert "All trials of part 1/2 are already done." in said
    paths = StudyPaths(folder_of(tmp_path))
    assert parts_left(paths, FIRST) == "Not finished yet: part 2/2 (not running)."
    num_runs = len(read_runs(paths))
    run_here(FOUR_BLOCKS, tmp_path, part=FIRST)
    assert len(read_runs(paths)) == num_runs
    run_here(FOUR_BLOCKS, tmp_path, part=SECOND)
    assert parts_left(paths, FIRST) == ""
    check_complete(tmp_path, undisturbed)


def test_a_study_of_fewer_blocks_has_no_such_part(tmp_path):
    with pytest.raises(PodiumError, match="small has 2, got part 3/3"):
        run_here(STUDY, tmp_path, part=Part(3, 3))
    assert not (tmp_path / "small").exists()


class WhileOthersRun(InProcessExecutor):
    """Runs its study only after something else was done with the folder."""

    def __init__(self, deed) -> None:
        super().__init__(simulated_trial)
        self._deed = deed

    def run(self, scheduler) -> None:
        self._deed()
        super().run(scheduler)


def test_a_study_does_not_grow_while_another_part_runs(tmp_path):
    grown = replace(FOUR_BLOCKS, losses=(*FOUR_BLOCKS.losses, StudyLoss("margin")))

    def grow():
        with pytest.raises(LockHeldError, match=r"part 1/2 .* before it was changed:\n.*losses"):
            run_here(grown, tmp_path, part=SECOND)
        assert lock_owners(paths).keys() == {FIRST}

    paths = StudyPaths(folder_of(tmp_path))
    run_here(FOUR_BLOCKS, tmp_path, WhileOthersRun(grow), part=FIRST)
    run_here(grown, tmp_path, part=SECOND)
    assert set(read_study(paths)["losses"]) >= {"margin"}


def test_a_budget_may_change_while_another_part_runs(tmp_path):
    """As resources may: both are those of a run. The snapshot has what the last one had."""
    paths = StudyPaths(folder_of(tmp_path))
    larger = replace(FOUR_BLOCKS, budget=BudgetSettings(trials=1000))
    seen = []

    def start_other():
        run_here(larger, tmp_path, part=SECOND)
        seen.append(read_study(paths)["budget"]["trials"])

    run_here(FOUR_BLOCKS, tmp_path, WhileOthersRun(start_other), part=FIRST)
    assert seen == [None]
    assert stored_study(paths.folder).state == "complete"


def test_only_the_last_part_gathers_trials(tmp_path):
    left = []

    def run_other():
        run_here(FOUR_BLOCKS, tmp_path, part=SECOND)
        left.append(num_loose(tmp_path, SECOND))
        assert parts_left(StudyPaths(folder_of(tmp_path)), SECOND).startswith(
            "Not finished yet: part 1/2 (process "
        )

    run_here(FOUR_BLOCKS, tmp_path, WhileOthersRun(run_other), part=FIRST)
    assert left[0] > 0
    assert num_loose(tmp_path) == 0


def test_what_the_user_cancels_is_cancelled_in_every_part(tmp_path):
    paths = StudyPaths(folder_of(tmp_path))
    cancelled = [search.id for search in searches(FOUR_BLOCKS) if search.loss == "proxy_anchor"]
    for part in FIRST.all:
        run_here(FOUR_BLOCKS, tmp_path, InterruptedAfter(10), part=part)
    paths.control.write_text(json.dumps({"cancel": cancelled}))
    for part in FIRST.all:
        run_here(FOUR_BLOCKS, tmp_path, part=part)
    assert study_status(paths.folder).spent.cancelled.keys() == set(cancelled)
    assert stored_study(paths.folder).state == "complete"


class FailsOften:
    """A trial that fails for about a third of all settings, until that is mended."""

    is_mended = False

    def __call__(self, settings, *, resume, save, keep):
        seen = hashlib.sha256(repr(settings).encode()).hexdigest()
        if int(seen, 16) % 3 == 0 and not self.is_mended:
            raise RuntimeError(f"broken by {seen}")
        yield from simulated_trial(settings, resume=resume, save=save)


def test_a_part_retries_its_own_failures_alone(tmp_path, undisturbed):
    def num_failed(part):
        found = Reader(folder_of(tmp_path)).trials().collect()
        failed = found.filter(pl.col("search").is_in(search_ids(FOUR_BLOCKS, part)))
        return failed.filter(state="FAILED").height

    trial = FailsOften()
    for part in FIRST.all:
        run_here(FOUR_BLOCKS, tmp_path, InProcessExecutor(trial), part=part)
    trial.is_mended, before = True, num_failed(SECOND)
    assert num_failed(FIRST) > 0 < before
    run_here(FOUR_BLOCKS, tmp_path, InProcessExecutor(trial), part=FIRST, retried_causes=())
    assert (num_failed(FIRST), num_failed(SECOND)) == (0, before)
    run_here(FOUR_BLOCKS, tmp_path, InProcessExecutor(trial), part=SECOND, retried_causes=())
    assert num_failed(SECOND) == 0
    assert stored_study(folder_of(tmp_path)).state == "complete"


def test_each_part_has_its_share_of_a_budget_of_hours(tmp_path):
    """Hours are GPU-hours of a made-up clock; one of two parts cannot use those of the other."""
    study = replace(
        FOUR_BLOCKS,
        search=replace(FOUR_BLOCKS.search, order="asynchronous"),
        resources=replace(FOUR_BLOCKS.resources, gpus_per_trial=1.0),
        budget=BudgetSettings(gpu_hours=2.0),
    )

    class Clock:
        now = 0.0

        def __call__(self):
            Clock.now += 3.0
            return Clock.now

    for part in FIRST.all:
        end = run_here(study, tmp_path, clock=Clock(), part=part)
        (use,) = [use for use in end.progress.budget if use.what == "GPU-hours"]
        assert use.limit == 1.0
        assert use.used < 1.2
    spent = study_status(folder_of(tmp_path)).spent
    assert [(use.what, use.limit) for use in spent.budget] == [("GPU-hours", 2.0)]


def test_logs_of_parts_that_start_in_one_second_have_names_of_their_own(tmp_path):
    for part in FIRST.all:
        run_here(FOUR_BLOCKS, tmp_path, part=part)
    names = [file.name for file in (folder_of(tmp_path) / "logs").glob("run-*.log")]
    assert {name.rpartition("Z-")[2] for name in names} == {"part-1-of-2.log", "part-2-of-2.log"}
    for name in names:
        datetime.strptime(name.partition("Z")[0], "run-%Y%m%dT%H%M%S")


def test_a_lock_of_a_part_that_nobody_holds_any_more_is_taken_away(tmp_path):
    paths = StudyPaths(folder_of(tmp_path))
    with StudyLock(paths, print, FIRST):
        text = (paths.parts / "1-of-2.json").read_text()
    (paths.parts / "1-of-2.json").write_text(text.replace('"pid": ', '"pid": 9'))
    run_here(FOUR_BLOCKS, tmp_path)
    assert lock_owners(paths) == {}
