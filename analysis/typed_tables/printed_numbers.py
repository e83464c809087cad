"""Numbers as they are printed: with how many decimals, and whether they fit a true value.

A printed value with d decimals may be any value that rounds to it: half up and half to even
are both accepted, so a true value may lie at most half a unit of the last place away. A column is
printed with one number of decimals: that of its longest value, since spreadsheets drop zeros at
the end (``4.5`` in one column with ``3.16`` is 4.50).

All arithmetic is exact, on fractions: a true value half way between two printed ones is common in
means of small whole numbers, and floats would put it on either side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from itertools import pairwise

from analysis.typed_tables.printed_cells import plain_number
from podium.errors import PodiumError

TRUNCATED = "truncated, not rounded"

_DIGITS = 60  # of square roots
_LARGEST_POWER = 15
_SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One printed number.

    Attributes:
        value: exact value as printed.
        decimals: number of decimals of its column.
        own_decimals: number of decimals of the number itself.
    """

    value: Fraction
    decimals: int
    own_decimals: int

    @property
    def half_unit(self) -> Fraction:
        """Half of one in the last decimal of the column."""
        return Fraction(1, 2 * 10**self.decimals)

    def __str__(self) -> str:
        return shown(self.value, self.own_decimals)


def printed_column(values: Sequence[object], *, column: str, source: str) -> list[Printed | None]:
    """The numbers of one column, in its order; an empty or NaN cell is None.

    Args:
        values: texts as typed, or numbers, whose shortest text is taken for what was typed.
        column: name of the column, for messages.
        source: path or name of the table, for messages.

    Raises:
        PodiumError: a value is neither a finite number nor empty; its row is named.
    """
    decimals = [
        _decimal(value, row, column=column, source=source) for row, value in enumerate(values)
    ]
    most = max((_places(number) for number in decimals if number is not None), default=0)
    return [
        None
        if number is None
        else Printed(value=Fraction(number), decimals=most, own_decimals=_places(number))
        for number in decimals
    ]


def fits(printed: Printed, low: Fraction, high: Fraction | None = None) -> bool:
    """Whether a true value within [low, high] may be printed so; ``high`` defaults to ``low``."""
    top = low if high is None else high
    return low - printed.half_unit <= printed.value <= top + printed.half_unit


def misprint(printed: Printed, true: Fraction) -> str:
    """The likely error behind a printed value; empty if none is recognised.

    Args:
        printed: a value that does not fit.
        true: correct value before rounding.
    """
    scaled = true * 10**printed.decimals
    value = printed.value * 10**printed.decimals
    floor = scaled.numerator // scaled.denominator
    toward_zero = floor if scaled >= 0 else floor + 1
    if value == toward_zero:
        return TRUNCATED
    if value in (floor, floor + 1):
        return "rounded the wrong way"
    own = Fraction(1, 2 * 10**printed.own_decimals)
    if abs(printed.value - true) <= own:
        return f"rounded to {_decimals(printed.own_decimals)}, its column to {printed.decimals}"
    typed, right = (shown(number, printed.decimals) for number in (printed.value, true))
    if _is_swapped(typed, right):
        return "two digits swapped"
    if len(typed) == len(right) and sum(a != b for a, b in zip(typed, right, strict=True)) == 1:
        return "one digit differs"
    return ""


def shown(value: Fraction, decimals: int) -> str:
    """The value rounded to so many decimals, half up: ``8.58``."""
    with localcontext() as context:
        context.prec = _DIGITS
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        return str(exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def root(value: Fraction) -> Fraction:
    """The square root to 60 digits; of a negative value, which rounding may make, 0."""
    if value <= 0:
        return Fraction(0)
    with localcontext() as context:
        context.prec = _DIGITS
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def _decimal(value: object, row: int, *, column: str, source: str) -> Decimal | None:
    text = "" if value is None else plain_number(str(value))
    if not text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("Infinity")
    if not number.is_finite():
        raise PodiumError(
            f"column {column!r} of {source} must hold numbers; row {row + 1} holds {value!r}"
            " (leave a missing value empty)"
        )
    if abs(number.adjusted()) > _LARGEST_POWER or _places(number) > _LARGEST_POWER:
        raise PodiumError(
            f"column {column!r} of {source} must hold numbers that a paper prints, of at most"
            f" {_LARGEST_POWER} digits; row {row + 1} holds {str(value)[:_SHOWN]!r}"
        )
    return number


def _places(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int), "the number is finite"
    return max(0, -exponent)


def _decimals(count: int) -> str:
    return f"{count} decimal{'' if count == 1 else 's'}"


def _is_swapped(typed: str, right: str) -> bool:
    """Whether exchanging two neighbouring digits makes one the other."""
    one, other = typed.replace(".", ""), right.replace(".", "")
    if len(one) != len(other):
        return False
    wrong = [index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    return any(
        wrong == [left, after] and one[left] == other[after] and one[after] == other[left]
        for left, after in pairwise(range(len(one)))
    )
