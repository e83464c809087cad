"""The section of maps says what it draws and draws what was stored."""

import shutil

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from podium.analysis.figures.series import series_of
from podium.analysis.report.images import (
    CLASSES,
    IMAGES,
    embedding_maps,
    mapped_rows,
    principal_components,
)
from podium.analysis.study_results.study_results import read_results
from podium.errors import CorruptFileError, PodiumError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import put
from podium.orchestrator.results.trial_files.reader import Reader
from tests.analysis.changed_results import with_views
from tests.analysis.stored_embeddings import clusters, embeddings_file
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

TRUTH = Truth(
    strengths={"contrastive": 0.0, "margin": 0.05},
    tuning_gains={"contrastive": 0.01, "margin": 0.02},
    scripts=("greek", "latin", "symbols"),
    embedding_dims=(16,),
    search_trials=3,
    seeds=2,
)
MIDDLE = "glyphs-latin/conv_small/16"  # levels rise with the scripts
APART = {"contrastive": 5.0, "margin": 0.2, "untrained": 0.0, "features": 0.1}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A study that kept no embeddings."""
    return write_store(tmp_path_factory.mktemp("bare") / "study", TRUTH)


def copy_with_embeddings(bare, folder, *, blocks=(MIDDLE,), labels=None):
    """A copy in which runs left embeddings: those of contrastive are clear."""
    shutil.copytree(bare, folder)
    paths = StudyPaths(folder)
    tested = Reader(folder).trials().filter(pl.col("stage") != "search").collect()
    for row in tested.filter(pl.col("block").is_in(blocks)).to_dicts():
        points, plain = clusters(10, 6, apart=APART[row["loss"]], seed=row["seed_index"])
        own = plain if labels is None else labels.get(row["loss"], plain)
        recall = 0.1 * (1 + row["seed_index"])
        file = embeddings_file(points, own, recall=recall)
        put(paths.test_embeddings(row["trial_id"], 0), file.to_bytes())
    return folder


def maps_section_of(folder):
    results = read_results(folder)
    return embedding_maps(results, series_of(results.losses))


@pytest.fixture(scope="module")
def folder(bare, tmp_path_factory):
    return copy_with_embeddings(bare, tmp_path_factory.mktemp("maps") / "study")


@pytest.fixture(scope="module")
def maps_section(folder):
    return maps_section_of(folder)


@pytest.fixture(scope="module")
def map_figure(maps_section):
    return maps_section.parts[1]


def test_every_loss_and_the_untrained_network_have_a_panel_with_every_image(map_figure):
    assert [plot.title for plot in map_figure.plots] == [
        f"Map of the embeddings of {loss}" for loss in ("contrastive", "margin", "untrained")
    ]
    assert [len(plot.values["points"]["x"]) for plot in map_figure.plots] == [8 * 6] * 3


def test_maps_are_scaled_alike_in_both_directions(map_figure):
    for plot in map_figure.plots:
        points = plot.values["points"]
        widths = [max(points[axis]) - min(points[axis]) for axis in "xy"]
        assert max(widths) == pytest.approx(1, abs=0.002)
        assert all(0 <= value <= 1 for axis in "xy" for value in points[axis])


def test_the_middle_block_is_shown_or_else_one_that_has_embeddings(bare, tmp_path):
    easiest = "glyphs-symbols/conv_small/16"
    every = copy_with_embeddings(bare, tmp_path / "every", blocks=(MIDDLE, easiest))
    last = copy_with_embeddings(bare, tmp_path / "last", blocks=(easiest,))

    assert maps_section_of(every).parts[1].caption.startswith(MIDDLE)
    assert maps_section_of(last).parts[1].caption.startswith(easiest)


def test_a_study_without_embeddings_has_no_section(bare):
    assert maps_section_of(bare) is None


def test_continuous_labels_have_no_classes_to_mark(folder):
    results = with_views(read_results(folder), objective="ndcg")

    assert embedding_maps(results, series_of(results.losses)) is None


def test_embeddings_of_different_images_are_refused(bare, tmp_path):
    labels = {"margin": clusters(9, 6)[1].tolist() + [9] * 6}
    labels["margin"][0] = 9
    store = copy_with_embeddings(bare, tmp_path / "s", labels=labels)

    with pytest.raises(
        PodiumError, match="not of the same test images for contrastive and margin"
    ):
        maps_section_of(store)


def test_a_damaged_file_is_an_error_that_names_it(bare, tmp_path):
    store = copy_with_embeddings(bare, tmp_path / "s")
    for victim in (store / "embeddings").iterdir():
        victim.write_bytes(victim.read_bytes()[:-1])

    with pytest.raises(CorruptFileError, match=r"\.safetensors is not a safetensors file"):
        maps_section_of(store)


@pytest.mark.parametrize(("num", "dim"), [(20, 5), (5, 20), (6, 1), (4, 2)])
def test_components_equal_those_of_scikit_learn_up_to_signs_that_are_fixed(num, dim):
    points = np.random.default_rng(num).normal(size=(num, dim)) * (1 + np.arange(dim))
    positions, share = principal_components(points)
    expected = PCA(min(2, dim)).fit(points)
    theirs = expected.transform(points)

    assert positions.shape == (num, 2)
    assert np.abs(positions[:, : theirs.shape[1]]) == pytest.approx(np.abs(theirs), abs=1e-9)
    assert share == pytest.approx(expected.explained_variance_ratio_.sum())
    farthest = np.abs(positions).argmax(axis=0)
    assert (positions[farthest, [0, 1]] >= 0).all()


def test_points_that_coincide_are_mapped():
    positions, share = principal_components(np.ones((6, 3)))

    assert (positions == 0).all()
    assert share == 1.0


def test_classes_are_spread_from_the_first_to_the_last_and_images_are_the_first():
    labels_N = np.repeat(np.arange(100, 171), 20)
    rows_M = mapped_rows(labels_N, np.arange(len(labels_N)))

    assert np.unique(labels_N[rows_M]).tolist() == [100, 110, 120, 130, 140, 150, 160, 170]
    assert rows_M[:IMAGES].tolist() == list(range(IMAGES))


@given(st.lists(st.integers(0, 30), max_size=200), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_images(labels, random):
    labels_N = np.array(labels, dtype=np.int64)
    indices_N = np.arange(len(labels_N))
    order = list(range(len(labels_N)))
    random.shuffle(order)
    order = np.array(order, dtype=np.int64)
    rows_M = mapped_rows(labels_N, indices_N)
    shuffled_M = mapped_rows(labels_N[order], indices_N[order])

    assert indices_N[order][shuffled_M].tolist() == rows_M.tolist()
    shown, counts = np.unique(labels_N[rows_M], return_counts=True)
    assert len(shown) <= CLASSES
    assert all(2 <= count <= IMAGES for count in counts)
