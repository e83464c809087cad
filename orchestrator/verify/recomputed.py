"""Recomputes what needs a study's data and code: ids, splits and protocols, and suggestions.

No code of others is imported: hashes are recomputed from copies.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import polars as pl

from orchestrator.ids_and_seeds import NUMERICS_VERSION, id_under, trial_id
from orchestrator.results.records.asks import Ask
from orchestrator.results.records.journal import read_asks
from orchestrator.results.records.retried import RetriedFailure
from orchestrator.results.records.runs import Run
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.resume_study import search_run
from orchestrator.scheduling.committed_outcomes import search_outcomes
from orchestrator.scheduling.running_search import SearchRun
from orchestrator.search_samplers.suggester import Outcome
from orchestrator.study.blocks import searches
from orchestrator.study.budget import with_trials_per_search
from orchestrator.study.foreign_code import code_of_trial, read_copies
from orchestrator.study.study import Study
from orchestrator.trials.specification_maker import TrialSpecMaker
from orchestrator.verify.findings import WRONG_VALUES, Findings
from orchestrator.verify.trial_rows import RowCheck
from trainables.dataset_interface.class_splits import make_split, protocol_hash
from trainables.dataset_interface.dataset import Dataset
from trainables.dataset_interface.load_dataset import load_dataset
from trainables.errors import TrialInputError
from trainables.settings.trial_settings import ProtocolSettings, TrialSettings

# These do not use outcomes, so it does not matter which of them a suggestion had seen.
_WITHOUT_OUTCOMES = ("random", "grid", "qmc")
# No sampler learns from the epochs of a failed trial.
_FAILED = Outcome(state="FAILED", objective=None, path=(), selected_epoch=None, seconds=0.0)


def readable_datasets(paths: StudyPaths, study: Study, findings: Findings) -> dict[str, Dataset]:
    """The data sets of a study that are on this machine, by label."""
    found = {}
    findings.tell("loading the data sets")
    for settings in study.datasets:
        with findings.reading(paths.study, *WRONG_VALUES):
            try:
                found[settings.label] = load_dataset(settings, None)
            except (TrialInputError, OSError) as error:
                where = f"data set {settings.label} is not on this machine"
                findings.note(paths.study, f"{where}, so its ids were not recomputed: {error}")
    return found


def check_code(
    paths: StudyPaths, study: Study, provenance: Mapping[str, Any], findings: Findings
) -> None:
    """Copies of code are as they were recorded."""
    told = provenance.get("code", {})
    for path, fingerprint in study.code.items():
        with findings.reading(paths.provenance):
            recorded = told.get(path, {}).get("fingerprint")
            if recorded != fingerprint:
                rule = f"the code of {path} must have the SHA-256 {fingerprint} of the study"
                findings.problem(paths.provenance, rule, recorded)
            else:
                findings.checked["copies of code"] += len(read_copies(paths, told[path]))


def row_check(
    paths: StudyPaths,
    study: Study,
    numerics: object,
    datasets: Mapping[str, Dataset],
    findings: Findings,
) -> RowCheck:
    """The check of a row's code, ids, splits and protocols.

    Args:
        paths: the results folder.
        study: the study as it is stored.
        numerics: version of the numerics of its trials; that of none other is recomputed.
        datasets: data sets that are here, by label.
        findings: collects problems and notes.
    """
    if numerics != NUMERICS_VERSION:
        findings.note(
            paths.provenance,
            f"trials are of version {numerics} of the numerics, not {NUMERICS_VERSION}: their ids"
            " were not recomputed",
        )
        datasets = {}

    @cache
    def split(label: str, protocol: ProtocolSettings, fold: int, draw: str) -> str:
        return make_split(datasets[label].train_class_names, protocol, fold, draw).hash

    @cache
    def split_identity(label: str, protocol: ProtocolSettings) -> str:
        return protocol_hash(datasets[label].train_class_names, protocol)

    def check(row: Mapping[str, Any], settings: TrialSettings) -> Iterator[tuple[str, object]]:
        code = code_of_trial(study.code, settings.loss, settings.backbone.name)
        if dict(settings.code) != code:
            yield f"must be of the study's code, {code}", dict(settings.code)
        label, protocol = row["dataset"], settings.protocol
        if label not in datasets or datasets[label].test_hash != row["test_hash"]:
            return
        identity = trial_id(
            settings,
            dataset=datasets[label].fingerprint,
            splits=row["split_hash"].split("+"),
            weights=row["weights"],
        )
        if row["stage"] == "search" and row["protocol"] != study.protocols[0].label:
            identity = id_under(identity, row["protocol"])
        splits = [split(label, protocol, fold, settings.draw) for fold in settings.folds]
        expected = {
            "trial_id" if row["same_as"] is None else "same_as": identity,
            "split_hash": "+".join(splits),
            "protocol_hash": split_identity(label, protocol),
        }
        for name, value in expected.items():
            if row[name] != value:
                yield f"{name} must be {value}, recomputed", row[name]
        findings.checked["ids recomputed"] += 1

    return check


def maker_of(
    paths: StudyPaths,
    study: Study,
    datasets: Mapping[str, Dataset],
    rows: pl.DataFrame,
    findings: Findings,
) -> TrialSpecMaker | None:
    """Makes the specifications of the study again; None if data or weights are not here."""
    hashes = {label: dataset.test_hash for label, dataset in datasets.items()}
    tested = rows.select("dataset", "test_hash").unique().sort("dataset").iter_rows()
    others = {label for label, test_hash in tested if hashes.get(label, test_hash) != test_hash}
    for label in sorted(others):
        findings.problem(
            paths.study,
            f"data set {label} must have the test images of its trials",
            hashes[label],
            "Restore the data; podium run refuses to continue with different data",
        )
    if others or len(datasets) < len(study.datasets):
        return None
    with findings.reading(paths.study, *WRONG_VALUES):
        try:
            return TrialSpecMaker(with_trials_per_search(study), datasets)
        except TrialInputError as error:
            rule = f"weights are not on this machine, so asks were not recomputed: {error}"
            findings.note(paths.study, rule)
    return None


def check_replay(
    paths: StudyPaths,
    study: Study,
    runs: Sequence[Run],
    retried: Mapping[str, Sequence[RetriedFailure]],
    maker: TrialSpecMaker,
    findings: Findings,
) -> None:
    """Every search, drawn again from its outcomes.

    In asynchronous order the store does not say which outcomes a suggestion had seen. So only
    samplers that use none can be drawn again there. What was suggested before a trial was retried
    saw its failure, and not the outcome that it has now.
    """
    study = with_trials_per_search(study)
    reason = None
    if findings.problems:
        reason = "there are problems"
    elif study.search.order != "deterministic" and study.search.sampler not in _WITHOUT_OUTCOMES:
        reason = (
            f"in asynchronous order what {study.search.sampler} suggests follows from which trials"
            " had ended by then, which is not stored"
        )
    elif {run.trials_per_search for run in runs} - {study.search.trials}:
        reason = "the searches had a different number of trials when they began"
    if reason is not None:
        findings.note(paths.journals, f"suggestions were not drawn again: {reason}")
        return
    reader = Reader(paths.folder)
    outcomes = search_outcomes(reader.decisions(), study.ks[0], reader.objective)
    for number, search in enumerate(planned := searches(study), start=1):
        findings.tell(f"replaying search {number} of {len(planned)}")
        asks = read_asks(paths, [search.id]).get(search.id, [])
        start = partial(search_run, study, search, maker)
        findings.checked["searches replayed"] += bool(asks)
        for ask, drawn in _replayed(start, asks, outcomes.get(search.id, {}), retried):
            if drawn != ask:
                findings.problem(
                    paths.journal_folder(search.id),
                    f"suggestion {ask.index}, drawn again from the outcomes before it, must be the"
                    f" same; now it is {dict(drawn.hyperparameters)}",
                    dict(ask.hyperparameters),
                    "Later suggestions of the search were not compared",
                )
                break


def _replayed(
    start: Callable[[], SearchRun],
    stored: Sequence[Ask],
    outcomes: Mapping[str, Outcome],
    retried: Mapping[str, Sequence[RetriedFailure]],
) -> Iterator[tuple[Ask, Ask]]:
    """Each suggestion of a search and what is drawn now, in parts that saw the same outcomes."""
    failures = {ask.trial_id: retried.get(ask.trial_id, ()) for ask in stored}
    changes = {failure.asks for them in failures.values() for failure in them}
    starts = sorted({0, *(index for index in changes if index < len(stored))})
    for first, end in zip(starts, [*starts[1:], len(stored)], strict=True):
        # What each trial was when suggestion ``first`` was made, if it had ended by then.
        seen = {
            trial_id: _FAILED if any(it.asks > first for it in them) else outcomes[trial_id]
            for trial_id, them in failures.items()
            if trial_id in outcomes or any(it.asks > first for it in them)
        }
        run = start()
        run.restore(stored[:first], seen)
        for ask in stored[first:end]:
            yield ask, run.suggest()[0]
            if ask.trial_id in seen:
                run.finish(ask.trial_id, seen[ask.trial_id])
