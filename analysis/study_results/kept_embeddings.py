"""The test embeddings that the finals of a block kept, one file a loss."""

from collections.abc import Iterator

import polars as pl

from podium.analysis.scores.final_scores import BASELINES, IS_BASELINE
from podium.analysis.study_results.study_results import StudyResults
from podium.errors import PodiumError
from podium.kept_files.embeddings_file import EmbeddingsFile


def kept_embeddings(
    results: StudyResults, block: str, *, with_baseline: bool
) -> Iterator[tuple[str, EmbeddingsFile]]:
    """Each tuned loss that kept embeddings, by name, with those of its first seed and fold.

    Baselines come last. One file is in memory at a time: those of a large data set have 100 MB.

    Raises:
        PodiumError: losses kept embeddings of different test images, or a file is corrupt.
    """
    runs = results.finals.filter(
        pl.col("block") == block,
        pl.col("state") == "COMPLETE",
        pl.col("finalist").is_in(["winner", *(BASELINES if with_baseline else ())]),
    ).sort("repeat", "seed_index", "fold", "trial_id", nulls_last=False)
    first_runs = runs.group_by("loss", maintain_order=True).first().sort(IS_BASELINE, "loss")
    first = None
    for loss, *trial_ids in first_runs.select("loss", "trial_id", "same_as").iter_rows():
        # A run, and that whose results it shares, if it does.
        found = (results.reader.test_embeddings(it) for it in trial_ids if it)
        stored = next((item for item in found if item is not None), None)
        if stored is None:
            continue
        images = (stored.indices_N.tolist(), stored.labels_N.tolist())
        first = first or (loss, images)
        if images != first[1]:
            raise PodiumError(
                f"the embeddings kept in block {block} are not of the same test images for"
                f" {first[0]} and {loss}"
            )
        yield loss, stored
