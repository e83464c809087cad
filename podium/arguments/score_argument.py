"""The option that chooses by which stored test score a command on a study compares losses."""

from typing import Annotated

import typer

ScoreOfStudy = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="METRIC",
        help="Compare by this stored test score: recall@4, nmi, f1, r_precision, map_at_r;"
        " default: the study's own.",
    ),
]
