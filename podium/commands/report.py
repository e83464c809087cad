"""``podium report``: a page for a study, several studies or a table of scores, and its tables."""

from collections.abc import Sequence
from typing import Annotated

import typer

from podium.analysis.typed_tables.table_file import is_table
from podium.api.report import report_of_studies, report_of_study, report_of_table, results_of
from podium.arguments.report_targets import ReportTargets
from podium.arguments.shipped_files import or_shipped
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.arguments.table_argument import GivenRules, Group, TableOptions, named_groups
from podium.errors import PodiumError
from podium.orchestrator.results.storage.locations import Place, RemotePath
from podium.terminal.printing import print_json, say
from podium.terminal.tournament_answer import say_reading


def command(
    *,
    sources: Annotated[
        list[GivenPlace],
        typer.Argument(
            metavar="STUDY_OR_FILE...",
            parser=given_place,
            help="A study file (YAML), a results folder, or a table (CSV, LaTeX, Markdown,"
            " Parquet). Several studies are laid side by side.",
        ),
    ],
    targets: ReportTargets,
    table: TableOptions,
    rules: GivenRules,
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
    targets.check()
    groups = named_groups(group)
    places = [or_shipped(source) for source in sources]
    first = places[0]
    if is_table(first) and len(places) == 1:
        if protocol is not None:
            raise PodiumError(f"--protocol goes with a study; {first} is a table")
        report = report_of_table(first, table, rules, groups, tell=say_reading)
    else:
        _refuse_tables(places, table)
        rules.refuse("studies have declared their rules")
        folders = [results_folder(place, storage) for place in places]
        if len(folders) > 1 and targets.output is None and isinstance(folders[0], RemotePath):
            raise PodiumError("studies in a remote store are laid side by side with --output FILE")
        found = [results_of(it, protocol, score=table.score, groups=groups) for it in folders]
        report = report_of_studies(found) if len(found) > 1 else report_of_study(found[0])
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
