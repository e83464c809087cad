"""Makes docs/examples/all-losses.md and docs/examples/all-losses-report.html from a run of that study.

python -m docs.make.all_losses [podium-results/all-losses]
"""

import argparse
from pathlib import Path

import polars as pl

from docs.make.losses_page import loss_link
from docs.make.markdown import table
from podium.analysis.report.report import study_page
from podium.analysis.scores.final_scores import (
    BASELINES,
    IS_BASELINE,
    UNTRAINED,
    final_scores,
    final_trials,
)
from podium.orchestrator.results.trial_files.reader import Reader

_FOLDER = Path(__file__).parents[1] / "examples"
_PAGE = _FOLDER / "all-losses.md"

_OPENING = """\
<!-- Made by `python -m docs.make.all_losses`: edit that file, not this one. -->
# All losses at their defaults

Does every loss train? `studies/all-losses.yaml` trains each loss on class labels at its published
defaults with one recipe (`fast`: 8 epochs, small batches, one learning rate for all), on the letters of
`glyphs`. Below is Recall@1 on letters of unseen classes, the mean of {seeds} seeds; the
[report of that run](all-losses-report.html) has everything else.

**This is no fair tournament.** Defaults were published for other data and large networks, and nothing
is searched here: a loss far down may only want another learning rate. With {blocks} blocks, both
of one data set and backbone, no difference between two losses can be significant. What the table shows is
that a loss works.

"""

_CLOSING = """
`csml` and `gradml` stay close to the untrained embedding, by what their formulas ask for. At k = 2, its default,
`gradml` is `csml` in other words: on balanced batches gradml(k = 2, w) = 4 csml(2 w) + 4 - 8 w. Both know classes by
the mean of all cosines between them alone, so classes that are spread evenly and classes on two opposite points have
the same value, and above k = 2 `gradml` rewards the two points. So embeddings collapse, and their
recall does not rise after the first epoch, as the learning curves of the report show. The source of `gradml` trains at a rate of 1e-7.

`language_guidance` and `intra_pair_variance` are terms to be added to another loss, the first needs texts;
`log_ratio`, `dense_triplet`, `neighbour_triplet` and `threshold_triplet` learn from label distances: see
`studies/glyph-masks.yaml`.
"""


def main() -> None:
    """Write the page and the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default="podium-results/all-losses")
    folder = parser.parse_args().folder
    recalls = _recalls(folder)
    seeds = recalls.filter(~IS_BASELINE)["seed_index"].n_unique()
    blocks = sorted(recalls["block"].unique())
    opening = _OPENING.format(seeds=seeds, blocks=len(blocks))
    _PAGE.write_text(f"{opening}{_table(recalls, blocks)}\n{_CLOSING}", encoding="utf-8")
    (_FOLDER / "all-losses-report.html").write_text(study_page(folder), encoding="utf-8")


def _recalls(folder: Path) -> pl.DataFrame:
    """Test Recall@1 of every final and baseline trial."""
    reader = Reader(folder)
    scores = final_scores(final_trials(reader.trials()), reader.test_scores())
    return scores.filter(k=1).select("loss", "block", "seed_index", value="score")


def _table(recalls: pl.DataFrame, blocks: list[str]) -> str:
    cells = recalls.group_by("loss", "block").agg(pl.col("value").mean())
    untrained = cells.filter(loss=UNTRAINED).select("block", start="value")
    gains = cells.join(untrained, on="block").with_columns(gain=pl.col("value") - pl.col("start"))
    order = gains.group_by("loss").agg(pl.col("gain").mean()).sort("gain", descending=True)
    recall = {(loss, block): value for loss, block, value in cells.iter_rows()}
    rows = [
        (
            loss_link(loss, folder="../reference/losses/") if loss not in BASELINES else loss,
            *(f"{100 * recall[loss, block]:.1f}" for block in blocks),
            f"{100 * gain:+.1f}" if loss != UNTRAINED else "",
        )
        for loss, gain in order.iter_rows()
    ]
    return table(("loss", *blocks, "mean gain over untrained, points"), rows)


if __name__ == "__main__":
    main()
