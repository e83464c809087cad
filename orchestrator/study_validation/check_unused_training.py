"""Refuses settings of training that a study states and none of its trials would heed."""

from collections.abc import Sequence

from orchestrator.study.blocks import dataset_of
from orchestrator.study.study import Study
from orchestrator.study.unused_training_settings import why_unheeded_training
from orchestrator.study_parser.problems import Path, Problems
from orchestrator.study_parser.trained_losses import Trained
from orchestrator.study_parser.yaml_section import label

__all__ = ["check_unheeded_training", "why_unheeded_by_all"]


def check_unheeded_training(study: Study, items: tuple[Trained, ...], problems: Problems) -> None:
    """Note every setting, given or tuned, that changes nothing for any loss in any block."""
    given = study.training.overrides
    stated: dict[Path, tuple[str, object]] = {
        ("training", name): (name, value) for name, value in given.items()
    }
    stated |= {("search", "tune", i): (name, name) for i, name in enumerate(study.search.tune)}
    for path, (name, got) in stated.items():
        if reason := why_unheeded_by_all(study, items, name, path, problems):
            problems.add(path, f"{label(path)} {reason}", got=got)


def why_unheeded_by_all(
    study: Study, items: Sequence[Trained], name: str, path: Path, problems: Problems
) -> str | None:
    """Why a setting changes nothing for any of ``items``, in words; None if it changes something.

    Of settings that are wrong themselves, or are for data or networks that are, nothing is said.
    """
    judged_by = (("datasets",), ("backbones",), ("training", "sampler"))
    if not items or problems.concern(path, *judged_by):
        return None
    reasons = [_why(study, item, name) for item in items]
    said = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
    return None if None in reasons else f"changes nothing: {said}"


def _why(study: Study, item: Trained, name: str) -> str | None:
    return why_unheeded_training(
        name,
        item.training,
        dataset=dataset_of(study, item.block),
        backbone=item.block.backbone,
        loss=item.loss,
    )
