"""A study file says why its losses are not trained alike, or is refused."""

import pytest

from podium.orchestrator.study.resolved_study import resolved_dict
from podium.orchestrator.study.study_changes import forbidden_changes
from tests.orchestrator.study_files import assert_matches, cases, load, problems_of

UNEQUAL = """study: x
losses:
  - contrastive
  - loss: triplet
    values: {learning_rate: 0.01}
  - margin
search: {tune: []}
"""
DECLARED = "declared_differences: {learning_rate: published with it}\n"


def test_a_difference_without_a_reason_is_refused_with_the_line_to_add(tmp_path):
    (problem,) = problems_of(tmp_path, UNEQUAL)
    assert problem == (
        "s.yaml:5: the losses differ in learning_rate (0.001 for contrastive and margin; 0.01 for "
        "triplet): make it the same for all, or say why it is not in a line of its own: "
        'declared_differences: {learning_rate: "..."}'
    )


def test_a_difference_made_by_a_space_is_placed_at_its_range(tmp_path):
    text = UNEQUAL.replace("values: {learning_rate: 0.01}", "space:\n      learning_rate: [0.1]")
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith("s.yaml:6: the losses differ in learning_rate (0.001 for contrast")


def test_a_warm_start_may_be_declared_before_it_is_known_who_gets_one(tmp_path):
    line = "declared_differences: {warm_start: margin is new}\n"
    text = "study: x\nlosses: [contrastive, margin]\n" + line
    (problem,) = problems_of(tmp_path, text)
    assert "no losses of a block differ in warm_start" in problem
    study = load(tmp_path, f"{text}search: {{warm_start: {{from: earlier}}}}\n")
    assert study.declared_differences == {"warm_start": "margin is new"}


REFUSED = """
{batch_size: because} -> .*batch_size gives a reason, but no losses of a block differ in .*
{sampler: '  '} -> declared_differences.sampler must be text that is not blank; got "  "
"""


@pytest.mark.parametrize(("line", "problem"), cases(REFUSED))
def test_a_reason_is_text_for_something_that_differs(tmp_path, line, problem):
    text = (
        "study: x\nlosses: [contrastive, arcface]\n"
        "training: {recipe: psomas2020, batch_size: 20}\n"
        f"declared_differences: {line}\n"
    )
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:4: {problem}"])


def test_a_reason_changes_no_number_so_a_study_continues_with_another(tmp_path):
    old = resolved_dict(load(tmp_path, UNEQUAL + DECLARED))
    new = resolved_dict(load(tmp_path, UNEQUAL + DECLARED.replace("with it", "so")))
    assert old != new
    assert not forbidden_changes(old, new)
