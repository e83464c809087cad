"""The text of ``podium importance``: a table, what it says of each loss, and what it means."""

import textwrap

from analysis.hyperparameters.findings_text import (
    bound_warnings,
    caveats,
    compared_by,
    importance_headline,
    importance_verdict,
    loss_sentences,
)
from analysis.hyperparameters.tuned_hyperparameters import TunedHyperparameters
from podium.terminal.printing import table_text

_WIDTH = 99
_METHOD = (
    "Importance: share of the variance of being among the best tenth of the search that a"
    " hyperparameter alone explains (PED-ANOVA)."
)
_NOISE = (
    "noise: 95th percentile for shuffled scores; what does not exceed it is not above noise. p is"
    " one-sided and not corrected for how many hyperparameters there are."
)


def importance_text(tuned: TunedHyperparameters) -> str:
    """The table, then sentences of each loss, warnings, and what the numbers mean."""
    sentences = [
        importance_headline(tuned),
        *compared_by(tuned),
        *loss_sentences(tuned),
        *(f"Warning: {text}" for text in bound_warnings(tuned)),
        _METHOD,
        _NOISE,
        *caveats(tuned),
    ]
    rows = importance_rows(tuned)
    table = table_text(rows, columns=list(rows[0]))
    return "\n\n".join(
        [table, *(textwrap.fill(text, _WIDTH, break_on_hyphens=False) for text in sentences)]
    )


def importance_rows(tuned: TunedHyperparameters) -> list[dict[str, object]]:
    """One row for each loss and hyperparameter, rounded to be read."""
    of_test = {
        (row["loss"], row["hyperparameter"]): row
        for row in ([] if tuned.on_test is None else tuned.on_test.to_dicts())
    }
    rows: list[dict[str, object]] = []
    for row in tuned.importances.to_dicts():
        line: dict[str, object] = {
            "loss": row["loss"],
            "hyperparameter": row["hyperparameter"],
            "importance": _rounded(row["importance"]),
            "low": _rounded(row["low"]),
            "high": _rounded(row["high"]),
            "noise": _rounded(row["noise"]),
            "p": _rounded(row["p_value"]),
            "verdict": importance_verdict(row),
        }
        if of_test:
            found = of_test[row["loss"], row["hyperparameter"]]
            line |= {
                "on test": _rounded(found["importance"]),
                "test noise": _rounded(found["noise"]),
            }
        rows.append({**line, "blocks": row["num_blocks"], "configs": row["num_configs"]})
    return rows


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
