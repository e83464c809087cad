"""The text of ``podium protocols`` on a study: sentences first, then tables."""

from analysis.protocols.findings_text import (
    missing_statistics,
    protocol_sentences,
)
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.protocols.protocol_tables import Entry, Figure, ProtocolTable, protocol_tables
from analysis.protocols.selected_configs import protocol_headline
from analysis.scores.protocol_runs import Protocol
from analysis.wording import MISSING, counted
from podium.terminal.printing import aligned, filled, paragraphs

_WIDTH = 99  # columns of the widest line, unless protocols have long names

_MEANING = (
    "± is half the 95 % interval. Over repeats it speaks of repeating the searches of these blocks"
    " and losses, over blocks of other blocks, over seeds of training the same picks again. p is"
    " after Holm. docs/explanation/statistics/comparing-protocols.md defines every number."
)


def study_text(study: ProtocolStudy) -> str:
    """A title, the answer in sentences, a table for each question, and what is not answered."""
    parts = [
        _title(study),
        *filter(None, [protocol_headline(study)]),
        *protocol_sentences(study),
        *(
            f"{filled(table.caption, _WIDTH)}\n{_aligned(table)}"
            for table in protocol_tables(study)
        ),
    ]
    if missing := missing_statistics(study):
        parts.append(
            "\n".join(["Not answered:", *(filled(f"- {line}", _WIDTH) for line in missing)])
        )
    return paragraphs([*parts, _MEANING], _WIDTH)


def _aligned(table: ProtocolTable) -> str:
    heads = [f"{head[0].lower()}{head[1:]}" for head in table.heads]
    return aligned([heads, *([*map(entry_text, row)] for row in table.rows)], table.are_numbers)


def entry_text(entry: Entry) -> str:
    """The text of a protocol, a number with its interval, a text, or of a missing value."""
    match entry:
        case Protocol(shown=shown):
            return shown
        case Figure(text=text, margin=margin) if margin:
            return f"{text} ± {margin}"
        case Figure(text=text, interval=interval):
            return f"{text} ({interval})" if interval else text
        case _:
            return MISSING if entry is None else entry


def _title(study: ProtocolStudy) -> str:
    counts = [
        counted(len(study.protocols), "protocol"),
        counted(study.design.num_blocks, "block"),
        counted(study.design.num_losses, "loss", "losses"),
        f"{counted(study.design.num_repeats, 'repeat')} of each search",
    ]
    if study.design.num_repeats > 1:
        splits = "share their splits" if study.design.same_splits else "have splits of their own"
        counts[-1] += f", which {splits}"
    return f"{study.name}: {', '.join(counts)}; {study.metric}"
