"""podium trial evaluate on files of embeddings, which need no trial."""

import json

from tests.podium.calling import output_of
from tests.trainables.embedding_files import written, written_in_one
from tests.trainables.metrics.ranking_oracle import clustered, oracle_ranks

QUERIES = clustered(40, 8, 6, noise=1.0)


def recalls(capsys, *words):
    rows = json.loads(output_of(capsys, "trial", "evaluate", *words, "--json"))
    return {row["k"]: row["value"] for row in rows}


def shares(ranks, ks):
    return {k: sum(rank <= k for rank in ranks) / len(ranks) for k in ks}


def test_each_row_is_searched_among_the_others(capsys, tmp_path):
    file, labels = written(tmp_path, "rows", *QUERIES)
    found = recalls(capsys, file, "--labels", labels)
    assert found == shares(oracle_ranks(*QUERIES), (1, 10, 100, 1000))


def test_a_file_that_holds_labels_needs_no_other(capsys, tmp_path):
    file = written_in_one(tmp_path, "rows", *QUERIES)
    assert recalls(capsys, file, "--k", "2") == shares(oracle_ranks(*QUERIES), (2,))
