"""``podium tournament``: rank the losses of a study, or any table of scores."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.block_runs import block_runs
from analysis.fairness import planned_fairness
from analysis.medals import shared_places
from analysis.protocol_runs import protocols_of
from analysis.rank_uncertainty import RankStability, rank_stability
from analysis.study_table import BLOCK_COLUMNS, study_table
from analysis.tables import ScoreTable, read_table
from analysis.tournament import Tournament, hold_tournament
from analysis.tournament_record import standing_records, tournament_record
from analysis.tournament_text import tournament_sentences
from orchestrator.results.errors import PodiumError
from orchestrator.results.fairness import Fairness
from podium.plan_fairness import difference_notes
from podium.printing import AsCsv, AsJson, print_json, print_table, table_text
from podium.study_argument import StorageFolder, results_folder

if TYPE_CHECKING:
    from orchestrator.results.reader import Reader

__all__ = ["command"]

_WIDTH = 80
_TABLES = (".csv", ".parquet")


def command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE_OR_STUDY",
            help="A table (CSV or Parquet), a study file (YAML) or a results folder.",
        ),
    ],
    by: Annotated[
        str, typer.Option(help="Columns of a table that together name a block.")
    ] = ",".join(BLOCK_COLUMNS),
    competitor: Annotated[str, typer.Option(help="Column of a table with the losses.")] = "loss",
    score: Annotated[
        str, typer.Option(help="Column of a table with the scores; higher is better.")
    ] = "recall",
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Keep such rows only, as in k=1. Repeatable."),
    ] = None,
    average: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Average over these columns, such as seed,fold."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level of all tests.", min=0.0001, max=0.5)] = 0.05,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Rank losses within blocks (data set x backbone x dimension) and test the differences.

    Of a study, the winners of its searches are ranked by test recall (continuous labels: nDCG).
    Published defaults: --where finalist=default. Another K: --where k=4. Of several protocols the
    first that does not leak: --where protocol=LABEL. Trained on all classes: --where train_on=all.

    Example: podium tournament scores.csv --by dataset,backbone --score recall --where k=1
    """
    fairness = None
    if source.suffix in _TABLES:
        table = read_table(
            source,
            by=_names(by, "--by"),
            competitor=competitor,
            score=score,
            where=where or (),
            average=_names(average, "--average") if average is not None else (),
        )
    else:
        from orchestrator.results.reader import Reader

        reader = Reader(results_folder(source, storage))
        table = _of_study(reader, where or [])
        fairness = planned_fairness(reader.provenance())
    tournament = _held(table, table.by, alpha)
    stability = rank_stability(tournament, block_runs(table, tournament))
    pseudo = _pseudo_blocks(table, tournament)
    if as_json:
        pseudo_record = (
            {"by": pseudo.by, "competitors": standing_records(pseudo)} if pseudo else None
        )
        print_json(
            {
                **tournament_record(tournament, stability),
                "warnings": table.warnings,
                "pseudo_blocks": pseudo_record,
                "fairness": fairness.to_dict() if fairness else None,
            }
        )
    elif as_csv:
        shared = shared_places(tournament, stability)
        rows = standing_records(tournament)
        rows = [
            {**row, "shared_with": ", ".join(shared.get(row["competitor"], ()))} for row in rows
        ]
        print_table(rows, as_csv=True)
    else:
        typer.echo(_text(table, tournament, stability, pseudo, fairness))


def _of_study(reader: "Reader", where: list[str]) -> ScoreTable:
    return study_table(
        reader.trials(),
        reader.test_scores(),
        primary_k=reader.study()["ks"][0],
        metric=reader.objective,
        where=where,
        protocols=protocols_of(reader.study()),
    )


def _held(table: ScoreTable, by: tuple[str, ...], alpha: float) -> Tournament:
    frame = table.cells if by == table.by else table.runs
    return hold_tournament(
        frame, by=by, competitor=table.competitor, score=table.score, alpha=alpha
    )


def _pseudo_blocks(table: ScoreTable, tournament: Tournament) -> Tournament | None:
    """With one block, its runs ranked one by one, for description only."""
    if not (tournament.is_descriptive and table.run_columns):
        return None
    try:
        return _held(table, (*table.by, *table.run_columns), tournament.alpha)
    except PodiumError:
        return None  # no run holds every competitor


def _text(
    table: ScoreTable,
    tournament: Tournament,
    stability: RankStability | None,
    pseudo: Tournament | None,
    fairness: Fairness | None,
) -> str:
    num_blocks = len(tournament.blocks)
    title = (
        f"{len(tournament.names)} competitors ranked by {table.score} within "
        f"{num_blocks} {'block' if num_blocks == 1 else 'blocks'} ({' x '.join(table.by)})"
    )
    parts = [title, _standings_text(tournament, stability)]
    if pseudo is not None:
        parts += [
            f"Each {' and '.join(table.run_columns)} ranked on its own, for description only:",
            _standings_text(pseudo, None),
        ]
    parts += tournament_sentences(tournament, stability)
    parts += [f"Warning: {line}" for line in table.warnings]
    parts += difference_notes(fairness) if fairness else []
    return "\n\n".join(
        part if "\n" in part else textwrap.fill(part, _WIDTH, break_on_hyphens=False)
        for part in parts
    )


def _standings_text(tournament: Tournament, stability: RankStability | None) -> str:
    columns = ("place", "competitor", "total", "average", "sd", "min", "max", "wins", "mean score")
    shared = shared_places(tournament, stability)
    rows: list[dict[str, Any]] = [
        {
            "place": f"{standing.place} shared"
            if standing.competitor in shared
            else standing.place,
            "competitor": standing.competitor,
            "total": _whole(standing.total_rank),
            "average": round(standing.average_rank, 2),
            "sd": None if standing.rank_std is None else round(standing.rank_std, 2),
            "min": _whole(standing.min_rank),
            "max": _whole(standing.max_rank),
            "wins": standing.wins,
            "mean score": standing.mean_score,
        }
        for standing in tournament.standings
    ]
    return table_text(rows, columns=columns)


def _whole(rank: float) -> int | float:
    return int(rank) if rank.is_integer() else rank


def _names(text: str, option: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise PodiumError(f"{option} must be column names divided by commas; got {text!r}")
    return names
