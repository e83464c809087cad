"""Checks every file and every invariant of a results folder, and changes nothing.

It may run while the study runs. Rows are read before asks, and these before attempts and
artifacts, since they are written in the opposite order: so whatever is found has what it refers
to, even if it was written while others were read.
"""

from collections.abc import Callable, Mapping, Sequence

from orchestrator.results.records.asks import Ask
from orchestrator.results.records.metric_columns import known_columns
from orchestrator.results.records.runs import Run
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import (
    MERGED_FROM,
    read_metrics,
    read_schema,
    study_name,
)
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader
from orchestrator.scheduling.committed_outcomes import search_outcomes
from orchestrator.study.blocks import searches
from orchestrator.study.budget import with_trials_per_search
from orchestrator.study.study import Study
from orchestrator.verify.asks_and_attempts import (
    check_attempts,
    check_checkpoints,
    read_sound_asks,
)
from orchestrator.verify.findings import Finding, Findings
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
from orchestrator.verify.retried_failures import Retried, check_retried, read_sound_retried
from orchestrator.verify.store_files import (
    check_leftovers,
    check_lock,
    known_runs,
    stored_provenance,
    stored_study,
)
from orchestrator.verify.trial_row_rules import RowRules
from orchestrator.verify.trial_rows import StoredTrial, read_trials
from orchestrator.verify.trials_of_study import check_copies, check_groups, check_searches

__all__ = ["Finding", "Findings", "verify_store"]


def verify_store(
    folder: Place, *, replay: bool = False, tell: Callable[[str], object] = lambda _: None
) -> Findings:
    """Everything that is wrong with a results folder, or worth a note.

    Args:
        folder: the results folder.
        replay: whether every suggestion is drawn again, too.
        tell: takes messages on what is being checked, to show progress.

    Raises:
        PodiumError: it is no results folder, or one of another version of podium.
        CorruptFileError: store.json does not say which columns there are.
        StoreError: the store cannot be read.
    """
    paths, findings = StudyPaths(folder), Findings(tell=tell)
    if not check_contents(paths, findings):
        findings.note(paths.folder, "nothing else was checked: no command reads such a folder")
        return findings
    name = study_name(paths)
    check_lock(paths, findings)
    study = stored_study(paths, name, findings)
    provenance = stored_provenance(paths, name, findings)
    trials = _trials(paths, name, study, findings)
    asks = read_sound_asks(paths, findings)
    retried = read_sound_retried(paths, findings)
    if study is not None and trials is not None:
        runs = known_runs(paths, findings)
        check_groups(trials, findings)
        check_code(study, trials, paths, findings)
        check_copies(trials, findings, is_merged=MERGED_FROM in provenance)
        check_searches(trials, asks, _budgets(study, runs), retried, paths, findings)
        check_retried(paths, retried, trials, asks, findings)
        _check_recomputed(
            paths, study, provenance, trials, asks, retried, runs, findings, replay=replay
        )
    known = trials or {}
    open_trials = {ask.trial_id for asked in asks.values() for ask in asked} - known.keys()
    if open_trials:
        findings.note(
            paths.asks,
            f"{len(open_trials)} trials were suggested and have no row: they are running, or the"
            " run was interrupted",
            "podium run continues with them",
        )
    if trials is not None:
        check_attempts(paths, known, open_trials, findings)
        check_kept(paths, known, study.keep if study else None, findings)
    check_checkpoints(paths, known, open_trials, findings)
    check_leftovers(paths, findings)
    return findings


def _trials(
    paths: StudyPaths, name: str, study: Study | None, findings: Findings
) -> Mapping[str, StoredTrial] | None:
    """Trial id -> every row that can be read; None if it is not known which files count."""
    schema = read_schema(paths)
    store = read_metrics(paths)
    rules = RowRules(
        schema=schema,
        objective=store[0].name,
        primary_k=known_columns(schema.names)[1][0],
        tests_searches=study is None or study.quarantine == "record",
    )
    with findings.reading(paths.manifest):
        return read_trials(paths, name, schema, rules.violations, findings)
    return None


def _budgets(study: Study, runs: Sequence[Run]) -> dict[str, int]:
    """Most trials that each search may have had, under any run's budget."""
    most = max(
        [with_trials_per_search(study).search.trials, *(run.trials_per_search for run in runs)]
    )
    return {search.id: most for search in searches(study)}


def _check_recomputed(
    paths: StudyPaths,
    study: Study,
    provenance: Mapping[str, object],
    trials: Mapping[str, StoredTrial],
    asks: Mapping[str, Sequence[Ask]],
    retried: Retried,
    runs: Sequence[Run],
    findings: Findings,
    *,
    replay: bool,
) -> None:
    """Checks that need the study's data on this machine."""
    findings.tell("loading the data sets")
    datasets = readable_datasets(study, paths, trials, findings)
    numerics = provenance.get("numerics_version")
    check_row_ids(study, trials, datasets, numerics, paths, findings)
    own = with_trials_per_search(study)
    maker = maker_of(own, datasets, paths, findings)
    if maker is None:
        return
    check_ask_ids(own, asks, maker, paths, findings)
    if not replay:
        return
    if findings.problems:
        findings.note(paths.asks, "suggestions were not drawn again, since there are problems")
        return
    decisions = Reader(paths.folder).decisions()
    outcomes = search_outcomes(decisions, study.ks[0], Reader(paths.folder).objective)
    before = [run.trials_per_search for run in runs]
    check_replay(own, asks, outcomes, retried, maker, before, paths, findings)
