"""How many corrupted copies of published tables `podium audit` detects, and its false findings.

Each copy has one thing wrong, at a place drawn at random, and is written as a long CSV, a wide CSV
and a LaTeX tabular. It is detected if a finding, or for a copied row a note, names the block and
competitor that were corrupted, or if an error names the value. Copies are of the parts of each
file: the tables of one backbone or data set, or of one dimension. Tournaments are not held.

    python -m benchmarks.audit_detection
    python -m benchmarks.audit_detection FOLDER_OF_MORE_TABLES/*.csv
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from analysis.audit import score_rows
from analysis.audit.audit_table import AuditOptions, audit_file
from analysis.audit.findings import Audit
from analysis.typed_tables.score_table import read_scores
from analysis.typed_tables.table_layout import GivenColumns
from podium.errors import PodiumError

PUBLISHED = Path("studies/thesis_cub200.csv")
COPIES = 30

Key = tuple[str, str, int]  # block, competitor, K
Cells = dict[Key, list[str]]  # what is printed; several where a row is repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A table of a paper."""

    name: str
    cells: Mapping[Key, str]

    def rows(self) -> dict[tuple[str, str], list[int]]:
        """Block and competitor -> their K."""
        found: dict[tuple[str, str], list[int]] = {}
        for block, loss, k in sorted(self.cells):
            found.setdefault((block, loss), []).append(k)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrupted:
    """A copy with one thing wrong, and which block and competitor it concerns."""

    cells: Cells
    block: str
    loss: str


Corruption = Callable[[Published, random.Random], Corrupted]


def published_tables(paths: Sequence[Path]) -> Iterator[Published]:
    """The whole of each file, and its parts: one backbone or data set, and one dimension."""
    for path in paths:
        layout = read_scores(path, GivenColumns()).layout
        frame = layout.frame.drop_nulls(layout.score)
        if "k" not in frame.columns:
            continue
        decimals = max(len(str(score).partition(".")[2]) for score in frame[layout.score])
        cells = {
            ("/".join(map(str, row[:-3])), str(row[-3]), int(row[-2])): f"{row[-1]:.{decimals}f}"
            for row in frame.select(*layout.by, layout.competitor, "k", layout.score).rows()
        }
        yield Published(name=path.stem, cells=cells)
        for part in dict.fromkeys(word for key in cells for word in key[0].split("/")):
            of_part = {key: cell for key, cell in cells.items() if part in key[0].split("/")}
            if len(of_part) < len(cells):
                yield Published(name=f"{path.stem}, {part}", cells=of_part)


def with_cells(table: Published, changes: Mapping[Key, list[str]]) -> Cells:
    return {key: changes.get(key, [cell]) for key, cell in table.cells.items()}


def one_cell(
    table: Published, rng: random.Random, change: Callable[[str], list[str]]
) -> Corrupted:
    key = rng.choice(sorted(table.cells))
    return Corrupted(
        cells=with_cells(table, {key: change(table.cells[key])}), block=key[0], loss=key[1]
    )


def two_k_swapped(table: Published, rng: random.Random) -> Corrupted:
    while True:
        (block, loss), ks = rng.choice(list(table.rows().items()))
        first, second = rng.sample(ks, 2) if len(ks) > 1 else (0, 0)
        a, b = (table.cells.get((block, loss, k), "") for k in (first, second))
        if a != b:
            changes = {(block, loss, first): [b], (block, loss, second): [a]}
            return Corrupted(cells=with_cells(table, changes), block=block, loss=loss)


def digit_changed(table: Published, rng: random.Random, *, is_in_order: bool) -> Corrupted:
    """Another digit, after which the recalls of the row still grow with K, or no longer do."""
    while True:
        block, loss, k = key = rng.choice(sorted(table.cells))
        cell = table.cells[key]
        at = rng.choice([index for index, sign in enumerate(cell) if sign.isdigit()])
        typed = cell[:at] + rng.choice("0123456789") + cell[at + 1 :]
        scores = [
            float(typed if other == k else table.cells[block, loss, other])
            for other in table.rows()[block, loss]
        ]
        still = scores == sorted(scores) and scores[-1] <= 100 and scores[0] >= 1
        if typed != cell and still == is_in_order:
            return Corrupted(cells=with_cells(table, {key: [typed]}), block=block, loss=loss)


def row_copied(table: Published, rng: random.Random) -> Corrupted:
    while True:
        block = rng.choice(sorted(table.cells))[0]
        losses = sorted({key[1] for key in table.cells if key[0] == block})
        source, target = rng.sample(losses, 2)
        ks = table.rows()[block, source]
        if len(ks) > 1 and ks == table.rows()[block, target]:
            changes = {(block, target, k): [table.cells[block, source, k]] for k in ks}
            return Corrupted(cells=with_cells(table, changes), block=block, loss="")


CORRUPTIONS: dict[str, Corruption] = {
    "two K of a row swapped": two_k_swapped,
    "digit changed, recall falls or leaves 1 to 100": lambda table, rng: digit_changed(
        table, rng, is_in_order=False
    ),
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
    "digit changed, too small to show": lambda table, rng: digit_changed(
        table, rng, is_in_order=True
    ),
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


def is_detected(copy: Corrupted, found: Audit | PodiumError) -> bool:
    if isinstance(found, PodiumError):
        return "holds '" in str(found)
    named = [*found.findings, *(note for note in found.notes if note.kind == "equal")]
    return any(f"{copy.block}/{copy.loss}" in item.where for item in named)


def print_clean(tables: Sequence[Published], folder: Path) -> None:
    print("| clean table | scores | K | findings as long, wide, LaTeX |\n|---|---|---|---|")
    for table in tables:
        counts = []
        for form in FORMS:
            found = audited(with_cells(table, {}), form, folder)
            assert isinstance(found, Audit), found
            counts.append(str(len(found.findings)))
        ks = ", ".join(map(str, sorted({key[2] for key in table.cells})))
        print(f"| {table.name} | {len(table.cells)} | {ks} | {', '.join(counts)} |")


def print_detected(tables: Sequence[Published], folder: Path) -> None:
    print(f"\n| corruption | {' | '.join(FORMS)} | least of {COPIES} |\n|---|---|---|---|---|")
    for name, corruption in CORRUPTIONS.items():
        totals: Counter[str] = Counter()
        least = COPIES
        for index, table in enumerate(tables):
            counts: Counter[str] = Counter()
            for seed in range(COPIES):
                copy = corruption(table, random.Random(f"{index} {seed}"))
                for form in FORMS:
                    counts[form] += is_detected(copy, audited(copy.cells, form, folder))
            totals += counts
            least = min(least, *(counts[form] for form in FORMS))
        of = COPIES * len(tables)
        shown = " | ".join(f"{totals[form]} / {of}" for form in FORMS)
        print(f"| {name} | {shown} | {least} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", type=Path, help="more tables of recalls, as CSV")
    paths = [PUBLISHED, *parser.parse_args().tables]
    tables = list(published_tables(paths))
    parts = [table for table in tables if "," in table.name]
    no_tournament = patch.object(score_rows, "_verdicts", lambda *_: (None, []))
    with tempfile.TemporaryDirectory() as folder, no_tournament:
        print_clean(tables, Path(folder))
        print_detected(parts, Path(folder))


if __name__ == "__main__":
    main()
