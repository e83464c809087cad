"""Reads ``expect`` of a study file: published values to compare the study's results with.

Values are in the study file or in a CSV file, one published table; each is matched to a block, a
loss and a K of the study.
"""

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, StrictFloat

from podium.orchestrator.results.records.expected_values import Expected, ExpectedValue
from podium.orchestrator.results.records.metric_columns import METRICS_WITHOUT_K, RECALL
from podium.orchestrator.results.records.study_keys import KEYS, Text
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
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.read_keys import note_unknown, read_items, read_keys
from podium.orchestrator.study_parser.yaml_tree import Given, Path
from podium.trainables.registry import names

EXPECT = "expect"
_FILE: Path = (EXPECT, "file")
_FACTORS = ("dataset", "backbone", "embedding_dim", "image_size")
_NAMED = (*_FACTORS, "loss", "metric")  # what ``names`` translates
_HP = "hp."  # what columns of hyperparameters begin with, as in tables of trials
_MAX_VALUES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    source: Text = ""
    tolerance: Annotated[StrictFloat, Field(ge=0, le=100)] = 1.0  # points
    finalist: Text = "winner"
    protocol: Text = ""
    train_on: Text = ""
    values: Any = None
    file: Text | None = None
    names: Mapping[str, Text] = field(default_factory=dict)
    ranks: Mapping[str, Annotated[StrictFloat, Field(ge=1)]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One value, of texts as in a table; what is not said is that of all rows, or of the study."""

    __pydantic_config__: ClassVar = ConfigDict(**KEYS, coerce_numbers_to_str=True)

    value: Annotated[float, Field(ge=0, le=100, validate_default=True)] = math.nan
    tolerance: Annotated[float, Field(ge=0)] | None = None
    k: Annotated[int, Field(ge=1)] | None = None
    dataset: str = ""
    backbone: str = ""
    embedding_dim: str = ""
    image_size: str = ""
    loss: str = ""
    metric: str = ""
    finalist: str = ""
    protocol: str = ""
    train_on: str = ""


class _InvalidRow(Exception):
    """A cell of a row is wrong: its column, the rule, what it holds, and choices or None."""


def with_expected(study: Study, given: Given, problems: Problems) -> Study:
    """The study with the published values of its file, as far as they can be read.

    Values of what the study does not cover are problems in the study file itself; in a published
    table they are only counted.
    """
    values = given.values.get(EXPECT)
    if values is None:
        return study
    keys = read_keys(_Keys, values, (EXPECT,), problems)
    if problems.concern(EXPECT):
        return study
    if not keys.source:
        problems.at((EXPECT, "source"), "must name the publication of the values")
    if not values.keys() & {"values", "file", "ranks"}:
        problems.at(EXPECT, "must have values, a file or ranks")
    of_file: list[tuple[Path, Any]] = []
    if "values" in values:
        of_file = read_items(keys.values, (EXPECT, "values"), problems, most=_MAX_VALUES)
    of_table = [] if keys.file is None else _rows_of_table(keys.file, problems)
    found: list[ExpectedValue] = []
    for path, row in [*of_file, *of_table]:
        found += _read_row(study, keys, row, path, problems)
    num_elsewhere = len(of_file) + len(of_table) - len(found)
    if keys.file is not None and not found and not problems.concern(EXPECT):
        rule = "has no value of a block, loss and K of this study: translate its names under names"
        problems.at(_FILE, rule)
    _check_values(found, problems)
    expected = Expected(
        source=keys.source,
        values=tuple(found),
        num_elsewhere=num_elsewhere,
        ranks=_ranks(keys.ranks, study.loss_names, problems),
    )
    return replace(study, expect=expected)


def _rows_of_table(file: str, problems: Problems) -> list[tuple[Path, Any]]:
    """Rows of a published table that have a value; none if something is wrong with the file."""
    path = read_path(file, _FILE, problems)
    if problems.concern(_FILE):
        return []
    try:
        header, *rows = csv.reader(io.StringIO(read_text(path, MAX_TABLE_BYTES), newline=""))
    except (UnreadableError, csv.Error, ValueError) as error:
        problems.at(_FILE, f"cannot be read: {error}", got=path)
        return []
    columns = ["value" if name == "recall" else name for name in header]
    if columns.count("value") != 1:
        problems.at(_FILE, "must have one column of values: value or recall", got=header)
        return []
    table: list[tuple[Path, Any]] = []
    for number, cells in enumerate(rows, start=1):
        row = {name: cell.strip() for name, cell in zip(columns, cells, strict=False)}
        known = {
            name: cell
            for name, cell in row.items()
            if cell and (name in _Row.__dataclass_fields__ or name.startswith(_HP))
        }
        if "value" in known:
            table.append(((*_FILE, f"row {number}"), known))
    return table


def _read_row(
    study: Study, keys: _Keys, given: Any, path: Path, problems: Problems
) -> list[ExpectedValue]:
    """The value of a row; none if it is wrong, or of a table and not about the study."""
    config: dict[str, str] = {}
    if isinstance(given, dict):
        config = {name: str(it) for name, it in given.items() if name.startswith(_HP)}
        given = {name: it for name, it in given.items() if name not in config}
    row = read_keys(_Row, given, path, problems)
    if problems.concern(path):
        return []
    try:
        return [_expected_value(study, keys, row, config)]
    except _InvalidRow as error:
        column, rule, got, choices = error.args
        is_loss = column == "loss" and _plain_name(got) in map(_plain_name, names("losses"))
        is_elsewhere = is_loss or (got and column in (*_FACTORS, "k", "train_on"))
        if path[:2] != _FILE or not is_elsewhere:
            problems.at((*path, column), rule, got=got, choices=choices)
        return []


def _expected_value(
    study: Study, keys: _Keys, row: _Row, given_config: Mapping[str, str]
) -> ExpectedValue:
    """The expected value in a row.

    Spelling varies: ``ResNet50`` matches ``resnet50`` and ``MultiSimilarity`` matches
    ``multi_similarity``; where letters and digits differ too, ``names`` has to translate.

    Raises:
        _InvalidRow: a cell is wrong, or missing where the study has several values.
    """
    here = {_plain_name(name): translated for name, translated in keys.names.items()}
    cells = {name: getattr(row, name) for name in _NAMED}
    cells = {name: here.get(_plain_name(text), text) for name, text in cells.items()}
    own = metric_of(study.datasets)
    loss = _match("loss", cells["loss"], study.loss_names)
    metrics = (own, *(METRICS_WITHOUT_K if own == RECALL.name else ()))
    metric = _match("metric", cells["metric"] or own, metrics).removeprefix(own)
    if metric and row.k is not None:
        raise _InvalidRow("k", f"is not for {metric}", str(row.k), None)
    ks = tuple(map(str, study.ks))
    finalist, protocol = row.finalist or keys.finalist, row.protocol or keys.protocol
    labels = [it.label for it in study.protocols]
    train_on = row.train_on or keys.train_on
    trained = train_on and _match("train_on", train_on, study.final.train_on)
    config = _config(study, given_config, loss, metric)
    return ExpectedValue(
        loss=loss,
        block=_block(study, cells),
        k=0 if metric else int(_match("k", str(row.k or ks[0]), ks)),
        value=row.value,
        tolerance=keys.tolerance if row.tolerance is None else row.tolerance,
        metric=metric,
        config=config,
        finalist="config" if config else _match("finalist", finalist, ("winner", "default")),
        protocol=protocol and _match("protocol", protocol, labels),
        train_on="" if config else trained,
    )


def _block(study: Study, cells: Mapping[str, str]) -> str:
    candidates = blocks(study)
    for column in _FACTORS:
        values = dict.fromkeys(str(getattr(block, column)) for block in candidates)
        chosen = _match(column, cells[column], tuple(values))
        candidates = tuple(it for it in candidates if str(getattr(it, column)) == chosen)
    return candidates[0].label


def _config(study: Study, given: Mapping[str, str], loss: str, metric: str) -> str:
    """Hyperparameters of one config of the searches, as text; empty without any."""
    known = [f"{_HP}{name}" for name in facts_of(loss).legal_parameters]
    needed = ("record_all",) if metric else ("record", "record_all")
    for name in given:
        if name not in known:
            raise _InvalidRow(name, f"is no hyperparameter of {loss}", name, known)
        if study.quarantine not in needed:
            raise _InvalidRow(name, f"needs quarantine: {needed[0]}", study.quarantine, None)
    return " ".join(f"{name.removeprefix(_HP)}={text}" for name, text in given.items())


def _match(column: str, text: str, own: Sequence[str]) -> str:
    """The one of the study's own values that a cell means; the only one if the cell is empty."""
    alike = [name for name in own if not text or _plain_name(name) == _plain_name(text)]
    if text in own or len(alike) == 1:
        return text if text in own else alike[0]
    raise _InvalidRow(column, "must be one of the study", text, own)


def _plain_name(name: str) -> str:
    """Lower-case letters and digits alone, so that spellings of one name compare equal."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _ranks(
    ranks: Mapping[str, float], losses: Sequence[str], problems: Problems
) -> Mapping[str, float]:
    """The ranks in the order of the losses."""
    for loss, rank in ranks.items():
        path = (EXPECT, "ranks", loss)
        if loss not in losses:
            note_unknown(path, losses, problems)
        elif rank > len(losses):
            problems.at(path, f"must be an average rank of {len(losses)} losses", got=rank)
    return {loss: ranks[loss] for loss in losses if loss in ranks}


def _check_values(values: Sequence[ExpectedValue], problems: Problems) -> None:
    """Note values that are no percentages, and the first that is there twice."""
    if values and all(value.value <= 1 for value in values):
        problems.at(EXPECT, "takes scores in percent, such as 69.7; these are all at most 1")
    cells = [replace(value, value=0.0, tolerance=0.0) for value in values]
    if len(set(cells)) < len(cells):
        value = next(cell for index, cell in enumerate(cells) if cell in cells[:index])
        what = value.metric or f"k = {value.k}"
        problems.at(EXPECT, f"has two values of {value.loss} in {value.block} at {what}")
