"""Reads and checks ``try_first`` of a loss: configs that its search tries first."""

from collections.abc import Mapping

from orchestrator.study.configs import space_of
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Study
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.trained_losses import trained_losses
from orchestrator.study_parser.yaml_section import Section, label
from search_spaces.parameters import Parameter, Value, existing

__all__ = ["TRY_FIRST", "check_try_first", "read_try_first"]

TRY_FIRST = "try_first"


def read_try_first(
    loss: Section, legal: Mapping[str, Parameter], problems: Problems
) -> tuple[dict[str, Value], ...]:
    """Configs in their order, as far as they can be read; what is wrong is noted.

    Args:
        loss: mapping of the loss in the study file.
        legal: known hyperparameters with their legal values.
        problems: collects what is wrong.
    """
    configs = []
    for path, item in loss.items(TRY_FIRST):
        section = Section(item, path, problems, tuple(legal))
        if item.value == {}:
            problems.add(path, f"{label(path)} must have at least one hyperparameter")
        config: dict[str, Value] = {}
        for name, parameter in legal.items():
            node = section.node(name)
            if node is None:
                continue
            value = node.plain()
            if parameter.problem_with(value) is None:
                config[name] = parameter.typed(value)
            else:
                key_path = (*path, name)
                problems.add(key_path, f"{label(key_path)} must be {parameter.legal}", got=value)
        configs.append(config)
    return tuple(configs)


def check_try_first(study: Study, problems: Problems) -> None:
    """Note hyperparameters that are not searched or do not exist, and configs given twice."""
    if problems.concern(("losses",), ("search", "space"), ("search", "tune")):
        return
    items = trained_losses(study, problems)
    for index, loss in enumerate(study.losses):
        conditions = facts_of(loss).conditions
        of_loss = [item.values for item in items if item.loss == loss]
        # Training settings may make a config the default of some blocks only: not tried there.
        known = {"the default": [existing(values, conditions) for values in of_loss]}
        for number, given in enumerate(study.try_first.get(loss, ())):
            path: Path = ("losses", index, TRY_FIRST, number)
            _check_names(study, loss, given, path, problems)
            configs = [existing({**values, **given}, conditions) for values in of_loss]
            for name in given:
                if all(name not in config for config in configs):
                    rule = f"{label((*path, name))} exists only while {conditions[name]}"
                    problems.add((*path, name), rule)
            same = [what for what, others in known.items() if others == configs]
            if same:
                problems.add(path, f"{label(path)} is the same config as {same[0]}")
            known[label(path)] = configs


def _check_names(
    study: Study, loss: str, given: Mapping[str, Value], path: Path, problems: Problems
) -> None:
    searched = space_of(study, loss).parameters
    for name in given:
        if name not in searched:
            rule = f"{label((*path, name))} is not searched: give it under values"
            problems.add((*path, name), rule, choices=searched)
