"""The files for the Ray cluster launcher: AWS and machines of one's own."""

import copy
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
def test_ray_would_refuse_a_misspelt_key(file):
    wrong = {**yaml.safe_load(file.read_text()), "idle_timeout": 5}
    with pytest.raises(Exception, match="idle_timeout"):
        validate_config(prepare_config(wrong))


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


def put(config, path, value):
    """Set what the dotted ``path`` leads to; None removes it."""
    *folders, last = path.split("/")
    for folder in folders:
        config = config[folder]
    if value is None:
        del config[last]
    else:
        config[last] = value


WRONG = [
    (AWS, "available_node_types/head/node_config/InstanceTyp", "x", "InstanceTyp"),
    (AWS, "available_node_types/head/node_config/InstanceType", "m6i.huge", "m6i.huge"),
    (
        AWS,
        "available_node_types/gpu_worker/node_config/BlockDeviceMappings",
        [{"DeviceName": "/dev/sda1", "Ebs": {"VolumSize": 10}}],
        "VolumSize",
    ),
    (AWS, "available_node_types/head/resources", {"CPU": 4}, "must take no trials"),
    (AWS, "available_node_types/head/node_config/SecurityGroupIds", None, "left to Ray"),
    (AWS, "available_node_types/gpu_worker/node_config/IamInstanceProfile", None, "left to Ray"),
    (AWS, "available_node_types/gpu_worker/node_config/InstanceMarketOptions", None, "on spot"),
    (
        AWS,
        "available_node_types/head/node_config/InstanceMarketOptions",
        {"MarketType": "spot"},
        "on spot",
    ),
    (AWS, "provider/region", None, "provider.region"),
    (AWS, "provider/region", "eu-centrl-1", "provider.region"),
    (AWS, "provider/use_internal_ip", True, "provider.use_internal_ip is unknown"),
    (LOCAL, "provider/head_ips", "192.0.2.1", "provider.head_ips is unknown"),
    (AWS, "setup_commands", ["if true; then"], "setup_commands"),
    (AWS, "setup_commands", ["pip install -e '~/podium[gpu]'"], "a quoted ~"),
    (AWS, "worker_start_ray_commands", ["ray stop"], "started 0 times"),
]


@pytest.mark.parametrize(("file", "path", "value", "problem"), WRONG)
def test_what_ray_misses_would_be_found(file, path, value, problem):
    config = copy.deepcopy(yaml.safe_load(file.read_text()))
    put(config, path, value)
    found = list(problems(config, yaml.safe_dump(config)))
    assert found
    assert problem in found[0]


@pytest.mark.parametrize(
    ("who", "right", "wrong", "problem"),
    [
        ("head", "RAY_AUTH_MODE=token", "", "no token is demanded"),
        ("worker", "RAY_AUTH_MODE=token", "RAY_AUTH_MODE=disabled", "no token is demanded"),
        ("head", "--include-dashboard=false", "", "the dashboard is on"),
        ("head", "--include-dashboard", "--include-dashbord", "no option --include-dashbord"),
        ("head", "--port=6379", "--dashboard-host=::", "the dashboard is published"),
        ("head", "--port=6379", "--dashboard-host=0.0.0.0", "all addresses"),
        ("head", "--num-cpus=0", "", "must take no trials"),
        ("head", "RAY_health_check_period_ms", "RAY_health_check_ms", "RAY_health_check_ms"),
        ("worker", "--address", "--head --address", "--head is for the head"),
    ],
)
@every_file
def test_a_wrong_start_of_ray_would_be_found(file, who, right, wrong, problem):
    config = yaml.safe_load(file.read_text())
    commands = f"{who}_start_ray_commands"
    assert right in config[commands][-1]
    config[commands][-1] = config[commands][-1].replace(right, wrong)
    assert any(problem in line for line in problems(config, yaml.safe_dump(config)))
