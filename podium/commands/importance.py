"""``podium importance``: which hyperparameters decide, above noise, and where the best lie."""

from typing import Annotated

import typer

from podium.api.answer import print_answer
from podium.api.results import Results
from podium.arguments.study_argument import OfStudy, ScoreOfStudy
from podium.terminal.printing import Form


def command(
    *,
    study: OfStudy,
    loss: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this loss. Repeatable.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Of several; the first that does not leak.")
    ] = None,
    score: ScoreOfStudy = None,
    form: Form,
) -> None:
    """Show what each hyperparameter decides, on validation and (if recorded) on test.

    Computed within each search, from complete trials, then averaged over blocks. JSON holds the
    single searches and the regions of the best configs too.

    Example: podium importance podium-results/quickstart --loss contrastive
    """
    found = Results(study.folder)
    print_answer(found.importance(loss=loss or (), protocol=protocol, score=score), form)
