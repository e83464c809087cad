"""Lists of the largest products against sorting everything."""

import pytest
import torch

from trainables.metrics import _screening
from trainables.metrics._screening import largest_products


def rows(num, dim, seed):
    return torch.randn(num, dim, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("gallery_size", "num"), [(1, 1), (40, 40), (300, 7), (1001, 3)])
def test_the_largest_products_are_listed_with_their_rows(monkeypatch, gallery_size, num):
    monkeypatch.setattr(_screening, "_MIN_QUERIES", 3)
    monkeypatch.setattr(_screening, "_PRODUCTS", 5)
    queries, gallery = rows(17, 24, 0), rows(gallery_size, 24, 1)
    products, indices = largest_products(queries, gallery, num)
    exact = queries.double() @ gallery.double().T
    expected = exact.sort(dim=1, descending=True)
    assert torch.equal(indices, expected.indices[:, :num])
    torch.testing.assert_close(products.double(), expected.values[:, :num], rtol=0, atol=1e-5)


def test_equal_products_are_all_listed_once():
    gallery = torch.ones(200, 4)
    products, indices = largest_products(torch.ones(5, 4), gallery, 50)
    assert products.unique().tolist() == [4.0]
    assert all(len(set(row)) == 50 for row in indices.tolist())


def test_no_query_has_an_empty_list():
    products, indices = largest_products(rows(0, 4, 0), rows(9, 4, 1), 3)
    assert products.shape == indices.shape == (0, 3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_lists_what_the_cpu_lists():
    queries, gallery = rows(500, 64, 0), rows(3000, 64, 1)
    expected = largest_products(queries, gallery, 20)[1]
    assert torch.equal(largest_products(queries.cuda(), gallery.cuda(), 20)[1].cpu(), expected)
