"""What a search tried of one hyperparameter, in words."""

from analysis.hyperparameters.searched_ranges import Tried, value_text

__all__ = ["tried_text"]


def tried_text(tried: Tried) -> str:
    """``0.1 to 0.9``, ``1e−05 to 0.1, log``, ``soft, hard``."""
    if tried.is_choice:
        return ", ".join(map(value_text, tried.values))
    scale = ", log" if tried.log else "" if tried.is_recorded else " (values found)"
    return f"{value_text(tried.low)} to {value_text(tried.high)}{scale}"
