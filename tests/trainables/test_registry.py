import pytest

from podium.trainables.datasets.glyphs import Glyphs
from podium.trainables.errors import Collapsed, Diverged, TrialInputError
from podium.trainables.registry import load, names, summary


def test_entries_are_the_files_that_publish_one_class():
    assert not {"splits", "cache", "loading"} & set(names("datasets"))
    assert {"balanced", "random"} <= set(names("batch_samplers"))
    assert {"contrastive", "multi_similarity", "proxy_anchor"} <= set(names("losses"))


@pytest.mark.parametrize(
    "package", ["backbones", "datasets", "losses", "miners", "batch_samplers"]
)
def test_every_entry_loads_as_a_class_of_its_own_module(package):
    for name in names(package):
        assert load(package, name).__module__ == f"podium.trainables.{package}.{name}"


def test_every_loss_says_in_its_first_line_how_it_differs_from_the_others():
    lines = {name: summary("losses", name) for name in names("losses")}
    assert all(line.endswith(".") for line in lines.values())
    assert len(set(lines.values())) == len(lines)
    assert "Chopra et al. 2005" in lines["chopra"]


def test_a_data_set_bears_the_name_of_its_module():
    assert load("datasets", "glyphs") is Glyphs
    assert all(load("datasets", name).name == name for name in names("datasets"))


def test_an_unknown_name_is_answered_with_the_nearest_and_all_names():
    with pytest.raises(
        TrialInputError,
        match=r"sampler 'ballanced' \(did you mean 'balanced'\?\); known: balanced, .*random",
    ):
        load("batch_samplers", "ballanced")


def test_a_helper_module_is_no_entry():
    with pytest.raises(TrialInputError, match=r"unknown data set 'splits'.*; known: .*glyphs"):
        load("datasets", "splits")
    with pytest.raises(TrialInputError, match="unknown loss '_base'"):
        load("losses", "_base")


@pytest.mark.parametrize("failure", [Diverged, Collapsed])
def test_a_failed_training_says_where_it_stood(failure):
    error = failure("the loss is nan", 2, 5)
    assert (error.fold, error.epoch) == (2, 5)
    assert str(error) == "the loss is nan (fold 2, epoch 5)"
