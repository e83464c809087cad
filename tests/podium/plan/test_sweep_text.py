"""What a plan says of sweeps: the shipped study tries every step of its table."""

from pathlib import Path

import pytest

from orchestrator.planning.study_plan import plan
from orchestrator.study_validation.load_study import load_study
from podium.plan.sweep_text import sweep_notes, sweep_records
from tests.orchestrator.study_files import load

STUDY = Path(__file__).parents[3] / "studies/fixed-validation.yaml"


def planned(*settings):
    return plan(load_study(STUDY, settings)).sweeps


@pytest.mark.parametrize("sampler", ["coordinate", "coordinate-descent"])
def test_the_study_of_table_15_leaves_no_step_out(sampler):
    sweeps = planned(f"search.sampler={sampler}")
    assert all(item.sweeps.is_whole for item in sweeps)
    (text,) = sweep_notes(sweeps)
    assert "multi_similarity alpha 50 of 50, beta 50 of 50, margin 11 of 11, epsilon 11 of" in text
    assert "soft_triple scale 50 of 50, gamma 10 of 10" in text
    assert "no value is left out" not in text


def test_a_thinned_sweep_is_told_with_the_trials_that_it_takes():
    (text,) = sweep_notes(planned("search.trials=100"))
    assert "multi_similarity alpha 38 of 50, beta 38 of 50, margin 11 of 11" in text
    assert text.endswith("With search.trials 124 no value is left out.")


def test_a_range_without_steps_has_points_and_blocks_alike_are_told_once(tmp_path):
    study = load(
        tmp_path,
        "study: joint\ndatasets: [glyphs]\nembedding_dims: [16, 32]\nlosses: [proxy_anchor]\n"
        "search: {sampler: coordinate, trials: 10, tune: []}\n",
    )
    (text,) = sweep_notes(plan(study).sweeps)
    assert text == (
        "Sweeps, values tried of those there are: proxy_anchor alpha 4 points, margin 4 points"
        " (at most 10 trials)."
    )


def test_records_have_a_line_for_each_hyperparameter_and_other_samplers_none():
    first = sweep_records(planned("search.trials=100"))[0]
    assert first == {
        "block": "cub200/bn_inception/512/224px",
        "loss": "multi_similarity",
        "hyperparameter": "alpha",
        "tried": 38,
        "values": 50,
    }
    assert planned("search.sampler=random") == ()
    assert list(sweep_notes(())) == []
