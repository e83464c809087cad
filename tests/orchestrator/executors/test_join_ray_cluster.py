"""Joining a Ray cluster: what cannot work is refused soon, in one sentence."""

import socket

import pytest

from podium.errors import PodiumError
from podium.orchestrator.executors import ray_cluster


@pytest.mark.parametrize(
    "address", ["nonsense", "local", "ray://127.0.0.1:10001", "head:port", "127.0.0.1", ""]
)
def test_what_is_no_address_is_refused_with_the_choices(address, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(PodiumError, match=r"must be auto, or HOST:PORT .*; got"):
        ray_cluster.join(address)


def test_auto_without_a_cluster_says_so(monkeypatch):
    def find_none(_address):
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setattr(ray_cluster, "canonicalize_bootstrap_address", find_none)
    with pytest.raises(PodiumError, match="finds no Ray cluster on this machine"):
        ray_cluster.join("auto")


def test_an_address_where_nobody_answers_is_given_up_soon(monkeypatch):
    monkeypatch.setattr(ray_cluster, "_PATIENCE_SECONDS", 0.1)
    with socket.socket() as taken:  # bound and not listening: refused, and nobody else's
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(PodiumError, match=r"no Ray cluster answers at .*refused"):
            ray_cluster.join(address)


def test_refusal_without_the_token_says_where_the_token_is_looked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    monkeypatch.setattr(ray_cluster, "canonicalize_bootstrap_address", lambda address: address)
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        with pytest.raises(PodiumError, match=r"RAY_AUTH_TOKEN_PATH.*RAY_AUTH_MODE=disabled"):
            ray_cluster.join(address)
