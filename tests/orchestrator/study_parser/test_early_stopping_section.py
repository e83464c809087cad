import pytest

from orchestrator.study.study import EarlyStopping
from tests.orchestrator.study_files import MINIMAL, assert_matches, load, problems_of

WRONG = [
    ("search: {early_stopping: ashe}", "search.early_stopping must be one of the choices; .*"),
    ("search: {early_stopping: [asha]}", 'search.early_stopping must be a mapping; got ["asha"]'),
    (
        "search: {early_stopping: {reduction_factor: 1}}",
        "search.early_stopping.reduction_factor must be a whole number of at least 2; got 1",
    ),
    (
        "search: {early_stopping: {grace_epochs: 100}}",
        "grace_epochs must be at most training.epochs, which is \\d+; got 100",
    ),
    (
        "search: {early_stopping: folds}",
        "search.early_stopping folds needs a protocol of several folds, such as kind kfold; "
        'got "fixed"',
    ),
    (
        "search: {early_stopping: {kind: folds, grace_epochs: 2}}",
        "search.early_stopping.grace_epochs cannot be combined with kind folds, which takes "
        "reduction_factor",
    ),
    (
        "search: {early_stopping: {kind: median, reduction_factor: 2}}",
        "search.early_stopping.reduction_factor cannot be combined with kind median, which takes "
        "grace_epochs and min_trials",
    ),
    (
        "search: {early_stopping: {min_trials: 4}}",
        "search.early_stopping.min_trials cannot be combined with kind asha, which takes"
        " grace_epochs and reduction_factor",
    ),
    (
        "search: {early_stopping: {kind: hyperband, min_trials: 4}}",
        "search.early_stopping.min_trials cannot be combined with kind hyperband, .*",
    ),
    (
        "search: {early_stopping: {kind: none, grace_epochs: 2}}",
        "search.early_stopping.grace_epochs cannot be combined with kind none, which takes no"
        " number",
    ),
    (
        "search: {early_stopping: {kind: median, min_trials: 0}}",
        "search.early_stopping.min_trials must be a whole number of at least 1; got 0",
    ),
    (
        "search: {early_stopping: {kind: hyperband, grace_epochs: 100}}",
        "grace_epochs must be at most training.epochs, which is \\d+; got 100",
    ),
]


@pytest.mark.parametrize(("line", "problem"), WRONG, ids=[line for line, _ in WRONG])
def test_what_is_wrong_is_said_with_its_line(tmp_path, line, problem):
    assert_matches(problems_of(tmp_path, MINIMAL + line), [f"s.yaml:3: {problem}"])


def test_of_an_unknown_kind_numbers_are_not_checked(tmp_path):
    text = "search: {early_stopping: {kind: mediann, min_trials: 3}}"
    rule = 'search.early_stopping.kind must be one of the choices; got "mediann"; did you mean .*'
    assert_matches(problems_of(tmp_path, MINIMAL + text), [f"s.yaml:3: {rule}"])


def test_early_stopping_may_be_a_word(tmp_path):
    study = load(tmp_path, MINIMAL + "search: {early_stopping: none}")
    assert study.search.early_stopping == EarlyStopping(kind="none")


def test_each_kind_of_early_stopping_has_numbers_of_its_own(tmp_path):
    def stopping(text):
        study = load(tmp_path, MINIMAL + f"search: {{early_stopping: {text}}}")
        return study.search.early_stopping

    assert stopping("{kind: hyperband, grace_epochs: 2, reduction_factor: 4}") == EarlyStopping(
        kind="hyperband", grace_epochs=2, reduction_factor=4
    )
    assert stopping("{kind: median, grace_epochs: 2, min_trials: 1}") == EarlyStopping(
        kind="median", grace_epochs=2, min_trials=1
    )
