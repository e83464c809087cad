"""What cells of printed tables say as numbers.

``63**5**`` and ``63^1`` are no numbers, and not 635 or 631.
"""

from collections.abc import Iterable
from typing import Literal

import polars as pl

Commas = Literal["none", "decimal", "thousands", "ambiguous"]
"""What the commas of a table's numbers are."""

_SIGNS = r"[+-]?[0-9.,]+(?:[eE][+-]?[0-9]+)?"
_AFTER = (
    r"(?:\s*(?:±|\+/-|\+-)\s*[0-9.,]+"  # an uncertainty
    r"|\s*\([^()]*\)|\s*\[[^\[\]]*\]"  # a rank, a gain, a citation
    r"|\s*%|\s*\^?[*†‡§¶↑↓]|\^[a-z])*\s*"  # footnotes
)
_NUMBER = rf"^({_SIGNS}){_AFTER}$"
_MISSING = ["", "-", "--", "---", "nan", "NaN", "NAN"]
_LARGE_DASHES = "[–—−]"
_GROUPS = r"^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?$"
_OF_DECIMALS = r"^[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?$"


def commas_of(columns: Iterable[pl.Series]) -> Commas:
    """What the commas within the numbers of a table's columns are.

    They are decimal if one is not followed by three digits, and divide thousands if a number has
    two of them or a point as well. If neither shows, or both do, what they are is not known.
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
