"""Seconds that an image takes, by network, size, mode and device: tables, and which line counts.

podium ships one of them. The other is in podium's cache folder and has what images took in earlier
runs on this machine. Seconds are those of a trained image; one that is embedded counts as a third.
"""

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from podium.orchestrator.study.blocks import dataset_of
from podium.orchestrator.study.configs import training_of
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import Block, Study
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.array_cache import cache_folder_at
from podium.trainables.file_caches.atomic_file import whole_file
from podium.trainables.network.backbone_facts import backbone_facts, is_import_path
from podium.trainables.network.timm_facts import timm_facts

Source = Literal["results", "machine", "shipped"]
"""``results``: trials of the study itself; ``machine``: earlier runs that were started here."""

_SHIPPED = Path(__file__).parent / "seconds_per_image.csv"
_UNKNOWN_NETWORK = "resnet50"  # what a network of somebody else is taken for
_LEAST_GIGA = 1e-3  # below it, and of vectors, other things take the time


class ImageKind(NamedTuple):
    """What the time of an image depends on most.

    Attributes:
        side: height and width of images in pixels; None of vectors.
        mode: ``fine_tune`` or ``frozen_features``.
        device: ``cpu`` or ``gpu``.
    """

    backbone: str
    side: int | None
    mode: str
    device: str


Table = Mapping[ImageKind, float]
"""Seconds of a trained image of each kind."""


def kind_of(study: Study, block: Block, device: str | None = None) -> ImageKind:
    """The kind of the images of a block, on a device or where the study asks for it."""
    return ImageKind(
        backbone=block.backbone,
        side=block.image_size or dataset_facts(dataset_of(study, block)).side,
        mode=training_of(study, block).mode,
        device=device or ("gpu" if demand_of(study).gpus else "cpu"),
    )


def known_tables() -> dict[Source, Table]:
    """What earlier runs here took, and what podium ships."""
    return {"machine": _read(own_table()), "shipped": _read(_SHIPPED)}


def seconds_of(wanted: ImageKind, known: Mapping[Source, Table]) -> tuple[float, Source] | None:
    """Seconds of an image, and whose figure that is; None if nothing is known of its mode.

    Tables are known with the best source first. Without a figure of the same kind, that of the
    network with the nearest number of multiplications is scaled by them, of the same device if
    there is one.
    """
    for source, table in known.items():
        if wanted in table:
            return table[wanted], source
    scaled = [
        (kind.device != wanted.device, abs(math.log(ratio)), place, seconds * ratio, source)
        for place, (source, table) in enumerate(known.items())
        for kind, seconds in table.items()
        if kind.mode == wanted.mode
        for ratio in [_giga(wanted) / _giga(kind) if wanted.mode == "fine_tune" else 1.0]
    ]
    return min(scaled)[-2:] if scaled else None


def _giga(kind: ImageKind) -> float:
    """10^9 multiplications of an image in a forward pass; they grow with the number of pixels."""
    if (of_timm := timm_facts(kind.backbone)) is not None:
        giga, side = of_timm.giga_multiply_adds, of_timm.side
    else:
        facts = backbone_facts(kind.backbone) or backbone_facts(_UNKNOWN_NETWORK)
        assert facts is not None, "podium knows its own networks"
        giga, side = facts.giga_multiply_adds, 224
    return max(giga * ((kind.side or 0) / side) ** 2, _LEAST_GIGA)


def own_table() -> Path:
    """The file of this user's earlier runs on this machine; it need not be there."""
    return cache_folder_at(None) / "seconds-per-image.csv"


def add_to_own_table(measured: Table) -> None:
    """Replace the figures of these kinds.

    A network by import path is left out: its name says what is on this machine.

    Raises:
        OSError: the file cannot be written.
    """
    added = {kind: it for kind, it in measured.items() if not is_import_path(kind.backbone)}
    if not added:
        return
    lines = [",".join([*ImageKind._fields, "seconds"])]
    for (backbone, side, mode, device), seconds in {**_read(own_table()), **added}.items():
        lines.append(f"{backbone},{side or ''},{mode},{device},{seconds:.4g}")
    own_table().parent.mkdir(parents=True, exist_ok=True)
    with whole_file(own_table()) as file:
        file.write("\n".join([*lines, ""]).encode())


def _read(file: Path) -> Table:
    """A table; empty if it is missing or damaged, since the next run writes it again."""
    try:
        rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines(), strict=True)
        return {_kind(row): float(row["seconds"]) for row in rows}
    except (OSError, ValueError, TypeError, KeyError, csv.Error, TrialInputError):
        return {}


def _kind(row: Mapping[str, str]) -> ImageKind:
    backbone_facts(row["backbone"])  # refuses what is no network
    side = int(row["side"]) if row["side"] else None
    return ImageKind(row["backbone"], side, row["mode"], row["device"])
