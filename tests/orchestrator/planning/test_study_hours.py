"""Hours of a study, counted again trial by trial, and which figure of an image counts."""

import math
from dataclasses import replace

import pytest

from podium.orchestrator.planning.image_seconds import (
    ImageKind,
    add_to_own_table,
    known_tables,
    own_table,
    seconds_of,
)
from podium.orchestrator.planning.study_plan import plan
from podium.orchestrator.study.blocks import blocks, searches
from podium.trainables.dataset_interface.class_splits import make_split
from tests.orchestrator.study_files import load

TEXT = """
study: planned
datasets: [{name: glyphs, script: latin, classes: 100, instances_per_class: 6}]
embedding_dims: [16, 32]
losses: [contrastive, proxy_anchor]
protocol: {kind: kfold, folds: 5}
search: {trials: 7, early_stopping: {kind: none}}
final: {seeds: 3}
training: {epochs: 4}
"""
KIND = ImageKind("conv_small", 32, "fine_tune", "cpu")
KNOWN = {"machine": {KIND: 0.002}}


@pytest.fixture
def study(tmp_path):
    return load(tmp_path, TEXT)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def slot_hours(study, known=KNOWN):
    return plan(study, known).hours.slot


def images(study, fold):
    """Images of an epoch: trained ones, and a third of the validated."""
    classes = [f"class {number}" for number in range(50)]
    split = make_split(classes, study.protocols[0], fold)
    return 6 * (len(split.train) + len(split.val) / 3)


def test_every_image_of_every_trial_is_counted(study):
    """The oracle: a loop over trials, folds and epochs."""
    seconds = 0.0
    for _search in searches(study):
        for fold in range(5):
            seconds += (7 + 2 * 3) * 4 * images(study, fold) * 0.002  # configs and finals
            seconds += 2 * 3 * 300 / 3 * 0.002  # tests of finals
    seconds += sum(15 * 300 / 3 * 0.002 for _ in blocks(study))  # of untrained networks
    seconds += 300 / 3 * 0.002  # of features, for all dimensions
    assert slot_hours(study) == pytest.approx(seconds / 3600)


def test_tests_of_searches_count_where_they_are_recorded(study):
    more = slot_hours(replace(study, quarantine="record")) - slot_hours(study)
    assert more == pytest.approx(4 * 7 * 5 * 300 / 3 * 0.002 / 3600)


def test_features_of_a_frozen_network_are_computed_once_for_all_dimensions(study):
    training = replace(study.training, overrides={"epochs": 4, "mode": "frozen_features"})
    frozen = replace(study, training=training)
    head = {KIND._replace(mode="frozen_features"): 0.002}
    with_features = slot_hours(frozen, {"machine": head | KNOWN["machine"]})
    assert with_features - slot_hours(frozen, {"machine": head}) == pytest.approx(
        600 / 3 * 0.002 / 3600
    )
    assert plan(frozen, KNOWN).hours is None


def test_hours_of_gpus_are_those_of_slots_times_their_share(study):
    on_gpu = replace(study, resources=replace(study.resources, gpus_per_trial=0.25))
    hours = plan(on_gpu, {"machine": {KIND._replace(device="gpu"): 0.002}}).hours
    assert hours.gpu == pytest.approx(hours.slot / 4)
    assert hours.slot == pytest.approx(slot_hours(study))
    assert plan(study, KNOWN).hours.gpu == 0


def test_the_same_kind_counts_first_then_the_network_with_the_nearest_cost():
    resnet = ImageKind("resnet18", 128, "fine_tune", "cpu")
    shipped = {"shipped": {KIND: 0.001, resnet: 0.03}}
    assert seconds_of(KIND, KNOWN | shipped) == (0.002, "machine")
    assert seconds_of(resnet, KNOWN | shipped) == (0.03, "shipped")
    twice = resnet._replace(side=256)  # four times the pixels
    assert seconds_of(twice, KNOWN | shipped) == (pytest.approx(0.12), "shipped")
    on_gpu = {"shipped": {KIND._replace(device="gpu"): 0.0001, resnet: 0.03}}
    seconds, _ = seconds_of(resnet._replace(device="gpu"), on_gpu)
    assert seconds != pytest.approx(0.03)
    assert seconds_of(KIND._replace(mode="frozen_features"), KNOWN) is None


def test_every_network_and_vectors_have_a_figure(machine):
    for backbone in ("mlp", "resnet101", "timm:resnet50.a1_in1k"):
        for mode in ("fine_tune", "frozen_features"):
            for device in ("cpu", "gpu"):
                kind = ImageKind(backbone, None if backbone == "mlp" else 224, mode, device)
                seconds, source = seconds_of(kind, known_tables())
                assert 0 < seconds < math.inf
                assert source == "shipped"


def test_what_was_measured_is_there_again_and_replaced_by_what_is_newer(machine):
    vectors = ImageKind("mlp", None, "fine_tune", "cpu")
    add_to_own_table({KIND: 0.5, vectors: 0.25})
    add_to_own_table({KIND: 0.125})
    assert known_tables()["machine"] == {KIND: 0.125, vectors: 0.25}


def test_a_network_by_import_path_is_left_out(machine):
    add_to_own_table({KIND._replace(backbone="my_package.nets:Net"): 0.5})
    assert not own_table().exists()


@pytest.mark.parametrize(
    "text", ["nonsense\n1\n", "backbone,side\nconv_small,32\n", "\x00", "backbone\nnone_such\n"]
)
def test_a_damaged_table_counts_as_none_and_is_written_again(machine, text):
    own_table().parent.mkdir(parents=True)
    own_table().write_text(text)
    assert known_tables()["machine"] == {}
    add_to_own_table({KIND: 0.5})
    assert known_tables()["machine"] == {KIND: 0.5}
