"""What differs between competitors, as it is stored and put into words."""

import json
from dataclasses import asdict, replace

from pydantic import TypeAdapter

from podium.orchestrator.results.records.fairness_record import (
    Disparity,
    Fairness,
    Side,
    join_names,
    summarise_differences,
)

SAMPLER = Disparity(
    name="sampler",
    area="training",
    sides=(
        Side(value="balanced", competitors=("contrastive", "triplet")),
        Side(value="random", competitors=("proxy_anchor",)),
    ),
    blocks=("cub200/resnet50/64",),
    standing="recipe",
    reason="as in train.py",
)
WIDTHS = Disparity(
    name="searched_hyperparameters",
    area="space",
    sides=(
        Side(value="4", competitors=("proxy_anchor",)),
        Side(value="12", competitors=("soft_triple",)),
        Side(value="3", competitors=("contrastive",)),
    ),
)
PROXIES = Disparity(
    name="own_parameters",
    area="loss",
    sides=(
        Side(value="none", competitors=("contrastive",)),
        Side(value="trained", competitors=("proxy_anchor",)),
    ),
)


def test_a_disparity_says_which_losses_have_which_value_where_and_why():
    assert str(SAMPLER) == (
        "sampler in cub200/resnet50/64: balanced for contrastive and triplet; random for "
        "proxy_anchor (by the recipe: as in train.py)"
    )
    assert str(WIDTHS) == (
        "searched hyperparameters: 4 for proxy_anchor; 12 for soft_triple; 3 for contrastive"
    )


def test_a_summary_names_all_differences_but_properties_of_losses():
    assert summarise_differences([SAMPLER, WIDTHS, PROXIES]) == (
        "sampler (by the recipe), searched hyperparameters (3 to 12)"
    )
    assert summarise_differences([PROXIES]) == summarise_differences([]) == ""
    elsewhere = replace(SAMPLER, sides=SAMPLER.sides[::-1], blocks=("a", "b", "c"))
    assert summarise_differences([SAMPLER, elsewhere]) == "sampler (by the recipe)"
    assert (replace(elsewhere, blocks=("a", "b")).where, elsewhere.where) == (
        "in a and b",
        "in 3 settings",
    )
    assert replace(SAMPLER, standing="declared").by == "declared in the study file"
    assert replace(SAMPLER, standing="undeclared").by == "not declared"


def test_only_competitors_on_different_sides_are_separated():
    assert SAMPLER.separates("contrastive", "proxy_anchor")
    assert not SAMPLER.separates("contrastive", "triplet")
    assert not SAMPLER.separates("contrastive", "margin")  # which is on no side


def test_of_many_competitors_the_largest_side_is_the_others():
    names = [f"loss_{number}" for number in range(20)]
    item = Disparity(
        name="epochs",
        area="training",
        sides=(
            Side(value="8", competitors=tuple(names[:19])),
            Side(value="9", competitors=(names[19],)),
        ),
    )
    assert item.values == "9 for loss_19; 8 for the others"
    assert join_names(names) == "loss_0, loss_1, loss_2, loss_3, loss_4, loss_5 and 14 others"
    assert join_names(names[:7]) == ", ".join(names[:6]) + " and loss_6"


def test_what_is_stored_is_what_is_read():
    record = Fairness(
        equal={"finals": "3"}, settings={"epochs": "8"}, disparities=(SAMPLER, WIDTHS, PROXIES)
    )
    stored = json.loads(json.dumps(asdict(record)))
    assert TypeAdapter(Fairness).validate_python(stored) == record
