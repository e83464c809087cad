"""Refuses what a study sets for its losses where no trial would heed it."""

from collections.abc import Iterator, Mapping, Sequence

from orchestrator._problems import Path, Problems
from orchestrator._study_section import label
from orchestrator.configs import space_of, unsearched_values
from orchestrator.study import Study
from orchestrator.unheeded import why_unheeded
from search_spaces.params import Space, Value

__all__ = ["check_heeded"]

# Hyperparameters that wait for an epoch, and how many epochs there must be beyond it.
_LEFT_OVER = {"memory_start_epoch": 0, "pretraining_epochs": 1}


def check_heeded(study: Study, problems: Problems) -> None:
    """Note every value and range that changes nothing, and every part of a loss never trained."""
    if problems.concern(("losses",), ("search", "space"), ("search", "tune")):
        return
    for index, loss in enumerate(study.losses):
        path: Path = ("losses", index)
        configs = list(_extreme_configs(study, loss))
        values = study.values.get(loss, {})
        space = study.spaces.get(loss, Space({})).parameters
        for section, names in (("values", values), ("space", space)):
            for name in names:
                if reason := why_unheeded(loss, name, configs):
                    place = (*path, section, name)
                    problems.add(place, f"{label(place)} {reason}")
        if not problems.concern(("training", "epochs")):
            _check_epochs(
                study.training.epochs, path, [{**c, **values} for c in configs], problems
            )


def _extreme_configs(study: Study, loss: str) -> Iterator[Mapping[str, Value]]:
    """The first config, and it with one parameter at an end of what is searched."""
    values = unsearched_values(study, loss)
    yield values
    for name, tried in space_of(study, loss).parameters.items():
        for end in tried.ends():
            yield {**values, name: end}


def _check_epochs(
    epochs: int, path: Path, configs: Sequence[Mapping[str, Value]], problems: Problems
) -> None:
    """A memory or a main loss that no config comes to is in the study by mistake."""
    for name in configs[0]:
        left_over = _LEFT_OVER.get(name.rpartition(".")[2])
        if left_over is None:
            continue
        earliest = min(config[name] for config in configs)
        if float(earliest) > epochs - left_over:
            rule = (
                f"{name} must be at most {epochs - left_over}, since training.epochs is {epochs}: "
                "what comes after it would never train"
            )
            problems.add((*path, "values", name), rule, got=earliest)
