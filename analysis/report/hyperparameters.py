"""Hyperparameter importance above noise, and where the best configs lie."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from podium.analysis.figures.intervals import IntervalAxis, IntervalRow, intervals_plot
from podium.analysis.figures.series import Series
from podium.analysis.hyperparameters.best_regions import BestRegion
from podium.analysis.hyperparameters.findings_text import (
    bound_warnings,
    caveats,
    compared_by,
    importance_headline,
    importance_verdict,
    loss_sentences,
    region_text,
)
from podium.analysis.hyperparameters.searched_ranges import searched_range_text
from podium.analysis.hyperparameters.tuned_hyperparameters import (
    TunedHyperparameters,
    tuned_hyperparameters,
)
from podium.analysis.page.html_page import Bullets, Fold, Illustration, Paragraph, Part, Section
from podium.analysis.page.tables import Column, Table, table
from podium.analysis.study_results.study_results import PERCENT, StudyResults
from podium.analysis.wording import counted, in_percent, p_value
from podium.orchestrator.results.records.metric_columns import RankedScore

_HOLLOW = " Hollow bars do not exceed noise, the 95th percentile for shuffled scores (dots)."
_P_VALUES = (
    " p is one-sided, from permutations of the scores within each search, and not corrected for"
    " how many hyperparameters there are."
)
_TESTS = (
    Column.share("Noise, %", "noise", 1),
    Column.p_value("p", "p_value"),
    Column.text("Verdict", importance_verdict),
)
_MOST_WARNINGS = 2  # beyond, they are folded
_MOST_BARS = 16  # of all losses in one plot; beyond, the reader chooses a loss


def hyperparameters(results: StudyResults, series: Mapping[str, Series]) -> Section | None:
    """The section; None before a search has varied anything."""
    tuned = tuned_hyperparameters(
        results.search_trials, results.reader, study=results.study, score=results.ranked_by
    )
    return None if tuned is None else section_of(tuned, results.ranked_by, series)


def section_of(
    tuned: TunedHyperparameters, asked: RankedScore, series: Mapping[str, Series]
) -> Section:
    """The section of hyperparameters that were read.

    Args:
        tuned: hyperparameters of the study's losses.
        asked: score that the reader asked for.
        series: looks of the losses.
    """
    is_known = tuned.importances["importance"].is_not_null().any()
    sentences = tuple(loss_sentences(tuned))
    return Section(
        name="hyperparameters",
        title="Importance of hyperparameters",
        parts=(
            Paragraph(text=importance_headline(tuned)),
            *(Paragraph(text=text) for text in _compared_by(tuned, asked)),
            *_warnings(tuned),
            *((_importance(tuned, series),) if is_known else ()),
            *((Bullets(items=sentences),) if sentences else ()),
            *(
                (Fold(summary="Best regions", parts=(_regions(tuned, series),)),)
                if tuned.regions
                else ()
            ),
            *(Paragraph(text=text, style="note") for text in caveats(tuned)),
        ),
    )


def _warnings(tuned: TunedHyperparameters) -> tuple[Part, ...]:
    found = bound_warnings(tuned)
    if len(found) <= _MOST_WARNINGS:
        return tuple(Paragraph(text=text, style="notice") for text in found)
    summary = f"{len(found)} warnings of winners at the end of a searched range"
    return (Fold(summary=summary, parts=(Bullets(items=tuple(found)),)),)


def _compared_by(tuned: TunedHyperparameters, asked: RankedScore) -> list[str]:
    """By which score configs are compared, where it is not what was asked for or maximised."""
    if tuned.score == asked:
        return compared_by(tuned)
    return [
        f"Configs are compared by {tuned.score.label} on validation: no trial of these searches"
        f" was tested by {asked.label} (quarantine: record_all has them tested, unread)."
    ]


def _importance(tuned: TunedHyperparameters, series: Mapping[str, Series]) -> Illustration:
    rows = tuned.importances.drop_nulls("importance")
    axis = IntervalAxis(label="Importance (PED-ANOVA), %", limits=(0, PERCENT))
    if not tuned.is_adaptive:
        axis = replace(axis, dots="noise up to, %", heads=("p",))
    parts = rows.partition_by("loss", maintain_order=True)
    is_short = rows.height + len(parts) <= _MOST_BARS
    groups = [("", rows)] if is_short else [(str(part["loss"][0]), part) for part in parts]
    plots = tuple(
        intervals_plot(
            [_bar(row, series, is_grouped=is_short) for row in part.to_dicts()],
            axis,
            name=f"importance-{position}",
            title=f"Importance of the hyperparameters {f'of {loss}' if loss else ''}".strip(),
            label=loss,
            is_bars=True,
        )
        for position, (loss, part) in enumerate(groups)
    )
    return Illustration(
        name="importance",
        plots=plots,
        selector="" if is_short else "Loss",
        caption="Importance: what each hyperparameter alone explains of whether a config is among"
        f" the best of its search (a tenth, at least five) on {tuned.role}, mean over"
        f" {_blocks(tuned)}.{'' if tuned.is_adaptive else _HOLLOW}",
        table=importance_table(tuned, series),
    )


def _bar(row: Mapping[str, Any], series: Mapping[str, Series], *, is_grouped: bool) -> IntervalRow:
    return IntervalRow(
        name=row["hyperparameter"],
        value=in_percent(row["importance"]),
        low=in_percent(row["low"]),
        high=in_percent(row["high"]),
        series=series[row["loss"]],
        group=row["loss"] if is_grouped else "",
        is_filled=row["is_above_noise"] is not False,
        dots=() if row["noise"] is None else (PERCENT * row["noise"],),
        columns=() if row["p_value"] is None else (p_value(row["p_value"]),),
        note=importance_verdict(row),
    )


def _blocks(tuned: TunedHyperparameters) -> str:
    return counted(len({item.block for item in tuned.searches}), "setting")


def _interval_text(tuned: TunedHyperparameters) -> str:
    if "blocks" in tuned.importances["interval"].to_list():
        return "Student's t over settings, or of subsamples of configs where that is wider"
    return "from subsamples of the configs, so they hold for other configs in the same settings"


def importance_table(tuned: TunedHyperparameters, series: Mapping[str, Series]) -> Table:
    """Importances on validation, and on test where trials of searches were tested."""
    return table(
        tuned.importances,
        (
            Column.named("Loss", "loss", series),
            Column.text("Hyperparameter", "hyperparameter"),
            Column.share("Importance, %", "importance", 1),
            Column.interval("95 % interval", "low", "high", 1, factor=PERCENT),
            *([] if tuned.is_adaptive else _TESTS),
            Column.share("Share, %", "share", 1),
            *_on_test(tuned),
            Column.count("Configs", "num_configs"),
        ),
        name="importance-table",
        caption=f"Importance of hyperparameters in %, mean over {_blocks(tuned)}",
        note="Share is of the sum over the hyperparameters of the loss: it sums to 100 % whatever"
        f" the noise.{'' if tuned.is_adaptive else _P_VALUES} Intervals are"
        f" {_interval_text(tuned)}.",
    )


def _on_test(tuned: TunedHyperparameters) -> Iterator[Column]:
    """The same by test scores of the searches' trials, where there are any."""
    if tuned.on_test is None or tuned.on_test.is_empty():
        return
    found = {(row["loss"], row["hyperparameter"]): row for row in tuned.on_test.to_dicts()}

    def of_test(row: Mapping[str, Any]) -> Mapping[str, Any]:
        return found[row["loss"], row["hyperparameter"]]

    yield Column.share("On test, %", lambda row: of_test(row)["importance"], 1)
    if not tuned.is_adaptive:
        yield Column.share("Noise on test, %", lambda row: of_test(row)["noise"], 1)
        yield Column.text("Verdict on test", lambda row: importance_verdict(of_test(row)))


def _regions(tuned: TunedHyperparameters, series: Mapping[str, Series]) -> Table:
    return table(
        [(loss, region) for loss, regions in tuned.regions.items() for region in regions],
        (
            Column.named("Loss", 0, series),
            Column.text("Hyperparameter", lambda row: row[1].hyperparameter),
            Column.text("Searched", lambda row: _searched(row[1])),
            Column.text("Best configs", lambda row: region_text(row[1]) or None),
            Column.text("Winners at lower end", partial(_at_end, "num_at_low"), is_number=True),
            Column.text("Winners at upper end", partial(_at_end, "num_at_high"), is_number=True),
            Column.count("Best configs, n", lambda row: row[1].num_best),
        ),
        name="regions",
        caption="Where the best tenth of each search lies (central 80 %), and how many winners of"
        " searches lie within 2 % of an end of the range.",
    )


def _searched(region: BestRegion) -> str:
    is_known = region.searched.is_choice or not region.is_relative
    return searched_range_text(region.searched) if is_known else "differs between settings"


def _at_end(count: str, row: tuple[str, BestRegion]) -> str | None:
    region = row[1]
    return f"{getattr(region, count)} of {region.num_winners}" if region.num_winners else None
