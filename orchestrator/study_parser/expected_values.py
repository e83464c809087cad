"""Reads ``expect`` of a study file: published values to compare the study's results with.

Values are in the study file or in a CSV file, one published table; each is matched to a block, a
loss and a K of the study.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, get_args

from pydantic import Field, StrictFloat

from podium.orchestrator.results.records.expected_values import Expected, ExpectedValue
from podium.orchestrator.results.records.metric_columns import METRICS_WITHOUT_K
from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Study, TrainOn
from podium.orchestrator.study_parser.file_paths import (
    MAX_TABLE_BYTES,
    UnreadableError,
    read_path,
    read_text,
)
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.read_keys import (
    note_unknown,
    read_items,
    read_keys,
    read_mapping,
)
from podium.orchestrator.study_parser.yaml_tree import Given, Path
from podium.trainables.errors import TrialInputError
from podium.trainables.registry import names

EXPECT = "expect"

# Sections that blocks and losses follow from; while any is wrong no value can be matched.
_DEPENDS_ON = (
    *("datasets", "backbones", "embedding_dims", "image_sizes", "losses", "protocol", "final"),
    *("metrics", "training"),
)

_FACTORS = ("dataset", "backbone", "embedding_dim", "image_size")
_LABELS = ("finalist", "protocol", "train_on")
_COLUMNS = (*_FACTORS, "loss", *_LABELS, "metric", "k", "value", "tolerance")
_VALUE_COLUMNS = ("value", "recall")  # of a table; the second is how ours are headed
_HYPERPARAMETER = "hp."  # what columns of hyperparameters begin with, as in tables of trials

_PERCENT = 100.0
_MAX_VALUES = 10_000
_MAX_FRACTION = 1.0

_Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    source: Text = ""
    tolerance: Annotated[StrictFloat, Field(ge=0, le=_PERCENT)] = 1.0  # points
    finalist: Text = "winner"
    protocol: Text = ""
    train_on: Text = ""
    values: Any = None
    file: Text | None = None
    names: Mapping[str, Text] = field(default_factory=dict)
    ranks: Mapping[str, Annotated[StrictFloat, Field(ge=1)]] = field(default_factory=dict)


class _InvalidRow(Exception):
    """A cell of a row is wrong, or about something that the study does not cover.

    Args:
        column: name of the cell.
        rule: what must hold.
        got: what is in the cell; None for nothing.
        choices: what might be in it.
        is_elsewhere: whether the study does not cover it, which in a table is no error.
    """

    def __init__(
        self,
        column: str,
        rule: str,
        got: object = None,
        choices: Iterable[str] | None = None,
        *,
        is_elsewhere: bool = False,
    ) -> None:
        super().__init__(rule)
        self.column, self.rule, self.got, self.is_elsewhere = column, rule, got, is_elsewhere
        self.choices = None if choices is None else list(choices)


def with_expected(study: Study, given: Given, problems: Problems) -> Study:
    """The study with the published values of its file, as far as they can be read.

    Values of what the study does not cover are problems in the study file itself; in a published
    table they are only counted.
    """
    values = given.values.get(EXPECT) if isinstance(given.values, dict) else None
    if values is None:
        return study
    is_matchable = not problems.concern(*_DEPENDS_ON)
    keys = read_keys(_Keys, values, (EXPECT,), problems)
    is_known = isinstance(values, dict) and values.keys() <= _Keys.__dataclass_fields__.keys()
    if not is_matchable or not is_known:
        return study
    if "source" not in values:
        problems.add((EXPECT,), f"{EXPECT}.source must name the publication of the values")
    if not any(key in values for key in ("values", "file", "ranks")):
        problems.add((EXPECT,), f"{EXPECT} must have values, a file or ranks")
    rows = _ExpectedRows(study, keys)
    of_file, num_elsewhere = ([], 0) if keys.file is None else _of_file(keys.file, rows, problems)
    of_study = _of_values(keys.values, rows, problems) if "values" in values else ()
    expected = (*of_study, *of_file)
    _check_values(expected, problems)
    return replace(
        study,
        expect=Expected(
            source=keys.source,
            values=expected,
            num_elsewhere=num_elsewhere,
            ranks=_ranks(keys.ranks, study.loss_names, problems),
        ),
    )


class _ExpectedRows:
    """Matches rows of published values to blocks and losses of a study.

    Spelling of names varies: ``ResNet50`` matches ``resnet50`` and ``MultiSimilarity`` matches
    ``multi_similarity``; where letters and digits differ too, ``names`` has to translate.

    Args:
        study: study with valid data sets, backbones and losses.
        keys: what rows have that do not say it themselves.
    """

    def __init__(self, study: Study, keys: _Keys) -> None:
        self._study, self._blocks, self._tolerance = study, blocks(study), keys.tolerance
        self._names = {_plain_name(name): here for name, here in keys.names.items()}
        self._labels: dict[str, str] = {name: getattr(keys, name) for name in _LABELS}

    def value(self, cells: _Cells) -> ExpectedValue:
        """The expected value in a row.

        Args:
            cells: column -> text; one that is absent or empty has the only value of the study.

        Raises:
            _InvalidRow: a cell is wrong, missing where the study has several values, or of what
                the study does not have.
        """
        loss, metric = self._loss(cells), self._metric(cells)
        config = self._config(cells, loss, metric)
        return ExpectedValue(
            loss=loss,
            block=self._block(cells),
            k=self._k(cells, metric),
            value=_number(cells, "value", low=0.0, high=_PERCENT),
            tolerance=_number(cells, "tolerance") if cells.get("tolerance") else self._tolerance,
            metric=metric,
            config=config,
            **self._labels_of(cells, config),
        )

    def _labels_of(self, cells: _Cells, config: str) -> dict[str, str]:
        labels = {name: cells.get(name) or usual for name, usual in self._labels.items()}
        protocols = [protocol.label for protocol in self._study.protocols]
        _check_choice("finalist", labels["finalist"], ("winner", "default"))
        if config:
            labels = {**labels, "finalist": "config", "train_on": ""}
        if labels["protocol"]:
            _check_choice("protocol", labels["protocol"], protocols)
        if labels["train_on"]:
            _check_choice("train_on", labels["train_on"], get_args(TrainOn))
            _of_study("train_on", labels["train_on"], self._study.final.train_on)
        return labels

    def _loss(self, cells: _Cells) -> str:
        losses, given = self._study.loss_names, self._translated(cells, "loss")
        known = {_plain_name(name) for name in (*losses, *names("losses"))}
        if given and _plain_name(given) not in known and not _is_loss(given):
            rule = "there is no such loss: give the name it has in the study under names"
            raise _InvalidRow("loss", rule, given, losses)
        return _of_study("loss", given, losses)

    def _block(self, cells: _Cells) -> str:
        candidates = self._blocks
        for column in _FACTORS:
            values = dict.fromkeys(str(getattr(block, column)) for block in candidates)
            chosen = _of_study(column, self._translated(cells, column), tuple(values))
            candidates = tuple(it for it in candidates if str(getattr(it, column)) == chosen)
        return candidates[0].label

    def _metric(self, cells: _Cells) -> str:
        """The metric; empty for the study's own."""
        given = self._translated(cells, "metric")
        own = self._study.search.objectives[0]
        if not given or _plain_name(given) == _plain_name(own):
            return ""
        without_k = METRICS_WITHOUT_K if own == "recall" else ()
        if (found := _match(given, without_k)) is None:
            raise _InvalidRow("metric", "unknown metric", given, (own, *without_k))
        return found

    def _config(self, cells: _Cells, loss: str, metric: str) -> str:
        """Hyperparameters of one config of the searches, as text; empty without any."""
        given = {
            name.removeprefix(_HYPERPARAMETER): text
            for name, text in cells.items()
            if _is_hyperparameter(name) and text
        }
        known = facts_of(loss).legal_parameters
        for name in given:
            if name not in known:
                rule = f"{loss} has no such hyperparameter"
                raise _InvalidRow(f"{_HYPERPARAMETER}{name}", rule, name, known)
        needed = ("record_all",) if metric else ("record", "record_all")
        if given and self._study.quarantine not in needed:
            rule = f"scores of single configs need quarantine: {needed[0]}"
            raise _InvalidRow(
                f"{_HYPERPARAMETER}{next(iter(given))}", rule, self._study.quarantine
            )
        return " ".join(f"{name}={text}" for name, text in given.items())

    def _k(self, cells: _Cells, metric: str) -> int:
        ks, given = self._study.ks, cells.get("k")
        if metric:
            if given:
                raise _InvalidRow("k", f"{metric} has no K", given)
            return 0
        if not given:
            return ks[0]
        number = _number(cells, "k", low=1)
        if number != int(number):
            raise _InvalidRow("k", "k must be a whole number", given)
        return int(_of_study("k", str(int(number)), tuple(map(str, ks))))

    def _translated(self, cells: _Cells, column: str) -> str:
        """The value of a cell under its name in the study; empty if there is none."""
        given = cells.get(column) or ""
        return self._names.get(_plain_name(given), given)


def _of_values(given: object, rows: _ExpectedRows, problems: Problems) -> Iterator[ExpectedValue]:
    for path, item in read_items(given, (EXPECT, "values"), problems, most=_MAX_VALUES):
        of_config = filter(_is_hyperparameter, item if isinstance(item, dict) else ())
        values = read_mapping(item, (*_COLUMNS, *of_config), path, problems)
        if problems.concern(path):
            continue
        cells = {key: "" if value is None else str(value) for key, value in values.items()}
        try:
            yield rows.value(cells)
        except _InvalidRow as error:
            at = (*path, error.column) if error.column in cells else path
            problems.add(at, f"{label(path)}: {error.rule}", got=error.got, choices=error.choices)


def _of_file(
    given: str, rows: _ExpectedRows, problems: Problems
) -> tuple[list[ExpectedValue], int]:
    """The values of a published table that are of the study, and how many are not."""
    key: Path = (EXPECT, "file")
    table = _table(read_path(given, key, problems), key, problems)
    if table is None:
        return [], 0
    found: list[ExpectedValue] = []
    wrong: dict[tuple[str, object], tuple[int, _InvalidRow]] = {}
    num_elsewhere = 0
    for number, cells in enumerate(table, start=1):
        if not cells["value"]:
            continue
        try:
            found.append(rows.value(cells))
        except _InvalidRow as error:
            if error.is_elsewhere:
                num_elsewhere += 1
            else:
                wrong.setdefault((error.rule, error.got), (number, error))
    for number, row in wrong.values():  # each problem once, with the first row that has it
        rule = f"{label(key)}, row {number}: {row.rule}"
        problems.add(key, rule, got=row.got, choices=row.choices)
    if not found and not wrong:
        problems.add(
            key,
            f"{label(key)} has no value of a block, loss and K of this study: translate the"
            f" names of the table to those of the study under {EXPECT}.names",
        )
    return found, num_elsewhere


def _table(path: str, key: Path, problems: Problems) -> list[dict[str, str]] | None:
    """Rows of the file by column; None if something is wrong with it."""
    if problems.concern(key):
        return None
    try:
        lines = io.StringIO(read_text(path, MAX_TABLE_BYTES), newline="")
        header, *rows = csv.reader(lines)
    except UnreadableError as error:
        problems.add(key, f"{label(key)} cannot be read: {error}", got=path)
        return None
    except (csv.Error, ValueError) as error:
        problems.add(key, f"{label(key)} is not a CSV file: {error}", got=path)
        return None
    names = ["value" if name in _VALUE_COLUMNS else name for name in header]
    if names.count("value") != 1:
        rule = f"{label(key)} must have one column of values: {' or '.join(_VALUE_COLUMNS)}"
        problems.add(key, rule, got=header)
        return None
    cells = (dict(zip(names, row, strict=False)) for row in rows)
    return [{name: row.get(name, "").strip() for name in names} for row in cells]


def _ranks(
    ranks: Mapping[str, float], losses: Sequence[str], problems: Problems
) -> Mapping[str, float]:
    """The ranks in the order of the losses."""
    for loss, rank in ranks.items():
        path = (EXPECT, "ranks", loss)
        if loss not in losses:
            note_unknown(path, losses, problems)
        elif rank > len(losses):
            rule = f"{label(path)} must be an average rank of {len(losses)} losses"
            problems.add(path, rule, got=rank)
    return {loss: ranks[loss] for loss in losses if loss in ranks}


def _check_values(values: Sequence[ExpectedValue], problems: Problems) -> None:
    """Note values that are no percentages, and the first that is there twice."""
    if values and all(value.value <= _MAX_FRACTION for value in values):
        rule = f"{EXPECT} takes scores in percent, such as 69.7; these are all at most 1"
        problems.add((EXPECT,), rule)
    seen = set()
    for value in values:
        cell = replace(value, value=0.0, tolerance=0.0)
        if cell in seen:
            what = value.metric or f"k = {value.k}"
            rule = f"{EXPECT} has two values of {value.loss} in {value.block} at {what}"
            problems.add((EXPECT,), rule)
            return
        seen.add(cell)


def _is_hyperparameter(column: str) -> bool:
    return column.startswith(_HYPERPARAMETER)


def _plain_name(name: str) -> str:
    """Lower-case letters and digits alone, so that spellings of one name compare equal."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _match(given: str, names: Sequence[str]) -> str | None:
    """The only one of ``names`` that is spelt like ``given``; None if none or several are."""
    if given in names:
        return given
    alike = [name for name in names if _plain_name(name) == _plain_name(given)]
    return alike[0] if len(alike) == 1 else None


def _of_study(column: str, given: str, own: Sequence[str]) -> str:
    """The value of the study that a cell means; the only one if the cell is empty."""
    if not given and len(own) != 1:
        raise _InvalidRow(column, f"{column} must be given: the study has several", choices=own)
    found = _match(given, own) if given else own[0]
    if found is None:
        rule = f"the study does not have this {column}"
        raise _InvalidRow(column, rule, given, own, is_elsewhere=True)
    return found


def _is_loss(name: str) -> bool:
    try:
        facts_of(name)
    except TrialInputError:
        return False
    return True


def _number(cells: _Cells, column: str, *, low: float = 0.0, high: float = math.inf) -> float:
    given = cells.get(column) or ""
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not low <= number <= high or number == math.inf:
        bound = f"from {low:g} to {high:g}" if high < math.inf else f"of at least {low:g}"
        raise _InvalidRow(column, f"{column} must be a number {bound}", given or None)
    return number


def _check_choice(column: str, given: str, choices: Sequence[str]) -> None:
    if given not in choices:
        raise _InvalidRow(column, f"{column} must be one of the choices", given, choices)
