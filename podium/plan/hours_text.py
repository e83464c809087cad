"""What a plan says of hours: how many, how sure that is, and by whose figures."""

from collections.abc import Sequence

from orchestrator.planning.image_cost import CostEstimate, CostSource, sources_of
from orchestrator.planning.study_plan import StudyPlan

_SOURCES: dict[CostSource, str] = {
    "probe": "the epoch that was trained just now",
    "machine": "earlier runs from this machine",
    "shipped": "figures that podium ships, measured on other machines: yours will differ",
}


_BRIEF_SOURCES: dict[CostSource, str] = {
    "probe": "the epoch trained just now",
    "machine": "earlier runs here",
    "shipped": "podium's figures of other machines",
}


def hours_line(planned: StudyPlan) -> str:
    """Hours with their interval and whose figures they come from, in a line."""
    slot, gpu, cost = planned.budget.slot_hours, planned.budget.gpu_hours, planned.epoch_cost
    if slot is None:
        return "not known before the first trial is done (or by --probe)"
    by = (
        " and ".join(_BRIEF_SOURCES[source] for source in sources_of(_estimates(planned)))
        if cost is None
        else f"{cost.trials} trial{'' if cost.trials == 1 else 's'} of this study"
    )
    on_gpus = "" if gpu is None else f", {_short(gpu.median)} GPU-hours"
    return (
        f"{_short(slot.median)} ({_short(slot.low)} to {_short(slot.high)}) on one worker slot"
        f"{on_gpus}, by {by}"
    )


def cost_sentence(planned: StudyPlan) -> str:
    """Hours with their interval, whose figures they come from, and what they leave out."""
    cost, slot, gpu = planned.epoch_cost, planned.budget.slot_hours, planned.budget.gpu_hours
    if slot is None:
        return "not known before the first trial is done."
    on_gpus = "" if gpu is None else f", {_short(gpu.median)} GPU-hours"
    if cost is not None:
        trials = f"{cost.trials} trial{'' if cost.trials == 1 else 's'}"
        return (
            f"at most {_short(slot.median)} hours of computation on one slot{on_gpus}, by the "
            f"median epoch of {trials} so far ({cost.median:.2g} s); {_short(slot.low)} to "
            f"{_short(slot.high)} hours by their fastest and slowest tenth. Early stopping makes "
            "it less."
        )
    estimates = _estimates(planned)
    by = "; and by ".join(_SOURCES[source] for source in sources_of(estimates))
    saved = (
        " The low end counts what early stopping can save, and half of the finals, which are not "
        "trained where a default wins."
        if planned.study.search.trials > 1
        else ""
    )
    return (
        f"about {_short(slot.median)} hours of computation on one slot{on_gpus}, if no trial is "
        f"stopped early; {_short(slot.low)} to {_short(slot.high)} hours with all that is "
        f"uncertain, by {by}. Measured: {_measured(estimates)}.{saved} "
        "Starts of trials and checkpoints come on top."
    )


def hours_record(planned: StudyPlan) -> dict[str, object]:
    """The same as plain values; null where nothing is known."""
    slot, gpu = planned.budget.slot_hours, planned.budget.gpu_hours
    estimates = _estimates(planned)
    sources = ["results"] if planned.epoch_cost is not None else list(sources_of(estimates))
    return {
        "hours": slot and slot.median,
        "hours_interval": slot and [slot.low, slot.high],
        "gpu_hours": gpu and gpu.median,
        "gpu_hours_interval": gpu and [gpu.low, gpu.high],
        "hours_sources": sources,
        "hours_of_blocks": [
            {
                "block": of.block.label,
                "hours": of.hours.median,
                "hours_interval": [of.hours.low, of.hours.high],
                **({} if of.by is None else _estimate_record(of.by)),
            }
            for of in planned.hours
        ],
    }


def _estimates(planned: StudyPlan) -> list[CostEstimate]:
    return [of.by for of in planned.hours if of.by is not None]


def _estimate_record(by: CostEstimate) -> dict[str, object]:
    return {
        "source": by.measured.source,
        "measured": str(by.measured.conditions),
        "hardware": by.measured.hardware,
        "day": by.measured.day,
        "is_scaled": by.is_scaled,
        "seconds_per_image": by.cost.median,
    }


def _measured(estimates: Sequence[CostEstimate]) -> str:
    """What was measured, and what was scaled from it."""
    found: dict[str, dict[str, None]] = {}
    for by in estimates:
        of = by.measured
        where = f" ({of.hardware})" if of.hardware else ""
        figure = f"{of.median * 1000:.2g} ms an image of {of.conditions}{where}"
        scaled = found.setdefault(figure, {})
        if by.is_scaled:
            scaled[str(by.cost.conditions)] = None
    return "; ".join(
        f"{figure}, scaled to {', and to '.join(scaled)}" if scaled else figure
        for figure, scaled in found.items()
    )


def _short(hours: float) -> str:
    """Two digits: 0.032, 3.2, 3,200."""
    return f"{hours:.2g}" if hours < 99.5 else f"{float(f'{hours:.2g}'):,.0f}"
