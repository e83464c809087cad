"""The text of ``podium protocols`` on a study: sentences first, then tables."""

from podium.analysis.protocols.findings_text import missing_statistics, protocol_sentences
from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.protocols.protocol_tables import protocol_tables
from podium.analysis.protocols.selected_configs import protocol_headline
from podium.analysis.wording import counted
from podium.terminal.printing import filled, paragraphs
from podium.terminal.shown_table import captioned

_WIDTH = 99  # columns of the widest line, unless protocols have long names

_MEANING = (
    "± is half the 95 % interval. Over repeats it speaks of repeating the searches of these"
    " settings and losses, over seeds of training the same picks again. p is after Holm."
    " docs/explanation/statistics/comparing-protocols.md defines every number."
)


def study_text(study: ProtocolStudy) -> str:
    """A title, the answer in sentences, a table for each question, and what is not answered."""
    parts = [
        _title(study),
        *filter(None, [protocol_headline(study)]),
        *protocol_sentences(study),
        *captioned(protocol_tables(study), _WIDTH),
    ]
    if missing := missing_statistics(study):
        parts.append(
            "\n".join(["Not answered:", *(filled(f"- {line}", _WIDTH) for line in missing)])
        )
    return paragraphs([*parts, _MEANING], _WIDTH)


def _title(study: ProtocolStudy) -> str:
    counts = [
        counted(len(study.protocols), "protocol"),
        counted(study.num_blocks, "setting"),
        counted(study.num_losses, "loss", "losses"),
        f"{counted(study.num_repeats, 'repeat')} of each search",
    ]
    if study.num_repeats > 1:
        splits = "share their splits" if study.same_splits else "have splits of their own"
        counts[-1] += f", which {splits}"
    return f"{study.name}: {', '.join(counts)}; {study.metric}"
