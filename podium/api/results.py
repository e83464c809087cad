"""The results of a study, read from Python."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from podium.analysis.scores.shown_reader import ShownReader
from podium.analysis.typed_tables.table_options import Conditions, Names, names_given
from podium.api.answer import Answer
from podium.arguments.report_targets import ReportTargets
from podium.arguments.study_argument import results_folder
from podium.arguments.trial_argument import model_of_fold, stored_trial
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import HYPERPARAMETER, known_test_columns
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_study
from podium.orchestrator.results.storage.files import exists
from podium.orchestrator.results.storage.locations import Place, parse_place
from podium.orchestrator.study.resolved_study import study_from_resolved
from podium.terminal.trials_text import WHICH, shown_names

if TYPE_CHECKING:
    from torch import nn

    from podium.api.best import BestConfig

_OUTCOME = ("state", "epochs_run", "objective")
_FAILURE = ("trial_id", "search", "stage", "cause", "message", "traceback", "log")


def results(place: str | Place, *, storage: str | Place | None = None) -> "Results":
    """Open the results of a study, finished or running; nothing is written.

    Example:
        ```python
        import podium

        results = podium.results("podium-results/quickstart")
        results.tournament()
        ```

    Args:
        place: a results folder or its URI, such as ``s3://bucket/study``, a study file, or the
            name of a study that podium ships.
        storage: folder or URI in which the results folder of a study file is; None means where
            the file says.

    Raises:
        PodiumError: nothing is there, or it is neither a study file nor a results folder.
        StoreError: a URI is malformed or holds credentials, or the store does not answer.
    """
    stored_in = None if storage is None else parse_place(storage)
    return Results(results_folder(parse_place(place), stored_in))


class Results:
    """The results of a study. Made by `podium.results`.

    Files are read when something is asked for, so a study that is running shows its present
    state. What the commands say of a study is a `podium.Answer`: ``results.tournament()`` is
    ``podium tournament``, with options of the same names. Messages name options as the commands
    do.

    Attributes:
        folder: results folder: a path, or the place in a remote store.
    """

    folder: Place

    def __init__(self, folder: Place) -> None:
        """Open a results folder.

        Args:
            folder: results folder of the study.

        Raises:
            PodiumError: it is no results folder, or what it says of its study is no study.
        """
        self.folder = folder
        self._reader = ShownReader(folder)
        if (stored := read_study(StudyPaths(folder))) is not None:
            study_from_resolved(stored)

    @property
    def name(self) -> str:
        """The name of the study."""
        return str(self._reader.study()["name"])

    @property
    def trials(self) -> pl.DataFrame:
        """One row per trial that ended: identity, hyperparameters ``hp.*``, state, scores 0 to 1.

        The page on the results schema names all columns. ``objective`` is the validation score
        that searches maximise; the columns ``test_*`` are null in searches. Failed trials are
        among them, with null scores; a study whose first trial has not ended has no rows.

        Raises:
            CorruptFileError: a file of the results is damaged.
        """
        return self._reader.trials().collect()

    def select_trials(
        self,
        *,
        loss: str | None = None,
        stage: str | None = None,
        fold: int | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> pl.DataFrame:
        """Select trials, with the columns of ``podium trials``.

        Args:
            loss: name of a loss whose trials are wanted; None means all.
            stage: ``search``, ``final`` or ``baseline``; None means all.
            fold: index of a fold, from 0; None means all.
            sort: column to sort by, such as ``objective``, ``test`` (the first test score) or a
                hyperparameter: the largest number first, text from A to Z, missing values last;
                None means the order of `trials`.
            top: how many trials to keep, by the column of ``sort``; None means all.

        Returns:
            One row per trial that ended, of any state; a study without trials has no rows.
            ``winner`` says whether it has the config that its search selected. ``objective``
            and ``test_*`` are from 0 to 1, and null where there is no such score; ``seconds`` is
            the time of training, validation and test.

        Raises:
            PodiumError: no trial has such a loss, stage or fold; there is no such column; or
                ``top`` is given without ``sort``.
        """
        found = self._trials_with(loss=loss, stage=stage, fold=fold)
        if top is not None and sort is None:
            raise PodiumError(
                f"top {top} needs sort, the column by which trials are the first: objective, or"
                " test"
            )
        if top is not None and top < 1:
            raise PodiumError(f"top must be at least 1; got {top}")
        names = found.collect_schema().names()
        hyperparameters = [name for name in names if name.startswith(HYPERPARAMETER)]
        columns = ["trial_id", *WHICH, *_OUTCOME, *known_test_columns(names), "seconds"]
        config = ["search", "config_hash"]
        winners = self._reader.trials().filter("is_winner").select(config).unique()
        marked = found.join(
            winners.with_columns(winner=True), on=config, how="left", maintain_order="left"
        ).with_columns(pl.col("winner").fill_null(value=False))
        return _first(marked.select(*columns, *hyperparameters).collect(), sort, top)

    def failures(
        self, *, loss: str | None = None, stage: str | None = None, fold: int | None = None
    ) -> pl.DataFrame:
        """List the failed trials, with cause and traceback.

        As ``podium trials --failed`` does. A failure that was retried is no longer among them.

        Args:
            loss: name of a loss whose trials are wanted; None means all.
            stage: ``search``, ``final`` or ``baseline``; None means all.
            fold: index of a fold, from 0; None means all.

        Returns:
            One row per failed trial, none if none failed: ``trial_id``, ``search``, ``stage``,
            ``cause``, ``message``, ``traceback``, ``log`` (the end of what it printed) and
            ``log_file`` (path of all of it); these two are null where it was not kept.

        Raises:
            PodiumError: no trial has such a loss, stage or fold.
        """
        found = self._trials_with(loss=loss, stage=stage, fold=fold)
        failed = found.filter(pl.col("state") == "FAILED").select(_FAILURE).collect()
        places = [StudyPaths(self.folder).trial_log(trial_id) for trial_id in failed["trial_id"]]
        files = [str(place) if exists(place) else None for place in places]
        return failed.with_columns(pl.Series("log_file", files, dtype=pl.String))

    @property
    def scores(self) -> pl.LazyFrame:
        """Every score of every epoch: one row per trial, fold, epoch, role, metric and K.

        ``role`` is ``train``, ``val`` or ``test``, ``value`` the score from 0 to 1, ``k`` null
        where the metric has none; trials are named by ``trial_id``, ``loss``, ``block`` and more.
        A lazy frame, since it can be larger than memory: filter it, then ``collect`` it. Without
        trials it has no rows.
        """
        return pl.concat([self._reader.scores(), self._reader.test_scores()])

    def model(self, trial_id: str, *, fold: int | None = None) -> "nn.Module":
        """Load the network of a final trial with its weights, in evaluation mode.

        The module takes uint8 images of shape (B, C, H, W) with B images of C channels, H and W
        pixels high and wide, or float32 features of shape (B, F) where the data set has vectors,
        and gives embeddings of shape (B, D), float32. It is on the GPU if there is one. A backbone
        that the study names by import path is imported, which runs its code.

        Args:
            trial_id: id of a final trial, or how it starts.
            fold: index of the fold; None where the trial has only one.

        Raises:
            PodiumError: there is no such trial, or it left no weights.
        """
        from podium.trainables.saved_models.trained_model import load_model

        file = model_of_fold(stored_trial(trial_id, [self.folder]), fold)
        # Code that the own study names ran already when it trained.
        return load_model(file, trust_code=True).embedder

    def tournament(
        self,
        *,
        score: str | None = None,
        where: Conditions = (),
        with_baselines: bool = False,
    ) -> Answer:
        """Rank the tuned losses within blocks by their test scores, and test the differences.

        As ``podium tournament`` does, by the question, test and level that were declared before
        the study ran.

        Args:
            score: name of the stored test score to rank by, such as ``nmi`` or ``recall@4``; None
                means the declared one.
            where: conditions such as ``{"finalist": "default"}`` or ``"k=2"``, on ``dataset``,
                ``backbone``, ``embedding_dim``, ``block``, ``loss``, ``protocol``, ``k``,
                ``finalist`` and ``train_on``.
            with_baselines: whether the untrained network and its untouched features compete too.

        Returns:
            The ranking. Its frame has one row per loss, best first, with ``mean_score`` from 0 to
            1, as of `podium.rank`.

        Raises:
            PodiumError: no final trial was tested yet, or an argument does not fit the study.
        """
        from podium.api.tournament import rank_study

        return rank_study(self._reader, score, where, with_baselines=with_baselines)

    def best(self, loss: str) -> "tuple[BestConfig, ...]":
        """Find the configs that won the searches of a loss.

        A search is won by the config with the best validation score, of those with final trials
        once there are any.

        Example:
            ```python
            winner = results.best("contrastive")[0]
            network = results.model(winner.final_trial_ids[0])
            ```

        Args:
            loss: name of a loss of the study.

        Returns:
            The winners by block, protocol and repeat, one for each.

        Raises:
            PodiumError: the study has no such loss, or no search of it has a complete trial yet.
        """
        from podium.api.best import best_configs

        return best_configs(self._reader, loss)

    def cv(self, *, k: int | None = None, score: str | None = None) -> Answer:
        """Compute mean and spread of test and validation scores over folds, and pairs of losses.

        As ``podium cv`` does, for a final stage of several class-disjoint folds.

        Args:
            k: K of the study's own metric; None means its first.
            score: name of a stored test score instead, such as ``nmi`` or ``recall@4``.

        Returns:
            The statistics. The frame has one row per block, protocol, loss and config; scores are
            from 0 to 1.

        Raises:
            PodiumError: the final stage has no several folds, or there is no such K or score.
        """
        from podium.api.selection import cross_validation_of

        return cross_validation_of(self._reader, k, score)

    def protocols(self, *, k: int | None = None) -> Answer:
        """Compare validation protocols: test scores of what each selected, and what it cost.

        As ``podium protocols`` does.

        Args:
            k: K of the scores; None means the study's first.

        Returns:
            The comparison. The frame has one row per protocol; scores are from 0 to 1.

        Raises:
            PodiumError: there is no such K, or nothing was tested yet.
        """
        from podium.api.selection import protocols_answer

        return protocols_answer(self.folder, k)

    def importance(
        self,
        *,
        loss: Names = (),
        protocol: str | None = None,
        score: str | None = None,
    ) -> Answer:
        """Compute which hyperparameters decide, which are noise, and where the best configs lie.

        As ``podium importance`` does.

        Args:
            loss: names of the losses to look at; () means all.
            protocol: label of the protocol whose searches are read; None means the first that
                does not leak.
            score: name of a stored test score instead of the validation score.

        Returns:
            The importances. The frame has one row per loss and hyperparameter.

        Raises:
            PodiumError: there is no such loss, protocol or score, or no search that
                varied something has a complete trial.
        """
        from podium.api.selection import importance_of

        return importance_of(
            self._reader,
            self.folder,
            losses=names_given(loss, "loss") if loss else (),
            protocol=protocol,
            score=score,
        )

    def status(self) -> Answer:
        """Count the trials of each search that are planned, done, pruned and failed.

        As ``podium status`` does. The frame has one row per search.
        """
        from podium.api.status import status_answer

        return status_answer(self.folder)

    def report(
        self,
        path: str | Path | None = None,
        *,
        csv: str | Path | None = None,
        latex: str | Path | None = None,
        json: str | Path | None = None,
        score: str | None = None,
        group: Mapping[str, Sequence[str]] | None = None,
        protocol: str | None = None,
    ) -> Place:
        """Write the report: one HTML file that needs no network.

        As ``podium report`` does. The same results, and the same images of data sets at hand,
        give the same bytes.

        Args:
            path: the page to write, which ends in ``.html``; None means ``report.html`` in the
                results folder.
            csv: folder for every table as CSV; None means that none are written.
            latex: file that ends in ``.tex`` for the table of scores as LaTeX, or folder for every
                table; None means that none are written.
            json: file for the answer, all tables and the tournament as JSON; None means none.
            score: name of the stored test score to rank losses by; None means the declared one.
            group: name -> losses of groups to compare; None means those of the study.
            protocol: label of the protocol to compare losses under; None means the first that
                does not leak.

        Returns:
            Where the page is.

        Raises:
            PodiumError: a target cannot be written, or there is no such score, loss or protocol.
        """
        from podium.api.report import report_of_study, results_of

        given = (None if file is None else Path(file) for file in (path, csv, latex, json))
        page, tables, for_paper, record = given
        targets = ReportTargets(output=page, csv=tables, latex=for_paper, json=record)
        targets.check()
        found = results_of(self.folder, protocol, score=score, groups=group)
        return report_of_study(found).write(targets)

    def __repr__(self) -> str:
        return f"Results({str(self.folder)!r})"

    def _trials_with(self, **wanted: str | int | None) -> pl.LazyFrame:
        """The trials with these values of columns; None means all, a loss may be as stored.

        Raises:
            PodiumError: no trial has such a value; those that there are are named.
        """
        trials, shown = self._reader.trials(), self._reader.shown
        asked = {name: shown.get(str(it), it) for name, it in wanted.items() if it is not None}
        known = trials.select(*asked).unique().collect() if asked else pl.DataFrame()
        for name, value in asked.items():
            values = known[name].drop_nulls().unique().sort()
            if value not in values:
                choices = ", ".join(map(str, values)) or "those of trials, and there are none yet"
                raise PodiumError(f"{name} must be one of {choices}; got {value}")
        return trials.filter(*(pl.col(name) == value for name, value in asked.items()))


def _first(found: pl.DataFrame, sort: str | None, top: int | None) -> pl.DataFrame:
    """The first ``top`` rows by a column, which may be named as the text names it."""
    if sort is None:
        return found
    shown = shown_names(found)
    name = next((name for name, text in reversed(shown.items()) if sort in (name, text)), None)
    if name is None:
        raise PodiumError(f"sort must be one of {', '.join(shown.values())}; got {sort}")
    is_number = found.schema[name] != pl.String
    ordered = found.sort(name, descending=is_number, nulls_last=True, maintain_order=True)
    return ordered if top is None else ordered.head(top)
