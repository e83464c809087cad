"""The rows of the tables of ``podium protocols``: text that is ready to be printed."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from analysis.protocols.protocol_study import ProtocolStudy
from analysis.protocols.selected_configs import ALPHA
from analysis.protocols.selection_quality import SelectionQuality

__all__ = [
    "Row",
    "agreement",
    "best_of_trials",
    "choices",
    "costs",
    "finals",
    "gaps",
    "interval_unit",
    "losses",
    "optimism",
    "pairs",
    "readings",
    "time_unit",
]

Row = dict[str, str]

_POINTS = 100
_WASTED = ("pruned", "failed", "repeated")


def finals(study: ProtocolStudy) -> list[Row]:
    """Test scores of the finalists: default and tuned, on a part and on all classes."""
    names = {
        "default_part": "default",
        "tuned_part": "tuned",
        "default_all": "default, all classes",
        "tuned_all": "tuned, all classes",
    }
    return _measures(study, study.finals.means, names)


def gaps(study: ProtocolStudy) -> list[Row]:
    """Differences between finalists, and how often the default won its search."""
    names = {"tuning": "tuning", "classes": "classes", "both": "both", "tuning_all": "tuning, all"}
    rows = _measures(study, study.finals.means, names)
    for label, row in zip(_present(study, study.finals.means), rows, strict=False):
        row["default won"] = str(study.finals.num_kept.get(label, 0))
    return rows


def choices(study: ProtocolStudy, found: SelectionQuality) -> list[Row]:
    """Test scores and regret of picks, and how often the pick was the best config."""
    rows = _measures(study, found.means, {"picked_test": "test, %", "regret": "regret, points"})
    rates = {row["protocol"]: row for row in found.pick_rates.to_dicts()}
    for label, row in zip(_present(study, found.means), rows, strict=False):
        rate = rates.get(label)
        row["picked the best"] = _wilson(rate) if rate else "-"
        row["blindly"] = f"{100 * rate['chance']:.0f} %" if rate else "-"
    return rows


def _wilson(rate: Mapping[str, Any]) -> str:
    """A rate and its Wilson interval in percent: ``40 % (22 to 61)``."""
    low, high = (100 * rate[end] for end in ("low", "high"))
    return f"{100 * rate['rate']:.0f} % ({low:.0f} to {high:.0f})"


def agreement(study: ProtocolStudy, found: SelectionQuality) -> list[Row]:
    """Rank agreement of validation with test, and its noise ceiling."""
    means = found.means
    rows = _measures(study, means, {"tau": "Kendall's tau"}, scale=1)
    for label, row in zip(_present(study, means), rows, strict=False):
        ceiling, at, own = (
            _by_protocol(frame, measure).get(label)
            for frame, measure in (
                (means, "ceiling"),
                (means, "at_ceiling"),
                (study.picks.same_run, "own_tau"),
            )
        )
        row["two halves of test"] = f"{ceiling['mean']:.2f}" if ceiling else "-"
        row["within 1 se of best"] = f"{100 * at['mean']:.0f} %" if at else "-"
        row["tau of own runs"] = f"{own['mean']:.2f}" if own else "-"
    return rows


def pairs(study: ProtocolStudy) -> list[Row]:
    """Differences of finalists and of picks for each pair of protocols; * if p (Holm) <= 0.05."""
    frames = {"tuned": (study.finals.differences, "tuned_part")}
    if study.finals.differences.filter(pl.col("measure") == "tuned_all")["mean"].count():
        frames["all classes"] = (study.finals.differences, "tuned_all")
    if study.picks.fairest is not None:
        name, measure = ("picks", "picked_test") if study.picks.scale else ("regret", "regret")
        frames[name] = (study.picks.fairest.differences, measure)
    found: dict[tuple[str, str], Row] = {}
    for name, (frame, measure) in frames.items():
        for row in frame.filter(pl.col("measure") == measure).to_dicts():
            names = {"a": study.shown[row["a"]], "b": study.shown[row["b"]]}
            line = found.setdefault((row["a"], row["b"]), names)
            is_significant = row["p_holm"] is not None and row["p_holm"] <= ALPHA
            line[name] = _value(row) + (" *" if is_significant else "  ")
    return list(found.values())


def costs(study: ProtocolStudy) -> list[Row]:
    """GPU time, regret and whether a protocol is on the Pareto front of both.

    In minutes if no search took an hour.
    """
    rows = {row["protocol"]: row for row in study.costs.by_protocol.to_dicts()}
    factor, _ = time_unit(study)
    wasted = [name for name in _WASTED if study.costs.by_protocol[f"{name}_hours"].sum()]
    lines: list[Row] = []
    for label in study.order:
        if label not in rows:
            continue
        row = rows[label]
        columns = {
            "total": "gpu_hours",
            "search": "search_hours",
            "final": "final_hours",
            **{name: f"{name}_hours" for name in wasted},
            "one search": "hours_per_search",
        }
        line = {"protocol": study.shown[label]}
        line |= {name: f"{factor * (row[of] or 0):.2f}" for name, of in columns.items()}
        if study.picks.fairest is not None:
            front = {True: "yes", False: "no", None: "-"}
            line["regret"] = "-" if row["regret"] is None else f"{100 * row['regret']:.2f}"
            line["on front"] = front[row["on_front"]]
        lines.append(line)
    return lines


def time_unit(study: ProtocolStudy) -> tuple[int, str]:
    """Factor on hours (60 for minutes, else 1) in the table of costs, and its title."""
    longest = max(
        study.costs.by_protocol["hours_per_search"].fill_null(0.0).to_list(), default=0.0
    )
    is_short = longest < 1
    factor, name = (60, "minutes") if is_short else (1, "hours")
    if study.design.has_gpus:
        return factor, f"GPU-{name}"
    return factor, f"{name.capitalize()} of one slot, which has no GPU"


def optimism(study: ProtocolStudy) -> list[Row]:
    """Optimism (selection bias) of the pick over runs and over classes, and overtuning."""
    sources = {
        "of its run": (study.optimism.over_runs, "fresh"),
        "of classes": (study.optimism.over_classes, "optimism"),
        "by epoch": (study.optimism.over_classes, "epoch"),
        "by config": (study.optimism.over_classes, "config"),
    }
    if study.picks.fairest is not None:
        sources["overtuning"] = (study.picks.fairest.means, "overtuning")
    found = {name: _by_protocol(*source) for name, source in sources.items()}
    if not any(found.values()):
        return []
    return [
        {
            "protocol": study.shown[label],
            **{name: _value(rows.get(label)) for name, rows in found.items()},
        }
        for label in study.order
    ]


def losses(study: ProtocolStudy) -> list[Row]:
    """Regret of choosing a loss by its validation score."""
    return _measures(study, study.losses, {"regret": "regret"})


def best_of_trials(study: ProtocolStudy) -> list[Row]:
    """Expected validation and test score of the best of so many random trials."""
    factor, _ = time_unit(study)
    return [
        {
            "protocol": study.shown[row["protocol"]],
            "trials": str(row["num_trials"]),
            "validation, %": _percent(row["val"]),
            "test, %": _percent(row["test"]),
            "minutes" if factor == 60 else "hours": (
                "-" if row["hours"] is None else f"{factor * row['hours']:.2f}"
            ),
        }
        for row in study.in_order(study.costs.best_of_trials)
    ]


def readings(study: ProtocolStudy) -> list[Row]:
    """How often test classes were scored, by protocol and stage."""
    return [
        {
            # The untrained network is listed under the first protocol, but belongs to none.
            "protocol": "-" if row["stage"] == "baseline" else study.shown[row["protocol"]],
            "stage": row["stage"],
            "times": f"{row['readings']:,}",
            "trials": f"{row['trials']:,}",
            "epoch or config chosen by them": "yes" if row["leaks"] else "no",
        }
        for row in study.in_order(study.readings)
    ]


def _measures(
    study: ProtocolStudy, means: pl.DataFrame, names: Mapping[str, str], *, scale: int = _POINTS
) -> list[Row]:
    """One row per protocol with the measures that any of them has."""
    found = {name: _by_protocol(means, measure) for measure, name in names.items()}
    shown = {name: rows for name, rows in found.items() if rows}
    if not shown:
        return []
    return [
        {
            "protocol": study.shown[label],
            **{name: _value(rows.get(label), scale=scale) for name, rows in shown.items()},
        }
        for label in _present(study, means)
    ]


def _present(study: ProtocolStudy, means: pl.DataFrame) -> list[str]:
    there = set(means["protocol"]) if len(means) else set()
    return [label for label in study.order if label in there]


def _by_protocol(means: pl.DataFrame, measure: str) -> dict[str, dict[str, Any]]:
    if means.is_empty():
        return {}
    rows = means.filter(pl.col("measure") == measure, pl.col("mean").is_not_null())
    return {row["protocol"]: row for row in rows.to_dicts()}


def interval_unit(means: pl.DataFrame, unit: str = "repeats") -> str:
    """What the intervals of a table are over, for its title; empty without intervals."""
    if means.is_empty():
        return ""
    if means["low"].count():
        return f" (± over {unit})"
    return " (± over blocks)" if means["block_low"].count() else ""


def _value(row: Mapping[str, Any] | None, *, scale: int = _POINTS) -> str:
    """The mean ± half its 95 % interval: over repeats or seeds, else over blocks."""
    if row is None or row["mean"] is None:
        return "-"
    text = f"{scale * row['mean']:.2f}"
    high = row["block_high"] if row["high"] is None else row["high"]
    return text if high is None else f"{text} ± {scale * (high - row['mean']):.2f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f}"
