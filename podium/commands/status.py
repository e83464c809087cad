"""``podium status STUDY``: how far each search is."""

from dataclasses import asdict

from podium.arguments.study_argument import StorageFolder, StudyPath, results_folder
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say


def command(
    study: StudyPath,
    storage: StorageFolder = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show how far each search is. Reads the store only, so it works from any machine."""
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
    print_table(status.searches, as_csv=as_csv)
    if not as_csv:
        say("\n" + "  ".join(f"{name} {value}" for name, value in status.total.items()))
        for line in (*spent_lines(status.spent), *map(str, status.packing)):
            say(line)
