"""Checks ``try_first`` of losses: configs that their searches try first."""

from collections.abc import Mapping

from orchestrator.study.configs import space_of
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Study
from orchestrator.study_parser.problems import Problems, label
from orchestrator.study_parser.trained_losses import trained_losses
from orchestrator.study_parser.yaml_tree import Path
from search_spaces.parameters import Value, existing


def check_try_first(study: Study, problems: Problems) -> None:
    """Note hyperparameters that are not searched or do not exist, and configs given twice."""
    if problems.concern(("losses",), ("search", "space"), ("search", "tune")):
        return
    items = trained_losses(study, problems)
    for index, loss in enumerate(study.losses):
        conditions = facts_of(loss.name).conditions
        of_loss = [item.values for item in items if item.loss == loss.name]
        # Training settings may make a config the default of some blocks only: not tried there.
        known = {"the default": [existing(values, conditions) for values in of_loss]}
        for number, given in enumerate(loss.try_first):
            path: Path = ("losses", index, "try_first", number)
            _check_names(study, loss.name, given, path, problems)
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
