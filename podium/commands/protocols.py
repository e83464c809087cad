"""``podium protocols``: gain, regret and cost of tuning by each validation protocol."""

from typing import Annotated

import typer

from analysis.typed_tables.table_file import is_table
from podium.api.answer import print_answer
from podium.api.results import results
from podium.arguments.shipped_files import or_shipped
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson


def command(
    source: Annotated[
        GivenPlace,
        typer.Argument(
            parser=given_place,
            metavar="STUDY_OR_FILE",
            help="A study file (YAML), a results folder, or a table (CSV or Parquet).",
        ),
    ],
    k: Annotated[int | None, typer.Option(help="Which K of a study; its first.")] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Columns of a table within which something was chosen; all of text."),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(help="Column of a table with what was chosen among; setting or config."),
    ] = None,
    val: Annotated[
        str | None, typer.Option(help="Column of a table with validation scores.")
    ] = None,
    test: Annotated[str | None, typer.Option(help="Column of a table with test scores.")] = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Compare validation protocols: test recall of picks, regret, agreement, optimism, hours.

    A study needs several protocols for comparisons, several repeats for intervals, and
    `quarantine: record` for regrets. JSON and CSV hold scores from 0 to 1; a table keeps its own.

    Example: podium protocols split_ratios.csv --candidate setting
    """
    columns = {"by": by, "candidate": candidate, "val": val, "test": test}
    source = or_shipped(source)
    if is_table(source):
        from podium.api.selection import published_selection

        if k is not None or storage is not None:
            raise PodiumError(f"--k and --storage go with a study; {source} is a table")
        answer = published_selection(source, by=by, candidate=candidate, val=val, test=test)
        print_answer(answer, as_json=as_json, as_csv=as_csv)
        return
    for name in (name for name, value in columns.items() if value is not None):
        raise PodiumError(
            f"--{name} goes with a table (.csv or .parquet); {source} is taken for a study"
        )
    answer = results(source, storage=storage).protocols(k=k)
    print_answer(answer, as_json=as_json, as_csv=as_csv)
