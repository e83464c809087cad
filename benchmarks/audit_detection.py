"""How many corrupted copies of published tables `podium audit` detects, and its false findings.

Each copy has one thing wrong, at a place drawn at random, and is written as a long CSV, a wide CSV
and a LaTeX tabular. It is detected if a finding, or a note of a copied row or an outlier, names
the block and competitor that were corrupted and the audit of the clean table has none there, or if
an error names the value. Tournaments are not held.

The tables are those of Psomas 2020, Metric Learning: A Deep Dive (6 to 10, 17 to 21), and table 3
of GradML, whose data sets have K of their own and whose losses lack scores on some of them.

    python -m benchmarks.audit_detection
"""

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import polars as pl

from analysis.audit import score_rows
from analysis.audit.audit_table import AuditOptions, audit_file
from analysis.audit.findings import Audit, Finding
from analysis.typed_tables.score_table import read_scores
from analysis.typed_tables.table_file import read_table_file
from analysis.typed_tables.table_layout import GivenColumns, Layout
from podium.errors import PodiumError

# Name, files, and the column that says of each row in which printed table it is; None of a single
# one. What is drawn goes by the name.
_STUDIES = Path(__file__).parents[1] / "studies"
PUBLISHED = (
    ("thesis_cub200", ("thesis_cub200.csv",), "table"),
    ("thesis_cars_sop", ("thesis_cars196.csv", "thesis_sop.csv"), "table"),
    ("thesis_own_loss", ("thesis_own_loss.csv",), "dataset"),
    ("gradml", ("gradml_table3.csv",), None),
)
COPIES = 30
_TENS, _UNITS, _TENTHS = 0, 1, 3  # places of digits in 63.61

Key = tuple[str, str, int]  # block, competitor, K
Cells = dict[Key, list[str]]  # what is printed; several where a row is repeated
Place = tuple[str, str]  # kind and place of a finding or note


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A table of a paper.

    Attributes:
        name: file, and table in it.
        cells: what is printed.
    """

    name: str
    cells: Mapping[Key, str]

    def rows(self) -> dict[tuple[str, str], list[int]]:
        """Block and competitor -> their K, without rows misprinted already: recall falls."""
        found: dict[tuple[str, str], list[int]] = {}
        for block, loss, k in sorted(self.cells):
            found.setdefault((block, loss), []).append(k)
        return {row: ks for row, ks in found.items() if grows(self.scores(row, ks))}

    def scores(self, row: tuple[str, str], ks: Sequence[int]) -> list[float]:
        return [float(self.cells[*row, k]) for k in ks]

    def places(self) -> list[Key]:
        """The cells of all rows that can be corrupted."""
        return [(*row, k) for row, ks in self.rows().items() for k in ks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrupted:
    """A copy with one thing wrong, and the block and the competitors that may be named for it."""

    cells: Cells
    block: str
    losses: tuple[str, ...]


Corruption = Callable[[Published, random.Random], Corrupted]


def grows(scores: Sequence[float]) -> bool:
    return list(scores) == sorted(scores)


def published_tables() -> Iterator[Published]:
    """The tables as they are printed, one by one."""
    for file, paths, column in PUBLISHED:
        layout = layout_of(paths)
        names = layout.frame[column].unique(maintain_order=True) if column else [None]
        for name in names:
            rows = layout.frame.filter(pl.col(column) == name) if column else layout.frame
            shown = file if name is None else f"{file}, {name}"
            yield Published(name=shown, cells=printed_cells(layout, rows))


def mixed_tables() -> Iterator[Published]:
    """Tables of one embedding dimension over data sets, whose K differ, and whole files."""
    for file, paths, column in PUBLISHED:
        layout = layout_of(paths)
        if column:
            yield Published(name=file, cells=printed_cells(layout, layout.frame))
        if "embedding_dim" in layout.by:
            for dim, rows in layout.frame.group_by("embedding_dim", maintain_order=True):
                name = f"{file}, {dim[0]}-d"
                yield Published(name=name, cells=printed_cells(layout, rows))


def layout_of(paths: Sequence[str]) -> Layout:
    """The layout of the first file, with the rows of all."""
    tables = [read_table_file(_STUDIES / path) for path in paths]
    layouts = [read_scores(table, GivenColumns()).layout for table in tables]
    return replace(layouts[0], frame=pl.concat([layout.frame for layout in layouts]))


def printed_cells(layout: Layout, rows: pl.DataFrame) -> dict[Key, str]:
    known = rows.drop_nulls(layout.score)
    decimals = max(len(str(score).partition(".")[2]) for score in known[layout.score])
    return {
        ("/".join(map(str, row[:-3])), str(row[-3]), int(row[-2])): f"{row[-1]:.{decimals}f}"
        for row in known.select(*layout.by, layout.competitor, "k", layout.score).rows()
    }


def with_cells(table: Published, changes: Mapping[Key, list[str]]) -> Cells:
    return {key: changes.get(key, [cell]) for key, cell in table.cells.items()}


def one_cell(
    table: Published, rng: random.Random, change: Callable[[str], list[str]]
) -> Corrupted:
    block, loss, _ = key = rng.choice(table.places())
    cells = with_cells(table, {key: change(table.cells[key])})
    return Corrupted(cells=cells, block=block, losses=(loss,))


def two_k_swapped(table: Published, rng: random.Random) -> Corrupted:
    while True:
        (block, loss), ks = rng.choice(list(table.rows().items()))
        first, second = ((block, loss, k) for k in rng.sample(ks, 2))
        a, b = table.cells[first], table.cells[second]
        if a != b:
            cells = with_cells(table, {first: [b], second: [a]})
            return Corrupted(cells=cells, block=block, losses=(loss,))


def digit_changed(table: Published, rng: random.Random) -> Corrupted:
    """Another digit, after which recall falls at some K or leaves 1 to 100."""
    return digit_drawn(table, rng, at=None)


def digit_changed_in_order(at: int) -> Corruption:
    """Another digit at one place, after which recall still grows with K within 1 to 100."""
    return lambda table, rng: digit_drawn(table, rng, at=at)


def digit_drawn(table: Published, rng: random.Random, *, at: int | None) -> Corrupted:
    while True:
        block, loss, k = key = rng.choice(table.places())
        cell = table.cells[key]
        digits = [index for index, sign in enumerate(cell) if sign.isdigit()]
        place = rng.choice(digits) if at is None else at
        typed = cell[:place] + rng.choice("0123456789") + cell[place + 1 :]
        ks = table.rows()[block, loss]
        scores = table.scores((block, loss), ks)
        scores[ks.index(k)] = float(typed)
        is_in_order = grows(scores) and scores[-1] <= 100 and scores[0] >= 1
        if typed != cell and is_in_order == (at is not None):
            cells = with_cells(table, {key: [typed]})
            return Corrupted(cells=cells, block=block, losses=(loss,))


def row_copied(table: Published, rng: random.Random) -> Corrupted:
    while True:
        (block, source), ks = rng.choice(list(table.rows().items()))
        others = [loss for at, loss in table.rows() if at == block and loss != source]
        target = rng.choice(others)
        if ks == table.rows()[block, target]:
            changes = {(block, target, k): [table.cells[block, source, k]] for k in ks}
            cells = with_cells(table, changes)
            return Corrupted(cells=cells, block=block, losses=(source, target))


CORRUPTIONS: dict[str, Corruption] = {
    "two K of a row swapped": two_k_swapped,
    "digit changed, recall falls or leaves 1 to 100": digit_changed,
    "share among percent": lambda table, rng: one_cell(
        table, rng, lambda cell: [f"{float(cell) / 100:.4f}"]
    ),
    "decimal point lost": lambda table, rng: one_cell(
        table, rng, lambda cell: [cell.replace(".", "")]
    ),
    "minus sign": lambda table, rng: one_cell(table, rng, lambda cell: [f"-{cell}"]),
    "letter in a number": lambda table, rng: one_cell(
        table, rng, lambda cell: [cell[:1] + "O" + cell[2:]]
    ),
    "score missing": lambda table, rng: one_cell(table, rng, lambda _: []),
    "row repeated": lambda table, rng: one_cell(table, rng, lambda cell: [cell, cell]),
    "row copied from another loss (a note)": row_copied,
    "tens digit changed, recall still grows (a note)": digit_changed_in_order(_TENS),
    "units digit changed, recall still grows (a note)": digit_changed_in_order(_UNITS),
    "tenths digit changed, recall still grows": digit_changed_in_order(_TENTHS),
}


def long_csv(cells: Cells) -> str:
    rows = [
        f"{b},{loss},{k},{cell}" for (b, loss, k), printed in cells.items() for cell in printed
    ]
    return "\n".join(["dataset,loss,k,recall", *rows]) + "\n"


def wide_rows(cells: Cells) -> tuple[list[tuple[str, int]], list[list[str]]]:
    """The block and K of each column, and rows of a loss and its scores; a repeated one twice."""
    columns = list(dict.fromkeys((block, k) for block, _, k in cells))
    rows = []
    for loss in dict.fromkeys(key[1] for key in cells):
        found = [cells.get((block, loss, k), []) for block, k in columns]
        for index in range(max(1, *map(len, found))):
            rows.append(
                [loss, *(cell[min(index, len(cell) - 1)] if cell else "" for cell in found)]
            )
    return columns, rows


def wide_csv(cells: Cells) -> str:
    columns, rows = wide_rows(cells)
    header = ["loss", *(f"{block} R@{k}" for block, k in columns)]
    return "\n".join(",".join(row) for row in [header, *rows]) + "\n"


def latex(cells: Cells) -> str:
    columns, rows = wide_rows(cells)
    widths = Counter(block for block, _ in columns)
    spans = [rf"\multicolumn{{{width}}}{{c}}{{{block}}}" for block, width in widths.items()]
    lines = [
        ["Loss", *spans],
        ["", *(f"R@{k}" for _, k in columns)],
        *([row[0], *(cell or "--" for cell in row[1:])] for row in rows),
    ]
    body = " \\\\\n".join(" & ".join(line) for line in lines)
    return f"\\begin{{tabular}}{{l{'c' * len(columns)}}}\n{body} \\\\\n\\end{{tabular}}\n"


FORMS = {"long": (long_csv, "csv"), "wide": (wide_csv, "csv"), "latex": (latex, "tex")}


def audited(cells: Cells, form: str, folder: Path) -> Audit | PodiumError:
    write, ending = FORMS[form]
    path = folder / f"table.{ending}"
    path.write_text(write(cells))
    try:
        return audit_file(path, AuditOptions())
    except PodiumError as error:
        return error


def is_detected(copy: Corrupted, found: Audit | PodiumError, clean: set[Place]) -> bool:
    """Whether something names what was corrupted that the audit of the clean table lacks."""
    if isinstance(found, PodiumError):
        return "holds '" in str(found)
    rows = {f"{copy.block}/{loss}" for loss in copy.losses}
    return any(where.split(", k = ")[0] in rows for _, where in places_named(found) - clean)


def places_named(audit: Audit) -> set[Place]:
    """What findings, and notes of copies and outliers, are about."""
    return {(item.kind, item.where) for item in (*audit.findings, *suspicions(audit))}


def suspicions(audit: Audit) -> list[Finding]:
    return [note for note in audit.notes if note.kind in ("equal", "outlier")]


def clean_audit(table: Published, form: str, folder: Path) -> Audit:
    found = audited(with_cells(table, {}), form, folder)
    assert isinstance(found, Audit), found
    return found


def print_clean(tables: Sequence[Published], folder: Path) -> None:
    print("| clean table | scores | K | findings as long, wide, LaTeX | what is found |")
    print("|---|---|---|---|---|")
    for table in tables:
        audits = [clean_audit(table, form, folder) for form in FORMS]
        counts = ", ".join(str(len(audit.findings)) for audit in audits)
        ks = ", ".join(map(str, sorted({key[2] for key in table.cells})))
        named = [*audits[0].findings, *suspicions(audits[0])]
        shown = "; ".join(f"{item.kind}: {item.where}" for item in named)
        print(f"| {table.name} | {len(table.cells)} | {ks} | {counts} | {shown} |")


def print_detected(tables: Sequence[Published], folder: Path) -> None:
    clean = {
        (table.name, form): places_named(clean_audit(table, form, folder))
        for table in tables
        for form in FORMS
    }
    print(f"\n| corruption | {' | '.join(FORMS)} | least of {COPIES} | in |")
    print("|---|---|---|---|---|---|", flush=True)
    for name, corruption in CORRUPTIONS.items():
        counts: Counter[tuple[str, str]] = Counter()
        for table in tables:
            for seed in range(COPIES):
                copy = corruption(table, random.Random(f"{table.name} {seed}"))
                for form in FORMS:
                    found = audited(copy.cells, form, folder)
                    at = table.name, form
                    counts[at] += is_detected(copy, found, clean[at])
        least, worst = min((counts[at], at) for at in clean)
        of = COPIES * len(tables)
        totals = [sum(counts[table.name, form] for table in tables) for form in FORMS]
        shown = " | ".join(f"{total} / {of}" for total in totals)
        where = "" if least == COPIES else ", ".join(worst)
        print(f"| {name} | {shown} | {least} | {where} |", flush=True)


def main() -> None:
    tables = list(published_tables())
    no_tournament = patch.object(score_rows, "_verdicts", lambda *_: (None, []))
    with tempfile.TemporaryDirectory() as folder, no_tournament:
        print_clean([*tables, *mixed_tables()], Path(folder))
        print_detected(tables, Path(folder))
    print(f"\n{len(tables)} tables, {time.process_time():.0f} s of the processor")


if __name__ == "__main__":
    main()
