"""Processes, mounts and a network of one's own: `ray stop` reaches no other Ray from there."""

import subprocess

import pytest

NAMESPACES = ("unshare", "-pfmn", "--kill-child", "--mount-proc")


def needs_namespaces():
    """Skip where they cannot be made."""
    tried = subprocess.run(
        [*NAMESPACES, "ip", "link", "set", "lo", "up"], capture_output=True, check=False
    )
    if tried.returncode:
        pytest.skip(f"namespaces are not allowed here: {tried.stderr.decode().strip()}")
