"""Files of test embeddings as trials leave them."""

import numpy as np

from podium.kept_files.embeddings_file import EmbeddingsFile


def embeddings_file(points, labels, *, indices=None, recall=0.5, geometry="cosine", names=None):
    labels = np.asarray(labels)
    indices = np.arange(len(labels)) if indices is None else indices
    return EmbeddingsFile(
        fold=0,
        epoch=3,
        task="classes",
        dataset={"name": "glyphs", "fingerprint": "f", "test_hash": "t"},
        class_names=names or tuple(f"class {number}" for number in range(labels.max() + 1)),
        image_names=None,
        geometry=geometry,
        scores=(
            {"metric": "recall", "k": 1, "value": recall},
            {"metric": "nmi", "k": None, "value": 0.4},
        ),
        embeddings_ND=np.asarray(points, dtype=np.float32),
        labels_N=labels.astype(np.int64),
        indices_N=np.asarray(indices, dtype=np.int64),
        is_gallery_N=None,
        origin={"trial_id": "t"},
    )


def clusters(num_classes, per_class, *, apart=3.0, dim=16, seed=0):
    """Points around a centre for each class, and their labels."""
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(num_classes), per_class)
    centres = apart * generator.normal(size=(num_classes, dim))
    return centres[labels] + generator.normal(size=(len(labels), dim)), labels
