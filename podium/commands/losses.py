"""``podium losses``: what losses there are, whose they are and how they differ."""

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.study.composed_facts import LossFacts
from orchestrator.study.loss_facts import facts_of
from podium.arguments.completion import complete_loss
from podium.terminal.printing import AsCsv, AsJson, print_json, print_table, say
from trainables.loss_files import read_files
from trainables.registry import names, summary
from trainables.settings.legal_ranges import Parameter
from trainables.settings.training_settings import HyperparameterValue

_WIDTH = 80
_COMPOSED = """\
LOSS+LOSS is a weighted sum, memory:LOSS a pair loss with a cross-batch memory,
LOSS>LOSS a pre-training, package.module:Class a loss of another library,
./mine.py:Class a loss in a file of your own:
podium losses multi_similarity+softmax"""


def command(
    losses: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LOSS]...",
            help="Which ones; all by default.",
            autocompletion=complete_loss,
        ),
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List losses: what they do, kind, needs, published defaults and their units, source."""
    for name in losses or ():
        read_files(name, Path.cwd())
    facts = [facts_of(name) for name in losses or names("losses")]
    if as_json:
        print_json([_record(loss) for loss in facts])
    elif as_csv:
        print_table([row for loss in facts for row in _rows(loss)], as_csv=True)
    else:
        say("\n\n".join(map(_text, facts)))
        if not losses:
            say(f"\n{_COMPOSED}")


def _text(loss: LossFacts) -> str:
    needs = f"; needs {', '.join(sorted(loss.needs))}" if loss.needs else ""
    spaces = ", ".join(name for name, space in loss.spaces.items() if space.parameters)
    lines = [f"{loss.name}  {loss.kind}{needs}", *_wrapped(_summary(loss))]
    if loss.family:
        lines += _wrapped(f"among {loss.family.name} losses: {loss.family.differs}")
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
    return f"{name}={_short(item.default)}{f' {item.unit}' if item.unit else ''}"


def _rows(loss: LossFacts) -> list[dict[str, object]]:
    """A row for each hyperparameter; one for a loss without any."""
    common = {"loss": loss.name, "kind": loss.kind, "needs": " ".join(sorted(loss.needs))}
    items = loss.parameters.items() or [("", None)]
    return [
        {
            **common,
            "hyperparameter": name,
            "default": item and item.default,
            "unit": item and item.unit,
            "legal": item and str(item.legal),
            "source": loss.source,
            "source_of_default": item and item.source,
            **_family(loss),
        }
        for name, item in items
    ]


def _record(loss: LossFacts) -> dict[str, object]:
    return {
        "loss": loss.name,
        "kind": loss.kind,
        "needs": sorted(loss.needs),
        "summary": _summary(loss),
        **_family(loss),
        "source": loss.source,
        "spaces": list(loss.spaces),
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


def _family(loss: LossFacts) -> dict[str, str | None]:
    """The family of a loss that has one, and what makes it another than its siblings."""
    if loss.family is None:
        return {"family": None, "differs": None}
    return {"family": loss.family.name, "differs": loss.family.differs}


def _short(default: HyperparameterValue | None) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)
