"""The index of a site: leaderboards of comparable studies, all studies, their files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

import polars as pl

from analysis.page.html_page import Bullets, Cell, Column, Page, Paragraph, Part, Section, Table
from analysis.report.summary import rank_cell
from analysis.report.verdict import answer_headline
from analysis.study_results.study_results import StudyResults
from analysis.tournament.medals import rank_ranges
from analysis.wording import MISSING, MOST_NAMED, counted, listed

_COMMIT_DIGITS = 10
_HYPHEN = "\N{NON-BREAKING HYPHEN}"
_SHOWN = 3  # problems of a refused folder
_HASH = Column(label="SHA-256", is_number=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialsFile:
    """A Parquet file of the site.

    Attributes:
        href: address of the file, relative to the index.
        num_bytes: size of the file.
        sha256: SHA-256 of the file.
    """

    href: str
    num_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedStudy:
    """What the index says of one study.

    Attributes:
        name: name of its folder.
        content: SHA-256 of all that its folder held; it is not shown.
        page: address of its report, relative to the index.
        file: its trials.
        state: what became of it so far, as ``podium status`` says.
        losses: losses by name.
        tested: losses with a final trial of their winner.
        num_blocks: number of blocks with trials.
        num_trials: number of committed trials of all stages.
        num_planned: number of trials that it plans at most; None where that is unknown.
        first: competitors of rank 1; empty without a ranking.
        headline: verdict in one sentence.
        started: day of its first trial in UTC; None without one.
        ended: day of its last trial in UTC; None without one.
        version: version of podium that was recorded; empty if none was.
        commit: commit that was recorded; empty if none was.
    """

    name: str
    content: str
    page: str
    file: TrialsFile
    state: str
    losses: Sequence[str]
    tested: Sequence[str]
    num_blocks: int
    num_trials: int
    num_planned: int | None
    first: Sequence[str]
    headline: str
    started: str | None
    ended: str | None
    version: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A competitor of a leaderboard.

    Attributes:
        name: name of the competitor.
        place: rank by average rank, 1 is best.
        ranks: its rank, or the range of those that share it: ``2–3``.
        average_rank: mean rank over the blocks.
        mean_score: mean test score over the blocks, in percent.
    """

    name: str
    place: int
    ranks: str
    average_rank: float
    mean_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """What the index says of one group of comparable studies, merged.

    Attributes:
        studies: its studies by name.
        page: address of the merged report, relative to the index.
        file: the merged trials.
        headline: verdict in one sentence, or why there is no ranking.
        metric: what the scores are, such as ``Recall@1``.
        contenders: competitors by rank; empty without a ranking.
        num_blocks: number of blocks that were ranked.
        num_left_out: number of blocks left out for a missing score.
        num_trials: number of trials, those of several studies once.
    """

    studies: Sequence[ListedStudy]
    page: str
    file: TrialsFile
    headline: str
    metric: str
    contenders: Sequence[Contender]
    num_blocks: int
    num_left_out: int
    num_trials: int

    @property
    def title(self) -> str:
        """Names of its studies."""
        return listed([study.name for study in self.studies], most=MOST_NAMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedFolder:
    """A folder that is not shown.

    Attributes:
        name: name of the folder.
        problems: what is wrong with it, at least one sentence.
    """

    name: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteContents:
    """All that the index of a site shows.

    Attributes:
        name: name of the storage folder.
        leaderboards: leaderboards, the one of the first study first.
        studies: studies by name.
        apart: name of a study that no leaderboard has -> why.
        refused: folders that are damaged, altered or no results.
    """

    name: str
    leaderboards: Sequence[Leaderboard]
    studies: Sequence[ListedStudy]
    apart: Mapping[str, str]
    refused: Sequence[RefusedFolder]


def listed_study(
    name: str,
    results: StudyResults,
    *,
    content: str,
    page: str,
    file: TrialsFile,
    state: str,
    num_planned: int | None,
) -> ListedStudy:
    """What the index says of a study.

    Args:
        name: name of its folder.
        results: results of the study.
        content: SHA-256 of all that its folder held.
        page: address of its report, relative to the index.
        file: its trials.
        state: what became of it so far.
        num_planned: number of trials that it plans at most; None where that is unknown.
    """
    trials, recorded = results.trials, results.reader.provenance()
    ranked = results.tournament.standings if results.tournament else ()
    days = trials.select(
        pl.col("started_at").min().dt.date().cast(pl.String),
        pl.col("ended_at").max().dt.date().cast(pl.String),
    )
    changed = " with changes" if recorded.get("git_dirty") else ""
    commit = str(recorded.get("git_commit") or "")[:_COMMIT_DIGITS]
    return ListedStudy(
        name=name,
        content=content,
        page=page,
        file=file,
        state=state,
        losses=results.losses,
        tested=tuple(sorted(set(results.winners["loss"]))),
        num_blocks=trials["block"].n_unique(),
        num_trials=len(trials),
        num_planned=num_planned,
        first=tuple(it.competitor for it in ranked if it.place == 1),
        headline=answer_headline(results),
        started=days["started_at"].item(),
        ended=days["ended_at"].item(),
        version=str(recorded.get("podium_version") or ""),
        commit=f"{commit}{changed}" if commit else "",
    )


def leaderboard_of(
    results: StudyResults, *, studies: Sequence[ListedStudy], page: str, file: TrialsFile
) -> Leaderboard:
    """What the index says of merged studies.

    Args:
        results: results of the merged study.
        studies: the studies that it was merged from.
        page: address of its report, relative to the index.
        file: its trials.
    """
    held = results.tournament
    ranges = rank_ranges(held, results.stability) if held else {}
    return Leaderboard(
        studies=tuple(studies),
        page=page,
        file=file,
        headline=answer_headline(results),
        metric=results.ranked_by.label,
        contenders=tuple(
            Contender(
                name=standing.competitor,
                place=standing.place,
                ranks=rank_cell(standing, ranges).text,
                average_rank=standing.average_rank,
                mean_score=standing.mean_score,
            )
            for standing in (held.standings if held else ())
        ),
        num_blocks=len(held.blocks) if held else 0,
        num_left_out=len(held.excluded) if held else 0,
        num_trials=len(results.trials),
    )


def site_index(site: SiteContents) -> Page:
    """The index of a site as values."""
    sections = (
        _summary(site),
        *(_leaderboard(found, number) for number, found in enumerate(site.leaderboards, start=1)),
        _studies(site.studies),
        _apart(site),
        _files(site),
        _refused(site.refused),
    )
    studies = counted(len(site.studies), "study", "studies")
    boards = counted(len(site.leaderboards), "leaderboard")
    return Page(
        title=site.name,
        subtitle=f"Index of {studies} and {boards}",
        sections=tuple(section for section in sections if section is not None),
    )


def _summary(site: SiteContents) -> Section:
    compared = sum(len(found.studies) for found in site.leaderboards)
    studies = counted(len(site.studies), "study", "studies")
    text = f"{studies}: none is comparable with another."
    if site.leaderboards:
        boards = counted(len(site.leaderboards), "leaderboard")
        text = f"{studies}, {compared} of them comparable and merged into {boards}."
    return Section(
        name="answer",
        title="",
        label="Summary",
        parts=(*_refusal_notice(site.refused), Paragraph(text=text, style="lead")),
    )


def _refusal_notice(refused: Sequence[RefusedFolder]) -> Iterator[Part]:
    if refused:
        names = listed([folder.name for folder in refused], most=MOST_NAMED)
        folders = counted(len(refused), "folder")
        yield Paragraph(text=f"{folders} refused, and not shown: {names}.", style="notice")


def _leaderboard(found: Leaderboard, number: int) -> Section:
    title = "Leaderboard" if number == 1 else f"Leaderboard {number}"
    parts: tuple[Part, ...] = (
        Paragraph(text=f"{found.title}, merged. {found.headline}", style="lead"),
        *([_ranking(found, number)] if found.contenders else []),
        _sources(found, number),
    )
    return Section(name=f"leaderboard-{number}", title=title, parts=parts)


def _ranking(found: Leaderboard, number: int) -> Table:
    blocks = counted(found.num_blocks, "block")
    left_out = f" {counted(found.num_left_out, 'block')} left out." if found.num_left_out else ""
    heads = ("Rank", f"Mean {found.metric}, %", "Average rank", "Blocks")
    return Table(
        name=f"ranking-{number}",
        caption=f"Tuned losses ranked within {blocks} of the merged studies; 1 is best, and of"
        f" ranks such as 2–3 the order is not decided.{left_out}",
        columns=(*Column.texts("Competitor"), *Column.numbers(*heads), *Column.texts("From")),
        rows=tuple(_contender_row(it, found) for it in found.contenders),
        note="A number leads to the Parquet file of the trials that it comes from, a name to the"
        " merged report, which also ranks parts of the blocks, such as those of one data set.",
        is_sortable=True,
    )


def _contender_row(contender: Contender, found: Leaderboard) -> tuple[Cell, ...]:
    names = [study.name for study in found.studies if contender.name in study.tested]
    return (
        Cell(text=contender.name, order=contender.name, href=found.page),
        Cell(
            text=contender.ranks,
            order=contender.place,
            href=found.file.href,
        ),
        _linked(Cell.number(contender.mean_score), found.file),
        _linked(Cell.number(contender.average_rank), found.file),
        _linked(Cell.count(found.num_blocks), found.file),
        Cell.word(listed(names, most=MOST_NAMED)),
    )


def _linked(cell: Cell, file: TrialsFile) -> Cell:
    return replace(cell, href=file.href)


def _sources(found: Leaderboard, number: int) -> Table:
    rows = [
        (
            Cell(text="merged", order="", href=found.page),
            Cell.word(listed([it.name for it in found.contenders], most=MOST_NAMED) or MISSING),
            _linked(Cell.count(found.num_trials), found.file),
        ),
        *(
            (
                Cell(text=study.name, order=study.name, href=study.page),
                Cell.word(listed(study.losses, most=MOST_NAMED)),
                _linked(Cell.count(study.num_trials), study.file),
            )
            for study in found.studies
        ),
    ]
    return Table(
        name=f"sources-{number}",
        caption="Studies of this leaderboard; a trial that several have is merged once",
        columns=(*Column.texts("Study", "Losses"), *Column.numbers("Trials")),
        rows=tuple(rows),
        note="A name leads to the report, a number to the Parquet file.",
        is_sortable=True,
    )


def _studies(studies: Sequence[ListedStudy]) -> Section:
    table = Table(
        name="studies",
        caption="Studies of the storage; days are those of the first and of the last trial, in"
        " UTC",
        columns=(
            *Column.texts("Study", "First", "State"),
            *Column.numbers("Losses", "Blocks", "Trials"),
            *Column.texts("Started", "Ended", "podium", "Commit"),
        ),
        rows=tuple(map(_study_row, studies)),
        note="A name leads to the report, a number to the Parquet file.",
        is_sortable=True,
    )
    verdicts = Table(
        name="verdicts",
        caption="Verdict of each study by itself",
        columns=Column.texts("Study", "Losses", "Verdict"),
        rows=tuple(
            (
                Cell(text=study.name, order=study.name, href=study.page),
                Cell.word(listed(study.losses, most=MOST_NAMED)),
                Cell(text=study.headline),
            )
            for study in studies
        ),
        is_sortable=True,
    )
    nothing = Paragraph(text="No folder of the storage is a sound study.")
    parts: tuple[Part, ...] = (table, verdicts) if studies else (nothing,)
    return Section(name="all-studies", title="Studies", parts=parts)


def _study_row(study: ListedStudy) -> tuple[Cell, ...]:
    planned = study.num_planned
    trials = Cell(
        text=str(study.num_trials),
        detail="" if planned in (None, study.num_trials) else f"of {planned}",
        order=study.num_trials,
    )
    return (
        Cell(text=study.name, order=study.name, href=study.page),
        Cell.word(listed(study.first) or MISSING),
        Cell.word(study.state),
        _linked(Cell.count(len(study.losses)), study.file),
        _linked(Cell.count(study.num_blocks), study.file),
        _linked(trials, study.file),
        _unbroken(study.started),
        _unbroken(study.ended),
        Cell.word(study.version or MISSING),
        Cell.word(study.commit or MISSING),
    )


def _unbroken(day: str | None) -> Cell:
    """A day that no line break divides."""
    return Cell(text=(day or MISSING).replace("-", _HYPHEN), order=day)


def _apart(site: SiteContents) -> Section | None:
    if not site.apart:
        return None
    return Section(
        name="apart",
        title="Studies in no leaderboard",
        parts=(Bullets(items=tuple(f"{name}: {why}" for name, why in site.apart.items())),),
    )


def _files(site: SiteContents) -> Section | None:
    files = [
        *((f"leaderboard of {it.title}", it.num_trials, it.file) for it in site.leaderboards),
        *((study.name, study.num_trials, study.file) for study in site.studies),
    ]
    if not files:
        return None
    table = Table(
        name="parquet-files",
        caption="Parquet files of this site: one row a trial; finals of tuned losses are those of"
        " the stage final where is_winner is true",
        columns=(*Column.texts("File", "Of"), *Column.numbers("Trials", "Bytes"), _HASH),
        rows=tuple(
            (
                Cell(text=unquote(file.href), order=file.href, href=file.href),
                Cell.word(of),
                Cell.count(trials),
                Cell.count(file.num_bytes),
                Cell.word(file.sha256),
            )
            for of, trials, file in files
        ),
        is_sortable=True,
    )
    return Section(name="files", title="Data files", parts=(table,))


def _refused(refused: Sequence[RefusedFolder]) -> Section | None:
    if not refused:
        return None
    table = Table(
        name="refused",
        caption="Folders that are not shown, since podium verify finds problems in them, or"
        " since they hold no study",
        columns=Column.texts("Folder", "Problems"),
        rows=tuple(
            (Cell.word(folder.name), Cell(text=" · ".join(_first(folder.problems))))
            for folder in refused
        ),
    )
    return Section(name="refused-folders", title="Refused folders", parts=(table,))


def _first(problems: Sequence[str]) -> tuple[str, ...]:
    more = len(problems) - _SHOWN
    return (*problems[:_SHOWN], *([f"and {counted(more, 'more problem')}"] if more > 0 else []))
