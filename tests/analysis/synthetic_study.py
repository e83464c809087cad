"""A results store with known truth, through the store's own writer."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from operator import attrgetter
from pathlib import Path

import pyarrow as pa

from podium.orchestrator.results.records.journal_records import Ask
from podium.orchestrator.results.records.metric_columns import RECALL
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import (
    Store,
    read_provenance,
    read_store,
    read_study,
    write_snapshot_files,
)
from podium.orchestrator.results.storage.files import put_if_absent
from podium.orchestrator.results.trial_files.commit_trials import to_table
from podium.orchestrator.results.trial_files.parquet_file import encode_many
from podium.orchestrator.study.fairness import fairness
from podium.orchestrator.study.resolved_study import resolved_dict
from podium.orchestrator.study.study import Search
from tests.analysis.synthetic_trials import EPOCHS, KS, Truth, trial_row
from tests.orchestrator.journals import write_records
from tests.orchestrator.results.store_rows import PROVENANCE, VERSIONS, commit_flat, with_flat


def rows(truth: Truth) -> Iterator[dict[str, object]]:
    """The row of every trial: searches, finals and baselines of every block."""
    for block in truth.blocks:
        for loss in truth.strengths:
            search = Search(block=block, loss=loss, protocol="fixed", repeat=0)
            yield from _search_rows(truth, search)
            yield from _final_rows(truth, search)
        baseline = Search(block=block, loss="untrained", protocol="fixed", repeat=0)
        yield from _baseline_rows(truth, baseline, truth.untrained, truth.seeds)
    for block in truth.blocks:
        if block.embedding_dim == truth.embedding_dims[0]:
            whole = replace(block, embedding_dim=None)
            baseline = Search(block=whole, loss="features", protocol="fixed", repeat=0)
            yield from _baseline_rows(truth, baseline, truth.features, 1)


def num_rows(truth: Truth) -> int:
    cells = len(truth.blocks) * len(truth.strengths)
    baselines = len(truth.blocks) * truth.seeds + len(truth.scripts)
    return cells * (truth.search_trials + 2 * truth.seeds) + baselines


def _search_rows(truth: Truth, search: Search) -> Iterator[dict[str, object]]:
    """Trial 0 is the default, the last but one the winner; some are pruned, one diverges."""
    best = truth.search_trials - 2
    for index in range(truth.search_trials):
        gain = truth.tuning_gains[search.loss]
        added = 0.0 if index == 0 else gain if index == best else gain * (0.3 * (index % 3) - 0.4)
        state = "FAILED" if index == 3 else "PRUNED" if index % 3 == 2 else "COMPLETE"
        state = "COMPLETE" if index in (0, best) else state
        yield trial_row(
            truth,
            search,
            stage="search",
            index=index,
            config=f"config{index}",
            state=state,
            epochs={"COMPLETE": EPOCHS, "PRUNED": 2, "FAILED": 1}[state],
            added=added,
            seed_index=0,
            is_default=index == 0,
        )


def _final_rows(truth: Truth, search: Search) -> Iterator[dict[str, object]]:
    best = truth.search_trials - 2
    is_failed = (search.block.label, search.loss) in truth.failed_finals
    for config, added in (
        ("config0", 0.0),
        (f"config{best}", truth.tuning_gains[search.loss]),
    ):
        for seed_index in range(truth.seeds):
            is_winner = config != "config0"
            yield trial_row(
                truth,
                search,
                stage="final",
                index=seed_index,
                config=config,
                state="FAILED" if is_failed and is_winner else "COMPLETE",
                epochs=EPOCHS,
                added=added,
                seed_index=seed_index,
                is_default=not is_winner,
                is_winner=is_winner,
                selected_from=truth.search_trials,
            )


def _baseline_rows(
    truth: Truth, search: Search, recall: float, seeds: int
) -> Iterator[dict[str, object]]:
    for seed_index in range(seeds):
        yield trial_row(
            truth,
            search,
            stage="baseline",
            index=seed_index,
            config="none",
            state="COMPLETE",
            epochs=0,
            added=recall - truth.level(search.block),
            seed_index=seed_index,
        )


_written: dict[str, dict[str, bytes]] = {}  # arguments -> the files of that store


def write_store(
    folder: Path,
    truth: Truth,
    *,
    stages: tuple[str, ...] = ("search", "final", "baseline"),
    renamed: Mapping[str, str] | None = None,
    is_over: bool = True,
    change: Callable[[dict[str, object]], dict[str, object] | None] | None = None,
) -> Path:
    """A results folder of the study, through the store's own writer; returns the folder.

    Each search suggested trial 1 a second time, which is a duplicate. What was written once
    without a change is copied from then on.

    Args:
        folder: to write, which is not there.
        truth: what the study is made of.
        stages: only their trials are written.
        renamed: other names for losses, within the files only.
        is_over: whether rows are gathered, a file for each search; else each has its own.
        change: what becomes of a row; None leaves it out.
    """
    key = repr((truth, stages, renamed, is_over))
    if change is None and key in _written:
        for name, content in _written[key].items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder
    trials = [row for row in map(change or dict, rows(truth)) if row and row["stage"] in stages]
    _write(folder, truth, trials, renamed or {}, is_over)
    if change is None:
        files = [path for path in folder.rglob("*") if path.is_file()]
        _written[key] = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    return folder


def _write(
    folder: Path,
    truth: Truth,
    trials: list[dict[str, object]],
    renamed: Mapping[str, str],
    is_over: bool,
) -> None:
    paths = StudyPaths(folder)
    store = Store(study="synthetic", ks=KS, metrics=(RECALL,), hyperparameters={"margin": "float"})
    schema = store.schema
    study = resolved_dict(truth.study_file)
    study["losses"] = [renamed.get(loss, loss) for loss in study["losses"]]
    provenance: dict[str, object] = {**PROVENANCE, "git_dirty": False}
    provenance["spaces"] = _spaces(truth, study["losses"])
    if truth.dataset == "glyphs":  # of others nothing is known
        provenance["fairness"] = _fairness(truth, renamed)
    write_snapshot_files(paths, store, study=study, provenance=provenance)
    written = [{**row, "loss": renamed.get(str(row["loss"]), row["loss"])} for row in trials]
    if is_over:
        write_gathered(paths, schema, written)
    else:
        assert all(commit_flat(paths, schema, row) for row in written)
    asks = [ask for row in written if row["stage"] == "search" for ask in _asks(truth, row)]
    write_records(paths, sorted(asks, key=attrgetter("index")))


def write_gathered(
    paths: StudyPaths, schema: pa.Schema, rows: Iterable[Mapping[str, object]]
) -> None:
    """The rows of trials, in one file a search: far less to write and to open than one a row."""
    tables: dict[str, list[pa.Table]] = {}
    for row in rows:
        table = to_table(schema, with_flat(row, schema))
        tables.setdefault(str(row["search"]), []).append(table)
    for search, of_search in tables.items():
        whole = pa.concat_tables(of_search).combine_chunks()
        data, checksum = encode_many(whole)
        put_if_absent(paths.gathered_trials(search, whole.num_rows, checksum), data)


def change_snapshot(
    folder: Path,
    *,
    study: Mapping[str, object] | None = None,
    provenance: Mapping[str, object] | None = None,
    **rules: object,
) -> Path:
    """The store with another frozen study or provenance, or rules of its tournament."""
    paths = StudyPaths(folder)
    study = read_study(paths) if study is None else study
    write_snapshot_files(
        paths,
        read_store(paths),
        study={**study, "tournament": {**study["tournament"], **rules}},
        provenance=read_provenance(paths) if provenance is None else {**VERSIONS, **provenance},
    )
    return folder


def _spaces(truth: Truth, losses: list[str]) -> object:
    margin = {"kind": "real", "low": 0.0, "high": 0.1 * truth.search_trials, "log": False}
    space = {
        "blocks": sorted(str(block.label) for block in truth.blocks),
        "parameters": {"margin": {**margin, "step": None, "unit": ""}},
    }
    return {loss: [space] for loss in losses}


def _fairness(truth: Truth, renamed: Mapping[str, str]) -> object:
    record = json.dumps(asdict(fairness(truth.study_file)))
    for loss, other in renamed.items():
        record = record.replace(json.dumps(loss), json.dumps(other))
    return json.loads(record)


def _asks(truth: Truth, row: Mapping[str, object]) -> Iterator[Ask]:
    index = int(str(row["index"]))
    for suggestion in (index, truth.search_trials) if index == 1 else (index,):
        yield Ask(
            search=str(row["search"]),
            index=suggestion,
            trial_id=str(row["trial_id"]),
            config_hash=str(row["config_hash"]),
            hyperparameters={"margin": 0.1 * index},
            source="default" if index == 0 else "sampler",
        )
