"""What ``import podium`` offers, and that it costs next to nothing before it is used."""

import subprocess
import sys

import pytest

import podium

HEAVY = ("torch", "polars", "pyarrow", "ray", "pandas", "numpy", "typer", "rich", "yaml")


def test_every_public_name_is_there_and_listed():
    assert sorted(podium._MODULES) == podium.__all__
    for name in podium.__all__:
        assert getattr(podium, name).__name__ == name
        assert getattr(podium, name).__doc__
        assert name in dir(podium)
    with pytest.raises(AttributeError, match="'podium' has no attribute 'laod'"):
        podium.laod  # noqa: B018


def test_importing_podium_loads_nothing_heavy():
    program = f"import sys, podium; print([n for n in {HEAVY} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
