"""``podium losses``: what losses there are."""

from podium.printing import AsCsv, AsJson, print_json, print_table
from search_spaces.catalogue import LossFacts, loss_facts, loss_names
from search_spaces.params import Value

__all__ = ["command"]


def command(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the losses: kind, needs, parameters with their published defaults, spaces."""
    facts = [loss_facts(name) for name in loss_names()]
    if as_json:
        print_json([_record(loss) for loss in facts])
        return
    print_table([_row(loss) for loss in facts], as_csv=as_csv)


def _row(loss: LossFacts) -> dict[str, object]:
    parameters = (f"{name}={_short(item.default)}" for name, item in loss.parameters.items())
    return {
        "loss": loss.name,
        "kind": loss.kind,
        "spaces": " ".join(loss.spaces),
        "parameters": " ".join(parameters),
    }


def _record(loss: LossFacts) -> dict[str, object]:
    return {
        "loss": loss.name,
        "kind": loss.kind,
        "needs": sorted(loss.needs),
        "source": loss.source,
        "spaces": list(loss.spaces),
        "parameters": {
            name: {
                "default": item.default,
                "legal": item.legal,
                "unit": item.unit,
                "source": item.source,
            }
            for name, item in loss.parameters.items()
        },
    }


def _short(default: Value | None) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)
