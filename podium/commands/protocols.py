"""``podium protocols``: gain, regret and cost of tuning by each validation protocol."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.typed_tables.table_file import is_table
from orchestrator.results.storage.locations import Place
from podium.arguments.shipped_files import or_shipped
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say

if TYPE_CHECKING:
    from analysis.protocols.published_protocols import PublishedProtocols

_WIDTH = 99
_NAIVE = (
    "A typed table holds one run of each candidate, so oracle and pick are scored by the runs that"
    " they were chosen by: the regret is too large, and there is no interval."
)


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
        if k is not None or storage is not None:
            raise PodiumError(f"--k and --storage go with a study; {source} is a table")
        _print_table_of(source, columns, as_json=as_json, as_csv=as_csv)
        return
    for name in (name for name, value in columns.items() if value is not None):
        raise PodiumError(
            f"--{name} goes with a table (.csv or .parquet); {source} is taken for a study"
        )
    _print_study(results_folder(source, storage), k, as_json=as_json, as_csv=as_csv)


def _print_study(folder: Place, k: int | None, *, as_json: bool, as_csv: bool) -> None:
    from analysis.protocols.read_protocols import read_protocols
    from analysis.protocols.statistics_record import protocol_record, protocol_rows
    from podium.terminal.protocols_text import study_text

    study = read_protocols(folder, k)
    if as_json:
        print_json(protocol_record(study))
    elif as_csv:
        print_table(protocol_rows(study), as_csv=True)
    else:
        say(study_text(study))


def _print_table_of(
    path: Path, columns: Mapping[str, str | None], *, as_json: bool, as_csv: bool
) -> None:
    from analysis.protocols.published_protocols import published_protocols

    found = published_protocols(
        path,
        by=_names(columns["by"]),
        candidate=columns["candidate"],
        val=columns["val"],
        test=columns["test"],
    )
    if as_json:
        print_json(
            {
                "by": found.by,
                "verdicts": dict(found.verdicts),
                "choices": found.choices.to_dicts(),
                "folds": found.folds.to_dicts(),
            }
        )
    elif as_csv:
        print_table(
            [{"group": group, "verdict": verdict} for group, verdict in found.verdicts],
            as_csv=True,
        )
    else:
        say(_text(found, path.stem))


def _text(found: "PublishedProtocols", name: str) -> str:
    lines = [f"{group or name}: {verdict}." for group, verdict in found.verdicts]
    if len(found.choices):
        lines.append(_NAIVE)
    return "\n\n".join(textwrap.fill(line, _WIDTH, break_on_hyphens=False) for line in lines)


def _names(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise PodiumError(f"--by must be column names divided by commas; got {text!r}")
    return names
