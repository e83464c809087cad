"""Checks that the losses of a study can be ranked together: one task, declared differences."""

from collections.abc import Sequence

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
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.orchestrator.study_validation.training import TrainedLoss
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.registry import load
from podium.trainables.tasks import METRICS, Task, loss_problem, sampler_problem


def task_of(study: Study) -> Task:
    """The task of a checked study, which all its data sets share."""
    return dataset_facts(study.datasets[0]).task


def check_task(study: Study, items: Sequence[TrainedLoss], problems: Problems) -> None:
    """Note data sets of different tasks, and losses or batches for another task."""
    tasks = {dataset.label: dataset_facts(dataset).task for dataset in study.datasets}
    if len(set(tasks.values())) > 1:
        listed = "; ".join(
            f"{dataset} is scored by {METRICS[task][0].name} ({task})"
            for dataset, task in tasks.items()
        )
        rule = f"the data sets of a study must have one task to be ranked together: {listed}"
        problems.add("datasets", rule)
        return
    dataset, task = study.datasets[0].label, task_of(study)
    for index, loss in enumerate(study.loss_names):
        if problem := loss_problem(loss, facts_of(loss).needs, dataset, task):
            problems.add(("losses", index), problem)
    trainings = {(item.training.sampler, item.training.batch_size) for item in items}
    for sampler, size in sorted(trainings):
        found = load("batch_samplers", sampler)
        if problem := sampler_problem(sampler, found.needs, dataset, task):
            problems.add("training.sampler", problem)
        if size < found.smallest_batch and not problems.concern("training.batch_size"):
            rule = f"must be at least {found.smallest_batch} for {sampler}"
            problems.at("training.batch_size", rule, got=size)


_MIN_GROUPS = 2


def check_fairness(study: Study, _: Sequence[TrainedLoss], problems: Problems) -> None:
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


def check_test(study: Study, problems: Problems) -> None:
    """Note a test that the losses are too few for."""
    test, losses = study.tournament.test, study.loss_names
    if test in OF_THREE and len(losses) < 3:
        rule = f"{test} compares at least 3 losses; the study has {len(losses)}"
        problems.add("tournament.test", rule)


def check_against(study: Study, problems: Problems) -> None:
    """Note a loss to compare with that the study does not have."""
    against, losses = study.tournament.against, study.loss_names
    if against is not None and against not in losses:
        rule = "must be a loss of the study"
        problems.at("tournament.against", rule, got=against, choices=losses)


def check_score(study: Study, problems: Problems) -> None:
    """Note a score to rank by that the study does not have."""
    score, metric = study.tournament.score, metric_of(study.datasets)
    known = [RankedScore(metric, k).name for k in study.ks]
    known += METRICS_WITHOUT_K if metric == RECALL.name else ()
    if score is not None and score not in known:
        rule = "must be a score of the study's test classes"
        problems.at("tournament.score", rule, got=score, choices=known)


def check_groups(study: Study, problems: Problems) -> None:
    """Note groups of losses that cannot be compared."""
    groups = study.tournament.groups
    if groups is None:
        return
    if len(groups) < _MIN_GROUPS:
        problems.at("tournament.groups", f"compares at least {_MIN_GROUPS} groups of losses")
    of_loss: dict[str, str] = {}
    for name, losses in groups.items():
        for index, loss in enumerate(losses):
            path: Path = ("tournament", "groups", name, index)
            if loss not in study.loss_names:
                rule = "must be a loss of the study"
                problems.at(path, rule, got=loss, choices=study.loss_names)
            elif (other := of_loss.setdefault(loss, name)) != name:
                problems.add(path, f"{loss} is in the group {other} already", got=loss)
