"""The table of a user's earlier runs, and the one that podium ships."""

import itertools
from dataclasses import replace

import pytest

from orchestrator.planning.cost_tables import (
    add_own_costs,
    own_costs,
    own_table,
    shipped_costs,
)
from orchestrator.planning.image_cost import Conditions, ImageCost, cost_under
from podium.errors import PodiumError
from trainables.registry import names

COST = ImageCost(
    conditions=Conditions(
        backbone="resnet50",
        side=224,
        mode="fine_tune",
        device="gpu",
        precision="bf16",
        share=0.25,
    ),
    low=0.001,
    median=0.00125,
    high=0.002,
    tested=None,
    trials=12,
    source="machine",
    day="2026-11-23",
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_costs_come_back_the_newest_first():
    vectors = replace(
        COST, tested=0.5, conditions=replace(COST.conditions, backbone="mlp", side=None)
    )
    add_own_costs([COST])
    add_own_costs([vectors])
    assert own_costs() == (vectors, COST)


def test_before_the_first_run_there_are_none_and_a_run_without_trials_adds_none():
    add_own_costs([])
    assert own_costs() == ()
    assert not own_table().exists()


def test_the_oldest_lines_go_when_there_are_too_many():
    add_own_costs([replace(COST, trials=number + 1) for number in range(405)])
    add_own_costs([replace(COST, trials=1000)])
    trials = [cost.trials for cost in own_costs()]
    assert trials == [1000, *range(405, 6, -1)]
    assert own_table().stat().st_size < 100_000


def test_names_of_a_users_own_code_are_not_kept():
    own = replace(COST, conditions=replace(COST.conditions, backbone="secret_project.nets:Net"))
    add_own_costs([own])
    assert not own_table().exists()
    timm = replace(COST, conditions=replace(COST.conditions, backbone="timm:resnet50d"))
    add_own_costs([own, timm])
    assert own_costs() == (timm,)
    assert "secret" not in own_table().read_text()


def test_networks_of_another_podium_are_passed_over():
    add_own_costs([COST, replace(COST, conditions=replace(COST.conditions, backbone="mlp"))])
    own_table().write_text(own_table().read_text().replace("resnet50", "resnet5000"))
    assert [cost.conditions.backbone for cost in own_costs()] == ["mlp"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.00125", "fast"),
        ("0.00125", "nan"),
        ("0.00125", "-1"),
        ("0.002", "inf"),
        ("0.001,", "1e9,"),
        (",12,", ",,"),
        (",gpu,", ",tpu,"),
        ("median", "middle"),
        ("0.25", "0"),
        ("2026", '"2026'),
        ("2026", "\x00" * 300_000),
    ],
)
def test_a_damaged_table_is_one_error_with_its_path_and_the_next_run_starts_anew(old, new):
    add_own_costs([COST])
    own_table().write_text(own_table().read_text().replace(old, new))
    with pytest.raises(PodiumError, match=r"seconds-per-image\.csv.*delete it"):
        own_costs()
    add_own_costs([COST])
    assert own_costs() == (COST,)


def test_a_table_that_is_no_text_is_an_error_too():
    own_table().parent.mkdir(parents=True)
    own_table().write_bytes(b"\xff\xfe")
    with pytest.raises(PodiumError, match="cannot be read"):
        own_costs()


@pytest.mark.parametrize("backbone", names("backbones"))
@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("mode", ["fine_tune", "frozen_features"])
def test_the_shipped_table_says_something_of_every_network(backbone, device, mode):
    wanted = Conditions(
        backbone=backbone, side=224, mode=mode, device=device, precision="float32", share=1.0
    )
    estimate = cost_under(wanted, shipped_costs())
    assert estimate is not None
    assert estimate.measured.hardware
    assert estimate.cost.high / estimate.cost.low > 8.99  # elsewhere: a factor 3 both ways


def test_every_shipped_figure_of_a_cpu_lies_where_any_other_says():
    """The rules of thumb against what was measured: each figure in turn is all that is known."""
    fine_tuned = [
        cost
        for cost in shipped_costs()
        if (cost.conditions.device, cost.conditions.mode) == ("cpu", "fine_tune")
    ]
    assert len(fine_tuned) > 5
    for known, wanted in itertools.permutations(fine_tuned, 2):
        found = cost_under(wanted.conditions, [known]).cost
        assert found.low < wanted.median < found.high, (known.conditions, wanted.conditions)
        if known.conditions.side == wanted.conditions.side == 128:
            assert 1 / 1.61 < found.median / wanted.median < 1.61
        assert 1 / 5.8 < found.median / wanted.median < 5.8
