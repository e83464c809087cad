"""``podium tournament``: rank the losses of a study, or any table of scores."""

from typing import Annotated

import typer

from podium.analysis.typed_tables.table_file import is_table
from podium.analysis.typed_tables.table_options import TableOptions
from podium.api.answer import print_answer
from podium.api.results import Results
from podium.api.tournament import ranked_table, told_table
from podium.arguments.rules_argument import GivenRules
from podium.arguments.shipped_files import or_shipped
from podium.arguments.study_argument import GivenPlace, StorageFolder, given_place, results_folder
from podium.errors import PodiumError
from podium.terminal.printing import Form


def command(
    *,
    source: Annotated[
        GivenPlace,
        typer.Argument(
            parser=given_place,
            metavar="FILE_OR_STUDY",
            help="A table (CSV, TSV, Parquet), a study file (YAML) or a results folder.",
        ),
    ],
    table: TableOptions,
    rules: GivenRules,
    storage: StorageFolder = None,
    with_baselines: Annotated[
        bool,
        typer.Option(
            "--with-baselines",
            help="Of a study: rank the untrained network and its untouched features too.",
        ),
    ] = False,
    form: Form,
) -> None:
    """Rank losses within blocks (data set x backbone x dimension) and test the differences.

    Of a study, the winners of its searches are ranked by test recall (continuous labels: nDCG).
    Published defaults: --where finalist=default. Another score: --score nmi, f1, recall@4. Of
    several protocols the first that does not leak: --where protocol=LABEL. Trained on all
    classes: --where train_on=all. A study has declared its question, tests and level;
    tables take --question, --against, --alpha.

    Example: podium tournament scores.csv --by dataset,backbone --score recall --where k=1
    """
    place = or_shipped(source)
    if is_table(place):
        of_study = {"--storage": storage is not None, "--with-baselines": with_baselines}
        for option in (name for name, is_given in of_study.items() if is_given):
            raise PodiumError(f"{option} goes with a study; {place} is a table")
        scores = told_table(place, table)
        answer = ranked_table(scores, rules.of_table())
    else:
        table.refuse_with_study(place, taken=("where", "score"))
        rules.refuse_with_study()
        study = Results(results_folder(place, storage))
        answer = study.tournament(
            score=table.score, where=table.where or (), with_baselines=with_baselines
        )
    print_answer(answer, form)
