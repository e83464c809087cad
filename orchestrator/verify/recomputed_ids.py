"""Recomputes the hashes that need a study's data: trial ids, splits and protocols."""

from collections.abc import Mapping
from functools import cache

import polars as pl

from orchestrator.ids_and_seeds import NUMERICS_VERSION, id_under, trial_id
from orchestrator.results.records.asks import file_of_ask
from orchestrator.study.blocks import searches
from orchestrator.study.budget import with_trials_per_search
from orchestrator.trials.specification_maker import TrialSpecMaker
from orchestrator.verify.findings import Findings
from orchestrator.verify.stored_study import StoredStudy
from orchestrator.verify.trial_row_rules import settings_of
from trainables.dataset_interface.class_splits import make_split, protocol_hash
from trainables.dataset_interface.dataset import Dataset
from trainables.dataset_interface.load_dataset import load_dataset
from trainables.errors import TrialInputError
from trainables.settings.trial_settings import ProtocolSettings


def readable_datasets(stored: StoredStudy, findings: Findings) -> dict[str, Dataset]:
    """The data sets of a study that are here, and are those of its trials, by label."""
    found: dict[str, Dataset] = {}
    for settings in stored.study.datasets:
        label = settings.label
        try:
            dataset = load_dataset(settings, None)
        except (TrialInputError, OSError) as error:
            findings.note(
                stored.paths.study,
                f"data set {label} is not on this machine, so its ids were not recomputed:"
                f" {error}",
            )
            continue
        of_dataset = stored.trials.frame.filter(pl.col("dataset") == label)
        if set(of_dataset["test_hash"].unique()) - {dataset.test_hash}:
            findings.problem(
                stored.paths.study,
                f"data set {label} must have the test images of its trials",
                dataset.test_hash,
                "Restore the data; podium run refuses to continue with different data",
            )
            continue
        found[label] = dataset
    return found


def maker_of(
    stored: StoredStudy, datasets: Mapping[str, Dataset], findings: Findings
) -> TrialSpecMaker | None:
    """Makes the specifications of the study again; None if data or weights are not here."""
    if len(datasets) < len(stored.study.datasets):
        return None
    try:
        return TrialSpecMaker(with_trials_per_search(stored.study), datasets)
    except TrialInputError as error:
        rule = f"weights are not on this machine, so asks were not recomputed: {error}"
        findings.note(stored.paths.study, rule)
        return None


def check_row_ids(
    stored: StoredStudy, datasets: Mapping[str, Dataset], findings: Findings
) -> None:
    """Trial ids, splits and protocols, recomputed from the settings in each row.

    Args:
        stored: the results folder.
        datasets: data sets that are here, by label.
        findings: collects problems and notes.
    """
    numerics = stored.provenance.get("numerics_version")
    if numerics != NUMERICS_VERSION:
        findings.note(
            stored.paths.provenance,
            f"trials are of version {numerics} of the numerics, not {NUMERICS_VERSION}: their ids"
            " were not recomputed",
        )
        return

    @cache
    def split(label: str, protocol: ProtocolSettings, fold: int, draw: str) -> str:
        return make_split(datasets[label].train_class_names, protocol, fold, draw).hash

    @cache
    def split_identity(label: str, protocol: ProtocolSettings) -> str:
        return protocol_hash(datasets[label].train_class_names, protocol)

    first = stored.study.protocols[0].label
    for trial, text in stored.trials.with_settings():
        row, settings = trial.row, settings_of(text)
        own_id, label = row["trial_id"], row["dataset"]
        if settings is None or label not in datasets:
            continue
        splits = [split(label, settings.protocol, fold, settings.draw) for fold in settings.folds]
        identity = trial_id(
            settings,
            dataset=datasets[label].fingerprint,
            splits=row["split_hash"].split("+"),
            weights=row["weights"],
        )
        if row["stage"] == "search" and row["protocol"] != first:
            identity = id_under(identity, row["protocol"])
        expected = {
            "trial_id": identity if row["same_as"] is None else own_id,
            "same_as": None if row["same_as"] is None else identity,
            "split_hash": "+".join(splits),
            "protocol_hash": split_identity(label, settings.protocol),
        }
        for name, value in expected.items():
            if row[name] != value:
                rule = f"trial {own_id}: {name} must be {value}, recomputed"
                findings.problem(trial.file, rule, row[name])
        findings.checked["ids recomputed"] += 1


def check_ask_ids(stored: StoredStudy, maker: TrialSpecMaker, findings: Findings) -> None:
    """The trial id of each ask, recomputed from its config."""
    planned = {search.id: search for search in searches(stored.study)}
    for search_id, of_search in stored.asks.items():
        if search_id not in planned:
            continue
        for ask in of_search:
            spec = maker.search_trial(planned[search_id], ask.index, ask.hyperparameters)
            findings.checked["ids recomputed"] += 1
            if spec.trial_id != ask.trial_id:
                findings.problem(
                    file_of_ask(stored.paths, search_id, ask.index),
                    f"its config is trial {spec.trial_id} of this study: the file is of another",
                    ask.trial_id,
                )
