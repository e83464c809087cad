"""``podium cache``: what podium keeps to be faster, and how to get rid of it."""

from typing import Annotated

import typer

from podium.errors import PodiumError
from podium.terminal.fitting_table import fitted_text
from podium.terminal.printing import (
    AsCsv,
    AsJson,
    Yes,
    bytes_text,
    confirmed,
    minute_text,
    print_table,
    say,
)

_COLUMNS = ("cache", "holds", "files", "size", "last used")
_WORTH = ("cache", "size", "last used", "files", "holds")
_ALL = "all"


def command(
    empty: Annotated[
        list[str] | None,
        typer.Option("--empty", metavar="KIND", help="Empty this cache, or all. Repeatable."),
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List podium's caches: what they hold, how large they are, and when they were last used.

    With --empty they are emptied, after a question. What is missing is made again by the next run
    that needs it; running studies keep what they opened. A cache to which a process is adding is
    refused. Downloaded weights are not listed: torch and timm share their folders with other
    programs.
    """
    from trainables.file_caches.array_cache import cache_folder_at
    from trainables.file_caches.caches import CACHES, cache_use, empty_cache

    folder = cache_folder_at(None)
    kinds = list(CACHES) if not empty or _ALL in empty else list(dict.fromkeys(empty))
    for kind in kinds:
        if kind not in CACHES:
            raise PodiumError(f"--empty must be one of {', '.join((*CACHES, _ALL))}; got {kind}")
    found = [cache_use(kind, folder) for kind in kinds]
    rows = [
        {
            "cache": use.kind,
            "holds": CACHES[use.kind],
            "folder": str(use.place),
            "files": use.num_files,
            "bytes": use.num_bytes,
            "used_at": None if use.used_at is None else use.used_at.isoformat(),
        }
        for use in found
    ]
    if as_json or as_csv:
        print_table(rows, as_json=as_json, as_csv=as_csv)
    else:
        shown = [
            {
                "cache": use.kind,
                "holds": CACHES[use.kind],
                "files": use.num_files,
                "size": bytes_text(use.num_bytes),
                "last used": minute_text(use.used_at),
            }
            for use in found
        ]
        say(f"Caches in {folder}")
        say(fitted_text(shown, columns=_COLUMNS, worth=_WORTH, num_kept=2))
    total = bytes_text(sum(use.num_bytes for use in found))
    if empty and confirmed(f"Empty {', '.join(kinds)} ({total})?", yes=yes):
        for kind in kinds:
            empty_cache(kind, folder)
        say(f"{total} freed", err=as_json or as_csv)
