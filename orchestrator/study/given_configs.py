"""The configs that a study gives its searches: tried after the default and before the sampler."""

from orchestrator.study.configs import default_config, unsearched_values
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Block, Study
from search_spaces.parameters import Value, existing

__all__ = ["given_configs", "warm_start_key"]


def given_configs(study: Study, block: Block, loss: str) -> tuple[dict[str, Value], ...]:
    """Those of ``try_first``, then those of earlier results, each once and never the default."""
    values = unsearched_values(study, block, loss)
    conditions = facts_of(loss).conditions
    points = (
        *study.try_first.get(loss, ()),
        *study.warm_starts.get(warm_start_key(block.label, loss), ()),
    )
    known = [default_config(study, block, loss)]
    for point in points:
        config = existing({**values, **point}, conditions)
        if config not in known:
            known.append(config)
    return tuple(known[1:])


def warm_start_key(block: str, loss: str) -> str:
    """Under which `Study.warm_starts` holds what was found for a loss in a block, by its label."""
    return f"{block} {loss}"
