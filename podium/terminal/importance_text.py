"""The text of ``podium importance``: a table, what it says of each loss, and what it means."""

from podium.analysis.hyperparameters.findings_text import (
    bound_warnings,
    caveats,
    compared_by,
    importance_headline,
    loss_sentences,
)
from podium.analysis.hyperparameters.tuned_hyperparameters import TunedHyperparameters
from podium.analysis.report.hyperparameters import importance_table
from podium.terminal.printing import paragraphs
from podium.terminal.shown_table import shown_table

_WIDTH = 99
_METHOD = (
    "Importance: share of the variance of being among the best of the search (a tenth, at least"
    " five) that a hyperparameter alone explains (PED-ANOVA)."
)
_NOISE = (
    "noise: 95th percentile for shuffled scores; what does not exceed it is not above noise. p is"
    " one-sided and not corrected for how many hyperparameters there are."
)


def importance_text(tuned: TunedHyperparameters) -> str:
    """The table, then sentences of each loss, warnings, and what the numbers mean."""
    parts = [
        shown_table(importance_table(tuned, {})),
        importance_headline(tuned),
        *compared_by(tuned),
        *loss_sentences(tuned),
        *(f"Warning: {text}" for text in bound_warnings(tuned)),
        _METHOD,
        *([] if tuned.is_adaptive else [_NOISE]),
        *caveats(tuned),
    ]
    return paragraphs(parts, _WIDTH)
