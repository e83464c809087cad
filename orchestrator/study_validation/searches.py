"""Checks searches: their protocols, and what samplers do not allow or budgets do not cover."""

from collections.abc import Sequence
from dataclasses import replace

from podium.orchestrator.results.records.runs import HOURS
from podium.orchestrator.search_samplers.sampler_names import DO_NOT_LEARN
from podium.orchestrator.study.blocks import (
    num_reserved_trials,
    searches,
    trials_per_search,
)
from podium.orchestrator.study.fairness import count_configs
from podium.orchestrator.study.resource_demand import least_demand
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.orchestrator.study_validation.training import TrainedLoss
from podium.trainables.dataset_interface.class_splits import validation_counts
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import ProtocolSettings

_MOST_CONFIGS = 10_000  # that are counted to tell how many trials are needed
_LONGEST_FOLDER = 240  # file systems take 255 bytes


def check_sharing(study: Study, problems: Problems) -> None:
    """Note shared configs of a sampler that learns."""
    search = study.search
    if search.shared_configs and search.sampler not in DO_NOT_LEARN:
        rule = (
            "needs a sampler that does not learn from outcomes, or searches would get different "
            f"configs: {', '.join(sorted(DO_NOT_LEARN))}"
        )
        problems.at("search.shared_configs", rule, got=search.sampler)


def check_trials(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note budgets that are too small for what a search tries, and spaces it cannot search."""
    search = study.search
    num_first = 1 if search.warm_start is None else 1 + search.warm_start.top
    if search.trials < num_first:
        rule = (
            f"must be at least {num_first}: the default and the configs of warm_start come first"
        )
        problems.at("search.trials", rule, got=search.trials)
        return
    limit = max(search.trials, _MOST_CONFIGS) + 1
    for loss in study.loss_names if search.sampler in ("grid", "coordinate") else ():
        of_loss = (item.block for item in items if item.loss == loss)
        needed = [count_configs(study, block, loss, limit) for block in of_loss]
        if None in needed:
            rule = (
                f"{search.sampler} needs lists of values or ranges with steps, and what is"
                f" searched of {loss} has a range without"
            )
            problems.at("search.sampler", rule)
        elif (most := max(filter(None, needed), default=0)) > search.trials:
            rule = (
                f"must be at least {most} for the sampler {search.sampler} and {loss}: all its"
                " values, and its default"
            )
            problems.at("search.trials", rule, got=search.trials)
            return


def check_budget(study: Study, problems: Problems) -> None:
    """Note a budget that nothing would use up, or that is too small for a result."""
    budget = study.budget
    if study.search.order == "deterministic":
        for name in HOURS:
            if (given := getattr(budget, name)) is not None:
                rule = (
                    "cannot be combined with search.order deterministic: tables would depend on"
                    " how fast machines are; give budget.trials"
                )
                problems.at(("budget", name), rule, got=given)
    if budget.gpu_hours is not None and not least_demand(study).gpus:
        rule = (
            "needs resources.gpus_per_trial above 0 for every backbone, or its trials would cost "
            "nothing; without GPUs give budget.wall_hours or budget.trials"
        )
        problems.at("budget.gpu_hours", rule, got=budget.gpu_hours)
    if budget.trials is not None:
        _check_budget_trials(study, budget.trials, problems)


def _check_budget_trials(study: Study, trials: int, problems: Problems) -> None:
    count, reserved = len(searches(study)), num_reserved_trials(study)
    share, wanted = trials_per_search(study), study.search.trials
    if trials < reserved + count:
        rule = (
            f"must be at least {reserved + count}: {reserved} of the final stage and its "
            f"baselines, and the published default of each of {count} searches"
        )
        problems.at("budget.trials", rule, got=trials)
    elif study.search.sampler == "grid" and share < wanted:
        rule = (
            f"leaves each search {share} of its {wanted} trials, but the grid needs all: give at "
            f"least {reserved + count * wanted}"
        )
        problems.at("budget.trials", rule, got=trials)


def check_classes(study: Study, problems: Problems) -> None:
    """Note protocols that want more validation classes than a data set has."""
    is_list = len(study.protocols) > 1
    places: dict[Path, ProtocolSettings] = {
        (("protocol", index) if is_list else ("protocol",)): protocol
        for index, protocol in enumerate(study.protocols)
    }
    if study.final.protocol is not None:
        places["final", "protocol"] = study.final.protocol
    for dataset in study.datasets:
        num_classes = dataset_facts(dataset).num_train_classes
        for path, protocol in places.items():
            sizes = [it for it in ("val_fraction", "folds") if getattr(protocol, it) is not None]
            try:
                if not protocol.trains_on_all:
                    validation_counts(num_classes, protocol)
            except TrialInputError as error:
                key = sizes[0] if sizes else "classes_file"
                problems.add((*path, key), f"{dataset.label}: {error}")


def check_folds(study: Study, problems: Problems) -> None:
    """Note a stopping rule that compares folds where no protocol has several."""
    has_folds = any(protocol.num_folds > 1 for protocol in study.protocols)
    if study.search.early_stopping.kind == "folds" and not has_folds:
        rule = "folds needs a protocol of several folds, such as kind kfold"
        problems.at("search.early_stopping", rule, got=_kinds(study))


def check_final(study: Study, problems: Problems) -> None:
    """Note a protocol of finals that no final is trained by."""
    if study.final.protocol is not None and "part" not in study.final.train_on:
        rule = "is used for final.train_on part only, which is not in final.train_on"
        problems.at("final.protocol", rule, got=study.final.protocol.kind)


def check_splits(study: Study, problems: Problems) -> None:
    """Note fresh splits where there is one repeat, or where no split is drawn."""
    if study.search.splits != "fresh":
        return
    if study.search.repeats == 1:
        rule = (
            "fresh gives each repeat splits of its own, and search.repeats is 1 (it may become "
            "fresh when there are more)"
        )
        problems.at("search.splits", rule, got="fresh")
    protocols = [*study.protocols, study.final.protocol]
    if not any(protocol is not None and protocol.is_seeded for protocol in protocols):
        rule = "fresh needs a protocol with a split_seed"
        problems.at("search.splits", rule, got=_kinds(study))


def _kinds(study: Study) -> str:
    return ", ".join(sorted({protocol.kind for protocol in study.protocols}))


def check_folders(study: Study, problems: Problems) -> None:
    """Note losses whose searches would have too long a folder name."""
    longest: dict[str, int] = {}  # none if image files were given no size
    more_digits = len(str(study.search.repeats - 1)) - 1  # of the last repeat than of the first
    for search in searches(replace(study, search=replace(study.search, repeats=1))):
        longest[search.loss] = max(longest.get(search.loss, 0), len(search.id) + more_digits)
    for loss, length in longest.items():
        if length > _LONGEST_FOLDER:
            rule = (
                "data set, network, loss and protocol name the folder of a search: shorten one of "
                f"them; together they may have {_LONGEST_FOLDER} characters"
            )
            problems.add(("losses", study.loss_names.index(loss)), rule, got=length)
