"""``podium tournament``: rank the losses of a study, or any table of scores."""

from typing import Annotated

import typer

from analysis.typed_tables.table_file import is_table
from podium.api.answer import print_answer
from podium.api.results import results
from podium.api.tournament import rank_table
from podium.arguments.rules_argument import Alpha, AskedQuestion, GivenRules, Test
from podium.arguments.shipped_files import or_shipped
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place
from podium.arguments.table_argument import (
    Average,
    By,
    Competitor,
    LowerIsBetter,
    Score,
    TableOptions,
    Where,
    Without,
)
from podium.errors import PodiumError
from podium.terminal.printing import AsCsv, AsJson
from podium.terminal.table_reading import say_reading


def command(
    source: Annotated[
        GivenPlace,
        typer.Argument(
            parser=given_place,
            metavar="FILE_OR_STUDY",
            help="A table (CSV, LaTeX, Markdown, Parquet), a study file (YAML) or a results"
            " folder.",
        ),
    ],
    by: By = None,
    competitor: Competitor = None,
    score: Score = None,
    where: Where = None,
    average: Average = None,
    without: Without = None,
    lower_is_better: LowerIsBetter = False,
    question: AskedQuestion = None,
    test: Test = None,
    alpha: Alpha = None,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Rank losses within blocks (data set x backbone x dimension) and test the differences.

    Of a study, the winners of its searches are ranked by test recall (continuous labels: nDCG).
    Published defaults: --where finalist=default. Another score: --score nmi, f1, recall@4. Of
    several protocols the first that does not leak: --where protocol=LABEL. Trained on all
    classes: --where train_on=all. A study has declared its question, primary test and level;
    tables take --question, --test and --alpha.

    Example: podium tournament scores.csv --by dataset,backbone --score recall --where k=1
    """
    options = TableOptions(
        by=by,
        competitor=competitor,
        score=score,
        where=where or (),
        average=average or (),
        without=without or (),
        lower_is_better=lower_is_better,
    )
    given = GivenRules(question=question, test=test, alpha=alpha)
    place = or_shipped(source)
    if is_table(place):
        if storage is not None:
            raise PodiumError(f"--storage goes with a study; {place} is a table")
        answer = rank_table(place, options, given, tell=say_reading)
    else:
        options.refuse_with_study(place, taken=("where", "score"))
        given.refuse("studies have declared their rules")
        answer = results(place, storage=storage).tournament(score=score, where=where or ())
    print_answer(answer, as_json=as_json, as_csv=as_csv)
