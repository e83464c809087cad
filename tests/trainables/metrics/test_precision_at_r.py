"""R-precision and MAP@R against slow loops, pytorch-metric-learning and hand-computed cases."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.metrics import _faiss
from podium.trainables.metrics import precision_at_r as module
from podium.trainables.metrics.precision_at_r import precision_at_r, precision_at_r_scores
from tests.trainables.losses.loss_cases import on_circle as directions
from tests.trainables.metrics.ranking_oracle import (
    GEOMETRIES,
    TIE,
    clustered,
    cosine,
    in_one,
    measured,
)

COORDINATES = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])


def cut_into_small_chunks(monkeypatch):
    monkeypatch.setattr(module, "_MAX_QUERIES", 7)
    monkeypatch.setattr(module, "_SPARE_PLACES", 1)
    monkeypatch.setattr(module, "_EXACT_QUERIES", 3)
    monkeypatch.setattr(module, "_EXACT_COLUMNS", 4)
    monkeypatch.setattr(module, "_MAX_DOUBTFUL", 2)


@pytest.fixture(params=["one chunk", "small chunks", "without faiss"])
def chunks(request, monkeypatch):
    if request.param == "small chunks":
        cut_into_small_chunks(monkeypatch)
    if request.param == "without faiss":
        monkeypatch.setattr(_faiss, "can_search", lambda device: False)


def oracle_of_query(query, label, others, similarity):
    """The list of neighbours written out: a positive comes after the negatives it ties with."""
    similarities = [(similarity(query, it), other_label == label) for it, other_label in others]
    positives = sorted((s for s, is_positive in similarities if is_positive), reverse=True)
    negatives = sorted((s for s, is_positive in similarities if not is_positive), reverse=True)
    listed = []
    for positive in positives:
        while negatives and negatives[0] >= positive - TIE:
            negatives.pop(0)
            listed.append(False)
        listed.append(True)
    num_positives = len(positives)
    if num_positives == 0:
        return None
    precisions = [
        sum(listed[:rank]) / rank
        for rank in range(1, min(num_positives, len(listed)) + 1)
        if listed[rank - 1]
    ]
    return len(precisions) / num_positives, sum(precisions) / num_positives


def oracle(embeddings, labels, geometry="cosine"):
    similarity = measured(geometry, embeddings.double().tolist())
    rows = list(zip(embeddings.double().tolist(), labels.tolist(), strict=True))
    found = [
        oracle_of_query(row, label, rows[:index] + rows[index + 1 :], similarity)
        for index, (row, label) in enumerate(rows)
    ]
    return [pair for pair in found if pair is not None]


def pairs(found):
    return list(zip(found.r_precision_Q.tolist(), found.average_precision_Q.tolist(), strict=True))


def assert_equal(found, expected):
    assert len(found.r_precision_Q) == len(expected)
    for pair, expected_pair in zip(pairs(found), expected, strict=True):
        assert pair == pytest.approx(expected_pair, abs=1e-12)


@st.composite
def tied_rows(draw):
    rows = draw(st.lists(st.tuples(*[COORDINATES] * 3), min_size=1, max_size=16))
    labels = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    return torch.tensor(rows), torch.tensor(labels)


@given(data=tied_rows(), geometry=st.sampled_from(GEOMETRIES))
def test_tied_rows_equal_the_oracle(data, geometry):
    with pytest.MonkeyPatch.context() as patch:
        cut_into_small_chunks(patch)
        found = precision_at_r(*data, geometry=geometry)
    assert_equal(found, oracle(*data, geometry))
    assert found.num_gallery == len(data[0])
    assert found.num_singletons == len(data[0]) - len(found.r_precision_Q)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("noise", [0.3, 1.0, 5.0])
def test_random_rows_equal_the_oracle(chunks, noise, geometry):
    embeddings, labels = clustered(80, 9, 16, noise=noise)
    found = precision_at_r(embeddings, labels, geometry=geometry)
    assert_equal(found, oracle(embeddings, labels, geometry))


def test_cosines_that_float32_cannot_tell_apart_are_ranked_in_float64(chunks):
    embeddings, labels = clustered(60, 6, 16, noise=0.5)
    embeddings = embeddings[:1] + 3e-4 * embeddings
    assert_equal(precision_at_r(embeddings, labels), oracle(embeddings, labels))


@pytest.fixture
def whole_rows(monkeypatch):
    """The queries of which the whole row of cosines is computed in float64."""
    asked = []
    exactly = module._Ranking._rank_in_float64

    def note(self, queries):
        asked.extend(queries.tolist())
        exactly(self, queries)

    monkeypatch.setattr(module._Ranking, "_rank_in_float64", note)
    return asked


def test_a_few_doubtful_cosines_are_computed_again_by_themselves(whole_rows):
    # The negative at 350 degrees is as far from 0 as the positive at 10 is.
    tied = precision_at_r(directions(0, 10, 350, 260), torch.tensor([0, 0, 1, 1]))
    assert pairs(tied)[0] == (0.0, 0.0)
    assert whole_rows == []


def test_a_negative_that_float32_did_not_list_is_found_in_the_whole_row(whole_rows, monkeypatch):
    # Beside the query itself, one image is listed: which of these is the nearest, and above the
    # positive, float32 cannot tell.
    monkeypatch.setattr(module, "_SPARE_PLACES", 1)
    for nearest, expected in ((10 + 1e-6, 1.0), (10 - 1e-6, 0.0)):
        embeddings = directions(0, 10, 10 + 2e-6, nearest, 10 + 3e-6, 200)
        found = precision_at_r(embeddings, torch.tensor([0, 0, 1, 2, 3, 1]))
        assert pairs(found)[0] == (expected, expected)
    assert 0 in whole_rows


def test_many_doubtful_cosines_are_computed_with_the_whole_row(whole_rows):
    precision_at_r(torch.ones(60, 2), torch.arange(60) % 3)
    assert sorted(whole_rows) == list(range(60))


def test_singletons_are_left_out_and_counted(chunks):
    embeddings, _ = clustered(7, 3, 4, noise=1.0)
    found = precision_at_r(embeddings, torch.tensor([5, 3, 5, 1, 8, 8, 2]))
    scores = precision_at_r_scores(found, role="test")
    assert {(score.queries, score.gallery) for score in scores} == {(4, 7)}
    assert {(score.role, score.k, score.hits) for score in scores} == {("test", None, None)}


def test_singletons_alone_are_an_error(chunks):
    found = precision_at_r(torch.eye(3), torch.arange(3))
    with pytest.raises(ValueError, match="role 'test' has none among 3 queries"):
        precision_at_r_scores(found, role="test")


def test_autocast_changes_nothing():
    embeddings, labels = clustered(300, 20, 64, noise=3.0)
    expected = precision_at_r(embeddings, labels).average_precision_Q
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = precision_at_r(embeddings, labels).average_precision_Q
    assert torch.equal(found, expected)


@pytest.mark.gpu
def test_a_gpu_finds_what_the_cpu_finds():
    embeddings, labels = clustered(3000, 50, 64, noise=2.0)
    on_cpu = precision_at_r(embeddings, labels)
    on_gpu = precision_at_r(embeddings.cuda(), labels)
    assert torch.equal(on_gpu.r_precision_Q, on_cpu.r_precision_Q)
    torch.testing.assert_close(on_gpu.average_precision_Q, on_cpu.average_precision_Q)


@given(queries=tied_rows(), gallery=tied_rows())
def test_tied_rows_in_a_separate_gallery_equal_the_oracle(queries, gallery):
    with pytest.MonkeyPatch.context() as patch:
        cut_into_small_chunks(patch)
        found = precision_at_r(*in_one(queries, gallery))
    others = list(zip(gallery[0].double().tolist(), gallery[1].tolist(), strict=True))
    expected = [
        oracle_of_query(row, label, others, cosine)
        for row, label in zip(queries[0].double().tolist(), queries[1].tolist(), strict=True)
    ]
    assert_equal(found, [pair for pair in expected if pair is not None])
    assert found.num_singletons == expected.count(None)
    assert found.num_gallery == len(gallery[0])


@pytest.mark.parametrize("scale", [1.0, 3e-4])
def test_faiss_changes_nothing(monkeypatch, scale):
    pytest.importorskip("faiss")
    embeddings, labels = clustered(700, 30, 16, noise=1.0)
    embeddings = embeddings[:1] / scale + embeddings
    with_faiss = precision_at_r(embeddings, labels)
    monkeypatch.setattr(_faiss, "can_search", lambda device: False)
    without = precision_at_r(embeddings, labels)
    assert torch.equal(with_faiss.r_precision_Q, without.r_precision_Q)
    assert torch.equal(with_faiss.average_precision_Q, without.average_precision_Q)
