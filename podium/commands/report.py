"""``podium report``: a page for a study, several studies or a table of scores, and its tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from analysis.typed_tables.table_file import is_table
from orchestrator.results.storage.locations import Place
from podium.api.report import PageOptions, report_of_studies, report_of_study, report_of_table
from podium.arguments.report_targets import ReportTargets
from podium.arguments.rules_argument import (
    Alpha,
    AskedQuestion,
    GivenRules,
    Group,
    Test,
    named_groups,
)
from podium.arguments.shipped_files import or_shipped
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
from podium.terminal.printing import print_json, say
from podium.terminal.table_reading import say_reading


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

    The same results, and the same images of data sets at hand, give the same bytes.

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
    rules = GivenRules(question=question, test=test, alpha=alpha)
    page = PageOptions(
        protocol=protocol,
        score=score,
        groups=named_groups(group),
    )
    sources = [or_shipped(source) for source in sources]
    source = sources[0]
    if is_table(source) and len(sources) == 1:
        if protocol is not None:
            raise PodiumError(f"--protocol goes with a study; {source} is a table")
        report = report_of_table(source, options, rules, page, tell=say_reading)
    else:
        _refuse_tables(sources, options)
        rules.refuse("studies have declared their rules")
        folders = [results_folder(source, storage) for source in sources]
        if len(folders) == 1:
            report = report_of_study(folders[0], page)
        else:
            report = report_of_studies(folders, page, output)
    target = report.write(targets)
    if targets.prints_json:
        print_json(report.record())
    else:
        say(target)


def _refuse_tables(sources: Sequence[Place], options: TableOptions) -> None:
    """Refuse a table among studies, and options that go with a table."""
    for source in sources:
        if is_table(source):
            raise PodiumError(f"only studies are laid side by side; {source} is a table")
    options.refuse_with_study(sources[0], taken=("score",))
