"""The RayJob: its form by a trimmed copy of KubeRay's schema, its meaning by checks of our own."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from podium.cli import COMMANDS
from tests.deploy.launcher_checks import is_known_to_ray, ray_start_options

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "kuberay" / "rayjob.yaml"
SCHEMA = Draft202012Validator(
    json.loads(Path(__file__).with_name("rayjob.schema.json").read_text())
)
JOB, POLICY = yaml.safe_load_all(FILE.read_text())
CLUSTER = JOB["spec"]["rayClusterSpec"]


def form(job):
    """What is wrong with the form of a RayJob, as lines."""
    return [f"{error.json_path}: {error.message}" for error in SCHEMA.iter_errors(job)]


def meaning(job):
    """What is wrong with the meaning of a RayJob of the right form, as lines."""
    spec = job["spec"]
    cluster = spec["rayClusterSpec"]
    head, workers = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    if cluster.get("authOptions", {}).get("mode") != "token":
        yield "no token is demanded"
    if head.get("serviceType") != "ClusterIP" or head.get("enableIngress") is not False:
        yield "the head is published"
    if head["rayStartParams"].get("num-cpus") != "0":
        yield "the head must take no trials"
    if not spec.get("shutdownAfterJobFinishes"):
        yield "the cluster outlives the study"
    for group in (head, *workers):
        unknown = {f"--{name}" for name in group["rayStartParams"]} - ray_start_options()
        yield from (f"ray start has no option {option}" for option in sorted(unknown))
    for group in workers:
        if not (group["minReplicas"] == group["replicas"] == 0 < group["maxReplicas"]):
            yield "workers do not scale from zero"
        limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
        if not limits.get("nvidia.com/gpu"):
            yield "workers have no GPU"
    for template in (
        spec["submitterPodTemplate"],
        head["template"],
        *(g["template"] for g in workers),
    ):
        yield from _pod_problems(template)


def _pod_problems(template):
    pod = template["spec"]
    volumes = {volume["name"] for volume in pod.get("volumes", ())}
    if not pod.get("securityContext", {}).get("runAsNonRoot"):
        yield "a pod runs as root"
    if pod.get("restartPolicy") != "Never":
        yield "the autoscaler wants pods that are never restarted"
    for container in pod["containers"]:
        for mount in container.get("volumeMounts", ()):
            if mount["name"] not in volumes:
                yield f"no volume {mount['name']}"
        for setting in container.get("env", ()):
            name = setting["name"].removeprefix("RAY_")
            if name[0].islower() and not is_known_to_ray(name):
                yield f"Ray does not know RAY_{name}"
            if re.search("TOKEN|SECRET|PASSWORD|KEY", name) and "value" in setting:
                yield f"a secret is written down: {name}"


def test_the_form_is_that_of_kuberay():
    assert form(JOB) == []


def test_the_meaning_is_a_private_cluster_that_scales_from_zero():
    assert list(meaning(JOB)) == []


def test_the_version_of_ray_is_the_installed_one():
    (pin,) = re.findall(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert CLUSTER["rayVersion"] == pin


def test_all_pods_of_ray_see_results_and_cache_under_the_same_path():
    groups = (CLUSTER["headGroupSpec"], *CLUSTER["workerGroupSpecs"])
    containers = [group["template"]["spec"]["containers"][0] for group in groups]
    for path in ("/shared", "/cache", "/dev/shm"):
        assert all(path in {m["mountPath"] for m in c["volumeMounts"]} for c in containers)
    caches = [{"name": "XDG_CACHE_HOME", "value": "/cache"} in c["env"] for c in containers]
    assert all(caches)


def test_the_entrypoint_continues_by_the_same_command():
    shell, option, script = shlex.split(JOB["spec"]["entrypoint"])
    assert (shell, option) == ("bash", "-c")
    words = shlex.split(script.partition("||")[0])
    assert words[0] == "podium"
    assert words[1] in COMMANDS
    assert words[words.index("--address") + 1] == "auto"
    assert JOB["spec"]["backoffLimit"] > 0
    mounts = CLUSTER["headGroupSpec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    assert words[2].startswith("/etc/podium/")
    assert "/etc/podium" in {mount["mountPath"] for mount in mounts}


# KubeRay writes the entrypoint as it is behind the words of `ray job submit`, in a line of shell;
# Ray quotes the words again that reach it, and gives them to a shell on the head.
SUBMITTER = """
ray() {{
  while [[ $1 != -- ]]; do shift; done
  shift
  {python} -c 'import shlex, sys; print(shlex.join(sys.argv[1:]))' "$@" >submitted
}}
if true ; then ray job submit --no-wait -- {entrypoint} ; fi
"""


@pytest.mark.parametrize(("code", "is_end"), [(0, True), (1, True), (2, False), (3, False)])
def test_failed_trials_are_an_end_of_the_job_itself(tmp_path, code, is_end):
    line = SUBMITTER.format(python=sys.executable, entrypoint=JOB["spec"]["entrypoint"])
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True)
    podium = tmp_path / "podium"
    podium.write_text(f'#!/bin/sh\necho "$@" >asked\nexit {code}\n')
    podium.chmod(0o755)
    job = subprocess.run(
        ["sh", "-c", (tmp_path / "submitted").read_text()],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        check=False,
    )
    assert (job.returncode == 0) == is_end
    assert (tmp_path / "asked").read_text().startswith("run /etc/podium/study.yaml --address auto")


def test_only_pods_of_the_study_and_the_operator_reach_its_pods():
    ours = {"app": "podium"}
    assert POLICY["kind"] == "NetworkPolicy"
    assert POLICY["spec"]["podSelector"] == {"matchLabels": ours}
    assert POLICY["spec"]["policyTypes"] == ["Ingress"]
    templates = [JOB["spec"]["submitterPodTemplate"], CLUSTER["headGroupSpec"]["template"]]
    templates += [group["template"] for group in CLUSTER["workerGroupSpecs"]]
    assert all(template["metadata"]["labels"] == ours for template in templates)
    (rule,) = POLICY["spec"]["ingress"]
    assert all("podSelector" in who and "ipBlock" not in who for who in rule["from"])
