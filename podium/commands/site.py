"""``podium site``: the studies of a storage as static pages."""

from pathlib import Path
from typing import Annotated

import typer

from podium.arguments.study_argument import GivenPlace, given_place
from podium.terminal.printing import AsJson, print_json, say

_ALL, _SOME_REFUSED = 0, 1


def command(
    storage: Annotated[
        GivenPlace,
        typer.Argument(
            metavar="FOLDER", parser=given_place, help="A folder of studies, or its URI."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder of the site: a new one, or that of last time."),
    ],
    as_json: AsJson = False,
) -> int:
    """Write static pages of all studies of a folder, comparable ones merged into leaderboards.

    DIR/index.html ranks what `podium merge` would merge, and lists every study with its report
    and a Parquet file of its trials, for any web server. Folders in which `podium verify` finds
    problems are refused and named; then the exit code is 1, and the rest is written. Run again,
    it writes only what changed, and deletes only pages of its own.

    Example: podium site podium-results --output public
    """
    from analysis.wording import counted
    from podium.api.site import site

    made = site(storage, output)
    if as_json:
        print_json(
            {
                "index": str(made.index),
                "studies": made.studies,
                "leaderboards": made.leaderboards,
                "apart": made.apart,
                "refused": made.refused,
                "written": made.written,
                "kept": made.kept,
                "removed": made.removed,
            }
        )
        return _SOME_REFUSED if made.refused else _ALL
    say(
        f"{made.index}: {counted(len(made.studies), 'study', 'studies')},"
        f" {counted(len(made.leaderboards), 'leaderboard')};"
        f" {counted(len(made.written), 'file')} written, {len(made.kept)} unchanged,"
        f" {len(made.removed)} removed"
    )
    for name, reason in made.apart.items():
        say(f"in no leaderboard: {name}: {reason}")
    for name, problems in made.refused.items():
        more = f" (and {counted(len(problems) - 1, 'more problem')})" if problems[1:] else ""
        say(f"refused: {name}: {problems[0]}{more}", err=True)
    return _SOME_REFUSED if made.refused else _ALL
