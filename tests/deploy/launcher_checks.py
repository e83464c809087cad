"""What Ray's own validation of a launcher file misses."""

import mmap
import re
import shlex
import subprocess
from pathlib import Path

import botocore.session
import ray
from botocore.validate import ParamValidator
from ray.scripts.scripts import start

# Read by `ray.autoscaler._private`; others are passed over in silence.
PROVIDER_KEYS = {
    "aws": {
        "type",
        "region",
        "availability_zone",
        "cache_stopped_nodes",
        "use_internal_ips",
        "key_pair",
        "aws_credentials",
    },
    "local": {"type", "head_ip", "worker_ips", "external_head_ip"},
}
# Ray makes these of its own before it asks for instances.
MADE_BY_RAY = {"MinCount": 1, "MaxCount": 1}


def problems(config, text):
    """Everything that is wrong with a file, as lines.

    ``config`` is what the file says, ``text`` the file itself.
    """
    provider = config["provider"]
    unknown = provider.keys() - PROVIDER_KEYS[provider["type"]]
    yield from (f"provider.{key} is unknown" for key in sorted(unknown))
    if "0.0.0.0" in text:
        yield "something listens on, or is open to, all addresses"
    if provider["type"] == "aws":
        yield from _aws_problems(config)
    for name in sorted(name for name in config if name.endswith("_commands")):
        for command in config[name]:
            yield from _command_problems(name, command)
    for who in ("head", "worker"):
        yield from _start_problems(who, config[f"{who}_start_ray_commands"])


def _aws_problems(config):
    ec2 = botocore.session.get_session()
    region = config["provider"].get("region")
    if region not in ec2.get_available_regions("ec2"):
        yield f"provider.region is {region}"
    wanted = ec2.get_service_model("ec2").operation_model("RunInstances").input_shape
    for name, kind in config["available_node_types"].items():
        node = kind["node_config"]
        report = ParamValidator().validate({**node, **MADE_BY_RAY}, wanted)
        if report.has_errors():
            yield f"{name}: {report.generate_report()}"
        if node.get("InstanceType") not in wanted.members["InstanceType"].enum:
            yield f"{name}: no instance type {node.get('InstanceType')}"
        is_spot = node.get("InstanceMarketOptions", {}).get("MarketType") == "spot"
        is_head = name == config["head_node_type"]
        if is_spot == is_head:
            yield f"{name}: workers are on spot and the head is not"
        if is_head and kind["resources"].get("CPU") != 0:
            yield f"{name}: the head must take no trials"
        # Without them Ray makes a group open to ssh from everywhere, a profile that may do
        # anything with EC2 and S3, and takes an image of Ubuntu 18.04.
        for key in ("SecurityGroupIds", "IamInstanceProfile", "ImageId"):
            if key not in node:
                yield f"{name}: {key} is left to Ray"


def _command_problems(name, command):
    parsed = subprocess.run(
        ["bash", "-n"], input=command, capture_output=True, text=True, check=False
    )
    if parsed.returncode:
        yield f"{name}: {parsed.stderr}"
    if re.search(r"""['"]~/""", command):
        yield f"{name}: the shell leaves a quoted ~ as it is"
    for setting in re.findall(r"\bRAY_([a-z]\w*)=", command):
        if not is_known_to_ray(setting):
            yield f"{name}: Ray does not know RAY_{setting}"


def is_known_to_ray(setting):
    """Whether the variable RAY_``setting`` does anything.

    Ray passes over what it does not know; the names are in its servers.
    """
    server = Path(ray.__file__).parent / "core" / "src" / "ray" / "gcs" / "gcs_server"
    with server.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content:
        return content.find(b"\0" + setting.encode() + b"\0") >= 0


def ray_start_options():
    """What `ray start` takes."""
    return {option for part in start.params for option in part.opts}


def _start_problems(who, commands):
    starts = [command for command in commands if "ray start" in command]
    if len(starts) != 1:
        yield f"{who}: Ray is started {len(starts)} times"
    for command in starts:
        words = shlex.split(command.partition("ray start ")[2])
        options = dict(word.partition("=")[::2] for word in words)
        for option in sorted(options.keys() - ray_start_options()):
            yield f"{who}: ray start has no option {option}"
        if "RAY_AUTH_MODE=token" not in shlex.split(command.partition("ray start ")[0]):
            yield f"{who}: no token is demanded"
        if "--dashboard-host" in options:
            yield f"{who}: the dashboard is published"
        if (who == "head") != ("--head" in options):
            yield f"{who}: --head is for the head"
        if who == "head" and options.get("--include-dashboard") != "false":
            yield f"{who}: the dashboard is on"
        if who == "head" and options.get("--num-cpus") != "0":
            yield f"{who}: the head must take no trials"
