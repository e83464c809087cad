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

    One file is in memory at a time: those of a large data set have 100 MB.

    Args:
        results: results of the study.
        block: label of the block.
        with_baseline: whether baselines come last.

    Raises:
        PodiumError: losses kept embeddings of different test images, or a file is corrupt.
    """
    first = None
    for loss, trial_ids in _first_runs(results, block):
        if loss in BASELINES and not with_baseline:
            continue
        found = (results.reader.test_embeddings(trial_id) for trial_id in trial_ids)
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


def _first_runs(results: StudyResults, block: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each loss with its first run, and the run whose results that one shares, if it does."""
    runs = results.finals.filter(
        pl.col("block") == block,
        pl.col("state") == "COMPLETE",
        pl.col("finalist").is_in(["winner", *BASELINES]),
    ).sort("repeat", "seed_index", "fold", "trial_id", nulls_last=False)
    first = runs.group_by("loss", maintain_order=True).first()
    for row in first.sort(IS_BASELINE, "loss").to_dicts():
        yield row["loss"], tuple(name for name in (row["trial_id"], row["same_as"]) if name)
