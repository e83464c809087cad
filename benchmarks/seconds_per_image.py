"""Seconds of an image in training, validation and test: a line of the table that plans start from.

One epoch of a trial, validation included, and its test, of glyphs at the given side: on the CPU in
seconds of the processor, of one thread, so that other programs on the machine matter little; on
CUDA by the clock. Each round trains an epoch; the first warms up. The lines are those of
`orchestrator/planning/seconds_per_image.csv`, without its last column.

    python -m benchmarks.seconds_per_image resnet50 vit_b_16 --size 224
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime

import torch

from benchmarks.interleaved import print_header
from orchestrator.planning.image_counts import images_of
from orchestrator.study.dataset_facts import dataset_facts
from trainables.errors import Collapsed
from trainables.settings.training_settings import TrainingSettings
from trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from trainables.trial.fold_run import FoldRun
from trainables.trial.setup import set_up


def settings_of(arguments: argparse.Namespace, backbone: str, folder: str) -> TrialSettings:
    return TrialSettings(
        dataset=DatasetSettings(
            name="glyphs",
            options={
                "classes": arguments.classes,
                "instances_per_class": arguments.instances,
                "size": arguments.size,
            },
        ),
        protocol=ProtocolSettings(val_fraction=0.2),
        folds=(0,),
        backbone=BackboneSettings(name=backbone),
        embedding_dim=arguments.dim,
        loss=arguments.loss,
        hyperparameters={},
        training=TrainingSettings(
            mode=arguments.mode,
            batch_size=arguments.batch_size,
            precision=arguments.precision,
            learning_rate=1e-6,
        ),
        seed=0,
        cache_folder=folder,
    )


def seconds_of(action: Callable[[], object], device: torch.device) -> float:
    """Of the processor on the CPU, of the clock on CUDA."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    clock = time.perf_counter if device.type == "cuda" else time.process_time
    started = clock()
    action()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return clock() - started


def line(arguments: argparse.Namespace, backbone: str, device: torch.device) -> str:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_of(arguments, backbone, folder)
        images = images_of(dataset_facts(settings.dataset), settings.protocol)
        run = FoldRun(set_up(settings), 0, device)
        epochs = [
            seconds_of(lambda epoch=epoch: run.run_epoch(epoch), device) / images.per_epoch
            for epoch in range(1, arguments.rounds + 2)
        ][1:]
        tested = seconds_of(run.test, device) / images.tested
    low, median, high = min(epochs), statistics.median(epochs), max(epochs)
    kind = "cpu" if device.type == "cpu" else "gpu"
    conditions = (backbone, str(arguments.size), arguments.mode, kind, arguments.precision, "1")
    figures = (f"{value:.3g}" for value in (low, median, high, tested))
    return ",".join((f"{datetime.now(UTC):%Y-%m-%d}", *conditions, *figures, "1"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("backbones", nargs="*", default=["conv_small"])
    parser.add_argument("--mode", choices=("fine_tune", "frozen_features"), default="fine_tune")
    parser.add_argument("--size", type=int, default=32, help="side, 16 to 128 pixels")
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--instances", type=int, default=8)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--precision", choices=("float32", "bf16"), default="float32")
    parser.add_argument("--loss", default="multi_similarity")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    print_header("benchmarks.seconds_per_image", arguments.device)
    for backbone in arguments.backbones:
        try:
            print(line(arguments, backbone, torch.device(arguments.device)), flush=True)
        except Collapsed:  # of some, random weights take more steps
            print(f"{backbone}: collapsed, not measured", flush=True)


if __name__ == "__main__":
    main()
