"""Sites: the studies of a storage folder as static pages, comparable ones in leaderboards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import quote

from analysis.page.html_page import Link, Page, render_page
from analysis.page.page_limits import within_limits
from analysis.report.site_index import (
    Leaderboard,
    ListedStudy,
    RefusedFolder,
    SiteContents,
    TrialsFile,
    leaderboard_of,
    listed_study,
    site_index,
)
from analysis.wording import MOST_NAMED, listed
from orchestrator.results.storage.content_digest import content_digest
from orchestrator.results.storage.locations import (
    Place,
    RemotePath,
    is_inside_folder,
    parse_place,
)
from orchestrator.results.storage.printable_text import has_control_characters, one_line
from podium.api.site_folder import INDEX, SiteFolder
from podium.api.site_memory import SiteMemory, program_digest, read_memory
from podium.errors import PodiumError, StoreError, UnreachableError

if TYPE_CHECKING:
    from analysis.study_results.study_results import StudyResults
    from orchestrator.results.trial_files.merge_trials import Source
    from orchestrator.results_tools.stored_studies import StoredStudy

_MOST_BYTES = 200  # of the name of a study: of a file 255 less an ending and a temporary name
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
        LockHeldError: another process is writing the site.
        StoreError: the storage cannot be read, or the site not be written.
    """
    from orchestrator.results_tools.stored_studies import stored_studies

    place, target = parse_place(storage).absolute(), _local(output)
    if is_inside_folder(place, target):
        raise PodiumError(
            f"--output must lie outside the folder of studies; got {target} in {place}"
        )
    found = stored_studies(place)
    with SiteFolder.open(target) as folder:
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
    page: Page
    trials: bytes


def _report(folder: Place, title: str) -> _Report:
    from analysis.report.report import study_report
    from analysis.study_results.study_results import read_results
    from orchestrator.results.records.store_paths import StudyPaths
    from orchestrator.results.trial_files.published_trials import published_trials

    results = read_results(folder)
    return _Report(
        results=results,
        page=replace(study_report(results), title=title),
        trials=published_trials(StudyPaths(folder)),
    )


def _write_all(storage: Place, found: "Sequence[StoredStudy]", folder: SiteFolder) -> Site:
    """Write every page, or keep it; return what is on the site."""
    memory = read_memory(folder.memory, program_digest())
    studies: dict[str, ListedStudy] = {}
    refused: list[RefusedFolder] = []
    for study in found:
        name = study.folder.name
        listed_or_problems = _listed(study, memory, folder)
        if isinstance(listed_or_problems, ListedStudy):
            studies[name] = listed_or_problems
            continue
        told = tuple(_told(storage, problem) for problem in listed_or_problems)
        refused.append(RefusedFolder(name=one_line(name), problems=told))
    sound = [study.folder for study in found if study.folder.name in studies]
    boards, apart = _leaderboards(sound, studies, memory, folder)
    contents = SiteContents(
        name=one_line(storage.name),
        leaderboards=boards,
        studies=tuple(studies.values()),
        apart={name: _told(storage, why) for name, why in sorted(apart.items())},
        refused=refused,
    )
    folder.add(INDEX, render_page(site_index(contents)).encode())
    now = replace(memory, studies=studies, leaderboards=boards, apart=contents.apart)
    changes = folder.publish(now.record())
    return Site(
        index=folder.folder / INDEX,
        studies=tuple(studies),
        leaderboards=tuple(tuple(study.name for study in board.studies) for board in boards),
        apart=contents.apart,
        refused={it.name: it.problems for it in refused},
        written=changes.written,
        kept=changes.kept,
        removed=changes.removed,
    )


def _listed(
    study: "StoredStudy", memory: SiteMemory, folder: SiteFolder
) -> ListedStudy | Sequence[str]:
    """The line of a study in the index, its page written or kept; or what is wrong with it.

    Args:
        study: the folder.
        memory: what the last version was made from.
        folder: the site.

    Raises:
        UnreachableError: the store does not answer.
    """
    name = study.folder.name
    if has_control_characters(name):
        return ("its name holds control characters, which podium never writes",)
    if len(name.encode()) > _MOST_BYTES:
        return (
            f"its name has {len(name.encode())} bytes; a page is named after it, and a name may"
            f" have {_MOST_BYTES}",
        )
    if study.problem is not None:
        return (study.problem,)
    try:
        content = content_digest(study.folder)  # before anything is read, which may change then
        known = memory.study(name, content)
        if known is not None and folder.keep(_paths("studies", name)):
            return replace(known, state=study.state, num_planned=study.planned)
        report = _verified_report(study.folder)
    except UnreachableError:
        raise
    except PodiumError as error:
        return (str(error),)
    if not isinstance(report, _Report):
        return report
    page, file = _write("studies", name, report, folder)
    return listed_study(
        name,
        report.results,
        content=content,
        page=page,
        file=file,
        state=study.state,
        num_planned=study.planned,
    )


def _verified_report(folder: Place) -> _Report | Sequence[str]:
    """The report of a study, or the problems of its folder."""
    from orchestrator.verify.verify_store import verify_store

    problems = verify_store(folder).problems
    return [str(problem) for problem in problems] if problems else _report(folder, folder.name)


def _paths(kind: str, name: str) -> tuple[str, str]:
    """Paths of the page and of the trials of a report on the site."""
    return f"{kind}/{name}.html", f"data/{kind}/{name}.parquet"


def _write(kind: str, name: str, report: _Report, folder: SiteFolder) -> tuple[str, TrialsFile]:
    """Write the page and the trials of one report; return their addresses from the index."""
    page, data = _paths(kind, name)
    links = (
        Link(href="../index.html", label="All studies"),
        Link(href=f"../{quote(data)}", label="Trials (Parquet)"),
    )
    digest = folder.add(data, report.trials)
    folder.add(page, render_page(within_limits(replace(report.page, links=links))).encode())
    file = TrialsFile(href=quote(data), num_bytes=len(report.trials), sha256=digest)
    return quote(page), file


def _leaderboards(
    folders: Sequence[Place],
    studies: Mapping[str, ListedStudy],
    memory: SiteMemory,
    folder: SiteFolder,
) -> tuple[Sequence[Leaderboard], Mapping[str, str]]:
    """The leaderboards, their pages written or kept, and for each study in none the reason.

    Args:
        folders: results folders of the studies.
        studies: name -> line of the index.
        memory: what the last version was made from.
        folder: the site.
    """
    from orchestrator.results_tools.mergeable_groups import mergeable_groups
    from trainables.importable_code import importing_nothing

    known = memory.all_leaderboards(studies)
    if known is not None and all(
        folder.keep(_paths("leaderboards", board.studies[0].name)) for board in known
    ):
        return known, memory.apart
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
            lines = [studies[name] for name in names]
            board: Leaderboard | str | None = memory.leaderboard(lines)
            if board is None or not folder.keep(_paths("leaderboards", names[0])):
                board = _new_board(group, lines, folder)
            if isinstance(board, Leaderboard):
                boards.append(board)
            else:
                apart |= dict.fromkeys(names, board)
    return boards, apart


def _sources(folders: Sequence[Place]) -> "tuple[list[Source], dict[str, str]]":
    """What may be merged, and for each other study the reason, such as that it is being run.

    Raises:
        StoreError: a folder cannot be read.
    """
    from orchestrator.results.trial_files.merge_trials import read_source

    sources, apart = [], {}
    for folder in folders:
        try:
            sources.append(read_source(folder))
        except StoreError:
            raise
        except PodiumError as error:
            apart[folder.name] = str(error)
    return sources, apart


def _new_board(
    group: "Sequence[Source]", studies: Sequence[ListedStudy], folder: SiteFolder
) -> Leaderboard | str:
    """Merge studies, and write their page, named after the first; or why they are not merged.

    Raises:
        StoreError: a source cannot be read, or the merged folder not be written.
    """
    try:
        report = _merged_report(group, listed([it.name for it in studies], most=MOST_NAMED))
    except StoreError:
        raise
    except PodiumError as error:  # such as that a run of a study began meanwhile
        return str(error)
    page, file = _write("leaderboards", studies[0].name, report, folder)
    return leaderboard_of(report.results, studies=studies, page=page, file=file)


def _merged_report(group: "Sequence[Source]", title: str) -> _Report:
    from orchestrator.results_tools.merge_studies import merge_sources

    with TemporaryDirectory(prefix="podium-site-") as scratch:
        merged = merge_sources(group, Path(scratch) / "leaderboard", with_weights=False)
        return _report(merged.folder, title)


def _told(storage: Place, text: str) -> str:
    """A message as a page shows it: one line, and paths from the storage on."""
    if isinstance(storage, RemotePath) and storage.query:
        text = text.replace(f"?{storage.query}", "")
    above = replace(storage, query="") if isinstance(storage, RemotePath) else storage
    return one_line(text.replace(f"{above}/", "").replace("\n  ", " "))
