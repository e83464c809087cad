"""Checks that a study gives its losses the batches, class vectors and images they need."""

from podium.orchestrator.study.blocks import dataset_of
from podium.orchestrator.study.dataset_facts import dataset_facts
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.trained_losses import trained_losses
from podium.trainables.settings.frozen_feature_rules import mode_problem
from podium.trainables.settings.training_settings import balanced_samplers


def check_needs(study: Study, problems: Problems) -> None:
    """Note every loss that cannot be trained on these data or with these batches."""
    if problems.concern("losses"):
        return
    _check_batches(study, problems)
    _check_class_text(study, problems)
    _check_mode(study, problems)


def _check_batches(study: Study, problems: Problems) -> None:
    if problems.concern("training.sampler", "search.space", "search.tune"):
        return
    trainings = {item.loss: item.training for item in trained_losses(study, problems)}
    for loss in study.loss_names:
        training = trainings.get(loss)
        if training and not training.is_balanced and "balanced" in facts_of(loss).needs:
            rule = (
                f"training.sampler must be {' or '.join(balanced_samplers())}: {loss} compares "
                "images of a class, and with many classes a random batch has hardly any (1.3 % of "
                "the anchors of a batch of 180 on Stanford Online Products)"
            )
            problems.add("training.sampler", rule, got=training.sampler)


def _check_mode(study: Study, problems: Problems) -> None:
    """Note losses that need images where the study trains on feature vectors."""
    if problems.concern("training.mode", "datasets", "search.space", "search.tune"):
        return
    for item in trained_losses(study, problems):
        assert item.loss is not None
        facts = dataset_facts(dataset_of(study, item.block))
        problem = mode_problem(
            item.training.mode,
            item.loss,
            facts_of(item.loss).needs,
            has_vectors=facts.num_features is not None,
        )
        key_path = ("losses", study.loss_names.index(item.loss))
        if problem and not problems.concern(key_path):
            problems.add(key_path, problem)


def _check_class_text(study: Study, problems: Problems) -> None:
    needing = [loss for loss in study.loss_names if "class_text" in facts_of(loss).needs]
    if not needing:
        return
    for index, dataset in enumerate(study.datasets):
        if "class_text" not in dataset.options and not problems.concern(("datasets", index)):
            rule = (
                f"{needing[0]} needs a vector for the name of each class: give {dataset.label} "
                "the option class_text, a file that `podium datasets text` makes"
            )
            problems.add(("datasets", index), rule)
