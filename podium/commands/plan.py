"""``podium plan STUDY``: what a study will do and cost."""

from typing import Annotated

import typer

from podium.api.answer import print_answer
from podium.api.study import load
from podium.arguments.study_argument import Overrides, StorageFolder, StudyPath
from podium.terminal.printing import AsCsv, AsJson


def command(
    study: StudyPath,
    storage: StorageFolder = None,
    overrides: Overrides = None,
    difference: Annotated[
        float, typer.Option(metavar="POINTS", help="Difference of Recall@1 that should be found.")
    ] = 1.0,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Change what is assumed, such as spread=4. Repeatable. See"
            " docs/explanation/statistics/before-a-study.md.",
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Show all details: splits, power, training, fairness."),
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show what a study will do and cost, and what it can show. Stores nothing.

    Hours are estimated by the study's own results, by earlier runs on this machine, or by figures
    that podium ships. --csv prints one line for each search.
    """
    answer = load(study, storage=storage, overrides=overrides or []).plan(
        difference=difference, assume=assume or (), full=full
    )
    print_answer(answer, as_json=as_json, as_csv=as_csv)
