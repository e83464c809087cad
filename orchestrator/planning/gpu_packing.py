"""How many trials of a block would fit a GPU, by the memory that earlier trials took."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from orchestrator.results.trial_files.reader import Reader
from orchestrator.study.blocks import blocks
from orchestrator.study.resource_demand import CONTEXT_MB, demand_of
from orchestrator.study.study import Study
from orchestrator.trials.failure_causes import OUT_OF_MEMORY

_HEADROOM = 1.1
_MB_PER_GB = 1024.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockMemory:
    """What trials of one block took of a GPU.

    Attributes:
        block: label of the block.
        gpus_per_trial: share of a GPU that each trial gets now.
        peak_mb: largest peak memory of all complete trials, in MB.
        device_mb: memory of the smallest GPU that trials of the study ran on, in MB.
        ran_out: whether an attempt ran out of memory.
    """

    block: str
    gpus_per_trial: float
    peak_mb: float
    device_mb: float
    ran_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PackingAdvice:
    """How many trials of a block fit a GPU, if that is another number than now.

    Attributes:
        block: label of the block.
        peak_mb: largest peak memory of its complete trials, in MB.
        device_mb: memory of the smallest GPU, in MB.
        gpus_now: share of a GPU that each trial gets now.
        gpus_per_trial: share to set instead.
        trials_per_gpu: number of trials that fit with that share.
    """

    block: str
    peak_mb: float
    device_mb: float
    gpus_now: float
    gpus_per_trial: float
    trials_per_gpu: int

    def __str__(self) -> str:
        """``cub200/resnet50/512: peak 6.1 of 80 GB: gpus_per_trial 0.08 would fit 12 trials``."""
        return (
            f"{self.block}: peak {self.peak_mb / _MB_PER_GB:.1f} of "
            f"{self.device_mb / _MB_PER_GB:.0f} GB: gpus_per_trial {self.gpus_per_trial:g} would "
            f"fit {self.trials_per_gpu} trial{'s' if self.trials_per_gpu > 1 else ''} "
            f"(now {self.gpus_now:g})"
        )


def block_packing_advice(memory: BlockMemory) -> PackingAdvice | None:
    """Advice if another number of trials fits a GPU than now, by memory alone; None otherwise.

    Each trial is given a tenth more than the largest peak, and what CUDA itself takes. After an
    attempt that ran out of memory, packing more is not advised: what it needed is not known.
    """
    if not memory.gpus_per_trial or memory.peak_mb <= 0:
        return None
    now = _trials_at(memory.gpus_per_trial)
    share = _share((memory.peak_mb * _HEADROOM + CONTEXT_MB) / memory.device_mb)
    if memory.gpus_per_trial > 1 or share is None or _trials_at(share) == now:
        return None
    if memory.ran_out and _trials_at(share) > now:
        return None
    return PackingAdvice(
        block=memory.block,
        peak_mb=memory.peak_mb,
        device_mb=memory.device_mb,
        gpus_now=memory.gpus_per_trial,
        gpus_per_trial=share,
        trials_per_gpu=_trials_at(share),
    )


def _share(needed: float) -> float | None:
    """The share in hundredths that fits most trials with ``needed`` each; None if none fits."""
    for trials in range(min(100, int(1 / needed)) if needed else 100, 0, -1):
        share = math.floor(100 / trials) / 100
        if share >= needed:
            return share
    return None


def _trials_at(share: float) -> int:
    return math.floor(1 / share + 1e-6)


def packing_advice(study: Study, reader: Reader) -> list[PackingAdvice]:
    """Advice for the blocks of a study; none if no GPU is requested or its memory is unknown."""
    shares = {block.label: demand_of(study, block).gpus for block in blocks(study)}
    if not any(shares.values()):
        return []
    found = map(block_packing_advice, _memory(shares, reader))
    return [advice for advice in found if advice is not None]


def _memory(shares: dict[str, float], reader: Reader) -> Iterable[BlockMemory]:
    attempts = reader.attempts().select("trial_id", "cause", "device_memory_mb").collect()
    if attempts["device_memory_mb"].is_null().all():
        return
    trials = (
        reader.trials()
        .filter(pl.col("device") != "cpu")
        .select("trial_id", "block", "state", "peak_memory_mb")
        .collect()
    )
    known = attempts.join(trials.select("trial_id", "block"), on="trial_id", how="inner")
    device_mb = known["device_memory_mb"].min()
    if device_mb is None:
        return
    peaks = (
        trials.filter(pl.col("state") == "COMPLETE")
        .group_by("block")
        .agg(pl.col("peak_memory_mb").max())
    )
    out = set(known.filter(pl.col("cause") == OUT_OF_MEMORY)["block"])
    for block, peak in sorted(peaks.drop_nulls().iter_rows()):
        if block in shares:
            yield BlockMemory(
                block=block,
                gpus_per_trial=shares[block],
                peak_mb=peak,
                device_mb=float(device_mb),  # type: ignore[arg-type]
                ran_out=block in out,
            )
