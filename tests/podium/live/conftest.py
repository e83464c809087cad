"""A study that was stopped, for each test to go on with."""

import shutil

import pytest

from tests.orchestrator.small_study import STUDY
from tests.podium.live.running_study import stopped_study


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    return stopped_study(tmp_path_factory.mktemp("stopped"))


@pytest.fixture
def folder(tmp_path, stopped):
    return shutil.copytree(stopped, tmp_path / STUDY.name)
