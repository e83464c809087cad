"""The ``podium`` command: a table of commands, each imported only when it is called."""

import errno
import importlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, Any

import typer

from podium.errors import PodiumError, StoreError
from podium.orchestrator.redaction import redacted
from podium.orchestrator.results.storage.printable_text import one_line
from podium.stop_signals import AGAIN, INTERRUPTED, Interrupted, Stopped, StopSignals
from podium.terminal.printing import print_in_any_encoding, say

_UNEXPECTED = 1  # as Python ends by an exception
_REFUSED_PATHS = (errno.EACCES, errno.EPERM, errno.ENAMETOOLONG)  # what the system has against it

# Name -> (help panel, one line of help). The module is podium/commands/<name>.py.
COMMANDS: dict[str, tuple[str, str]] = {
    "compare": ("Study", "Compare a loss with others, in a minute."),
    "init": ("Study", "Write a commented study file to start from."),
    "plan": ("Study", "Show what a study will do and cost. Runs nothing."),
    "run": ("Study", "Start a study, or continue it where it stopped."),
    "status": ("Study", "Show how far each search is, or the studies of a storage."),
    "control": ("Study", "Pause a running study, cancel searches, change its resources."),
    "report": ("Results", "Write the report: one HTML file."),
    "tournament": ("Results", "Rank the losses of a study, or any table of scores."),
    "cv": ("Results", "Show cross-validation statistics over folds and seeds."),
    "protocols": ("Results", "Compare validation protocols: picks, regret, agreement, hours."),
    "importance": ("Results", "Show which hyperparameters decide, and which are noise."),
    "trials": ("Results", "List the trials of a study; --failed shows why they failed."),
    "trial": ("Results", "Train one configuration by hand, or use a trial of a study."),
    "verify": ("Results", "Check every file and every rule of a results folder."),
    "export": ("Results", "Write results for Optuna, TensorBoard or other tools."),
    "datasets": ("Facts", "Fetch or check a data set, or write files that some losses need."),
    "losses": ("Facts", "List the losses: kind, needs, parameters; and what is searched."),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, then exit the process with its exit code.

    Exit codes: 0 done, 1 some trials failed, 2 bad input, 3 interrupted
    and resumable, 4 store or lock unavailable.

    Args:
        arguments: words after ``podium``; None means those of this process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    print_in_any_encoding()
    try:
        _application(called=given[0] if given else "")(args=given, prog_name="podium")
    except Exception:  # a bug of podium, or of a study's own code, which may tell secrets
        say(redacted(traceback.format_exc()), err=True, nl=False)
        sys.exit(_UNEXPECTED)


def _application(called: str) -> typer.Typer:
    """All commands; only ``called`` is imported, the others are a name and a help line."""
    application = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},  # commands inherit it
    )
    application.callback()(_options)
    for name, (panel, line) in COMMANDS.items():
        command = _load(name) if name == called else _placeholder
        if isinstance(command, typer.Typer):
            for info in command.registered_commands:
                assert info.callback is not None, "typer sets it"
                info.callback = _with_exit_code(inspect.unwrap(info.callback))
            application.add_typer(command, name=name, short_help=line, rich_help_panel=panel)
        else:
            application.command(name, short_help=line, help=None, rich_help_panel=panel)(
                _with_exit_code(command)
            )
    return application


def _say_version(asked: bool) -> None:
    if asked:
        from importlib import metadata

        say(f"podium {metadata.version('podium')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_say_version
        ),
    ] = False,
) -> None:
    """Fair tournaments between metric-learning losses."""
    del version  # its callback ends the process


def _load(name: str) -> Callable[..., int | None] | typer.Typer:
    """``command`` of ``podium/commands/<name>.py``: a function, or a group of several."""
    command: Callable[..., int | None] | typer.Typer = importlib.import_module(
        f"podium.commands.{name}"
    ).command
    return command


def _placeholder() -> None:
    """In place of the commands that this call does not need."""


def _with_exit_code(command: Callable[..., int | None]) -> Callable[..., None]:
    """Turn a returned exit code into the process's, and a user's error or stop into a message."""
    with_options = _field_by_field(command)

    @wraps(with_options)
    def wrapper(**options: object) -> None:
        try:
            with StopSignals():
                code = with_options(**options)
        except (Stopped, Interrupted):
            say(AGAIN, err=True)
            code = INTERRUPTED
        except PodiumError as error:
            say(f"podium: {redacted(str(error))}", err=True)
            code = error.exit_code
        except OSError as error:
            if error.errno not in _REFUSED_PATHS or error.filename is None:
                raise
            shown = one_line(os.fsdecode(error.filename))
            say(f"podium: cannot use {shown}: {error.strerror}", err=True)
            code = StoreError.exit_code
        raise typer.Exit(code or 0)

    # Typer keeps the line breaks of all paragraphs but the first.
    wrapper.__doc__ = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(command) or "")
    return wrapper


def _field_by_field(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """The command as Typer reads it: each dataclass that it takes is given field by field."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {
        it.name: it.annotation for it in parameters if is_dataclass(it.annotation)
    }

    @wraps(command)
    def with_groups(**given: Any) -> int | None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        return command(**given)

    options: list[inspect.Parameter] = []
    for it in parameters:
        group = groups.get(it.name)
        options += inspect.signature(group).parameters.values() if group else [it]
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature([it.replace(kind=keyword) for it in options])
    with_groups.__signature__ = signature  # type: ignore[attr-defined]
    return with_groups
