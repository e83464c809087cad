"""What restarting, looking at and verifying a study of up to a million trials takes.

    python -m benchmarks.restart [--trials 10000 100000 1000000] [--folder DIR]

For each size a study of glyphs is written as its runs would have left it: rows with the ids,
hashes and settings that they would have, in segments of all levels; asks and attempts gathered;
one search that is half done, and no finals yet. Every trial repeats the learning curve of one.
Then each of these is done in a process of its own, and measured in seconds on the clock, seconds
of the processor, and peak memory:

- ``restart``: `podium run` until the first new trial is handed out, imports left out;
- ``status`` and ``trials``: the commands, the latter with filters; imports included;
- ``verify``: the command.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.interleaved import print_header
from benchmarks.scale import segments_of
from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.ids_and_seeds import config_hash
from orchestrator.results.records.asks import Ask, write_gathered_asks
from orchestrator.results.records.attempts import Attempt, write_gathered_attempts
from orchestrator.results.records.runs import Run, RunSpent, write_run, write_run_count
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema
from orchestrator.results.trial_files.compaction import write_segment
from orchestrator.results.trial_files.compaction_manifest import write_manifest
from orchestrator.results.trial_files.parquet_file import read_groups
from orchestrator.results.trial_files.segment_trials import SegmentTrials
from orchestrator.run.run_study import Console, run_study
from orchestrator.run.snapshot_study import write_snapshot
from orchestrator.scheduling.executor_interface import NoJob, Scheduler
from orchestrator.study.blocks import searches
from orchestrator.study.configs import first_configs, space_of, unsearched_values
from orchestrator.study.study import Search, Study
from orchestrator.study_validation.load_study import load_study
from orchestrator.trials.history import TrialHistory
from orchestrator.trials.provenance import current_versions
from orchestrator.trials.recorder import TrialRecorder
from orchestrator.trials.specification import TrialSpec
from orchestrator.trials.specification_maker import TrialSpecMaker
from orchestrator.trials.worker_messages import Ended
from search_spaces.parameters import Real
from trainables.dataset_interface.load_dataset import load_dataset
from trainables.trial_reports import EpochReport, Score

_LOSSES = ("contrastive", "proxy_anchor", "multi_similarity", "triplet")
_EPOCHS = 4
_ROWS_OF_GROUP = 250
_START = datetime(2026, 1, 1, tzinfo=UTC)
_SECONDS = 60.0  # of each trial


def study_of(num_trials: int, per_search: int) -> Study:
    """A study of so many trials of searches, of as many dimensions as it takes."""
    num_dims = max(1, round(num_trials / (len(_LOSSES) * per_search)))
    return load_study(
        {
            "study": "restarted",
            "datasets": [{"name": "glyphs", "script": "greek"}],
            "embedding_dims": [4 + number for number in range(num_dims)],
            "losses": list(_LOSSES),
            "protocol": {"kind": "fixed", "val_fraction": 0.25},
            "search": {"trials": per_search, "sampler": "random"},
            "final": {"seeds": 1},
            "training": {"epochs": _EPOCHS},
        }
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    ask: Ask
    identity: Mapping[str, object]


def write_study(paths: StudyPaths, study: Study, *, is_quick: bool) -> None:
    """Write the results of all searches, of the last one half.

    Args:
        paths: paths of the results folder.
        study: the study.
        is_quick: whether each search has the settings of its first trial in all rows, and ids that
            are counted: that takes a tenth of the time, and nothing but verify notices.
    """
    write_snapshot(study, paths)
    schema = read_schema(paths)
    maker = TrialSpecMaker(study, {it.label: load_dataset(it, None) for it in study.datasets})
    planned = searches(study)
    first = next(_configs(study, planned[0]))
    template = _one_row(study, maker.search_trial(planned[0], 0, first))
    missing = study.search.trials // 2
    num_trials = len(planned) * study.search.trials - missing
    trials = _trials(paths, study, maker, planned, num_trials, is_quick=is_quick)
    segments = []
    for level, count in segments_of(num_trials):
        ids: dict[str, list[str]] = {}
        rows = _groups(trials, count, template, ids)
        written = list(rows)
        segments.append(
            write_segment(paths, schema, SegmentTrials(ids), written, least_level=level)
        )
    write_manifest(paths, segments)
    _write_run(paths, study, planned)


def _configs(study: Study, search: Search) -> Iterator[dict[str, Any]]:
    """The default, then values drawn from the space."""
    (default, *_) = first_configs(study, search.block, search.loss)
    yield dict(default)
    space = space_of(study, search.loss, unsearched_values(study, search.block, search.loss))
    ranges = {
        name: (parameter.low, parameter.high)
        for name, parameter in space.parameters.items()
        if isinstance(parameter, Real)
    }
    draws = np.random.default_rng(len(search.id))
    while True:
        drawn = {name: float(draws.uniform(*limits)) for name, limits in ranges.items()}
        yield {**default, **drawn}


def _trials(
    paths: StudyPaths,
    study: Study,
    maker: TrialSpecMaker,
    planned: Sequence[Search],
    num_trials: int,
    *,
    is_quick: bool,
) -> Iterator[_Trial]:
    """The trials of one search after the other, whose asks and attempts are written."""
    done = 0
    for search in planned:
        found = []
        count = min(study.search.trials, num_trials - done)
        for index, config in enumerate(itertools.islice(_configs(study, search), count)):
            if index == 0 or not is_quick:
                spec = maker.search_trial(search, index, config)
                identity = spec.identity_columns(study.name)
            trial_id = f"{done + index:016x}" if is_quick else spec.trial_id
            hash_of_config = config_hash(config)
            ask = Ask(
                search=search.id,
                index=index,
                trial_id=trial_id,
                config_hash=hash_of_config,
                hyperparameters=config,
                source="sampler" if index else "default",
            )
            own = {"trial_id": trial_id, "index": index, "config_hash": hash_of_config}
            found.append(_Trial(ask, {**identity, **own, "is_default": index == 0}))
        done += len(found)
        write_gathered_asks(paths, search.id, [it.ask for it in found])
        attempts = sorted((_attempt(it) for it in found), key=lambda it: it.trial_id)
        write_gathered_attempts(paths, search.id, attempts)
        yield from found


def _attempt(trial: _Trial) -> Attempt:
    return Attempt(
        trial_id=trial.ask.trial_id,
        number=1,
        node="node",
        pid=1,
        device="cpu",
        started_at=_START,
        ended_at=_START + timedelta(seconds=_SECONDS),
        cause="complete",
        reports=_EPOCHS,
        seconds=_SECONDS,
        cpus=1.0,
        gpus=0.0,
        members=1,
    )


def _one_row(study: Study, spec: TrialSpec) -> pa.Table:
    """The row of one trial, as its recorder writes it."""
    with tempfile.TemporaryDirectory() as folder:
        paths = StudyPaths(Path(folder) / study.name)
        write_snapshot(study, paths)
        recorder = TrialRecorder(
            study, paths, read_schema(paths), current_versions(), lambda *_: None
        )
        history = TrialHistory(study.ks[0])
        for epoch in range(1, _EPOCHS + 1):
            history.add(_report(study, epoch))
        recorder.commit(spec, history, Ended(state="COMPLETE"), 1)
        path = paths.trial(spec.search.id, spec.trial_id)
        return pa.concat_tables(read_groups(path, read_schema(paths)))


def _report(study: Study, epoch: int) -> EpochReport:
    hits = 100 + 10 * epoch
    recalls = (
        Score(role="val", metric="recall", k=k, value=hits / 200, hits=hits, queries=200)
        for k in study.ks
    )
    return EpochReport(
        fold=0,
        epoch=epoch,
        scores=(Score(role="train", metric="loss", value=1 / epoch), *recalls),
        class_hits=(),
        seconds=_SECONDS / _EPOCHS,
        peak_memory_mb=100.0,
    )


def _groups(
    trials: Iterator[_Trial],
    count: int,
    template: pa.Table,
    ids: dict[str, list[str]],
) -> Iterator[pa.Table]:
    """Row groups of the next trials, whose ids are noted by search."""
    for start in range(0, count, _ROWS_OF_GROUP):
        of_group = [next(trials) for _ in range(min(_ROWS_OF_GROUP, count - start))]
        rows = template.take(pa.array([0] * len(of_group)))
        values = [
            {
                **it.identity,
                **{f"hp.{name}": value for name, value in it.ask.hyperparameters.items()},
            }
            for it in of_group
        ]
        for it in of_group:
            ids.setdefault(it.ask.search, []).append(it.ask.trial_id)
        for place, field in enumerate(rows.schema):
            is_own = field.name.startswith("hp.") or field.name in values[0]
            if is_own:
                column = pa.array([value.get(field.name) for value in values], field.type)
                rows = rows.set_column(place, field, column)
        yield rows.combine_chunks()


def _write_run(paths: StudyPaths, study: Study, planned: Sequence[Search]) -> None:
    trials = study.search.trials
    spent = tuple(
        RunSpent(
            search=search.id,
            stage="search",
            use="complete",
            tries=trials - (trials // 2 if search is planned[-1] else 0),
            seconds=_SECONDS * trials,
            cpu_seconds=_SECONDS * trials,
            gpu_seconds=0.0,
            whole_tries=trials - (trials // 2 if search is planned[-1] else 0),
            whole_seconds=_SECONDS * trials,
        )
        for search in planned
    )
    run = Run(
        number=1,
        started_at=_START,
        host="node",
        pid=1,
        podium_version="0",
        seconds=_SECONDS * trials,
        end="interrupted",
        budget={"gpu_hours": None, "wall_hours": None, "trials": None},
        trials_per_search=trials,
        spent=spent,
    )
    write_run(paths, run)
    write_run_count(paths, 1)


class _FirstJob(InProcessExecutor):
    """Notes when the first job is handed out, and stops the study."""

    at: float | None = None

    def run(self, scheduler: Scheduler) -> None:
        job = scheduler.next_job(self.capacity())
        assert not isinstance(job, NoJob), "there is work left"
        self.at = time.monotonic()
        scheduler.stop()  # type: ignore[attr-defined]


def _restart(paths: StudyPaths, study: Study) -> float:
    executor, began = _FirstJob(), time.monotonic()
    run_study(
        study,
        paths,
        start_executor=lambda: executor,
        console=Console(say=lambda line: None),
        trains_here=True,
    )
    assert executor.at is not None
    return executor.at - began


def _measured(words: Sequence[object]) -> tuple[float, float, float, str]:
    """Seconds on the clock and of the processor, MB, and what it printed, of a process."""
    code = (
        "import runpy, sys, time\n"
        "sys.argv = sys.argv[1:]\n"
        "try:\n"
        "    runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)\n"
        "finally:\n"
        "    (peak,) = [it for it in open('/proc/self/status') if it.startswith('VmHWM')]\n"
        "    print(time.process_time(), int(peak.split()[1]) / 1024, file=sys.stderr)\n"
    )
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False
    )
    wall = time.monotonic() - began
    if ended.returncode != 0:
        sys.exit(f"it failed: {ended.stderr}")
    processor, memory = map(float, ended.stderr.split()[-2:])
    return wall, processor, memory, ended.stdout


def _measure(
    paths: StudyPaths, trials: int, per_search: int, only: Sequence[str], *, is_quick: bool
) -> None:
    study = study_of(trials, per_search)
    if not paths.folder.exists():
        began = time.process_time()
        write_study(paths, study, is_quick=is_quick)
        print(f"wrote {trials:,} trials in {time.process_time() - began:.0f} s", file=sys.stderr)
    commands = {
        "restart": ("benchmarks.restart", "--restart", paths.folder, "--trials", trials),
        "status": ("podium", "status", paths.folder, "--json"),
        "trials": (
            "podium",
            "trials",
            paths.folder,
            "--loss",
            "triplet",
            "--sort",
            "objective",
            "--top",
            5,
        ),
        "verify": ("podium", "verify", paths.folder),
    }
    for name, words in commands.items():
        if name not in only:
            continue
        if name == "restart":
            words = (*words, "--per-search", per_search)
        wall, processor, memory, printed = _measured(words)
        if name == "restart":
            wall = json.loads(printed.splitlines()[-1])
        print(
            f"| {trials:,} | {name} | {wall:.1f} | {processor:.1f} | {memory:,.0f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--per-search", type=int, default=250)
    parser.add_argument(
        "--folder", type=Path, help="where studies are kept; else they are deleted"
    )
    parser.add_argument("--quick", action="store_true", help="write made-up ids; verify minds")
    parser.add_argument("--only", nargs="+", default=["restart", "status", "trials", "verify"])
    parser.add_argument("--restart", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.restart is not None:
        study = study_of(options.trials[0], options.per_search)
        print(json.dumps(_restart(StudyPaths(options.restart), study)))
        return
    print_header("benchmarks.restart", "cpu")
    print("| trials | what | s | s of the processor | peak MB |")
    print("|---|---|---|---|---|")
    for trials in options.trials:
        with tempfile.TemporaryDirectory() as temporary:
            storage = options.folder or Path(temporary)
            paths = StudyPaths(storage / f"{trials}" / "restarted")
            _measure(paths, trials, options.per_search, options.only, is_quick=options.quick)


if __name__ == "__main__":
    main()
