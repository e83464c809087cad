"""What can be wrong with a trial.

TrialInputError (a PodiumError)   data set, protocol, hyperparameters or settings are unusable
DataError (a TrialInputError)     the data set is: no hyperparameter can be at fault
CheckpointError (a ValueError)    a checkpoint to resume from is damaged or of another trial
Diverged (a PodiumError)          loss, gradient or embedding is not finite
Collapsed (a PodiumError)         all embeddings are the same
"""

import difflib
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from podium.errors import PodiumError
from podium.trainables.other_names import usual_name


class TrialInputError(PodiumError, ValueError):
    """A clear message for the user: rule, offending value, known choices."""


class DataError(TrialInputError):
    """The data set is missing or damaged, for whatever trial reads it."""


class CheckpointError(ValueError):
    """The bytes are no checkpoint, are damaged, or are of another trial."""


class _TrainingFailure(PodiumError):
    """Training cannot continue; holds the fold and epoch it had reached."""

    exit_code = 1

    def __init__(self, what: str, fold: int, epoch: int) -> None:
        super().__init__(what, fold, epoch)
        self.fold = fold
        self.epoch = epoch

    def __str__(self) -> str:
        return f"{self.args[0]} (fold {self.fold}, epoch {self.epoch})"


class Diverged(_TrainingFailure):
    """A loss, gradient, weight or embedding became NaN or infinite."""


class Collapsed(_TrainingFailure):
    """All embeddings coincide, so that nearest neighbours mean nothing."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> TrialInputError:
    """The error for an unknown name: the nearest known names first, then all of them.

    Args:
        kind: what is named, such as "data set" or "option of glyphs".
        name: the unknown name.
        known: all known names.
    """
    names = sorted(known)
    return TrialInputError(
        f"unknown {kind} {name!r}{did_you_mean(name, names)}; known: {', '.join(names) or 'none'}"
    )


def first_of(things: Collection[object]) -> str:
    """The first five, for a message."""
    shown = ", ".join(map(str, list(things)[:5]))
    return f"{shown}, ..." if len(things) > 5 else shown


def plain_file(path: Path) -> Path:
    """The path, unless it is of a pipe, a folder or a device, which a reader might wait for.

    Raises:
        TrialInputError: it is.
    """
    if path.exists() and not path.is_file():
        raise TrialInputError(f"{path} must be a file; it is a folder, a pipe or a device")
    return path


def near_names(name: str, known: Sequence[str]) -> list[str]:
    """The known names that ``name`` most likely means: what podium calls it, or spelt alike."""
    usual = usual_name(name)
    if usual is not None and usual in known:
        return [usual]
    plain = name.replace("-", "_").lower()
    return [plain] if plain in known else difflib.get_close_matches(name, known, n=3)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """`` (did you mean 'x' or 'y'?)`` for names like the given one; empty if there are none."""
    near = near_names(str(name), list(known))
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
