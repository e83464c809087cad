"""Every metric by name, against oracles, pytorch-metric-learning and the functions of each."""

import pytest
import torch

from podium.trainables.errors import TrialInputError
from podium.trainables.metrics.class_retrieval import METRIC_NAMES, ClassRetrieval
from podium.trainables.metrics.clustering import clustering_scores
from tests.trainables.metrics.ranking_oracle import clustered, oracle_ranks, oracle_ranks_between


@pytest.fixture
def parted():
    """Embeddings and labels, every third image of the gallery; a query is alone in its class."""
    embeddings, labels = clustered(120, 9, 8, noise=1.2)
    is_gallery = torch.arange(120) % 3 == 0
    labels[100] = 50
    return embeddings, labels, is_gallery


def compute(names, embeddings, labels, *, ks, **options):
    return ClassRetrieval(embeddings_ND=embeddings, labels_N=labels, **options).scores(names, ks)


def calculator(**options):
    from pytorch_metric_learning.distances import CosineSimilarity
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
    from pytorch_metric_learning.utils.inference import CustomKNN

    return AccuracyCalculator(
        include=("precision_at_1", "r_precision", "mean_average_precision_at_r"),
        k="max_bin_count",
        device=torch.device("cpu"),
        knn_func=CustomKNN(CosineSimilarity()),
        **options,
    )


def by_metric(scores):
    return {(score.metric, score.k): score for score in scores}


def test_scores_come_in_the_order_of_the_names_and_once_for_each_k():
    embeddings, labels = clustered(60, 6, 8, noise=1.0)
    scores = compute(METRIC_NAMES, embeddings, labels, ks=(4, 1))
    assert [(score.metric, score.k) for score in scores] == [
        ("recall", 4),
        ("recall", 1),
        *((name, None) for name in METRIC_NAMES[1:]),
    ]
    for name in METRIC_NAMES:
        alone = compute([name], embeddings, labels, ks=(4, 1))
        assert alone == tuple(score for score in scores if score.metric == name)


def test_without_a_gallery_pytorch_metric_learning_finds_the_same():
    embeddings, labels = clustered(150, 12, 8, noise=1.2)
    theirs = calculator().get_accuracy(embeddings.double(), labels)
    found = by_metric(compute(("recall", "map_at_r", "r_precision"), embeddings, labels, ks=(1,)))
    assert found["recall", 1].value == pytest.approx(theirs["precision_at_1"], abs=1e-7)
    assert found["r_precision", None].value == pytest.approx(theirs["r_precision"], abs=1e-7)
    theirs_map = theirs["mean_average_precision_at_r"]
    assert found["map_at_r", None].value == pytest.approx(theirs_map, abs=1e-7)


def test_queries_are_ranked_in_the_gallery_and_keep_their_position(parted):
    embeddings, labels, is_gallery = parted
    ranks = ClassRetrieval(
        embeddings_ND=embeddings, labels_N=labels, is_gallery_N=is_gallery
    ).ranks
    expected = oracle_ranks_between(
        embeddings[~is_gallery], labels[~is_gallery], embeddings[is_gallery], labels[is_gallery]
    )
    positions = (~is_gallery).nonzero().squeeze(1).tolist()
    kept = [(p, rank) for p, rank in zip(positions, expected, strict=True) if rank is not None]
    assert list(zip(ranks.indices_Q.tolist(), ranks.ranks_Q.tolist(), strict=True)) == kept
    assert torch.equal(ranks.labels_Q, labels[ranks.indices_Q])
    assert ranks.num_singletons == 1


def test_queries_and_gallery_are_clustered_together(parted):
    embeddings, labels, is_gallery = parted
    found = compute(("nmi", "f1"), embeddings, labels, ks=(1,), is_gallery_N=is_gallery)
    assert found == clustering_scores(embeddings, labels, role="test")


def test_strictly_a_query_alone_in_its_class_is_a_miss():
    embeddings, labels = clustered(40, 5, 8, noise=1.0)
    labels[[3, 11]] = torch.tensor([70, 71])
    names = ("recall", "r_precision", "map_at_r")
    plain = compute(names, embeddings, labels, ks=(1, 2))
    strict = compute(names, embeddings, labels, ks=(1, 2), strict=True)
    for loose, counted in zip(plain, strict, strict=True):
        assert (loose.queries, counted.queries) == (38, 40)
        assert counted.value == pytest.approx(loose.value * 38 / 40)
        assert counted.hits == loose.hits
    ranks = oracle_ranks(embeddings, labels)
    assert strict[0].value == sum(rank == 1 for rank in ranks) / 40


def test_a_collapsed_embedding_scores_nothing():
    embeddings, labels = torch.ones(30, 4), torch.arange(30) % 3
    is_gallery = torch.arange(30) < 15
    for gallery in (None, is_gallery):
        scores = compute(
            ("recall", "r_precision", "map_at_r"),
            embeddings,
            labels,
            ks=(1, 5),
            is_gallery_N=gallery,
        )
        assert [score.value for score in scores] == [0.0] * 4


def test_an_unknown_name_is_an_error():
    embeddings, labels = clustered(20, 3, 4, noise=1.0)
    with pytest.raises(TrialInputError, match=r"unknown metric 'recal' .did you mean 'recall'"):
        compute(("recal",), embeddings, labels, ks=(1,))
