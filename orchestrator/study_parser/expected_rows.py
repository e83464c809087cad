"""Places one published value in a study: which block, loss, finalist and K it is of."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from orchestrator.results.records.expected_values import ExpectedValue
from orchestrator.study.blocks import blocks
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Study, TrainOn
from search_spaces.catalogue import loss_names
from trainables.errors import TrialInputError

__all__ = ["EXPECTED_COLUMNS", "Elsewhere", "ExpectedRows", "WrongRow", "plain_name"]

EXPECTED_COLUMNS = (
    *("dataset", "backbone", "embedding_dim", "image_size", "loss", "protocol", "finalist"),
    *("train_on", "k", "value", "tolerance"),
)

_FACTORS = ("dataset", "backbone", "embedding_dim", "image_size")
_FINALISTS = ("winner", "default")
_PERCENT = 100.0


class WrongRow(Exception):
    """A cell that cannot be what it is; ``column`` names it."""

    def __init__(
        self, column: str, rule: str, got: object, choices: Iterable[str] | None = None
    ) -> None:
        super().__init__(rule)
        self.column, self.rule, self.got = column, rule, got
        self.choices = None if choices is None else list(choices)


class Elsewhere(WrongRow):
    """A cell that may well be right, of something that the study does not do."""


class ExpectedRows:
    """Finds the cell of a study that a row of a published table is of.

    Papers write names in their own way: ``ResNet50`` is taken for ``resnet50`` and
    ``MultiSimilarity`` for ``multi_similarity``; where letters and digits differ too, ``names``
    has to say it.

    Args:
        study: whose data sets, networks and losses are right.
        names: plain name in the table -> name in the study.
        tolerance: of rows without their own, in points.
        usual: ``finalist``, ``protocol`` and ``train_on`` of rows without their own.
    """

    def __init__(
        self,
        study: Study,
        *,
        names: Mapping[str, str],
        tolerance: float,
        usual: Mapping[str, str],
    ) -> None:
        self._study, self._names, self._tolerance = study, names, tolerance
        self._usual = {"finalist": "winner", "protocol": "", "train_on": "", **usual}
        self._blocks = blocks(study)

    def value(self, cells: Mapping[str, str]) -> ExpectedValue:
        """One row, by column; a column that is absent or empty is that of the whole study.

        Raises:
            Elsewhere: it is of a block, a loss or a K that the study does not have.
            WrongRow: a cell is wrong.
        """
        number = _number(cells, "value", low=0.0, high=_PERCENT)
        tolerance = self._tolerance
        if cells.get("tolerance"):
            tolerance = _number(cells, "tolerance", low=0.0)
        usual = {name: cells.get(name) or given for name, given in self._usual.items()}
        labels = [protocol.label for protocol in self._study.protocols]
        _check_choice("finalist", usual["finalist"], _FINALISTS)
        if usual["protocol"]:
            _check_choice("protocol", usual["protocol"], labels)
        if usual["train_on"]:
            _check_choice("train_on", usual["train_on"], get_args(TrainOn))
            self._check_of_study("train_on", usual["train_on"], self._study.final.train_on)
        return ExpectedValue(
            loss=self._loss(cells),
            block=self._block(cells),
            k=self._k(cells),
            value=number,
            tolerance=tolerance,
            **usual,
        )

    def _loss(self, cells: Mapping[str, str]) -> str:
        losses = self._study.losses
        given = self._own(cells, "loss")
        if not given:
            return self._only("loss", losses)
        if (found := _match(given, losses)) is not None:
            return found
        known = {plain_name(name) for name in loss_names()}
        if plain_name(given) not in known and not _is_loss(given):
            rule = "there is no such loss: say under names what the study calls it"
            raise WrongRow("loss", rule, given, losses)
        raise Elsewhere("loss", "the study does not have this loss", given, losses)

    def _block(self, cells: Mapping[str, str]) -> str:
        left = self._blocks
        for column in _FACTORS:
            given = self._own(cells, column)
            here = {str(getattr(block, column)): None for block in left}
            if not given:
                chosen = self._only(column, tuple(here))
            elif (found := _match(given, tuple(here))) is not None:
                chosen = found
            else:
                rule = f"the study does not have this {column}"
                raise Elsewhere(column, rule, given, here)
            left = tuple(block for block in left if str(getattr(block, column)) == chosen)
        return left[0].label

    def _k(self, cells: Mapping[str, str]) -> int:
        ks = self._study.ks
        given = cells.get("k")
        if not given:
            return ks[0]
        number = _number(cells, "k", low=1)
        if number != int(number):
            raise WrongRow("k", "k must be a whole number", given)
        self._check_of_study("k", str(int(number)), tuple(map(str, ks)))
        return int(number)

    def _own(self, cells: Mapping[str, str], column: str) -> str:
        """What the study calls the value of a cell; empty if there is none."""
        given = cells.get(column) or ""
        return self._names.get(plain_name(given), given)

    def _only(self, column: str, choices: Sequence[str]) -> str:
        if len(choices) != 1:
            raise WrongRow(column, f"{column} must be given: the study has several", None, choices)
        return choices[0]

    @staticmethod
    def _check_of_study(column: str, given: str, own: Sequence[str]) -> None:
        if given not in own:
            raise Elsewhere(column, f"the study does not have this {column}", given, own)


def plain_name(name: str) -> str:
    """Letters and digits alone: what two ways to write one name have in common."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _match(given: str, names: Sequence[str]) -> str | None:
    """The one of ``names`` that is meant, if one is."""
    if given in names:
        return given
    alike = [name for name in names if plain_name(name) == plain_name(given)]
    return alike[0] if len(alike) == 1 else None


def _is_loss(name: str) -> bool:
    try:
        facts_of(name)
    except TrialInputError:
        return False
    return True


def _number(
    cells: Mapping[str, str], column: str, *, low: float, high: float = float("inf")
) -> float:
    given = cells.get(column) or ""
    try:
        number = float(given)
    except ValueError:
        number = float("nan")
    if not low <= number <= high or number == float("inf"):
        bound = f"from {low:g} to {high:g}" if high < float("inf") else f"of at least {low:g}"
        raise WrongRow(column, f"{column} must be a number {bound}", given or None)
    return number


def _check_choice(column: str, given: str, choices: Sequence[str]) -> None:
    if given not in choices:
        raise WrongRow(column, f"{column} must be one of the choices", given, choices)
