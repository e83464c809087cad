"""The files for the Ray cluster launcher: AWS and machines of one's own."""

import json
import re
import tomllib
from pathlib import Path

import botocore.session
import pytest
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.autoscaler.tags import TAG_RAY_CLUSTER_NAME

from tests.deploy.launcher_checks import problems

ROOT = Path(__file__).parents[2]
AWS, LOCAL = ROOT / "cluster.yaml", ROOT / "deploy" / "on-premise" / "cluster.yaml"

every_file = pytest.mark.parametrize("file", [AWS, LOCAL], ids=["aws", "on-premise"])


@every_file
def test_ray_accepts_the_file(file):
    validate_config(prepare_config(yaml.safe_load(file.read_text())))


@every_file
def test_nothing_is_wrong_that_ray_misses(file):
    text = file.read_text()
    assert list(problems(yaml.safe_load(text), text)) == []


def test_all_nodes_use_the_same_folder_for_data_and_cache():
    for file in (AWS, LOCAL):
        config = yaml.safe_load(file.read_text())
        starts = config["head_start_ray_commands"] + config["worker_start_ray_commands"]
        caches = {
            word for command in starts for word in command.split() if "XDG_CACHE_HOME" in word
        }
        assert len(caches) == 1


def test_nodes_look_for_the_bucket_in_the_region_of_the_cluster():
    (region,) = re.findall(r"AWS_REGION=(\S+?)'", AWS.read_text())
    assert region == yaml.safe_load(AWS.read_text())["provider"]["region"]


def test_workers_come_and_go_between_none_and_all():
    config = yaml.safe_load(AWS.read_text())
    workers = [
        kind
        for name, kind in config["available_node_types"].items()
        if name != config["head_node_type"]
    ]
    assert [(kind["min_workers"], kind["max_workers"]) for kind in workers] == [
        (0, config["max_workers"])
    ]


def test_the_extra_that_nodes_install_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "~/podium[gpu]" in AWS.read_text()
    assert "gpu" in extras["optional-dependencies"]


def actions(policy):
    """What a policy of AWS allows, and on what."""
    for statement in json.loads((ROOT / "deploy" / "aws" / policy).read_text())["Statement"]:
        allowed = statement["Action"]
        for action in [allowed] if isinstance(allowed, str) else allowed:
            yield action, statement["Resource"]


def test_policies_allow_what_exists():
    session = botocore.session.get_session()
    for policy in ("head-policy.json", "worker-policy.json"):
        for action, _ in actions(policy):
            service, operation = action.split(":")
            if service in {"ec2", "ssm"}:
                assert operation in session.get_service_model(service).operation_names


def test_workers_may_use_the_bucket_and_nothing_else():
    for action, place in actions("worker-policy.json"):
        assert action.startswith("s3:")
        assert place.startswith("arn:aws:s3:::BUCKET")


def test_the_head_ends_and_tags_instances_of_its_own_cluster_only():
    """Whoever may tag any instance may make any instance one of this cluster."""
    policy = json.loads((ROOT / "deploy" / "aws" / "head-policy.json").read_text())["Statement"]
    name = yaml.safe_load(AWS.read_text())["cluster_name"]
    own = {"StringEquals": {f"ec2:ResourceTag/{TAG_RAY_CLUSTER_NAME}": name}}
    (end,) = [s for s in policy if "ec2:TerminateInstances" in s["Action"]]
    assert end["Condition"] == own
    tag = [s["Condition"] for s in policy if "ec2:CreateTags" in s["Action"]]
    assert tag == [{"StringEquals": {"ec2:CreateAction": "RunInstances"}}, own]


def test_data_beside_the_launcher_file_is_not_copied_to_every_node():
    """docs/how-to/clusters.md has the data in ./data when they are sent to the bucket."""
    excluded = yaml.safe_load(AWS.read_text())["rsync_exclude"]
    assert "/data" in excluded  # with its slash: analysis/data is a part of podium
    assert "data" not in excluded
