from dataclasses import replace

import pytest
import yaml

from podium.orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from podium.orchestrator.study.study import (
    Study,
    StudyLoss,
)
from podium.orchestrator.study.study_changes import forbidden_changes
from podium.search_spaces.parameters import Real, Space
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from tests.orchestrator.study_files import FULL, MINIMAL, load, matches


@pytest.fixture
def study(tmp_path):
    return load(tmp_path, FULL)


@pytest.mark.parametrize("text", [MINIMAL, FULL])
def test_a_study_comes_back_from_its_yaml(tmp_path, text):
    study = load(tmp_path, text)
    written = yaml.safe_dump(resolved_dict(study))
    assert study_from_resolved(yaml.safe_load(written)) == study


def test_no_default_is_left_out(tmp_path):
    values = resolved_dict(load(tmp_path, MINIMAL))
    of_losses = {"spaces", "values"}
    assert set(values) == {*Study.__dataclass_fields__, *of_losses} - {"code", "log"}
    assert values["search"]["early_stopping"] == {
        "kind": "asha",
        "grace_epochs": 1,
        "reduction_factor": 3,
    }
    assert values["training"] == {"recipe": "fast"}
    assert values["backbones"] == [{"name": "conv_small", "weights": "random"}]
    assert values["final"]["protocol"] is None


CUB = DatasetSettings(name="cub200")


MORE_WORK_OR_OTHER_RESOURCES = """
search.trials=9 search.repeats=3 final.seeds=6 embedding_dims=[32,8,16] storage=/else
search.max_concurrent=5 resources.cpus_per_trial=1.0 resources.trial_hours=null log=[tensorboard]
"""


@pytest.mark.parametrize("override", MORE_WORK_OR_OTHER_RESOURCES.split())
def test_more_work_and_other_resources_are_no_harm(tmp_path, study, override):
    assert not forbidden_changes(
        resolved_dict(study), resolved_dict(load(tmp_path, FULL, override))
    )


def test_more_data_sets_and_losses_with_their_spaces_are_no_harm(study):
    with_space = StudyLoss("multi_similarity", space=Space({"margin": Real(0.0, 0.5)}))
    grown = replace(study, datasets=(CUB, *study.datasets), losses=(*study.losses, with_space))
    assert not forbidden_changes(resolved_dict(study), resolved_dict(grown))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("search.trials=6", "search.trials: 7 -> 6"),
        ("final.seeds=4", "final.seeds: 5 -> 4"),
        ("embedding_dims=[16]", "embedding_dims: [16, 32] -> [16]"),
        ("seed=12", "seed: 11 -> 12"),
        ("tournament.alpha=0.1", "tournament.alpha: 0.05 -> 0.1"),
        ("metrics.k=[1, 2]", "ks: [2, 1] -> [1, 2]"),
        ("study=other", 'name: "full.one-2" -> "other"'),
        ("training.epochs=4", "training.epochs: 3 -> 4"),
        ("protocol.split_seed=4", "protocol fixed: {.*"),
        ("search.tune=[learning_rate]", 'search.tune: .* -> ["learning_rate"]'),
        ("losses.1=proxy_anchor", "spaces.proxy_anchor.*"),
        ("losses.1.space.margin=[0.1]", "spaces.proxy_anchor.*"),
        ("losses.0={loss: contrastive, space: {margin: [0, 1]}}", "spaces.contrastive.*"),
        ("datasets=[{name: glyphs, script: greek}]", "datasets: .*"),
        ("final={seeds: 5}", "final.protocol.*"),
        ("final.protocol={kind: fixed}", "final.protocol.*"),
    ],
)
def test_what_changes_numbers_is_forbidden(tmp_path, study, override, message):
    found = forbidden_changes(resolved_dict(study), resolved_dict(load(tmp_path, FULL, override)))
    assert any(matches(change, message) for change in found), found


def test_the_files_of_a_data_set_may_be_moved_but_its_options_not_changed(study):
    def with_options(**options):
        return resolved_dict(replace(study, datasets=(replace(CUB, options=options),)))

    here, there = with_options(root="/a", size=1), with_options(root="/b", size=1)
    assert not forbidden_changes(here, there)
    assert forbidden_changes(here, with_options(root="/a", size=2))


def test_a_file_of_weights_may_be_moved_but_not_taken_for_other_weights(study):
    def starting_from(*weights):
        names = ("resnet50", "googlenet")
        given = zip(names, weights, strict=False)
        backbones = tuple(BackboneSettings(name=name, weights=file) for name, file in given)
        return resolved_dict(replace(study, backbones=backbones))

    here = starting_from("/a/w.pth")
    assert not forbidden_changes(here, starting_from("/b/w.pth"))
    assert not forbidden_changes(here, starting_from("/a/w.pth", "imagenet"))
    assert forbidden_changes(here, starting_from("imagenet"))
    assert forbidden_changes(starting_from("imagenet"), starting_from("random"))
