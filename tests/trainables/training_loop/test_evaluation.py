"""Roles whose images are queries and a gallery: what is searched in what."""

from dataclasses import replace

import pytest
import torch

from podium.trainables.backbones.conv_small import ConvSmall
from podium.trainables.batches.labelled_images import images_of_classes
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.metrics.class_retrieval import METRIC_NAMES, ClassRetrieval
from podium.trainables.network.embedder import Embedder
from podium.trainables.saved_models.retrievals import retrievals
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.training_loop.evaluation import Evaluator, embed
from tests.trainables.metrics.ranking_oracle import oracle_ranks_between
from tests.trainables.tiny_trials import ON_THE_CPU, tiny_trial


@pytest.fixture
def dataset(cache_folder):
    return load_dataset(tiny_trial(cache_folder).dataset, cache_folder)


@pytest.fixture
def embedder():
    torch.manual_seed(0)
    return Embedder(ConvSmall(), 8, TrainingSettings())


@pytest.fixture
def parted(dataset):
    """Test images, every second one a gallery image, in shuffled order of place."""
    images = images_of_classes(dataset, dataset.test_classes, ON_THE_CPU)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    return replace(images, is_gallery_N=order % 2 == 0)


def test_queries_are_searched_in_the_gallery(embedder, parted):
    evaluator, is_gallery = Evaluator(network=embedder, ks=(1, 2), fold=0), parted.is_gallery_N
    scores, class_hits, embeddings = evaluator.evaluate(parted, "test", epoch=0)
    assert len(embeddings) == len(parted)
    ranks = oracle_ranks_between(
        embeddings[~is_gallery],
        parted.labels_N[~is_gallery],
        embeddings[is_gallery],
        parted.labels_N[is_gallery],
    )
    ranks = [rank for rank in ranks if rank is not None]
    recalls = scores[:2]
    assert [score.hits for score in recalls] == [sum(rank <= k for rank in ranks) for k in (1, 2)]
    assert {score.queries for score in recalls} == {len(ranks)}
    assert {score.gallery for score in recalls} == {int(is_gallery.sum())}
    assert [sum(hits.hits) for hits in class_hits] == [score.hits for score in recalls]
    assert sum(class_hits[0].queries) == len(ranks)


def test_test_scores_are_those_computed_later_from_the_embeddings(embedder, parted):
    for images in (parted, replace(parted, is_gallery_N=None)):
        evaluator = Evaluator(network=embedder, ks=(1, 2), fold=0)
        scores, _, embeddings = evaluator.evaluate(images, "test", epoch=0)
        later = ClassRetrieval(
            embeddings_ND=embeddings,
            labels_N=images.labels_N,
            is_gallery_N=images.is_gallery_N,
        )
        assert scores == later.scores(METRIC_NAMES, (1, 2))


def test_clusters_are_of_queries_and_gallery(embedder, parted):
    found, alone = (
        Evaluator(network=embedder, ks=(1,), fold=0).evaluate(images, "test", epoch=0)[0][3:5]
        for images in (parted, replace(parted, is_gallery_N=None))
    )
    assert found == alone
    assert {score.gallery for score in found} == {len(parted)}


def test_pictures_are_of_queries_with_their_nearest_of_the_gallery(dataset, embedder, parted):
    embeddings = embed(embedder, parted)
    shown = retrievals(dataset, parted, embeddings, geometry="cosine")
    pngs = [dataset.thumbnail_png(index) for index in parted.indices_N.tolist()]
    is_gallery = parted.is_gallery_N.tolist()
    gallery = {png for png, found in zip(pngs, is_gallery, strict=True) if found}
    queries = {png for png, found in zip(pngs, is_gallery, strict=True) if not found}
    assert len(shown) > 1
    assert gallery.isdisjoint(queries)
    assert all(one.png in queries for one in shown)
    assert all(found.png in gallery for one in shown for found in one.neighbours)


def test_a_query_without_an_image_of_its_class_in_the_gallery_is_not_shown(dataset, parted):
    lonely = parted.labels_N[0]
    is_gallery = parted.is_gallery_N & (parted.labels_N != lonely)
    embeddings = torch.randn(len(parted), 4, generator=torch.Generator().manual_seed(0))
    shown = retrievals(
        dataset, replace(parted, is_gallery_N=is_gallery), embeddings, geometry="cosine"
    )
    num_classes = len(parted.labels_N.unique())
    assert len(shown) == min(6, num_classes - 1)
    assert dataset.class_names[int(lonely)] not in {one.class_name for one in shown}
