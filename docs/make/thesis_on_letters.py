"""Runs the thesis's experiments on letters, and makes docs/examples/thesis-on-letters.md of them.

    python -m docs.make.thesis_on_letters [STORAGE]

Eighteen minutes on two idle cores. Runs that are there already are continued, or only read.
"""

import math
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean

import polars as pl
from scipy.stats import kendalltau

import podium
from docs.make.markdown import table
from podium.orchestrator.results.trial_files.reader import Reader

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "examples" / "thesis-on-letters.md"
_STUDIES = ("thesis-letters", "thesis-letters-validation", "continuous-labels")
_TABLES = {"CUB": "thesis_cub200", "CARS": "thesis_cars196", "SOP": "thesis_sop"}
_PROXY = ("proxy_nca", "arcface", "soft_triple", "proxy_anchor")
_ALL_DISTANCES = ("log_ratio", "dense_triplet")
_SHARE = 0.95  # of the best score of a training

_OPENING = """\
<!-- Made by `python -m docs.make.thesis_on_letters`: edit that file, not this one. -->
# The thesis on letters

Psomas 2020, *Metric Learning: A Deep Dive*, compares ten losses on birds, cars and products with large networks. Here its
experiments are repeated with letters and a network of four layers that begins at random: ten losses, six data sets,
{dims} dimensions, {trials:,} trials, {hours:.1f} hours of one core. Numbers are not to be compared with the thesis's, findings are: beside
each answer stands the thesis's. Scores are Recall@1 on classes that were not trained on, in percent.
"""

_REPRODUCTION = """
## Reproduction

```console
$ python -m docs.make.thesis_on_letters podium-results
```

The command runs `studies/thesis-letters.yaml`, `studies/thesis-letters-validation.yaml` and `studies/continuous-labels.yaml`,
which show their progress and continue where they were stopped; `podium verify` checks the folders; then it writes this page from
their rows.
"""

_MEANING = """
## What differs from the thesis, and what does not

- **The order of the losses does not carry over.** Here losses on embeddings lead, there losses with proxies. Longer training
  does not turn it: with 40 epochs on latin and greek at 32 dimensions triplet has 67.7 and proxy_anchor 63.9 (`podium run
  studies/thesis-letters.yaml --set training.epochs=40`, with fewer data sets, dimensions and losses). What else differs: the
  network begins at random, classes are few, and all proxies share one rate.
- **The gain from tuning and from more dimensions does.** Both are larger here than there.
- **What protocols select is alike, what they promise is not.** Choosing on test promises five points that no other training
  of the same config has; ten folds cost ten times as much and select no better here.
"""


def main() -> None:
    """Run the studies and write the page."""
    storage = Path(sys.argv[1] if len(sys.argv) > 1 else "podium-results")
    for name in _STUDIES:
        file = _ROOT / "studies" / f"{name}.yaml"
        for command in (["run", file, "--storage", storage], ["verify", storage / name]):
            subprocess.run([sys.executable, "-m", "podium", *map(str, command)], check=True)
    _PAGE.write_text("\n".join(_page(storage)), encoding="utf-8")


def _page(storage: Path) -> Iterator[str]:
    losses, validation, continuous = readers = [Reader(storage / name) for name in _STUDIES]
    every = pl.concat(reader.trials().select("seconds", "same_as") for reader in readers)
    trained = every.filter(pl.col("same_as").is_null()).collect()
    finals = losses.trials().filter(stage="final", state="COMPLETE").collect()
    yield _OPENING.format(
        dims=finals["embedding_dim"].n_unique(),
        trials=trained.height,
        hours=trained["seconds"].sum() / 3600,
    )
    yield from _which_loss(podium.results(storage / _STUDIES[0]))
    yield from _dimension(finals)
    yield from _speed(losses)
    yield from _tuning(validation)
    yield from _protocols(validation)
    yield from _continuous(continuous)
    yield _MEANING
    yield _REPRODUCTION


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _which_loss(results: podium.Results) -> Iterator[str]:
    """Ranks here and in the thesis's tables 6 to 10."""
    found = results.tournament()
    printed = {}
    for name, file in _TABLES.items():
        ranked = podium.rank(
            _ROOT / "studies" / f"{file}.csv",
            by="dataset,backbone,embedding_dim",
            score="recall",
            where="k=1",
        ).frame
        ranks = ranked.select("competitor", "average_rank").iter_rows()
        printed[name] = {_plain(loss): rank for loss, rank in ranks}
    rows = [
        (
            row["competitor"],
            f"{row['average_rank']:.2f}",
            f"{100 * row['mean_score']:.1f}",
            *(f"{of_table[_plain(row['competitor'])]:.2f}" for of_table in printed.values()),
        )
        for row in found.frame.to_dicts()
    ]
    yield "## Which losses win?\n"
    yield f"**{found.headline}**\n"
    yield "Average rank over settings (data set, network, dimension), the thesis's by its tables 6 to 10:\n"
    yield table(("loss", "letters", "mean, %", *(f"thesis, {name}" for name in printed)), rows)
    here = {_plain(row["competitor"]): row["average_rank"] for row in found.frame.to_dicts()}
    taus = [
        f"{name} {kendalltau([here[loss] for loss in ranks], list(ranks.values())).statistic:.2f}"
        for name, ranks in printed.items()
    ]
    of_tables = [
        f"{a} and {b} {kendalltau(list(of_a.values()), [of_b[loss] for loss in of_a]).statistic:.2f}"
        for (a, of_a), (b, of_b) in combinations(printed.items(), 2)
    ]
    yield (
        f"\nKendall's tau of the order here and there: {', '.join(taus)}. Of the thesis's own"
        f" tables: {', '.join(of_tables)}."
    )
    proxies = set(map(_plain, _PROXY))

    def mean_rank(tables: Iterable[Mapping[str, float]], *, is_proxy: bool) -> str:
        ranks = (item for table in tables for item in table.items())
        return f"{fmean(rank for loss, rank in ranks if (loss in proxies) == is_proxy):.2f}"

    ours, theirs = (
        [mean_rank(tables, is_proxy=is_proxy) for is_proxy in (True, False)]
        for tables in ([here], printed.values())
    )
    yield (
        f"\nOn average proxy and classification losses have {ours[0]} and embedding losses have"
        f" {ours[1]}; in the thesis {theirs[0]} and {theirs[1]}."
    )


def _dimension(finals: pl.DataFrame) -> Iterator[str]:
    dims = sorted(finals["embedding_dim"].unique())
    means = finals.pivot(
        "embedding_dim", index="loss", values="test_recall_at_1", aggregate_function="mean"
    ).sort(str(dims[-1]), descending=True)
    cub = pl.read_csv(_ROOT / "studies" / "thesis_cub200.csv").filter(k=1)
    thesis = cub.group_by("embedding_dim").agg(pl.col("recall").mean()).sort("embedding_dim")
    yield "\n## Which dimension?\n"
    yield table(
        ("loss", *map(str, dims), "gain"),
        [
            (
                row["loss"],
                *(f"{100 * row[str(dim)]:.1f}" for dim in dims),
                f"{100 * (row[str(dims[-1])] - row[str(dims[0])]):+.1f}",
            )
            for row in means.to_dicts()
        ],
    )
    ours = [100 * means[str(dim)].mean() for dim in dims]
    doublings = ", ".join(f"{after - before:+.1f}" for before, after in pairwise(ours))
    rows = thesis.rows()
    theirs = ", ".join(
        f"{(after - before) / math.log2(larger / dim):+.1f}"
        for (dim, before), (larger, after) in pairwise(rows)
    )
    yield (
        f"\nEach doubling from {dims[0]} on moves the mean of all losses by {doublings} points. The"
        f" thesis's mean on CUB over its networks moves by {theirs} a doubling, from {rows[0][0]} to"
        f" {rows[-1][0]} dimensions."
    )


def _speed(reader: Reader) -> Iterator[str]:
    """Epochs until a share of the best score of a training, on the classes of the test."""
    curves = (
        reader.scores()
        .filter(stage="search", metric="recall", k=1, role="val", state="COMPLETE")
        .select("trial_id", "loss", "epoch", "value")
        .collect()
    )
    best = pl.col("value").max().over("trial_id")
    reached = curves.filter(pl.col("value") >= _SHARE * best)
    first = reached.group_by("trial_id", "loss").agg(pl.col("epoch").min())
    means = first.group_by("loss").agg(pl.col("epoch").mean()).sort("epoch", "loss")
    by_kind = {
        is_proxy: fmean(means.filter(pl.col("loss").is_in(_PROXY) == is_proxy)["epoch"].to_list())
        for is_proxy in (True, False)
    }
    epochs = curves["epoch"].max()
    yield f"\n## How fast?\n\nEpochs, of {epochs}, until 95 % of the best epoch's score:\n"
    yield table(
        ("loss", "kind", "epochs"),
        [
            (loss, "proxy or class" if loss in _PROXY else "embedding", f"{epoch:.1f}")
            for loss, epoch in means.iter_rows()
        ],
    )
    faster = by_kind[True] < by_kind[False]
    yield (
        f"\nLosses with proxies or classes take {by_kind[True]:.1f} epochs on average, losses on"
        f" embeddings {by_kind[False]:.1f}. The thesis says that the former converge faster:"
        f" {'here, too' if faster else 'not here'}."
    )


def _tuning(reader: Reader) -> Iterator[str]:
    fixed = reader.trials().filter(stage="search", split_protocol="fixed").select("protocol")
    finals = reader.trials().filter(stage="final", state="COMPLETE")
    finals = finals.join(fixed, on="protocol", how="semi").collect()
    score = 100 * pl.col("test_recall_at_1").mean()
    rows = []
    for loss in finals["loss"].unique(maintain_order=True).sort():
        of_loss = finals.filter(loss=loss)
        default = of_loss.filter(is_default=True, train_on="part").select(score).item()
        tuned = of_loss.filter(is_winner=True, train_on="part").select(score).item()
        refit = of_loss.filter(is_winner=True, train_on="all").select(score).item()
        rows.append((loss, default, tuned, refit))
    yield "\n## Default, tuned, refit?\n"
    yield (
        "Search of 6 configs on a fixed split, finals of two seeds; the refit trains on all classes:\n"
    )
    yield table(
        ("loss", "default", "tuned", "refit", "thesis: default, 10 folds", "thesis: tuned"),
        [(loss, *(f"{it:.1f}" for it in scores), *_THESIS[loss]) for loss, *scores in rows],
    )
    tuned = fmean([tuned - default for _, default, tuned, _ in rows])
    refit = fmean([refit - tuned for _, _, tuned, refit in rows])
    yield (
        f"\nTuning brings {tuned:+.1f} points on average, ten percent more classes {refit:+.1f}. In"
        " the thesis tuning brings +0.2 to +2.0 (tables 12 and 16, not of the same split)."
    )


# Default hyperparameters by ten folds (table 12), searched ones on a fixed split (table 16).
_THESIS = {
    "multi_similarity": ("63.61", "65.61"),
    "soft_triple": ("64.09", "66.12"),
    "proxy_anchor": ("66.32", "66.56"),
}


def _protocols(reader: Reader) -> Iterator[str]:
    """What each protocol promises of the config that it selects, and what that config gives."""
    trials = reader.trials().filter(pl.col("state") == "COMPLETE").collect()
    keys = ["protocol", "block", "loss"]
    searched = trials.filter(stage="search").sort("objective", "index", descending=[True, False])
    tested = (
        reader.test_scores()
        .filter(pl.col("stage") == "search", pl.col("metric") == "recall", pl.col("k") == 1)
        .group_by("trial_id")
        .agg(pl.col("value").mean().alias("in_quarantine"))
        .collect()
    )
    promised = (
        searched.group_by(keys, maintain_order=True)
        .agg(pl.col("objective", "trial_id").first())
        .join(tested, on="trial_id")
    )
    cost = trials.filter(stage="search").group_by("protocol").agg(pl.col("seconds").sum())
    finals = trials.filter(stage="final", is_winner=True, train_on="part")
    given = finals.group_by(keys).agg(pl.col("test_recall_at_1").mean().alias("final"))
    means = (
        promised.join(given, on=keys)
        .group_by("protocol", maintain_order=True)
        .agg(pl.col("objective", "in_quarantine", "final").mean() * 100)
        .join(cost, on="protocol")
        .sort("seconds")
    )
    least = means["seconds"].min()
    yield "\n## Which protocol?\n"
    yield (
        "Of the config that each selects: its score on validation, its score on test in the same"
        " training, and on test trained anew with other seeds, each mean over losses and data"
        " sets. Time is that of the searches:\n"
    )
    yield table(
        ("protocol", "promised", "test, same training", "test, trained anew", "time"),
        [
            (
                row["protocol"],
                *(f"{row[name]:.1f}" for name in ("objective", "in_quarantine", "final")),
                f"{row['seconds'] / least:.1f} x",
            )
            for row in means.to_dicts()
        ],
    )
    yield (
        "\nValidation has few classes, so its scores are far above those of the test: 91.5 and 64.4"
        " in the thesis (90/10, multi-similarity, table 14). Configs differ less than that: what"
        " protocols select is as good, and only the promise differs. Choosing on test promises"
        " what it has seen."
    )


def _continuous(reader: Reader) -> Iterator[str]:
    """Losses of all label distances against losses of a threshold, by dimension."""
    finals = reader.trials().filter(
        pl.col("stage") == "final", pl.col("is_winner"), pl.col("state") == "COMPLETE"
    )
    scores = (
        reader.test_scores()
        .filter(pl.col("k") == 10)
        .join(finals.select("trial_id"), on="trial_id", how="semi")
        .group_by("loss", "embedding_dim", "metric")
        .agg(pl.col("value").mean())
        .collect()
    )
    dims = sorted(scores["embedding_dim"].unique())
    yield "\n## Does it help to know how alike two images are?\n"
    yield (
        "`continuous-labels` retrieves letters by the overlap of their ink. Two losses learn from all"
        " distances of labels, two from which images are near. nDCG@10 on test, in"
        " percent, and the mean label distance of the ten nearest, 0 to 1:\n"
    )
    rows = []
    for (loss,), part in sorted(scores.group_by("loss"), key=lambda it: str(it[0])):
        found = {(dim, metric): value for _, dim, metric, value in part.iter_rows()}
        cells = (
            f"{100 * found[dim, 'ndcg']:.1f} / {found[dim, 'mean_label_distance']:.3f}"
            for dim in dims
        )
        rows.append(
            (loss, "all distances" if loss in _ALL_DISTANCES else "which are near", *cells)
        )
    yield table(("loss", "learns from", *(f"{dim} dimensions" for dim in dims)), rows)
    ndcg = scores.filter(pl.col("metric") == "ndcg")
    gains = [
        100
        * (
            ndcg.filter(pl.col("loss").is_in(_ALL_DISTANCES), pl.col("embedding_dim") == dim)[
                "value"
            ].mean()
            - ndcg.filter(~pl.col("loss").is_in(_ALL_DISTANCES), pl.col("embedding_dim") == dim)[
                "value"
            ].mean()
        )
        for dim in dims
    ]
    texts = ", ".join(f"{gain:+.1f} at {dim}" for gain, dim in zip(gains, dims, strict=True))
    yield f"\nnDCG of the first two less that of the others, points: {texts}."


if __name__ == "__main__":
    main()
