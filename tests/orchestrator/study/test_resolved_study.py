from dataclasses import replace

import pytest
import yaml

from orchestrator.results.records.tournament_rules import TournamentRules
from orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from orchestrator.study.study import (
    FinalSettings,
    ResourceSettings,
    ResourceShare,
    Study,
    StudyLoss,
    StudyTraining,
)
from orchestrator.study.study_changes import compare
from podium.errors import StudyError
from search_spaces.parameters import Choice, Real, Space
from tests.orchestrator.study_files import FULL, MINIMAL, load
from trainables.settings.trial_settings import BackboneSettings, DatasetSettings, ProtocolSettings


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
    # A study that names nothing by import path, or verifies nothing, is stored as before there
    # were such keys.
    of_losses = {"spaces", "values", "try_first"}
    left_out = {"code", "verification"}
    assert set(values) == {*Study.__dataclass_fields__, *of_losses} - left_out
    assert values["search"]["early_stopping"] == {
        "kind": "asha",
        "grace_epochs": 1,
        "reduction_factor": 3,
        "min_trials": 5,
    }
    assert values["training"] == {"recipe": "fast"}
    assert values["backbones"] == [{"name": "conv_small", "weights": "random"}]
    assert values["final"]["protocol"] is None


@pytest.mark.parametrize(
    "broken",
    [
        {"search": 3},
        {"unheard_of": 1},
        {"spaces": {"x": {"y": {"kind": "z"}}}},
        {"backbones": ["conv_small"]},
        {"training": {"epochs": 3}},
        {"training": {"recipe": "fast", "epoch": 3}},
    ],
)
def test_what_is_no_study_is_refused(study, broken):
    values = {**resolved_dict(study), **broken}
    with pytest.raises(StudyError, match="the stored study is not one that this podium"):
        study_from_resolved(values)


def with_space(study, name, space):
    return replace(
        study,
        losses=tuple(
            replace(loss, space=space) if loss.name == name else loss for loss in study.losses
        ),
    )


GREEK = DatasetSettings(name="glyphs", options={"script": "greek"})
CUB = DatasetSettings(name="cub200")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: replace(s, search=replace(s.search, trials=9)), "search.trials: 7 -> 9"),
        (lambda s: replace(s, search=replace(s.search, repeats=3)), "search.repeats: 2 -> 3"),
        (lambda s: replace(s, final=replace(s.final, seeds=6)), "final.seeds: 5 -> 6"),
        (
            lambda s: replace(s, embedding_dims=(32, 8, 16)),
            "embedding_dims: [16, 32] -> [32, 8, 16]",
        ),
        (
            lambda s: replace(s, losses=(*s.losses, StudyLoss("multi_similarity"))),
            'losses: ["contrastive", "proxy_anchor"] -> '
            '["contrastive", "proxy_anchor", "multi_similarity"]',
        ),
        (lambda s: replace(s, storage="/else"), 'storage: "/data/podium" -> "/else"'),
        (
            lambda s: replace(s, search=replace(s.search, max_concurrent=None)),
            "search.max_concurrent: 4 -> null",
        ),
        (
            lambda s: replace(s, resources=replace(s.resources, cpus_per_trial=1.0)),
            "resources.cpus_per_trial: 2.0 -> 1.0",
        ),
        (
            lambda s: replace(s, resources=replace(s.resources, trial_hours=None)),
            "resources.trial_hours: 1.5 -> null",
        ),
        (
            lambda s: replace(
                s,
                resources=replace(
                    s.resources, backbones={"conv_small": ResourceShare(cpus_per_trial=4.0)}
                ),
            ),
            "resources.backbones.conv_small.cpus_per_trial: 3.0 -> 4.0",
        ),
    ],
)
def test_more_work_and_other_resources_are_no_harm(study, change, message):
    found = compare(resolved_dict(study), resolved_dict(change(study)))
    assert [str(item) for item in found.harmless] == [message]
    assert found.is_compatible
    assert not found.is_identical


def test_more_data_sets_are_no_harm(study):
    found = compare(
        resolved_dict(study),
        resolved_dict(replace(study, datasets=(CUB, *study.datasets))),
    )
    assert [item.key for item in found.harmless] == ["datasets"]
    assert found.is_compatible


def test_a_new_loss_may_bring_its_space(study):
    with_loss = replace(
        study,
        losses=(
            *study.losses,
            StudyLoss("multi_similarity", space=Space({"margin": Real(0.0, 0.5)})),
        ),
    )
    assert compare(resolved_dict(study), resolved_dict(with_loss)).is_compatible


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: replace(s, search=replace(s.search, trials=6)), "search.trials: 7 -> 6"),
        (lambda s: replace(s, final=FinalSettings(seeds=4)), "final.seeds: 5 -> 4"),
        (lambda s: replace(s, embedding_dims=(16,)), "embedding_dims: [16, 32] -> [16]"),
        (lambda s: replace(s, seed=12), "seed: 11 -> 12"),
        (
            lambda s: replace(s, tournament=TournamentRules(test="nemenyi")),
            'tournament.test: "wilcoxon_holm" -> "nemenyi"',
        ),
        (
            lambda s: replace(s, tournament=TournamentRules(alpha=0.1)),
            "tournament.alpha: 0.05 -> 0.1",
        ),
        (lambda s: replace(s, ks=(1, 2)), "ks: [2, 1] -> [1, 2]"),
        (lambda s: replace(s, name="other"), 'name: "full.one-2" -> "other"'),
        (
            lambda s: replace(s, training=StudyTraining(overrides={"epochs": 4})),
            "training.epochs: 3 -> 4",
        ),
        (
            lambda s: replace(s, protocols=(replace(s.protocols[0], split_seed=4),)),
            "protocol.split_seed: 3 -> 4",
        ),
        (
            lambda s: replace(s, search=replace(s.search, tune=("learning_rate",))),
            'search.tune: ["learning_rate", "proxy_learning_rate"] -> ["learning_rate"]',
        ),
    ],
)
def test_what_changes_numbers_is_forbidden(study, change, message):
    found = compare(resolved_dict(study), resolved_dict(change(study)))
    assert message in [str(item) for item in found.forbidden]
    assert not found.is_compatible


@pytest.mark.parametrize(
    "change",
    [
        lambda s: with_space(s, "proxy_anchor", None),
        lambda s: with_space(s, "proxy_anchor", Space({"margin": Choice((0.1,))})),
        lambda s: with_space(s, "contrastive", Space({"margin": Real(0, 1)})),
        lambda s: replace(s, datasets=(GREEK,)),
        lambda s: replace(s, final=replace(s.final, protocol=None)),
        lambda s: replace(s, final=replace(s.final, protocol=ProtocolSettings())),
    ],
)
def test_other_spaces_data_sets_and_protocols_are_forbidden(study, change):
    assert not compare(resolved_dict(study), resolved_dict(change(study))).is_compatible


def test_harmless_and_forbidden_changes_are_distinguished(study):
    new = replace(study, seed=12, resources=ResourceSettings())
    found = compare(resolved_dict(study), resolved_dict(new))
    assert [item.key for item in found.forbidden] == ["seed"]
    assert [item.key for item in found.harmless] == [
        "resources.backbones.conv_small.cpus_per_trial",
        "resources.cpus_per_trial",
        "resources.gpus_per_trial",
        "resources.stuck_minutes",
        "resources.trial_hours",
    ]


def test_the_files_of_a_data_set_may_be_moved_but_its_options_not_changed(study):
    def with_options(**options):
        return resolved_dict(replace(study, datasets=(replace(CUB, options=options),)))

    here, there = with_options(root="/a", size=1), with_options(root="/b", size=1)
    assert compare(here, there).is_compatible
    assert not compare(here, with_options(root="/a", size=2)).is_compatible


def test_a_file_of_weights_may_be_moved_but_not_taken_for_other_weights(study):
    def starting_from(*weights):
        names = ("resnet50", "googlenet")
        given = zip(names, weights, strict=False)
        backbones = tuple(BackboneSettings(name=name, weights=file) for name, file in given)
        return resolved_dict(replace(study, backbones=backbones))

    here = starting_from("/a/w.pth")
    assert compare(here, starting_from("/b/w.pth")).is_compatible
    assert compare(here, starting_from("/a/w.pth", "imagenet")).is_compatible
    assert not compare(here, starting_from("imagenet")).is_compatible
    assert not compare(starting_from("imagenet"), starting_from("random")).is_compatible


def test_more_image_sizes_are_no_harm(study):
    def at(*sizes):
        return resolved_dict(replace(study, image_sizes=sizes))

    assert compare(at(), at(224)).is_compatible
    assert compare(at(224), at(256, 224)).is_compatible
    assert not compare(at(224), at(256)).is_compatible
