"""Reads ``resources`` of a study file: what trials occupy, and for how long they may."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from orchestrator._problems import Problems
from orchestrator._study_section import Section
from orchestrator.study import ResourceSettings, ResourceShare
from trainables.settings import BackboneSettings

__all__ = ["read_resources"]

_KEYS = [field.name for field in fields(ResourceSettings)]
_OF_BACKBONE = [field.name for field in fields(ResourceShare)]


def read_resources(
    top: Section, backbones: Sequence[BackboneSettings], problems: Problems
) -> ResourceSettings:
    """The section ``resources``; its backbones must be some of the study's."""
    section = top.section("resources", _KEYS)
    base = ResourceSettings()
    return ResourceSettings(
        cpus_per_trial=section.real("cpus_per_trial", base.cpus_per_trial, above=0.0),
        gpus_per_trial=section.real("gpus_per_trial", base.gpus_per_trial, low=0.0),
        trial_hours=section.real_or_null("trial_hours", base.trial_hours, above=0.0),
        stuck_minutes=section.real_or_null("stuck_minutes", base.stuck_minutes, above=0.0),
        backbones={} if problems.concern(("backbones",)) else _shares(section, backbones),
    )


def _shares(
    resources: Section, backbones: Sequence[BackboneSettings]
) -> Mapping[str, ResourceShare]:
    names = [backbone.name for backbone in backbones]
    of_backbones = resources.section("backbones", names)
    return {
        name: _share(of_backbones.section(name, _OF_BACKBONE))
        for name in names
        if name in of_backbones
    }


def _share(section: Section) -> ResourceShare:
    return ResourceShare(
        cpus_per_trial=section.real_or_null("cpus_per_trial", None, above=0.0),
        gpus_per_trial=section.real_or_null("gpus_per_trial", None, low=0.0),
    )
