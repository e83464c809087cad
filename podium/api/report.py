"""Reports: the page of a study, of several, or of a typed table, and what is written of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.results.storage.locations import Place, RemotePath
from podium.arguments.report_targets import ReportTargets
from podium.arguments.rules_argument import GivenRules
from podium.arguments.shipped_files import is_shipped
from podium.arguments.table_argument import TableOptions, conditions
from podium.errors import PodiumError
from podium.terminal.printing import json_text

if TYPE_CHECKING:
    from analysis.page.html_page import Page
    from analysis.study_results.study_results import StudyResults
    from analysis.tournament.rank_stability import RankStability
    from analysis.tournament.tournament import Tournament
    from analysis.typed_tables.score_table import ScoreTable
    from analysis.typed_tables.table_reading import TableReading


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """What a page shows.

    Attributes:
        protocol: label of the protocol that losses are compared under; None means the study's
            first that does not leak.
        score: name of the stored test score to rank by; None means the declared one.
        groups: name -> losses of the groups to compare; None means those of the study.
    """

    protocol: str | None = None
    score: str | None = None
    groups: Mapping[str, Sequence[str]] | None = None

    def read(self, folder: Place) -> "StudyResults":
        """The results that the page of a study shows."""
        from analysis.study_results.study_results import read_results
        from orchestrator.results.trial_files.reader import Reader
        from orchestrator.study.resolved_study import study_from_resolved
        from podium.api.images_at_hand import images_at_hand

        study = Reader(folder).study()
        study_from_resolved(study)  # raises if it is none
        return read_results(
            folder,
            self.protocol,
            score=self.score,
            groups=self.groups,
            images=images_at_hand(study),
        )


_PLAIN = PageOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page that can be written.

    Attributes:
        page: the page as values.
        target: where it is written unless another file is named.
        tournament: tournament of one study or table; None without one.
        stability: stability of its ranks; None if nothing could be resampled.
        reading: how a table was read; None of a study.
    """

    page: "Page"
    target: Place
    tournament: "Tournament | None" = None
    stability: "RankStability | None" = None
    reading: "TableReading | None" = None

    def record(self) -> dict[str, Any]:
        """The answer, all tables and the tournament as plain values."""
        from analysis.page.table_files import page_record

        record = page_record(self.page, self.tournament, self.stability)
        if self.reading is not None:
            record["read_as"] = self.reading.record()
        return record

    def write(self, targets: ReportTargets) -> Place:
        """Write the page and what else is asked for; return where the page is."""
        from analysis.page.html_page import render_page
        from analysis.page.page_limits import within_limits
        from analysis.page.table_files import csv_files, latex_files
        from orchestrator.results.storage.files import put

        target = targets.page or self.target
        put(target, render_page(within_limits(self.page)).encode())
        for folder, files in ((targets.csv, csv_files), (targets.latex, latex_files)):
            if folder is not None:
                for name, text in files(self.page).items():
                    put(folder / name, text.encode())
        if targets.json is not None and not targets.prints_json:
            put(targets.json, f"{json_text(self.record())}\n".encode())
        return target


def write_study_report(results: "StudyResults") -> Place:
    """Write the page of a study, finished or not, into its results folder; return where it is.

    Raises:
        PodiumError: a file of the results is corrupt, or the page cannot be written.
    """
    return _study_report(results, _PLAIN).write(ReportTargets())


def report_of_study(folder: Place, options: PageOptions) -> Report:
    """The report of a study, finished or not."""
    return _study_report(options.read(folder), options)


def _study_report(results: "StudyResults", options: PageOptions) -> Report:
    from analysis.report.report import study_report
    from orchestrator.results.records.store_paths import StudyPaths

    return Report(
        page=study_report(results),
        target=StudyPaths(results.folder).report,
        tournament=results.tournament,
        stability=results.stability,
    )


def report_of_studies(
    folders: Sequence[Place], options: PageOptions, output: Path | None
) -> Report:
    """Several studies side by side; ``output`` is where the page will be, None beside the first.

    Raises:
        PodiumError: the studies are in a remote store, and there is no ``output``.
    """
    from analysis.report.several_studies import studies_report

    target = output or folders[0].parent / "compared.html"
    if isinstance(target, RemotePath):
        raise PodiumError("studies in a remote store are laid side by side with --output FILE")
    studies = [options.read(folder) for folder in folders]
    return Report(
        page=studies_report(studies),
        target=target,
    )


def report_of_table(
    source: Path,
    table_options: TableOptions,
    rules: GivenRules,
    options: PageOptions,
    *,
    tell: "Callable[[ScoreTable], object]",
) -> Report:
    """The page of a typed table; ``tell`` is called with the scores before they are ranked."""
    from analysis.report.report import table_report
    from analysis.tournament.table_tournament import rank_table
    from analysis.typed_tables.printed_means import printed_ranks
    from analysis.typed_tables.table_file import read_table_file

    file = read_table_file(source)
    if printed_ranks(file, table_options.columns()) is not None:
        raise PodiumError(f"{source} holds ranks and no scores: podium tournament checks them")
    table = table_options.read(file)
    tell(table)
    where = conditions(table_options.where)
    rows = f", rows with {' and '.join(where)}" if where else ""
    ranked = f"{table.competitor} ranked by {table.score}"
    results = rank_table(table, rules.of_table(), options.groups)
    return Report(
        page=table_report(
            results,
            title=source.stem,
            source=f"{source.name}{rows}: {ranked} within {' × '.join(table.by)}",
        ),
        target=Path(f"{source.stem}.html") if is_shipped(source) else source.with_suffix(".html"),
        tournament=results.tournament,
        stability=results.stability,
        reading=table.reading,
    )
