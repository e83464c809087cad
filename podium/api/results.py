"""The results of a study, read from Python."""

from typing import TYPE_CHECKING

import polars as pl

from orchestrator.results.storage.locations import Place, parse_place
from orchestrator.results.trial_files.reader import Reader
from podium.api.answer import Answer, answer_html
from podium.arguments.rules_argument import GivenRules
from podium.arguments.study_argument import results_folder
from podium.arguments.table_argument import Conditions, Names
from podium.arguments.trial_argument import model_of_fold, stored_trial
from podium.errors import PodiumError

if TYPE_CHECKING:
    from torch import nn


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
    """The results of a study. Made by `podium.results` and `podium.Study.run`.

    Files are read when something is asked for, so a study that is running shows its present
    state. What the commands say of a study is an `podium.Answer`: ``results.tournament()`` is
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
            PodiumError: it is no results folder.
        """
        self.folder = folder
        self._reader = Reader(folder)

    @property
    def name(self) -> str:
        """The name of the study."""
        return str(self._reader.study()["name"])

    @property
    def trials(self) -> pl.DataFrame:
        """One row per trial: identity, hyperparameters ``hp.*``, state, scores from 0 to 1.

        The page on the results schema names all columns. ``objective`` is the validation score
        that searches maximise; the columns ``test_*`` are null in searches.

        Raises:
            CorruptFileError: a file of the results is damaged.
        """
        return self._reader.trials().collect()

    @property
    def scores(self) -> pl.LazyFrame:
        """Every score of every epoch: one row per trial, fold, epoch, role, metric and K.

        ``role`` is ``train``, ``val`` or ``test``, ``value`` the score from 0 to 1, ``k`` null
        where the metric has none; trials are named by ``trial_id``, ``loss``, ``block`` and more.
        A lazy frame, since it can be larger than memory: filter it, then ``collect`` it.
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
        from trainables.saved_models.trained_model import load_model

        file = model_of_fold(stored_trial(trial_id, self.folder, None), fold)
        # Code that the own study names ran already when it trained.
        return load_model(file, trust_code=True).embedder

    def tournament(
        self,
        *,
        score: str | None = None,
        where: Conditions = (),
        question: str | None = None,
        test: str | None = None,
        alpha: float | None = None,
        rope: float | None = None,
        each: Names | None = None,
    ) -> Answer:
        """Rank the tuned losses within blocks by their test scores, and test the differences.

        As ``podium tournament`` does. Question, test, level and region were declared before the
        study ran; others are refused.

        Args:
            score: name of the stored test score to rank by, such as ``nmi`` or ``recall@4``; None
                means the declared one.
            where: conditions such as ``{"finalist": "default"}`` or ``"k=2"``, on ``dataset``,
                ``backbone``, ``embedding_dim``, ``block``, ``loss``, ``protocol``, ``k``,
                ``finalist`` and ``train_on``.
            question: the declared question, or None.
            test: the declared primary test, or None.
            alpha: the declared level, or None.
            rope: the declared region of practical equivalence in points, or None.
            each: names of factors, such as ``backbone`` or ``k``: rank within each value of each
                of them instead; no test is made.

        Returns:
            The ranking. Its frame has one row per loss, best first, with ``mean_score`` from 0 to
            1, as of `podium.rank`.

        Raises:
            PodiumError: no final trial was tested yet, or an argument does not fit the study.
        """
        from podium.api.tournament import rank_study

        given = GivenRules(question=question, test=test, alpha=alpha, rope=rope)
        return rank_study(self._reader, score, where, given, each)

    def __repr__(self) -> str:
        return f"Results({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        try:
            return self.tournament()._repr_html_()
        except PodiumError as error:
            return answer_html(f"{self.name}: there is no ranking: {error}", ())
