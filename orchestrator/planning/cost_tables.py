"""Two tables of what images cost: one that podium ships, and one of this user's earlier runs.

Both are CSV files with the same columns. The user's lies in podium's cache folder, names nothing
but networks, and has at most 400 lines.
"""

import contextlib
import csv
import io
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path

from orchestrator.planning.image_cost import Conditions, CostSource, ImageCost
from podium.errors import PodiumError
from trainables.errors import TrialInputError
from trainables.file_caches.array_cache import cache_folder_at
from trainables.file_caches.atomic_file import whole_file
from trainables.file_caches.caches import COSTS_FILE
from trainables.network.backbone_facts import backbone_facts, is_import_path

_COLUMNS = (
    "day",
    "backbone",
    "side",
    "mode",
    "device",
    "precision",
    "share",
    "low",
    "median",
    "high",
    "tested",
    "trials",
    "hardware",
)

_SHIPPED = Path(__file__).parent / "seconds_per_image.csv"
_MOST_LINES = 400
_MOST_BYTES = 200_000


def own_table() -> Path:
    """The file of this user's earlier runs on this machine; it need not be there."""
    return cache_folder_at(None) / COSTS_FILE


@cache
def shipped_costs() -> tuple[ImageCost, ...]:
    """What podium's authors measured (`benchmarks/RESULTS.md`)."""
    return tuple(_read(_SHIPPED, "shipped"))


def own_costs() -> tuple[ImageCost, ...]:
    """What earlier runs measured, the newest first; nothing before the first run.

    Raises:
        PodiumError: the file cannot be read or is damaged.
    """
    table = own_table()
    return tuple(reversed(_read(table, "machine"))) if table.exists() else ()


def add_own_costs(costs: Iterable[ImageCost]) -> None:
    """Append a line for each cost; the oldest lines go when there are too many.

    A network by import path is left out: its name says what is on this machine. A damaged table
    starts anew. Of two runs that end at the same moment the lines of one may be lost.

    Raises:
        OSError: the file cannot be written.
    """
    added = [cost for cost in costs if not is_import_path(cost.conditions.backbone)]
    if not added:
        return
    earlier: tuple[ImageCost, ...] = ()
    with contextlib.suppress(PodiumError):
        earlier = own_costs()
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_row, [*reversed(earlier), *added][-_MOST_LINES:]))
    table = own_table()
    table.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(table) as file:
        file.write(text.getvalue().encode())


def _row(cost: ImageCost) -> dict[str, object]:
    values = {**asdict(cost), **asdict(cost.conditions)}
    return {
        name: f"{value:.4g}" if isinstance(value, float) else value
        for name, value in values.items()
        if name in _COLUMNS
    }


def _read(table: Path, source: CostSource) -> list[ImageCost]:
    """All lines, in their order; those of networks that this podium does not have left out."""
    try:
        if table.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too large")
        rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8")), strict=True))
        costs = [_cost(row, source) for row in rows]
    except (OSError, ValueError, TypeError, KeyError, csv.Error) as error:
        raise PodiumError(
            f"{table}, the costs of earlier runs, cannot be read ({error}): delete it; the next"
            " run writes it again"
        ) from error
    return [cost for cost in costs if _is_known(cost.conditions.backbone)]


def _is_known(backbone: str) -> bool:
    try:
        backbone_facts(backbone)
    except TrialInputError:
        return False
    return True


def _cost(row: dict[str, str], source: CostSource) -> ImageCost:
    """One line.

    Raises:
        ValueError, TypeError, KeyError: a column is missing or has no legal value.
    """
    device = row["device"]
    if device not in ("cpu", "gpu"):
        raise ValueError(f"device must be cpu or gpu; got {device!r}")
    cost = ImageCost(
        conditions=Conditions(
            backbone=row["backbone"],
            side=int(row["side"]) if row["side"] else None,
            mode=row["mode"],
            device="cpu" if device == "cpu" else "gpu",
            precision=row["precision"],
            share=float(row["share"]),
        ),
        low=float(row["low"]),
        median=float(row["median"]),
        high=float(row["high"]),
        tested=float(row["tested"]) if row["tested"] else None,
        trials=int(row["trials"]),
        source=source,
        day=row["day"],
        hardware=row["hardware"],
    )
    # Infinities and NaN fail it too.
    is_legal = 0 < cost.low <= cost.median <= cost.high < 1e6 and 0 < cost.conditions.share < 1e6
    if not is_legal or cost.trials < 1 or not 0 <= (cost.tested or 0.0) < 1e6:
        raise ValueError(f"no cost has {row['low']}, {row['median']}, {row['high']} seconds")
    return cost
