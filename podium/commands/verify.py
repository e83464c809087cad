"""``podium verify STUDY``: checks every file and every invariant of a results folder."""

import time

from podium.arguments.study_argument import OfStudy
from podium.terminal.printing import AsJson, print_json, say

_SOUND, _PROBLEMS = 0, 2
_SHOWN = 100
_SECONDS_BETWEEN_LINES = 2.0


def command(study: OfStudy, as_json: AsJson = False) -> int:
    """Check every file of a results folder and every rule that its numbers must keep.

    Changes nothing, and may be used while the study runs: what is under way is no problem. Exits
    with 0 if there are no problems, with 2 if there are, a line each; notes say what was not
    checked.
    """
    from podium.analysis.wording import counted
    from podium.orchestrator.verify.verify_store import verify_store

    folder = study.folder
    found = verify_store(folder, tell=_ThrottledLines())
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "is_sound": not found.problems,
                "checked": dict(found.checked),
                "problems": found.problems,
                "notes": found.notes,
            }
        )
        return _PROBLEMS if found.problems else _SOUND
    counts = ", ".join(f"{count} {what}" for what, count in found.checked.items() if count)
    say(f"Checked {folder}: {counts}.")
    for note in found.notes:
        say(f"note: {note}")
    for problem in found.problems[:_SHOWN]:
        say(f"problem: {problem}")
    if len(found.problems) > _SHOWN:
        say(f"and {len(found.problems) - _SHOWN} more; --json lists them all")
    say(f"{counted(len(found.problems), 'problem')}." if found.problems else "No problems.")
    return _PROBLEMS if found.problems else _SOUND


class _ThrottledLines:
    """Prints what is being read, at most every few seconds, for stores that take long."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, line: str) -> None:
        """Print ``line`` if the last one was printed long enough ago."""
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = now
            say(f"{line} ...", err=True)
