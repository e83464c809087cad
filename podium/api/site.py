"""Sites: the studies of a storage folder as static pages, comparable ones in leaderboards."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import quote

from analysis.wording import MOST_NAMED, listed
from orchestrator.results.storage.locations import (
    Place,
    RemotePath,
    is_inside_folder,
    parse_place,
)
from orchestrator.results.storage.printable_text import has_control_characters, one_line
from podium.api.site_folder import SiteFolder
from podium.errors import PodiumError, UnreachableError

if TYPE_CHECKING:
    from analysis.page.html_page import Page
    from analysis.report.site_index import Leaderboard, ListedStudy, TrialsFile
    from analysis.study_results.study_results import StudyResults
    from orchestrator.results.trial_files.merge_trials import Source
    from orchestrator.results_tools.stored_studies import StoredStudy

_SHOWN = 3  # reasons why a study is in no leaderboard


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A site that was written.

    Attributes:
        index: path of the index page.
        studies: names of the studies that it shows.
        leaderboards: names of the studies of each leaderboard.
        apart: name of each study in no leaderboard -> why.
        refused: name of each folder that is damaged, altered or no study -> what is wrong.
        written: paths of the files that are new or have other bytes, relative to the site.
        kept: paths of the files that stayed as they were.
        removed: paths of the files that were deleted, such as the page of a study that is gone.
    """

    index: Path
    studies: tuple[str, ...]
    leaderboards: tuple[tuple[str, ...], ...]
    apart: Mapping[str, str]
    refused: Mapping[str, tuple[str, ...]]
    written: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]


def site(storage: str | Place, output: str | Path) -> Site:
    """Write static pages of all studies of a storage, comparable ones merged into leaderboards.

    As ``podium site`` does. Every study is checked as by ``podium verify``; a folder with
    problems is left out, and named in the index and in ``refused``. Studies that ``podium merge``
    would merge are ranked together. Equal stores give equal bytes, so a second call writes only
    what changed.

    Example:
        ```python
        import podium

        podium.site("podium-results", "public").index
        ```

    Args:
        storage: a folder of studies or its URI, such as ``s3://bucket/results``.
        output: folder of the site: a new one, an empty one, or one that an earlier call wrote.
            Files of others in there stay.

    Returns:
        What is on the site, and which files changed.

    Raises:
        PodiumError: there are no studies; ``output`` is remote, lies in the storage, or holds
            files that podium did not write.
        StoreError: the storage cannot be read, or the site not be written.
    """
    from orchestrator.results_tools.stored_studies import stored_studies

    place, target = parse_place(storage).absolute(), _local(output)
    if is_inside_folder(place, target):
        raise PodiumError(
            f"--output must lie outside the folder of studies; got {target} in {place}"
        )
    found = stored_studies(place)
    with closing(SiteFolder.open(target)) as folder:
        return _write_all(place, found, folder)


def _local(output: str | Path) -> Path:
    target = parse_place(output)
    if isinstance(target, RemotePath):
        raise PodiumError(
            f"--output must be a folder of this machine; got {target}: copy the site there when"
            " it is written"
        )
    return target


@dataclass(frozen=True, kw_only=True)
class _Report:
    """What is written of a study, or of merged ones: its results, their page, its trials."""

    results: "StudyResults"
    page: "Page"
    trials: bytes


def _report(folder: Place) -> _Report:
    from analysis.report.report import study_report
    from analysis.study_results.study_results import read_results
    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results.trial_files.published_trials import published_trials

    results = read_results(folder)
    return _Report(
        results=results,
        page=study_report(results),
        trials=published_trials(StudyPaths(folder)),
    )


def _write_all(storage: Place, found: "Sequence[StoredStudy]", folder: SiteFolder) -> Site:
    """Write every page; return what was written."""
    from analysis.page.html_page import render_page
    from analysis.report.site_index import RefusedFolder, SiteContents, site_index

    studies: dict[str, ListedStudy] = {}
    refused: list[RefusedFolder] = []
    for study in found:
        reported = _report_or_problems(study)
        if isinstance(reported, _Report):
            studies[study.folder.name] = _listed(study, reported, folder)
            continue
        told = tuple(_told(storage, problem) for problem in reported)
        refused.append(RefusedFolder(name=one_line(study.folder.name), problems=told))
    sound = [study.folder for study in found if study.folder.name in studies]
    boards, apart = _leaderboards(sound, studies, folder)
    contents = SiteContents(
        name=one_line(storage.name),
        leaderboards=tuple(boards),
        studies=tuple(studies.values()),
        apart={name: _told(storage, why) for name, why in sorted(apart.items())},
        refused=tuple(refused),
    )
    folder.add("index.html", render_page(site_index(contents)).encode())
    changes = folder.publish()
    return Site(
        index=folder.folder / "index.html",
        studies=tuple(studies),
        leaderboards=tuple(tuple(study.name for study in board.studies) for board in boards),
        apart=contents.apart,
        refused={it.name: it.problems for it in refused},
        written=changes.written,
        kept=changes.kept,
        removed=changes.removed,
    )


def _report_or_problems(study: "StoredStudy") -> _Report | tuple[str, ...]:
    """The report of a folder, or what is wrong with the folder.

    Raises:
        UnreachableError: the store does not answer.
    """
    from orchestrator.verify.verify_store import verify_store

    if has_control_characters(study.folder.name):
        return ("its name holds control characters, which podium never writes",)
    if study.problem is not None:
        return (study.problem,)
    try:
        problems = verify_store(study.folder).problems
        return tuple(map(str, problems)) if problems else _report(study.folder)
    except UnreachableError:
        raise
    except PodiumError as error:
        return (str(error),)


def _listed(study: "StoredStudy", report: _Report, folder: SiteFolder) -> "ListedStudy":
    """Write the page and the trials of a study; return its line of the index."""
    from analysis.report.site_index import listed_study

    page, file = _write("studies", study.folder.name, report, folder)
    return listed_study(
        study.folder.name,
        report.results,
        page=page,
        file=file,
        state=study.state,
        num_planned=study.planned,
    )


def _write(kind: str, name: str, report: _Report, folder: SiteFolder) -> "tuple[str, TrialsFile]":
    """Write the page and the trials of one report; return their addresses from the index."""
    from analysis.page.html_page import Link, render_page
    from analysis.report.site_index import TrialsFile

    page, data = f"{kind}/{name}.html", f"data/{kind}/{name}.parquet"
    links = (
        Link(href="../index.html", label="All studies"),
        Link(href=f"../{quote(data)}", label="Trials (Parquet)"),
    )
    digest = folder.add(data, report.trials)
    folder.add(page, render_page(replace(report.page, links=links)).encode())
    file = TrialsFile(href=quote(data), num_bytes=len(report.trials), sha256=digest)
    return quote(page), file


def _leaderboards(
    folders: Sequence[Place], studies: "Mapping[str, ListedStudy]", folder: SiteFolder
) -> "tuple[list[Leaderboard], dict[str, str]]":
    """Write the leaderboards; return them, and for each study in none the reason.

    Args:
        folders: results folders of the studies.
        studies: name -> line of the index.
        folder: the site.
    """
    from orchestrator.results_tools.mergeable_groups import mergeable_groups
    from trainables.importable_code import importing_nothing

    sources, apart = _sources(folders)
    boards: list[Leaderboard] = []
    with importing_nothing("a folder"):
        found = mergeable_groups(sources)
        for group in found.groups:
            names = [source.paths.folder.name for source in group]
            if len(group) == 1:
                reasons = found.reasons[group[0].label]
                apart[names[0]] = "; ".join(reasons[:_SHOWN]) or "there is no other study"
                continue
            try:
                report = _merged_report(group, listed(names, most=MOST_NAMED))
            except PodiumError as error:
                if isinstance(error, UnreachableError):
                    raise
                apart |= dict.fromkeys(names, str(error))
                continue
            boards.append(_board([studies[name] for name in names], report, folder))
    return boards, apart


def _sources(folders: Sequence[Place]) -> "tuple[list[Source], dict[str, str]]":
    """What may be merged, and for each other study the reason, such as that it is being run."""
    from orchestrator.results.trial_files.merge_trials import read_source

    sources, apart = [], {}
    for folder in folders:
        try:
            sources.append(read_source(folder))
        except UnreachableError:
            raise
        except PodiumError as error:
            apart[folder.name] = str(error)
    return sources, apart


def _merged_report(group: "Sequence[Source]", title: str) -> _Report:
    from orchestrator.results_tools.merge_studies import merge_sources

    with TemporaryDirectory(prefix="podium-site-") as scratch:
        merged = merge_sources(group, Path(scratch) / "leaderboard", with_weights=False)
        report = _report(merged.folder)
        return replace(report, page=replace(report.page, title=title))


def _board(studies: "Sequence[ListedStudy]", report: _Report, folder: SiteFolder) -> "Leaderboard":
    """Write the page and the trials of merged studies, named after the first of them."""
    from analysis.report.site_index import leaderboard_of

    page, file = _write("leaderboards", studies[0].name, report, folder)
    return leaderboard_of(report.results, studies=studies, page=page, file=file)


def _told(storage: Place, text: str) -> str:
    """A message as a page shows it: one line, and paths from the storage on."""
    if isinstance(storage, RemotePath) and storage.query:
        text = text.replace(f"?{storage.query}", "")
    above = replace(storage, query="") if isinstance(storage, RemotePath) else storage
    return one_line(text.replace(f"{above}/", "").replace("\n  ", " "))
