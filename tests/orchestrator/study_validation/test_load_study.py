import pytest

from podium.errors import StudyError
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.configs import space_of
from podium.orchestrator.study.study import (
    EarlyStopping,
    ResourceSettings,
    SearchSettings,
    StudyTraining,
)
from podium.orchestrator.study_validation.load_study import load_study
from podium.search_spaces.parameters import Choice, Int, Real, Space
from podium.search_spaces.training_parameters import TRAINING_SPACES
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator.study_files import FULL, MINIMAL, load, problems_of


def test_every_key_arrives_where_it_belongs(tmp_path):
    study = load(tmp_path, FULL)
    assert study.name == "full.one-2"
    assert [item.label for item in study.datasets] == ["glyphs-latin", "glyphs-greek"]
    assert study.datasets[0].options == {"script": "latin", "classes": 100}
    assert study.embedding_dims == (16, 32)
    assert study.protocols[0] == ProtocolSettings(kind="fixed", val_fraction=0.25, split_seed=3)
    assert study.search == SearchSettings(
        sampler="random",
        trials=7,
        tune=("learning_rate", "proxy_learning_rate"),
        early_stopping=EarlyStopping(grace_epochs=2, reduction_factor=4),
        order="deterministic",
        lag=3,
        repeats=2,
        max_concurrent=4,
    )
    assert study.final.seeds == 5
    overrides = {"epochs": 3, "learning_rate": 0.002, "batch_size": 32}
    assert study.training == StudyTraining(recipe="fast", overrides=overrides)
    assert study.ks == (2, 1)
    assert study.resources == ResourceSettings(
        cpus_per_trial=2.0,
        gpus_per_trial=0.5,
        trial_hours=1.5,
        stuck_minutes=None,
    )
    assert (study.seed, study.storage) == (11, "/data/podium")


def test_the_final_protocol_takes_over_the_split_seed(tmp_path):
    assert load(tmp_path, FULL).final.protocol == ProtocolSettings(
        kind="kfold", val_fraction=None, folds=5, split_seed=3
    )


def test_a_space_of_its_own_is_joined_by_the_training_parameters(tmp_path):
    study = load(tmp_path, FULL)
    own = {
        "alpha": Real(4.0, 100.0, log=True, unit="1/cosine", source="study file"),
        "margin": Choice((0.1, 1.0), unit="cosine", source="study file"),
    }
    assert [loss.space for loss in study.losses] == [None, Space(own)]
    assert space_of(study, "proxy_anchor").parameters == {
        **own,
        "learning_rate": TRAINING_SPACES["learning_rate"],
        "proxy_learning_rate": TRAINING_SPACES["proxy_learning_rate"],
    }


def test_numbers_without_a_dot_before_the_exponent_are_numbers(tmp_path):
    study = load(tmp_path, MINIMAL + "training: {weight_decay: 1e-5}")
    assert study.training.overrides == {"weight_decay": 1e-5}


def test_overrides_change_add_and_replace(tmp_path):
    overrides = (
        "search.trials=8",
        "search.early_stopping.kind=none",
        "losses=[contrastive, proxy_anchor]",
        "final.protocol={kind: kfold, folds: 2}",
        "search.trials=9",
    )
    study = load(tmp_path, MINIMAL + "search: {early_stopping: asha}", *overrides)
    assert study.search.trials == 9
    assert study.search.early_stopping.kind == "none"
    assert study.loss_names == ("contrastive", "proxy_anchor")
    assert study.final.protocol is not None
    assert study.final.protocol.folds == 2


def test_an_override_counts_the_items_of_a_list(tmp_path):
    text = "study: x\ndatasets: [cub200, {name: sop, root: /old}]\nlosses: [proxy_anchor]\n"
    overrides = (
        "datasets.0.root=/data/cub",
        "datasets.1.root=/data/sop",
        "losses.0.values={alpha: 8}",
        "embedding_dims=[8, 16]",
        "embedding_dims.1=64",
    )
    study = load(tmp_path, text, *overrides)
    assert [item.options for item in study.datasets] == [
        {"root": "/data/cub"},
        {"root": "/data/sop"},
    ]
    assert [loss.values for loss in study.losses if loss.values] == [{"alpha": 8.0}]
    assert study.embedding_dims == (8, 64)


@pytest.mark.parametrize("item", ["1", "-1", "first", "1.0"])
def test_an_item_that_is_not_in_the_list_is_reported(tmp_path, item):
    key = f"losses.{item}.values" if item != "1" else "losses.1"
    (problem,) = problems_of(tmp_path, MINIMAL, f"{key}={{}}")
    said = item.partition(".")[0]
    assert problem == f"--set {key}: items of losses are numbers from 0 to 0; got {said}"


@pytest.mark.parametrize("override", ["search.trials", "=3", "search..trials=3", ".=1"])
def test_an_override_must_look_like_one(tmp_path, override):
    (problem,) = problems_of(tmp_path, MINIMAL, override)
    assert problem == f"--set {override}: an override must look like search.trials=8"


def test_overrides_say_where_they_are_wrong(tmp_path):
    overrides = ("search.trials=many", "study.name=y", "training.epochs=[1", "final.seeds=0")
    with_syntax_error = problems_of(tmp_path, MINIMAL, *overrides)
    assert [line.split("; ")[0] for line in with_syntax_error] == [
        "--set training.epochs: this is not the YAML of a study"
    ]
    assert {*problems_of(tmp_path, MINIMAL, "search.trials=many", "final.seeds=0")} == {
        '--set search.trials: search.trials must be a whole number; got "many"',
        "--set final.seeds: final.seeds must be greater than or equal to 1; got 0",
    }


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StudyError, match=r"no\.yaml: the study file cannot be read: No such file"):
        load_study(tmp_path / "no.yaml")
    (tmp_path / "latin1.yaml").write_bytes(b"study: \xe9t\xe9")
    with pytest.raises(StudyError, match=r"latin1\.yaml: .*cannot be read: it is not UTF-8"):
        load_study(tmp_path / "latin1.yaml")


def test_ranges_are_as_whole_as_their_hyperparameters(tmp_path):
    losses = (
        "[{loss: fast_ap, space: {bins: {low: 5, high: 65, step: 10}}},"
        " {loss: margin, space: {learn_beta: [true, false]}},"
        " {loss: angular, space: {form: [hinge]}}]"
    )
    study = load(tmp_path, f"study: x\nlosses: {losses}\nsearch: {{tune: []}}")
    bins, beta, form = (it for loss in study.losses for it in loss.own_parameters.values())
    assert isinstance(bins, Int)
    assert (bins.low, bins.high, bins.step) == (5, 65, 10)
    assert (beta.values, form.values) == ((True, False), ("hinge",))


def test_data_sets_of_one_name_go_by_their_labels(tmp_path):
    text = "[{name: glyphs, seed: 1, label: one}, {name: glyphs, seed: 2, label: two}]"
    study = load(tmp_path, f"{MINIMAL}datasets: {text}")
    assert [block.label for block in blocks(study)] == ["one/conv_small/32", "two/conv_small/32"]
