"""A study that kept embeddings, of classes of which two are hard to keep apart, and its images."""

import numpy as np
import polars as pl
from PIL import Image

from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import put
from podium.orchestrator.results.trial_files.reader import Reader
from tests.analysis.stored_embeddings import embeddings_file
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

TRUTH = Truth(
    strengths={"contrastive": 0.0, "margin": 0.05},
    tuning_gains={"contrastive": 0.01, "margin": 0.02},
    scripts=("greek", "latin"),
    embedding_dims=(16,),
    search_trials=3,
    seeds=1,
)
CLASSES, OF_CLASS = 7, 6
_APART = {"contrastive": 0.9, "margin": 0.4, "untrained": 0.0, "features": 0.1}


def write_browsed_store(folder, *, names=None):
    """Classes 0 and 1 have one centre: their images are confused under every loss."""
    write_store(folder, TRUTH)
    paths = StudyPaths(folder)
    tested = Reader(folder).trials().filter(pl.col("stage") != "search").collect()
    for row in tested.drop_nulls("embedding_dim").to_dicts():
        block = sorted(str(block.label) for block in TRUTH.blocks).index(row["block"])
        points, labels = points_of(_APART[row["loss"]], seed=10 * block + row["seed_index"])
        file = embeddings_file(points, labels, indices=np.arange(len(labels)) + 100, names=names)
        put(paths.test_embeddings(row["trial_id"], 0), file.to_bytes())
    return folder


def points_of(apart, *, seed):
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(CLASSES), OF_CLASS)
    centres = apart * np.random.default_rng(5).normal(size=(CLASSES, 8))
    centres[1] = centres[0]
    return centres[labels] + 0.5 * generator.normal(size=(len(labels), 8)), labels


def read_browsed(folder, *, images=None):
    return read_results(folder, images=images)


def squares(label, test_hash):
    """Grey squares, each of its own; of a test with another hash there are none."""
    return image_of if test_hash == "t" else None


def photographs(label, test_hash):
    """Noise in colour, which takes many bytes."""
    return lambda index: Image.fromarray(
        np.random.default_rng(index).integers(0, 255, (60, 90, 3), dtype=np.uint8)
    )


def image_of(index):
    pixels = np.zeros((32, 32), dtype=np.uint8)
    pixels[index % 16 : index % 16 + 8, index // 16 : index // 16 + 8] = 255
    return Image.fromarray(pixels)
