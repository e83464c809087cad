"""The statistics of protocols as plain values, for JSON and CSV. Scores are shares of 1."""

from dataclasses import fields
from typing import Any

import polars as pl

from podium.analysis.protocols.findings_text import protocol_sentences
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import row_of
from podium.analysis.protocols.selected_configs import protocol_headline
from podium.analysis.protocols.selection_quality import SelectionQuality
from podium.analysis.scores.protocol_runs import Protocol

_OF_FINALS = ("default_part", "tuned_part", "default_all", "tuned_all", "tuning", "classes")
_COSTS = ("gpu_hours", "search_hours", "hours_per_search", "on_front")
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
        "num_blocks": study.num_blocks,
        "num_losses": study.num_losses,
        "num_repeats": study.num_repeats,
        "num_configs": study.num_configs,
        "is_recorded": study.picks.is_recorded,
        "same_splits": study.same_splits,
        "finals_over": study.finals.unit,
        "finals": study.finals.means.to_dicts(),
        "finals_by_loss": study.finals.by_loss.to_dicts(),
        "final_differences": study.finals.differences.to_dicts(),
        "num_kept_defaults": dict(study.finals.num_kept),
        "num_missing_finals": study.finals.num_missing,
        "scale": _selection(study.picks.scale),
        "own": _selection(study.picks.own),
        "optimism_over_classes": study.optimism_over_classes.to_dicts(),
        "optimism_over_runs": study.optimism_over_runs.to_dicts(),
        "costs": study.costs.to_dicts(),
        "hours_are_of_gpus": study.has_gpus,
        "spent_hours": study.spent_hours,
        "num_copies": study.num_copies,
        "test_readings": study.readings.to_dicts(),
        "reasons": dict(study.reasons),
    }


def protocol_rows(study: ProtocolStudy) -> list[dict[str, object]]:
    """One row per protocol: its means with their intervals, its pick rate and its costs."""
    choices = study.picks.fairest
    costs = {row["protocol"]: row for row in study.costs.to_dicts()}
    rates = {row["protocol"]: row for row in choices.pick_rates.to_dicts()} if choices else {}
    return [
        {
            "protocol": protocol.label,
            "kind": protocol.kind,
            "leaks": protocol.leaks,
            **_means(study.finals.means, protocol, *_OF_FINALS),
            **_means(choices.means if choices else pl.DataFrame(), protocol, *_OF_SELECTION),
            **{
                f"pick_{name}": rates.get(protocol.label, {}).get(name.replace("rate_", ""))
                for name in ("rate", "rate_low", "rate_high")
            },
            **_means(study.optimism_over_runs, protocol, "fresh"),
            **{name: costs.get(protocol.label, {}).get(name) for name in _COSTS},
        }
        for protocol in study.protocols
    ]


def _means(means: pl.DataFrame, protocol: Protocol, *measures: str) -> dict[str, float | None]:
    """``measure``, ``measure_low`` and ``measure_high`` of each."""
    found: dict[str, float | None] = {}
    for measure in measures:
        row = row_of(means, measure, protocol=protocol.label) or {}
        found[measure] = row.get("mean")
        found[f"{measure}_low"] = row.get("low")
        found[f"{measure}_high"] = row.get("high")
    return found


def _selection(found: SelectionQuality | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {item.name: getattr(found, item.name).to_dicts() for item in fields(found)}
