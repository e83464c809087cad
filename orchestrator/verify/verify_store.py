"""Checks every file and every invariant of a results folder, and changes nothing.

It may run while the study runs. Accounts of runs are read before rows, rows before asks, and these
before attempts and artifacts, since they are written in the opposite order: so whatever is found
has what it refers to, even if it was written while others were read.
"""

from collections.abc import Callable, Container

from orchestrator.results.records.metric_columns import known_columns
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_metrics, read_schema, study_name
from orchestrator.results.storage.locations import Place
from orchestrator.study.study import Study
from orchestrator.verify.asks_and_attempts import (
    check_attempts,
    check_checkpoints,
    check_retried,
    read_sound_asks,
    read_sound_retried,
)
from orchestrator.verify.findings import Findings
from orchestrator.verify.folder_contents import check_contents
from orchestrator.verify.foreign_code import check_code
from orchestrator.verify.kept_artifacts import check_kept
from orchestrator.verify.recomputed_ids import (
    check_ask_ids,
    check_row_ids,
    maker_of,
    readable_datasets,
)
from orchestrator.verify.replayed_suggestions import check_replay
from orchestrator.verify.store_files import (
    check_leftovers,
    check_locks,
    known_runs,
    stored_provenance,
    stored_study,
)
from orchestrator.verify.stored_study import StoredStudy
from orchestrator.verify.stored_trials import StoredTrials
from orchestrator.verify.trial_row_rules import RowRules
from orchestrator.verify.trial_rows import read_trials
from orchestrator.verify.trials_of_study import (
    check_copies,
    check_groups,
    check_lost_rows,
    check_searches,
)


def verify_store(
    folder: Place, *, replay: bool = False, tell: Callable[[str], object] = lambda _: None
) -> Findings:
    """Everything that is wrong with a results folder, or worth a note.

    Args:
        folder: the results folder.
        replay: whether every suggestion is drawn again, too.
        tell: takes messages on what is being checked, to show progress.

    Raises:
        PodiumError: it is not a results folder, or one of another version of podium.
        CorruptFileError: store.json does not say which columns there are.
        StoreError: the store cannot be read.
    """
    paths, findings = StudyPaths(folder), Findings(tell=tell)
    if not check_contents(paths, findings):
        findings.note(paths.folder, "nothing else was checked: no command reads such a folder")
        return findings
    name = study_name(paths)
    check_locks(paths, findings)
    study = stored_study(paths, name, findings)
    provenance = stored_provenance(paths, name, findings)
    runs = known_runs(paths, findings)  # before the rows, which are committed before they count
    trials = _trials(paths, name, study, findings)
    asks = read_sound_asks(paths, findings)
    retried = read_sound_retried(paths, findings)
    if study is not None and trials is not None:
        stored = StoredStudy(
            paths=paths,
            study=study,
            provenance=provenance,
            runs=runs,
            trials=trials,
            asks=asks,
            retried=retried,
        )
        check_lost_rows(stored, findings)
        check_groups(trials, findings)
        check_code(stored, findings)
        check_copies(stored, findings)
        check_searches(stored, findings)
        check_retried(stored, findings)
        _check_recomputed(stored, findings, replay=replay)
    known: Container[str] = () if trials is None else trials
    every = (ask.trial_id for asked in asks.values() for ask in asked)
    open_trials = {trial_id for trial_id in every if trial_id not in known}
    if open_trials:
        findings.note(
            paths.asks,
            f"{len(open_trials)} trials were suggested and have no row: they are running, or the"
            " run was interrupted",
            "podium run continues with them",
        )
    if trials is not None:
        check_attempts(paths, trials, open_trials, findings)
        check_kept(paths, trials, study.keep if study else None, findings)
    check_checkpoints(paths, known, open_trials, findings)
    check_leftovers(paths, findings)
    return findings


def _trials(
    paths: StudyPaths, name: str, study: Study | None, findings: Findings
) -> StoredTrials | None:
    """Every row that can be read; None if it is not known which files count."""
    schema = read_schema(paths)
    store = read_metrics(paths)
    rules = RowRules(
        schema=schema,
        objective=store[0].name,
        primary_k=known_columns(schema.names)[1][0],
        tests_searches=study is None or study.tests_searches,
    )
    with findings.reading(paths.manifest):
        return read_trials(paths, name, schema, rules.violations, findings)
    return None


def _check_recomputed(stored: StoredStudy, findings: Findings, *, replay: bool) -> None:
    """Checks that need the study's data on this machine."""
    findings.tell("loading the data sets")
    datasets = readable_datasets(stored, findings)
    check_row_ids(stored, datasets, findings)
    maker = maker_of(stored, datasets, findings)
    if maker is None:
        return
    check_ask_ids(stored, maker, findings)
    if not replay:
        return
    if findings.problems:
        rule = "suggestions were not drawn again, since there are problems"
        findings.note(stored.paths.asks, rule)
        return
    check_replay(stored, maker, findings)
