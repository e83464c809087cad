r"""What cells of printed tables say: without markup, and as numbers.

Markup inside a number is never taken off: ``63\std{5}`` and ``63**5**`` are no numbers, and not
635. Superscripts and subscripts stay as ``^1`` and ``_5``.
"""

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

import polars as pl

MOST_COLUMNS = 1000
"""What a table may have; 20 bytes of spans could write out more than memory holds."""

Commas = Literal["none", "decimal", "thousands", "ambiguous"]
"""What the commas of a table's numbers are."""

_SIGNS = r"[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?"
_AFTER = (
    r"(?:\s*(?:±|\+/-|\+-)\s*[0-9.,]+"  # an uncertainty
    r"|_±?\s*[0-9.,]+"  # the same, as LaTeX sets it
    r"|\s*\([^()]*\)|\s*\[[^\[\]]*\]"  # a rank, a gain, a citation
    r"|\s*%|\s*\^?[*†‡§¶↑↓]|\^[a-z])*\s*"  # footnotes
)
_NUMBER = rf"^({_SIGNS}){_AFTER}$"
_MISSING = ["", "-", "--", "---", "nan", "NaN", "NAN"]
_LARGE_DASHES = "[–—−]"
_GROUPS = r"^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?$"
_OF_DECIMALS = r"^[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?$"

# Longer cells, and what is nested deeper, stay as typed: some patterns take quadratic time.
_LONGEST, _DEEPEST = 1000, 8
_REMEMBERED = 2**12  # cells that a table repeats

# Nothing that touches the digits of a number may be taken off.
_FREE, _END = r"(?<![0-9.,])", r"(?![0-9.,])"
_DROPPED = re.compile(
    r"\\(?:cite\w*|ref|label|footnote\w*|tnote|color|cellcolor|rowcolor|phantom|hphantom|vspace"
    r"|hspace)\*?(?:\[[^\]]*\])*\{[^{}]*\}"
)
_EMPHASIS = re.compile(
    _FREE + r"\\(?:textbf|textit|textsl|textsc|textrm|textsf|texttt|emph|underline|uline|mathbf"
    r"|mathit|mathrm|mathsf|boldsymbol|bm|text|mbox|ensuremath|makecell|textcolor\s*\{[^{}]*\})"
    r"\s*\{([^{}]*)\}" + _END
)
_SWITCHES = re.compile(
    r"\\(?:bfseries|bf|itshape|it|em|scshape|sc|ttfamily|tt|rm|sf|boldmath|centering|left|right)"
    r"(?![A-Za-z])\s*"
)
_SYMBOLS = {
    r"\pm": "±", r"\times": "×", r"\uparrow": "↑", r"\downarrow": "↓", r"\dagger": "†",
    r"\ddagger": "‡", r"\ast": "*", r"\star": "*", r"\textendash": "–", r"\textemdash": "—",
}  # fmt: skip
_SYMBOL = re.compile(rf"({'|'.join(map(re.escape, _SYMBOLS))})(?![A-Za-z])")
_MARKDOWN = (
    (re.compile(r"<sup>(.*?)</sup>", re.I), r"^\1"),
    (re.compile(r"<sub>(.*?)</sub>", re.I), r"_\1"),
    (re.compile(r"<br\s*/?>", re.I), " "),
    (re.compile(_FREE + r"<(b|strong|i|em|u|span|code)\b[^<>]*>(.*?)</\1>" + _END, re.I), r"\2"),
    (re.compile(_FREE + r"!?\[([^\]]*)\]\([^)]*\)" + _END), r"\1"),
    (re.compile(_FREE + r"(\*\*|`)(.+?)\1" + _END), r"\2"),
    (re.compile(r"^([*_]{1,3})(?=\S)(.+?)(?<=\S)\1$"), r"\2"),
    (re.compile(r"\\([|*_`~#-])"), r"\1"),
)


def without_latex(text: str) -> str:
    r"""The text of a LaTeX cell: ``\textbf{63.6} $\pm$ 0.5`` is ``63.6 ± 0.5``.

    Emphasis, citations and colours go; commands that are not known stay as they are typed.
    """
    if len(text) > _LONGEST or not re.search(r"[\\{}$~]", text):
        return " ".join(text.split())
    return _latex_text(text)


@lru_cache(_REMEMBERED)
def _latex_text(text: str) -> str:
    text = _DROPPED.sub("", text.replace("\\\\", " ")).replace("{,}", ",")
    text = re.sub(r"(?<!\\)\$", "", text)
    text = _SYMBOL.sub(lambda found: _SYMBOLS[found[1]], text)
    text = re.sub(r"\\textsuperscript\s*(?=\{)", "^", text)
    text = re.sub(r"\\textsubscript\s*(?=\{)", "_", text)
    text = _SWITCHES.sub("", re.sub(r"(?<!\\)([_^])\s*\{([^{}]*)\}", r"\1\2", text))
    for _ in range(_DEEPEST):
        if "{" not in text:
            break
        text = _EMPHASIS.sub(r"\1", text)
        text = re.sub(rf"{_FREE}(?<![A-Za-z\\}}\]])\{{([^{{}}]*)\}}{_END}", r"\1", text)
    text = re.sub(r"\\([%_&#$])", r"\1", text)
    return " ".join(re.sub(r"\\[,;:! ]|\\q?quad(?![A-Za-z])|~", " ", text).split())


def without_markdown(text: str) -> str:
    """The text of a Markdown cell: ``**63.6**`` is ``63.6``; links leave their text."""
    if "$" in text:
        text = without_latex(text)
    if len(text) <= _LONGEST:
        text = _markdown_text(text)
    return " ".join(html.unescape(text).split())


@lru_cache(_REMEMBERED)
def _markdown_text(text: str) -> str:
    for pattern, replacement in _MARKDOWN:
        text = pattern.sub(replacement, text)
    return text


def commas_of(columns: Iterable[pl.Series]) -> Commas:
    """What the commas within the numbers of a table's columns are.

    They are decimal if one is not followed by three digits, and divide thousands if a number has
    two of them or a point as well. If neither shows, or both do, what they are is not known.

    Args:
        columns: columns of text.
    """
    signs = [column.drop_nulls().unique().str.extract(_NUMBER).drop_nulls() for column in columns]
    numbers = pl.concat([pl.Series([], dtype=pl.String), *signs])
    typed = numbers.filter(numbers.str.contains(",", literal=True))
    if typed.is_empty():
        return "none"
    is_group = typed.str.contains(_GROUPS)
    has_points = numbers.str.contains(".", literal=True).any()
    is_decimal = bool((typed.str.contains(_OF_DECIMALS) & ~is_group).any())
    is_thousands = has_points or bool((typed.str.count_matches(",") > 1).any())
    if is_decimal == is_thousands:
        return "ambiguous"
    return "decimal" if is_decimal else "thousands"


def numbers_of(column: pl.Series, commas: Commas) -> tuple[pl.Series, pl.Series]:
    """The numbers of a column of text, and where it holds something that is none.

    Returns:
        A Float64 column, null where a score is missing or is no number, and a Boolean one.
    """
    numbers = column.cast(pl.Float64, strict=False)
    others = column.filter(numbers.is_null() & column.is_not_null()).unique()
    if others.is_empty():
        return numbers, pl.repeat(value=False, n=len(column), dtype=pl.Boolean, eager=True)
    plain = others.str.replace_all(_LARGE_DASHES, "-")
    number = pl.col("plain").str.extract(_NUMBER)
    if commas == "decimal":
        number = number.str.replace(",", ".", literal=True)
    elif commas == "thousands":
        grouped = number.str.replace_all(",", "", literal=True)
        number = pl.when(number.str.contains(_GROUPS)).then(grouped).otherwise(number)
    said = pl.when(pl.col("plain").is_in(_MISSING)).then(pl.lit("")).otherwise(number)
    texts = column.replace(others, plain.to_frame("plain").select(said).to_series())
    numbers = texts.cast(pl.Float64, strict=False)
    return numbers, numbers.is_null() & column.is_not_null() & (texts != "").fill_null(value=True)


def typed_column(column: pl.Series, commas: Commas) -> pl.Series:
    """A column of text as whole numbers or numbers, if each of its cells is one or missing."""
    numbers, is_wrong = numbers_of(column, commas)
    if is_wrong.any() or numbers.is_null().all():
        return column
    whole = column.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == column.null_count() else numbers
