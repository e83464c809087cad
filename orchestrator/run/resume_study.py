"""Rebuilds what a study has left to do, and its searches, from the results folder alone."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from orchestrator.ids_and_seeds import seed_for
from orchestrator.results.records.asks import read_asks
from orchestrator.results.records.ended_searches import ended_searches
from orchestrator.results.records.runs import read_runs
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.run.consistent_suggestions import check_asked
from orchestrator.run.unchanged_inputs import check_unchanged
from orchestrator.scheduling.committed_outcomes import committed_tests, search_outcomes
from orchestrator.scheduling.early_stopping import Race, race_of
from orchestrator.scheduling.running_search import SearchRun
from orchestrator.scheduling.trial_queues import StudyQueues
from orchestrator.search_samplers.make_sampler import make_suggester
from orchestrator.search_samplers.suggester import Suggester
from orchestrator.study.blocks import protocol_of, searches
from orchestrator.study.budget import with_own_trials
from orchestrator.study.configs import default_config, loss_training, space_of, unsearched_values
from orchestrator.study.given_configs import given_configs
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Search, Study
from orchestrator.trials.trial_specs_of_study import OrderMaker
from trainables.dataset_interface.dataset import Dataset

__all__ = ["rebuilt_queues", "search_run", "suggester_of"]


def rebuilt_queues(
    study: Study, paths: StudyPaths, reader: Reader, datasets: Mapping[str, Dataset]
) -> StudyQueues:
    """The work that is left, from what the store holds."""
    study = with_own_trials(study)
    maker = OrderMaker(study, datasets)
    planned = searches(study)
    decisions = reader.decisions()
    check_unchanged(decisions, study, datasets)
    blocks = sorted({search.block for search in planned})
    queues = StudyQueues(
        study=study,
        maker=maker,
        runs=[search_run(study, search, maker) for search in planned],
        baselines=[order for block in blocks for order in maker.baseline_trials(block)],
        committed=committed_tests(decisions),
    )
    queues.end_early(ended_searches(read_runs(paths), asdict(study.budget)))
    asks = read_asks(paths)
    check_asked(paths, asks, decisions, planned, maker)
    queues.restore(asks, search_outcomes(decisions, study.ks[0], reader.objective))
    return queues


def search_run(study: Study, search: Search, maker: OrderMaker) -> SearchRun:
    """A search before its first suggestion."""
    return SearchRun(
        search=search,
        settings=study.search,
        suggester=suggester_of(study, search),
        first=_first_configs(study, search),
        order=partial(_order, maker, search),
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


def _order(maker: OrderMaker, search: Search, index: int, config: Mapping[str, Any]) -> Any:
    return maker.search_trial(search, index, config, is_default=index == 0)
