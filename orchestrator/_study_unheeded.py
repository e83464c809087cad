"""Refuses settings of training that a study states and none of its trials would heed."""

from orchestrator._problems import Path, Problems
from orchestrator._study_section import label
from orchestrator._study_trained import Trained
from orchestrator.blocks import dataset_of
from orchestrator.study import Study
from orchestrator.unheeded_training import why_unheeded_training

__all__ = ["check_unheeded_training"]


def check_unheeded_training(study: Study, items: tuple[Trained, ...], problems: Problems) -> None:
    """Note every setting, given or tuned, that changes nothing for any loss in any block."""
    if not items or problems.concern(("datasets",), ("backbones",)):
        return
    places: dict[Path, str] = {("training", name): name for name in study.training.overrides}
    places |= {("search", "tune", i): name for i, name in enumerate(study.search.tune)}
    for path, name in places.items():
        if problems.concern(path):
            continue
        reasons = [_why(study, item, name) for item in items]
        if None not in reasons:
            said = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
            got = study.training.overrides[name] if path[0] == "training" else name
            problems.add(path, f"{label(path)} changes nothing: {said}", got=got)


def _why(study: Study, item: Trained, name: str) -> str | None:
    return why_unheeded_training(
        name,
        item.training,
        dataset=dataset_of(study, item.block),
        backbone=item.block.backbone,
        loss=item.loss,
    )
