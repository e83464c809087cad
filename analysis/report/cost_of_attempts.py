"""What every try at a trial took, by loss and by what became of it."""

from collections.abc import Iterator, Mapping
from typing import get_args

from analysis.figures.style import Series
from analysis.page.html_page import Cell, Column, Table
from analysis.study_results.study_results import StudyResults
from analysis.wording import duration, percent
from orchestrator.results.records.runs import ESTIMATE, RunSpent, Use

__all__ = ["spending_table"]

_USES: tuple[Use, ...] = get_args(Use)
_CAME_TO_NOTHING: tuple[Use, ...] = ("failed", "repeated", "unfinished")
_OTHERS = "unknown"


def spending_table(results: StudyResults, series: Mapping[str, Series]) -> Iterator[Table]:
    """One table; none where runs did not write down what they spent."""
    spent = [one for run in results.runs_kept for one in run.spent]
    if not spent:
        return
    on_gpus = any(one.gpu_seconds for one in spent)
    losses = {
        **dict(results.trials.select("search", "loss").unique().iter_rows()),
    }
    sums: dict[str, dict[Use, float]] = {}
    for one in spent:
        of_loss = sums.setdefault(losses.get(one.search, _OTHERS), dict.fromkeys(_USES, 0.0))
        of_loss[one.use] += _seconds(one, on_gpus=on_gpus)
    total = {use: sum(of_loss[use] for of_loss in sums.values()) for use in _USES}
    unit = "GPUs" if on_gpus else "slots without a GPU"
    yield Table(
        name="spending",
        caption=f"Time of {unit} by loss and by what became of each try at a trial.",
        columns=(
            Column(label="Loss", is_number=False),
            *(Column(label=use.capitalize()) for use in _USES),
            Column(label="All"),
            Column(label="Wasted at most"),
        ),
        rows=(
            *(
                (Cell(text=loss, series=series.get(loss), order=loss), *_cells(sums[loss]))
                for loss in sorted(sums)
            ),
            (Cell(text="all", order="~"), *_cells(total)),
        ),
        note=_note(results),
    )


def _seconds(one: RunSpent, *, on_gpus: bool) -> float:
    return one.gpu_seconds if on_gpus else one.seconds


def _cells(of_loss: Mapping[Use, float]) -> tuple[Cell, ...]:
    whole = sum(of_loss.values())
    wasted = sum(of_loss[use] for use in _CAME_TO_NOTHING)
    share = wasted / whole if whole else None
    return (
        *(Cell(text=duration(of_loss[use]), order=of_loss[use]) for use in _USES),
        Cell(text=duration(whole), order=whole),
        Cell(text=percent(share), order=share or 0.0),
    )


def _note(results: StudyResults) -> str:
    note = (
        "From the moment a worker had a try until it ended. Wasted are failed, repeated and"
        " unfinished tries: at most, since what was repeated or unfinished may have gone on from a"
        " checkpoint. The driver measured it, with baselines and with tries whose end is unknown,"
        " which the sum of attempts above leaves out."
    )
    if any(run.number == ESTIMATE for run in results.runs_kept):
        note += " Of runs from before this was written down, the training time of rows is counted."
    killed = [run.number for run in results.runs_kept[:-1] if run.end is None]
    if killed:
        note += (
            f" {len(killed)} of {len(results.runs_kept)} runs were killed: the last seconds of "
            "these are missing."
        )
    return note
