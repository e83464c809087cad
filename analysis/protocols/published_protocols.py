"""Choices by validation in a typed table, such as one from a paper.

One row per run: a validation score, a test score, and columns that distinguish rows. The
candidates of a group are what was chosen among; with a column ``fold``, each is a mean over its
folds. The table passes through the same statistics as a study's store. Scores keep their unit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from analysis.estimates.kendall_tau import kendall_tau
from analysis.hypothesis_tests.corrected_resampled_t import fold_statistics
from analysis.scores.protocol_run_checks import checked_runs
from analysis.selection.selection_regret import choice_verdict, search_regrets
from analysis.typed_tables.row_filters import missing_column
from analysis.typed_tables.table_file import read_frame
from podium.errors import PodiumError

_CANDIDATES = ("setting", "config", "protocol")
_FOLD = "fold"
_ERRORS = {"std", "sd", "se", "error", "low", "high"}  # words of columns that are no scores
_ALONE = "one candidate"
_CONFIG = ("block", "loss", "protocol", "config")

_FOLD_SCHEMA = {
    "num_folds": pl.Int64,
    "test_mean": pl.Float64,
    "test_std": pl.Float64,
    "val_mean": pl.Float64,
    "val_std": pl.Float64,
    "tau": pl.Float64,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedProtocols:
    """What a typed table shows of its protocols.

    Attributes:
        by: columns that name a group, within which something was chosen.
        folds: one row per group and candidate with folds, from ``fold_summary``, ``group`` first.
        choices: one row per group with several tested candidates, from ``search_regrets``,
            ``group`` first.
        verdicts: name and sentence of each group.
    """

    by: tuple[str, ...]
    folds: pl.DataFrame
    choices: pl.DataFrame
    verdicts: tuple[tuple[str, str], ...]


def published_protocols(
    path: Path,
    *,
    by: Sequence[str] | None = None,
    candidate: str | None = None,
    val: str | None = None,
    test: str | None = None,
) -> PublishedProtocols:
    """Read a CSV or Parquet file and compare each group's pick with the best on test.

    Args:
        path: path of the table.
        by: columns that name a group; None means all columns of text besides the candidates'.
        candidate: column of what is chosen among; None means ``setting``, ``config`` or
            ``protocol``, whichever is there first.
        val: column of validation scores; None means the one column with ``val`` among its words.
        test: column of test scores; None means the one column with ``test`` among its words and no
            word of an error, such as ``std``.

    Raises:
        PodiumError: a column is missing or cannot be guessed, or a row is duplicated.
        CorruptFileError: the file is not what its name says.
    """
    frame, source = read_frame(path), str(path)
    names = {
        "val": val or _guessed(frame, "val", source),
        "test": test or _guessed(frame, "test", source),
    }
    chosen_among = candidate or next((n for n in _CANDIDATES if n in frame.columns), None)
    others = [name for name in frame.columns if name not in (chosen_among, *names.values())]
    texts = [name for name in others if frame.schema[name] == pl.String and frame[name].count()]
    groups = texts if by is None else list(by)
    for name in (*groups, *([chosen_among] if chosen_among else []), *names.values()):
        if name not in frame.columns:
            raise missing_column(name, frame.columns, source=source)
    runs = _runs(frame, groups, chosen_among, names)
    folds = fold_summary(runs).drop("loss", "protocol").rename({"block": "group"})
    regrets = search_regrets(runs).drop("loss", "protocol", "repeat").rename({"block": "group"})
    return PublishedProtocols(
        by=tuple(groups),
        folds=folds,
        choices=regrets.filter(pl.col("naive_regret").is_not_null()),
        verdicts=tuple(
            (
                str(group),
                _verdict(own, folds.filter(pl.col("group") == group)),
            )
            for (group,), own in runs.group_by("block", maintain_order=True)
        ),
    )


def fold_summary(runs: pl.DataFrame) -> pl.DataFrame:
    """Mean and sample standard deviation over folds, and how validation and test agree over them.

    Repeats and seeds are averaged within a fold. A fold without a completed run that has both
    scores is missing. ``tau`` compares folds, each with validation classes of its own, some easier
    than others: it says nothing about choosing a config (see ``rank_agreement``).

    Args:
        runs: runs of the table, from ``checked_runs``; those without a fold are left out.

    Returns:
        ``block``, ``loss``, ``protocol``, ``config``, ``num_folds``, ``test_mean``,
        ``test_std``, ``val_mean``, ``val_std`` (null with one fold) and ``tau`` (Kendall's tau-b;
        null if undefined).
    """
    folds = (
        runs.filter(pl.col("state") == "COMPLETE")
        .drop_nulls(["fold", "val", "test"])
        .group_by(*_CONFIG, "fold")
        .agg(pl.col("val", "test").mean())
        .sort(*_CONFIG, "fold")
    )
    rows = []
    for config, group in folds.group_by(_CONFIG, maintain_order=True):
        val, test = group["val"].to_list(), group["test"].to_list()
        tau = kendall_tau(val, test)
        rows.append(
            {
                **dict(zip(_CONFIG, config, strict=True)),
                "num_folds": len(group),
                "test_mean": fold_statistics(test).mean,
                "test_std": fold_statistics(test).std,
                "val_mean": fold_statistics(val).mean,
                "val_std": fold_statistics(val).std,
                "tau": None if math.isnan(tau) else tau,
            }
        )
    return pl.DataFrame(rows, schema={**dict.fromkeys(_CONFIG, pl.String), **_FOLD_SCHEMA})


def _guessed(frame: pl.DataFrame, word: str, source: str) -> str:
    found = [
        name
        for name, kind in frame.schema.items()
        if (kind.is_numeric() or not frame[name].count())
        and _has_word(name, word)
        and not _is_error(name)
    ]
    if len(found) != 1:
        many = f"{', '.join(found)} might be" if found else "none is"
        raise PodiumError(
            f"a table of protocols needs one column of {word} scores; in {source} {many}: name it"
            f" with --{word} (columns: {', '.join(frame.columns)})"
        )
    return found[0]


def _has_word(name: str, word: str) -> bool:
    return any(part.startswith(word) for part in name.lower().split("_"))


def _is_error(name: str) -> bool:
    return bool(_ERRORS & set(name.lower().split("_")))


def _runs(
    frame: pl.DataFrame, groups: Sequence[str], candidate: str | None, names: dict[str, str]
) -> pl.DataFrame:
    """The table as the runs of one search per group."""
    group = pl.concat_str(groups, separator="/") if groups else pl.lit("")
    fold = pl.col(_FOLD) if _FOLD in frame.columns else pl.lit(None)
    return checked_runs(
        frame.select(
            group.alias("block"),
            pl.lit("").alias("loss"),
            pl.lit("").alias("protocol"),
            pl.lit("search").alias("stage"),
            pl.lit(0).alias("repeat"),
            (pl.col(candidate).cast(pl.String) if candidate else pl.lit(_ALONE)).alias("config"),
            pl.lit(0).alias("seed"),
            fold.cast(pl.Int64).alias("fold"),
            pl.lit("COMPLETE").alias("state"),
            *(pl.col(column).cast(pl.Float64).alias(name) for name, column in names.items()),
        )
    )


def _verdict(own: pl.DataFrame, folds: pl.DataFrame) -> str:
    """The sentence of one group."""
    sentences = [_of_folds(row) for row in folds.to_dicts()]
    if own["config"].n_unique() > 1 and own["val"].count():
        sentences.append(choice_verdict(search_regrets(own).row(0, named=True)))
    if not sentences and not own["val"].count():
        return "no validation scores, so what validation would choose is not known"
    return "; ".join(sentences) or "one candidate, and nothing to choose among"


def _of_folds(row: dict[str, object]) -> str:
    def spread(side: str) -> str:
        mean, std = row[f"{side}_mean"], row[f"{side}_std"]
        return f"{mean:.3f}" if std is None else f"{mean:.3f} ± {std:.3f}"

    named = "" if row["config"] == _ALONE else f"{row['config']}: "
    tau = "" if row["tau"] is None else f", Kendall's tau over folds {row['tau']:.3f}"
    return (
        f"{named}test {spread('test')} over {row['num_folds']} folds (sample standard deviation),"
        f" validation {spread('val')}{tau}"
    )
