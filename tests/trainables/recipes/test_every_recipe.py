"""What holds of every recipe, and the API that studies build on."""

import itertools
from dataclasses import asdict

import pytest

from podium.orchestrator.study.loss_facts import facts_of
from podium.trainables.errors import TrialInputError
from podium.trainables.recipes import RECIPES, loss_values, reasons_of, training_for
from podium.trainables.recipes._base import ANY, PROXY_LOSSES
from podium.trainables.registry import names

DATASETS = ("cub200", "cars196", "sop", "in_shop", "folder", "glyphs", "glyph_masks")
BACKBONES = ("resnet50", "bn_inception", "googlenet", "resnet18", "conv_small")


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("dataset", DATASETS)
def test_training_is_legal_on_every_data_set_with_every_backbone(recipe, dataset, backbone):
    training = training_for(recipe, dataset=dataset, backbone=backbone)
    training.check()
    assert training.recipe == recipe
    assert training.sampler in names("batch_samplers")
    assert training.epochs > 0
    if training.sampler == "balanced":
        assert training.batch_size >= 2 * training.samples_per_class > 2
        assert training.batch_size % training.samples_per_class == 0 or recipe == "gradml_paper"


@pytest.mark.parametrize("recipe", RECIPES)
def test_names_none_knows_get_the_base(recipe):
    assert training_for(recipe, dataset="mine", backbone="my_net") == RECIPES[recipe].base


@pytest.mark.parametrize("recipe", RECIPES)
def test_rows_are_of_data_sets_and_backbones_that_can_exist(recipe):
    for dataset, backbone in RECIPES[recipe].rows:
        assert dataset in (ANY, *DATASETS)
        assert backbone in (ANY, *BACKBONES)


@pytest.mark.parametrize("recipe", RECIPES)
def test_glyphs_are_not_cropped_and_a_fresh_network_is_not_frozen(recipe):
    for dataset in ("glyphs", "glyph_masks"):
        training = training_for(recipe, dataset=dataset, backbone="conv_small")
        assert training.augmentation == "shift"
        assert training.batch_norm == "train"


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("dataset", [None, *DATASETS])
def test_values_of_losses_are_legal_hyperparameters_of_that_loss(recipe, dataset):
    given = RECIPES[recipe]
    losses = {*given.losses, *(loss for on in given.losses_on.values() for loss in on)}
    assert losses <= set(names("losses"))
    for loss in losses:
        legal = facts_of(loss).legal_parameters
        for name, value in loss_values(recipe, loss, dataset=dataset).items():
            if name == "sampler":
                assert value in names("batch_samplers")
            else:
                assert legal[name].problem_with(value) is None, (loss, name)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_learning_rate_of_proxies_is_given_only_where_there_are_proxies(recipe):
    given = RECIPES[recipe]
    for values_by_loss in (given.losses, *given.losses_on.values()):
        for loss, values in values_by_loss.items():
            if "proxy_learning_rate" in values:
                assert "proxies" in facts_of(loss).needs


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_says_why_it_trains_losses_differently_where_it_does(recipe):
    differing = set()
    for dataset, backbone, loss in itertools.product(DATASETS, BACKBONES, names("losses")):
        training = asdict(training_for(recipe, dataset=dataset, backbone=backbone))
        given = loss_values(recipe, loss, dataset=dataset)
        differing |= {name for name in given.keys() & training if given[name] != training[name]}
    assert set(reasons_of(recipe)) == differing
    assert all(reason.strip() == reason != "" for reason in reasons_of(recipe).values())


def test_random_batches_are_for_all_losses_that_need_no_partners_in_the_batch():
    assert {"arcface", "proxy_anchor", "softmax"} < set(PROXY_LOSSES)
    # Both have proxies, or may have them, and compare samples as well.
    assert not {"margin", "probability_driven"} & set(PROXY_LOSSES)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("contrastive", {"margin": 0.5}),
        ("memory:contrastive", {"margin": 0.5}),
        ("fast_ap", {}),
        ("my.losses:Mine", {}),
        ("softmax>contrastive", {"contrastive.margin": 0.5}),
        (
            "proxy_nca+arcface",
            {
                "sampler": "random",
                "proxy_nca.scale": 0.5,
                "proxy_learning_rate": 1e-5,
                "arcface.margin_degrees": 28.6,
                "arcface.scale": 64.0,
            },
        ),
        (
            "contrastive+proxy_anchor",
            {"contrastive.margin": 0.5, "proxy_anchor.margin": 0.1, "proxy_anchor.alpha": 32.0},
        ),
    ],
)
def test_terms_of_a_sum_keep_their_values_and_agree_on_the_sampler(loss, expected):
    assert loss_values("psomas2020", loss) == expected


def test_an_unknown_recipe_is_answered_with_the_choices():
    for ask in (
        lambda: training_for("psomas", dataset="cub200", backbone="resnet50"),
        lambda: loss_values("psomas", "contrastive"),
        lambda: reasons_of("psomas"),
    ):
        with pytest.raises(
            TrialInputError,
            match=r"unknown recipe 'psomas' .did you mean 'psomas2020'.*known: fast, ",
        ):
            ask()
