import pytest

from podium.orchestrator.study.study import EarlyStopping
from tests.orchestrator.study_files import MINIMAL, assert_matches, cases, load, problems_of

WRONG = r"""
ashe -> search.early_stopping.kind must be one of the choices; .*; did you mean asha? .*
[asha] -> search.early_stopping must be a mapping; got ["asha"]
{grace_epochs: 100} -> grace_epochs must be at most training.epochs, which is \d+; got 100
folds -> search.early_stopping folds needs a protocol of several folds, such as .*; got "fixed"
{kind: folds, grace_epochs: 2} -> .*grace_epochs cannot be combined with kind folds, which takes .*
{kind: none, grace_epochs: 2} -> .*cannot be combined with kind none, which takes nothing
{min_trials: 4} -> unknown key in search.early_stopping; got "min_trials"; .*
{kind: fold, grace_epochs: 3} -> search.early_stopping.kind must be one of .*; got "fold"; .*
"""


@pytest.mark.parametrize(("rules", "problem"), cases(WRONG))
def test_what_is_wrong_is_said_with_its_line(tmp_path, rules, problem):
    text = f"{MINIMAL}search: {{early_stopping: {rules}}}"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:3: {problem}"])


def test_each_kind_of_early_stopping_has_numbers_of_its_own(tmp_path):
    def stopping(text):
        protocol = "protocol: {kind: kfold, folds: 3}\n"
        study = load(tmp_path, f"{MINIMAL}{protocol}search: {{early_stopping: {text}}}")
        return study.search.early_stopping

    assert stopping("{grace_epochs: 2, reduction_factor: 4}") == EarlyStopping(
        kind="asha", grace_epochs=2, reduction_factor=4
    )
    assert stopping("{kind: folds, reduction_factor: 2}") == EarlyStopping(
        kind="folds", reduction_factor=2
    )
