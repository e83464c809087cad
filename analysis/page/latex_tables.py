"""Tables of a page as LaTeX that a paper can include unchanged."""

import itertools
import re
from collections.abc import Iterator, Sequence

from podium.analysis.page.tables import Cell, Column, Table

_MOST_FLOATING_ROWS = 40  # a float cannot break over pages
_MOST_CHARACTERS = 90  # of \textwidth in the size of tables
_LONG_TEXT = 40  # longer cells are set as paragraphs

# White space but for the no-break space, and control characters.
_UNPRINTABLE = re.compile(r"[^\S\N{NO-BREAK SPACE}]+|[\x00-\x1f\x7f-\x9f]+")
# What LaTeX has for characters that are commands, or that its fonts may lack.
_CHARACTERS = {
    "\0": "{}",  # put between hyphens
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#",
    "_": r"\_", "$": r"\$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\textasciigrave{}",
    '"': "''",
    # After \\ and \midrule these would be read as arguments.
    "[": "{[}", "]": "{]}", "*": "{*}", "\N{NO-BREAK SPACE}": "~", "−": "$-$", "–": "--",
    "—": "---", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "≤": r"$\leq$", "≥": r"$\geq$",
    "≈": r"$\approx$", "≠": r"$\neq$", "→": r"$\to$", "∞": r"$\infty$", "√": r"$\surd$",
    "…": r"\dots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "°": r"\textdegree{}",
    "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}", "α": r"$\alpha$", "β": r"$\beta$",
    "γ": r"$\gamma$", "δ": r"$\delta$", "Δ": r"$\Delta$", "ε": r"$\varepsilon$", "η": r"$\eta$",
    "θ": r"$\theta$", "κ": r"$\kappa$", "λ": r"$\lambda$", "μ": r"$\mu$", "µ": r"$\mu$",
    "ν": r"$\nu$", "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$", "φ": r"$\varphi$",
    "χ": r"$\chi$", "ω": r"$\omega$", "✓": "yes", "✗": "no",
}  # fmt: skip
_LAST_SAFE = "\u017f"  # the last letter that pdfLaTeX's fonts have for sure


def latex_table(table: Table) -> str:
    r"""The table with booktabs rules, as a float or, if it is long, over several pages.

    Numbers are aligned to the right, the best in bold, a cell's detail beside it in small type,
    groups of columns under a head of their own. The first lines, comments, name the packages
    it needs. A float too wide for the page is scaled down to it, a long table set in small type.
    Characters that pdfLaTeX's fonts may lack are kept, and a comment says so.

    Returns:
        Lines with an end of line after the last; ``\label{tab:<name>}``.
    """
    is_long = len(table.rows) > _MOST_FLOATING_ROWS
    is_wide = _width(table) > _MOST_CHARACTERS
    body = [*(_long if is_long else _float)(table, is_wide=is_wide)]
    lines = [*_preamble(body, is_long=is_long, is_wide=is_wide), *body]
    return "".join(f"{line}\n" for line in lines)


def _preamble(body: Sequence[str], *, is_long: bool, is_wide: bool) -> Iterator[str]:
    """Comments that say what the preamble of the document has to load."""
    yield r"% \usepackage{booktabs}"
    if is_long:
        yield r"% \usepackage{longtable}, and LaTeX run twice"
    elif is_wide:
        yield r"% \usepackage{graphicx}"
    text = "".join(body)
    if r"\arraybackslash" in text:
        yield r"% \usepackage{array}"
    beyond = "".join(sorted({character for character in text if character > _LAST_SAFE}))
    if beyond:
        yield f"% lualatex or xelatex, with a font that has: {beyond}"


def _float(table: Table, *, is_wide: bool) -> Iterator[str]:
    yield r"\begin{table}[tbp]"
    yield r"  \centering"
    yield f"  \\caption{{{_escape(table.caption)}}}"
    yield f"  \\label{{tab:{table.name}}}"
    if is_wide:
        yield r"  \resizebox{\linewidth}{!}{%"
    yield f"  \\begin{{tabular}}{{{_alignment(table)}}}"
    yield r"    \toprule"
    yield from _indented(_head_rows(table))
    yield r"    \midrule"
    yield from _indented(_rows(table))
    yield r"    \bottomrule"
    yield r"  \end{tabular}" + ("}" if is_wide else "")
    if table.note:
        yield f"  \\par\\smallskip{{\\footnotesize\\raggedright {_escape(table.note)}\\par}}"
    yield r"\end{table}"


def _long(table: Table, *, is_wide: bool) -> Iterator[str]:
    """A table over several pages cannot be scaled: a wide one is set in small type."""
    head = [r"    \toprule", *_indented(_head_rows(table)), r"    \midrule"]
    if is_wide:
        yield r"\begingroup\scriptsize\setlength{\tabcolsep}{3pt}"
    yield f"\\begin{{longtable}}{{{_alignment(table)}}}"
    yield f"    \\caption{{{_escape(table.caption)}}}\\label{{tab:{table.name}}}\\\\"
    yield from head
    yield r"    \endfirsthead"
    yield from head
    yield r"    \endhead"
    yield r"    \bottomrule"
    yield r"    \endfoot"
    yield from _indented(_rows(table))
    yield r"\end{longtable}"
    if is_wide:
        yield r"\endgroup"
    if table.note:
        yield f"{{\\footnotesize\\noindent {_escape(table.note)}\\par}}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def _head_rows(table: Table) -> Iterator[str]:
    if table.groups:
        yield _row(
            [f"\\multicolumn{{{span}}}{{c}}{{{_escape(label)}}}" for label, span in table.groups]
        )
        yield " ".join(_group_rules(table))
    yield _row([_escape(column.label) for column in table.columns])


def _group_rules(table: Table) -> Iterator[str]:
    ends = itertools.accumulate(span for _, span in table.groups)
    for (label, span), end in zip(table.groups, ends, strict=True):
        if label:
            yield f"\\cmidrule(lr){{{end - span + 1}-{end}}}"


def _rows(table: Table) -> Iterator[str]:
    details = [
        max((row[position].detail for row in table.rows), key=len, default="")
        for position in range(len(table.columns))
    ]
    for position, row in enumerate(table.rows):
        # Baselines, which papers may leave out, are a block of their own.
        if position and table.rows[position - 1][0].series and not row[0].series:
            yield r"\midrule"
        cells = zip(row, table.columns, details, strict=True)
        yield _row([_cell(cell, column, longest) for cell, column, longest in cells])


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(cell: Cell, column: Column, longest: str) -> str:
    text = f"\\textbf{{{_escape(cell.text)}}}" if cell.is_best else _escape(cell.text)
    if cell.detail:
        return f"{text}{_detail(cell.detail)}"
    if longest and column.is_number:  # so that numbers with and without one align
        return f"{text}\\hphantom{{{_detail(longest)}}}"
    return text


def _detail(text: str) -> str:
    return f"\\,{{\\scriptsize {_escape(text)}}}"


def _alignment(table: Table) -> str:
    letters = []
    for position, column in enumerate(table.columns):
        longest = max((len(row[position].text) for row in table.rows), default=0)
        if not column.is_number and longest > _LONG_TEXT:
            letters.append(r">{\raggedright\arraybackslash}p{0.3\linewidth}")
        else:
            letters.append("r" if column.is_number else "l")
    return f"@{{}}{''.join(letters)}@{{}}"


def _width(table: Table) -> int:
    """Characters of the widest row, roughly: details are small, columns have gaps between them."""
    return sum(
        2 + max([len(column.label), *(_cell_width(row[position]) for row in table.rows)])
        for position, column in enumerate(table.columns)
    )


def _cell_width(cell: Cell) -> int:
    return min(len(cell.text), _LONG_TEXT) + len(cell.detail) * 2 // 3


def _escape(text: str) -> str:
    """Text as LaTeX prints it: no character of it is a command, hyphens do not become dashes."""
    printable = _UNPRINTABLE.sub(" ", text)
    apart = printable.replace("--", "-\0-").replace("--", "-\0-")
    return "".join(_CHARACTERS.get(character, character) for character in apart)
