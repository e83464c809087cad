"""The options of commands that serve the live page."""

from typing import Annotated

import typer

from podium.errors import PodiumError

Port = Annotated[
    int | None,
    typer.Option(
        "--port", min=1, max=65535, metavar="N", help="With --web: port of the page; default: any."
    ),
]
Control = Annotated[
    bool,
    typer.Option(
        "--control", help="With --web: let the page pause, cancel searches, and change slots."
    ),
]


def check_live_options(*, web: bool, port: int | None, control: bool) -> None:
    """Refuse options of the page where there is none.

    Raises:
        PodiumError: there are some.
    """
    if not web and (port is not None or control):
        given = "--port" if port is not None else "--control"
        raise PodiumError(f"{given} goes with --web, which shows the page")
