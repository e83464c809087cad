"""``podium report``: a page for a study, several studies or a table of scores, and its tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from analysis.typed_tables.table_file import is_table
from orchestrator.results.storage.locations import Place, RemotePath
from podium.arguments.report_targets import ReportTargets
from podium.arguments.rules_argument import (
    Alpha,
    AskedQuestion,
    GivenRules,
    Group,
    Rope,
    Test,
    named_groups,
)
from podium.arguments.shipped_files import is_shipped, or_shipped
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.arguments.table_argument import (
    Average,
    By,
    Competitor,
    LowerIsBetter,
    Score,
    TableOptions,
    Where,
    Without,
)
from podium.errors import PodiumError
from podium.terminal.printing import json_text, print_json, say
from podium.terminal.table_reading import say_reading

if TYPE_CHECKING:
    from analysis.page.html_page import Link, Page
    from analysis.study_results.study_results import StudyResults
    from analysis.tournament.rank_stability import RankStability
    from analysis.tournament.tournament import Tournament
    from analysis.typed_tables.table_reading import TableReading


def command(
    sources: Annotated[
        list[GivenPlace],
        typer.Argument(
            metavar="STUDY_OR_FILE...",
            parser=given_place,
            help="A study file (YAML), a results folder, or a table (CSV, LaTeX, Markdown,"
            " Parquet). Several studies are laid side by side.",
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
    by: By = None,
    competitor: Competitor = None,
    score: Score = None,
    where: Where = None,
    average: Average = None,
    without: Without = None,
    lower_is_better: LowerIsBetter = False,
    question: AskedQuestion = None,
    test: Test = None,
    alpha: Alpha = None,
    rope: Rope = None,
    group: Group = None,
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
    targets = ReportTargets(page=output, csv=csv, latex=latex, json=json)
    targets.check()
    options = TableOptions(
        by=by,
        competitor=competitor,
        score=score,
        where=where or (),
        average=average or (),
        without=without or (),
        lower_is_better=lower_is_better,
    )
    rules = GivenRules(question=question, test=test, alpha=alpha, rope=rope)
    sources = [or_shipped(source) for source in sources]
    source, links, groups = sources[0], also or (), named_groups(group)
    if is_table(source) and len(sources) == 1:
        if protocol is not None:
            raise PodiumError(f"--protocol goes with a study; {source} is a table")
        report = _table_report(source, options, rules, links, groups)
    else:
        _refuse_tables(sources, options)
        rules.refuse("studies have declared their rules")
        read = partial(_read, protocol=protocol, score=score, groups=groups)
        folders = [results_folder(source, storage) for source in sources]
        if len(folders) == 1:
            report = _study_report(read(folders[0]), links)
        else:
            report = _studies_report(folders, read, output, links)
    _write(report, targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """A page, its default target, the tournament of one study or table, how a table was read."""

    page: "Page"
    target: Place
    tournament: "Tournament | None" = None
    stability: "RankStability | None" = None
    reading: "TableReading | None" = None


def write_study_report(results: "StudyResults") -> Place:
    """Write the page of a study, finished or not, into its results folder; return where it is.

    Raises:
        PodiumError: a file of the results is corrupt, or the page cannot be written.
    """
    report = _study_report(results, ())
    _put_page(report, report.target)
    return report.target


def _write(report: _Report, targets: ReportTargets) -> None:
    """Write the page and what else is asked for, and print where the page is, or the record."""
    from analysis.page.table_files import csv_files, latex_files, page_record
    from orchestrator.results.storage.files import put

    target = targets.page or report.target
    _put_page(report, target)
    for folder, files in ((targets.csv, csv_files), (targets.latex, latex_files)):
        if folder is not None:
            for name, text in files(report.page).items():
                put(folder / name, text.encode())
    if targets.json is not None:
        record = page_record(report.page, report.tournament, report.stability)
        if report.reading is not None:
            record["read_as"] = report.reading.record()
        if targets.prints_json:
            print_json(record)
            return
        put(targets.json, f"{json_text(record)}\n".encode())
    say(target)


def _put_page(report: _Report, target: Place) -> None:
    from analysis.page.html_page import render_page
    from orchestrator.results.storage.files import put

    put(target, render_page(report.page).encode())


def _read(
    folder: Place,
    *,
    protocol: str | None = None,
    score: str | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> "StudyResults":
    from analysis.study_results.study_results import read_results

    return read_results(folder, protocol, score=score, groups=groups)


def _study_report(results: "StudyResults", also: Sequence[str]) -> _Report:
    from analysis.report.report import study_report
    from orchestrator.results.records.store_paths import StudyPaths

    return _Report(
        page=study_report(results, links=_links(also)),
        target=StudyPaths(results.folder).report,
        tournament=results.tournament,
        stability=results.stability,
    )


def _studies_report(
    folders: Sequence[Place],
    read: "Callable[[Place], StudyResults]",
    output: Path | None,
    also: Sequence[str],
) -> _Report:
    from analysis.report.several_studies import studies_report

    target = output or folders[0].parent / "compared.html"
    if isinstance(target, RemotePath):
        raise PodiumError("studies in a remote store are laid side by side with --output FILE")
    studies = [read(folder) for folder in folders]
    return _Report(
        page=studies_report(studies, folder=target.parent, links=_links(also)),
        target=target,
    )


def _table_report(
    source: Path,
    options: TableOptions,
    rules: GivenRules,
    also: Sequence[str],
    groups: Mapping[str, Sequence[str]] | None,
) -> _Report:
    from analysis.report.report import table_report
    from analysis.tournament.table_tournament import rank_table

    table = options.read(source)
    say_reading(table)
    rows = f", rows with {' and '.join(options.where)}" if options.where else ""
    ranked = f"{table.competitor} ranked by {table.score}"
    results = rank_table(table, rules.of_table(), groups)
    return _Report(
        page=table_report(
            results,
            title=source.stem,
            source=f"{source.name}{rows}: {ranked} within {' × '.join(table.by)}",
            links=_links(also),
        ),
        target=Path(f"{source.stem}.html") if is_shipped(source) else source.with_suffix(".html"),
        tournament=results.tournament,
        stability=results.stability,
        reading=table.reading,
    )


def _links(also: Sequence[str]) -> "list[Link]":
    from analysis.page.html_page import Link

    return [Link(href=quote(page), label=Path(page).stem) for page in also]


def _refuse_tables(sources: Sequence[Place], options: TableOptions) -> None:
    """Refuse a table among studies, and options that go with a table."""
    for source in sources:
        if is_table(source):
            raise PodiumError(f"only studies are laid side by side; {source} is a table")
    options.refuse_with_study(sources[0], taken=("score",))
