"""Warm starts: the best configs of earlier results become the first configs of a study.

They are the best by validation, among complete trials of searches that saw no test class: of the
same loss in the same block, or in all blocks of the earlier study if it has none in this one.
Objectives of two searches are not comparable, so the best of every search comes before the second
best of any; among equals the one that beats its search's default by most.

What is found is stored in the snapshot of the study at its first start. Losses and blocks that
join later are looked up when they do. Nothing else ever depends on the earlier results.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from podium.errors import PodiumError
from podium.orchestrator.results.records.fairness_record import join_names
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_study
from podium.orchestrator.results.storage.locations import Place, parse_place
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.search_samplers.unit_cube import is_inside
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.configs import (
    first_configs,
    space_of,
    unsearched_values,
    warm_start_key,
)
from podium.orchestrator.study.defaults import task_of
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.search_spaces.parameters import Value, existing
from podium.trainables.tasks import objective_of

Config = Mapping[str, Value]

_COLUMNS = (
    *("search", "index", "is_default", "protocol", "leaks", "block", "loss"),
    *("objective", "settings"),
)


def recall_warm_starts(study: Study, paths: StudyPaths) -> Study:
    """The study with the warm starts that are stored in its results folder."""
    snapshot = read_study(paths) or {}
    found = {key: tuple(points) for key, points in snapshot.get("warm_starts", {}).items()}
    return replace(study, warm_starts=found)


def find_warm_starts(study: Study, say: Callable[[str], object]) -> Study:
    """The study with configs for each loss and block that was not looked up before.

    Raises:
        PodiumError: the earlier results are not there, are damaged, or are of another task.
    """
    settings = study.search.warm_start
    if settings is None:
        return study
    wanted = {
        warm_start_key(block.label, loss): (block, loss)
        for block in blocks(study)
        for loss in study.loss_names
    }
    new = {key: pair for key, pair in wanted.items() if key not in study.warm_starts}
    if not new:
        return study
    trials = _earlier_trials(study, parse_place(settings.folder), say)
    found = {
        key: _found(study, block, loss, trials, settings.top) for key, (block, loss) in new.items()
    }
    for key, (configs, unfit) in found.items():
        _report(key, configs, unfit, say)
    points = {**study.warm_starts, **{key: configs for key, (configs, _) in found.items()}}
    _report_fairness(study, {wanted[key][1] for key in wanted if points[key]}, say)
    return replace(study, warm_starts=points)


def _earlier_trials(study: Study, folder: Place, say: Callable[[str], object]) -> pl.DataFrame:
    """Complete trials of searches, with their rank within their search; never of test classes."""
    reader = Reader(folder)
    objective = objective_of(task_of(study))
    if reader.objective != objective:
        raise PodiumError(
            f"search.warm_start: {folder} was searched by {reader.objective}, this study by "
            f"{objective}"
        )
    searched = reader.trials().filter(stage="search", state="COMPLETE")
    complete = searched.select(_COLUMNS).collect()
    leaking = complete.filter("leaks")["protocol"].unique().sort()
    if len(leaking):
        names = join_names(leaking.to_list())
        say(f"Warm start: searches under {names} saw test classes and are left out.")
    default = pl.col("objective").filter("is_default").first()
    return complete.filter(~pl.col("leaks")).with_columns(
        rank=pl.col("objective").rank("ordinal", descending=True).over("search", order_by="index"),
        gain=pl.col("objective") - default.over("search"),
    )


def _found(
    study: Study, block: Block, loss: str, trials: pl.DataFrame, top: int
) -> tuple[tuple[Config, ...], list[str]]:
    """The best points of earlier results for a loss in a block, and why better ones are unfit."""
    of_loss = trials.filter(loss=loss)
    of_block = of_loss.filter(block=block.label)
    known: list[Config] = list(first_configs(study, block, loss))
    points: list[Config] = []
    unfit: list[str] = []
    ordered = (of_loss if of_block.is_empty() else of_block).sort(
        "rank", "gain", "search", descending=[False, True, False], nulls_last=True
    )
    for trained in ordered["settings"]:
        config: Config = json.loads(trained)["hyperparameters"]
        if len(points) == top:
            break
        if config in known:
            continue
        known.append(config)
        if reason := _why_unfit(study, block, loss, config):
            unfit.append(reason)
        else:
            searched = space_of(study, loss).parameters
            points.append({name: config[name] for name in searched if name in config})
    return tuple(points), unfit


def _why_unfit(study: Study, block: Block, loss: str, config: Config) -> str | None:
    """Why a config is no point of this study's space; None if it is one."""
    values = unsearched_values(study, block, loss)
    searched = space_of(study, loss, values).parameters
    for name, parameter in searched.items():
        if name in config and not is_inside(parameter, config[name]):
            return f"{name} {config[name]} is outside the search space here"
    point = {name: config[name] for name in searched if name in config}
    expected = existing({**values, **point}, facts_of(loss).conditions)
    for name in sorted(expected.keys() | config.keys()):
        if name not in config:
            return f"{name} was not searched there"
        if config[name] != expected.get(name):
            return f"{name} is not searched here, and had other values there"
    return None


def _report(
    key: str, points: Sequence[Config], unfit: Sequence[str], say: Callable[[str], object]
) -> None:
    block, _, loss = key.partition(" ")
    if unfit:
        reasons = "; ".join(dict.fromkeys(unfit))
        say(f"Warm start of {loss} in {block}: {_configs(unfit)} dropped: {reasons}")
    if points:
        say(f"Warm start of {loss} in {block}: tries {_configs(points)} of earlier results.")


def _configs(items: Sequence[object]) -> str:
    return "1 config" if len(items) == 1 else f"{len(items)} configs"


def _report_fairness(study: Study, warm: set[str], say: Callable[[str], object]) -> None:
    cold = [loss for loss in study.loss_names if loss not in warm]
    if not warm:
        say(
            "Warm start: the earlier results contain nothing for this study; all searches start"
            " cold."
        )
    elif cold:
        say(
            f"Warm start: nothing was found for {join_names(cold)}; the other losses have an "
            "advantage that the report shows."
        )
