"""``podium plan STUDY``: what a study will do and cost."""

from typing import Annotated

import typer

from podium.api.answer import print_answer
from podium.api.study import load
from podium.arguments.study_argument import OfStudy, Overrides
from podium.terminal.printing import Form


def command(
    *,
    of: OfStudy,
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
        bool, typer.Option("--full", help="Show all details: splits, power, training, fairness.")
    ] = False,
    form: Form,
) -> None:
    """Show what a study will do and cost, and what it can show. Stores nothing.

    Hours are estimated by the study's own results, by earlier runs on this machine, or by figures
    that podium ships. --csv prints one line for each search.
    """
    study = load(of.study, storage=of.storage, overrides=overrides or ())
    print_answer(study.plan(difference=difference, assume=assume or (), full=full), form)
