"""``podium plan STUDY``: what a study will do and cost."""

from typing import Annotated

import typer

from podium.api.study import load
from podium.arguments.study_argument import (
    GivenPlace,
    Overrides,
    StorageFolder,
    StudyPath,
    given_place,
)
from podium.plan.make_plan import make_plan, plan_record
from podium.plan.plan_text import plan_text, search_rows
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say


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
    like: Annotated[
        GivenPlace | None,
        typer.Option(
            metavar="RESULTS",
            parser=given_place,
            help="Assume what an earlier results folder measured instead.",
        ),
    ] = None,
    with_probe: Annotated[
        bool,
        typer.Option("--probe", help="Train one epoch of the first config to estimate the cost."),
    ] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="Show all details: splits, power, training, fairness, costs."),
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show what a study will do and cost, and what it can show. Stores nothing.

    Hours are estimated by the study's own results; before there are any, by --probe, by earlier
    runs from this machine, or by figures that podium ships. --csv prints one line for each search.
    """
    loaded = load(study, storage=storage, overrides=overrides or [])
    found = make_plan(
        loaded.resolved,
        loaded.folder,
        difference=difference,
        assume=assume or (),
        like=like,
        with_probe=with_probe,
        is_file=loaded.folder != study,
    )
    for note in found.notes:
        say(f"note: {note}", err=True)
    if as_json:
        print_json(plan_record(found))
    elif as_csv:
        print_table(search_rows(found.counts), as_csv=True)
    else:
        say(plan_text(found, full=full))
