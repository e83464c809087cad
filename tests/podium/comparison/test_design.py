"""Which study a comparison runs: what fits the minutes, without a common class or letter."""

import pytest

from podium.comparison.design import OPPONENTS, comparison_keys, description, stronger_minutes
from podium.errors import PodiumError
from podium.orchestrator.study_validation.load_study import load_study
from podium.trainables.datasets.glyphs import Glyphs


def written_folder(folder, *, num_classes, num_images):
    """Files whose names are those of images: designs count them and read none."""
    for number in range(num_classes):
        (folder / f"class{number:02d}").mkdir(parents=True)
        for image in range(num_images):
            (folder / f"class{number:02d}" / f"{image}.jpg").touch()
    return folder


def keys(opponents=OPPONENTS, minutes=1, data=None):
    return comparison_keys("triplet", opponents, minutes=minutes, data=data)


@pytest.mark.parametrize("minutes", [1, 2, 5, 10, 30, 120])
def test_every_design_is_a_study_that_can_be_run(minutes):
    study = load_study(keys(minutes=minutes))
    assert study.loss_names == ("triplet", *OPPONENTS)


def test_more_minutes_give_more_blocks_then_longer_searches():
    sizes = [
        (len(one["datasets"]), one["training"]["epochs"], one["search"]["trials"])
        for one in (keys(minutes=minutes) for minutes in (1, 3, 10, 30))
    ]
    assert sizes == [(8, 4, 3), (25, 4, 3), (22, 8, 10), (18, 8, 20)]


def test_fewer_opponents_give_more_blocks_in_the_same_time():
    counts = [len(keys(OPPONENTS[:n])["datasets"]) for n in (1, 2, 3)]
    assert counts == sorted(counts)[::-1]
    assert counts[-1] == 8  # with which all pairs of four losses can differ significantly


def test_sets_of_letters_share_none(tmp_path):
    datasets = keys(minutes=1)["datasets"]
    options = [{k: v for k, v in one.items() if k not in ("name", "label")} for one in datasets]
    names = [name for one in options for name in Glyphs.load(one, tmp_path).class_names]
    assert len(names) == len(set(names)) == 64 * 8


def test_too_many_losses_for_the_minutes_are_refused_with_minutes_that_do():
    opponents = [*OPPONENTS, "margin", "arcface", "circle", "n_pair", "softmax"]
    with pytest.raises(PodiumError, match=r"takes about 2 minutes.* 1 was given: --minutes 2"):
        keys(opponents)
    assert len(keys(opponents, minutes=2)["datasets"]) >= 5


def test_a_folder_is_one_block_with_repeated_searches(tmp_path):
    folder = written_folder(tmp_path, num_classes=12, num_images=6)
    one = keys(data=folder)
    study = load_study(one)
    assert study.tournament.question == "these_blocks"
    assert study.search.repeats >= 8  # with which pairs of four losses can differ significantly
    assert "seen in grey, by a small network without pretraining" in description(one)


def test_a_folder_of_few_classes_gets_a_split_that_fits(tmp_path):
    folder = written_folder(tmp_path / "eight", num_classes=8, num_images=3)
    assert load_study(keys(data=folder)).protocols[0].val_fraction == 0.4
    with pytest.raises(PodiumError, match="3 classes to train and validate on and 4 to"):
        keys(data=written_folder(tmp_path / "few", num_classes=7, num_images=3))


def test_a_stronger_comparison_is_known_until_there_is_none():
    assert stronger_minutes(4, minutes=1, data=None) == 5
    assert stronger_minutes(4, minutes=5, data=None) == 30
    assert stronger_minutes(4, minutes=240, data=None) is None
