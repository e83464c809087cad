"""``podium cv``: cross-validation statistics of a study's final stage."""

from typing import Annotated

import typer

from podium.api.answer import print_answer
from podium.api.results import results
from podium.arguments.score_argument import ScoreOfStudy
from podium.arguments.study_argument import StorageFolder, StudyPath
from podium.terminal.printing import AsCsv, AsJson


def command(
    study: StudyPath,
    k: Annotated[int | None, typer.Option(help="Which K; the study's first.")] = None,
    score: ScoreOfStudy = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show mean and spread of test and validation scores over folds, and pairs of losses.

    Needs a final stage of several class-disjoint folds. JSON and CSV hold scores from 0 to 1.
    """
    answer = results(study, storage=storage).cv(k=k, score=score)
    print_answer(answer, as_json=as_json, as_csv=as_csv)
