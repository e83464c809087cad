"""What the folds, searches and validation protocols of a study say, as answers."""

from collections.abc import Sequence

import polars as pl

from podium.analysis.hyperparameters.best_regions import region_records
from podium.analysis.hyperparameters.findings_text import (
    bound_warnings,
    caveats,
    compared_by,
    importance_headline,
    loss_sentences,
)
from podium.analysis.hyperparameters.importance_table import search_importance_table
from podium.analysis.hyperparameters.tuned_hyperparameters import tuned_hyperparameters
from podium.analysis.protocols.protocol_study import read_protocols
from podium.analysis.protocols.selected_configs import protocol_headline
from podium.analysis.protocols.statistics_record import protocol_record, protocol_rows
from podium.analysis.report.cross_validation import fold_tables, meanings
from podium.analysis.scores.compared_runs import compared_protocol, trials_of
from podium.analysis.scores.cross_validation import cross_validation
from podium.analysis.scores.final_scores import final_trials
from podium.analysis.scores.protocol_runs import protocols_of
from podium.analysis.scores.ranked_score import chosen_score
from podium.analysis.scores.shown_reader import ShownReader
from podium.api.answer import Answer
from podium.api.best import check_losses
from podium.errors import PodiumError
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.reader import Reader
from podium.terminal.importance_text import importance_text
from podium.terminal.printing import paragraphs
from podium.terminal.protocols_text import study_text
from podium.terminal.shown_table import captioned


def cross_validation_of(reader: Reader, k: int | None, score: str | None) -> Answer:
    """Cross-validation statistics of a study: see `podium.Results.cv`."""
    if k is not None and score is not None:
        raise PodiumError(f"score states the K, if there is one; got k {k} beside it")
    chosen = None if score is None else chosen_score(reader, score)
    found = cross_validation(reader, k, chosen)
    num_folds = found.folds["fold"].n_unique()
    finals = final_trials(reader.trials()).filter(pl.col("num_folds") > 1)
    return Answer(
        headline=f"{found.metric} in percent, over {num_folds} class-disjoint folds",
        text=paragraphs([*captioned(fold_tables(found, finals, {})), *meanings(found)]),
        record={
            "metric": found.metric,
            "k": found.k or None,
            "folds": found.folds.to_dicts(),
            "cells": found.cells.to_dicts(),
            "pairs": found.pairs.to_dicts(),
            "notes": found.notes,
        },
        rows=found.cells,
    )


def importance_of(
    reader: ShownReader,
    folder: Place,
    *,
    losses: Sequence[str],
    protocol: str | None,
    score: str | None,
) -> Answer:
    """Hyperparameter importance of a study: see `podium.Results.importance`."""
    resolved, losses = reader.study(), [reader.shown.get(loss, loss) for loss in losses]
    check_losses(resolved, losses)
    compared = compared_protocol(protocols_of(resolved), protocol)
    chosen = chosen_score(reader, score)
    tuned = tuned_hyperparameters(
        trials_of(reader.trials().collect(), compared.label),
        reader,
        study=resolved,
        score=chosen,
        losses=losses or None,
    )
    if tuned is None:
        raise PodiumError(
            "importance needs complete trials of a search that varies something; "
            f"{folder} has none"
        )
    if score is not None and tuned.score != chosen:
        raise PodiumError(
            f"score {score} needs searches whose trials were tested by it: with quarantine:"
            f" record_all, which {folder} was run without"
        )
    headline = importance_headline(tuned)
    return Answer(
        headline=headline,
        text=importance_text(tuned),
        record={
            "importances": tuned.importances.to_dicts(),
            "on_test": None if tuned.on_test is None else tuned.on_test.to_dicts(),
            "searches": search_importance_table(
                tuned.importances_by_search, is_adaptive=tuned.is_adaptive
            ).to_dicts(),
            "regions": region_records(tuned.regions),
            "sentences": [headline, *compared_by(tuned), *loss_sentences(tuned)],
            "warnings": bound_warnings(tuned),
            "notes": caveats(tuned),
        },
        rows=tuned.importances,
    )


def protocols_answer(folder: Place, k: int | None) -> Answer:
    """Comparison of validation protocols: see `podium.Results.protocols`."""
    study = read_protocols(folder, k)
    return Answer(
        headline=protocol_headline(study) or f"The validation protocols of {study.name}",
        text=study_text(study),
        record=protocol_record(study),
        rows=protocol_rows(study),
    )
