"""Recipes against the tables they are taken from, row by row."""

import csv
from pathlib import Path

import pytest

from podium.trainables.recipes import RECIPES, loss_values, training_for

DATA = Path(__file__).parents[2] / "data"
DATASETS = {"CUB200-2011": "cub200", "CARS196": "cars196", "SOP": "sop"}
BACKBONES = {"ResNet50": "resnet50", "BNInception": "bn_inception", "GoogLeNet": "googlenet"}
MINERS = {"semi-hard": "semihard_hardest", "distance-weighted": "distance_weighted"}

# Names of table 4 that are other ones here; "hard" mining is part of the two losses that have it.
HYPERPARAMETERS = {
    "proxy_lr": "proxy_learning_rate",
    "beta_lr": "proxy_learning_rate",
    "weights_lr": "proxy_learning_rate",
    ("MultiSimilarity", "scale_alpha"): "alpha",
    ("MultiSimilarity", "scale_beta"): "beta",
    ("SoftTriple", "scale_alpha"): "scale",
    ("ProxyAnchor", "scale_alpha"): "alpha",
    "l2": "norm_weight",
}


def rows(name):
    with (DATA / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def loss_named(thesis_name):
    return next(row["name"] for row in rows("loss_names.csv") if row["thesis_name"] == thesis_name)


@pytest.mark.parametrize(
    "row", rows("thesis_training.csv"), ids=lambda row: " ".join(row.values())
)
def test_the_thesis_trains_as_its_table_3_says(row):
    training = training_for(
        "psomas2020", dataset=DATASETS[row["dataset"]], backbone=BACKBONES[row["backbone"]]
    )
    assert training.learning_rate == float(row["learning_rate"])
    assert training.step_epochs == int(row["step_size_epochs"])
    assert training.step_factor == float(row["gamma"])
    assert training.epochs == int(row["epochs"])
    assert training.batch_size == int(row["batch_size"])


@pytest.mark.parametrize(
    "row", rows("thesis_loss_defaults.csv"), ids=lambda row: " ".join(row.values())
)
def test_the_thesis_gives_losses_what_its_table_4_says(row):
    values = loss_values("psomas2020", loss_named(row["loss"]))
    name = row["hyperparameter"]
    name = HYPERPARAMETERS.get((row["loss"], name), HYPERPARAMETERS.get(name, name))
    assert values[name] == float(row["value"])
    assert values.get("miner") == MINERS.get(row["mining"])


def test_the_thesis_gives_its_losses_nothing_beyond_its_tables():
    table = [row["loss"] for row in rows("thesis_loss_defaults.csv")]
    # Of equation 2.27; and the miner of table 5, where its slack is the loss's own.
    more = {"ProxyNCA": ["scale"], "LiftedStructure": ["epsilon"]}
    for loss in set(table):
        values = loss_values("psomas2020", loss_named(loss))
        own = [name for name in values if name not in ("miner", "sampler")]
        assert len(own) == table.count(loss) + len(more.get(loss, []))


def test_the_thesis_mines_hard_pairs_where_its_table_5_says_so():
    hard = {row["loss"] for row in rows("thesis_loss_defaults.csv") if row["mining"] == "hard"}
    assert hard == {"LiftedStructure", "MultiSimilarity"}
    for loss in hard:
        assert loss_values("psomas2020", loss_named(loss))["epsilon"] == 0.1


@pytest.mark.parametrize("loss", ["thesis_loss_1", "thesis_loss_2"])
def test_the_thesis_gives_the_losses_of_its_chapter_6_no_values(loss):
    assert loss_values("psomas2020", loss) == {"sampler": "random"}


# Where the text and the code of the thesis differ: docs/reference/recipes.md has the numbers.
@pytest.mark.parametrize("loss", ["margin", "margin_cosine"])
def test_boundaries_of_the_thesis_train_at_the_rate_of_its_table(loss):
    assert loss_values("psomas2020", loss)["proxy_learning_rate"] == 5e-5


@pytest.mark.parametrize(
    ("loss", "name", "text", "code"),
    [
        ("proxy_nca", "proxy_learning_rate", 1e-5, 0.0),
        ("arcface", "proxy_learning_rate", 1e-4, 0.0),
        ("arcface", "scale", 64.0, 220.0),
        ("multi_similarity", "alpha", 2.0, 17.97),
        ("multi_similarity", "beta", 50.0, 75.66),
        ("multi_similarity", "margin", 0.5, 0.77),
        ("multi_similarity", "epsilon", 0.1, 0.39),
        ("soft_triple", "margin", 0.1, 0.01),
        ("soft_triple", "tau", 0.2, 0.4),
        ("soft_triple", "proxy_learning_rate", 1e-4, 1e-2),
        ("n_pair", "norm_weight", 0.02, 0.0),
        ("margin", "margin", 0.5, 0.2),
    ],
)
def test_text_and_code_of_the_thesis_are_two_recipes(loss, name, text, code):
    assert loss_values("psomas2020", loss)[name] == text
    assert loss_values("psomas2020_code", loss)[name] == code


def test_text_and_code_of_the_thesis_differ_in_batch_step_and_length():
    text = training_for("psomas2020", dataset="cub200", backbone="resnet50")
    code = training_for("psomas2020_code", dataset="cub200", backbone="resnet50")
    assert (text.batch_size, text.step_factor, text.l2) == (100, 0.1, False)
    assert (code.batch_size, code.step_factor, code.l2) == (150, 0.5, True)
    assert code.step_epochs == text.step_epochs == 5
    assert (text.warm_up_epochs, code.warm_up_epochs) == (0, 5)


@pytest.mark.parametrize("dataset", ["cub200", "cars196", "sop", "in_shop"])
@pytest.mark.parametrize("loss", ["proxy_anchor", "soft_triple"])
def test_the_code_of_the_thesis_trains_proxies_at_100_times_the_networks_rate(dataset, loss):
    training = training_for("psomas2020_code", dataset=dataset, backbone="bn_inception")
    values = loss_values("psomas2020_code", loss, dataset=dataset)
    rate = values.get("proxy_learning_rate", training.proxy_learning_rate)
    assert rate == pytest.approx(100 * training.learning_rate)
    assert values.get("tau") == (0.4 if loss == "soft_triple" else None)


# The commands of the Proxy-Anchor authors' README: batch, lr, warm, bn-freeze, step, gamma.
@pytest.mark.parametrize(
    ("dataset", "backbone", "command"),
    [
        ("cub200", "bn_inception", (180, 1e-4, 1, "frozen_statistics", 10, 0.5)),
        ("cub200", "resnet50", (120, 1e-4, 5, "frozen_statistics", 5, 0.5)),
        ("cars196", "bn_inception", (180, 1e-4, 1, "frozen_statistics", 20, 0.5)),
        ("cars196", "resnet50", (120, 1e-4, 5, "frozen_statistics", 10, 0.5)),
        ("sop", "bn_inception", (180, 6e-4, 1, "train", 20, 0.25)),
        ("in_shop", "bn_inception", (180, 6e-4, 1, "train", 20, 0.25)),
    ],
)
def test_proxy_anchor_trains_as_its_commands_say(dataset, backbone, command):
    training = training_for("proxy_anchor_paper", dataset=dataset, backbone=backbone)
    assert command == (
        training.batch_size,
        training.learning_rate,
        training.warm_up_epochs,
        training.batch_norm,
        training.step_epochs,
        training.step_factor,
    )
    assert training.proxy_learning_rate == pytest.approx(100 * training.learning_rate)


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("cub200", {"subproxies": 12, "regulariser": 0.3, "proxy_learning_rate": 0.03}),
        ("cars196", {"subproxies": 12, "regulariser": 0.3, "proxy_learning_rate": 0.03}),
        ("sop", {"subproxies": 1, "regulariser": 0.0, "proxy_learning_rate": 0.3}),
    ],
)
def test_proxy_gml_has_other_values_on_sop(dataset, expected):
    values = loss_values("proxy_gml_paper", "proxy_gml", dataset=dataset)
    assert values == {**expected, "ratio": 0.05, "sampler": "random"}


def test_the_reality_check_has_a_best_value_for_each_data_set():
    scales = [
        loss_values("reality_check", "arcface", dataset=name).get("scale")
        for name in ("cub200", "cars196", "sop", "in_shop", None)
    ]
    assert scales == [100.0, 49.5, 220.3, None, None]


def test_image_sizes_are_those_of_the_sources():
    sizes = {name: recipe.image_size for name, recipe in RECIPES.items()}
    assert sizes.pop("fast") is None
    assert sizes.pop("reality_check") == 227
    assert set(sizes.values()) == {224}


def test_gradml_trains_as_its_paper_says():
    training = training_for("gradml_paper", dataset="cub200", backbone="resnet50")
    assert (training.optimiser, training.learning_rate) == ("adam", 1e-7)
    assert (training.batch_size, training.weight_decay) == (32, 4e-4)
    assert training.batch_norm == "frozen"
    assert training.augmentation == "random_resized_crop"
    assert training.evaluation_crop < 1.0
    assert RECIPES["gradml_paper"].image_size == 224
