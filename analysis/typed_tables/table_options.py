"""How a typed table is to be read: options of commands, and arguments of `podium.rank`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from podium.errors import PodiumError

# Typer takes no union of types: the command line gives names as one text.
if TYPE_CHECKING:
    Names: TypeAlias = Sequence[str]  # as a text is, too
else:
    Names = str

Conditions: TypeAlias = str | Sequence[str] | Mapping[str, object]
"""``COLUMN=VALUE``, several of them, or a value for each column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How a typed table is to be read; None is found by the names of its columns.

    Names are one text that commas divide, or a sequence; what it holds is a tuple.

    Raises:
        PodiumError: a name of a column is empty.
    """

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
        Names,
        typer.Option(metavar="COLUMNS", help="Average over these columns, such as seed,fold."),
    ] = ""
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Leave this competitor of a table out. Repeatable."),
    ] = None
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Small scores of a table are good.")
    ] = False

    def __post_init__(self) -> None:
        """Take names apart."""
        by = None if self.by is None else names_given(self.by, "by")
        average = names_given(self.average, "average") if self.average else ()
        object.__setattr__(self, "by", by)
        object.__setattr__(self, "average", average)

    def refuse_with_study(self, source: object, *, taken: Sequence[str]) -> None:
        """Raise PodiumError if an option was given that the study at ``source`` does not take."""
        for name in (item.name for item in fields(self)):
            if name not in taken and getattr(self, name) not in (None, (), [], False):
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
