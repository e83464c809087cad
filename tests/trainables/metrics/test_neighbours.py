import pytest
import torch

from podium.trainables.metrics import neighbours as module
from podium.trainables.metrics.neighbours import neighbours
from tests.trainables.metrics.ranking_oracle import clustered, cosine


@pytest.mark.parametrize("exact_rows", [16384, 7])
def test_neighbours_are_the_nearest_other_rows_best_first(monkeypatch, exact_rows):
    monkeypatch.setattr(module, "_EXACT_ROWS", exact_rows)
    embeddings, _ = clustered(30, 5, 8, noise=1.0)
    rows = embeddings.double().tolist()
    indices, similarities = neighbours(embeddings, [3, 17, 29, 0, 8], 6)
    for position, query in enumerate([3, 17, 29, 0, 8]):
        others = [(cosine(rows[query], rows[j]), j) for j in range(30) if j != query]
        expected = sorted(others, reverse=True)[:6]
        assert indices[position].tolist() == [j for _, j in expected]
        torch.testing.assert_close(
            similarities[position], torch.tensor([s for s, _ in expected]), rtol=0.0, atol=1e-6
        )


def test_no_more_neighbours_are_listed_than_there_are_rows():
    indices, _ = neighbours(torch.eye(4), [0, 1], 10)
    assert indices.shape == (2, 3)
    assert 0 not in indices[0]


def test_embeddings_that_are_not_finite_are_an_error():
    with pytest.raises(ValueError, match="4 of 4 hold NaN or infinity"):
        neighbours(torch.full((4, 2), torch.nan), [0], 1)


def test_by_distance_the_length_counts_and_small_distances_between_long_vectors_differ():
    places = torch.tensor([0.0, 3.0, 1.0, -2.5])
    embeddings = torch.stack([places, torch.full((4,), 1e4)], dim=1)
    indices, similarities = neighbours(embeddings, [0], 3, geometry="euclidean")
    assert indices.tolist() == [[2, 3, 1]]
    assert similarities.tolist() == [[-1.0, -2.5, -3.0]]


def test_of_equal_similarities_the_first_image_comes_first():
    # Fifteen are listed of forty that are all as near: float32 cannot say which.
    embeddings = torch.ones(40, 3)
    indices, similarities = neighbours(embeddings, [5, 0], 7)
    assert indices.tolist() == [[0, 1, 2, 3, 4, 6, 7], [1, 2, 3, 4, 5, 6, 7]]
    torch.testing.assert_close(similarities, torch.ones(2, 7))


def test_what_float32_cannot_tell_apart_is_listed_in_the_order_of_float64():
    # Cosines differ from one another by 1e-10 to 1e-8.
    order = torch.randperm(40, generator=torch.Generator().manual_seed(0))
    angles = 1e-5 * order.double()
    indices, _ = neighbours(torch.stack([angles.cos(), angles.sin()], dim=1), [3], 5)
    distances = (order - order[3]).abs()
    expected = sorted((d, j) for j, d in enumerate(distances.tolist()) if j != 3)
    assert indices[0].tolist() == [j for _, j in expected[:5]]


def test_only_the_gallery_is_listed():
    embeddings, _ = clustered(30, 5, 8, noise=1.0)
    is_gallery = torch.arange(30) % 3 == 0
    rows = embeddings.double().tolist()
    indices, _ = neighbours(embeddings, [1, 6], 12, is_gallery_N=is_gallery)
    for position, query in enumerate([1, 6]):
        others = [(cosine(rows[query], rows[j]), j) for j in range(0, 30, 3) if j != query]
        assert indices[position].tolist() == [j for _, j in sorted(others, reverse=True)][:9]
