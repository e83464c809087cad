"""What is equal between the losses of a plan and what is not, in sentences."""

from collections.abc import Iterator

from podium.orchestrator.results.records.fairness_record import Fairness

_WIDTH = "searched_hyperparameters"


def fairness_notes(fairness: Fairness, losses: tuple[str, ...]) -> Iterator[str]:
    """Paragraphs for a plan: what is equal, then everything that differs."""
    block, *others = fairness.equal.items()
    shared = [block[1], *(f"{name} ({value})" for name, value in others)]
    compared = "all losses of a block" if len(losses) > 1 else "all searches of a block"
    yield (
        f"Fairness: the same for {compared}: {'; '.join(shared)}; "
        f"{len(fairness.settings)} settings of training."
    )
    yield from difference_notes(fairness)
    if of_losses := [str(item) for item in fairness.disparities if item.area == "loss"]:
        yield f"By the losses themselves: {'. '.join(of_losses)}."


def difference_notes(fairness: Fairness) -> Iterator[str]:
    """A paragraph for each difference that does not follow from the losses themselves."""
    for item in fairness.disparities:
        if item.area != "loss":
            advice = " The same budget covers less of a larger space."
            yield f"Not equal: {item}.{advice if item.name == _WIDTH else ''}"
