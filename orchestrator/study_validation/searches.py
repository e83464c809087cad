"""Checks searches: their protocols, and what samplers do not allow or budgets do not cover."""

from collections.abc import Callable, Mapping, Sequence

from podium.orchestrator.results.records.runs import HOURS
from podium.orchestrator.search_samplers.coordinate import max_configs
from podium.orchestrator.search_samplers.grid import num_configs
from podium.orchestrator.search_samplers.sampler_names import DO_NOT_LEARN, SamplerName
from podium.orchestrator.search_samplers.suggester import SearchTask
from podium.orchestrator.study.blocks import (
    blocks,
    num_reserved_trials,
    searches,
    trials_per_search,
)
from podium.orchestrator.study.configs import search_task
from podium.orchestrator.study.resource_demand import least_demand
from podium.orchestrator.study.study import Search, Study, StudyLoss
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.orchestrator.study_validation.trained_losses import (
    TrainedLoss,
    known_datasets,
    trained_losses,
)
from podium.trainables.dataset_interface.class_splits import validation_counts
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import ProtocolSettings

# Sampler that tries all values -> how many configs they make.
_COUNTED: Mapping[SamplerName, Callable[[SearchTask, int], int | None]] = {
    "grid": num_configs,
    "coordinate": max_configs,
}
_MOST_CONFIGS = 10_000  # that are counted to tell how many trials are needed


def check_sharing(study: Study, problems: Problems) -> None:
    """Note shared configs of a sampler that learns."""
    search = study.search
    if search.shared_configs and search.sampler not in DO_NOT_LEARN:
        rule = (
            f"search.shared_configs needs a sampler that does not learn from outcomes, or "
            f"searches would get different configs: {', '.join(sorted(DO_NOT_LEARN))}"
        )
        problems.add("search.shared_configs", rule, got=search.sampler)


def check_trials(study: Study, problems: Problems) -> None:
    """Note budgets that are too small for what a search tries, and spaces it cannot search."""
    items = trained_losses(study, problems)
    for loss in study.losses:
        _check_trials(study, loss, [it for it in items if it.loss == loss.name], problems)


def _check_trials(
    study: Study, loss: StudyLoss, of_loss: Sequence[TrainedLoss], problems: Problems
) -> None:
    """Note a budget that is too small for the configs tried first, or for the grid."""
    path = "search.trials"
    if problems.concern(path, "search.warm_start"):
        return
    search = study.search
    num_first = 1 if search.warm_start is None else 1 + search.warm_start.top
    if search.trials < num_first:
        rule = (
            f"search.trials must be at least {num_first}: the default and the configs of "
            "warm_start come first"
        )
        problems.add(path, rule, got=search.trials)
    elif search.sampler in _COUNTED:
        count, limit = _COUNTED[search.sampler], max(search.trials, _MOST_CONFIGS) + 1
        needed = [count(search_task(study, item.block, loss.name), limit) for item in of_loss]
        if None in needed:
            rule = (
                f"search.sampler {search.sampler} needs lists of values or ranges with steps, and"
                f" what is searched of {loss.name} has a range without"
            )
            problems.add("search.sampler", rule)
        elif (most := max(filter(None, needed), default=0)) > search.trials:
            rule = (
                f"search.trials must be at least {most} for the sampler {search.sampler} and"
                f" {loss.name}: all its values, and its default"
            )
            problems.add(path, rule, got=search.trials)


def check_budget(study: Study, problems: Problems) -> None:
    """Note a budget that nothing would use up, or that is too small for a result."""
    if problems.concern("budget"):
        return
    if study.search.order == "deterministic" and not problems.concern("search.order"):
        for name in HOURS:
            if (given := getattr(study.budget, name)) is not None:
                problems.add(
                    ("budget", name),
                    f"budget.{name} cannot be combined with search.order deterministic: tables"
                    " would depend on how fast machines are; give budget.trials",
                    got=given,
                )
    if study.budget.gpu_hours is not None and not problems.concern("resources"):
        _check_gpu_hours(study, problems)
    if study.budget.trials is not None:
        _check_budget_trials(study, study.budget.trials, problems)


def _check_gpu_hours(study: Study, problems: Problems) -> None:
    if not least_demand(study).gpus:
        problems.add(
            "budget.gpu_hours",
            "budget.gpu_hours needs resources.gpus_per_trial above 0 for every backbone, or its "
            "trials would cost nothing; without GPUs give budget.wall_hours or budget.trials",
            got=study.budget.gpu_hours,
        )


def _check_budget_trials(study: Study, trials: int, problems: Problems) -> None:
    depends_on = ("datasets", "backbones", "embedding_dims", "image_sizes", "losses", "protocol")
    if problems.concern(*depends_on, "search", "final"):
        return
    count, reserved = len(searches(study)), num_reserved_trials(study)
    share, wanted = trials_per_search(study), study.search.trials
    if trials < reserved + count:
        problems.add(
            "budget.trials",
            f"budget.trials must be at least {reserved + count}: {reserved} of the final stage "
            f"and its baselines, and the published default of each of {count} searches",
            got=trials,
        )
    elif study.search.sampler == "grid" and share < wanted:
        problems.add(
            "budget.trials",
            f"budget.trials leaves each search {share} of its {wanted} trials, but the grid needs "
            f"all: give at least {reserved + count * wanted}",
            got=trials,
        )


_LONGEST_FOLDER = 240  # file systems take 255 bytes


def check_classes(study: Study, problems: Problems) -> None:
    """Note protocols that want more validation classes than a data set has."""
    is_list = len(study.protocols) > 1
    places: list[tuple[Path, ProtocolSettings | None]] = [
        (("protocol", index) if is_list else ("protocol",), protocol)
        for index, protocol in enumerate(study.protocols)
    ]
    places.append((("final", "protocol"), study.final.protocol))
    for _, dataset, facts in known_datasets(study, problems):
        for path, protocol in places:
            if protocol is None or protocol.trains_on_all or problems.concern(path[:1]):
                continue
            sizes = {"val_fraction": protocol.val_fraction, "folds": protocol.folds}
            (name,) = [key for key, it in sizes.items() if it is not None] or ["classes_file"]
            try:
                validation_counts(facts.num_train_classes, protocol)
            except TrialInputError as error:
                problems.add((*path, name), f"{dataset.label}: {error}")


def check_folds(study: Study, problems: Problems) -> None:
    """Note a stopping rule that compares folds where no protocol has several."""
    kinds = [protocol.kind for protocol in study.protocols if protocol.num_folds == 1]
    if study.search.early_stopping.kind == "folds" and len(kinds) == len(study.protocols):
        rule = "search.early_stopping folds needs a protocol of several folds, such as kind kfold"
        problems.add("search.early_stopping", rule, got=", ".join(kinds))


def check_final(study: Study, problems: Problems) -> None:
    """Note a protocol of finals that no final is trained by."""
    if study.final.protocol is not None and "part" not in study.final.train_on:
        rule = (
            "final.protocol is used for final.train_on part only, which is not in final.train_on"
        )
        problems.add("final.protocol", rule, got=study.final.protocol.kind)


def check_splits(study: Study, problems: Problems) -> None:
    """Note fresh splits where there is one repeat, or where no split is drawn."""
    path = "search.splits"
    if study.search.splits != "fresh":
        return
    if study.search.repeats == 1:
        rule = (
            "search.splits fresh gives each repeat splits of its own, and search.repeats is 1 "
            "(it may become fresh when there are more)"
        )
        problems.add(path, rule, got="fresh")
    protocols = [*study.protocols, study.final.protocol]
    if not any(protocol is not None and protocol.is_seeded for protocol in protocols):
        rule = "search.splits fresh needs a protocol with a split_seed"
        kinds = ", ".join(sorted({protocol.kind for protocol in study.protocols}))
        problems.add(path, rule, got=kinds)


def check_folders(study: Study, problems: Problems) -> None:
    """Note losses whose searches would have too long a folder name."""
    last = study.search.repeats - 1
    for index, loss in enumerate(study.loss_names):
        named = [
            Search(block=block, loss=loss, protocol=protocol.label, repeat=last)
            for block in blocks(study)
            for protocol in study.protocols
        ]
        # No block if image files were given no size, which is reported elsewhere.
        longest = max((search.id for search in named), key=len, default="")
        if len(longest) > _LONGEST_FOLDER:
            rule = (
                "data set, network, loss and protocol name the folder of a search: shorten one of "
                f"them; together they may have {_LONGEST_FOLDER} characters"
            )
            problems.add(("losses", index), rule, got=len(longest))
