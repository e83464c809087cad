"""``podium status STUDY``: how far each search is."""

import textwrap
from dataclasses import asdict

from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.terminal.fitting_table import print_fitting_table, terminal_width
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say

_COLUMNS = ("search", "trials", "planned", "open", "pruned", "failed", "duplicates", "finals")
_WORTH = ("search", "trials", "planned", "failed", "finals", "open", "pruned")
_NUM_KEPT = 4  # up to what failed


def command(
    study: StudyPath,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show how far each search is. Reads the store only, so it works from any machine.

    The text names a search by what distinguishes it; JSON and CSV have its id too.
    """
    from orchestrator.results_tools.study_status import study_status
    from podium.terminal.spending_text import spent_lines, spent_record

    status = study_status(results_folder(study, storage))
    if as_json:
        print_json(
            {
                "searches": list(status.searches),
                "total": status.total,
                "spent": spent_record(status.spent),
                "packing": [asdict(advice) for advice in status.packing],
            }
        )
        return
    if as_csv:
        print_table(status.searches, as_csv=True)
    else:
        print_fitting_table(
            [{**row, "search": row["name"]} for row in status.searches],
            columns=_COLUMNS,
            worth=_WORTH,
            num_kept=_NUM_KEPT,
        )
        total = "  ".join(f"{name} {value}" for name, value in status.total.items())
        say()
        for line in (total, *spent_lines(status.spent), *map(str, status.packing)):
            say(textwrap.fill(line, terminal_width(), break_on_hyphens=False))
