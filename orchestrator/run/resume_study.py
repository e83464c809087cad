"""Rebuilds what a study has left to do, and its searches, from the results folder alone."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import polars as pl

from orchestrator.ids_and_seeds import seed_for
from orchestrator.results.errors import CorruptFileError, PodiumError
from orchestrator.results.records.asks import Ask, read_asks
from orchestrator.results.records.runs import ended_searches, read_runs
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.scheduling.committed_outcomes import committed_tests, search_outcomes
from orchestrator.scheduling.early_stopping import Race, race_of
from orchestrator.scheduling.running_search import SearchRun
from orchestrator.scheduling.trial_queues import StudyQueues
from orchestrator.search_samplers.make_sampler import make_suggester
from orchestrator.search_samplers.suggester import Suggester
from orchestrator.study.blocks import protocol_of, searches
from orchestrator.study.budget import with_own_trials
from orchestrator.study.configs import (
    default_config,
    given_configs,
    loss_training,
    space_of,
    unsearched_values,
)
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Search, Study
from orchestrator.trials.trial_spec_maker import TrialSpecMaker
from trainables.dataset_interface.dataset import Dataset
from trainables.network.initial_weights import weights_fingerprint

__all__ = ["rebuilt_queues", "search_run", "suggester_of"]


def rebuilt_queues(
    study: Study, paths: StudyPaths, reader: Reader, datasets: Mapping[str, Dataset]
) -> StudyQueues:
    """The work that is left, from what the store holds."""
    study = with_own_trials(study)
    maker = TrialSpecMaker(study, datasets)
    planned = searches(study)
    decisions = reader.decisions()
    check_unchanged(decisions, study, datasets)
    blocks = sorted({search.block for search in planned})
    queues = StudyQueues(
        study=study,
        maker=maker,
        runs=[search_run(study, search, maker) for search in planned],
        baselines=[spec for block in blocks for spec in maker.baseline_trials(block)],
        committed=committed_tests(decisions),
    )
    queues.end_early(ended_searches(read_runs(paths), asdict(study.budget)))
    asks = read_asks(paths)
    check_suggestions(paths, asks, decisions, planned, maker)
    queues.restore(asks, search_outcomes(decisions, study.ks[0], reader.objective))
    return queues


def search_run(study: Study, search: Search, maker: TrialSpecMaker) -> SearchRun:
    """A search before its first suggestion."""
    return SearchRun(
        search=search,
        settings=study.search,
        suggester=suggester_of(study, search),
        first=_first_configs(study, search),
        spec=partial(_spec, maker, search),
        race=_race(study, search),
    )


def _race(study: Study, search: Search) -> Race:
    rules = study.search.early_stopping
    epochs = loss_training(study, search.block, search.loss).epochs
    return race_of(rules, epochs=epochs, folds=protocol_of(study, search).num_folds)


def suggester_of(study: Study, search: Search) -> Suggester:
    """What draws the configs of a search."""
    values = unsearched_values(study, search.block, search.loss)
    return make_suggester(
        study.search.sampler,
        space_of(study, search.loss, values),
        values,
        facts_of(search.loss).conditions,
        trials=study.search.trials,
        seed=_suggestion_seed(study, search),
        first=_first_configs(study, search),
    )


def _first_configs(study: Study, search: Search) -> tuple[Mapping[str, Any], ...]:
    return (
        default_config(study, search.block, search.loss),
        *given_configs(study, search.block, search.loss),
    )


def _suggestion_seed(study: Study, search: Search) -> int:
    """One for each search, or for all that are to try the same configs."""
    if study.search.shared_configs:
        search = replace(search, protocol="", repeat=0)
    return seed_for(study.seed, "suggestions", search.id)


def _spec(maker: TrialSpecMaker, search: Search, index: int, config: Mapping[str, Any]) -> Any:
    return maker.search_trial(search, index, config, is_default=index == 0)


def check_suggestions(
    paths: StudyPaths,
    asks: Mapping[str, Sequence[Ask]],
    decisions: pl.DataFrame,
    searches: Sequence[Search],
    maker: TrialSpecMaker,
) -> None:
    """Every trial of a search must have its ask, and open asks must be of this study.

    Otherwise a search would be given other suggestions than those it has trials of.

    Args:
        paths: of the folder.
        asks: by search, in order.
        decisions: of the folder, from `Reader.decisions`.
        searches: of the study.
        maker: of its orders.

    Raises:
        CorruptFileError: naming the file of the ask.
    """
    asked = {search: {ask.trial_id for ask in known} for search, known in asks.items()}
    ended: dict[str, set[str]] = {}
    rows = decisions.filter(pl.col("stage") == "search").select("search", "trial_id", "index")
    for search, trial_id, index in rows.iter_rows():
        ended.setdefault(search, set()).add(trial_id)
        if trial_id not in asked.get(search, ()):
            raise CorruptFileError(
                f"{paths.ask(search, index)} is missing or another's: trial {trial_id} has a row,"
                " and no ask. Bring back the file, from a copy"
            )
    for search in searches:
        for ask in asks.get(search.id, ()):
            if ask.trial_id not in ended.get(search.id, ()):
                _check_open(paths, search, ask, maker)


def _check_open(paths: StudyPaths, search: Search, ask: Ask, maker: TrialSpecMaker) -> None:
    spec = maker.search_trial(search, ask.index, ask.hyperparameters, is_default=ask.index == 0)
    if spec.trial_id != ask.trial_id:
        raise CorruptFileError(
            f"{paths.ask(search.id, ask.index)} asks for trial {ask.trial_id}, but its config is"
            f" trial {spec.trial_id} of this study. Bring back the file as it was"
        )


def check_unchanged(
    decisions: pl.DataFrame, study: Study, datasets: Mapping[str, Dataset]
) -> None:
    """Compare what committed trials were trained on with what is there now.

    Args:
        decisions: of the results folder, from `Reader.decisions`.
        study: the study that goes on.
        datasets: its data sets by label, loaded.

    Raises:
        PodiumError: a backbone starts from other weights than before, or a data set has other
            test images.
    """
    weights = {item.name: weights_fingerprint(item) for item in study.backbones}
    tests = {label: dataset.test_hash for label, dataset in datasets.items()}
    problems = [
        *(
            f"the weights of {name}"
            for name in _changed(decisions, "backbone", "weights", weights)
        ),
        *(f"the data set {name}" for name in _changed(decisions, "dataset", "test_hash", tests)),
    ]
    if problems:
        raise PodiumError(
            f"{' and '.join(problems)} changed since this study started: old and new trials "
            "cannot be compared. Put back what was there, or give the study a new name"
        )


def _changed(
    decisions: pl.DataFrame, thing: str, column: str, now: Mapping[str, str]
) -> list[str]:
    """Names of things whose committed trials hold another hash than now."""
    seen = decisions.select(thing, column).unique().sort(thing, column).rows()
    return list(dict.fromkeys(name for name, before in seen if now.get(name, before) != before))
