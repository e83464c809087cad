"""Checks that the data sets of a study have one task, and its losses and batches fit it."""

from pathlib import Path

from podium.orchestrator.study.dataset_facts import dataset_facts
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.trained_losses import known_datasets, trained_losses
from podium.trainables.dataset_interface.load_dataset import has_own_size
from podium.trainables.dataset_interface.verification_pairs import check_pairs_file
from podium.trainables.errors import TrialInputError
from podium.trainables.registry import load
from podium.trainables.settings.trial_settings import VERIFICATION_PAIRS
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
        _check_verification(study, task, problems)


def _check_losses(study: Study, dataset: str, task: Task, problems: Problems) -> None:
    if problems.concern("losses"):
        return
    for index, loss in enumerate(study.loss_names):
        problem = loss_problem(loss, facts_of(loss).needs, dataset, task)
        if problem is not None:
            problems.add(("losses", index), problem)


def _check_verification(study: Study, task: Task, problems: Problems) -> None:
    """Note tests that cannot verify pairs, and a file of pairs that cannot be read."""
    path = ("metrics", "verification")
    if not study.verification or problems.concern(path):
        return
    if task == "continuous":
        problems.add(path, "images can be verified by class only, and these have label distances")
        return
    for _, dataset, facts in known_datasets(study, problems):
        pairs = dataset.options.get(VERIFICATION_PAIRS)
        if facts.num_test_classes < 2:
            rule = f"verification needs 2 test classes, and {dataset.label} has"
            problems.add(path, rule, got=facts.num_test_classes)
        elif pairs is not None and has_own_size(dataset):
            rule = f"a file of pairs names image files, and {dataset.label} has none"
            problems.add((*path, "pairs"), rule)
        elif pairs is not None:
            try:
                check_pairs_file(Path(str(pairs)))
            except TrialInputError as error:
                problems.add((*path, "pairs"), str(error))


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
