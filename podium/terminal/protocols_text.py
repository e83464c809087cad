"""The text of ``podium protocols`` on a study: sentences first, then tables."""

from podium.analysis.page.tables import Cell, Table
from podium.analysis.protocols.findings_text import missing_statistics, protocol_sentences
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import protocol_tables
from podium.analysis.protocols.selected_configs import protocol_headline
from podium.analysis.wording import counted
from podium.terminal.printing import aligned, filled, paragraphs

_WIDTH = 99  # columns of the widest line, unless protocols have long names

_MEANING = (
    "± is half the 95 % interval. Over repeats it speaks of repeating the searches of these blocks"
    " and losses, over seeds of training the same picks again. p is after Holm."
    " docs/explanation/statistics/comparing-protocols.md defines every number."
)


def study_text(study: ProtocolStudy) -> str:
    """A title, the answer in sentences, a table for each question, and what is not answered."""
    parts = [
        _title(study),
        *filter(None, [protocol_headline(study)]),
        *protocol_sentences(study),
        *(
            f"{filled(table.caption.removesuffix('.'), _WIDTH)}\n{_aligned(table)}"
            for table in protocol_tables(study)
        ),
    ]
    if missing := missing_statistics(study):
        parts.append(
            "\n".join(["Not answered:", *(filled(f"- {line}", _WIDTH) for line in missing)])
        )
    return paragraphs([*parts, _MEANING], _WIDTH)


def _aligned(table: Table) -> str:
    heads = [f"{it.label[0].lower()}{it.label[1:]}" for it in table.columns]
    rows = ([*map(cell_text, row)] for row in table.rows)
    return aligned([heads, *rows], [column.is_number for column in table.columns])


def cell_text(cell: Cell) -> str:
    """The text of a cell with its interval in the same line."""
    if cell.margin:
        return f"{cell.text} ± {cell.margin}"
    return f"{cell.text} ({cell.detail})" if cell.detail else cell.text


def _title(study: ProtocolStudy) -> str:
    counts = [
        counted(len(study.protocols), "protocol"),
        counted(study.num_blocks, "block"),
        counted(study.num_losses, "loss", "losses"),
        f"{counted(study.num_repeats, 'repeat')} of each search",
    ]
    if study.num_repeats > 1:
        splits = "share their splits" if study.same_splits else "have splits of their own"
        counts[-1] += f", which {splits}"
    return f"{study.name}: {', '.join(counts)}; {study.metric}"
