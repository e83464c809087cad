"""Which files and folders ``podium report`` may write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from podium.errors import PodiumError

_STORE = "store.json"
_STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTargets:
    """Where a report is written, as given."""

    output: Annotated[
        Path | None,
        typer.Option(
            help="The page to write; default: report.html in the results folder, or the table's"
            " name with .html."
        ),
    ] = None
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Also write every table as CSV; numbers have all digits, deviations those shown.",
        ),
    ] = None
    latex: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE_OR_FOLDER",
            help="Also write LaTeX (booktabs): to a file that ends in .tex the table of scores, to"
            " a folder every table.",
        ),
    ] = None
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the answer, all tables and the tournament as JSON; - means to the"
            " standard output, in place of the page's name.",
        ),
    ] = None

    opens: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False

    @property
    def prints_json(self) -> bool:
        """Whether the record goes to the standard output."""
        return self.json == _STANDARD_OUTPUT

    @property
    def one_table(self) -> Path | None:
        """The file of the table of scores; None if there is to be none, or all tables."""
        is_file = self.latex is not None and self.latex.suffix.lower() == ".tex"
        return self.latex if is_file else None

    def check(self) -> None:
        """Refuse targets at which a table or a file of a results folder would be overwritten.

        Checked before anything is written, so that nothing is half written.

        Raises:
            PodiumError: a target has a wrong ending or kind, or lies among results; names the
                first.
        """
        json = None if self.prints_json else self.json
        for name, file, ending in (("--output", self.output, ".html"), ("--json", json, ".json")):
            if file is not None and (file.suffix.lower() != ending or file.is_dir()):
                raise PodiumError(f"{name} must be a file that ends in {ending}; got {file}")
        if json is not None and (json.parent / _STORE).exists():
            raise PodiumError(
                f"--json must not lie among the results in {json.parent}; got {json}"
            )
        if self.latex and self.latex.suffix not in ("", ".tex") and not self.latex.is_dir():
            raise PodiumError(f"--latex must be a file .tex or a folder; got {self.latex}")
        if self.one_table is not None and self.one_table.is_dir():
            raise PodiumError(f"--latex names a file by .tex; {self.one_table} is a folder")
        latex = self.latex if self.one_table is None else None
        for name, folder in (("--csv", self.csv), ("--latex", latex)):
            if folder is not None and folder.exists() and not folder.is_dir():
                raise PodiumError(f"{name} must be a folder; {folder} is a file")
