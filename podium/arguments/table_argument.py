"""Options of commands that rank a typed table: how it is read, and by which rules it is ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args

import typer

from podium.errors import PodiumError
from podium.orchestrator.results.records.tournament_rules import (
    ClassicTest,
    Question,
    TournamentRules,
)
from podium.orchestrator.results.storage.locations import Place

if TYPE_CHECKING:
    from podium.analysis.typed_tables.score_table import ScoreTable
    from podium.analysis.typed_tables.table_file import TableFile
    from podium.analysis.typed_tables.table_layout import GivenColumns

# Typer takes no union of types: the command line gives names as one text.
if TYPE_CHECKING:
    Names: TypeAlias = str | Sequence[str]
else:
    Names = str

Conditions: TypeAlias = str | Sequence[str] | Mapping[str, object]
"""``COLUMN=VALUE``, several of them, or a value for each column."""

Group = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=LOSS,LOSS",
        help="Compare groups of losses, such as --group pairs=contrastive,margin --group"
        " proxies=proxy_anchor; default: those of the study, or by kind of loss. Repeatable.",
    ),
]

_HALF = 0.5
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "question": get_args(Question),
    "test": get_args(ClassicTest),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How a typed table is to be read, as given; None is what was not given."""

    by: Annotated[
        Names | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns of a table that together name a block; default: those of"
            " dataset,backbone,embedding_dim,image_size that there are, or what the names of a"
            " wide table's columns say.",
        ),
    ] = None
    competitor: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of a table with the losses; default: loss, or the method.",
        ),
    ] = None
    score: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN_OR_METRIC",
            help="Column of a table with the scores, or a metric of several, such as NMI; default:"
            " recall. Of a study a stored test score: recall@4, nmi, f1, r_precision, map_at_r.",
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Keep such rows only, as in k=1. Repeatable."),
    ] = None
    average: Annotated[
        Names | None,
        typer.Option(metavar="COLUMNS", help="Average over these columns, such as seed,fold."),
    ] = None
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Leave this competitor of a table out. Repeatable."),
    ] = None
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Small scores of a table are good.")
    ] = False

    def read(self, table: "Path | TableFile") -> "ScoreTable":
        """The scores of a table.

        Raises:
            PodiumError: the table lacks a column or cannot be ranked, or an option is no list of
                names.
            CorruptFileError: a file is not what its name says.
        """
        from podium.analysis.typed_tables.score_table import read_table

        columns = self.columns()
        return read_table(
            table,
            by=columns.by,
            competitor=self.competitor,
            score=self.score,
            where=self.where or (),
            average=columns.average,
            without=self.without or (),
            lower_is_better=self.lower_is_better,
        )

    def columns(self) -> "GivenColumns":
        """What is said of the columns."""
        from podium.analysis.typed_tables.table_layout import GivenColumns

        return GivenColumns(
            by=None if self.by is None else names_given(self.by, "by"),
            competitor=self.competitor,
            score=self.score,
            average=names_given(self.average, "average") if self.average else (),
        )

    def refuse_with_study(self, source: Place, *, taken: Sequence[str]) -> None:
        """Raise PodiumError if an option was given that the study at ``source`` does not take."""
        for name in (item.name for item in fields(self)):
            if name not in taken and getattr(self, name) not in (None, [], False):
                option = f"--{name.replace('_', '-')}"
                raise PodiumError(
                    f"{option} goes with a table (.csv or .parquet); {source} is taken for a study"
                )


def conditions(given: Conditions) -> tuple[str, ...]:
    """Conditions as the command line has them: ``COLUMN=VALUE``."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(f"{name}={value}" for name, value in given.items())
    return tuple(given)


def names_given(given: Names, option: str) -> tuple[str, ...]:
    """Names one by one; of a text that commas divide, without the blanks around them.

    Raises:
        PodiumError: a name is empty; the message names ``option``.
    """
    names = tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else given
    if not all(names):
        raise PodiumError(f"{option} must be column names divided by commas; got {given!r}")
    return tuple(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRules:
    """The rules as given; None is what was not given."""

    question: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What is asked of a table: would the order hold on other_blocks (default), or on"
            " these_blocks, were the runs named by --average repeated?",
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LOSS", help="Compare this loss of a table with each other one, not all pairs."
        ),
    ] = None
    test: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Classic test that is reported too: wilcoxon_holm, friedman, nemenyi.",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(help="Level of all tests of a table; 0.05.", min=0.0001, max=0.4999),
    ] = None

    def of_table(self) -> TournamentRules:
        """The rules by which a table is ranked.

        Raises:
            PodiumError: an unknown question or test, or a level that cannot be.
        """
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in known:
                raise PodiumError(f"{name} must be one of {', '.join(known)}; got {value!r}")
        if self.alpha is not None and not 0 < self.alpha < _HALF:
            raise PodiumError(f"alpha must be above 0 and below {_HALF}; got {self.alpha}")
        return TournamentRules(**self._given)

    def refuse(self, why: str) -> None:
        """Raise PodiumError, saying why, if any rule was given."""
        for name in self._given:
            raise PodiumError(f"{why}, so {name} would be ignored")

    @property
    def _given(self) -> dict[str, Any]:
        """Those given, by their names in `TournamentRules`."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def named_groups(given: Sequence[str] | None) -> dict[str, tuple[str, ...]] | None:
    """Name -> losses; None if the option was not given.

    Raises:
        PodiumError: a group has no name or losses, or two have one name.
    """
    if not given:
        return None
    groups: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, _, losses = (part.strip() for part in text.partition("="))
        if not name or not losses:
            raise PodiumError(f"--group must be NAME=LOSS,LOSS; got {text!r}")
        if name in groups:
            raise PodiumError(f"--group {name} is given twice")
        groups[name] = names_given(losses, "the losses of --group")
    return groups
