"""Checks that the losses of a study can be ranked together: one task, declared differences."""

from podium.orchestrator.results.records.metric_columns import (
    METRICS_WITHOUT_K,
    RECALL,
    RankedScore,
)
from podium.orchestrator.results.records.tournament_rules import OF_THREE
from podium.orchestrator.study.defaults import metric_of
from podium.orchestrator.study.fairness import (
    WARM_START,
    disparities,
    undeclared,
)
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.orchestrator.study_validation.trained_losses import known_datasets, trained_losses
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.registry import load
from podium.trainables.tasks import METRICS, Task, loss_problem, sampler_problem


def task_of(study: Study) -> Task:
    """The task of a checked study, which all its data sets share."""
    return dataset_facts(study.datasets[0]).task


def check_task(study: Study, problems: Problems) -> None:
    """Note data sets of different tasks, and losses or batches for another task."""
    tasks = {index: facts.task for index, _, facts in known_datasets(study, problems)}
    if len(set(tasks.values())) > 1:
        listed = "; ".join(
            f"{study.datasets[index].label} is scored by {METRICS[task][0].name} ({task})"
            for index, task in tasks.items()
        )
        rule = f"the data sets of a study must have one task to be ranked together: {listed}"
        problems.add("datasets", rule)
        return
    if tasks:
        first, task = next(iter(tasks.items()))
        _check_losses(study, study.datasets[first].label, task, problems)
        _check_sampler(study, study.datasets[first].label, task, problems)


def _check_losses(study: Study, dataset: str, task: Task, problems: Problems) -> None:
    if problems.concern("losses"):
        return
    for index, loss in enumerate(study.loss_names):
        problem = loss_problem(loss, facts_of(loss).needs, dataset, task)
        if problem is not None:
            problems.add(("losses", index), problem)


def _check_sampler(study: Study, dataset: str, task: Task, problems: Problems) -> None:
    if problems.concern("training.sampler"):
        return
    size_path = "training.batch_size"
    trainings = (item.training for item in trained_losses(study, problems))
    for sampler, size in dict.fromkeys((item.sampler, item.batch_size) for item in trainings):
        found = load("batch_samplers", sampler)
        problem = sampler_problem(sampler, found.needs, dataset, task)
        if problem is not None and not problems.concern("training.sampler"):
            problems.add("training.sampler", problem)
        if size < found.smallest_batch and not problems.concern(size_path):
            rule = f"training.batch_size must be at least {found.smallest_batch} for {sampler}"
            problems.add(size_path, rule, got=size)


_MIN_GROUPS = 2


def check_fairness(study: Study, problems: Problems) -> None:
    """Note differences without a declared reason, and reasons without a difference.

    Configs of earlier results are not known before the study starts: a reason is accepted then.
    """
    found = disparities(study)
    for name, rule in undeclared(found).items():
        problems.add(_cause(study, name), rule)
    differing = {item.name for item in found}
    if study.search.warm_start is not None:
        differing.add(WARM_START)
    for name in study.declared_differences.keys() - differing:
        path: Path = ("declared_differences", name)
        rule = f"{label(path)} gives a reason, but no losses of a block differ in {name}"
        problems.add(path, f"{rule}: leave it out")


def _cause(study: Study, name: str) -> Path:
    """Path to the first value in the file that causes a difference; else to ``losses``."""
    for index, loss in enumerate(study.losses):
        if name in loss.values:
            return "losses", index, "values", name
        if name in loss.own_parameters:
            return "losses", index, "space", name
    return ("losses",)


def check_test(study: Study, problems: Problems) -> None:
    """Note a test that the losses are too few for."""
    test, losses = study.tournament.test, study.loss_names
    if test in OF_THREE and len(losses) < 3:
        rule = f"{test} compares at least 3 losses; the study has {len(losses)}"
        problems.add(("tournament", "test"), rule)


def check_against(study: Study, problems: Problems) -> None:
    """Note a loss to compare with that the study does not have."""
    against, losses = study.tournament.against, study.loss_names
    if against is not None and against not in losses:
        rule = "tournament.against must be a loss of the study"
        problems.add(("tournament", "against"), rule, got=against, choices=losses)


def check_score(study: Study, problems: Problems) -> None:
    """Note a score to rank by that the study does not have."""
    path, score = ("tournament", "score"), study.tournament.score
    if score is None:
        return
    metric = metric_of(study.datasets)
    without_k = METRICS_WITHOUT_K if metric == RECALL.name else ()
    known = [*(RankedScore(metric, k).name for k in study.ks), *without_k]
    if score not in known:
        rule = "tournament.score must be a score of the study's test classes"
        problems.add(path, rule, got=score, choices=known)


def check_groups(study: Study, problems: Problems) -> None:
    """Note groups of losses that cannot be compared."""
    path, groups = ("tournament", "groups"), study.tournament.groups or {}
    if study.tournament.groups is not None and len(groups) < _MIN_GROUPS:
        problems.add(path, f"tournament.groups compares at least {_MIN_GROUPS} groups of losses")
    of_loss: dict[str, str] = {}
    for name, losses in groups.items():
        for index, loss in enumerate(losses):
            item = (*path, name, index)
            if loss not in study.loss_names:
                rule = f"tournament.groups.{name} must hold losses of the study"
                problems.add(item, rule, got=loss, choices=study.loss_names)
            elif (other := of_loss.setdefault(loss, name)) != name:
                problems.add(item, f"{loss} is in the group {other} already", got=loss)
