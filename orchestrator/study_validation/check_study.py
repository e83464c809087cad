"""Checks a study by facts about its losses, data sets and networks, and by combinations.

Facts come without torch: from search_spaces, from the data sets' `facts`, from file names.
"""

import math
from dataclasses import replace

from podium.orchestrator.results.records.metric_columns import (
    METRICS_WITHOUT_K,
    RECALL,
    RankedScore,
)
from podium.orchestrator.results.records.runs import HOURS
from podium.orchestrator.results.records.tournament_rules import OF_THREE
from podium.orchestrator.search_samplers.sampler_names import DO_NOT_LEARN
from podium.orchestrator.study.blocks import (
    NUM_FINALISTS,
    blocks,
    num_reserved_trials,
    searches,
    trials_per_search,
)
from podium.orchestrator.study.configs import space_of
from podium.orchestrator.study.defaults import metric_of
from podium.orchestrator.study.fairness import (
    WARM_START,
    count_configs,
    fairness,
    undeclared,
)
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import MAX_TRIALS, Study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.orchestrator.study_validation import training
from podium.trainables.dataset_interface.class_splits import validation_counts
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import ProtocolSettings

# Losses of 50, data sets, backbones, dimensions and protocols of 10 each are half of it.
_MAX_SEARCHES = 1_000_000
_MOST_CONFIGS = 10_000  # that are counted to tell how many trials are needed
_LONGEST_FOLDER = 240  # file systems take 255 bytes
_MIN_GROUPS = 2


def _check_spaces(study: Study, problems: Problems) -> None:
    for index, loss in enumerate(study.losses):
        facts = facts_of(loss.name)
        if loss.space is None and study.search.space not in facts.spaces:
            rule = f"must be a space of {loss.name}"
            problems.at("search.space", rule, got=study.search.space, choices=facts.spaces)
        elif not space_of(study, loss.name).parameters:
            problems.add(("losses", index), f"{loss.name} has nothing to search: see search.tune")
        # A search tries the published default first, so there has to be one.
        values = {**facts.defaults, **loss.values}
        if missing := [name for name in facts.parameters if name not in values]:
            rule = f"{loss.name} has no default for {', '.join(missing)}: give one under values"
            problems.add(("losses", index), rule)


def check_size(study: Study, problems: Problems) -> None:
    """Note a study that is too large to be planned or checked."""
    lists = (study.datasets, study.backbones, study.embedding_dims, study.losses, study.protocols)
    num_searches = math.prod(map(len, lists)) * max(1, len(study.image_sizes))
    num_searches *= study.search.repeats
    protocols = [*study.protocols, *filter(None, [study.final.protocol])]
    folds = max(protocol.num_folds for protocol in protocols)
    # With those of baselines.
    num_finals = study.final.seeds * (NUM_FINALISTS + 1) * (folds + 1)
    num_trials = num_searches * (study.search.trials + num_finals)
    if num_searches > _MAX_SEARCHES:
        problems.add((), f"a study must have at most {_MAX_SEARCHES} searches", got=num_searches)
    elif num_trials > MAX_TRIALS:
        problems.add((), f"a study must have at most {MAX_TRIALS} trials", got=num_trials)


def check_study(study: Study, problems: Problems) -> None:
    """Note what keeps a study from being run whose values are right each by itself."""
    _check_spaces(study, problems)
    training.check_sizes(study, problems)
    if problems.concern("losses", "search.space", "image_sizes"):
        return
    _check_protocols(study, problems)
    _check_search(study, problems)
    _check_folders(study, problems)
    _check_tournament(study, problems)
    check_budget(study, problems)
    training.check_training(study, problems)
    _check_trials(study, problems)
    _check_fairness(study, problems)


def _check_protocols(study: Study, problems: Problems) -> None:
    """Note protocols that want more validation classes than a data set has, or that none uses."""
    of_list = [
        ("protocol", index) if len(study.protocols) > 1 else ("protocol",)
        for index in range(len(study.protocols))
    ]
    places: dict[Path, ProtocolSettings] = dict(zip(of_list, study.protocols, strict=True))
    if study.final.protocol is not None:
        places["final", "protocol"] = study.final.protocol
        if "part" not in study.final.train_on:
            rule = "is used for final.train_on part only"
            problems.at("final.protocol", rule, got=study.final.train_on)
    for dataset in study.datasets:
        num_classes = dataset_facts(dataset).num_train_classes
        for path, protocol in places.items():
            try:
                if not protocol.trains_on_all:
                    validation_counts(num_classes, protocol)
            except TrialInputError as error:
                problems.add(path, f"{dataset.label}: {error}")


def _check_search(study: Study, problems: Problems) -> None:
    """Note what samplers, stopping rules and protocols do not allow."""
    search = study.search
    protocols = [*study.protocols, *filter(None, [study.final.protocol])]
    kinds = ", ".join(sorted({protocol.kind for protocol in study.protocols}))
    if search.shared_configs and search.sampler not in DO_NOT_LEARN:
        rule = f"needs a sampler that does not learn: {', '.join(sorted(DO_NOT_LEARN))}"
        problems.at("search.shared_configs", rule, got=search.sampler)
    if search.early_stopping.kind == "folds" and all(it.num_folds == 1 for it in study.protocols):
        rule = "folds needs a protocol of several folds, such as kind kfold"
        problems.at("search.early_stopping", rule, got=kinds)
    if search.splits == "fresh" and search.repeats == 1:
        rule = "fresh needs search.repeats of at least 2; it may become fresh then"
        problems.at("search.splits", rule, got=1)
    if search.splits == "fresh" and not any(protocol.is_seeded for protocol in protocols):
        problems.at("search.splits", "fresh needs a protocol with a split_seed", got=kinds)


def _check_folders(study: Study, problems: Problems) -> None:
    """Note a loss whose searches would have too long a folder name."""
    more_digits = len(str(study.search.repeats - 1)) - 1  # of the last repeat than of the first
    of_first = searches(replace(study, search=replace(study.search, repeats=1)))
    longest = max(of_first, key=lambda search: len(search.id), default=None)
    if longest is not None and len(longest.id) + more_digits > _LONGEST_FOLDER:
        rule = (
            "data set, network, loss and protocol name the folder of a search: shorten one of "
            f"them; together they may have {_LONGEST_FOLDER} characters"
        )
        path = training.loss_path(study, longest.loss)
        problems.add(path, rule, got=len(longest.id) + more_digits)


def _check_tournament(study: Study, problems: Problems) -> None:
    """Note a test, scores and groups that the losses of the study do not have."""
    rules, losses, metric = study.tournament, study.loss_names, metric_of(study.datasets)
    scores = [RankedScore(metric, k).name for k in study.ks]
    scores += METRICS_WITHOUT_K if metric == RECALL.name else ()
    if rules.test in OF_THREE and len(losses) < 3:
        rule = f"{rules.test} compares at least 3 losses"
        problems.add("tournament.test", rule, got=len(losses))
    for key, choices in (("against", losses), ("score", scores)):
        if (given := getattr(rules, key)) not in (None, *choices):
            rule = f"must be a {'loss' if key == 'against' else 'score'} of the study"
            problems.at(("tournament", key), rule, got=given, choices=choices)
    if rules.groups is not None and len(rules.groups) < _MIN_GROUPS:
        problems.at("tournament.groups", f"compares at least {_MIN_GROUPS} groups of losses")
    of_loss: dict[str, str] = {}
    for name, members in (rules.groups or {}).items():
        for index, loss in enumerate(members):
            path: Path = ("tournament", "groups", name, index)
            if loss not in losses:
                problems.at(path, "must be a loss of the study", got=loss, choices=losses)
            elif (other := of_loss.setdefault(loss, name)) != name:
                problems.add(path, f"{loss} is in the group {other} already", got=loss)


def check_budget(study: Study, problems: Problems) -> None:
    """Note a budget that nothing would use up, or that is too small for a result."""
    budget = study.budget
    for name in HOURS if study.search.order == "deterministic" else ():
        if (given := getattr(budget, name)) is not None:
            rule = (
                "cannot be combined with search.order deterministic: tables would depend on"
                " how fast machines are; give budget.trials"
            )
            problems.at(("budget", name), rule, got=given)
    if budget.gpu_hours is not None and not demand_of(study).gpus:
        rule = (
            "needs resources.gpus_per_trial above 0 or its trials would cost "
            "nothing; without GPUs give budget.wall_hours or budget.trials"
        )
        problems.at("budget.gpu_hours", rule, got=budget.gpu_hours)
    count, reserved, wanted = len(searches(study)), num_reserved_trials(study), study.search.trials
    needs_all = study.search.sampler == "grid" and trials_per_search(study) < wanted
    least = reserved + count * (wanted if needs_all else 1)
    if budget.trials is not None and budget.trials < least:
        rule = (
            f"must be at least {least}: {reserved} of the final stage and its baselines, and "
            f"{'the whole grid' if needs_all else 'the published default'} of each of {count} "
            "searches"
        )
        problems.at("budget.trials", rule, got=budget.trials)


def _check_trials(study: Study, problems: Problems) -> None:
    """Note budgets that are too small for what a search tries, and spaces it cannot search."""
    search = study.search
    num_first = 1 if search.warm_start is None else 1 + search.warm_start.top
    if search.trials < num_first:
        rule = f"must be at least {num_first}: the default and the configs of warm_start are first"
        problems.at("search.trials", rule, got=search.trials)
        return
    limit = max(search.trials, _MOST_CONFIGS) + 1
    for loss in study.loss_names if search.sampler in ("grid", "coordinate") else ():
        needed = [count_configs(study, block, loss, limit) for block in blocks(study)]
        if None in needed:
            rule = f"{search.sampler} needs lists or ranges with steps; {loss} has a range without"
            problems.at("search.sampler", rule)
        elif (most := max(filter(None, needed), default=0)) > search.trials:
            rule = f"must be at least {most} for all values of {loss} and its default"
            problems.at("search.trials", f"{rule} by {search.sampler}", got=search.trials)
            return


def _check_fairness(study: Study, problems: Problems) -> None:
    """Note differences without a declared reason, and reasons without a difference.

    Configs of earlier results are not known before the study starts: a reason is accepted then.
    """
    found = fairness(study).disparities
    for name, rule in undeclared(found).items():
        problems.add(_cause(study, name), rule)
    differing = {item.name for item in found}
    if study.search.warm_start is not None:
        differing.add(WARM_START)
    for name in study.declared_differences.keys() - differing:
        rule = f"gives a reason, but no losses of a block differ in {name}: leave it out"
        problems.at(("declared_differences", name), rule)


def _cause(study: Study, name: str) -> Path:
    """Path to the first value in the file that causes a difference; else to ``losses``."""
    for index, loss in enumerate(study.losses):
        if name in loss.values:
            return "losses", index, "values", name
        if name in loss.own_parameters:
            return "losses", index, "space", name
    return ("losses",)
