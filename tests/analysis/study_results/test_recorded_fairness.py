"""What stored trials say of fairness: each planted difference is found, and no other."""

import itertools
import json

import polars as pl
import pytest

from podium.analysis.study_results.recorded_fairness import CHECKED, fairness_checks, used_budgets

STAGES = ("search", "winners", "defaults")
BLOCKS = ("glyphs-greek/conv_small/16", "glyphs-latin/conv_small/16")
LOSSES = ("contrastive", "margin", "triplet")
SEEDS = (1000, 1001, 1002)
SEARCH_TRIALS = 4
SCHEMA = {"image_size": pl.Int32, "train_on": pl.String, "repeat": pl.Int32}


def row(block, loss, stage, index, **values):
    """A trial as it is if nothing differs between losses."""
    is_final = stage == "final"
    return {
        "search": f"{block}.{loss}",
        "stage": stage,
        "block": block,
        "loss": loss,
        "protocol": "fixed",
        "split_protocol": "fixed",
        "repeat": 0,
        "train_on": "part" if is_final else None,
        "is_winner": is_final,
        "is_default": is_final,
        "backbone": "conv_small",
        "weights": "random",
        "embedding_dim": 16,
        "image_size": None,
        "test_hash": f"test-{block}",
        "protocol_hash": f"protocol-{block}",
        "split_hash": f"split-{block}",
        "seed": SEEDS[index] if is_final else 7,
        "epochs_planned": 6,
        "epochs_run": 2 if index == 1 and not is_final else 6,
        "training": json.dumps({"batch_size": 32, "sampler": "balanced"}),
        "selection_rule": "best_val_epoch",
        "podium_version": "0.1.0",
        "torch_version": "2.15.0",
        "git_commit": "0123abc",
        "device": "cpu",
        "state": "PRUNED" if index == 1 and not is_final else "COMPLETE",
        **values,
    }


def trials(change=lambda row: {}):
    """All trials of a study of both blocks, each with what ``change`` says of it."""
    rows = [
        row(block, loss, stage, index)
        for block, loss in itertools.product(BLOCKS, LOSSES)
        for stage, number in (("search", SEARCH_TRIALS), ("final", len(SEEDS)))
        for index in range(number)
    ]
    return pl.DataFrame([{**it, **change(it)} for it in rows], schema_overrides=SCHEMA)


def differences(frame):
    return {(item.stage, item.column) for item in fairness_checks(frame) if item.disparities}


def test_equal_trials_differ_in_nothing():
    found = fairness_checks(trials())
    assert [item for item in found if item.disparities] == []
    assert {item.num_groups for item in found} == {len(BLOCKS)}
    compared = {(item.stage, item.column) for item in found}
    columns = CHECKED.keys() - {"image_size"}  # which no trial has
    assert compared == set(itertools.product(STAGES, columns))


OTHERS = {
    "backbone": "resnet50",
    "weights": "imagenet",
    "embedding_dim": 32,
    "image_size": 224,
    "test_hash": "another",
    "protocol_hash": "another",
    "split_hash": "another",
    "seed": 99,
    "epochs_planned": 7,
    "training": json.dumps({"batch_size": 64, "sampler": "balanced"}),
    "selection_rule": "last_epoch",
    "podium_version": "0.2.0",
    "torch_version": "2.14.0",
    "git_commit": "fedcba9",
    "device": "cuda:0",
}


def test_every_checked_column_is_planted_below():
    assert OTHERS.keys() == CHECKED.keys()


COLUMNS = list(CHECKED)


@pytest.mark.parametrize("columns", [COLUMNS[::2], COLUMNS[1::2]], ids=["some", "others"])
@pytest.mark.parametrize("stage", ["search", "final"])
def test_other_values_of_one_loss_in_one_block_are_found_there_and_nowhere_else(stage, columns):
    def change(it):
        is_there = (it["block"], it["loss"], it["stage"]) == (BLOCKS[1], "margin", stage)
        return {column: OTHERS[column] for column in columns} if is_there else {}

    found = [item for item in fairness_checks(trials(change)) if item.disparities]
    stages = ("search",) if stage == "search" else ("winners", "defaults")
    assert {(item.stage, item.column) for item in found} == set(itertools.product(stages, columns))
    for item in found:
        for disparity in item.disparities:
            assert disparity.blocks == (BLOCKS[1],)
            assert disparity.separates("margin", "contrastive")
            assert disparity.separates("margin", "triplet")
            assert not disparity.separates("contrastive", "triplet")


def test_what_differs_between_blocks_alone_is_no_difference_between_losses():
    assert differences(trials(lambda it: OTHERS if it["block"] == BLOCKS[0] else {})) == set()


def test_a_seed_lost_to_a_failure_is_named():
    def change(it):
        is_lost = it["stage"] == "final" and it["loss"] == "triplet" and it["seed"] == SEEDS[1]
        return {"state": "FAILED"} if is_lost else {}

    frame = trials(change)
    assert differences(frame) == {("winners", "seed"), ("defaults", "seed")}
    (item,) = [it for it in fairness_checks(frame) if it.stage == "winners" and it.disparities]
    (disparity,) = item.disparities
    assert disparity.blocks == BLOCKS
    assert {side.value: side.competitors for side in disparity.sides} == {
        "1000, 1001, 1002": ("contrastive", "margin"),
        "1000, 1002": ("triplet",),
    }


def test_a_loss_that_lost_every_seed_has_none():
    frame = trials(
        lambda it: (
            {"state": "FAILED"} if it["stage"] == "final" and it["loss"] == "triplet" else {}
        )
    )
    item = next(
        it for it in fairness_checks(frame) if (it.stage, it.column) == ("winners", "seed")
    )
    assert ("none", ("triplet",)) in [
        (side.value, side.competitors) for side in item.disparities[0].sides
    ]


def test_of_many_values_those_that_are_lacking_are_named():
    seeds = list(range(12))
    rows = [
        row(BLOCKS[0], loss, "final", 0, seed=seed)
        for loss in LOSSES
        for seed in seeds
        if (loss, seed) != ("margin", 5) and (loss != "triplet" or seed < 6)
    ]
    found = fairness_checks(pl.DataFrame(rows, schema_overrides=SCHEMA))
    (disparity,) = next(it for it in found if it.column == "seed").disparities
    assert {side.value: side.competitors for side in disparity.sides} == {
        "all 12": ("contrastive",),
        "all but 5": ("margin",),
        "6 of 12": ("triplet",),
    }


def test_of_a_training_the_settings_that_differ_are_named():
    frame = trials(lambda it: {"training": OTHERS["training"]} if it["loss"] == "margin" else {})
    item = next(it for it in fairness_checks(frame) if it.column == "training")
    assert [side.value for side in item.disparities[0].sides] == ["batch_size 32", "batch_size 64"]


def test_splits_that_are_drawn_for_each_config_are_not_compared():
    def change(it):
        fresh = {"split_protocol": "random_splits", "split_hash": f"of-{it['loss']}"}
        return fresh if it["stage"] == "search" else {}

    frame = trials(change)
    assert differences(frame) == set()
    assert ("search", "split_hash") not in {(it.stage, it.column) for it in fairness_checks(frame)}


def test_epochs_that_each_search_selected_are_not_compared():
    def change(it):
        epochs = {"contrastive": 3, "margin": 4, "triplet": 5}[it["loss"]]
        return {"train_on": "all", "epochs_planned": epochs} if it["stage"] == "final" else {}

    assert differences(trials(change)) == set()


def test_losses_are_compared_under_each_protocol_by_itself():
    both = pl.concat(
        [
            trials(),
            trials(lambda it: {"protocol": "kfold", "protocol_hash": "k", "split_hash": "k"}),
            trials(
                lambda it: {
                    "repeat": 1,
                    "split_hash": "another" if it["loss"] == "margin" else "its own",
                }
            ),
        ]
    )
    assert differences(both) == {(stage, "split_hash") for stage in STAGES}
    item = next(it for it in fairness_checks(both) if it.disparities)
    assert item.num_groups == 3 * len(BLOCKS)
    assert item.disparities[0].blocks == tuple(f"{block} under fixed" for block in BLOCKS)


def test_with_one_loss_nothing_is_compared():
    alone = trials().filter(pl.col("loss") == "margin")
    assert {(item.num_groups, item.disparities) for item in fairness_checks(alone)} == {(0, ())}


def test_no_trials_are_no_findings():
    assert fairness_checks(trials().clear()) == ()


def test_budgets_are_counted_search_by_search():
    def change(it):
        is_broken = it["loss"] == "triplet" and it["stage"] == "final" and it["seed"] == SEEDS[0]
        return {"state": "FAILED"} if is_broken else {}

    short = row(BLOCKS[0], "margin", "search", 0, search="one more")
    frame = pl.concat([trials(change), pl.DataFrame([short], schema_overrides=SCHEMA)])
    contrastive, margin, triplet = used_budgets(frame, SEARCH_TRIALS).to_dicts()
    assert contrastive == {
        "loss": "contrastive",
        "protocol": "fixed",
        "searches": 2,
        "short_searches": 0,
        "fewest_trials": 4,
        "most_trials": 4,
        "mean_epochs": 3 * 6 + 2,
        "pruned": 2,
        "failed": 0,
        "finals": 2 * 3,
        "failed_finals": 0,
    }
    assert (margin["searches"], margin["short_searches"], margin["fewest_trials"]) == (3, 1, 1)
    assert margin["mean_epochs"] == pytest.approx((20 + 20 + 6) / 3)
    assert (triplet["finals"], triplet["failed_finals"]) == (6, 2)


def test_searches_without_finals_have_tested_nothing():
    searched = trials().filter(pl.col("stage") == "search")
    assert used_budgets(searched, SEARCH_TRIALS)["finals"].to_list() == [0, 0, 0]
