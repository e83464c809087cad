"""What a study sets for its losses is used by some trial, or refused."""

import pytest

from tests.orchestrator.study_files import assert_matches, cases, load, problems_of

HEAD = "study: x\nlosses: "  # line 2
FIXED_BETA = ".*.proxy_learning_rate changes nothing: margin trains .* only if learn_beta is True"
NO_PROXIES = "changes nothing: contrastive has no proxies"
NO_CENTRES = "changes nothing: it exists only if centres > 1"
UNUSED = f"""
margin, values: {{learn_beta: false, proxy_learning_rate: 0.1}} -> {FIXED_BETA}
margin, values: {{learn_beta: false}}, space: {{proxy_learning_rate: [0.1]}} -> {FIXED_BETA}
margin+nca, values: {{margin.learn_beta: false, proxy_weight_decay: 0.1}} -> .*beta is True
contrastive, space: {{proxy_learning_rate: [0.1, 0.2]}} -> space.proxy_learning_rate {NO_PROXIES}
soft_triple, values: {{centres: 1}}, space: {{tau: [0.1, 0.2]}} -> space.tau {NO_CENTRES}
soft_triple, values: {{centres: 1, tau: 0.3}}, space: {{margin: [0.1]}} -> values.tau {NO_CENTRES}
"""
NEVER_TRAINED = """
memory:contrastive -> 1 -> memory_start_epoch must be at most 1, .*; got 2
softmax>contrastive -> 1 -> pretraining_epochs must be at most 0, .*; got 1
{loss: softmax>nca, values: {pretraining_epochs: 9}} -> 9 -> pretraining_epochs .* 8, .*
"""
USED = [
    "{loss: margin, values: {proxy_learning_rate: 0.1}}",
    "{loss: margin, values: {learn_beta: false, proxy_learning_rate: 0.1}, "
    "space: {learn_beta: [true, false]}}",
    "{loss: margin+softmax, values: {margin.learn_beta: false, proxy_learning_rate: 0.1}}",
    "{loss: 'pytorch_metric_learning.losses:CircleLoss', values: {proxy_learning_rate: 0.1}}",
    "{loss: soft_triple, values: {centres: 1, tau: 0.3}}",  # the joint space has more centres
    "{loss: soft_triple, values: {centres: 1}, space: {centres: [1, 5], tau: [0.1, 0.2]}}",
]


@pytest.mark.parametrize(("loss", "problem"), cases(UNUSED))
def test_what_would_change_nothing_is_refused(tmp_path, loss, problem):
    problems = problems_of(tmp_path, f"{HEAD}[{{loss: {loss}}}]")
    assert_matches(problems, [f"s.yaml:2: losses[0].{problem}.*"])


# Trials would refuse a step_factor without steps, and train as if the rest had not been said.
UNUSED_TRAINING = """
{} -> values: {step_factor: 0.5} -> step_epochs is 0, so learning rates stay constant
{} -> space: {step_factor: [0.5]} -> step_epochs is 0, so learning rates stay constant
{mode: frozen_features} -> values: {warm_up_epochs: 2} -> the backbone is frozen
{mode: frozen_features} -> space: {warm_up_epochs: {low: 0, high: 2}} -> the backbone is frozen
"""


@pytest.mark.parametrize(("training", "setting", "reason"), cases(UNUSED_TRAINING))
def test_what_a_loss_sets_of_training_is_used_or_refused(tmp_path, training, setting, reason):
    text = f"{HEAD}[{{loss: triplet, {setting}}}, nca]\ntraining: {training}"
    kind, name, *_ = setting.replace(" {", "").split(":")
    where = f"losses[0].{kind}.{name}"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:2: {where} changes nothing: {reason}.*"])
    used = text.replace(training, "{epochs: 4, step_epochs: 3, step_factor: 0.2}")
    declared = f"{used}\ndeclared_differences: {{{name}: to see that it is used}}"
    assert load(tmp_path, declared).losses[0].name == "triplet"


@pytest.mark.parametrize("loss", USED)
def test_what_some_trial_uses_is_accepted(tmp_path, loss):
    assert load(tmp_path, f"{HEAD}[{loss}]").losses[0].values


@pytest.mark.parametrize(("loss", "epochs", "problem"), cases(NEVER_TRAINED))
def test_a_part_of_a_loss_that_would_never_train_is_refused(tmp_path, loss, epochs, problem):
    text = f"{HEAD}[{loss}]\ntraining: {{epochs: {epochs}}}"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:2: {problem}"])


def test_a_loss_guided_by_language_needs_the_names_of_the_classes(tmp_path):
    problem = (
        "s.yaml:.*: multi_similarity+language_guidance needs a vector for the name of each class: "
        "give glyphs-greek the option class_text, a file that `podium datasets text` makes"
    )
    text = f"{HEAD}[multi_similarity+language_guidance]\n"
    text += "datasets: [{name: glyphs, script: greek}]"
    assert_matches(problems_of(tmp_path, text), [problem])


def test_a_number_beyond_all_floats_is_refused(tmp_path):
    text = f"{HEAD}[{{loss: contrastive, values: {{margin: {'1' * 400}}}}}]"
    rule = "losses[0].values.margin must be in [.*]; got 1111.*..."
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:2: {rule}"])


FINE_TUNING = """
layer_decay: 0.8 -> training.layer_decay is for networks of timm .*; got 0.8 for conv_small
gradient_checkpointing: true -> training.gradient_checkpointing is for networks of timm .*
epochs: 3, linear_warm_up_epochs: 3 -> .*linear_warm_up_epochs must be below .*epochs, 3; got 3
"""


@pytest.mark.parametrize(("training", "problem"), cases(FINE_TUNING))
def test_fine_tuning_that_a_network_cannot_do_is_refused(tmp_path, training, problem):
    text = f"{HEAD}[triplet, nca]\ntraining: {{{training}}}"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:3: .*{problem}"])
