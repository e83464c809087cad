"""A few test queries with their nearest images, for looking at.

The queries follow from the data set alone: they are the same for every loss and every seed of a
block, so none is picked because it went well or badly. N = images, D = embedding dimension.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from torch import Tensor

from podium.trainables.batches.labelled_images import LabelledImages
from podium.trainables.dataset_interface.class_splits import seeded_order
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.metrics.neighbours import neighbours
from podium.trainables.tasks import Geometry
from podium.trainables.trial_reports import Neighbour, Retrieval

_NUM_QUERIES = 6
_NUM_NEIGHBOURS = 6


def retrievals(
    dataset: Dataset, test: LabelledImages, embeddings_ND: Tensor, geometry: Geometry
) -> tuple[Retrieval, ...]:
    """Six queries, each of another class (fewer if there are fewer), with six neighbours each.

    Empty where the data set has vectors instead of images, which cannot be shown. Embeddings are
    those of the images of the test classes, which are all the gallery unless they say which are.
    """
    if dataset.vectors is not None:
        return ()
    by_class = dataset.task == "classes"
    class_names = [dataset.class_names[class_id] for class_id in test.labels_N.tolist()]
    pngs = [partial(dataset.thumbnail_png, index) for index in test.indices_N.tolist()]
    queries = _queries(class_names, test.is_gallery_N, smallest_class=2 if by_class else 1)
    indices_QK, similarities_QK = neighbours(
        embeddings_ND,
        queries,
        _NUM_NEIGHBOURS,
        geometry=geometry,
        is_gallery_N=test.is_gallery_N,
    )
    return tuple(
        Retrieval(
            class_name=class_names[query],
            png=pngs[query](),
            neighbours=tuple(
                Neighbour(
                    class_name=class_names[index],
                    is_correct=class_names[index] == class_names[query] if by_class else None,
                    similarity=similarity,
                    png=pngs[index](),
                )
                for index, similarity in zip(indices, similarities, strict=True)
            ),
        )
        for query, indices, similarities in zip(
            queries, indices_QK.tolist(), similarities_QK.tolist(), strict=True
        )
    )


def _queries(
    class_names: Sequence[str], is_gallery_N: Tensor | None, smallest_class: int
) -> list[int]:
    """Positions of the queries: classes in an order by hash, then an image of each by hash."""
    is_gallery = [True] * len(class_names) if is_gallery_N is None else is_gallery_N.tolist()
    searched = {name for name, found in zip(class_names, is_gallery, strict=True) if found}
    sizes = Counter(class_names)
    positions: dict[str, list[str]] = {}
    for position, name in enumerate(class_names):
        is_query = is_gallery_N is None or not is_gallery[position]
        if is_query and name in searched and sizes[name] >= smallest_class:
            positions.setdefault(name, []).append(str(position))
    chosen = seeded_order(list(positions), "retrieval classes")[:_NUM_QUERIES]
    return [int(seeded_order(positions[name], f"retrieval {name}")[0]) for name in chosen]
