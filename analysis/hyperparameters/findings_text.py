"""What hyperparameters decided, in sentences made from the numbers; for report and command."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from podium.analysis.hyperparameters.best_regions import BestRange, BestRegion
from podium.analysis.hyperparameters.importance import LEAST_CONFIGS, LEVEL
from podium.analysis.hyperparameters.searched_ranges import value_text
from podium.analysis.hyperparameters.tuned_hyperparameters import TunedHyperparameters
from podium.analysis.wording import MOST_NAMED, counted, listed, p_equals, percent

_BEST_TEXT = "of its search (a tenth, at least five)"


def importance_headline(tuned: TunedHyperparameters) -> str:
    """How many hyperparameters matter, and how many would by chance."""
    known = tuned.importances.filter(pl.col("importance").is_not_null())
    if known.is_empty():
        return (
            f"Importance needs searches of {LEAST_CONFIGS} complete configs or more; none has so"
            " many."
        )
    losses = known["loss"].n_unique()
    of = f"{counted(known.height, 'hyperparameter')} of {counted(losses, 'loss', 'losses')}"
    if tuned.is_adaptive:
        return (
            f"Importance of {of} among the configs that the sampler ({tuned.sampler}) tried. It"
            " follows earlier scores, so no test says which of them could be chance."
        )
    above = int(known["is_above_noise"].sum())
    by_chance = LEVEL * known.height
    if not above:
        return f"Nothing above noise: none of {of} decides more than shuffled scores would."
    return (
        f"Of {of}, {above} {'decides' if above == 1 else 'decide'} more than shuffled scores would"
        f" in 95 of 100 cases; about {by_chance:.1f} would by chance."
    )


def compared_by(tuned: TunedHyperparameters) -> list[str]:
    """By which score configs are compared, if it is another than searches maximised."""
    if tuned.score == tuned.maximised:
        return []
    return [
        f"Configs are compared by {tuned.score.label} on {tuned.role}, which no search read: they"
        f" maximised {tuned.maximised.label} on validation."
    ]


def importance_verdict(row: Mapping[str, Any]) -> str:
    """Whether a row of ``importance_table`` is above noise, or why it has no importance."""
    if row["importance"] is None:
        return str(row["reason"])
    if row["is_above_noise"] is None:
        return "not tested"
    return "above noise" if row["is_above_noise"] else "not above noise"


def loss_sentences(tuned: TunedHyperparameters) -> list[str]:
    """A sentence for each loss: what matters, by how much above noise, where the best lie.

    Losses of which nothing is known, for the same reason, share one, after the others.
    """
    known: list[str] = []
    unknown: dict[str, list[str]] = {}  # reason -> losses
    for part in tuned.importances.partition_by("loss", maintain_order=True):
        loss, of_loss = str(part["loss"][0]), part.drop_nulls("importance")
        if of_loss.is_empty():
            unknown.setdefault(part["reason"][0], []).append(loss)
        else:
            known.append(_of_loss(tuned, loss, of_loss))
    return [*known, *(_of_unknown(losses, reason) for reason, losses in unknown.items())]


def _of_unknown(losses: list[str], reason: str) -> str:
    named = listed(losses, most=MOST_NAMED)
    return f"{named}: no importance, because {'it' if len(losses) == 1 else 'each'} {reason}."


def _of_loss(tuned: TunedHyperparameters, loss: str, known: pl.DataFrame) -> str:
    first, *others = known.to_dicts()
    explains = (
        f"Alone it explains {percent(first['importance'])} of what decides whether a config is"
        f" among the best {_BEST_TEXT}"
    )
    if tuned.is_adaptive:
        text = f"{loss}: {first['hyperparameter']} has the largest importance. {explains}."
    elif not first["is_above_noise"]:
        return (
            f"{loss}: nothing above noise. The largest is {first['hyperparameter']} with"
            f" {_share(first)} ({p_equals(first['p_value'])})."
        )
    else:
        text = (
            f"{loss}: {first['hyperparameter']} matters most. {explains}; noise: up to"
            f" {percent(first['noise'])}, {p_equals(first['p_value'])}."
        )
        also = [
            f"{row['hyperparameter']} ({_share(row)})" for row in others if row["is_above_noise"]
        ]
        text += f" Above noise too: {listed(also) if also else 'nothing'}."
    region = next(
        (
            item
            for item in tuned.regions.get(loss, ())
            if item.hyperparameter == first["hyperparameter"]
        ),
        None,
    )
    where = region_text(region) if region else ""
    return f"{text} Its values in the best configs: {where}." if where else text


def _share(row: dict[str, Any]) -> str:
    return f"{percent(row['importance'])}, noise up to {percent(row['noise'])}"


def region_text(region: BestRegion) -> str:
    """``0.1 to 0.4, median 0.3``; empty if no best config has the hyperparameter."""
    match region.best:
        case None:
            return ""
        case (favourite, share, overall):
            return (
                f"{favourite} in {percent(share)}, where it is tried in {percent(overall)} of all"
            )
        case BestRange(low=low, median=median, high=high):
            texts = [_value(region, value) for value in (low, high, median)]
            whole = " of its range, which differs between blocks" if region.is_relative else ""
            return f"{texts[0]} to {texts[1]}, median {texts[2]}{whole}"


def _value(region: BestRegion, value: float) -> str:
    return percent(value) if region.is_relative else value_text(value)


def bound_warnings(tuned: TunedHyperparameters) -> list[str]:
    """One sentence for each end of a range at which more winners lie than by chance."""
    found = []
    for loss, regions in tuned.regions.items():
        for region in regions:
            ends = (
                ("lower", region.warns_low * region.num_at_low, region.searched.low),
                ("upper", region.warns_high * region.num_at_high, region.searched.high),
            )
            for end, num, bound in ends:
                if num:
                    at = "" if region.is_relative else f" ({value_text(bound)})"
                    lie = "lies" if num == 1 else "lie"
                    winners = counted(region.num_winners, "winner")
                    found.append(
                        f"{num} of {winners} of {loss} {lie} at the {end} end of"
                        f" {region.hyperparameter}{at}: widen the space, if values beyond are"
                        " legal."
                    )
    return found


def caveats(tuned: TunedHyperparameters) -> list[str]:
    """What biases the importances of this study: its sampler, trials and space left out."""
    found = []
    if tuned.is_adaptive and tuned.importances["importance"].is_not_null().any():
        found.append(
            f"The sampler ({tuned.sampler}) tries more configs where scores are high. A"
            " hyperparameter whose bad values it soon avoided looks less important than it is, and"
            " one that does nothing may look important."
        )
    pruned, failed = tuned.total("num_pruned"), tuned.total("num_failed")
    if pruned or failed:
        found.append(
            f"{counted(pruned, 'pruned config')} and {counted(failed, 'failed one')} of"
            f" {tuned.total('num_trials')} are left out: they have no score of full training, so"
            " the importance of what makes configs bad is understated."
        )
    outside = tuned.total("num_outside")
    if outside:
        found.append(
            f"{counted(outside, 'config')} outside of the searched space"
            f" {'is' if outside == 1 else 'are'} left out, such as a published default."
        )
    return found
