"""What cells of printed tables say: without bold, uncertainties, percent signs, footnotes."""

import re

import polars as pl

_SAMPLE = 100  # cells that show that a column holds names
_MARKED = r"\\[A-Za-z%_&]|\*\*|\$"
_LARGE_DASHES = "–—−"
_MISSING = {"", "-", "--", "---", "–", "—", "−", "nan"}
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)")
_AFTER_NUMBER = re.compile(
    r"\s*(±|\+/-|\+-).*$"  # its uncertainty
    r"|\s*\([^()]*\)\s*$"  # a rank or a gain
    r"|\s*%\s*$"
    r"|[\s*†‡§¶↑↓]+$",  # footnotes
)

# LaTeX commands that go with what is in their braces, those whose braces hold text, and symbols.
_DROPPED = re.compile(
    r"\\(cite\w*|ref|label|footnote\w*|tnote|textsuperscript|color|textcolor|cellcolor|rowcolor"
    r"|phantom|hphantom|vspace|hspace|rule)\*?(\[[^\]]*\])*(\{[^{}]*\})"
)
_BEFORE_BRACES = re.compile(r"\\[A-Za-z]+\*?(\[[^\]]*\])?\s*(?=\{)")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?\s*")
_SYMBOLS = {
    "pm": "±", "times": "×", "uparrow": "↑", "downarrow": "↓", "dagger": "†", "ddagger": "‡",
    "textendash": "–", "textemdash": "—", "textbackslash": "", "quad": " ", "qquad": " ",
    "alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ",
}  # fmt: skip
_FORMATS = {
    "bf", "bfseries", "it", "itshape", "em", "sc", "scshape", "tt", "ttfamily", "rm", "sf",
    "small",
    "footnotesize", "scriptsize", "tiny", "normalsize", "centering", "boldmath", "unboldmath",
    "raggedright", "raggedleft", "noindent", "displaystyle", "hfill", "strut", "arraybackslash",
    "left", "right",
}  # fmt: skip
_SPACES = re.compile(r"\\[,;:! ]|~|\s+")
_MARKDOWN = (
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<br\s*/?>", re.I), " "),
    (re.compile(r"</?[a-z][^>]*>", re.I), ""),
    (re.compile(r"(\*\*|__|~~|`)(.+?)\1"), r"\2"),
    (re.compile(r"^\s*([*_])([^*_].*?)\1\s*$"), r"\2"),
    (re.compile(r"\\([|*_`~#-])"), r"\1"),
)


def without_latex(text: str) -> str:
    r"""The text of a LaTeX cell: ``\textbf{63.6} $\pm$ 0.5`` is ``63.6 ± 0.5``.

    Commands with braces leave what is in them, except citations, colours and the like; unknown
    commands without braces leave their names. Superscripts go, a number as subscript becomes an
    uncertainty.
    """
    previous, text = None, text.replace("\\\\", " ")
    while previous != text:
        previous, text = text, _DROPPED.sub("", text)
    text = re.sub(r"\^\s*(\{[^{}]*\}|\\?[A-Za-z]+|\S)", "", text)
    text = re.sub(r"(?<!\\)_\s*\{\s*([\d.,]+)\s*\}", r"±\1", text)
    text = re.sub(r"(?<!\\)_\s*(?=\{)", "", text)
    text = re.sub(r"\\([%_&#$])", r"\1", text)
    text = _BEFORE_BRACES.sub("", text)
    text = _COMMAND.sub(lambda found: _command(found[1]), text)
    text = re.sub(r"(?<!\\)[{}$]", "", text)
    return _SPACES.sub(" ", text).strip()


def _command(name: str) -> str:
    return "" if name in _FORMATS else _SYMBOLS.get(name, name)


def without_markdown(text: str) -> str:
    """The text of a Markdown cell: ``**63.6**`` is ``63.6``; links leave their text."""
    for pattern, replacement in _MARKDOWN:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def plain_number(cell: str) -> str:
    """The number of a cell as Python reads it; empty if there is none, else the cell as it is.

    ``63,6``, ``63.6%``, ``63.6 ± 0.5``, ``**63.6**``, ``63.6 (+1.2)`` and ``63.6*`` are 63.6;
    dashes and ``nan`` are none.
    """
    text = cell.strip()
    if "\\" in text or "$" in text:
        text = without_latex(text)
    text = without_markdown(text)
    if text.lower() in _MISSING:
        return ""
    previous = None
    while previous != text:
        previous, text = text, _AFTER_NUMBER.sub("", text)
    for dash in _LARGE_DASHES:
        text = text.replace(dash, "-")
    return text.replace(",", ".") if _NUMBER.fullmatch(text) else cell


def without_markup(text: str) -> str:
    """The text of a cell of CSV: bold, LaTeX and links are taken off where they show."""
    if re.search(_MARKED, text) is None:
        return text
    return without_markdown(without_latex(text) if "\\" in text or "$" in text else text)


def unmarked(column: pl.Series) -> pl.Series:
    """A column of text, each cell `without_markup`."""
    marked = column.filter(column.str.contains(_MARKED)).unique()
    if marked.is_empty():
        return column
    return column.replace(marked, pl.Series([without_markup(text) for text in marked]))


def numbers_of(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The numbers of a column of text, and where it holds something that is none.

    Returns:
        A Float64 column, null where a score is missing or is no number, and a Boolean one.
    """
    numbers = column.cast(pl.Float64, strict=False)
    others = column.filter(numbers.is_null() & column.is_not_null()).unique()
    if others.is_empty():
        return numbers, pl.repeat(value=False, n=len(column), dtype=pl.Boolean, eager=True)
    texts = column.replace(others, pl.Series([plain_number(text) for text in others]))
    numbers = texts.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & column.is_not_null() & (texts != "")


def typed_column(column: pl.Series) -> pl.Series:
    """A column of text as whole numbers or numbers, if each of its cells is one or missing."""
    if numbers_of(column.drop_nulls().head(_SAMPLE))[1].any():
        return column
    numbers, is_wrong = numbers_of(column)
    if is_wrong.any() or numbers.is_null().all():
        return column
    whole = column.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == column.null_count() else numbers
