"""``podium spaces LOSS``: the hyperparameters a search varies for a loss, and over what."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.study.loss_facts import facts_of
from podium.arguments.completion import complete_loss
from podium.terminal.printing import AsCsv, AsJson, print_table, say
from search_spaces.parameters import Choice, Int, Real
from search_spaces.training_parameters import TRAINING_SPACES
from trainables.loss_files import read_files

_TEXT_COLUMNS = ("parameter", "tried", "default", "legal", "source")


def command(
    loss: Annotated[
        str,
        typer.Argument(metavar="LOSS", help="Name of the loss.", autocompletion=complete_loss),
    ],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the search spaces of a loss: what is tried, what is legal, and who says so.

    The space "training" holds what `search.tune` may add to any of the others.
    """
    read_files(loss, Path.cwd())
    facts = facts_of(loss)
    legal = facts.legal_parameters
    tunable = facts.joined_space("joint", tuple(TRAINING_SPACES)).parameters
    training = {name: tried for name, tried in tunable.items() if name in TRAINING_SPACES}
    spaces = {
        **{name: space.parameters for name, space in facts.spaces.items()},
        "training": training,
    }
    rows = [
        {
            "space": space,
            "parameter": name,
            "tried": _tried(tried),
            "default": legal[name].default,
            "legal": str(legal[name].legal),
            "unit": tried.unit,
            "source": tried.source,
        }
        for space, parameters in spaces.items()
        for name, tried in parameters.items()
    ]
    if as_json or as_csv:
        print_table(rows, as_json=as_json, as_csv=as_csv)
        return
    for space, parameters in spaces.items():
        if not parameters:
            say(f"{loss}, space {space}: no hyperparameter of its own\n")
            continue
        say(f"{loss}, space {space}:")
        print_table([row for row in rows if row["space"] == space], columns=_TEXT_COLUMNS)
        say()


def _tried(tried: Real | Int | Choice) -> str:
    """``0.5..64 log``, ``2..100 step 2``, ``1, 2, 5``."""
    if isinstance(tried, Choice):
        return ", ".join(map(str, tried.values))
    scale = " log" if tried.log else f" step {tried.step:g}" if tried.step else ""
    return f"{tried.low:g}..{tried.high:g}{scale}"
