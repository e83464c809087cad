"""Assumptions of a plan from what an earlier study measured."""

from collections.abc import Mapping

from orchestrator.results.storage.locations import Place

__all__ = ["like_note", "measured_in"]


def measured_in(folder: Place) -> dict[str, float]:
    """Assumptions by name, as far as the results of ``folder`` tell them.

    Raises:
        PodiumError: it is no results folder, or one that cannot be analysed.
    """
    from analysis.study_results.assumptions_for_plans import measured_assumptions
    from analysis.study_results.study_results import read_results

    return measured_assumptions(read_results(folder))


def like_note(folder: Place, measured: Mapping[str, float], stated: Mapping[str, float]) -> str:
    """Which assumptions were measured, which were given instead, and which stayed as they were.

    Args:
        folder: of the earlier results.
        measured: from ``measured_in``.
        stated: all assumptions of the plan, by name.
    """
    used = {name: value for name, value in measured.items() if stated[name] == value}
    rest = [name for name in stated if name not in used]
    text = f"Measured in {folder}: {_values(used) or 'nothing'}."
    if rest:
        text += (
            f" Not measured there, or given by --assume: {_values({n: stated[n] for n in rest})}."
        )
    return text


def _values(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in values.items())
