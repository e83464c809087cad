"""Who can reach the Ray cluster that podium starts: nobody but this user's own process."""

import ipaddress
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import ray

from podium.orchestrator.executors.ray_tune import RayTuneExecutor
from podium.orchestrator.study.resource_demand import Demand

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

_REFUSED = "InvalidAuthToken|Unauthenticated|AuthenticationError"
_ALONE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


@pytest.fixture(scope="module")
def cluster():
    """A private cluster with workers, as `podium run` starts one; gives its address.

    What lets the user join other clusters opens no private one: without tokens, or with his own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        with RayTuneExecutor(Demand(cpus=1.0, gpus=0.0)):
            assert ray.get([_one.remote() for _ in range(2)]) == [1, 1]
            assert _ALONE not in os.environ  # else this process could join no cluster afterwards
            yield ray.get_runtime_context().gcs_address


@ray.remote(num_cpus=0.1)
def _one():
    return 1


def test_nothing_listens_beyond_loopback(cluster):
    listening = {}
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        for socket in process.net_connections("inet"):
            if socket.status == psutil.CONN_LISTEN or socket.type.name == "SOCK_DGRAM":
                listening.setdefault(process.name(), []).append(socket.laddr.ip)

    assert {"gcs_server", "raylet", "ray::RuntimeEnvAgent"} <= listening.keys()
    assert any(name.startswith("ray::IDLE") for name in listening)  # a worker
    assert [found for found in listening.items() if not all(map(_is_loopback, found[1]))] == []


def _is_loopback(text):
    address = ipaddress.ip_address(text)
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def test_no_other_user_can_enter_the_folders_of_ray(cluster):
    session = Path(ray._private.worker._global_node.get_session_dir_path())
    assert list((session / "sockets").iterdir())
    assert any(not folder.stat().st_mode & 0o077 for folder in session.parents[:2])


def test_the_token_is_readable_by_this_user_alone(cluster):
    token = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE(token.parent.stat().st_mode) == 0o700
    assert len(token.read_text()) == 64


@pytest.mark.parametrize("given", [{"RAY_AUTH_MODE": "disabled"}, {"RAY_AUTH_TOKEN": "0" * 64}])
def test_a_process_without_the_token_is_refused(cluster, tmp_path, given):
    unarmed = {"HOME": str(tmp_path), **given}
    done = _intrude(cluster, unarmed, without="RAY_AUTH_TOKEN_PATH")
    assert done.returncode != 0
    assert "entered" not in done.stdout
    assert re.search(_REFUSED, done.stderr), done.stderr


def test_a_run_with_a_wrong_token_is_refused_in_one_message(cluster):
    done = _intrude(
        cluster,
        {"RAY_AUTH_TOKEN": "wrong" * 12},
        join="from podium.orchestrator.executors.ray_cluster import join; join({!r})",
    )
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("podium.errors.PodiumError: the Ray cluster at ")
    assert "a different token" in message
    assert "wrong" not in message


def test_the_same_process_with_the_token_is_let_in(cluster):
    done = _intrude(cluster, {})
    assert "entered 7" in done.stdout, done.stderr


def _intrude(address, environment, without="", join="import ray; ray.init({!r})"):
    script = (
        f"{join.format(address)}; "
        "print('entered', ray.get(ray.remote(num_cpus=0.1)(lambda: 7).remote()))"
    )
    kept = {name: value for name, value in os.environ.items() if name != without}
    loopback = {_ALONE: "0"}  # else it asks elsewhere
    impatient = {"RAY_NUM_REDIS_GET_RETRIES": "1"}  # else it is refused for 20 seconds
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**kept, **loopback, **impatient, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(("given", "mode"), [(None, "token"), ("disabled", "disabled")])
def test_a_cluster_that_is_joined_must_ask_for_a_token_unless_the_user_says_otherwise(given, mode):
    environment = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_MODE"}
    script = (
        "import podium.orchestrator.executors.ray_cluster; "
        "from ray._raylet import AuthenticationMode, get_authentication_mode; "
        "print('token' if get_authentication_mode() == AuthenticationMode.TOKEN else 'disabled')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment if given is None else {**environment, "RAY_AUTH_MODE": given},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == mode, done.stderr


def test_the_token_is_private_whatever_the_umask_and_vanishes_with_its_process(tmp_path):
    script = (
        "import os; os.umask(0); "
        "from podium.orchestrator.executors.private_folders import PrivateFolder; "
        "from podium.orchestrator.executors.private_ray import use_private_token; "
        "use_private_token(); path = os.environ['RAY_AUTH_TOKEN_PATH']; "
        "modes = [os.stat(it).st_mode & 0o777 for it in "
        "(path, os.path.dirname(path), PrivateFolder().path)]; print(path, modes)"
    )
    environment = {**os.environ, "RAY_TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    path, _, modes = done.stdout.strip().partition(" ")
    assert modes == str([0o600, 0o700, 0o700]), done.stderr
    assert Path(path).name == "token"
    assert not Path(path).parent.exists()
