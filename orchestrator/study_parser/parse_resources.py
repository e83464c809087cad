"""Reads ``resources`` of a study file: what trials occupy, and for how long they may."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from orchestrator.study.study import ResourceSettings, ResourceShare
from orchestrator.study_parser.problems import Problems
from orchestrator.study_parser.yaml_section import Section, label
from trainables.settings.trial_settings import BackboneSettings

__all__ = ["read_resources"]

_KEYS = [field.name for field in fields(ResourceSettings)]
_OF_BACKBONE = [field.name for field in fields(ResourceShare)]


def read_resources(
    top: Section, backbones: Sequence[BackboneSettings], problems: Problems
) -> ResourceSettings:
    """The section ``resources``; its backbones must be some of the study's."""
    section = top.section("resources", _KEYS)
    base = ResourceSettings()
    gpus = section.real("gpus_per_trial", base.gpus_per_trial, low=0.0)
    _check_gpus(section, gpus, problems)
    return ResourceSettings(
        cpus_per_trial=section.real("cpus_per_trial", base.cpus_per_trial, above=0.0),
        gpus_per_trial=gpus,
        trial_hours=section.real_or_null("trial_hours", base.trial_hours, above=0.0),
        stuck_minutes=section.real_or_null("stuck_minutes", base.stuck_minutes, above=0.0),
        backbones=(
            {} if problems.concern(("backbones",)) else _shares(section, backbones, problems)
        ),
    )


def _shares(
    resources: Section, backbones: Sequence[BackboneSettings], problems: Problems
) -> Mapping[str, ResourceShare]:
    names = [backbone.name for backbone in backbones]
    of_backbones = resources.section("backbones", names)
    return {
        name: _share(of_backbones.section(name, _OF_BACKBONE), problems)
        for name in names
        if name in of_backbones
    }


def _share(section: Section, problems: Problems) -> ResourceShare:
    gpus = section.real_or_null("gpus_per_trial", None, low=0.0)
    _check_gpus(section, gpus, problems)
    return ResourceShare(
        cpus_per_trial=section.real_or_null("cpus_per_trial", None, above=0.0),
        gpus_per_trial=gpus,
    )


def _check_gpus(section: Section, gpus: float | None, problems: Problems) -> None:
    """Parts of one GPU, or whole ones: Ray hands out no one and a half."""
    if gpus is not None and gpus > 1 and gpus != int(gpus):
        path = (*section.path, "gpus_per_trial")
        problems.add(path, f"{label(path)} above 1 must be a whole number", got=gpus)
