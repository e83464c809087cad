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
from typing import Annotated, Any

from pydantic import Field, StrictFloat

from podium.orchestrator.results.records.expected_values import Expected, ExpectedValue
from podium.orchestrator.results.records.metric_columns import METRICS_WITHOUT_K, RECALL
from podium.orchestrator.results.records.study_keys import Text
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.defaults import metric_of
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Study
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
from podium.trainables.registry import names

EXPECT = "expect"
_FILE: Path = (EXPECT, "file")

_FACTORS = ("dataset", "backbone", "embedding_dim", "image_size")
_NAMED = (*_FACTORS, "loss", "metric")  # what ``names`` translates
_LABELS = ("finalist", "protocol", "train_on")
_COLUMNS = (*_NAMED, *_LABELS, "k", "value", "tolerance")
_HP = "hp."  # what columns of hyperparameters begin with, as in tables of trials

_PERCENT = 100.0
_MAX_VALUES = 10_000

_Row = Mapping[str, str]  # column -> text of the cell


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
    """A cell of a row is wrong: its column, the rule, what it holds, and choices or None."""


class _Elsewhere(_InvalidRow):
    """A cell is about something that the study does not have, which in a table is no error."""


def with_expected(study: Study, given: Given, problems: Problems) -> Study:
    """The study with the published values of its file, as far as they can be read.

    Values of what the study does not cover are problems in the study file itself; in a published
    table they are only counted.
    """
    values = given.values.get(EXPECT) if isinstance(given.values, dict) else None
    if values is None:
        return study
    keys = read_keys(_Keys, values, (EXPECT,), problems)
    if not isinstance(values, dict):
        return study
    if "source" not in values:
        problems.add((EXPECT,), f"{EXPECT}.source must name the publication of the values")
    if not any(key in values for key in ("values", "file", "ranks")):
        problems.add((EXPECT,), f"{EXPECT} must have values, a file or ranks")
    of_file = _rows_of_study_file(keys.values, problems) if "values" in values else []
    of_table = [] if keys.file is None else _rows_of_table(keys.file, problems)
    found, num_elsewhere = _found(study, keys, [*of_file, *of_table], problems)
    if keys.file is not None and num_elsewhere == len(of_table) and not problems.concern(_FILE):
        rule = (
            "has no value of a block, loss and K of this study: translate the names of the table"
            f" to those of the study under {EXPECT}.names"
        )
        problems.at(_FILE, rule)
    _check_values(found, problems)
    expected = Expected(
        source=keys.source,
        values=tuple(found),
        num_elsewhere=num_elsewhere,
        ranks=_ranks(keys.ranks, study.loss_names, problems),
    )
    return replace(study, expect=expected)


def _rows_of_study_file(given: object, problems: Problems) -> Iterator[tuple[Path, _Row]]:
    for path, item in read_items(given, (EXPECT, "values"), problems, most=_MAX_VALUES):
        config = [key for key in item if key.startswith(_HP)] if isinstance(item, dict) else []
        values = read_mapping(item, (*_COLUMNS, *config), path, problems)
        if not problems.concern(path):
            yield path, {key: "" if it is None else str(it) for key, it in values.items()}


def _found(
    study: Study, keys: _Keys, rows: Iterable[tuple[Path, _Row]], problems: Problems
) -> tuple[list[ExpectedValue], int]:
    """The values in rows, and how many rows of a table are not of the study.

    Each problem of a table is noted once, with the first row that has it.
    """
    found: list[ExpectedValue] = []
    noted: set[tuple[object, ...]] = set()
    num_elsewhere = 0
    for path, row in rows:
        is_table = path[:2] == _FILE
        try:
            found.append(_expected_value(study, keys, row))
        except _InvalidRow as error:
            column, rule, got, choices = error.args
            at = (*path, column) if column in row and not is_table else path
            if is_table and isinstance(error, _Elsewhere):
                num_elsewhere += 1
            elif not is_table or (rule, got) not in noted:
                problems.add(at, f"{label(path)}: {rule}", got=got, choices=choices)
            noted.add((rule, got))
    return found, num_elsewhere


def _rows_of_table(file: str, problems: Problems) -> list[tuple[Path, _Row]]:
    """Rows of a published table that have a value; none if something is wrong with the file."""
    path = read_path(file, _FILE, problems)
    if problems.concern(_FILE):
        return []
    try:
        header, *rows = csv.reader(io.StringIO(read_text(path, MAX_TABLE_BYTES), newline=""))
    except UnreadableError as error:
        problems.at(_FILE, f"cannot be read: {error}", got=path)
        return []
    except (csv.Error, ValueError) as error:
        problems.at(_FILE, f"is not a CSV file: {error}", got=path)
        return []
    columns = ["value" if name == "recall" else name for name in header]
    if columns.count("value") != 1:
        problems.at(_FILE, "must have one column of values: value or recall", got=header)
        return []
    table = [dict(zip(columns, map(str.strip, row), strict=False)) for row in rows]
    numbered = [((*_FILE, f"row {i}"), row) for i, row in enumerate(table, start=1)]
    return [(at, row) for at, row in numbered if row.get("value")]


def _expected_value(study: Study, keys: _Keys, row: _Row) -> ExpectedValue:
    """The expected value in a row; an empty cell has what is said of all rows.

    Spelling varies: ``ResNet50`` matches ``resnet50`` and ``MultiSimilarity`` matches
    ``multi_similarity``; where letters and digits differ too, ``names`` has to translate.

    Raises:
        _Elsewhere: a cell is about something that the study does not have.
        _InvalidRow: a cell is wrong, or missing where the study has several values.
    """
    own = metric_of(study.datasets)
    usual = {name: str(getattr(keys, name)) for name in (*_LABELS, "tolerance")}
    cells = {**usual, "metric": own, **{column: text for column, text in row.items() if text}}
    here = {_plain_name(name): translated for name, translated in keys.names.items()}
    for column in _NAMED:
        if column in cells:
            cells[column] = here.get(_plain_name(cells[column]), cells[column])
    loss = _match("loss", cells, study.loss_names)
    metrics = (own, *(METRICS_WITHOUT_K if own == RECALL.name else ()))
    metric = _match("metric", cells, metrics).removeprefix(own)
    config = _config(study, cells, loss, metric)
    protocols = tuple(protocol.label for protocol in study.protocols)
    trained = cells["train_on"] and _match("train_on", cells, study.final.train_on)
    return ExpectedValue(
        loss=loss,
        block=_block(study, cells),
        k=_k(study, cells, metric),
        value=_number(cells, "value", _PERCENT),
        tolerance=_number(cells, "tolerance"),
        metric=metric,
        config=config,
        finalist="config" if config else _match("finalist", cells, ("winner", "default")),
        protocol=cells["protocol"] and _match("protocol", cells, protocols),
        train_on="" if config else trained,
    )


def _block(study: Study, cells: _Row) -> str:
    candidates = blocks(study)
    for column in _FACTORS:
        values = dict.fromkeys(str(getattr(block, column)) for block in candidates)
        chosen = _match(column, cells, tuple(values))
        candidates = tuple(it for it in candidates if str(getattr(it, column)) == chosen)
    return candidates[0].label


def _config(study: Study, cells: _Row, loss: str, metric: str) -> str:
    """Hyperparameters of one config of the searches, as text; empty without any."""
    known = facts_of(loss).legal_parameters
    needed = ("record_all",) if metric else ("record", "record_all")
    config = {it.removeprefix(_HP): text for it, text in cells.items() if it.startswith(_HP)}
    for name in config:
        if name not in known:
            raise _InvalidRow(f"{_HP}{name}", f"{loss} has no such hyperparameter", name, known)
        if study.quarantine not in needed:
            rule = f"scores of single configs need quarantine: {needed[0]}"
            raise _InvalidRow(f"{_HP}{name}", rule, study.quarantine, None)
    return " ".join(f"{name}={text}" for name, text in config.items())


def _k(study: Study, cells: _Row, metric: str) -> int:
    given = cells.get("k")
    if metric:
        if given:
            raise _InvalidRow("k", f"{metric} has no K", given, None)
        return 0
    if given and not given.isdecimal():
        raise _InvalidRow("k", "k must be a whole number", given, None)
    ks = tuple(map(str, study.ks))
    return int(_match("k", {"k": given or ks[0]}, ks))


def _match(column: str, cells: _Row, own: Sequence[str]) -> str:
    """The one of the study's own values that a cell means; the only one if the cell is empty."""
    text = cells.get(column, "")
    if text in own or (not text and len(own) == 1):
        return text or own[0]
    if not text:
        raise _InvalidRow(column, f"{column} must be given: the study has several", text, own)
    alike = [name for name in own if _plain_name(name) == _plain_name(text)]
    if len(alike) == 1:
        return alike[0]
    is_loss = column == "loss" and _plain_name(text) in map(_plain_name, names("losses"))
    if is_loss or column in (*_FACTORS, "k", "train_on"):
        raise _Elsewhere(column, f"the study does not have this {column}", text, own)
    hint = ": give the name it has in the study under names" if column in _NAMED else ""
    raise _InvalidRow(column, f"there is no such {column}{hint}", text, own)


def _plain_name(name: str) -> str:
    """Lower-case letters and digits alone, so that spellings of one name compare equal."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _number(cells: _Row, column: str, high: float = math.inf) -> float:
    given = cells.get(column)
    try:
        number = float(given or "")
    except ValueError:
        number = math.nan
    if not 0 <= number <= high or number == math.inf:
        bound = f"from 0 to {high:g}" if high < math.inf else "of at least 0"
        raise _InvalidRow(column, f"{column} must be a number {bound}", given, None)
    return number


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
    if values and all(value.value <= 1 for value in values):
        rule = f"{EXPECT} takes scores in percent, such as 69.7; these are all at most 1"
        problems.add((EXPECT,), rule)
    cells = [replace(value, value=0.0, tolerance=0.0) for value in values]
    if len(set(cells)) < len(cells):
        value = next(cell for index, cell in enumerate(cells) if cell in cells[:index])
        what = value.metric or f"k = {value.k}"
        rule = f"{EXPECT} has two values of {value.loss} in {value.block} at {what}"
        problems.add((EXPECT,), rule)
