"""Which files and folders ``podium report`` may write."""

from dataclasses import dataclass
from pathlib import Path

from podium.errors import PodiumError

_STORE = "store.json"
_STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTargets:
    """Where a report is written, as given.

    Attributes:
        page: file of the page; None means the one that podium chooses.
        csv: folder for the tables as CSV; None means that none are written.
        latex: folder for the tables as LaTeX; None means that none are written.
        json: file for the record, or ``-`` for the standard output; None means none.
    """

    page: Path | None = None
    csv: Path | None = None
    latex: Path | None = None
    json: Path | None = None

    @property
    def prints_json(self) -> bool:
        """Whether the record goes to the standard output."""
        return self.json == _STANDARD_OUTPUT

    def check(self) -> None:
        """Refuse targets at which a table or a file of a results folder would be overwritten.

        Checked before anything is written, so that nothing is half written.

        Raises:
            PodiumError: a target has a wrong ending or kind, or lies among results; names the
                first.
        """
        json = None if self.prints_json else self.json
        for name, file, ending in (("--output", self.page, ".html"), ("--json", json, ".json")):
            if file is not None and (file.suffix.lower() != ending or file.is_dir()):
                raise PodiumError(f"{name} must be a file that ends in {ending}; got {file}")
        if json is not None and (json.parent / _STORE).exists():
            raise PodiumError(
                f"--json must not lie among the results in {json.parent}; got {json}"
            )
        for name, folder in (("--csv", self.csv), ("--latex", self.latex)):
            if folder is not None and folder.exists() and not folder.is_dir():
                raise PodiumError(f"{name} must be a folder; {folder} is a file")
