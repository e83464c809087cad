"""What values of a study's keys are: pydantic checks them in study files and in snapshots."""

from typing import Annotated, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, StrictStr

T = TypeVar("T")

KEYS = ConfigDict(extra="forbid", allow_inf_nan=False)
"""How pydantic reads keys: unknown ones are refused, and numbers are finite."""


class RepeatedItemError(ValueError):
    """An item of a list is there twice, the second time at the index."""

    def __init__(self, index: int) -> None:
        super().__init__("is in the list already")
        self.index = index


def _different(items: tuple[T, ...]) -> tuple[T, ...]:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise RepeatedItemError(index)
    return items


Text = Annotated[StrictStr, Field(pattern=r"\S")]
"""A text that is not blank."""
Different = Annotated[tuple[T, ...], Field(max_length=1_000), AfterValidator(_different)]
"""A list without repetitions."""
Several = Annotated[Different[T], Field(min_length=1)]
"""A list without repetitions that is not empty."""
