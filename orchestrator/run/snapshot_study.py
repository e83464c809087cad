"""Writes the snapshot of a study at its first start; afterwards it may grow, but never change."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from podium.errors import CorruptFileError, PodiumError
from podium.orchestrator.results.records.metric_columns import StoredMetric
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import (
    Store,
    own_provenance,
    read_provenance,
    read_store,
    read_study,
    write_snapshot_files,
)
from podium.orchestrator.results.storage.files import list_folders
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.run.study_code import refuse_changed_code, write_study_code
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.configs import hyperparameter_types, space_of, unsearched_values
from podium.orchestrator.study.defaults import task_of
from podium.orchestrator.study.fairness import fairness
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.resolved_study import resolved_dict, space_dict
from podium.orchestrator.study.study import Study
from podium.orchestrator.study.study_changes import forbidden_changes
from podium.orchestrator.trials.provenance import provenance
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.dataset_interface.load_dataset import forget_datasets, load_dataset
from podium.trainables.network.pretraining import pretraining_note
from podium.trainables.tasks import METRICS, geometry_of


def check_startable(study: Study, paths: StudyPaths) -> None:
    """Refuse a results folder in which this study cannot run or resume. Changes nothing.

    The study has the code and warm starts that the folder records.

    Raises:
        PodiumError: the folder is this study's with other numbers, or with other code than there
            is now.
    """
    snapshot = read_study(paths)
    if snapshot is None:
        if list_folders(paths.journals) or list_folders(paths.trials):  # written later
            raise CorruptFileError(
                f"{paths.study} is missing, although the study has trials. Restore the file from"
                " a copy"
            )
        return
    own_provenance(paths)
    if changes := forbidden_changes(snapshot, resolved_dict(study)):
        lines = "\n".join(f"  {change}" for change in changes)
        raise PodiumError(
            f"{paths.folder} holds results of this study as it was before it was changed; a study "
            "may grow (more trials, losses, seeds, blocks) but not change what its numbers mean:\n"
            f"{lines}\nGive the changed study a new name, or undo the change."
        )
    refuse_changed_code(study, paths)


def changed_data(paths: StudyPaths, datasets: Mapping[str, Dataset]) -> list[str]:
    """What of these data sets is another than when the study began: ``the labels of ...``."""
    began: Mapping[str, Mapping[str, str]] = (read_provenance(paths) or {}).get("data", {})
    changed: list[str] = []
    for label, dataset in datasets.items():
        before = began.get(label, dataset.hashes)
        parts = (
            it for it in {**before, **dataset.hashes} if before.get(it) != dataset.hashes.get(it)
        )
        if named := " and the ".join(parts):
            changed.append(f"the {named} of the data set {label}")
    return changed


def load_datasets(study: Study, paths: StudyPaths) -> dict[str, Dataset]:
    """The data sets of a study by label, which must be those that it began with.

    Raises:
        PodiumError: naming each that is another now, and what of it changed.
        TrialInputError: one is not there, or not as it should be.
    """
    forget_datasets()
    datasets = {item.label: load_dataset(item, None) for item in study.datasets}
    if changed := changed_data(paths, datasets):
        raise PodiumError(
            f"{'; '.join(changed)} changed since this study started: old and new trials cannot be"
            " compared. Restore what was there, or give the study a new name"
        )
    return datasets


def write_snapshot(study: Study, paths: StudyPaths, datasets: Mapping[str, Dataset]) -> None:
    """Write the snapshot into the results folder, or update it with what the study has grown by.

    It includes hashes of the data, what losses share and what they do not, the search spaces and
    the kinds of losses: recipes and spaces may have changed by the time that results are read.
    """
    resolved: Mapping[str, Any] = resolved_dict(study)
    snapshot = read_study(paths)
    if snapshot == resolved:
        return
    store = Store(
        study=study.name,
        ks=study.ks,
        metrics=tuple(StoredMetric(*metric) for metric in METRICS[task_of(study)]),
        hyperparameters=hyperparameter_types(study),
    )
    has_new_columns = snapshot is not None and read_store(paths) != store
    code = write_study_code(study, paths)
    geometries = {loss: geometry_of(facts_of(loss).needs) for loss in study.loss_names}
    lifted = {loss: geometry for loss, geometry in geometries.items() if geometry != "cosine"}
    origin = {
        **provenance(),
        **({"code": code} if code else {}),
        **({"geometries": lifted} if lifted else {}),
        "fairness": asdict(fairness(study)),
        "spaces": space_record(study),
        "networks": {
            it.name: pretraining_note(it, (dataset.name for dataset in study.datasets))
            for it in study.backbones
        },
        "loss_kinds": {loss: facts_of(loss).kind for loss in study.loss_names},
        "data": {label: dict(dataset.hashes) for label, dataset in datasets.items()},
    }
    write_snapshot_files(paths, store, study=resolved, provenance=origin)
    if has_new_columns:
        gather_all(paths)  # all get the new columns, so that plain polars reads them together


def space_record(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Loss -> its spaces, each with the ``blocks`` it is searched in and its ``parameters``.

    Raises:
        TrialInputError: a data set, network or loss is unknown.
    """
    return {loss: _spaces(study, loss) for loss in study.loss_names}


def _spaces(study: Study, loss: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for block in blocks(study):
        parameters = space_dict(space_of(study, loss, unsearched_values(study, block, loss)))
        equal = next((item for item in found if item["parameters"] == parameters), None)
        if equal is None:
            found.append({"blocks": [block.label], "parameters": parameters})
        else:
            equal["blocks"].append(block.label)
    return found
