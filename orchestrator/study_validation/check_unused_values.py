"""Refuses what a study sets for its losses where no trial would heed it."""

from collections.abc import Iterator, Mapping

from orchestrator.study.configs import TRAINING_TYPES, space_of
from orchestrator.study.study import Study
from orchestrator.study.unused_hyperparameters import never_reached, waits, why_unheeded
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.trained_losses import Trained, trained
from orchestrator.study_parser.yaml_section import label
from orchestrator.study_validation.check_unused_training import why_unheeded_by_all
from search_spaces.parameters import Space, Value
from search_spaces.training_parameters import RATES

__all__ = ["check_heeded"]


def check_heeded(study: Study, problems: Problems) -> None:
    """Note every value and range that changes nothing, and every part of a loss never trained."""
    rates = (("training", rate) for rate in RATES)  # that spaces are made around
    if problems.concern(("losses",), ("search", "space"), ("search", "tune"), *rates):
        return
    items = trained(study, problems)
    for index, loss in enumerate(study.losses):
        path: Path = ("losses", index)
        of_loss = [item for item in items if item.loss == loss]
        configs = [config for item in of_loss for config in _extreme_configs(study, item)]
        values = study.values.get(loss, {})
        space = study.spaces.get(loss, Space({})).parameters
        for section, names in (("values", values), ("space", space)):
            for name in names:
                place = (*path, section, name)
                if name in TRAINING_TYPES:
                    reason = why_unheeded_by_all(study, of_loss, name, place, problems)
                else:
                    reason = why_unheeded(loss, name, configs)
                if reason:
                    problems.add(place, f"{label(place)} {reason}")
        for item in of_loss:
            _check_epochs(study, item, path, problems)


def _extreme_configs(study: Study, item: Trained) -> Iterator[Mapping[str, Value]]:
    """The first config, and it with one parameter at an end of what is searched."""
    assert item.loss is not None
    yield item.values
    for name, tried in space_of(study, item.loss, item.values).parameters.items():
        for end in tried.ends():
            yield {**item.values, name: end}


def _check_epochs(study: Study, item: Trained, path: Path, problems: Problems) -> None:
    """A memory or a main loss that no config comes to is in the study by mistake."""
    configs = [
        {**c, **study.values.get(item.loss or "", {})} for c in _extreme_configs(study, item)
    ]
    for name in filter(waits, item.values):
        place: Path = (*path, "values", name)
        earliest = min(config[name] for config in configs)
        rule = never_reached(name, earliest, item.training.epochs)
        if rule and not problems.concern(("training", "epochs"), place):
            problems.add(place, rule, got=earliest)
