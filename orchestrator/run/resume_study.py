"""Rebuilds what a study has left to do, and its searches, from the results folder alone.

It also refuses a folder whose suggestions or inputs (weights) are not those of the study.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial

import polars as pl

from podium.errors import CorruptFileError, PodiumError
from podium.orchestrator.ids_and_seeds import config_hash, seed_for
from podium.orchestrator.results.records.journal import SearchJournal, retried_failures
from podium.orchestrator.results.records.journal_records import Ask, Attempt, RetriedFailure
from podium.orchestrator.results.records.runs import ended_searches, read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.scheduling.budget_shares import BudgetShares
from podium.orchestrator.scheduling.early_stopping import EarlyStopper
from podium.orchestrator.scheduling.final_stage import FinalStage
from podium.orchestrator.scheduling.running_search import SearchRun
from podium.orchestrator.scheduling.running_trial import Earlier
from podium.orchestrator.scheduling.trial_queues import StudyQueues
from podium.orchestrator.search_samplers.make_sampler import make_suggester
from podium.orchestrator.search_samplers.suggester import NoSuggester, Outcome, Suggester
from podium.orchestrator.study.blocks import protocol_of, searches, with_trials_per_search
from podium.orchestrator.study.configs import first_configs, loss_training, search_task
from podium.orchestrator.study.study import Search, Study
from podium.orchestrator.trials.history import mean_epoch, running_best, selected_epochs
from podium.orchestrator.trials.specification import TrialSpec
from podium.orchestrator.trials.specification_maker import TrialSpecMaker
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.network.initial_weights import weights_fingerprint


def rebuilt_queues(
    study: Study,
    paths: StudyPaths,
    reader: Reader,
    datasets: Mapping[str, Dataset],
    budget_shares: BudgetShares | None,
    journals: Mapping[str, SearchJournal],
) -> StudyQueues:
    """The work that is left, from what the store holds.

    Raises:
        CorruptFileError: suggestions are missing or of another study.
        PodiumError: weights are not those of the committed trials.
    """
    study = with_trials_per_search(study)
    maker = TrialSpecMaker(study, datasets)
    planned = searches(study)
    decisions = reader.ended_trials()
    if changed := changed_weights(decisions, study):
        raise PodiumError(
            f"{' and '.join(changed)} changed since this study started: old and new "
            "trials cannot be compared. Restore what was there, or give the study a new name"
        )
    blocks = sorted({search.block for search in planned})
    asks = {search: journal.asks for search, journal in journals.items() if journal.asks}
    retried = retried_failures(journals)
    open_asks = check_suggestions(paths, asks, decisions)
    for search in planned:
        for ask in open_asks.get(search.id, ()):
            check_ask(paths, search, ask, maker)
    ended_early = ended_searches(read_runs(paths), asdict(study.budget))
    finished = _finished(asks, open_asks, study.search.trials, ended_early)
    committed = _committed_finals(decisions)
    final_stage = FinalStage(
        study,
        planned,
        maker,
        baselines=[spec for block in blocks for spec in maker.baseline_trials(block)],
        committed=committed,
        refit_epochs={
            search: epoch
            for search, epoch in _refit_epochs_of_defaults(decisions).items()
            if search in asks and asks[search][0].trial_id in retried
        },
    )
    runs = [search_run(study, it, maker, is_finished=it.id in finished) for it in planned]
    queues = StudyQueues(study, runs, final_stage, budget_shares)
    queues.end_early(ended_early)
    scored = _whose_scores_count(decisions, finished, study.final.train_on)
    scores = reader.decisive_scores(scored)
    decisions = decisions.join(scores, on="trial_id", how="left", maintain_order="left")
    outcomes = search_outcomes(decisions, study.ks[0], reader.objective)
    queues.restore(asks, outcomes, had_trained=_trained_retried_finals(retried, committed))
    queues.earlier |= _earlier(journals, retried, set(decisions["trial_id"]))
    return queues


def search_outcomes(
    decisions: pl.DataFrame, primary_k: int, objective: str
) -> dict[str, dict[str, Outcome]]:
    """Search id -> trial id -> outcome, of every committed trial of the search stage.

    Rows are those of `Reader.ended_trials`, with ``scores``. Where these are null, outcomes have
    no path, and of several folds no epoch.
    """
    found: dict[str, dict[str, Outcome]] = {}
    rows = decisions.filter(pl.col("stage") == "search")
    columns = ("search", "trial_id", "state", "objective", "epoch_selected", "scores")
    for row in rows.select(columns).iter_rows():
        search, trial_id, state, score, selected, curve = row
        path: tuple[tuple[int, float], ...] = ()
        if curve is not None:
            scores = [
                (score["fold"], score["epoch"], score["value"])
                for score in curve
                if (score["role"], score["metric"], score["k"]) == ("val", objective, primary_k)
            ]
            path = running_best(scores)
            selected = mean_epoch(list(selected_epochs(scores).values()))
        outcome = Outcome(state, score if state == "COMPLETE" else None, path, selected)
        found.setdefault(search, {})[trial_id] = outcome
    return found


def _whose_scores_count(
    decisions: pl.DataFrame, finished: Collection[str], train_on: Collection[str]
) -> dict[str, str]:
    """Trial id -> search, of those whose scores by epoch something still follows from.

    Samplers and early stopping learn from all trials of a search that is not finished. Of one that
    is, finals on all classes need the epochs of the default and the winner, which only trials of
    one fold have in a column.
    """
    rows = decisions.filter(pl.col("stage") == "search")
    counts = ~pl.col("search").is_in(finished)
    if "all" in train_on:
        best = pl.col("objective").filter(pl.col("state") == "COMPLETE").max().over("search")
        is_finalist = (pl.col("index") == 0) | (pl.col("objective") == best)
        has_epoch = (pl.col("state") == "COMPLETE") & pl.col("epoch_selected").is_not_null()
        counts |= is_finalist & ~has_epoch
    counted = rows.filter(counts.fill_null(value=True))
    return dict(counted.select("trial_id", "search").iter_rows())


def _committed_finals(decisions: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Trial id -> search id and state, of every committed final and baseline trial."""
    rows = decisions.filter(pl.col("stage") != "search").select("trial_id", "search", "state")
    return {trial_id: (search, state) for trial_id, search, state in rows.iter_rows()}


def _refit_epochs_of_defaults(decisions: pl.DataFrame) -> dict[str, int]:
    """Search id -> epoch at which its published default was trained on all classes."""
    rows = decisions.filter(
        pl.col("stage") == "final", pl.col("train_on") == "all", pl.col("is_default")
    )
    return dict(rows.select("search", "epochs_planned").unique().iter_rows())


def _earlier(
    journals: Mapping[str, SearchJournal],
    retried: Mapping[str, Sequence[RetriedFailure]],
    ended: Collection[str],
) -> dict[str, Earlier]:
    """Trial id -> earlier attempts, of trials that have some and no row."""
    found: dict[str, list[Attempt]] = {}
    for journal in journals.values():
        for trial_id, number in sorted(journal.attempts):
            if trial_id not in ended:
                found.setdefault(trial_id, []).append(journal.attempts[trial_id, number])
    last = {trial_id: max(it.attempts for it in them) for trial_id, them in retried.items()}
    return {
        trial_id: (len(them), tuple(it for it in them if it.number > last.get(trial_id, 0)))
        for trial_id, them in found.items()
    }


def _trained_retried_finals(
    retried: Mapping[str, Sequence[RetriedFailure]], committed: Collection[str]
) -> set[str]:
    """Ids of searches for which finals were trained that failed and have no row now."""
    return {
        failures[-1].search
        for trial_id, failures in retried.items()
        if failures[-1].stage == "final" and trial_id not in committed
    }


def _finished(
    asks: Mapping[str, Sequence[Ask]],
    open_asks: Mapping[str, Sequence[Ask]],
    trials: int,
    ended_early: Collection[str],
) -> set[str]:
    """Ids of searches that have all their trials: none is suggested, runs or is pruned any more.

    Open asks are those of trials without a row. Where the share of the budget is used up, a search
    has fewer trials.
    """
    return {
        search
        for search, of_search in asks.items()
        if search not in open_asks
        and (search in ended_early or len({ask.trial_id for ask in of_search}) >= trials)
    }


def search_run(
    study: Study, search: Search, maker: TrialSpecMaker, *, is_finished: bool = False
) -> SearchRun:
    """A search before its first suggestion, or before it is restored.

    Nothing is learned from trials of a search that is finished: known to have all of them.
    """
    return SearchRun(
        search=search,
        settings=study.search,
        suggester=NoSuggester() if is_finished else suggester_of(study, search),
        first=() if is_finished else first_configs(study, search.block, search.loss),
        spec=partial(maker.search_trial, search),
        early_stopper=EarlyStopper(
            study.search.early_stopping,
            epochs=study.search.epochs or loss_training(study, search.block, search.loss).epochs,
            folds=protocol_of(study, search).num_folds,
        ),
    )


def suggester_of(study: Study, search: Search) -> Suggester:
    """The sampler of a search, before its first suggestion; shared configs have a shared seed."""
    is_shared = study.search.shared_configs
    seeded = replace(search, protocol="", repeat=0) if is_shared else search
    seed = seed_for(study.seed, "suggestions", seeded.id)
    task = search_task(study, search.block, search.loss, seed)
    return make_suggester(study.search.sampler, task)


def check_suggestions(
    paths: StudyPaths, asks: Mapping[str, Sequence[Ask]], decisions: pl.DataFrame
) -> dict[str, list[Ask]]:
    """Every committed trial of a search, from `Reader.ended_trials`, must have its ask.

    Otherwise a search would be restored with other suggestions than those it has trials of.

    Returns:
        Search id -> its open asks: those of trials without a row, by index.

    Raises:
        CorruptFileError: an ask is missing or was changed; the message names its place.
    """
    for of_search in asks.values():
        for ask in of_search:
            if ask.config_hash != config_hash(ask.hyperparameters):
                raise CorruptFileError(
                    f"{paths.journal_folder(ask.search)} holds, as ask {ask.index}, a config that"
                    " does not match its hash. Restore the original folder"
                )
    asked = pl.DataFrame(
        {
            "search": [search for search, known in asks.items() for _ in known],
            "trial_id": [ask.trial_id for known in asks.values() for ask in known],
            "index": [ask.index for known in asks.values() for ask in known],
        },
        schema={"search": pl.String, "trial_id": pl.String, "index": pl.Int64},
    )
    rows = decisions.filter(pl.col("stage") == "search").select("search", "trial_id", "index")
    key = ["search", "trial_id"]
    for search, trial_id, index in rows.join(asked, on=key, how="anti").sort(key).iter_rows():
        raise CorruptFileError(
            f"{paths.journal_folder(search)} has no ask {index} of trial {trial_id}, which has a"
            " row. Restore the folder from a copy"
        )
    without_row = asked.join(rows, on=key, how="anti")
    found = dict(without_row.group_by("search").agg(pl.col("index").sort()).iter_rows())
    return {search: [asks[search][index] for index in found[search]] for search in found}


def check_ask(paths: StudyPaths, search: Search, ask: Ask, maker: TrialSpecMaker) -> TrialSpec:
    """The trial of a suggestion, whose config must not be another trial of the study.

    Raises:
        CorruptFileError: naming its place.
    """
    spec = maker.search_trial(search, ask.index, ask.hyperparameters)
    if spec.trial_id != ask.trial_id:
        raise CorruptFileError(
            f"{paths.journal_folder(search.id)} holds, as ask {ask.index}, trial {ask.trial_id},"
            f" but its config is trial {spec.trial_id} of this study. Restore the original folder"
        )
    return spec


def changed_weights(decisions: pl.DataFrame, study: Study) -> list[str]:
    """The weights that committed trials started from and that are others now.

    Raises:
        TrialInputError: weights are not there.
    """
    now = {item.name: weights_fingerprint(item) for item in study.backbones}
    seen = decisions.select("backbone", "weights").unique().sort("backbone", "weights").rows()
    changed = (name for name, before in seen if now.get(name, before) != before)
    return [f"the weights of {name}" for name in dict.fromkeys(changed)]
