"""``podium cv``: cross-validation statistics of a study's final stage."""

from typing import Annotated

import typer

from podium.api.answer import print_answer
from podium.api.results import Results
from podium.arguments.study_argument import OfStudy, ScoreOfStudy
from podium.terminal.printing import Form


def command(
    *,
    study: OfStudy,
    k: Annotated[int | None, typer.Option(help="Which K; the study's first.")] = None,
    score: ScoreOfStudy = None,
    form: Form,
) -> None:
    """Show mean and spread of test and validation scores over folds, and pairs of losses.

    Needs a final stage of several class-disjoint folds. JSON and CSV hold scores from 0 to 1.
    """
    print_answer(Results(study.folder).cv(k=k, score=score), form)
