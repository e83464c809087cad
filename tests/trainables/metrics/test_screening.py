"""Lists of the largest products, by faiss and by torch, against sorting everything."""

import pytest
import torch

from podium.trainables.metrics import _faiss, _screening
from podium.trainables.metrics._screening import largest_products


def rows(num, dim, seed):
    return torch.randn(num, dim, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(params=["faiss", "torch"])
def library(request, monkeypatch):
    if request.param == "faiss":
        pytest.importorskip("faiss")
    monkeypatch.setattr(_faiss, "can_search", lambda device: request.param == "faiss")


@pytest.mark.parametrize(("gallery_size", "num"), [(1, 1), (40, 40), (300, 7), (1001, 3)])
def test_the_largest_products_are_listed_with_their_rows(library, monkeypatch, gallery_size, num):
    monkeypatch.setattr(_screening, "_MIN_QUERIES", 3)
    monkeypatch.setattr(_screening, "_PRODUCTS", 5)
    queries, gallery = rows(17, 24, 0), rows(gallery_size, 24, 1)
    products, indices = largest_products(queries, gallery, num)
    exact = queries.double() @ gallery.double().T
    expected = exact.sort(dim=1, descending=True)
    assert torch.equal(indices, expected.indices[:, :num])
    torch.testing.assert_close(products.double(), expected.values[:, :num], rtol=0, atol=1e-5)


def test_equal_products_are_all_listed_once(library):
    gallery = torch.ones(200, 4)
    products, indices = largest_products(torch.ones(5, 4), gallery, 50)
    assert products.unique().tolist() == [4.0]
    assert all(len(set(row)) == 50 for row in indices.tolist())


def test_no_query_has_an_empty_list(library):
    products, indices = largest_products(rows(0, 4, 0), rows(9, 4, 1), 3)
    assert products.shape == indices.shape == (0, 3)


def test_faiss_gets_the_threads_of_torch_and_gives_its_own_back():
    faiss = pytest.importorskip("faiss")
    before, of_torch = faiss.omp_get_max_threads(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _faiss._threads_of_torch():
            assert faiss.omp_get_max_threads() == 1
    finally:
        torch.set_num_threads(of_torch)
    assert faiss.omp_get_max_threads() == before


def test_products_of_tf32_are_reported_from_those_of_float32():
    queries, gallery = rows(20, 64, 0), rows(50, 64, 1)
    products, indices = (queries @ gallery.T).sort(dim=1, descending=True)
    assert _screening._is_float32(queries, gallery, products, indices)
    rounded = products * (1 + 2**-11)
    assert not _screening._is_float32(queries, gallery, rounded, indices)


@pytest.mark.gpu
def test_a_gpu_lists_what_the_cpu_lists():
    queries, gallery = rows(500, 64, 0), rows(3000, 64, 1)
    expected = largest_products(queries, gallery, 20)[1]
    assert torch.equal(largest_products(queries.cuda(), gallery.cuda(), 20)[1].cpu(), expected)
