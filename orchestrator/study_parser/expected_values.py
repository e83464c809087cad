"""Reads ``expect`` of a study file: published values to compare the study's results with.

Values stand in the study file or in a CSV file, one published table; each is matched to a block, a
loss and a K of the study.
"""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from orchestrator.results.records.expected_values import Expected, ExpectedValue
from orchestrator.results.records.metric_columns import METRICS_WITHOUT_K
from orchestrator.study.blocks import blocks
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Study, TrainOn
from orchestrator.study_parser.file_paths import read_path
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.text_files import MAX_TABLE_BYTES, UnreadableError, read_text
from orchestrator.study_parser.yaml_section import MAX_ITEMS, Section, label
from orchestrator.study_parser.yaml_tree import Node
from search_spaces.catalogue import loss_names
from trainables.errors import TrialInputError

EXPECT = "expect"

_KEYS = (
    *("source", "tolerance", "finalist", "protocol", "train_on"),
    *("values", "file", "columns", "names", "ranks", "rank_tolerance"),
)
# Sections that blocks and losses follow from; while any is wrong no value can be matched.
_DEPENDS_ON = (
    *("datasets", "backbones", "embedding_dims", "image_sizes", "losses", "protocol", "final"),
    *("metrics", "training"),
)

_EXPECTED_COLUMNS = (
    *("dataset", "backbone", "embedding_dim", "image_size", "loss", "protocol", "finalist"),
    *("train_on", "metric", "k", "value", "tolerance"),
)
_HYPERPARAMETER = "hp."  # what columns of hyperparameters begin with, as in tables of trials

_FACTORS = ("dataset", "backbone", "embedding_dim", "image_size")
_FINALISTS = ("winner", "default")
_PERCENT = 100.0
_MAX_VALUES = 10_000
_TOLERANCE_POINTS = 1.0
_MAX_FRACTION = 1.0


class _InvalidRow(Exception):
    """A cell of a row is wrong; ``column`` names it."""

    def __init__(
        self, column: str, rule: str, got: object, choices: Iterable[str] | None = None
    ) -> None:
        super().__init__(rule)
        self.column, self.rule, self.got = column, rule, got
        self.choices = None if choices is None else list(choices)


class _NotInStudy(_InvalidRow):
    """A cell is about something that the study does not cover; in a table it is no error."""


def with_expected(study: Study, root: Node, problems: Problems) -> Study:
    """The study with the published values of its file, as far as they can be read.

    Values of what the study does not cover are problems in the study file itself; in a published
    table they are only counted.
    """
    node = root.value.get(EXPECT) if isinstance(root.value, dict) else None
    if node is None or node.value is None:
        return study
    section = Section(node, (EXPECT,), problems, _KEYS)
    if problems.concern((EXPECT,), *((name,) for name in _DEPENDS_ON)):
        return study
    if "source" not in section:
        problems.add(section.path, f"{EXPECT}.source must name the publication of the values")
    if not any(key in section for key in ("values", "file", "ranks")):
        problems.add(section.path, f"{EXPECT} must have values, a file or ranks")
    rows = _ExpectedRows(
        study,
        names=_texts(section, "names"),
        tolerance=section.number("tolerance", _TOLERANCE_POINTS, low=0.0, high=_PERCENT),
        defaults={
            key: section.text(key, "")
            for key in ("finalist", "protocol", "train_on")
            if key in section
        },
    )
    found = list(_of_values(section, rows, problems))
    of_file, num_elsewhere = _of_file(section, rows, problems)
    values = (*found, *of_file)
    _check_unit(values, section, problems)
    _check_twice(values, section, problems)
    return replace(
        study,
        expect=Expected(
            source=section.text("source", ""),
            values=values,
            num_elsewhere=num_elsewhere,
            ranks=_ranks(section, study, problems),
            rank_tolerance=section.number(
                "rank_tolerance", Expected(source="").rank_tolerance, low=0.0, high=MAX_ITEMS
            ),
        ),
    )


class _ExpectedRows:
    """Matches rows of published values to blocks and losses of a study.

    Spelling of names varies: ``ResNet50`` matches ``resnet50`` and ``MultiSimilarity`` matches
    ``multi_similarity``; where letters and digits differ too, ``names`` has to translate.

    Args:
        study: study with valid data sets, backbones and losses.
        names: plain name in the table -> name in the study.
        tolerance: tolerance of rows without one, in percentage points.
        defaults: ``finalist``, ``protocol`` and ``train_on`` of rows without them.
    """

    def __init__(
        self,
        study: Study,
        *,
        names: Mapping[str, str],
        tolerance: float,
        defaults: Mapping[str, str],
    ) -> None:
        self._study, self._names, self._tolerance = study, names, tolerance
        self._defaults = {"finalist": "winner", "protocol": "", "train_on": "", **defaults}
        self._blocks = blocks(study)

    def value(self, cells: Mapping[str, str]) -> ExpectedValue:
        """The expected value in a row.

        Args:
            cells: column -> text; one that is absent or empty has the only value of the study.

        Raises:
            _NotInStudy: the row is about a block, a loss or a K that the study does not have.
            _InvalidRow: a cell is wrong, or missing where the study has several values.
        """
        number = _number(cells, "value", low=0.0, high=_PERCENT)
        tolerance = self._tolerance
        if cells.get("tolerance"):
            tolerance = _number(cells, "tolerance", low=0.0)
        labels = {name: cells.get(name) or given for name, given in self._defaults.items()}
        protocols = [protocol.label for protocol in self._study.protocols]
        _check_choice("finalist", labels["finalist"], _FINALISTS)
        loss, metric = self._loss(cells), self._metric(cells)
        config = self._config(cells, loss, metric)
        if config:
            labels = {**labels, "finalist": "config", "train_on": ""}
        if labels["protocol"]:
            _check_choice("protocol", labels["protocol"], protocols)
        if labels["train_on"]:
            _check_choice("train_on", labels["train_on"], get_args(TrainOn))
            self._check_of_study("train_on", labels["train_on"], self._study.final.train_on)
        return ExpectedValue(
            loss=loss,
            block=self._block(cells),
            k=self._k(cells, metric),
            value=number,
            tolerance=tolerance,
            metric=metric,
            config=config,
            **labels,
        )

    def _loss(self, cells: Mapping[str, str]) -> str:
        losses = self._study.loss_names
        given = self._translated(cells, "loss")
        if not given:
            return self._only("loss", losses)
        if (found := _match(given, losses)) is not None:
            return found
        known = {_plain_name(name) for name in loss_names()}
        if _plain_name(given) not in known and not _is_loss(given):
            rule = "there is no such loss: give the name it has in the study under names"
            raise _InvalidRow("loss", rule, given, losses)
        raise _NotInStudy("loss", "the study does not have this loss", given, losses)

    def _block(self, cells: Mapping[str, str]) -> str:
        candidates = self._blocks
        for column in _FACTORS:
            given = self._translated(cells, column)
            values = {str(getattr(block, column)): None for block in candidates}
            if not given:
                chosen = self._only(column, tuple(values))
            elif (found := _match(given, tuple(values))) is not None:
                chosen = found
            else:
                rule = f"the study does not have this {column}"
                raise _NotInStudy(column, rule, given, values)
            candidates = tuple(
                block for block in candidates if str(getattr(block, column)) == chosen
            )
        return candidates[0].label

    def _metric(self, cells: Mapping[str, str]) -> str:
        """The metric; empty for the study's own."""
        given = self._translated(cells, "metric")
        own = self._study.search.objectives[0]
        if not given or _plain_name(given) == _plain_name(own):
            return ""
        without_k = METRICS_WITHOUT_K if own == "recall" else ()
        if (found := _match(given, without_k)) is None:
            raise _InvalidRow("metric", "unknown metric", given, (own, *without_k))
        return found

    def _config(self, cells: Mapping[str, str], loss: str, metric: str) -> str:
        """Hyperparameters of one config of the searches, as text; empty without any."""
        given = {name: text for name, text in cells.items() if _is_hyperparameter(name) and text}
        known = facts_of(loss).legal_parameters
        for column in given:
            if column.removeprefix(_HYPERPARAMETER) not in known:
                rule = f"{loss} has no such hyperparameter"
                raise _InvalidRow(column, rule, column.removeprefix(_HYPERPARAMETER), known)
        needed = ("record_all",) if metric else ("record", "record_all")
        if given and self._study.quarantine not in needed:
            rule = f"scores of single configs need quarantine: {needed[0]}"
            raise _InvalidRow(next(iter(given)), rule, self._study.quarantine)
        return " ".join(
            f"{column.removeprefix(_HYPERPARAMETER)}={text}" for column, text in given.items()
        )

    def _k(self, cells: Mapping[str, str], metric: str) -> int:
        ks = self._study.ks
        given = cells.get("k")
        if metric:
            if given:
                raise _InvalidRow("k", f"{metric} has no K", given)
            return 0
        if not given:
            return ks[0]
        number = _number(cells, "k", low=1)
        if number != int(number):
            raise _InvalidRow("k", "k must be a whole number", given)
        self._check_of_study("k", str(int(number)), tuple(map(str, ks)))
        return int(number)

    def _translated(self, cells: Mapping[str, str], column: str) -> str:
        """The value of a cell under its name in the study; empty if there is none."""
        given = cells.get(column) or ""
        return self._names.get(_plain_name(given), given)

    def _only(self, column: str, choices: Sequence[str]) -> str:
        if len(choices) != 1:
            raise _InvalidRow(
                column, f"{column} must be given: the study has several", None, choices
            )
        return choices[0]

    @staticmethod
    def _check_of_study(column: str, given: str, own: Sequence[str]) -> None:
        if given not in own:
            raise _NotInStudy(column, f"the study does not have this {column}", given, own)


def _of_values(
    section: Section, rows: _ExpectedRows, problems: Problems
) -> Iterator[ExpectedValue]:
    for path, item in section.items("values", most=_MAX_VALUES):
        given = item.value if isinstance(item.value, dict) else {}
        columns = (*_EXPECTED_COLUMNS, *filter(_is_hyperparameter, given))
        row = Section(item, path, problems, columns)
        if problems.concern(path):
            continue
        cells = {
            key: "" if node.value is None else str(node.value)
            for key in columns
            if (node := row.node(key)) is not None
        }
        try:
            yield rows.value(cells)
        except (_InvalidRow, _NotInStudy) as error:
            key_path = (*path, error.column) if error.column in cells else path
            problems.add(
                key_path, f"{label(path)}: {error.rule}", got=error.got, choices=error.choices
            )


def _of_file(
    section: Section, rows: _ExpectedRows, problems: Problems
) -> tuple[list[ExpectedValue], int]:
    """The values of a published table that are of the study, and how many are not."""
    if section.is_null("file"):
        if "columns" in section:
            path: Path = (*section.path, "columns")
            problems.add(path, f"{label(path)} is used with {EXPECT}.file only")
        return [], 0
    key_path: Path = (*section.path, "file")
    table = _table(section, key_path, problems)
    if table is None:
        return [], 0
    columns = _columns(section, table, problems)
    found: list[ExpectedValue] = []
    wrong: dict[tuple[str, object], tuple[int, _InvalidRow]] = {}
    num_elsewhere = 0
    for number, typed in enumerate(table, start=1):
        cells = {name: (typed.get(column) or "").strip() for name, column in columns.items()}
        if not cells.get("value"):
            continue
        try:
            found.append(rows.value(cells))
        except _NotInStudy:
            num_elsewhere += 1
        except _InvalidRow as error:
            wrong.setdefault((error.rule, error.got), (number, error))
    _report_table(key_path, found, wrong.values(), problems)
    return found, num_elsewhere


def _report_table(
    key_path: Path,
    found: Sequence[ExpectedValue],
    wrong: Collection[tuple[int, _InvalidRow]],
    problems: Problems,
) -> None:
    """Note each problem of a table once, with the first row that has it."""
    for number, row in wrong:
        rule = f"{label(key_path)}, row {number}: {row.rule}"
        problems.add(key_path, rule, got=row.got, choices=row.choices)
    if not found and not wrong and not problems.concern(key_path):
        problems.add(
            key_path,
            f"{label(key_path)} has no value of a block, loss and K of this study: translate the"
            f" names of the table to those of the study under {EXPECT}.names",
        )


def _table(section: Section, key: Path, problems: Problems) -> list[dict[str, str]] | None:
    path = read_path(section, "file", problems)
    if path is None:
        return None
    try:
        return list(csv.DictReader(io.StringIO(read_text(path, MAX_TABLE_BYTES), newline="")))
    except UnreadableError as error:
        reason = str(error)
    except csv.Error as error:
        reason = f"it is not a CSV file: {error}"
    problems.add(key, f"{label(key)} cannot be read: {reason}", got=path)
    return None


def _columns(section: Section, table: list[dict[str, str]], problems: Problems) -> dict[str, str]:
    """Name of each known column -> its header in the table."""
    known = [name for name in table[0] if name is not None] if table else []
    given = section.section("columns", _EXPECTED_COLUMNS)
    hyperparameters = filter(_is_hyperparameter, known)
    columns = {name: name for name in (*_EXPECTED_COLUMNS, *hyperparameters) if name in known}
    for name in _EXPECTED_COLUMNS:
        if name in given:
            columns[name] = given.text(name, name)
            if columns[name] not in known:
                path = (*given.path, name)
                problems.add(
                    path,
                    f"{label(path)} must be a column of the table",
                    got=columns[name],
                    choices=known,
                )
    if "value" not in columns:
        problems.add(
            (*section.path, "file"),
            f"{EXPECT}.file must have a column of values: name it with {EXPECT}.columns.value",
            choices=known,
        )
    return columns


def _texts(section: Section, key: str) -> dict[str, str]:
    node = section.node(key)
    known = list(node.value) if node is not None and isinstance(node.value, dict) else []
    names = section.section(key, known)
    return {_plain_name(name): names.text(name, "") for name in known}


def _ranks(section: Section, study: Study, problems: Problems) -> Mapping[str, float]:
    given = section.section("ranks", study.loss_names)
    most = float(len(study.loss_names))
    ranks = {}
    for loss in study.loss_names:
        if loss in given:
            ranks[loss] = given.number(loss, 1.0, low=1.0)
            if ranks[loss] > most:
                path = (*given.path, loss)
                problems.add(
                    path,
                    f"{label(path)} must be an average rank of {len(study.loss_names)} losses",
                    got=ranks[loss],
                )
    return ranks


def _check_unit(values: tuple[ExpectedValue, ...], section: Section, problems: Problems) -> None:
    if values and all(value.value <= _MAX_FRACTION for value in values):
        rule = f"{EXPECT} takes scores in percent, such as 69.7; these are all at most 1"
        problems.add(section.path, rule)


def _check_twice(values: tuple[ExpectedValue, ...], section: Section, problems: Problems) -> None:
    seen = set()
    for value in values:
        cell = replace(value, value=0.0, tolerance=0.0)
        if cell in seen:
            what = value.metric or f"k = {value.k}"
            rule = f"{EXPECT} has two values of {value.loss} in {value.block} at {what}"
            problems.add(section.path, rule)
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
        raise _InvalidRow(column, f"{column} must be a number {bound}", given or None)
    return number


def _check_choice(column: str, given: str, choices: Sequence[str]) -> None:
    if given not in choices:
        raise _InvalidRow(column, f"{column} must be one of the choices", given, choices)
