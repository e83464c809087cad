"""``podium protocols``: gain, regret and cost of tuning by each validation protocol."""

from typing import Annotated

import typer

from podium.api.answer import print_answer
from podium.api.results import results
from podium.arguments.study_argument import StorageFolder, StudyPath
from podium.terminal.printing import AsCsv, AsJson


def command(
    study: StudyPath,
    k: Annotated[int | None, typer.Option(help="Which K; the study's first.")] = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Compare validation protocols: test recall of picks, regret, agreement, optimism, hours.

    A study needs several protocols for comparisons, several repeats for intervals, and
    `quarantine: record` for regrets. JSON and CSV hold scores from 0 to 1.

    Example: podium protocols podium-results/protocols
    """
    answer = results(study, storage=storage).protocols(k=k)
    print_answer(answer, as_json=as_json, as_csv=as_csv)
