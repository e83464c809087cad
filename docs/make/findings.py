"""Makes docs/examples/findings-protocols.md and its picture from a finished run of that study.

python -m docs.make.findings [podium-results/findings-protocols]
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from docs.make.markdown import table
from docs.make.photograph import photograph_plot
from podium.analysis.page.html_page import render_page
from podium.analysis.page.tables import Table
from podium.analysis.protocols.findings_text import protocol_sentences
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import (
    agreement_table,
    cost_table,
    finals_table,
    optimism_table,
    pair_table,
    pick_table,
)
from podium.analysis.protocols.selected_configs import protocol_headline
from podium.analysis.report.report import study_report
from podium.analysis.scores.cached_reader import CachedReader
from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.results.trial_files.reader import Reader
from podium.terminal.shown_table import cell_text

_FOLDER = Path(__file__).parents[1]
_PAGE = _FOLDER / "examples" / "findings-protocols.md"
_PICTURE = _FOLDER / "images" / "findings-protocols.png"

_OPENING = """\
<!-- Made by `python -m docs.make.findings`: edit that file, not this one. -->
# Which validation protocol selects best?

`studies/findings-protocols.yaml` lets {protocols} protocols evaluate the same {configs} configs of each loss, {repeats}
times with fresh seeds and fresh splits: {losses} losses in {blocks} blocks of letters, {trials:,} trials, {hours:.1f}
hours of one CPU core. Test scores of all of them are in [quarantine](../explanation/protocols.md#the-quarantine); no search
saw them. Learning rates are fixed, so that what is selected depends on the losses' own
hyperparameters, by which configs differ less.

Every protocol's selected config is scored by the same networks: those that `test_tuned` trained with that config on all
classes in other repeats. So protocols are compared by what they select alone, not by how many classes they
leave for training. [What each number is](../explanation/statistics/README.md).

## Results

"""

_MEANING = """
## Interpretation

- **Four validation classes are too few.** Under `95-5` more than a quarter of all configs reach 100 % on
  validation. Ties then go to the earliest epoch and the first config: the selected configs are worse, and a refit for as
  many epochs as were "best" stops too early, which costs more than the selection does.
- **Holding out more classes is cheaper, and selected better.** `70-30` trains on fewer classes, so its searches
  take the least time of all, and only five folds have less regret. The refit on all classes trains on what it
  held out.
- **Folds select best, for five to six times the time.** They order configs as test does about as well as one
  half of the test runs orders those of the other. Whether their lead over `70-30` is real cannot be known from
  six repeats.
- **A fresh split for each config** makes validation scores far too optimistic, as the optimism by config shows; its
  selected configs were no better or worse than those of a fixed split of the same size, as far as this study shows.
- **Tuning on test selected no better than five folds.** What it adds is in the reported number, not in the
  configs: its scores are selected by the very test scores it reports.
"""

_LIMITS = """
## Limits

- The data are letters, the network is small and training is short. That a protocol selects better here need
  not hold for photographs; that the differences are this small relative to the noise of a single split is worth
  checking there with `studies/protocols.yaml`.
- All protocols had the same number of configs, not the same hours. With equal hours the cheap ones could evaluate
  more configs.
- The intervals over repeats speak of these blocks and losses; they share configs, test classes and the
  networks that score them.
- Searches were random, nothing was stopped early.

## Reproduction

```console
$ podium run studies/findings-protocols.yaml
$ podium protocols podium-results/findings-protocols
$ python -m docs.make.findings podium-results/findings-protocols
```

The first takes about an hour on four cores, writes one Parquet row a trial, and resumes where it
was stopped. The second reads these rows and prints the tables (`--json`, `--csv` for other programs). The
third writes this page; its picture is from the report of the same rows.
"""


def main() -> None:
    """Write the page and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder", type=Path, nargs="?", default=Path("podium-results/findings-protocols")
    )
    folder = parser.parse_args().folder
    study = ProtocolStudy(CachedReader(folder))
    _PAGE.write_text("\n".join(_page(study, folder)), encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.html"
        page = render_page(study_report(read_results(folder)))
        report.write_text(page, encoding="utf-8")
        photograph_plot(report, "protocol-front", _PICTURE)


def _page(study: ProtocolStudy, folder: Path) -> Iterator[str]:
    trained = Reader(folder).trials().filter(pl.col("same_as").is_null())
    trials, seconds = trained.select(pl.len(), pl.col("seconds").sum()).collect().row(0)
    yield _OPENING.format(
        protocols=len(study.protocols),
        configs=study.num_configs,
        repeats=study.num_repeats,
        losses=study.num_losses,
        blocks=study.num_blocks,
        trials=trials,
        hours=seconds / 3600,
    )
    yield f"**{protocol_headline(study)}**\n"
    yield from (f"- {sentence}" for sentence in protocol_sentences(study))
    yield f"\n![Regret of each protocol's picks against its cost](../images/{_PICTURE.name})"
    yield f"\nResolution of the validation scores:\n\n{_ceilings(study, folder)}"
    yield "\n± is half of the 95 % interval."
    for shown in _tables(study):
        heads = [column.label for column in shown.columns]
        rows = (map(cell_text, row) for row in shown.rows)
        yield f"\n{shown.caption.removesuffix('.')}:\n\n{table(heads, rows)}"
    yield _MEANING + _LIMITS


def _ceilings(study: ProtocolStudy, folder: Path) -> str:
    """How often validation ran out of errors, and how long refits therefore are."""
    trials = Reader(folder).trials()
    by_protocol = {
        stage: dict(
            trials.filter(pl.col("stage") == stage)
            .group_by("protocol")
            .agg(value)
            .collect()
            .iter_rows()
        )
        for stage, value in (
            ("search", (pl.col("objective") == 1).mean()),
            ("final", pl.col("epochs_run").mean()),
        )
    }
    rows = [
        (
            study.shown[label],
            f"{100 * by_protocol['search'][label]:.0f} %",
            f"{by_protocol['final'][label]:.2f}",
        )
        for label in study.order
    ]
    return table(("protocol", "configs at 100 % on validation", "epochs of a refit"), rows)


def _tables(study: ProtocolStudy) -> Iterator[Table]:
    """The tables that answer the question."""
    found = (
        pick_table(study),
        cost_table(study),
        agreement_table(study),
        pair_table(study),
        optimism_table(study),
        finals_table(study),
    )
    yield from (table for table in found if table is not None)


if __name__ == "__main__":
    main()
