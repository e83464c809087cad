"""Refuses to go on where asks and trials of a results folder do not fit each other."""

from collections.abc import Mapping, Sequence

import polars as pl

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.records.asks import Ask
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.study.study import Search
from orchestrator.trials.trial_specs_of_study import OrderMaker

__all__ = ["check_asked"]


def check_asked(
    paths: StudyPaths,
    asks: Mapping[str, Sequence[Ask]],
    decisions: pl.DataFrame,
    searches: Sequence[Search],
    maker: OrderMaker,
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


def _check_open(paths: StudyPaths, search: Search, ask: Ask, maker: OrderMaker) -> None:
    order = maker.search_trial(search, ask.index, ask.hyperparameters, is_default=ask.index == 0)
    if order.trial_id != ask.trial_id:
        raise CorruptFileError(
            f"{paths.ask(search.id, ask.index)} asks for trial {ask.trial_id}, but its config is"
            f" trial {order.trial_id} of this study. Bring back the file as it was"
        )
