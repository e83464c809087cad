"""Comparing one loss with others: a study is designed for it, run, and read for the answer."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.analysis.wording import shown_names
from podium.api.study import Study, load
from podium.comparison.design import (
    OPPONENTS,
    comparison_keys,
    description,
    fewest_minutes,
    stronger_minutes,
)
from podium.errors import PodiumError
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.study.loss_facts import facts_of
from podium.trainables.own_files import read_files
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import TRAINING_TYPES, HyperparameterValue

if TYPE_CHECKING:
    from podium.analysis.study_results.study_results import StudyResults
    from podium.api.report import Report
    from podium.comparison.answer import Against


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A loss and those that it is compared with; ``print`` shows the answer. Made by `compare`.

    Attributes:
        study: the study of the comparison, with its results folder.
        keys: keys of its study file.
        given: the loss as it was given.
        opponents: the losses that it is compared with.
        minutes: time that it may take on two cores.
        data: folder of images by class; None for letters.
        storage: folder or URI of the results folder, as it was given; None for the usual.
    """

    study: Study
    keys: Mapping[str, Any]
    given: str
    opponents: tuple[str, ...]
    minutes: int
    data: Path | None
    storage: str | os.PathLike[str] | RemotePath | None

    @property
    def loss(self) -> str:
        """Name of the loss in results."""
        return self._names[0]

    @property
    def description(self) -> str:
        """What is trained, in a few sentences."""
        loss, *others = self._names
        return f"Comparing {loss} with {', '.join(others)} on {description(self.keys)}"

    @cached_property
    def against(self) -> "tuple[Against, ...]":
        """The loss minus each opponent, the best placed first; empty if it is not ranked."""
        from podium.comparison.answer import differences_of

        return differences_of(self._results, self.loss)

    @cached_property
    def text(self) -> str:
        """The answer in plain words, from the results so far."""
        from podium.comparison.answer import answer_text

        more = stronger_minutes(1 + len(self.opponents), minutes=self.minutes, data=self.data)
        stronger = None if more is None else self.command(minutes=more)
        return answer_text(
            self._results,
            self.loss,
            self.against,
            stronger=stronger,
            unsearched=self._unsearched,
            versions=self._versions,
        )

    def report(self) -> "Report":
        """The report of the study, whose first screen is about the loss."""
        from podium.api.report import report_of_study
        from podium.comparison.answer import led_by

        made = report_of_study(self._results)
        led = led_by(made.page, self._results, self.loss, self.against, self._versions)
        return replace(made, page=led)

    def command(self, minutes: int | None = None) -> str:
        """The words of the command line that make this comparison, or that of other minutes."""
        words = ["podium", "compare", self.given]
        if self.opponents != _usual_opponents(str(parse_loss(self.given))):
            words += ["--against", ",".join(self.opponents)]
        words += ["--data", str(self.data)] if self.data else []
        words += ["--storage", str(self.storage)] if self.storage else []
        wanted = minutes or self.minutes
        return shlex.join([*words, *(["--minutes", str(wanted)] if wanted > 1 else [])])

    def __str__(self) -> str:
        return self.text

    @property
    def _names(self) -> list[str]:
        """What is shown of the names of the losses."""
        names = [str(parse_loss(name)) for name in (self.given, *self.opponents)]
        shown = shown_names(names)
        return [shown.get(name, name) for name in names]

    @property
    def _unsearched(self) -> tuple[str, ...]:
        """Its hyperparameters that a search could vary, if none of them is in its space."""
        facts = facts_of(str(parse_loss(self.given)))
        searchable = [
            name
            for name, parameter in facts.parameters.items()
            if not isinstance(parameter.default, str)
        ]
        return () if facts.spaces["joint"].parameters else tuple(searchable)

    @cached_property
    def _versions(self) -> list[str]:
        from podium.comparison.versions import version_sentences

        return version_sentences(self.study.folder, self._results, self.loss, self.against)

    @cached_property
    def _results(self) -> "StudyResults":
        from podium.api.report import results_of

        return results_of(self.study.folder)


def compare(
    loss: str,
    *,
    against: Sequence[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    minutes: int | None = None,
    storage: str | os.PathLike[str] | RemotePath | None = None,
    local: bool = False,
    progress: bool = True,
) -> Comparison:
    """Compare a loss with others: a fair, small and uncertain tournament, or a stronger one.

    All losses get the same search budget. The same call again continues a comparison that was
    stopped, or reads its results; a loss whose code was changed is compared anew.

    Args:
        loss: a loss in a file, ``./myloss.py:MyLoss``, or any other that a study may name.
        against: the losses that it is compared with; None for ``multi_similarity``,
            ``proxy_anchor`` and ``contrastive``.
        data: folder of images with a folder for each class; None for letters.
        minutes: time that it may take, on two cores that have nothing else to do; None for as
            few as do, which is 1 on letters.
        storage: folder or URI in which the results folder is; None for ``podium-results``.
        local: whether to train one trial at a time in this process, without Ray.
        progress: whether to show messages and how far it is.

    Raises:
        Interrupted: it was stopped, cleanly.
        PodiumError: a loss is unknown, or fails on a batch; the minutes are too few; the folder
            has no classes, or too few.
    """
    planned = plan_comparison(loss, against=against, data=data, minutes=minutes, storage=storage)
    planned.study.run(local=local, progress=progress)
    return planned


def plan_comparison(
    loss: str,
    *,
    against: Sequence[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    minutes: int | None = None,
    storage: str | os.PathLike[str] | RemotePath | None = None,
) -> Comparison:
    """The comparison that `compare` runs, with the same arguments; nothing is trained.

    A loss of one's own is tried on one batch, so that it fails here and not in every trial.

    Raises:
        PodiumError: as of `compare`.
    """
    if minutes is not None and minutes < 1:
        raise PodiumError(f"a comparison takes from 1 minute on; got {minutes}")
    read_files(loss, Path.cwd())
    name = facts_of(str(parse_loss(loss))).name
    opponents = _usual_opponents(name) if against is None else tuple(against)
    if not opponents:
        raise PodiumError("a comparison needs at least one opponent")
    for given in opponents:
        read_files(given, Path.cwd())
        if facts_of(str(parse_loss(given))).name == name:
            raise PodiumError(f"{name} cannot be compared with itself")
    try_own_loss(loss, facts_of(name).defaults)
    folder = None if data is None else Path(data).expanduser()
    minutes = minutes or fewest_minutes(1 + len(opponents), folder)
    keys = comparison_keys(loss, opponents, minutes=minutes, data=folder)
    return Comparison(
        study=load(keys, storage=storage),
        keys=keys,
        given=loss,
        opponents=opponents,
        minutes=minutes,
        data=folder,
        storage=storage,
    )


def _usual_opponents(loss: str) -> tuple[str, ...]:
    return tuple(name for name in OPPONENTS if name != loss)


def try_own_loss(loss: str, hyperparameters: Mapping[str, HyperparameterValue]) -> None:
    """Try a loss on one batch if any of its code is not podium's.

    Args:
        loss: a loss whose files were read.
        hyperparameters: those of the loss, and of training.

    Raises:
        TrialInputError: it fails there; see `trainables.loss_composition.try_loss`.
    """
    expression = parse_loss(loss)
    if any(term.is_external for term in expression.all_terms):
        from podium.trainables.loss_composition.try_loss import try_loss  # loads torch

        of_loss = {key: hyperparameters[key] for key in hyperparameters.keys() - TRAINING_TYPES}
        try_loss(str(expression), of_loss)
