"""``podium status STUDY``: how far each search is."""

from podium.api.answer import print_answer
from podium.api.results import results
from podium.arguments.study_argument import StorageFolder, StudyPath
from podium.terminal.printing import AsCsv, AsJson


def command(
    study: StudyPath,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show how far each search is. Reads the store only, so it works from any machine.

    The text names a search by what distinguishes it; JSON and CSV have its id too.
    """
    answer = results(study, storage=storage).status()
    print_answer(answer, as_json=as_json, as_csv=as_csv)
