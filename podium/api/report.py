"""Reports: the page of a study or of a typed table, and what is written of it."""

import re
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.arguments.report_targets import ReportTargets
from podium.arguments.rules_argument import GivenRules
from podium.arguments.shipped_files import is_shipped
from podium.errors import PodiumError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_study
from podium.orchestrator.results.storage.files import put
from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.study.resolved_study import study_from_resolved
from podium.terminal.printing import json_text
from podium.trainables.registry import names

if TYPE_CHECKING:
    from podium.analysis.page.html_page import Page
    from podium.analysis.study_results.study_results import StudyResults
    from podium.analysis.tournament.tournament import Tournament
    from podium.analysis.typed_tables.score_table import ScoreTable, TableReading


def results_of(
    folder: Place,
    protocol: str | None = None,
    *,
    score: str | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> "StudyResults":
    """The results that the page of a study shows, with images of the data sets at hand.

    The arguments are those of `analysis.study_results.study_results.read_results`.
    """
    from podium.analysis.study_results.study_results import read_results
    from podium.api.images_at_hand import images_at_hand
    from podium.orchestrator.results.trial_files.reader import Reader

    study = Reader(folder).study()
    study_from_resolved(study)  # raises if it is none
    return read_results(folder, protocol, score=score, groups=groups, images=images_at_hand(study))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page that can be written.

    Attributes:
        page: the page as values.
        target: where it is written unless another file is named.
        tournament: tournament of one study or table; None without one.
        reading: how a table was read; None of a study.
    """

    page: "Page"
    target: Place
    tournament: "Tournament | None" = None
    reading: "TableReading | None" = None

    def record(self) -> dict[str, Any]:
        """The answer, all tables and the tournament as plain values."""
        from podium.analysis.page.table_files import page_record

        record = page_record(self.page, self.tournament)
        if self.reading is not None:
            record["read_as"] = asdict(self.reading)
        return record

    def write(self, targets: ReportTargets) -> Place:
        """Write the page and what else is asked for; return where the page is."""
        from podium.analysis.page.html_page import render_page
        from podium.analysis.page.page_limits import within_limits
        from podium.analysis.page.table_files import csv_files, latex_files, scores_latex

        target = targets.output or self.target
        put(target, render_page(within_limits(self.page)).encode())
        if targets.one_table is not None:
            if not (scores := scores_latex(self.page)):
                raise PodiumError("there is no table of scores yet: no final trial was tested")
            put(targets.one_table, scores.encode())
        for folder, files in ((targets.csv, csv_files), (targets.latex, latex_files)):
            if folder not in (None, targets.one_table):
                for name, text in files(self.page).items():
                    put(folder / name, text.encode())
        if targets.json is not None and not targets.prints_json:
            put(targets.json, f"{json_text(self.record())}\n".encode())
        if targets.opens and not (
            isinstance(target, Path) and webbrowser.open(target.absolute().as_uri())
        ):
            raise PodiumError(f"{target} was written, and no browser of this machine opens it")
        return target


def report_of_study(results: "StudyResults") -> Report:
    """The report of a study, finished or not."""
    from podium.analysis.report.report import study_report

    page = study_report(results)
    assert page.summary is not None, "the page of a study has one"
    notices = (*page.summary.notices, *_plan_warnings(results))
    return Report(
        page=replace(page, summary=replace(page.summary, notices=notices)),
        target=StudyPaths(results.folder).report,
        tournament=results.tournament,
    )


def _plan_warnings(results: "StudyResults") -> list[str]:
    """The warnings of the plan of short searches, and of losses whose proxies hardly move."""
    from podium.orchestrator.planning.block_plan import short_searches, slow_proxies

    study = study_from_resolved(read_study(StudyPaths(results.folder)) or {})
    # Files of others may not be at hand, and a folder may hold any words.
    built_in = tuple(
        it for it in study.losses if {*re.split("[+>]", it.name)} <= {*names("losses")}
    )
    study = replace(study, losses=built_in)
    warnings = (*short_searches(study), *slow_proxies(study))
    return [text.removeprefix("Warning: ") for text in warnings]


def report_of_table(
    table: "ScoreTable",
    source: Path,
    where: Sequence[str] | None,
    rules: GivenRules,
    groups: Mapping[str, Sequence[str]] | None,
) -> Report:
    """The page of a typed table, read from a file with conditions ``where``."""
    from podium.analysis.report.report import table_report
    from podium.analysis.tournament.table_tournament import rank_table

    rows = f", rows with {' and '.join(where)}" if where else ""
    ranked = f"{table.competitor} ranked by {table.score}"
    results = rank_table(table, rules.of_table(), groups)
    return Report(
        page=table_report(
            results,
            title=source.stem,
            source=f"{source.name}{rows}: {ranked} within {' × '.join(table.by)}",
        ),
        target=Path(f"{source.stem}.html") if is_shipped(source) else source.with_suffix(".html"),
        tournament=results.tournament,
        reading=table.reading,
    )
