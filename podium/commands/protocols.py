"""``podium protocols``: gain, regret and cost of tuning by each validation protocol."""

from typing import Annotated

import typer

from podium.api.answer import print_answer
from podium.api.results import Results
from podium.arguments.study_argument import OfStudy
from podium.terminal.printing import Form


def command(
    *,
    study: OfStudy,
    k: Annotated[int | None, typer.Option(help="Which K; the study's first.")] = None,
    form: Form,
) -> None:
    """Compare validation protocols: test recall of picks, regret, agreement, optimism, hours.

    A study needs several protocols for comparisons, three repeats or blocks for intervals, and
    `quarantine: record` for regrets. JSON and CSV hold scores from 0 to 1.

    Example: podium protocols podium-results/protocols
    """
    print_answer(Results(study.folder).protocols(k=k), form)
