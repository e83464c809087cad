"""``podium report``: one self-contained HTML page for a study or for a table of scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from orchestrator.results.errors import PodiumError
from podium.study_argument import StorageFolder, results_folder

if TYPE_CHECKING:
    from analysis.page import Link

__all__ = ["command", "write_study_report"]

_TABLES = (".csv", ".parquet")
_TABLE_OPTIONS = ("--by", "--competitor", "--score", "--where", "--average")


def command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY_OR_FILE",
            help="A study file (YAML), a results folder, or a table (CSV or Parquet).",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            help="The page to write; default: report.html in the results folder, or the table's"
            " name with .html.",
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="PAGE", help="Link to another page beside this one. Repeatable."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Columns of a table that together name a block.")
    ] = None,
    competitor: Annotated[
        str | None, typer.Option(help="Column of a table with the losses.")
    ] = None,
    score: Annotated[
        str | None, typer.Option(help="Column of a table with the scores; higher is better.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE", help="Keep such rows of a table only, as in k=1. Repeatable."
        ),
    ] = None,
    average: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Average over these columns, such as seed,fold."),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Compare the losses of a study under this protocol; its first that does not"
            " leak.",
        ),
    ] = None,
    storage: StorageFolder = None,
) -> None:
    """Write the report: one HTML file that needs no network.

    The same results give the same bytes.

    Example: podium report scores.csv --by dataset,backbone --score recall --where k=1
    """
    if source.suffix in _TABLES:
        if protocol is not None:
            raise PodiumError(f"--protocol goes with a study; {source} is a table")
        page = _write_table_page(
            source,
            output or source.with_suffix(".html"),
            by=_names(by or "dataset,backbone,embedding_dim", "--by"),
            competitor=competitor or "loss",
            score=score or "recall",
            where=where or (),
            average=_names(average, "--average") if average is not None else (),
            also=also or (),
        )
    else:
        given = (by, competitor, score, where, average)
        _refuse_table_options(source, given)
        page = write_study_report(
            results_folder(source, storage), output=output, also=also or (), protocol=protocol
        )
    typer.echo(page)


def write_study_report(
    folder: Path,
    *,
    output: Path | None = None,
    also: Sequence[str] = (),
    protocol: str | None = None,
) -> Path:
    """Write the page of a results folder and return where it is.

    Args:
        folder: a results folder, finished or not.
        output: the file to write; None means ``report.html`` in the folder.
        also: pages to link to, relative to this one.
        protocol: label of the one that losses are compared under; None means the study's first
            that does not leak.

    Raises:
        PodiumError: the results cannot be read, there is no such protocol, or the file cannot be
            written.
    """
    from analysis.report import study_page
    from orchestrator.results.paths import StudyPaths

    target = output or StudyPaths(folder).report
    return _put(target, study_page(folder, links=_links(also), protocol=protocol))


def _write_table_page(
    source: Path,
    target: Path,
    *,
    by: tuple[str, ...],
    competitor: str,
    score: str,
    where: Sequence[str],
    average: tuple[str, ...],
    also: Sequence[str],
) -> Path:
    from analysis.report import table_page
    from analysis.tables import read_table

    table = read_table(
        source, by=by, competitor=competitor, score=score, where=where, average=average
    )
    rows = f", rows with {' and '.join(where)}" if where else ""
    page = table_page(
        table,
        title=source.stem,
        source=f"{source.name}{rows}: {competitor} ranked by {score} within {' × '.join(by)}",
        links=_links(also),
    )
    return _put(target, page)


def _put(target: Path, page: str) -> Path:
    from orchestrator.results.files import put

    put(target, page.encode())
    return target


def _links(also: Sequence[str]) -> "list[Link]":
    from analysis.page import Link

    return [Link(href=quote(page), label=Path(page).stem) for page in also]


def _refuse_table_options(source: Path, given: Sequence[object]) -> None:
    for option, value in zip(_TABLE_OPTIONS, given, strict=True):
        if value is not None:
            raise PodiumError(
                f"{option} goes with a table ({' or '.join(_TABLES)}); {source} is taken for a"
                " study"
            )


def _names(text: str, option: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise PodiumError(f"{option} must be column names divided by commas; got {text!r}")
    return names
