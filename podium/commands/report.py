"""``podium report``: a page for a study or a table of scores, and its tables."""

from typing import Annotated

import typer

from podium.analysis.typed_tables.table_file import is_table
from podium.analysis.typed_tables.table_options import TableOptions
from podium.api.report import report_of_study, report_of_table, results_of
from podium.api.tournament import told_table
from podium.arguments.report_targets import ReportTargets
from podium.arguments.rules_argument import GivenRules, Group, named_groups
from podium.arguments.shipped_files import or_shipped
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import print_json, say


def command(
    *,
    source: Annotated[
        GivenPlace,
        typer.Argument(
            metavar="STUDY_OR_FILE",
            parser=given_place,
            help="A study file (YAML), a results folder, or a table (CSV, TSV, Parquet).",
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
    place = or_shipped(source)
    if is_table(place):
        if protocol is not None:
            raise PodiumError(f"--protocol goes with a study; {place} is a table")
        report = report_of_table(told_table(place, table), place, table.where, rules, groups)
    else:
        table.refuse_with_study(place, taken=("score",))
        rules.refuse_with_study()
        folder = results_folder(place, storage)
        report = report_of_study(results_of(folder, protocol, score=table.score, groups=groups))
    target = report.write(targets)
    if targets.prints_json:
        print_json(report.record())
    else:
        say(target)
        if targets.one_table is not None:
            say(targets.one_table)
