"""Ranks against the slow oracle, on data with and without ties."""

import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.metrics import _negatives, _positives
from podium.trainables.metrics._cosines import deal, float32_slack
from podium.trainables.metrics.first_positive_rank import first_positive_ranks
from tests.trainables.metrics.ranking_oracle import (
    GEOMETRIES,
    as_list,
    clustered,
    in_one,
    oracle_ranks,
    oracle_ranks_between,
)

# Coordinates from so few values that exact ties, scaled twins and zero rows are common.
COORDINATES = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])


def cut_into_small_blocks(monkeypatch):
    monkeypatch.setitem(_negatives._MAX_ROWS, "cpu", 7)
    monkeypatch.setitem(_negatives._MAX_COLUMNS, "cpu", 5)
    monkeypatch.setitem(_positives._RUN_ROWS, "cpu", 2)
    monkeypatch.setitem(_positives._MAX_ROWS, "cpu", 3)


def multiply_in(monkeypatch, precision):
    """Blocks in float32, or as many as may be in bfloat16, whatever the processor and size."""
    monkeypatch.setattr(_negatives, "multiplies_bfloat16", lambda _: precision == "bfloat16")
    monkeypatch.setattr(_negatives, "_MIN_SHORT_DIM", 1)
    monkeypatch.setattr(_negatives, "_MIN_SHORT_SIDE", 1)


@pytest.fixture(params=["one block", "small blocks", "blocks in bfloat16"])
def blocks(request, monkeypatch):
    if request.param != "one block":
        cut_into_small_blocks(monkeypatch)
    multiply_in(monkeypatch, "bfloat16" if "bfloat16" in request.param else "float32")


@st.composite
def tied_rows(draw, max_rows=16):
    rows = draw(st.lists(st.tuples(*[COORDINATES] * 3), min_size=2, max_size=max_rows))
    labels = draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    return torch.tensor(rows), torch.tensor(labels)


PRECISIONS = st.sampled_from(["float32", "bfloat16"])


every_geometry = pytest.mark.parametrize("geometry", GEOMETRIES)


@given(data=tied_rows(), precision=PRECISIONS, geometry=st.sampled_from(GEOMETRIES))
def test_ranks_of_tied_rows_equal_the_oracle(data, precision, geometry):
    embeddings, labels = data
    with pytest.MonkeyPatch.context() as patch:
        cut_into_small_blocks(patch)
        multiply_in(patch, precision)
        ranks = first_positive_ranks(embeddings, labels, geometry=geometry)
    assert as_list(ranks, len(labels)) == oracle_ranks(embeddings, labels, geometry)


@given(
    queries=tied_rows(max_rows=10),
    gallery=tied_rows(max_rows=12),
    precision=PRECISIONS,
    geometry=st.sampled_from(GEOMETRIES),
)
def test_ranks_in_a_separate_gallery_equal_the_oracle(queries, gallery, precision, geometry):
    with pytest.MonkeyPatch.context() as patch:
        cut_into_small_blocks(patch)
        multiply_in(patch, precision)
        ranks = first_positive_ranks(*in_one(queries, gallery), geometry=geometry)
    expected = oracle_ranks_between(*queries, *gallery, geometry)
    assert as_list(ranks, len(queries[0])) == expected
    assert ranks.num_gallery == len(gallery[0])


@every_geometry
@pytest.mark.parametrize("noise", [0.3, 1.0, 5.0])
def test_ranks_of_random_rows_equal_the_oracle(blocks, noise, geometry):
    embeddings, labels = clustered(80, 9, 16, noise=noise)
    ranks = first_positive_ranks(embeddings, labels, geometry=geometry)
    assert as_list(ranks, 80) == oracle_ranks(embeddings, labels, geometry)
    assert ranks.num_gallery == 80


@every_geometry
def test_what_float32_cannot_tell_apart_is_ranked_in_float64(blocks, geometry):
    embeddings, labels = clustered(60, 6, 16, noise=0.5)
    embeddings = embeddings[:1] / 3 + 3e-4 * embeddings
    expected = oracle_ranks(embeddings, labels, geometry)
    ranks = first_positive_ranks(embeddings, labels, geometry=geometry)
    assert as_list(ranks, 60) == expected
    if geometry != "cosine":
        return

    unit = torch.nn.functional.normalize(embeddings, dim=1)
    cosines = (unit @ unit.T).fill_diagonal_(-2.0)
    same = labels[:, None] == labels
    best = cosines.masked_fill(~same, -2.0).amax(1, keepdim=True)
    in_float32 = 1 + ((cosines >= best) & ~same).sum(1)
    assert in_float32.tolist() != expected


def test_one_class_larger_than_many_blocks_is_ranked_like_any_other(blocks):
    embeddings, _ = clustered(50, 3, 8, noise=1.0)
    labels = torch.tensor([2] * 3 + [7] * 44 + [9] * 3)
    ranks = first_positive_ranks(embeddings, labels)
    assert as_list(ranks, 50) == oracle_ranks(embeddings, labels)


@every_geometry
@pytest.mark.parametrize("length", [0.0, 1.0, 1e20])
def test_a_fully_collapsed_embedding_ranks_last_everywhere(blocks, geometry, length):
    row = length * torch.randn(1, 8, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(30) % 3
    ranks = first_positive_ranks(row.expand(30, 8), labels, geometry=geometry)
    assert ranks.ranks_Q.tolist() == [21] * 30


def test_the_length_of_an_embedding_does_not_matter_however_large(blocks):
    embeddings, labels = clustered(40, 6, 8, noise=1.0)
    lengths = torch.logspace(-30, 30, 40)[:, None]
    ranks = first_positive_ranks(embeddings * lengths, labels)
    assert as_list(ranks, 40) == oracle_ranks(embeddings * lengths, labels)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_any_float_type_is_ranked(dtype):
    embeddings, labels = clustered(40, 6, 8, noise=1.0)
    embeddings = embeddings.to(dtype)
    ranks = first_positive_ranks(embeddings, labels)
    assert as_list(ranks, 40) == oracle_ranks(embeddings, labels)


def test_autocast_and_reduced_matmul_precision_change_nothing():
    embeddings, labels = clustered(300, 20, 64, noise=3.0)
    expected = first_positive_ranks(embeddings, labels).ranks_Q
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            ranks = first_positive_ranks(embeddings, labels).ranks_Q
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    assert torch.equal(ranks, expected)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_embeddings_that_are_not_finite_are_an_error(bad):
    embeddings, labels = clustered(10, 2, 4, noise=1.0)
    embeddings[[2, 7], 1] = bad
    message = "embeddings must be finite, but 2 of 10 hold NaN or infinity"
    with pytest.raises(ValueError, match=message):
        first_positive_ranks(embeddings, labels)


def test_shapes_that_disagree_are_an_error():
    message = r"embeddings must be \(N, D\) and labels \(N,\), but got \(4, 2\) and \(3,\)"
    with pytest.raises(ValueError, match=message):
        first_positive_ranks(torch.ones(4, 2), torch.zeros(3, dtype=torch.int64))


def test_the_slack_is_far_above_the_error_of_a_float32_product():
    for dim in (2, 32, 512, 2048):
        rows, _ = clustered(400, 4, dim, noise=0.2)
        unit = torch.nn.functional.normalize(rows.double(), dim=1)
        error = (unit.float() @ unit.float().T - unit @ unit.T).abs().amax().item()
        assert error < float32_slack(dim) / 4


def test_bfloat16_counts_what_float32_counts_also_where_it_leaves_much_open(monkeypatch):
    for noise in (0.5, 2.0, 6.0):
        embeddings, labels = clustered(1600, 40, 64, noise=noise)
        multiply_in(monkeypatch, "bfloat16")
        short = first_positive_ranks(embeddings, labels)
        multiply_in(monkeypatch, "float32")
        long = first_positive_ranks(embeddings, labels)
        assert torch.equal(short.ranks_Q, long.ranks_Q)
        assert short.num_doubtful == long.num_doubtful


def test_pairs_that_wait_for_float64_are_counted_whenever_that_happens(monkeypatch):
    embeddings, labels = clustered(250, 20, 16, noise=2.0)
    multiply_in(monkeypatch, "bfloat16")
    monkeypatch.setattr(_negatives, "_MAX_SETTLED", 1.0)
    at_the_end = first_positive_ranks(embeddings, labels)
    monkeypatch.setattr(_negatives, "_MAX_WAITING", 3)
    often = first_positive_ranks(embeddings, labels)
    assert as_list(often, 250) == as_list(at_the_end, 250) == oracle_ranks(embeddings, labels)


def test_the_number_of_threads_changes_nothing_and_is_left_as_it_was(blocks):
    embeddings, labels = clustered(300, 20, 16, noise=2.0)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        alone = first_positive_ranks(embeddings, labels)
        torch.set_num_threads(5)
        together = first_positive_ranks(embeddings, labels)
        assert torch.get_num_threads() == 5
    finally:
        torch.set_num_threads(before)
    assert torch.equal(together.ranks_Q, alone.ranks_Q)
    assert together.num_doubtful == alone.num_doubtful


def test_an_error_in_one_thread_is_raised_and_ends_the_others():
    begun = []

    def fail_at_first(item):
        begun.append(item)
        if item == 0:
            raise RuntimeError("the first fails")
        time.sleep(0.01)

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(RuntimeError, match="the first fails"):
            deal(fail_at_first, range(1000), "cpu")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert len(begun) < 1000


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_ranks_on_a_gpu_equal_those_on_the_cpu(precision, monkeypatch):
    multiply_in(monkeypatch, precision)
    embeddings, labels = clustered(3000, 50, 64, noise=2.0)
    on_gpu = first_positive_ranks(embeddings.cuda(), labels)
    on_cpu = first_positive_ranks(embeddings, labels)
    assert torch.equal(on_gpu.ranks_Q, on_cpu.ranks_Q)
    assert torch.equal(on_gpu.indices_Q, on_cpu.indices_Q)
    assert as_list(on_gpu, 3000) == oracle_ranks(embeddings, labels)
