"""``podium losses``: what losses there are, how they differ, and what a search varies of them."""

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from podium.orchestrator.study.loss_facts import LossFacts, facts_of
from podium.search_spaces.parameters import Choice, Int, Real
from podium.search_spaces.training_parameters import TRAINING_SPACES
from podium.terminal.printing import AsJson, print_json, print_table, say
from podium.trainables.own_files import read_files
from podium.trainables.registry import names, summary
from podium.trainables.settings.legal_ranges import Parameter

_WIDTH = 80
_COLUMNS = ("parameter", "tried", "default", "legal", "source")
_COMPOSED = """\
LOSS+LOSS is a weighted sum, memory:LOSS a pair loss with a cross-batch memory,
matryoshka:LOSS a loss over prefixes of the embedding, LOSS>LOSS a pre-training,
package.module:Class a loss of another library,
./mine.py:Class a loss in a file of your own:
podium losses multi_similarity+softmax"""


def command(
    losses: Annotated[
        list[str] | None, typer.Argument(metavar="[LOSS]...", help="Which ones; all by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List losses: what they do, kind, needs, published defaults and their units, source.

    Of losses given by name the search spaces are shown too: what is tried, what is legal, and who
    says so. The space "training" holds what `search.tune` may add to any of the others.
    """
    for name in losses or ():
        read_files(name, Path.cwd())
    facts = [facts_of(name) for name in losses or names("losses")]
    if as_json:
        print_json([_record(loss) for loss in facts])
    elif losses:
        for loss in facts:
            say(f"{_text(loss)}\n")
            _print_spaces(loss)
    else:
        say("\n\n".join([*map(_text, facts), _COMPOSED]))


def _text(loss: LossFacts) -> str:
    needs = f"; needs {', '.join(sorted(loss.needs))}" if loss.needs else ""
    spaces = ", ".join(name for name, space in loss.spaces.items() if space.parameters)
    lines = [f"{loss.name}  {loss.kind}{needs}", *_wrapped(_summary(loss))]
    if loss.family:
        lines += _wrapped(f"among {loss.family} losses: {loss.differs}")
    lines += _wrapped(f"source: {loss.source}")
    parameters = [_parameter(name, item) for name, item in loss.parameters.items()]
    if parameters:
        lines += _wrapped(", ".join(parameters))
    if spaces:
        lines += _wrapped(f"spaces: {spaces}")
    return "\n".join(lines)


def _summary(loss: LossFacts) -> str:
    """What podium's own losses say of themselves; nothing for composed and external ones."""
    return summary("losses", loss.name) if loss.name in names("losses") else ""


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")


def _parameter(name: str, item: Parameter) -> str:
    default = f"{item.default:g}" if isinstance(item.default, float) else item.default
    return f"{name}={default}{f' {item.unit}' if item.unit else ''}"


def _print_spaces(loss: LossFacts) -> None:
    for space, rows in _spaces(loss).items():
        if not rows:
            none = "searches none of its hyperparameters" if loss.parameters else "it has none"
            say(f"{loss.name}, space {space}: {none}\n")
            continue
        say(f"{loss.name}, space {space}:")
        print_table(rows, columns=_COLUMNS)
        say()


def _spaces(loss: LossFacts) -> dict[str, list[dict[str, object]]]:
    """Of each search space of a loss, a row for each hyperparameter."""
    legal = loss.legal_parameters
    tunable = loss.joined_space("joint", tuple(TRAINING_SPACES)).parameters
    training = {name: tried for name, tried in tunable.items() if name in TRAINING_SPACES}
    spaces = {name: space.parameters for name, space in loss.spaces.items()}
    return {
        space: [
            {
                "parameter": name,
                "tried": _tried(tried),
                "default": legal[name].default,
                "legal": str(legal[name].legal),
                "unit": tried.unit,
                "source": tried.source,
            }
            for name, tried in parameters.items()
        ]
        for space, parameters in {**spaces, "training": training}.items()
    }


def _tried(tried: Real | Int | Choice) -> str:
    """``0.5..64 log``, ``2..100 step 2``, ``1, 2, 5``."""
    if isinstance(tried, Choice):
        return ", ".join(map(str, tried.values))
    scale = " log" if tried.log else f" step {tried.step:g}" if tried.step else ""
    return f"{tried.low:g}..{tried.high:g}{scale}"


def _record(loss: LossFacts) -> dict[str, object]:
    return {
        "loss": loss.name,
        "kind": loss.kind,
        "needs": sorted(loss.needs),
        "summary": _summary(loss),
        "family": loss.family,
        "differs": loss.differs,
        "source": loss.source,
        "spaces": _spaces(loss),
        "published_training": {
            name: asdict(item) for name, item in loss.published_training.items()
        },
        "parameters": {
            name: {
                "default": item.default,
                "legal": str(item.legal),
                "unit": item.unit,
                "source": item.source,
                "exists_if": str(loss.conditions[name]) if name in loss.conditions else None,
            }
            for name, item in loss.parameters.items()
        },
    }
