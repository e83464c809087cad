"""The wheel holds what podium needs, nothing else, and runs where there is no clone."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
import yaml

import podium

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINKED = ("analysis", "orchestrator", "search_spaces", "trainables")
STUDIES = sorted((ROOT / "studies").iterdir())
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "studies", "podium", *LINKED)
DATA = {".yaml", ".csv", ".j2", ".html", ".css", ".js", ".txt", ".typed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy, offline, by what is installed here."""
    missing = [name for name in ("pip", "setuptools") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"a wheel is built by pip and setuptools; {missing} not installed here")
    source, target = (tmp_path_factory.mktemp(name) for name in ("source", "wheels"))
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, source)
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir")
    pip("wheel", *offline, "--wheel-dir", target, source)
    (built,) = target.iterdir()
    return built


@pytest.fixture(scope="module")
def names(wheel):
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def metadata(wheel, names):
    (name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(zipfile.ZipFile(wheel).read(name))


def pip(*words):
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_holds_every_module_and_study_and_no_other_data(names):
    folders = {"podium": "podium", **{name: f"podium/{name}" for name in LINKED}}
    modules = {
        f"{there}/{file.relative_to(ROOT / here)}"
        for here, there in folders.items()
        for file in (ROOT / here).rglob("*.py")
    }
    studies = {f"podium/studies/{file.name}" for file in STUDIES}
    assert modules | studies | {"podium/py.typed"} <= names
    others = {name for name in names - modules if ".dist-info/" not in name}
    assert {Path(name).suffix for name in others} == DATA
    assert {name.partition("/")[0] for name in others} == {"podium"}


def test_all_data_that_is_listed_is_there():
    for package, patterns in PROJECT["tool"]["setuptools"]["package-data"].items():
        folder = ROOT / package.replace(".", "/")
        assert all(list(folder.glob(pattern)) for pattern in patterns), package


def test_the_metadata_say_whose_podium_is_and_what_it_is(metadata):
    assert metadata["Version"] == podium.__version__
    assert metadata["Author"] == "The podium developers"
    assert metadata["License-Expression"] == "MIT"
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert "deep metric learning" in metadata["Keywords"]


def test_the_description_has_no_links_to_files_that_a_package_index_has_not(metadata):
    text = metadata.get_payload()
    assert [to for to in re.findall(r"\]\(([^)]*)\)", text) if not to.startswith("https://")] == []
    words = re.findall(r"\[([^\]]+)\]\([^)]*\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert words
    assert [word for word in words if word not in text] == []


def test_the_citation_names_the_same_version_license_and_authors(metadata):
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == metadata["Version"]
    assert citation["license"] == metadata["License-Expression"]
    assert citation["authors"] == [{"name": metadata["Author"]}]


def test_an_installed_wheel_plans_the_studies_that_it_ships_in_an_empty_folder(wheel, tmp_path):
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    pip("install", "--no-deps", "--no-index", "--no-compile", "--target", site, wheel)

    def planned(name):
        done = subprocess.run(
            [sys.executable, "-m", "podium", "plan", name],
            cwd=empty,
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return " ".join(done.stdout.split())

    assert "480 published values" in planned("thesis-tables-cub")  # of a table beside the study
    assert list(empty.iterdir()) == []
