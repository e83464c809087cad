"""``podium rm STUDY...``: removes studies."""

from typing import TYPE_CHECKING, Annotated

import typer

from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.errors import LockHeldError
from podium.terminal.printing import Yes, bytes_text, confirmed, minute_text, say

if TYPE_CHECKING:
    from orchestrator.results_tools.stored_studies import StoredStudy


def command(
    studies: Annotated[
        list[GivenPlace],
        typer.Argument(
            metavar="STUDY...",
            parser=given_place,
            help="Results folders (or their URIs), or study files, whose results are removed.",
        ),
    ],
    storage: StorageFolder = None,
    yes: Yes = False,
) -> None:
    """Remove the results folders of studies and all they hold, after a question.

    A study that is running is refused, and so is a folder that is none of podium's. What was
    stopped in the middle is refused by every other command; the same command removes the rest.
    """
    from orchestrator.results_tools.remove_study import check_removable, remove_study
    from orchestrator.results_tools.stored_studies import stored_study

    folders = list(dict.fromkeys(results_folder(study, storage) for study in studies))
    for folder in folders:
        check_removable(folder)
        found = stored_study(folder)
        if found.state == "running":
            raise LockHeldError(f"{folder} is running on {found.running_on}; stop it first")
        say(_described(found))
    what = "this study" if len(folders) == 1 else f"these {len(folders)} studies"
    if not confirmed(f"Remove {what} for good?", yes=yes):
        say("Nothing was removed.")
        return
    for folder in folders:
        remove_study(folder, lambda line: say(line, err=True))
        say(f"removed {folder}")


def _described(study: "StoredStudy") -> str:
    """What would go: folder, state, trials, hours, size and last change."""
    parts: list[str] = [study.state]
    if study.trials is not None:
        parts.append(f"{study.trials} of {study.planned} trials")
    if study.gpu_hours:
        parts.append(f"{study.gpu_hours:.3g} GPU-hours spent")
    elif study.trial_hours:
        parts.append(f"{study.trial_hours:.3g} hours of trials spent")
    parts += [bytes_text(study.num_bytes), f"last changed {minute_text(study.changed_at)}"]
    return f"{study.folder}: {', '.join(parts)}"
