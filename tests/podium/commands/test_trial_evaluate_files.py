"""podium trial evaluate on files of embeddings, which need no trial."""

import json

import pytest

from tests.podium.calling import call, output_of
from tests.trainables.embedding_files import written, written_in_one
from tests.trainables.metrics.ranking_oracle import (
    clustered,
    oracle_ranks,
    oracle_ranks_between,
)

QUERIES, GALLERY = clustered(40, 8, 6, noise=1.0), clustered(90, 8, 6, noise=1.0)


@pytest.fixture
def queries(tmp_path):
    """Words that name the queries."""
    file, labels = written(tmp_path, "queries", *QUERIES)
    return file, "--labels", labels


@pytest.fixture
def gallery(tmp_path):
    """Words that name the gallery, in two parts."""
    words = []
    for name, rows in (("first", slice(30)), ("second", slice(30, None))):
        file, labels = written(tmp_path, name, *(of_all[rows] for of_all in GALLERY))
        words += ["--gallery", file, "--gallery-labels", labels]
    return words


def recalls(capsys, *words):
    rows = json.loads(output_of(capsys, "trial", "evaluate", *words, "--json"))
    return {row["k"]: row["value"] for row in rows}


def shares(ranks, ks):
    return {k: sum(rank <= k for rank in ranks) / len(ranks) for k in ks}


def test_queries_are_searched_in_all_files_of_the_gallery(capsys, queries, gallery):
    found = recalls(capsys, *queries, *gallery, "--k", "1,3,10")
    assert found == shares(oracle_ranks_between(*QUERIES, *GALLERY), (1, 3, 10))


def test_without_a_gallery_each_row_is_searched_among_the_others(capsys, queries):
    assert recalls(capsys, *queries) == shares(oracle_ranks(*QUERIES), (1, 10, 100, 1000))


def test_files_that_hold_labels_need_no_others(capsys, tmp_path):
    words = (
        written_in_one(tmp_path, "queries", *QUERIES),
        "--gallery",
        written_in_one(tmp_path, "gallery", *GALLERY),
        "--k",
        "2",
    )
    assert recalls(capsys, *words) == shares(oracle_ranks_between(*QUERIES, *GALLERY), (2,))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--workers", "2"), "--workers and --address go with --gallery"),
        (("--study", "x"), "--study and --storage go with a trial, not with a file"),
        (("--gallery", "a.npy", "--gallery", "b.npy", "--gallery-labels", "c.npy"), "got 2 and 1"),
        (("--gallery", "nowhere.npy"), "nowhere.npy cannot be read: No such file or directory"),
        (("--metric", "recal"), "unknown metric 'recal' (did you mean 'recall'"),
        (("--k", "0"), "every K must be at least 1"),
    ],
)
def test_what_does_not_go_together_is_refused(capsys, queries, words, told):
    assert told in output_of(capsys, "trial", "evaluate", *queries, *words, code=2)


def test_a_gallery_does_not_go_with_a_trial(capsys):
    called = call(capsys, "trial", "evaluate", "0123abcd", "--gallery", "gallery.npy")
    assert called.code == 2
    assert (
        "go with a file of embeddings, .npy or .safetensors, in place of the trial" in called.err
    )


def test_a_gallery_in_files_has_recall_alone(capsys, queries, gallery):
    words = (*queries, *gallery, "--metric", "nmi")
    told = output_of(capsys, "trial", "evaluate", *words, code=2)
    assert "unknown metric of a gallery in files 'nmi'; known: recall" in told


@pytest.mark.ray
@pytest.mark.filterwarnings("default")
def test_workers_of_ray_find_the_same(capsys, queries, gallery):
    found = recalls(capsys, *queries, *gallery, "--k", "1,3", "--workers", "1")
    assert found == shares(oracle_ranks_between(*QUERIES, *GALLERY), (1, 3))
