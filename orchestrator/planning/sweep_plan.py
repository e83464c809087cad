"""How much of its ranges a study sweeps that tunes one hyperparameter at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from orchestrator.search_samplers.sampler_names import SamplerName
from orchestrator.search_samplers.suggester import SearchTask
from orchestrator.search_samplers.sweeps import Sweeps, independent_sweeps, successive_sweeps
from orchestrator.study.configs import search_task
from orchestrator.study.fairness_of_losses import num_tried_configs
from orchestrator.study.study import Block, Study

_SWEEPS: Mapping[SamplerName, Callable[[SearchTask], Sweeps]] = MappingProxyType(
    {"coordinate": independent_sweeps, "coordinate-descent": successive_sweeps}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """The sweeps of one loss in one block.

    Attributes:
        block: label of the block.
        loss: name of the loss.
        sweeps: what is tried of each hyperparameter.
        trials: largest number of distinct configs, the default included.
    """

    block: str
    loss: str
    sweeps: Sweeps
    trials: int


def sweep_plans(study: Study, blocks: Sequence[Block]) -> tuple[SweepPlan, ...]:
    """The sweeps of each block and loss; none if the study's sampler sweeps nothing."""
    sweeps_of = _SWEEPS.get(study.search.sampler)
    if sweeps_of is None:
        return ()
    return tuple(
        SweepPlan(
            block=block.label,
            loss=loss,
            sweeps=sweeps_of(search_task(study, block, loss)),
            trials=num_tried_configs(study, block, loss),
        )
        for block in blocks
        for loss in study.loss_names
    )
