"""Studies of before a name changed: their files and their results folders go on working."""

import copy
import logging
from pathlib import Path

import pytest

from orchestrator.study import former_names
from orchestrator.study.former_names import FORMER_RECIPES, FORMER_SPACES
from orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from orchestrator.study.study_changes import compare
from orchestrator.study_validation.load_study import load_study
from search_spaces.parameters import LossSpaces
from trainables.recipes import RECIPES

FORMER = "study: x\nlosses: [proxy_anchor, {loss: multi_similarity, space: thesis}]\n" + (
    "search: {space: thesis}\ntraining: {recipe: thesis, augmentation: shift}\n"
    "declared_differences: {own_parameters: published, searched_hyperparameters: published}\n"
)
PRESENT = FORMER.replace("thesis", "psomas2020")


@pytest.fixture(autouse=True)
def _nothing_noted_yet() -> None:
    former_names._note.cache_clear()


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(text)
    return path


def test_a_file_with_former_names_is_the_study_of_the_present_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    former = load_study(write(tmp_path, FORMER))
    assert sorted(message.split(": ", 1)[1] for message in caplog.messages) == [
        "losses[1].space: thesis is called psomas2020 now",
        "search.space: thesis is called psomas2020 now",
        "training.recipe: thesis is called psomas2020 now",
    ]
    assert all("study.yaml:" in message for message in caplog.messages)
    assert former == load_study(write(tmp_path, PRESENT))


def test_a_name_is_noted_once_however_often_the_file_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, FORMER)
    load_study(path)
    load_study(path)
    assert len(caplog.messages) == 3


def test_present_names_are_not_noted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    load_study(write(tmp_path, PRESENT))
    assert caplog.messages == []


def test_a_snapshot_with_former_names_is_read_and_continued(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, PRESENT))
    present = resolved_dict(study)
    former = copy.deepcopy(present)
    former["search"]["space"] = former["training"]["recipe"] = "thesis"
    assert study_from_resolved(former) == study
    assert compare(former, present).is_identical


def test_what_is_called_so_now_exists() -> None:
    assert set(FORMER_RECIPES.values()) <= set(RECIPES)
    assert set(FORMER_SPACES.values()) <= set(LossSpaces.__dataclass_fields__)
    assert not set(FORMER_RECIPES) & set(RECIPES)
