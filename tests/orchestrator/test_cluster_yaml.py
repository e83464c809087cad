import copy
from pathlib import Path

import pytest
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

CLUSTER = yaml.safe_load((Path(__file__).parents[2] / "cluster.yaml").read_text())


def test_ray_accepts_the_cluster_file():
    validate_config(prepare_config(copy.deepcopy(CLUSTER)))


def test_ray_would_refuse_a_misspelt_key():
    wrong = {**copy.deepcopy(CLUSTER), "idle_timeout": 5}
    with pytest.raises(Exception, match="idle_timeout"):
        validate_config(prepare_config(wrong))


def test_the_head_takes_no_trials_and_workers_scale_from_zero_on_spot():
    types = CLUSTER["available_node_types"]
    assert types[CLUSTER["head_node_type"]]["resources"]["CPU"] == 0
    workers = [kind for name, kind in types.items() if name != CLUSTER["head_node_type"]]
    assert all(kind["min_workers"] == 0 for kind in workers)
    assert all(
        kind["node_config"]["InstanceMarketOptions"]["MarketType"] == "spot" for kind in workers
    )


@pytest.mark.parametrize("commands", ["head_start_ray_commands", "worker_start_ray_commands"])
def test_every_node_demands_the_token(commands):
    starts = [command for command in CLUSTER[commands] if "ray start" in command]
    assert starts
    assert all("RAY_AUTH_MODE=token" in command for command in starts)
