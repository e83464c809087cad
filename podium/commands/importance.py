"""``podium importance``: which hyperparameters decide, above noise, and where the best lie."""

import textwrap
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from analysis.hyperparameters.best_regions import region_records
from analysis.hyperparameters.findings_text import (
    bound_warnings,
    caveats,
    compared_by,
    importance_headline,
    importance_verdict,
    loss_sentences,
)
from analysis.hyperparameters.importance import ImportanceMethod, ImportanceSettings
from analysis.hyperparameters.importance_table import search_importance_table
from analysis.hyperparameters.tuned_hyperparameters import (
    TunedHyperparameters,
    tuned_hyperparameters,
)
from analysis.scores.compared_runs import compared_protocol, trials_of
from analysis.scores.protocol_runs import protocols_of
from analysis.scores.ranked_score import chosen_score
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.reader import Reader
from podium.arguments.score_argument import ScoreOfStudy
from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say, table_text

_WIDTH = 99
_MEANING: Mapping[ImportanceMethod, str] = {
    "ped-anova": "Importance: share of the variance of being among the best tenth of the search"
    " that a hyperparameter alone explains (PED-ANOVA).",
    "fanova": "Importance: share of the variance of the score over the whole space that a"
    " hyperparameter alone explains (fANOVA of a random forest).",
}
_NOISE = (
    "noise: 95th percentile for shuffled scores; what does not exceed it is not above noise. p is"
    " one-sided and not corrected for how many hyperparameters there are."
)


def command(
    study: StudyPath,
    loss: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this loss. Repeatable.")
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Of several; the first that does not leak."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="ped-anova or fanova; the latter takes seconds a search.")
    ] = "ped-anova",
    score: ScoreOfStudy = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show what each hyperparameter decides, on validation and (if recorded) on test.

    Computed within each search, from complete trials, then averaged over blocks. JSON holds the
    single searches and the regions of the best configs too.

    Example: podium importance podium-results/quickstart --loss contrastive
    """
    known = next((name for name in _MEANING if name == method), None)
    if known is None:
        raise PodiumError(f"--method must be {' or '.join(_MEANING)}; got {method!r}")
    settings = ImportanceSettings(method=known)
    tuned = _read(results_folder(study, storage), loss, protocol, settings, score)
    if as_json:
        print_json(_record(tuned))
    elif as_csv:
        print_table(tuned.importances.to_dicts(), as_csv=True)
    else:
        say(_text(tuned))


def _read(
    folder: Place,
    losses: list[str] | None,
    protocol: str | None,
    settings: ImportanceSettings,
    score: str | None,
) -> TunedHyperparameters:
    reader = Reader(folder)
    resolved = reader.study()
    for name in losses or ():
        if name not in resolved["losses"]:
            known = ", ".join(sorted(resolved["losses"]))
            raise PodiumError(f"--loss must be one of {known}; got {name!r}")
    compared = compared_protocol(protocols_of(resolved), protocol)
    chosen = chosen_score(reader, score)
    tuned = tuned_hyperparameters(
        trials_of(reader.trials().collect(), compared.label),
        reader,
        study=resolved,
        score=chosen,
        losses=losses,
        settings=settings,
    )
    if tuned is None:
        raise PodiumError(
            "importance needs complete trials of a search that varies something; "
            f"{folder} has none"
        )
    if score is not None and tuned.score != chosen:
        raise PodiumError(
            f"--score {score} needs searches whose trials were tested by it: with quarantine:"
            f" record_all, which {folder} was run without"
        )
    return tuned


def _record(tuned: TunedHyperparameters) -> dict[str, Any]:
    return {
        "method": tuned.settings.method,
        "importances": tuned.importances.to_dicts(),
        "on_test": None if tuned.on_test is None else tuned.on_test.to_dicts(),
        "searches": search_importance_table(tuned.importances_by_search).to_dicts(),
        "regions": region_records(tuned.regions),
        "sentences": [importance_headline(tuned), *compared_by(tuned), *loss_sentences(tuned)],
        "warnings": bound_warnings(tuned),
        "notes": caveats(tuned),
    }


def _text(tuned: TunedHyperparameters) -> str:
    sentences = [
        importance_headline(tuned),
        *compared_by(tuned),
        *loss_sentences(tuned),
        *(f"Warning: {text}" for text in bound_warnings(tuned)),
        _MEANING[tuned.settings.method],
        _NOISE,
        *caveats(tuned),
    ]
    rows = _rows(tuned)
    table = table_text(rows, columns=list(rows[0]))
    return "\n\n".join(
        [table, *(textwrap.fill(text, _WIDTH, break_on_hyphens=False) for text in sentences)]
    )


def _rows(tuned: TunedHyperparameters) -> list[dict[str, object]]:
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
