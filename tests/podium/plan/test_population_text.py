"""What a plan says of trials that are trained together."""

import pytest

from podium.orchestrator.planning.study_plan import plan
from podium.plan.plan_text import population_note
from tests.orchestrator.study_files import load

HEADS = """\
study: heads
losses: [contrastive, {loss}]
training: {{mode: {mode}}}
search: {{population: {population}}}
"""


@pytest.mark.parametrize(
    ("loss", "mode", "population", "note"),
    [
        (
            "proxy_anchor",
            "frozen_features",
            "auto",
            "Populations: up to 5 trials of a search are trained together, in 2 of 2 searches;"
            " finals alone.",
        ),
        (
            "chopra",
            "frozen_features",
            "8",
            "Populations: up to 8 trials of a search are trained together, in 1 of 2 searches;"
            " finals alone. Alone: chopra, since it cannot be mapped over its hyperparameters.",
        ),
        (
            "proxy_anchor",
            "fine_tune",
            "8",
            "Populations: none, every trial is trained alone: contrastive, since its backbone is"
            " trained; proxy_anchor, since its backbone is trained.",
        ),
    ],
)
def test_a_plan_says_who_is_trained_together(tmp_path, loss, mode, population, note):
    text = HEADS.format(loss=loss, mode=mode, population=population)
    assert population_note(plan(load(tmp_path, text))) == note
