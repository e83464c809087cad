"""``podium report``: a page for a study, several studies or a table of scores, and its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from analysis.typed_tables.table_file import is_table
from orchestrator.results.storage.locations import Place, RemotePath
from podium.arguments.report_targets import check_targets
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import json_visible, say

if TYPE_CHECKING:
    from analysis.page.html_page import Link, Page
    from analysis.tournament.rank_stability import RankStability
    from analysis.tournament.tournament import Tournament

__all__ = ["command", "write_study_report"]

_TABLES = (".csv", ".parquet")
_TABLE_OPTIONS = ("--by", "--competitor", "--score", "--where", "--average")


def command(
    sources: Annotated[
        list[GivenPlace],
        typer.Argument(
            metavar="STUDY_OR_FILE...",
            parser=given_place,
            help="A study file (YAML), a results folder, or a table (CSV or Parquet). Several"
            " studies are laid side by side.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            help="The page to write; default: report.html in the results folder, or the table's"
            " name with .html, or compared.html beside the first of several studies.",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write every table as CSV, with all digits."),
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write every table as LaTeX (booktabs)."),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the answer, all tables and the tournament as JSON; - means to the"
            " standard output, in place of the page's name.",
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
            help="Compare the losses of a study under this protocol; default: its first that does"
            " not leak.",
        ),
    ] = None,
    storage: StorageFolder = None,
) -> None:
    """Write the report: one HTML file that needs no network.

    The same results give the same bytes.

    Example: podium report scores.csv --by dataset,backbone --score recall --where k=1
    """
    check_targets(output, csv, latex, json)
    source = sources[0]
    if is_table(source) and len(sources) == 1:
        if protocol is not None:
            raise PodiumError(f"--protocol goes with a study; {source} is a table")
        report = _table_report(
            source,
            by=_names(by or "dataset,backbone,embedding_dim", "--by"),
            competitor=competitor or "loss",
            score=score or "recall",
            where=where or (),
            average=_names(average, "--average") if average is not None else (),
            also=also or (),
        )
    else:
        _refuse_table_options(sources, (by, competitor, score, where, average))
        folders = [results_folder(source, storage) for source in sources]
        if len(folders) == 1:
            report = _study_report(folders[0], also=also or (), protocol=protocol)
        else:
            report = _studies_report(folders, output, also=also or (), protocol=protocol)
    target = output or report.target
    _put(target, report.html)
    _put_files(csv, report.csv_files if csv else {})
    _put_files(latex, report.latex_files if latex else {})
    if json is not None and str(json) != "-":
        _put(json, report.json)
    if str(json) == "-":
        typer.echo(json_visible(report.json), nl=False)
    else:
        say(target)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """A page and its default target; each kind of file is made when its property is read."""

    page: "Page"
    target: Place
    tournament: "Tournament | None"
    stability: "RankStability | None"

    @property
    def html(self) -> str:
        from analysis.page.html_page import render_page

        return render_page(self.page)

    @property
    def csv_files(self) -> dict[str, str]:
        from analysis.page.table_files import csv_files

        return csv_files(self.page)

    @property
    def latex_files(self) -> dict[str, str]:
        from analysis.page.table_files import latex_files

        return latex_files(self.page)

    @property
    def json(self) -> str:
        from analysis.page.table_files import page_record
        from podium.terminal.printing import json_text

        return f"{json_text(page_record(self.page, self.tournament, self.stability))}\n"


def write_study_report(
    folder: Place,
    *,
    output: Path | None = None,
    also: Sequence[str] = (),
    protocol: str | None = None,
) -> Place:
    """Write the page of a results folder and return where it is.

    Args:
        folder: a results folder, finished or not.
        output: file to write; None means ``report.html`` in the folder.
        also: pages to link to, by their paths relative to this one.
        protocol: label of the protocol that losses are compared under; None means the study's
            first that does not leak.

    Raises:
        PodiumError: the results cannot be read, there is no such protocol, or the file cannot be
            written.
    """
    report = _study_report(folder, also=also, protocol=protocol)
    return _put(output or report.target, report.html)


def _study_report(folder: Place, *, also: Sequence[str], protocol: str | None) -> _Report:
    from analysis.report.report import study_report
    from analysis.study_results.study_results import read_results
    from orchestrator.results.records.store_paths import StudyPaths

    results = read_results(folder, protocol)
    return _Report(
        page=study_report(results, links=_links(also)),
        target=StudyPaths(folder).report,
        tournament=results.tournament,
        stability=results.stability,
    )


def _studies_report(
    folders: Sequence[Place], output: Path | None, *, also: Sequence[str], protocol: str | None
) -> _Report:
    from analysis.report.several_studies import studies_report
    from analysis.study_results.study_results import read_results

    target = output or folders[0].parent / "compared.html"
    if isinstance(target, RemotePath):
        raise PodiumError("studies in a remote store are laid side by side with --output FILE")
    studies = [read_results(folder, protocol) for folder in folders]
    return _Report(
        page=studies_report(studies, folder=target.parent, links=_links(also)),
        target=target,
        tournament=None,
        stability=None,
    )


def _table_report(
    source: Path,
    *,
    by: tuple[str, ...],
    competitor: str,
    score: str,
    where: Sequence[str],
    average: tuple[str, ...],
    also: Sequence[str],
) -> _Report:
    from analysis.report.report import table_report
    from analysis.tournament.table_tournament import rank_table
    from analysis.typed_tables.score_table import read_table

    table = read_table(
        source, by=by, competitor=competitor, score=score, where=where, average=average
    )
    rows = f", rows with {' and '.join(where)}" if where else ""
    results = rank_table(table)
    return _Report(
        page=table_report(
            results,
            title=source.stem,
            source=f"{source.name}{rows}: {competitor} ranked by {score} within {' × '.join(by)}",
            links=_links(also),
        ),
        target=source.with_suffix(".html"),
        tournament=results.tournament,
        stability=results.stability,
    )


def _put_files(folder: Path | None, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        assert folder is not None
        _put(folder / name, text)


def _put(target: Place, page: str) -> Place:
    from orchestrator.results.storage.files import put

    put(target, page.encode())
    return target


def _links(also: Sequence[str]) -> "list[Link]":
    from analysis.page.html_page import Link

    return [Link(href=quote(page), label=Path(page).stem) for page in also]


def _refuse_table_options(sources: Sequence[Place], given: Sequence[object]) -> None:
    tables = [source for source in sources if is_table(source)]
    if tables:
        raise PodiumError(f"only studies are laid side by side; {tables[0]} is a table")
    for option, value in zip(_TABLE_OPTIONS, given, strict=True):
        if value is not None:
            raise PodiumError(
                f"{option} goes with a table ({' or '.join(_TABLES)}); {sources[0]} is taken for a"
                " study"
            )


def _names(text: str, option: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise PodiumError(f"{option} must be column names divided by commas; got {text!r}")
    return names
