"""The statistics of protocols as plain values, for JSON and CSV. Scores are shares of 1."""

from typing import Any

import polars as pl

from analysis.protocols.findings_text import protocol_sentences
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.protocols.selected_configs import protocol_headline
from analysis.protocols.selection_quality import SelectionQuality

_OF_FINALS = ("default_part", "tuned_part", "default_all", "tuned_all", "tuning", "classes")
_OF_SELECTION = ("picked_test", "regret", "tau", "overtuning", "ceiling", "at_ceiling")


def protocol_record(study: ProtocolStudy) -> dict[str, Any]:
    """Everything that `ProtocolStudy` holds, mostly under the names of its attributes."""
    return {
        "study": study.name,
        "metric": study.metric,
        "k": study.k,
        "headline": protocol_headline(study) or None,
        "sentences": protocol_sentences(study),
        "protocols": [
            {"label": protocol.label, "kind": protocol.kind, "leaks": protocol.leaks}
            for protocol in study.protocols
        ],
        "num_blocks": study.design.num_blocks,
        "num_losses": study.design.num_losses,
        "num_repeats": study.design.num_repeats,
        "num_configs": study.design.num_configs,
        "is_recorded": study.picks.is_recorded,
        "same_splits": study.design.same_splits,
        "finals_over": study.finals.unit,
        "finals": study.finals.means.to_dicts(),
        "finals_by_loss": study.finals.by_loss.to_dicts(),
        "final_differences": study.finals.differences.to_dicts(),
        "num_kept_defaults": dict(study.finals.num_kept),
        "num_missing_finals": study.finals.num_missing,
        "scale": _selection(study.picks.scale),
        "own": _selection(study.picks.own),
        "losses": study.losses.to_dicts(),
        "optimism_over_classes": study.optimism.over_classes.to_dicts(),
        "optimism_over_runs": study.optimism.over_runs.to_dicts(),
        "costs": study.costs.by_protocol.to_dicts(),
        "hours_are_of_gpus": study.design.has_gpus,
        "spent_hours": study.costs.spent_hours,
        "num_copies": study.costs.num_copies,
        "test_readings": study.readings.to_dicts(),
        "reasons": dict(study.reasons),
    }


def protocol_rows(study: ProtocolStudy) -> list[dict[str, object]]:
    """One row per protocol: its means with their intervals, its pick rate and its costs."""
    finals, choices = _mean_rows(study.finals.means, _OF_FINALS), study.picks.fairest
    selected = _mean_rows(choices.means, _OF_SELECTION) if choices else {}
    optimism = _mean_rows(study.optimism.over_runs, ("fresh",))
    costs = {row["protocol"]: row for row in study.costs.by_protocol.to_dicts()}
    rates = {row["protocol"]: row for row in choices.pick_rates.to_dicts()} if choices else {}
    rows = []
    for protocol in study.protocols:
        label = protocol.label
        cost, rate = costs.get(label, {}), rates.get(label, {})
        rows.append(
            {
                "protocol": label,
                "kind": protocol.kind,
                "leaks": protocol.leaks,
                **_with_intervals(finals, label, _OF_FINALS),
                **_with_intervals(selected, label, _OF_SELECTION),
                "pick_rate": rate.get("rate"),
                "pick_rate_low": rate.get("low"),
                "pick_rate_high": rate.get("high"),
                **_with_intervals(optimism, label, ("fresh",)),
                "gpu_hours": cost.get("gpu_hours"),
                "search_hours": cost.get("search_hours"),
                "hours_per_search": cost.get("hours_per_search"),
                "on_front": cost.get("on_front"),
            }
        )
    return rows


def _selection(found: SelectionQuality | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "means": found.means.to_dicts(),
        "differences": found.differences.to_dicts(),
        "pick_rates": found.pick_rates.to_dicts(),
        "searches": found.searches.to_dicts(),
    }


_MeanRows = dict[tuple[str, str], dict[str, Any]]


def _mean_rows(means: pl.DataFrame, measures: tuple[str, ...]) -> _MeanRows:
    rows = means.filter(pl.col("measure").is_in(measures)).to_dicts() if len(means) else []
    return {(row["protocol"], row["measure"]): row for row in rows}


def _with_intervals(
    means: _MeanRows, label: str, measures: tuple[str, ...]
) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for measure in measures:
        row = means.get((label, measure), {})
        found[measure] = row.get("mean")
        found[f"{measure}_low"] = row.get("low")
        found[f"{measure}_high"] = row.get("high")
    return found
