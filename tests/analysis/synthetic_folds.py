"""The rows of finals over folds, with known truth; each fold has a best epoch of its own."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.trial_schema import trial_schema
from podium.orchestrator.study.study import Search
from tests.analysis.synthetic_study import write_gathered, write_store
from tests.analysis.synthetic_trials import EPOCHS, KS, Truth, trial_row

TRUTH = Truth(
    scripts=("greek",), embedding_dims=(16,), search_trials=3, seeds=1, has_without_k=True
)
"""One block; its searches are written beside the folds."""

FOLDS = 4
_NESTED = ("scores", "class_hits", "test_scores", "test_class_hits", "test_retrievals")

Row = dict[str, object]


def best_scores(scores):
    """The scores of all K at the epoch of the best Recall@1."""
    best = max((score for score in scores if score["k"] == 1), key=lambda score: score["value"])
    return [score for score in scores if score["epoch"] == best["epoch"]]


def fold_rows(truth: Truth = TRUTH) -> Iterator[Row]:
    """The winner of each loss and block, retrained over four folds with the seeds of the truth."""
    for block in truth.blocks:
        for loss in truth.strengths:
            search = Search(block=block, loss=loss, protocol="fixed", repeat=0)
            for seed_index in range(truth.seeds):
                yield from (_fold_row(truth, search, seed_index, fold) for fold in range(FOLDS))


def default_rows(truth: Truth, loss: str) -> Iterator[Row]:
    """The rows of a loss once more, as those of its published default."""
    for row in fold_rows(truth):
        if row["loss"] == loss:
            own = {"trial_id": f"{row['trial_id']}.default", "config_hash": f"{loss}.config0"}
            yield {**row, **own, "is_default": True, "is_winner": False}


def write_folds(folder: Path, truth: Truth = TRUTH, rows: Iterator[Row] | None = None) -> Path:
    """A results folder with searches and finals over folds; returns the folder.

    Args:
        folder: to write, which is not there.
        truth: what the study is made of.
        rows: finals; None means those of ``fold_rows``.
    """
    write_store(folder, replace(truth, seeds=1), stages=("search",))
    schema = trial_schema(KS, {"margin": "float"})
    write_gathered(StudyPaths(folder), schema, rows or fold_rows(truth))
    return folder


def _fold_row(truth: Truth, search: Search, seed_index: int, fold: int) -> Row:
    row = trial_row(
        truth,
        search,
        stage="final",
        index=fold,
        config="config1",
        state="COMPLETE",
        epochs=EPOCHS,
        added=0.0,
        seed_index=fold + FOLDS * seed_index,  # only so that every fold has noise of its own
        is_winner=True,
        selected_from=truth.search_trials,
    )
    nested = {name: [{**part, "fold": fold} for part in row[name]] for name in _NESTED}
    return {
        **row,
        **nested,
        **{f"val_recall_at_{s['k']}": s["value"] for s in best_scores(nested["scores"])},
        "epoch_selected": fold + 1,
        "fold": fold,
        "num_folds": FOLDS,
        "seed_index": seed_index,
        "split_protocol": "kfold",
        "protocol_hash": "kfold-hash",
    }
