"""``podium importance``: which hyperparameters decide, above noise, and where the best lie."""

from typing import Annotated

import typer

from podium.api.answer import print_answer
from podium.api.results import results
from podium.arguments.score_argument import ScoreOfStudy
from podium.arguments.study_argument import StorageFolder, StudyPath
from podium.terminal.printing import AsCsv, AsJson


def command(
    study: StudyPath,
    loss: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this loss. Repeatable.")
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Of several; the first that does not leak."),
    ] = None,
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
    answer = results(study, storage=storage).importance(
        loss=loss or (), protocol=protocol, score=score
    )
    print_answer(answer, as_json=as_json, as_csv=as_csv)
