"""Makes every trial of a study again, from its place and its suggestion, and compares the rows.

No code of others is imported: hashes are recomputed from copies.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from orchestrator.results.records.asks import Ask
from orchestrator.results.records.study_snapshot import read_schema
from orchestrator.run.resume_study import changed_inputs, check_ask, check_suggestions
from orchestrator.study.blocks import blocks, searches
from orchestrator.trials.recorder import hyperparameter_columns, selection_rule
from orchestrator.trials.specification import Finalist, TrialSpec
from orchestrator.trials.specification_maker import TrialSpecMaker
from orchestrator.verify.findings import Findings
from orchestrator.verify.trials_of_study import Results
from trainables.dataset_interface.dataset import Dataset
from trainables.errors import TrialInputError

# Settings that say where a trial ran, and where its files were; hashes of these are compared.
_PLACES = ("num_threads", "cache_folder", "dataset", "backbone", "protocol")
# Columns of finals that depend on how large the study was when they were planned.
_OF_SIZE = ("index", "selected_from")


def check_identities(
    results: Results, datasets: Mapping[str, Dataset], findings: Findings
) -> None:
    """Every suggestion and every row is of a trial of the study, as far as its data are here.

    Args:
        results: the results.
        datasets: data sets of the study that are here, by label.
        findings: collects problems and notes.

    Raises:
        CorruptFileError: an ask is missing, was changed, or is of another study.
    """
    paths, study, _, rows, journals = results
    asks = {search: journal.asks for search, journal in journals.items() if journal.asks}
    check_suggestions(paths, asks, rows)
    try:
        changed, maker = changed_inputs(rows, study, datasets), TrialSpecMaker(study, datasets)
    except TrialInputError as error:
        findings.note(f"weights are not on this machine, so no id was recomputed: {error}")
        return
    for what in changed:
        findings.problem(paths.study, f"{what} must be what its trials began with")
    if changed:
        return
    planned = {it.id: it for it in searches(study) if it.block.dataset in datasets}
    known: dict[tuple[str, str], Ask] = {}
    for ask in (ask for search in planned for ask in asks.get(search, ())):
        findings.checked["ids recomputed"] += 1
        check_ask(paths, planned[ask.search], ask, maker)
        known.setdefault((ask.search, ask.trial_id), ask)
        known.setdefault((ask.search, ask.config_hash), ask)
    of_blocks = (maker.baseline_trials(it) for it in blocks(study) if it.dataset in datasets)
    baselines = {spec.trial_id: spec for specs in of_blocks for spec in specs}

    def made(row: Mapping[str, Any], settings: Mapping[str, Any]) -> TrialSpec | None:
        is_final = row["stage"] == "final"
        ask = known.get((row["search"], row["config_hash" if is_final else "trial_id"]))
        if ask is None:
            return baselines.get(row["trial_id"])
        search, config = planned[ask.search], ask.hyperparameters
        if not is_final:
            return maker.search_trial(search, ask.index, config)
        finalist = Finalist(
            config=config,
            is_default=ask.index == 0,
            is_winner=row["is_winner"],
            selected_epoch=settings.get("stop_epoch"),
        )
        spec = maker.final_trial(search, finalist, row["train_on"], row["seed_index"], row["fold"])
        return spec.copy(trained_for="") if row["same_as"] else spec

    schema = read_schema(paths)
    for row in rows.filter(pl.col("dataset").is_in(list(datasets))).iter_rows(named=True):
        findings.checked["ids recomputed"] += 1
        settings = _settings(row["settings"])
        for broken in _differences(row, settings, made(row, settings), schema):
            findings.problem(row["file"], f"trial {row['trial_id']}: {broken}")


def _settings(text: str) -> dict[str, Any]:
    """What the settings of a row hold; nothing if they are no JSON of a trial."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _differences(
    row: Mapping[str, Any], settings: Mapping[str, Any], spec: TrialSpec | None, schema: pa.Schema
) -> Iterator[str]:
    """What a row has otherwise than the trial that the study makes in its place."""
    if spec is None:
        yield "must be of a trial that the study has"
        return
    columns = spec.identity_columns(row["study"])
    expected = json.loads(str(columns.pop("settings")))
    expected |= {name: settings.get(name) for name in _PLACES}
    if json.dumps(settings, sort_keys=True) != json.dumps(expected, sort_keys=True):
        yield "settings must be those that the study gives to this trial"
    columns |= hyperparameter_columns(schema, spec.settings.hyperparameters)
    columns["selection_rule"] = selection_rule(spec.settings.protocol)
    for name, value in columns.items():
        if row[name] != value and not (spec.stage == "final" and name in _OF_SIZE):
            yield f"{name} must be {value!r}, by the study; it is {row[name]!r}"
