"""The map is t-SNE: its parts equal scikit-learn's, its result is as good."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import TSNE
from sklearn.manifold._t_sne import _joint_probabilities
from sklearn.neighbors import KNeighborsClassifier

from analysis.study_results.tsne import (
    affinities,
    gradient,
    nearest_share,
    neighbour_map,
    squared_distances,
)
from tests.analysis.stored_embeddings import clusters


def divergence(affinities_NN, positions_N2):
    closeness_NN = 1 / (1 + squareform(pdist(positions_N2, "sqeuclidean")))
    np.fill_diagonal(closeness_NN, 0)
    shares_NN = np.maximum(closeness_NN / closeness_NN.sum(), 1e-12)
    return float((affinities_NN * np.log(affinities_NN / shares_NN)).sum())


def test_distances_are_those_of_scipy():
    points_ND, _ = clusters(4, 5)

    assert squared_distances(points_ND) == pytest.approx(
        squareform(pdist(points_ND, "sqeuclidean")), abs=1e-9
    )


@pytest.mark.parametrize("perplexity", [3.0, 10.0, 25.0])
@pytest.mark.parametrize("scale", [0.01, 1.0, 50.0])
def test_affinities_are_those_of_scikit_learn(perplexity, scale):
    distances_NN = squared_distances(scale * clusters(6, 10)[0])
    expected = squareform(_joint_probabilities(distances_NN.astype(np.float32), perplexity, 0))

    assert affinities(distances_NN, perplexity) == pytest.approx(expected, abs=1e-6)


def test_the_gradient_is_that_of_the_divergence():
    distances_NN = squared_distances(clusters(3, 4)[0])
    joint_NN = affinities(distances_NN, 3.0)
    positions_N2 = np.random.default_rng(1).normal(size=(12, 2))
    step = 1e-6
    numeric_N2 = np.zeros_like(positions_N2)
    for place in np.ndindex(positions_N2.shape):
        moved = [positions_N2.copy() for _ in range(2)]
        moved[0][place] -= step
        moved[1][place] += step
        low, high = (divergence(joint_NN, positions) for positions in moved)
        numeric_N2[place] = (high - low) / (2 * step)

    assert gradient(joint_NN, positions_N2) == pytest.approx(numeric_N2, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_map_is_as_good_as_that_of_scikit_learn(seed):
    points_ND, _ = clusters(6, 15, apart=1.2, seed=seed)
    distances_NN = squared_distances(points_ND)
    joint_NN = affinities(distances_NN, 10.0)
    fitted = TSNE(method="exact", perplexity=10, init="pca", random_state=0).fit(points_ND)

    assert divergence(joint_NN, neighbour_map(distances_NN)) < 1.15 * fitted.kl_divergence_


def test_classes_that_are_far_apart_stay_apart():
    points_ND, labels_N = clusters(8, 15, apart=5.0)
    positions_N2 = neighbour_map(squared_distances(points_ND))

    assert nearest_share(squared_distances(positions_N2), labels_N) == 1.0


def test_images_without_structure_get_none():
    points_ND, labels_N = clusters(8, 15, apart=0.0)
    positions_N2 = neighbour_map(squared_distances(points_ND))

    # By chance 14 of 119; three standard errors of 120 draws are 0.09.
    assert nearest_share(squared_distances(positions_N2), labels_N) < 14 / 119 + 0.12


def test_equal_images_and_few_images_are_still_mapped():
    for num_images in (4, 5, 40):
        positions_N2 = neighbour_map(np.zeros((num_images, num_images)))
        assert np.isfinite(positions_N2).all()
        assert positions_N2.shape == (num_images, 2)


def test_the_unit_of_distances_does_not_matter():
    distances_NN = squared_distances(clusters(4, 6)[0])

    assert affinities(distances_NN, 5.0) == pytest.approx(affinities(1e6 * distances_NN, 5.0))


def test_the_nearest_share_is_that_of_a_classifier_by_one_neighbour():
    points_ND, labels_N = clusters(5, 8, apart=0.8)
    hits = []
    for number in range(len(labels_N)):
        others = np.arange(len(labels_N)) != number
        model = KNeighborsClassifier(1).fit(points_ND[others], labels_N[others])
        hits.append(model.predict(points_ND[[number]])[0] == labels_N[number])

    share = nearest_share(squared_distances(points_ND), labels_N)
    assert 0 < share < 1
    assert share == pytest.approx(np.mean(hits))


def test_of_equally_near_images_the_share_counts():
    distances_NN = np.ones((4, 4)) - np.eye(4)

    assert nearest_share(distances_NN, np.array([0, 0, 1, 1])) == pytest.approx(1 / 3)


def test_the_map_is_the_same_whatever_the_number_of_threads():
    script = (
        "import hashlib; import numpy as np;"
        "from analysis.study_results.tsne import neighbour_map, squared_distances;"
        "points = np.random.default_rng(0).normal(size=(120, 64));"
        "positions = neighbour_map(squared_distances(points));"
        "print(hashlib.sha256(positions.tobytes()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "3")
    }

    assert len(found) == 1
