"""Reads ``expect`` of a study file: published values to compare the study's results with.

The values are in a CSV file, one published table; each is matched to a block, a loss and a K of
the study.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import Field, StrictFloat

from podium.orchestrator.results.records.expected_values import (
    Expected,
    ExpectedValue,
    Statistic,
)
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
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.read_keys import note_unknown, read_keys
from podium.orchestrator.study_parser.yaml_tree import Given, Path
from podium.trainables.registry import names

_Name = TypeVar("_Name", bound=str)

EXPECT = "expect"
_FILE: Path = (EXPECT, "file")
_FACTORS = ("dataset", "backbone", "embedding_dim", "image_size")
_HP = "hp."  # what columns of hyperparameters begin with, as in tables of trials


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    source: Text
    file: Text
    names: Mapping[str, Text] = field(default_factory=dict)
    tolerance: Annotated[StrictFloat, Field(ge=0, le=100)] = 1.0  # points
    finalist: Literal["winner", "default"] = "winner"
    protocol: Text = ""
    train_on: Text = ""
    ranks: Mapping[str, Annotated[StrictFloat, Field(ge=1, le=1_000)]] = field(
        default_factory=dict
    )


class _NotOfStudyError(Exception):
    """A cell names nothing of the study: its column, what it holds, and what the study has."""


def with_expected(study: Study, given: Given, problems: Problems) -> Study:
    """The study with the published values of its file, as far as they can be read.

    Values of blocks, losses and K that the study does not have are only counted.
    """
    values = given.values.get(EXPECT)
    if values is None:
        return study
    keys = read_keys(_Keys, values, (EXPECT,), problems)
    if keys is None:
        return study
    for loss in keys.ranks:
        if loss not in study.loss_names:
            note_unknown((EXPECT, "ranks", loss), study.loss_names, problems)
    if problems.concern(EXPECT):
        return study
    rows = _rows_of_table(keys.file, problems)
    found = [
        value
        for number, row in rows.items()
        for value in _read_row(study, keys, row, (*_FILE, f"row {number}"), problems)
    ]
    if not problems.concern(EXPECT):
        _check_values(study, found, problems)
    expected = Expected(
        source=keys.source,
        values=tuple(found),
        num_elsewhere=len(rows) - len(found),
        ranks={loss: keys.ranks[loss] for loss in study.loss_names if loss in keys.ranks},
    )
    return replace(study, expect=expected)


def _rows_of_table(file: str, problems: Problems) -> dict[int, dict[str, str]]:
    """Number -> row of a published table, of those with a value; none if the file is wrong."""
    path = read_path(file, _FILE, problems)
    if problems.concern(_FILE):
        return {}
    try:
        text = read_text(path, MAX_TABLE_BYTES) or "\n"  # an empty file lacks every column
        header, *rows = csv.reader(io.StringIO(text, newline=""))
    except (UnreadableError, csv.Error, ValueError) as error:
        problems.at(_FILE, f"cannot be read: {error}", got=path)
        return {}
    columns = ["value" if name == "recall" else name for name in header]
    if columns.count("value") != 1:
        problems.at(_FILE, "must have one column of values: value or recall", got=header)
        return {}
    table = (dict(zip(columns, map(str.strip, cells), strict=False)) for cells in rows)
    return {number: row for number, row in enumerate(table, start=1) if row.get("value")}


def _read_row(
    study: Study, keys: _Keys, row: Mapping[str, str], path: Path, problems: Problems
) -> Iterator[ExpectedValue]:
    """The value of a row; nothing if it is wrong, or not about the study."""
    try:
        yield _expected_value(study, keys, row)
    except ValueError:
        got = [row["value"], *filter(None, [row.get("tolerance")])]
        problems.at((*path, "value"), "must be a score in percent", got=", ".join(got))
    except _NotOfStudyError as error:
        column, got, choices = error.args
        is_loss = column == "loss" and _plain_name(got) in map(_plain_name, names("losses"))
        if not (is_loss or (got and column in (*_FACTORS, "k"))):
            problems.at((*path, column), "must be one of the study", got=got, choices=choices)


def _expected_value(study: Study, keys: _Keys, row: Mapping[str, str]) -> ExpectedValue:
    """The expected value in a row.

    Spelling varies: ``ResNet50`` matches ``resnet50`` and ``MultiSimilarity`` matches
    ``multi_similarity``; where letters and digits differ too, ``names`` has to translate.

    Raises:
        _NotOfStudyError: a cell is wrong, or missing where the study has several values.
        ValueError: the value, or the tolerance of its own, is no number from 0 to 100.
    """
    value, tolerance = float(row["value"]), float(row.get("tolerance") or keys.tolerance)
    if not (0.0 <= value <= 100.0 and 0.0 <= tolerance <= 100.0):
        raise ValueError
    ours = {_plain_name(name): translated for name, translated in keys.names.items()}

    def matched(column: str, own: Sequence[object]) -> str:
        text = row.get(column, "")
        return _match(column, ours.get(_plain_name(text), text), [*map(str, own)])

    candidates = blocks(study)
    for column in _FACTORS:
        chosen = matched(column, [*dict.fromkeys(getattr(it, column) for it in candidates)])
        candidates = tuple(it for it in candidates if str(getattr(it, column)) == chosen)
    loss = matched("loss", study.loss_names)
    own = metric_of(study.datasets)
    metrics = (own, *(METRICS_WITHOUT_K if own == RECALL.name else ()))
    metric = matched("metric", metrics) if row.get("metric") else own
    labels = [it.label for it in study.protocols]
    protocol = row.get("protocol") or keys.protocol
    known = [f"{_HP}{name}" for name in facts_of(loss).legal_parameters]
    given = {_match(it, it, known): row[it] for it in row if it.startswith(_HP) and row[it]}
    config = " ".join(f"{name.removeprefix(_HP)}={text}" for name, text in given.items())
    trained = keys.train_on and _match("train_on", keys.train_on, study.final.train_on)
    primary = str(study.ks[0])
    label = protocol and _match("protocol", protocol, labels)
    statistic, fold = _statistic_and_fold(study, row, has_validation=metric == own)
    return ExpectedValue(
        loss=loss,
        block=candidates[0].label,
        k=0 if metric != own else int(_match("k", row.get("k") or primary, [*map(str, study.ks)])),
        value=value,
        tolerance=tolerance,
        metric="" if metric == own else metric,
        config=config,
        finalist="config" if config else keys.finalist,
        protocol=label,
        train_on="" if config else trained,
        statistic=statistic,
        fold=fold,
    )


def _statistic_and_fold(
    study: Study, row: Mapping[str, str], *, has_validation: bool
) -> tuple[Statistic, int]:
    finals = [study.final.protocol] if study.final.protocol else study.protocols
    num_folds = max(it.num_folds for it in finals)
    is_known = {"test": True, "validation": has_validation, "sd": num_folds > 1}
    known: list[Statistic] = [it for it in get_args(Statistic) if is_known[it]]
    statistic = _match("statistic", row.get("statistic") or "test", known)
    folds = [] if statistic == "sd" else [*map(str, range(1, num_folds + 1))]
    return statistic, int(_match("fold", row["fold"], folds)) if row.get("fold") else 0


def _match(column: str, text: str, own: Sequence[_Name]) -> _Name:
    """The one of the study's own values that a cell means; the only one if the cell is empty."""
    alike = [name for name in own if not text or _plain_name(name) == _plain_name(text)]
    found = [name for name in own if name == text] or alike
    if len(found) != 1:
        raise _NotOfStudyError(column, text, own)
    return found[0]


def _plain_name(name: str) -> str:
    """Lower-case letters and digits alone, so that spellings of one name compare equal."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _check_values(study: Study, values: Sequence[ExpectedValue], problems: Problems) -> None:
    """Note values that are none, no percentages, of configs not tested, or there twice."""
    if not values:
        rule = "has no value of a block, loss and K of this study: translate its names under names"
        problems.at(_FILE, rule)
    elif max((it.value for it in values if it.statistic != "sd"), default=100.0) <= 1:
        problems.at(_FILE, "takes scores in percent, such as 69.7; these are all at most 1")
    for value in values:
        needed = ("record_all",) if value.metric else ("record", "record_all")
        is_tested = value.config and value.statistic == "test"
        if is_tested and study.quarantine not in needed:
            rule = f"needs quarantine: {needed[0]} for the config {value.config}"
            problems.at(_FILE, rule, got=study.quarantine)
            break
    cells = [replace(value, value=0.0, tolerance=0.0) for value in values]
    if len(set(cells)) < len(cells):
        value = next(cell for index, cell in enumerate(cells) if cell in cells[:index])
        what = value.metric or f"k = {value.k}"
        problems.at(_FILE, f"has two values of {value.loss} in {value.block} at {what}")
