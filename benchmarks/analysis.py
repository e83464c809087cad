"""A tournament on ten million rows against pandas, and the report of the thesis's grid.

    python -m benchmarks.analysis [--rows 10000000] [--rounds 3] [--trials 50] [--only PART]

Part ``tournament``: a Parquet table of scores, shuffled. All read it, look for doubled rows and
for recalls that fall as K grows, average seeds and folds at every K, rank losses within blocks
at K = 1 and resample groups of blocks and their blocks 4,000 times. podium calls what `podium
tournament` calls. pandas does it step by step, and once more tuned: names as categories, no
sorting; both multiply resamples as one matrix. All draw alike, so results must be equal. The
limit is on the step-by-step way; the last line, without checks, does less than the others.

Part ``report``: `podium report` in a process of its own, on 28 blocks x 10 losses x 50 trials and
their finals as `benchmarks.synthetic_store` writes them.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

from analysis.tournament.rank_bootstrap import bootstrap_ranks
from analysis.tournament.tournament import hold_tournament
from analysis.typed_tables.score_table import read_table
from benchmarks.interleaved import interleaved_seconds, median_ratio
from benchmarks.synthetic_store import Size, write_synthetic_store

_BY = ("dataset", "backbone", "embedding_dim")
_RUN = ("seed", "fold")
_KS = (1, 2, 4, 8)
_NUM_LOSSES = 10
_REPLICATES = 4_000  # as many as are drawn in one piece
_LIMITS = {"ratio": 4.0, "seconds": 20.0, "gigabytes": 1.0, "page megabytes": 5.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What a tournament gave, by loss: average rank and probability of the first."""

    averages: dict[str, float]
    first: dict[str, float]
    is_falling: bool

    def is_equal(self, other: "Ranking") -> bool:
        """To within rounding of the last digit of a mean."""
        return (
            self.is_falling == other.is_falling
            and self.averages.keys() == other.averages.keys()
            and all(math.isclose(self.averages[n], other.averages[n]) for n in self.averages)
            and all(math.isclose(self.first[n], other.first[n]) for n in self.first)
        )


def write_table(file: Path, num_rows: int) -> int:
    """100 blocks x 10 losses x runs x 4 K in random order; returns how many rows."""
    generator = np.random.default_rng(0)
    num_runs = max(1, num_rows // (100 * _NUM_LOSSES * len(_KS)))
    side = max(1, round(math.sqrt(num_runs)))
    parts = {
        "dataset": [f"dataset_{number}" for number in range(5)],
        "backbone": [f"backbone_{number}" for number in range(5)],
        "embedding_dim": [64, 128, 256, 512],
        "loss": [f"loss_{number}" for number in range(_NUM_LOSSES)],
        "seed": list(range(side)),
        "fold": list(range(max(1, num_runs // side))),
        "k": list(_KS),
    }
    table = pl.DataFrame({"dataset": parts.pop("dataset")})
    for name, values in parts.items():
        table = table.join(pl.DataFrame({name: values}), how="cross")
    # Losses differ by less than their noise in a block, so that ranks differ from block to block.
    strength = pl.col("loss").str.slice(5).cast(pl.Float64) * 0.0001
    per_block = (
        table.select(*_BY, "loss")
        .unique(maintain_order=True)
        .with_columns((pl.lit(0.4) + strength).alias("level"))
    )
    per_block = per_block.with_columns(
        pl.col("level") + pl.Series(generator.normal(0, 0.0005, len(per_block)))
    )
    table = table.join(per_block, on=[*_BY, "loss"], maintain_order="left")
    noise = pl.Series(generator.normal(0, 0.01, len(table)))
    recall = pl.col("level") + 0.05 * pl.col("k").cast(pl.Float64).log(2) + noise
    table = table.select(*_BY, "loss", *_RUN, "k", recall.alias("recall"))
    table[generator.permutation(len(table))].write_parquet(file)
    return len(table)


def ranking_of_podium(file: Path) -> Ranking:
    """What `podium tournament FILE --where k=1 --average seed,fold` computes."""
    table = read_table(
        file, by=_BY, competitor="loss", score="recall", where=["k=1"], average=_RUN
    )
    tournament = hold_tournament(table.cells, by=_BY, competitor="loss", score="recall")
    found = bootstrap_ranks(
        tournament.names,
        tournament.ranks_BC,
        tournament.block_groups,
        replicates=_REPLICATES,
    )
    return Ranking(
        averages={loss.competitor: loss.average_rank for loss in found.competitors},
        first={loss.competitor: loss.p_first for loss in found.competitors},
        is_falling=any("cannot fall" in warning for warning in table.warnings),
    )


def ranking_of_pandas(file: Path) -> Ranking:
    """The same, step by step as the manual of pandas has it."""
    rows = pd.read_parquet(file)
    _refuse_infinite(rows)
    cell = [*_BY, "loss"]
    if rows.duplicated([*cell, *_RUN, "k"]).any():
        raise ValueError("a row is doubled")
    ordered = rows.sort_values([*cell, *_RUN, "k"])
    gain = ordered.groupby([*cell, *_RUN])["recall"].diff()
    means = rows.groupby([*cell, "k"])["recall"].mean().round(12)
    return _ranking_of_means(means, is_falling=bool((gain < 0).any()))


def ranking_of_tuned_pandas(file: Path, *, checks: bool = True) -> Ranking:
    """The quickest way found: names as categories, and recalls of one run side by side."""
    rows = pd.read_parquet(file)
    for name in ("dataset", "backbone", "loss"):
        rows[name] = rows[name].astype("category")
    _refuse_infinite(rows)
    cell = [*_BY, "loss"]
    is_falling = False
    if checks:
        by_k = rows.set_index([*cell, *_RUN, "k"])["recall"].unstack("k")  # raises for doubles
        is_falling = bool((by_k.diff(axis=1) < 0).to_numpy().any())
    means = rows.groupby([*cell, "k"], observed=True)["recall"].mean().round(12)
    return _ranking_of_means(means, is_falling=is_falling)


def _refuse_infinite(rows: pd.DataFrame) -> None:
    if not np.isfinite(rows["recall"].to_numpy()).all():
        raise ValueError("a score is not finite")


def _ranking_of_means(means: pd.Series, *, is_falling: bool) -> Ranking:
    """Ranks at K = 1, and all resamples as one product of matrices."""
    ranks = means.xs(1, level="k").unstack("loss").rank(axis=1, ascending=False)
    counts = _block_counts([(key[0], key[1]) for key in ranks.index])
    totals = pd.DataFrame(counts, columns=ranks.index).dot(ranks)
    is_first = totals.eq(totals.min(axis=1), axis=0)
    first = is_first.div(is_first.sum(axis=1), axis=0).mean()
    return Ranking(
        averages=ranks.mean().to_dict(),
        first={str(name): float(first[name]) for name in ranks.columns},
        is_falling=is_falling,
    )


def _block_counts(groups: list[tuple[str, str]]) -> NDArray[np.float64]:
    """How often each block is drawn, drawn as `bootstrap_ranks` does with its seed 0."""
    generator = np.random.default_rng(0)
    names = list(dict.fromkeys(groups))
    drawn = generator.multinomial(len(names), [1 / len(names)] * len(names), size=_REPLICATES)
    counts = np.zeros((_REPLICATES, len(groups)))
    for number, name in enumerate(names):
        blocks = [block for block, group in enumerate(groups) if group == name]
        shares = [1 / len(blocks)] * len(blocks)
        counts[:, blocks] = generator.multinomial(drawn[:, number] * len(blocks), shares)
    return counts


def compare_tournaments(num_rows: int, rounds: int) -> bool:
    """Print times and their ratios; whether results are equal and the limit is kept."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.parquet"
        print(f"tournament: {write_table(file, num_rows):,} rows")
        ours = ranking_of_podium(file)
        are_equal = all(
            ours.is_equal(theirs(file)) for theirs in (ranking_of_pandas, ranking_of_tuned_pandas)
        )
        ways: dict[str, Callable[[], object]] = {
            "podium": lambda: ranking_of_podium(file),
            "pandas": lambda: ranking_of_pandas(file),
            "pandas, tuned": lambda: ranking_of_tuned_pandas(file),
            "pandas, tuned, no checks": lambda: ranking_of_tuned_pandas(file, checks=False),
        }
        timings = interleaved_seconds(ways, rounds=rounds, device="cpu")
    for name, seconds in timings.items():
        ratio = median_ratio(timings, name, "podium")
        print(f"{name:26}{np.median(seconds):8.2f} s{ratio:8.2f} times podium's")
    is_fast = median_ratio(timings, "pandas", "podium") >= _LIMITS["ratio"]
    print(f"equal results: {are_equal}; {_LIMITS['ratio']:g} times kept: {is_fast}")
    return is_fast and are_equal


def measure_report(trials: int) -> bool:
    """Print time, peak memory and size; whether all limits are kept."""
    size = Size(trials=trials)
    with tempfile.TemporaryDirectory() as name:
        folder = write_synthetic_store(Path(name) / "synthetic", size)
        page = Path(name) / "report.html"
        command = [sys.executable, "-m", "podium", "report", str(folder), "--output", str(page)]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        found = {
            "seconds": time.perf_counter() - started,
            "gigabytes": usage.ru_maxrss * 1024 / 1e9,
            "page megabytes": page.stat().st_size / 1e6,
        }
        process.returncode = os.waitstatus_to_exitcode(status)
    num_trials = len(size.blocks) * len(size.losses) * size.trials
    print(f"report: {num_trials:,} trials of searches, and finals; exit {process.returncode}")
    for quantity, value in found.items():
        print(f"{quantity:24}{value:8.2f}{_LIMITS[quantity]:8g} is the limit")
    return process.returncode == 0 and all(found[name] < _LIMITS[name] for name in found)


def main() -> None:
    """Both parts; exits with 1 where a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--only", choices=["tournament", "report"])
    given = parser.parse_args()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}; polars {pl.__version__}, pandas {pd.__version__}")
    kept = []
    if given.only != "report":
        kept.append(compare_tournaments(given.rows, given.rounds))
    if given.only != "tournament":
        kept.append(measure_report(given.trials))
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
