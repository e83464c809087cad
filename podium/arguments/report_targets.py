"""Which files and folders ``podium report`` may write."""

from pathlib import Path

from podium.errors import PodiumError

__all__ = ["check_targets"]

_STORE = "store.json"


def check_targets(
    output: Path | None, csv: Path | None, latex: Path | None, json: Path | None
) -> None:
    """Refuse targets at which a table or a file of a results folder would be overwritten.

    Checked before anything is written, so that nothing is half written.

    Args:
        output: file of the page; None means the one that podium chooses.
        csv: folder for the tables as CSV; None means that none are written.
        latex: folder for the tables as LaTeX; None means that none are written.
        json: file for the record, or ``-`` for the standard output; None means none.

    Raises:
        PodiumError: a target has a wrong ending or kind, or lies among results; names the first.
    """
    is_json = json is not None and str(json) != "-"
    for name, file, ending in (("--output", output, ".html"), ("--json", json, ".json")):
        if file is None or (name == "--json" and not is_json):
            continue
        if file.suffix.lower() != ending or file.is_dir():
            raise PodiumError(f"{name} must be a file that ends in {ending}; got {file}")
    if json is not None and is_json and (json.parent / _STORE).exists():
        raise PodiumError(f"--json must not lie among the results in {json.parent}; got {json}")
    for name, folder in (("--csv", csv), ("--latex", latex)):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise PodiumError(f"{name} must be a folder; {folder} is a file")
