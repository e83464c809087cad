"""Galleries in files rank as the slow oracle does; real files, read in small parts."""

import pytest
import torch

from tests.trainables.embedding_files import written, written_in_one
from tests.trainables.metrics.ranking_oracle import as_list, clustered, oracle_ranks_between
from trainables.device import trial_device
from trainables.errors import TrialInputError
from trainables.saved_models import gallery_search
from trainables.saved_models.embedding_rows import open_rows
from trainables.saved_models.gallery_search import (
    OwnSearcher,
    ranks_in_gallery,
    recall_in_gallery,
    scores_of_rows,
)
from trainables.saved_models.stored_scores import AskedScores

QUERIES, GALLERY = clustered(40, 8, 6, noise=1.0), clustered(90, 8, 6, noise=1.0)
EXPECTED = oracle_ranks_between(*QUERIES, *GALLERY)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Seven rows of six float32."""
    monkeypatch.setitem(gallery_search._PART_BYTES, trial_device().type, 7 * 6 * 4)


@pytest.fixture
def queries(tmp_path):
    return open_rows(*written(tmp_path, "queries", *QUERIES))


def test_one_file_and_many_rank_alike(tmp_path, queries):
    whole = [open_rows(*written(tmp_path, "gallery", *GALLERY))]
    first, second = ([of_all[rows] for of_all in GALLERY] for rows in (slice(50), slice(50, None)))
    halves = [
        open_rows(*written(tmp_path, "second", *second)),
        open_rows(written_in_one(tmp_path, "first", *first)),
    ]
    for gallery in (whole, halves):
        ranks = ranks_in_gallery(queries, gallery, OwnSearcher(queries))
        assert as_list(ranks, 40) == EXPECTED
        assert ranks.num_gallery == 90


def test_recall_counts_the_ranks(tmp_path, queries):
    gallery = [open_rows(*written(tmp_path, "gallery", *GALLERY))]
    asked = AskedScores(names=("recall",), ks=(1, 5))
    scores = recall_in_gallery(queries, gallery, OwnSearcher(queries), asked)
    assert [score.hits for score in scores] == [sum(r <= k for r in EXPECTED) for k in (1, 5)]


def test_without_a_gallery_any_metric_is_computed(queries):
    asked = AskedScores(names=("recall", "map_at_r"), ks=(1,))
    assert [score.metric for score in scores_of_rows(queries, asked)] == ["recall", "map_at_r"]


def test_progress_with_the_time_left_is_printed(tmp_path, queries, capsys, monkeypatch):
    monkeypatch.setattr("trainables.file_caches.build_progress._LOG_EVERY_S", 0.0)
    gallery = [open_rows(*written(tmp_path, "gallery", *GALLERY))]
    ranks_in_gallery(queries, gallery, OwnSearcher(queries))
    printed = capsys.readouterr().err
    assert "podium: finding best positives: 7 of 90 (7 %), 0:0" in printed
    assert "podium: counting negatives: 90 of 90 (100 %), 0:00 left" in printed


def test_other_dimensions_are_refused(tmp_path, queries):
    gallery = open_rows(*written(tmp_path, "gallery", GALLERY[0][:, :5], GALLERY[1]))
    with pytest.raises(TrialInputError, match=r"queries.npy has 6 and .*gallery.npy has 5"):
        ranks_in_gallery(queries, [gallery], OwnSearcher(queries))


@pytest.mark.parametrize(
    ("names", "ks", "words"),
    [
        (("nmi",), (1,), "unknown metric of a gallery in files 'nmi'; known: recall"),
        (("recall",), (0,), "every K must be at least 1"),
    ],
)
def test_what_a_gallery_in_files_does_not_have_is_refused(tmp_path, queries, names, ks, words):
    gallery = [open_rows(*written(tmp_path, "gallery", *GALLERY))]
    with pytest.raises(TrialInputError, match=words):
        recall_in_gallery(queries, gallery, OwnSearcher(queries), AskedScores(names=names, ks=ks))


def test_queries_without_any_positive_are_an_error(tmp_path, queries):
    gallery = [open_rows(*written(tmp_path, "gallery", GALLERY[0], GALLERY[1] + 100))]
    asked = AskedScores(names=("recall",), ks=(1,))
    with pytest.raises(TrialInputError, match="none among 40 queries"):
        recall_in_gallery(queries, gallery, OwnSearcher(queries), asked)


def test_one_class_alone_is_found_first(tmp_path):
    labels = torch.zeros(40, dtype=torch.int64)
    queries = open_rows(*written(tmp_path, "queries", QUERIES[0], labels))
    ranks = ranks_in_gallery(queries, [queries], OwnSearcher(queries))
    assert ranks.ranks_Q.tolist() == [1] * 40
