"""The text of ``podium protocols`` on a study: sentences first, then tables."""

import textwrap
from collections.abc import Iterator, Sequence

from analysis.protocols.findings_text import (
    missing_statistics,
    protocol_headline,
    protocol_sentences,
)
from analysis.protocols.protocol_study import ProtocolStudy
from analysis.wording import counted
from podium.terminal import protocols_tables as tables
from podium.terminal.printing import table_text

__all__ = ["WIDTH", "study_text"]

WIDTH = 99
"""Columns of the widest line, unless protocols have long names."""

_NAMES = ("protocol", "a", "b", "stage")
_MEANING = (
    "± is half the 95 % interval. Over repeats it speaks of repeating the searches of these blocks"
    " and losses, over blocks of other blocks, over seeds of training the same picks again. *: the"
    " two differ significantly, p ≤ 0.05 after Holm. docs/statistics.md defines every number."
)


def study_text(study: ProtocolStudy) -> str:
    """A title, the answer in sentences, a table for each question, and what is not answered."""
    parts = [_title(study), *filter(None, [protocol_headline(study)]), *protocol_sentences(study)]
    for title, rows in _tables(study):
        if rows:
            parts.append(f"{title}\n{_aligned(rows)}")
    if missing := missing_statistics(study):
        parts.append("\n".join(["Not answered:", *(f"- {line}" for line in missing)]))
    parts.append(_MEANING)
    return "\n\n".join(map(_wrapped, parts))


def _wrapped(part: str) -> str:
    """Lines above the width broken; those of tables are padded to less."""
    lines = part.splitlines()
    return "\n".join(
        line if len(line) <= WIDTH else textwrap.fill(line, WIDTH, break_on_hyphens=False)
        for line in lines
    )


def _aligned(rows: Sequence[tables.Row]) -> str:
    """A table with all columns but those of names aligned to the right."""
    widths = {
        column: max(len(column), *(len(row[column]) for row in rows))
        for column in rows[0]
        if column not in _NAMES
    }
    padded = [
        {
            column.rjust(widths.get(column, 0)): value.rjust(widths.get(column, 0))
            for column, value in row.items()
        }
        for row in rows
    ]
    return table_text(padded, columns=list(padded[0]))


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


def _tables(study: ProtocolStudy) -> Iterator[tuple[str, list[tables.Row]]]:
    over = tables.interval_unit(study.finals.means, study.finals.unit)
    yield f"Finalists on test, %{over}", tables.finals(study)
    yield f"What tuning and training classes bought on test, points{over}", tables.gaps(study)
    if study.picks.fairest is not None:
        over = tables.interval_unit(study.picks.fairest.means)
        whose = f"runs of {study.scale_shown}" if study.picks.scale else "its protocol's own runs"
        title = f"What was picked, scored by {whose} in other repeats{over}"
        yield title, tables.choices(study, study.picks.fairest)
        title = f"Rank agreement of validation with test{over}"
        yield title, tables.agreement(study, study.picks.fairest)
    yield "Pairwise comparisons: a - b on test in points, paired by search", tables.pairs(study)
    _, unit = tables.time_unit(study)
    yield f"{unit}, of all attempts; each protocol as if alone", tables.costs(study)
    over = tables.interval_unit(study.optimism.over_runs) or tables.interval_unit(
        study.optimism.over_classes
    )
    title = f"Optimism of the validation score of a pick, and overtuning, points{over}"
    yield title, tables.optimism(study)
    over = tables.interval_unit(study.losses)
    yield f"Choosing a loss by validation: regret on test, points{over}", tables.losses(study)
    yield "Expected best of so many random trials", tables.best_of_trials(study)
    yield "How often test classes were scored", tables.readings(study)
