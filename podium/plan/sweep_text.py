"""How much of each sweep a plan covers, in a sentence or two, and as plain values."""

from collections.abc import Iterator, Sequence

from orchestrator.planning.sweep_plan import SweepPlan


def sweep_notes(plans: Sequence[SweepPlan]) -> Iterator[str]:
    """What is tried of each hyperparameter; nothing if nothing is swept.

    Blocks in which a loss has the same sweeps are named once.
    """
    if not plans:
        return
    losses = dict.fromkeys(
        f"{item.loss} {_covered(item)} (at most {item.trials} trials)" for item in plans
    )
    thinned = [item.sweeps.trials_of_whole for item in plans if not item.sweeps.is_whole]
    advice = f" With search.trials {max(thinned)} no value is left out." if thinned else ""
    yield f"Sweeps, values tried of those there are: {'; '.join(losses)}.{advice}"


def sweep_records(plans: Sequence[SweepPlan]) -> list[dict[str, object]]:
    """One record for each block, loss and hyperparameter; ``values`` is None without steps."""
    return [
        {
            "block": item.block,
            "loss": item.loss,
            "hyperparameter": sweep.name,
            "tried": len(sweep.values),
            "values": sweep.num_all,
        }
        for item in plans
        for sweep in item.sweeps.each
    ]


def _covered(item: SweepPlan) -> str:
    return ", ".join(
        f"{sweep.name} {len(sweep.values)} {f'of {sweep.num_all}' if sweep.num_all else 'points'}"
        for sweep in item.sweeps.each
    )
