"""The frames of a results store that statistics of protocols are computed from."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.scores.protocol_runs import chosen_k, final_runs, search_runs
from podium.analysis.scores.search_hits import SearchHits
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.results.trial_files.reader import Reader

_HEAVY = ("traceback", "log", "settings", "message")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFrames:
    """Frames of a study's results, as the reader of its folder returns them.

    Attributes:
        study: the resolved study.
        trials: one row a trial, flat columns.
        scores: long frame of validation scores, at least the best of each fold's.
        class_hits: trials -> hits of the searches among them, tables from `checked_class_hits` of
            whole searches in the order of those.
        test_scores: long frame of test scores.
        attempts: one row an attempt.
        metric: name of the objective.
        k: value of K of the objective.
    """

    study: Mapping[str, Any]
    trials: pl.DataFrame
    scores: pl.LazyFrame
    class_hits: Callable[[pl.DataFrame], Iterable[pl.DataFrame]]
    test_scores: pl.LazyFrame
    attempts: pl.LazyFrame
    metric: str
    k: int

    def searches_of(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Runs of the searches among these trials, from ``search_runs``."""
        return search_runs(trials, self.scores, self.test_scores, metric=self.metric, k=self.k)

    def finals_of(self, trials: pl.DataFrame, *, train_on: str) -> pl.DataFrame:
        """Runs of the finals among these trials, from ``final_runs``."""
        return final_runs(
            trials,
            self.scores,
            self.test_scores,
            metric=self.metric,
            k=self.k,
            train_on=train_on,
        )


def read_frames(folder: Place, k: int | None) -> StudyFrames:
    """The frames of a results folder, finished or not.

    Args:
        folder: results folder of the study.
        k: value of K of the objective; None means the study's first.

    Raises:
        PodiumError: the folder holds no results, or there is no such K.
    """
    study = Reader(folder).study()
    chosen = chosen_k(study, k)
    reader = CachedReader(folder, k=chosen)
    trials = reader.trials().drop(_HEAVY, strict=False).collect()
    return frames_of(reader, study=study, trials=trials, k=chosen)


def frames_of(
    reader: CachedReader,
    *,
    study: Mapping[str, Any],
    trials: pl.DataFrame,
    k: int,
) -> StudyFrames:
    """The frames of what was read already.

    Args:
        reader: reader of the results folder, which keeps scores at ``k``.
        study: the resolved study.
        trials: one row a trial, flat columns.
        k: value of K of the objective.
    """
    return StudyFrames(
        study=study,
        trials=trials,
        scores=reader.best_validation(),
        class_hits=partial(SearchHits, reader=reader, k=k),
        test_scores=reader.test_scores(),
        attempts=reader.attempts(),
        metric=reader.objective,
        k=k,
    )
