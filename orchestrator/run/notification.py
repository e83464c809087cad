"""Tells somebody how a run ended, by the command that the study file names under ``notify``."""

import os
import shutil
import subprocess
from collections.abc import Callable
from types import TracebackType
from typing import Self

from orchestrator.redaction import redacted
from orchestrator.results.records.runs import WHOLE, Part, RunEnding
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.study.study import Study

_TIMEOUT_SECONDS = 60.0
_SHOWN_CHARACTERS = 500


class Notification:
    """Entered for a run; when it is left, the command of the study runs, if it has one.

    The command is run without a shell, and has a minute. It gets the facts as the environment
    variables ``PODIUM_EVENT``, ``PODIUM_STUDY``, ``PODIUM_FOLDER``, ``PODIUM_PART`` (``1/1``: the
    whole study) and ``PODIUM_MESSAGE``, beside those of this process. Its failure is a warning. An
    exception is told as the event ``error``.

    Args:
        study: the study as its file has it; one from a results folder has no command.
        paths: its results folder.
        say: takes warnings.
        part: which part of the study the run drives.
    """

    def __init__(
        self, study: Study, paths: StudyPaths, say: Callable[[str], object], part: Part = WHOLE
    ) -> None:
        self._command = study.notify
        self._facts = {"PODIUM_STUDY": study.name, "PODIUM_FOLDER": str(paths.folder)}
        self._facts["PODIUM_PART"] = str(part)
        self._say = say
        self._end: tuple[RunEnding, str] | None = None

    def __enter__(self) -> Self:
        """Warn if the program is not there, while the terminal may still be watched."""
        if self._command and shutil.which(self._command[0]) is None:
            self._warn("is not a program that can be run here")
        return self

    def set(self, event: RunEnding, message: str) -> None:
        """Set how the run ended, and a sentence on it; without this call nothing is told."""
        self._end = event, message

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Run the command."""
        if isinstance(error, Exception):
            self._end = "error", str(error) or type(error).__name__
        if self._command and self._end is not None:
            self._run(*self._end)

    def _run(self, event: RunEnding, message: str) -> None:
        told = {"PODIUM_EVENT": event, "PODIUM_MESSAGE": redacted(message).replace("\0", "")}
        try:
            done = subprocess.run(
                self._command,
                env=os.environ | self._facts | told,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._warn(f"took longer than {_TIMEOUT_SECONDS:g} s, and was killed")
        except OSError as problem:
            self._warn(f"could not be started: {problem.strerror}")
        else:
            if done.returncode:
                last = done.stderr.decode(errors="replace").strip()[-_SHOWN_CHARACTERS:]
                self._warn(f"ended with exit code {done.returncode}{': ' if last else ''}{last}")

    def _warn(self, problem: str) -> None:
        self._say(redacted(f"warning: notify: {self._command[0]} {problem}"))
