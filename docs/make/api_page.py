"""Makes docs/reference/api.md: what `podium` offers to programs and notebooks, and what reads a results folder."""

import inspect

import podium
from docs.make.markdown import TOLD, table
from podium.analysis.tournament.tournament import Tournament, hold_tournament
from podium.orchestrator.results.trial_files.reader import Reader

_OPENING = """\
# Python API

What programs and notebooks import. The site shows each with its parameters, from its docstring; the table below says
what there is.
"""
_BELOW = (Reader, hold_tournament, Tournament)  # what the notebook imports from the rooms


def api_page() -> str:
    """The text of the page."""
    offered = {f"podium.{name}": getattr(podium, name) for name in _offered()}
    below = {f"{it.__module__}.{it.__qualname__}": it for it in _BELOW}
    everything = {**offered, **below}
    rows = [(f"`{name}`", _first_sentence(it)) for name, it in everything.items()]
    shown = [f"::: {it.__module__}.{it.__qualname__}\n" for it in everything.values()]
    return "\n".join([TOLD, _OPENING, f"{table(('name', 'what it is'), rows)}\n", *shown])


def _offered() -> tuple[str, ...]:
    return tuple(getattr(podium, "__all__", ()))


def _first_sentence(it: object) -> str:
    return inspect.cleandoc(inspect.getdoc(it) or "").partition("\n")[0]
