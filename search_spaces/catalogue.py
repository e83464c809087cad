"""Facts of every loss by name: its hyperparameters and search spaces (search_spaces.losses)."""

import difflib
import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from search_spaces.parameters import Condition, Parameter, Space, Value
from search_spaces.training_parameters import (
    PROXY_PARAMETERS,
    TRAINING_PARAMETERS,
    TRAINING_SPACES,
    space_around,
)

__all__ = ["SPACE_NAMES", "LossFacts", "defaults", "legal_parameters", "loss_facts", "loss_names"]

SPACE_NAMES = ("joint", "thesis", "reality_check")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossFacts:
    """What is known of a loss without loading it.

    Attributes:
        name: file name of the loss, as in a study file.
        kind: group of losses: ``pair``, ``proxy``, ...
        needs: what a study has to provide: ``balanced``, ``normalised``, ``proxies``, ...
        source: paper and equation.
        parameters: hyperparameters by name, with defaults and legal ranges.
        spaces: search spaces by name; ``joint`` is always there.
        conditions: conditions of the hyperparameters that exist only while another has certain
            values.
        published_training: training parameters that the source states.
    """

    name: str
    kind: str
    needs: frozenset[str]
    source: str
    parameters: Mapping[str, Parameter]
    spaces: Mapping[str, Space]
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    published_training: Mapping[str, Value] = field(default_factory=dict)

    @property
    def defaults(self) -> dict[str, Value]:
        """Published values of its own hyperparameters, leaving out those without a default."""
        return {
            name: parameter.default
            for name, parameter in self.parameters.items()
            if parameter.default is not None
        }

    @property
    def legal_parameters(self) -> dict[str, Parameter]:
        """Everything a config may set: its own hyperparameters and those of training."""
        return {**self.parameters, **TRAINING_PARAMETERS}

    def joined_space(
        self, space: str | Space, tune: Sequence[str], training: Mapping[str, Value] | None = None
    ) -> Space:
        """A space of its own hyperparameters together with training parameters.

        Args:
            space: name of a space (``joint``, ``thesis``, ``reality_check``), or a space.
            tune: names of training parameters. Those of proxies join only where the loss has
                some, so one list serves all losses of a study.
            training: training parameters of the loss where no search varies them; ranges lie
                around them. None: around the defaults.

        Raises:
            ValueError: an unknown space or training parameter.
        """
        if isinstance(space, str) and space not in self.spaces:
            raise ValueError(_unknown(f"space of {self.name}", space, self.spaces))
        for name in tune:
            if name not in TRAINING_SPACES:
                raise ValueError(_unknown("training parameter to tune", name, TRAINING_SPACES))
        # The space itself may have a range of training that suits it.
        own = (self.spaces[space] if isinstance(space, str) else space).parameters
        centres = training or {}
        joining = {
            name: space_around(name, centres[name]) if name in centres else TRAINING_SPACES[name]
            for name in tune
            if name not in own and ("proxies" in self.needs or name not in PROXY_PARAMETERS)
        }
        return Space({**own, **joining})


def loss_names() -> tuple[str, ...]:
    """Names of all losses with search spaces, sorted."""
    files = (Path(__file__).parent / "losses").glob("[!_]*.py")
    return tuple(sorted(file.stem for file in files))


def loss_facts(name: str) -> LossFacts:
    """Facts of the loss called ``name``.

    Raises:
        ValueError: there is no such loss; the message lists the nearest names and all names.
    """
    if name not in loss_names():
        raise ValueError(_unknown("loss", name, loss_names()))
    module = importlib.import_module(f"search_spaces.losses.{name}")
    spaces = {space: getattr(module, space.upper(), None) for space in SPACE_NAMES}
    return LossFacts(
        name=name,
        kind=module.KIND,
        needs=module.NEEDS,
        source=module.SOURCE,
        parameters=dict(module.PARAMETERS),
        spaces={space: value for space, value in spaces.items() if value is not None},
        conditions=getattr(module, "CONDITIONS", {}),
        published_training=getattr(module, "PUBLISHED_TRAINING", {}),
    )


def defaults(loss: str) -> dict[str, Value]:
    """Published values of the loss's own hyperparameters, leaving out those without a default."""
    return loss_facts(loss).defaults


def legal_parameters(loss: str) -> dict[str, Parameter]:
    """Everything a config of ``loss`` may set: its own hyperparameters and those of training."""
    return loss_facts(loss).legal_parameters


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3)
    hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    return f"unknown {what} {name!r}{hint}; known: {', '.join(names) or 'none'}"
