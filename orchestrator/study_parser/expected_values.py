"""Reads ``expect`` of a study file: published values to compare the study's results with.

Values are in the study file or in a CSV file, one published table; each is matched to a block, a
loss and a K of the study.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, get_args

from pydantic import Field, StrictFloat

from podium.orchestrator.results.records.expected_values import Expected, ExpectedValue
from podium.orchestrator.results.records.metric_columns import METRICS_WITHOUT_K, RECALL
from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.defaults import metric_of
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

_Cells = Mapping[str, str]  # column -> text; one that is absent or empty has the usual value


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
        self._study, self._blocks = study, blocks(study)
        self._names = {_plain_name(name): here for name, here in keys.names.items()}
        self._usual = {name: str(getattr(keys, name)) for name in (*_LABELS, "tolerance")}

    def value(self, cells: _Cells) -> ExpectedValue:
        """The expected value in a row.

        Raises:
            _InvalidRow: a cell is wrong, missing where the study has several values, or of what
                the study does not have.
        """
        study, own = self._study, metric_of(self._study.datasets)
        given = {**self._usual, "metric": own, **{name: it for name, it in cells.items() if it}}
        for column in (*_FACTORS, "loss", "metric"):
            text = given.get(column, "")
            given[column] = self._names.get(_plain_name(text), text)
        loss = _of_study("loss", given, study.loss_names, _is_loss)
        metrics = (own, *(METRICS_WITHOUT_K if own == RECALL.name else ()))
        found = _of_study("metric", given, metrics)
        metric = "" if found == own else found
        config = self._config(given, loss, metric)
        protocols = tuple(protocol.label for protocol in study.protocols)
        labels = {
            "finalist": _of_study("finalist", given, ("winner", "default")),
            "protocol": given["protocol"] and _of_study("protocol", given, protocols),
            "train_on": given["train_on"]
            and _of_study("train_on", given, study.final.train_on, get_args(TrainOn).__contains__),
        }
        if config:
            labels = {**labels, "finalist": "config", "train_on": ""}
        return ExpectedValue(
            loss=loss,
            block=self._block(given),
            k=self._k(given, metric),
            value=_number(given, "value", low=0.0, high=_PERCENT),
            tolerance=_number(given, "tolerance"),
            metric=metric,
            config=config,
            **labels,
        )

    def _block(self, given: _Cells) -> str:
        candidates = self._blocks
        for column in _FACTORS:
            values = dict.fromkeys(str(getattr(block, column)) for block in candidates)
            chosen = _of_study(column, given, tuple(values), bool)
            candidates = tuple(it for it in candidates if str(getattr(it, column)) == chosen)
        return candidates[0].label

    def _config(self, given: _Cells, loss: str, metric: str) -> str:
        """Hyperparameters of one config of the searches, as text; empty without any."""
        of_config = {
            name.removeprefix(_HYPERPARAMETER): text
            for name, text in given.items()
            if name.startswith(_HYPERPARAMETER)
        }
        known = facts_of(loss).legal_parameters
        needed = ("record_all",) if metric else ("record", "record_all")
        for name in of_config:
            column = f"{_HYPERPARAMETER}{name}"
            if name not in known:
                raise _InvalidRow(column, f"{loss} has no such hyperparameter", name, known)
            if self._study.quarantine not in needed:
                rule = f"scores of single configs need quarantine: {needed[0]}"
                raise _InvalidRow(column, rule, self._study.quarantine)
        return " ".join(f"{name}={text}" for name, text in of_config.items())

    def _k(self, given: _Cells, metric: str) -> int:
        ks = tuple(map(str, self._study.ks))
        if metric:
            if "k" in given:
                raise _InvalidRow("k", f"{metric} has no K", given["k"])
            return 0
        number = _number({"k": ks[0], **given}, "k", low=1)
        if number != int(number):
            raise _InvalidRow("k", "k must be a whole number", given["k"])
        return int(_of_study("k", {"k": str(int(number))}, ks, bool))


def _of_values(given: object, rows: _ExpectedRows, problems: Problems) -> Iterator[ExpectedValue]:
    for path, item in read_items(given, (EXPECT, "values"), problems, most=_MAX_VALUES):
        of_config = (
            (key for key in item if key.startswith(_HYPERPARAMETER))
            if isinstance(item, dict)
            else ()
        )
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


def _plain_name(name: str) -> str:
    """Lower-case letters and digits alone, so that spellings of one name compare equal."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _of_study(
    column: str,
    given: _Cells,
    own: Sequence[str],
    is_known: Callable[[str], bool] = lambda _: False,
) -> str:
    """The value of the study that a cell means; the only one if the cell is empty.

    Args:
        column: name of the cell.
        given: the row.
        own: values of the study.
        is_known: whether there is such a value, of which the study does not have all.
    """
    text = given.get(column, "")
    if not text and len(own) != 1:
        raise _InvalidRow(column, f"{column} must be given: the study has several", choices=own)
    alike = [name for name in own if _plain_name(name) == _plain_name(text)]
    if text in own or not text or len(alike) == 1:
        return text if text in own else [*alike, own[0]][0]
    hint = "" if column in _LABELS else ": give the name it has in the study under names"
    rule = f"there is no such {column}{hint}"
    if is_known(text):
        rule = f"the study does not have this {column}"
    raise _InvalidRow(column, rule, text, own, is_elsewhere=is_known(text))


def _is_loss(name: str) -> bool:
    if _plain_name(name) in map(_plain_name, names("losses")):
        return True
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
