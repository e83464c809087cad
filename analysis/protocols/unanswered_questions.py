"""What a study cannot say of its protocols, and why, in sentences."""

from analysis.protocols.protocol_study import ProtocolStudy

__all__ = ["unanswered"]

_WHAT = {
    "finals": "What training classes bought",
    "final_differences": "Differences between protocols",
    "scale": "Picks on one scale",
    "own": "Regret and rank agreement by other runs of the protocol",
    "same_run": "Naive regret",
    "losses": "Regret of choosing a loss",
    "class_luck": "Optimism by halves of the validation classes",
    "run_luck": "Optimism by fresh runs",
    "best_of_trials": "Expected best of so many trials",
}


def unanswered(study: ProtocolStudy) -> tuple[str, ...]:
    """One sentence for each statistic that is missing, wholly or in part."""
    return tuple(
        f"{what}: {study.reasons[name]}." for name, what in _WHAT.items() if name in study.reasons
    )
