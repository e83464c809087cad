"""The text of ``podium importance``: a table, what it says of each loss, and what it means."""

from podium.analysis.hyperparameters.findings_text import (
    bound_warnings,
    caveats,
    compared_by,
    importance_headline,
    importance_verdict,
    loss_sentences,
)
from podium.analysis.hyperparameters.tuned_hyperparameters import TunedHyperparameters
from podium.terminal.printing import paragraphs, rounded, table_text

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
        table_text(_rows(tuned)),
        importance_headline(tuned),
        *compared_by(tuned),
        *loss_sentences(tuned),
        *(f"Warning: {text}" for text in bound_warnings(tuned)),
        _METHOD,
        *([] if tuned.is_adaptive else [_NOISE]),
        *caveats(tuned),
    ]
    return paragraphs(parts, _WIDTH)


def _rows(tuned: TunedHyperparameters) -> list[dict[str, object]]:
    """One row for each loss and hyperparameter, rounded to be read."""
    of_test = {
        (row["loss"], row["hyperparameter"]): row
        for row in ([] if tuned.on_test is None else tuned.on_test.to_dicts())
    }
    rows: list[dict[str, object]] = []
    for row in tuned.importances.to_dicts():
        names = ("importance", "low", "high", "noise")
        line: dict[str, object] = {
            **{name: row[name] for name in ("loss", "hyperparameter")},
            **{name: rounded(row[name], 3) for name in names},
            "p": rounded(row["p_value"], 3),
            "verdict": importance_verdict(row),
        }
        if of_test:
            found = of_test[row["loss"], row["hyperparameter"]]
            line |= {
                "on test": rounded(found["importance"], 3),
                "test noise": rounded(found["noise"], 3),
            }
        rows.append({**line, "blocks": row["num_blocks"], "configs": row["num_configs"]})
    return rows
