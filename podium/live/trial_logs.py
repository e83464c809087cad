"""Trials as runs of TensorBoard, Weights & Biases and MLflow, while they run or stored.

One run a trial, grouped by search. Test scores are left out; they belong to the report. Each tool
is configured as its users know it, by its own environment variables.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from shutil import rmtree
from threading import Thread
from typing import Any, Protocol

import polars as pl

from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import hyperparameters_of
from podium.orchestrator.results.storage.printable_text import one_line
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.scheduling.study_events import Event

OBJECTIVE_TAG = "objective"
"""What a search maximises: the score that tools show beside the hyperparameters of a trial."""

_LAST_SECONDS = 60.0  # for what a tool still has to take when the run ends
_NUM_AT_ONCE = 500  # stored trials whose scores are in memory together


class TrialLog(Protocol):
    """A tool that takes the events of trials. What it raises ends its log, and no trial."""

    def epoch_ended(self, event: Event) -> None:
        """Scores of an epoch, by tag such as ``val/recall_at_1``."""

    def trial_ended(self, event: Event) -> None:
        """The trial is over: its config and its objective."""

    def close(self) -> None:
        """No more events come; trials that are not over may go on in another run."""


class _TensorBoard:
    """Event files in ``FOLDER/SEARCH/STAGE-TRIAL_ID``, with a tab of hyperparameters."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers: dict[str | None, Any] = {}

    def _writer(self, event: Event) -> Any:
        from tensorboardX import SummaryWriter

        if event.trial_id not in self._writers:
            folder = str(run_folder(self._folder, event))
            self._writers[event.trial_id] = SummaryWriter(logdir=folder, flush_secs=10)
        return self._writers[event.trial_id]

    def epoch_ended(self, event: Event) -> None:
        for tag, value in event.scores.items():
            self._writer(event).add_scalar(tag, value, event.epoch)

    def trial_ended(self, event: Event) -> None:
        from tensorboardX.summary import hparams

        writer = self._writer(event)
        for summary in hparams(_config(event), {OBJECTIVE_TAG: None}):
            writer.file_writer.add_summary(summary)
        if event.objective is not None:
            writer.add_scalar(OBJECTIVE_TAG, event.objective, event.epoch)
        self._writers.pop(event.trial_id).close()

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()


class _Wandb:
    """Runs of the project that is the study's name, or ``WANDB_PROJECT``."""

    def __init__(self, study: str) -> None:
        import wandb

        self._project = os.environ.get("WANDB_PROJECT", study)
        self._runs: dict[str | None, Any] = {}
        is_offline = wandb.setup().settings.mode != "online"
        if not (is_offline or wandb.login(prompt=False)):
            raise PodiumError("--log wandb needs `wandb login`, or WANDB_MODE=offline")

    def _run(self, event: Event) -> Any:
        import wandb

        if event.trial_id not in self._runs:
            run = self._runs[event.trial_id] = wandb.init(
                project=self._project,
                group=event.search_id,
                name=f"{event.stage}-{event.trial_id}",
                id=event.trial_id,
                resume="allow",  # a trial may go on after a kill
                reinit="create_new",  # trials run side by side
                config=_config(event),
                settings=wandb.Settings(silent=True, console="off"),
            )
            run.define_metric("*", step_metric="epoch")
        return self._runs[event.trial_id]

    def epoch_ended(self, event: Event) -> None:
        self._run(event).log({"epoch": event.epoch, **event.scores})

    def trial_ended(self, event: Event) -> None:
        run = self._run(event)
        run.summary.update({"state": event.state, OBJECTIVE_TAG: event.objective})
        self._runs.pop(event.trial_id).finish(exit_code=int(event.state == "FAILED"))

    def close(self) -> None:
        for run in self._runs.values():
            run.finish()


class _Mlflow:
    """Runs of the experiment that is the study's name, at ``MLFLOW_TRACKING_URI``."""

    def __init__(self, study: str) -> None:
        from mlflow import MlflowClient

        self._client = MlflowClient()
        self._study = study
        self._runs: dict[str | None, str] = {}

    def _run_id(self, event: Event) -> str:
        if event.trial_id not in self._runs:
            self._runs[event.trial_id] = self._begun(event) or self._new(event)
        return self._runs[event.trial_id]

    def _experiment(self) -> str:
        found = self._client.get_experiment_by_name(self._study)
        return str(found.experiment_id if found else self._client.create_experiment(self._study))

    def _begun(self, event: Event) -> str | None:
        """The run of a trial that goes on after a kill."""
        where = f"tags.podium_trial = '{event.trial_id}'"
        found = self._client.search_runs([self._experiment()], where, max_results=1)
        return str(found[0].info.run_id) if found else None

    def _new(self, event: Event) -> str:
        from mlflow.entities import Param

        name = f"{event.stage}-{event.trial_id}"
        tags = {"podium_trial": event.trial_id, "podium_search": event.search_id}
        run = self._client.create_run(self._experiment(), run_name=name, tags=tags)
        params = [Param(key, str(value)) for key, value in _config(event).items()]
        self._client.log_batch(run.info.run_id, params=params)
        return str(run.info.run_id)

    def _log(self, event: Event, values: Mapping[str, float]) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        metrics = [Metric(tag, value, now, event.epoch or 0) for tag, value in values.items()]
        self._client.log_batch(self._run_id(event), metrics=metrics)

    def epoch_ended(self, event: Event) -> None:
        self._log(event, event.scores)

    def trial_ended(self, event: Event) -> None:
        self._log(event, {} if event.objective is None else {OBJECTIVE_TAG: event.objective})
        status = "FAILED" if event.state == "FAILED" else "FINISHED"
        self._client.set_terminated(self._runs.pop(event.trial_id), status)

    def close(self) -> None:
        for run_id in self._runs.values():
            self._client.set_terminated(run_id, "KILLED")


@contextmanager
def live_logs(
    tools: Sequence[str], study: str, warn: Callable[[str], object]
) -> Iterator[Callable[[Event], object]]:
    """A function that takes the events of a run and never waits for a tool.

    Args:
        tools: where trials are logged. TensorBoard's folder is ``runs/STUDY``.
        study: name of the study.
        warn: takes a message, at the end, on a tool that failed; it gets no more events.

    Raises:
        PodiumError: a tool is unknown or not installed, or has no user.
    """
    logs = {tool: _made(tool, study) for tool in tools}
    events: SimpleQueue[Event | None] = SimpleQueue()
    failures: list[str] = []

    def pass_on(take: Callable[[TrialLog], None]) -> None:
        for tool in list(logs):
            try:
                take(logs[tool])
            except Exception as error:  # of any kind: no tool may stop a trial
                del logs[tool]
                failures.append(f"{tool} failed and got no more: {one_line(str(error))}")

    def work() -> None:
        while (event := events.get()) is not None:
            if event.kind == "epoch ended":
                pass_on(lambda log, event=event: log.epoch_ended(event))  # type: ignore[misc]
            elif event.kind == "trial ended":
                pass_on(lambda log, event=event: log.trial_ended(event))  # type: ignore[misc]
        pass_on(lambda log: log.close())

    worker = Thread(target=work, name="logs of trials", daemon=True)
    worker.start()
    try:
        yield events.put
    finally:
        events.put(None)
        worker.join(_LAST_SECONDS)
        for failure in failures:  # not at once, as what a process of trials prints is theirs
            warn(failure)
        if worker.is_alive():
            warn(f"{' and '.join(logs)} did not take everything within {_LAST_SECONDS:g} s")


def _made(name: str, study: str) -> TrialLog:
    try:
        match name:
            case "tensorboard":
                return _TensorBoard(Path("runs") / study)
            case "wandb":
                return _Wandb(study)
            case "mlflow":
                return _Mlflow(study)
    except ImportError as error:
        raise PodiumError(f"the log {name} needs a package: pip install {name}") from error
    raise PodiumError(f"log must be of tensorboard, wandb, mlflow; got {name!r}")


def run_folder(folder: Path, event: Event) -> Path:
    """TensorBoard's folder of a trial."""
    return folder / str(event.search_id) / f"{event.stage}-{event.trial_id}"


def _config(event: Event) -> dict[str, Any]:
    facts = {"loss": event.loss, "block": event.block, "stage": event.stage}
    return {**facts, "seed": event.seed, **dict(sorted((event.hyperparameters or {}).items()))}


def write_stored(reader: Reader, folder: Path) -> int:
    """Write a run of TensorBoard for every committed trial that has none yet.

    Args:
        reader: reader of the results folder.
        folder: TensorBoard's ``--logdir``; made if it is missing.

    Returns:
        How many runs were written.

    Raises:
        PodiumError: a file of the store is corrupt.
    """
    trials = reader.trials().drop("settings", "traceback", "log").collect()
    events = [_ended(row) for row in trials.iter_rows(named=True)]
    missing = [event for event in events if not run_folder(folder, event).exists()]
    beside = folder / ".part"
    rmtree(beside, ignore_errors=True)  # what a killed call left would be written twice
    for start in range(0, len(missing), _NUM_AT_ONCE):
        part = missing[start : start + _NUM_AT_ONCE]
        scores = _scores(reader, [str(event.trial_id) for event in part])
        for event in part:
            _write_run(folder, beside, event, scores.get(str(event.trial_id), ()))
    rmtree(beside, ignore_errors=True)
    return len(missing)


def _write_run(
    folder: Path, beside: Path, ended: Event, scores: Sequence[tuple[Any, ...]]
) -> None:
    """Write a run beside its place, and move it there whole."""
    log = _TensorBoard(beside)
    for epoch, values in groupby(scores, key=itemgetter(0)):
        known = {tag: value for _, tag, value in values}
        log.epoch_ended(replace(ended, kind="epoch ended", epoch=epoch, scores=known))
    log.trial_ended(ended)
    place = run_folder(folder, ended)
    place.parent.mkdir(parents=True, exist_ok=True)
    run_folder(beside, ended).rename(place)


def _ended(row: Mapping[str, Any]) -> Event:
    return Event(
        kind="trial ended",
        study=row["study"],
        search_id=row["search"],
        trial_id=row["trial_id"],
        stage=row["stage"],
        block=row["block"],
        loss=row["loss"],
        seed=row["seed"],
        hyperparameters=hyperparameters_of(row),
        state=row["state"],
        epoch=row["epochs_run"],
        objective=row["objective"],
    )


def _scores(reader: Reader, trial_ids: Sequence[str]) -> dict[str, list[tuple[Any, ...]]]:
    """Epoch, tag and value of every training and validation score, in the order of epochs."""
    rows = (
        reader.scores()
        .filter(pl.col("trial_id").is_in(trial_ids), pl.col("value").is_not_null())
        .with_columns((pl.col("fold").n_unique().over("trial_id") > 1).alias("has_folds"))
        .select(
            "trial_id",
            "epoch",
            pl.concat_str(
                pl.format("{}/{}", "role", "metric"),
                pl.when(pl.col("k").is_not_null()).then(pl.format("_at_{}", "k")),
                pl.when("has_folds").then(pl.format("/fold_{}", "fold")),
                ignore_nulls=True,
            ).alias("tag"),
            "value",
        )
        .sort("trial_id", "epoch", "tag", maintain_order=True)
        .collect()
    )
    grouped = groupby(rows.iter_rows(), key=itemgetter(0))
    return {trial_id: [row[1:] for row in part] for trial_id, part in grouped}
