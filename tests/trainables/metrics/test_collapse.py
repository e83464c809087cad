import pytest
import torch

from podium.trainables.metrics.collapse import is_collapsed, similarity_spread
from tests.trainables.metrics.ranking_oracle import clustered, cosine


def direction(dim=16):
    return torch.randn(1, dim, generator=torch.Generator().manual_seed(4))


def noise(num_rows=200, dim=16):
    return torch.randn(num_rows, dim, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("size", [0.0, 1e-8, 1e-7, 1e-6, 1e-5])
def test_one_direction_up_to_rounding_is_collapsed(size):
    assert is_collapsed(direction() + size * noise())


@pytest.mark.parametrize("geometry", ["euclidean", "poincare"])
@pytest.mark.parametrize("size", [0.0, 1e-8, 1e-7])
def test_where_lengths_count_one_place_is_collapsed_and_one_direction_is_not(geometry, size):
    assert is_collapsed(direction() + size * noise(), geometry)
    lengths = torch.linspace(0.01, 1.0, 200)[:, None]
    assert not is_collapsed(direction() * lengths, geometry)


def test_zero_embeddings_are_collapsed():
    assert is_collapsed(torch.zeros(50, 8))


@pytest.mark.parametrize("size", [1e-2, 0.1, 1.0, 100.0])
def test_a_spread_that_float32_resolves_is_not_collapsed(size):
    assert not is_collapsed(direction() + size * noise())


def test_a_few_separate_points_are_not_collapsed():
    embeddings, _ = clustered(100, 3, 8, noise=0.0)
    assert not is_collapsed(embeddings)


def test_two_rows_have_one_cosine_and_cannot_be_called_collapsed():
    assert not is_collapsed(torch.ones(2, 4))
    assert similarity_spread(torch.ones(1, 4)) == 0.0


def test_the_spread_is_the_deviation_of_the_cosines():
    embeddings, _ = clustered(30, 4, 8, noise=1.0)
    rows = embeddings.double().tolist()
    cosines = torch.tensor([cosine(rows[i], rows[j]) for i in range(30) for j in range(i)])
    expected = cosines.double().std(correction=0).item()
    assert similarity_spread(embeddings) == pytest.approx(expected, rel=1e-6)


def test_many_rows_are_sampled_from_end_to_end():
    embeddings = direction().repeat(5000, 1)
    embeddings[2500:] = -embeddings[2500:]
    assert similarity_spread(embeddings) == pytest.approx(1.0, abs=0.01)


def test_embeddings_that_are_not_finite_are_an_error():
    embeddings = noise()
    embeddings[3] = torch.nan
    with pytest.raises(ValueError, match="1 of 200 hold NaN or infinity"):
        is_collapsed(embeddings)
