"""What differs between the losses of a study in what their searches know and cover."""

from dataclasses import replace

import pytest

from orchestrator.errors import StudyError
from orchestrator.study.fairness import fairness, report_differences
from orchestrator.study.loss_facts import facts_of
from tests.orchestrator.study.test_fairness import ALIKE, differences, sides, study_of


def test_the_numbers_of_searched_hyperparameters_are_told(tmp_path):
    study = study_of(tmp_path, "multi_similarity", "contrastive, lifted_structure")
    item = differences(study)["searched_hyperparameters"]
    assert [(side.value, side.competitors) for side in item.sides] == [
        ("2", ALIKE),
        ("5", ("multi_similarity",)),
    ]
    assert item.standing == "noted"


def test_a_published_default_that_is_written_out_is_still_one(tmp_path):
    margin = facts_of("contrastive").defaults["margin"]
    first = f"{{loss: contrastive, values: {{margin: {margin}}}}}"
    assert fairness(study_of(tmp_path, first)).disparities == ()


@pytest.mark.parametrize(
    ("first", "more", "value"),
    [
        ("{loss: contrastive, values: {margin: 0.9}}", "", "the study's values"),
        ("margin", "training: {recipe: thesis}", "the recipe's values"),
        ("{loss: margin, values: {margin: 0.3}}", "training: {recipe: thesis}", "the study's "),
    ],
)
def test_a_first_config_that_is_not_published_is_told(tmp_path, first, more, value):
    item = differences(study_of(tmp_path, first, "fast_ap", more))["first_config"]
    one, other = item.sides
    assert one.value.startswith(value)
    assert (other.value, other.competitors) == ("published defaults", ("fast_ap",))
    assert item.standing == "noted"


POINTS = "[{margin: 0.3}, {margin: 0.4}]"


def tried(points):
    return f"{{loss: contrastive, try_first: {points}}}"


def test_configs_that_one_loss_alone_tries_first_are_a_difference(tmp_path):
    study = study_of(tmp_path, tried(POINTS), more="declared_differences: {try_first: known}")
    item = differences(study)["try_first"]
    assert sides(item) == {"2 configs": ("contrastive",), "0 configs": ("lifted_structure",)}
    assert (item.area, item.standing, item.reason) == ("search", "declared", "known")


def test_configs_that_every_loss_tries_first_are_not_but_their_number_is_told(tmp_path):
    second = "{loss: lifted_structure, try_first: [{margin: 0.3}]}"
    assert fairness(study_of(tmp_path, tried("[{margin: 0.3}]"), second)).disparities == ()
    item = differences(study_of(tmp_path, tried(POINTS), second))["try_first"]
    assert sides(item) == {"2 configs": ("contrastive",), "1 config": ("lifted_structure",)}
    assert item.standing == "noted"


def test_what_earlier_results_give_to_some_losses_is_a_difference_in_those_blocks(tmp_path):
    study = study_of(tmp_path, *ALIKE, "embedding_dims: [16, 32]")
    one, other = ((f"glyphs/conv_small/{dim} {loss}" for loss in ALIKE) for dim in (16, 32))
    both = {key: ({"margin": 0.3},) for key in one}
    assert fairness(replace(study, warm_starts=both)).disparities == ()
    cold, warm = other
    uneven = replace(study, warm_starts={**both, warm: ({"margin": 0.3},), cold: ()})
    item = differences(uneven)["warm_start"]
    assert sides(item) == {"0 configs": ("contrastive",), "1 config": ("lifted_structure",)}
    assert (item.blocks, item.standing) == (("glyphs/conv_small/32",), "undeclared")
    with pytest.raises(StudyError, match=r"differ in warm_start .*in glyphs/conv_small/32.*line"):
        report_differences(uneven, print)
    said = []
    declared = {"warm_start": "a new loss"}
    report_differences(replace(uneven, declared_differences=declared), said.append)
    assert said == [
        "Not equal between the losses: warm_start (declared in the study file). See podium plan "
        "for details."
    ]
