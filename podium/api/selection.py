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
from podium.analysis.protocols.findings_text import missing_statistics, protocol_sentences
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import protocol_tables
from podium.analysis.protocols.selected_configs import protocol_headline
from podium.analysis.protocols.statistics_record import protocol_record, protocol_rows
from podium.analysis.report.cross_validation import fold_tables, meanings
from podium.analysis.report.hyperparameters import importance_table
from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.compared_runs import compared_protocol, trials_of
from podium.analysis.scores.cross_validation import cross_validation
from podium.analysis.scores.final_scores import final_trials
from podium.analysis.scores.protocol_runs import protocols_of
from podium.analysis.scores.ranked_score import chosen_score
from podium.analysis.scores.shown_reader import ShownReader
from podium.analysis.wording import counted
from podium.api.answer import Answer
from podium.api.best import check_losses
from podium.errors import PodiumError
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.reader import Reader
from podium.terminal.printing import filled, paragraphs
from podium.terminal.shown_table import captioned, shown_table

_WIDTH = 99  # columns of the widest line, unless names are long
_METHOD = (
    "Importance: share of the variance of being among the best of the search (a tenth, at least"
    " five) that a hyperparameter alone explains (PED-ANOVA)."
)
_NOISE = (
    "noise: 95th percentile for shuffled scores; what does not exceed it is not above noise. p is"
    " one-sided and not corrected for how many hyperparameters there are."
)
_MEANING = (
    "± is half the 95 % interval. Over repeats it speaks of repeating the searches of these"
    " settings and losses, over seeds of training the same picks again. p is after Holm."
    " docs/explanation/statistics/comparing-protocols.md defines every number."
)


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
    headline, warnings, notes = importance_headline(tuned), bound_warnings(tuned), caveats(tuned)
    sentences = [headline, *compared_by(tuned), *loss_sentences(tuned)]
    parts = [
        shown_table(importance_table(tuned, {})),
        *sentences,
        *(f"Warning: {text}" for text in warnings),
        _METHOD,
        *([] if tuned.is_adaptive else [_NOISE]),
        *notes,
    ]
    return Answer(
        headline=headline,
        text=paragraphs(parts, _WIDTH),
        record={
            "importances": tuned.importances.to_dicts(),
            "on_test": None if tuned.on_test is None else tuned.on_test.to_dicts(),
            "searches": search_importance_table(
                tuned.importances_by_search, is_adaptive=tuned.is_adaptive
            ).to_dicts(),
            "regions": region_records(tuned.regions),
            "sentences": sentences,
            "warnings": warnings,
            "notes": notes,
        },
        rows=tuned.importances,
    )


def protocols_answer(folder: Place, k: int | None) -> Answer:
    """Comparison of validation protocols: see `podium.Results.protocols`."""
    study = ProtocolStudy(CachedReader(folder, k=k))
    headline = protocol_headline(study)
    parts = [
        _title(study),
        *filter(None, [headline]),
        *protocol_sentences(study),
        *captioned(protocol_tables(study), _WIDTH),
    ]
    if missing := missing_statistics(study):
        lines = (filled(f"- {line}", _WIDTH) for line in missing)
        parts.append("\n".join(["Not answered:", *lines]))
    return Answer(
        headline=headline or f"The validation protocols of {study.name}",
        text=paragraphs([*parts, _MEANING], _WIDTH),
        record=protocol_record(study),
        rows=protocol_rows(study),
    )


def _title(study: ProtocolStudy) -> str:
    counts = [
        counted(len(study.protocols), "protocol"),
        counted(study.num_blocks, "setting"),
        counted(study.num_losses, "loss", "losses"),
        f"{counted(study.num_repeats, 'repeat')} of each search",
    ]
    if study.num_repeats > 1:
        splits = "share their splits" if study.same_splits else "have splits of their own"
        counts[-1] += f", which {splits}"
    return f"{study.name}: {', '.join(counts)}; {study.metric}"
