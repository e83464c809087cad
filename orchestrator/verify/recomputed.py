"""Recomputes what follows from settings, data and code: columns and ids.

No code of others is imported: hashes are recomputed from copies.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa
from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from orchestrator.ids_and_seeds import config_hash, copy_id, id_under, trial_id
from orchestrator.results.records.json_records import STRICT
from orchestrator.run.resume_study import changed_inputs, check_ask, check_suggestions
from orchestrator.study.foreign_code import code_of_trial
from orchestrator.study.study import Study
from orchestrator.trials.recorder import hyperparameter_columns, selection_rule
from orchestrator.trials.specification_maker import TrialSpecMaker
from orchestrator.verify.findings import Findings
from orchestrator.verify.trials_of_study import Results
from trainables.dataset_interface.class_splits import make_split, protocol_hash
from trainables.dataset_interface.dataset import Dataset
from trainables.errors import TrialInputError
from trainables.settings.trial_settings import ProtocolSettings, TrialSettings

# Checks types alone: what pydantic makes of the values may have another hash, as 1.0 has than 1.
_SETTINGS = TypeAdapter(dataclass(TrialSettings, frozen=True, config=STRICT))


class SettingsCheck:
    """Compares rows with what follows from the settings that they hold.

    Args:
        study: the study as it is stored.
        schema: schema of its trial files.
        datasets: the data sets whose ids are recomputed, by label.
        findings: collects problems.
    """

    def __init__(
        self, study: Study, schema: pa.Schema, datasets: Mapping[str, Dataset], findings: Findings
    ) -> None:
        self._study, self._schema, self._datasets = study, schema, datasets
        self._findings = findings
        self._split = cache(self._new_split)

    def __call__(self, rows: pl.DataFrame) -> None:
        """Each value that does not follow from the settings of its row is a problem."""
        for row in rows.select(~cs.nested()).iter_rows(named=True):
            for broken in self._broken(row):
                self._findings.problem(row["file"], f"trial {row['trial_id']}: {broken}")

    def _broken(self, row: Mapping[str, Any]) -> Iterator[str]:
        try:
            _SETTINGS.validate_json(row["settings"])
        except ValidationError as error:
            yield f"settings must be JSON of a trial: {error.errors()[0]['msg']}"
            return
        settings = TrialSettings.from_dict(json.loads(row["settings"]))
        expected = _columns(settings, row, self._schema)
        try:
            code = code_of_trial(self._study.code, settings.loss, settings.backbone.name)
            if settings.code != code:
                yield f"must be of the study's code, {code}; it is of {dict(settings.code)}"
            expected |= self._ids(settings, row)
        except TrialInputError as error:
            yield f"settings must fit their data: {error}"
        for name, value in expected.items():
            if row[name] != value:
                yield f"{name} must be {value!r}, by the settings; it is {row[name]!r}"

    def _ids(self, settings: TrialSettings, row: Mapping[str, Any]) -> dict[str, object]:
        """The hashes of a row; none if its data are not here."""
        label, protocol = settings.dataset.label, settings.protocol
        dataset = self._datasets.get(label)
        if dataset is None or dataset.test_hash != row["test_hash"]:
            return {}
        self._findings.checked["ids recomputed"] += 1
        splits = [self._split(label, protocol, fold, settings.draw) for fold in settings.folds]
        identity = trial_id(
            settings, dataset=dataset.fingerprint, splits=splits, weights=row["weights"]
        )
        if row["stage"] == "search" and row["protocol"] != self._study.protocols[0].label:
            identity = id_under(identity, row["protocol"])
        return {
            "trial_id" if row["same_as"] is None else "same_as": identity,
            "split_hash": "+".join(splits),
            "protocol_hash": protocol_hash(dataset.train_class_names, protocol),
        }

    def _new_split(self, label: str, protocol: ProtocolSettings, fold: int, draw: str) -> str:
        return make_split(self._datasets[label].train_class_names, protocol, fold, draw).hash


def _columns(
    settings: TrialSettings, row: Mapping[str, Any], schema: pa.Schema
) -> dict[str, object]:
    """Columns that follow from the settings of a trial alone."""
    original = row["same_as"]
    return {
        "trial_id": row["trial_id"] if original is None else copy_id(original, row["search"]),
        "config_hash": config_hash(settings.hyperparameters),
        "loss": settings.loss,
        "backbone": settings.backbone.name,
        "dataset": settings.dataset.label,
        "embedding_dim": settings.embedding_dim,
        "image_size": settings.image_size,
        "seed": settings.seed,
        "split_protocol": settings.protocol.kind,
        "num_folds": settings.protocol.num_folds,
        "fold": settings.folds[0] if len(settings.folds) == 1 else None,
        "selection_rule": selection_rule(settings.protocol),
        **hyperparameter_columns(schema, settings.hyperparameters),
    }


def check_asks(results: Results, datasets: Mapping[str, Dataset], findings: Findings) -> None:
    """Every trial of a search has its ask, and every ask is of this study.

    Args:
        results: the results.
        datasets: data sets of the study that are here, by label.
        findings: collects problems and notes.

    Raises:
        CorruptFileError: an ask is missing, was changed, or is of another study.
    """
    paths, study, rows = results.paths, results.study, results.rows
    check_suggestions(paths, results.asks, rows)
    if len(datasets) < len(study.datasets):
        return
    try:
        changed, maker = changed_inputs(rows, study, datasets), TrialSpecMaker(study, datasets)
    except TrialInputError as error:
        findings.note(f"weights are not on this machine, so asks were not recomputed: {error}")
        return
    for what in changed:
        findings.problem(paths.study, f"{what} must be what its trials began with")
    for search_id, search in () if changed else results.planned.items():
        for ask in results.asks.get(search_id, ()):
            findings.checked["ids recomputed"] += 1
            check_ask(paths, search, ask, maker)
