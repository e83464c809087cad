"""Options that belong together: the fields of a dataclass, each with its help."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any


def field_by_field(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """The command as Typer reads it: each dataclass that it takes is given field by field."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {
        it.name: it.annotation for it in parameters if is_dataclass(it.annotation)
    }

    @wraps(command)
    def with_groups(**given: Any) -> int | None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        return command(**given)

    options: list[inspect.Parameter] = []
    for it in parameters:
        group = groups.get(it.name)
        options += inspect.signature(group).parameters.values() if group else [it]
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature([it.replace(kind=keyword) for it in options])
    with_groups.__signature__ = signature  # type: ignore[attr-defined]
    return with_groups
