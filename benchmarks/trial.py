"""Where the time of one trial goes: set-up, training, validation, checkpoints, test.

    python -m benchmarks.trial --loss multi_similarity --script latin --classes 160 --epochs 8

The trial runs phase by phase, without a scheduler or a store, on one thread. The data set is
loaded before the clock starts, as a worker has it after its first trial.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

import torch

from benchmarks.interleaved import print_header
from trainables.dataset_interface.load_dataset import load_dataset
from trainables.reproducibility import reproducible
from trainables.settings.training_settings import TrainingSettings
from trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from trainables.trial.checkpoint import Checkpoint, encode
from trainables.trial.fold_run import FoldRun, epochs_of
from trainables.trial.setup import set_up

Result = TypeVar("Result")


class Clock:
    """Adds up wall and CPU seconds by phase."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.wall: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)

    def time(self, phase: str, action: Callable[[], Result]) -> Result:
        """Do it and book its time under ``phase``."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = action()
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        self.wall[phase] += time.perf_counter() - wall
        self.cpu[phase] += time.process_time() - cpu
        return result


def run_once(settings: TrialSettings, device: torch.device) -> tuple[Clock, list[float]]:
    """One trial; the clock and the validation and test Recall@1."""
    clock = Clock(device)
    setup = clock.time("set-up", lambda: set_up(settings))
    run = clock.time("set-up", lambda: FoldRun(setup, 0, device))
    recall = 0.0
    with reproducible(settings.seed, settings.num_threads):
        for epoch in epochs_of(setup):
            clock.time("train", lambda epoch=epoch: run.train(epoch))
            evaluation = clock.time("validate", lambda epoch=epoch: run.validate(epoch))
            recall = max(recall, evaluation.scores[0].value)
            clock.time("checkpoint", lambda: saved(run, setup.identity))
    test = clock.time("test", run.test)
    return clock, [recall, test.scores[0].value]


def saved(run: FoldRun, identity: str) -> bytes:
    return encode(Checkpoint(identity=identity, reports=(), fold_state=run.state_dict()))


def settings_of(arguments: argparse.Namespace) -> TrialSettings:
    return TrialSettings(
        dataset=DatasetSettings(
            name="glyphs",
            options={
                "script": arguments.script,
                "classes": arguments.classes,
                "instances_per_class": arguments.instances,
            },
        ),
        protocol=ProtocolSettings(val_fraction=arguments.val_fraction),
        folds=(0,),
        backbone=BackboneSettings(name="conv_small"),
        embedding_dim=arguments.dim,
        loss=arguments.loss,
        hyperparameters={},
        training=TrainingSettings(
            epochs=arguments.epochs,
            batch_size=arguments.batch_size,
            learning_rate=arguments.learning_rate,
        ),
        seed=0,
        evaluate_test=True,
        cache_folder=arguments.cache_folder,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loss", default="contrastive")
    parser.add_argument("--script", default="latin")
    parser.add_argument("--classes", type=int, default=160)
    parser.add_argument("--instances", type=int, default=16)
    parser.add_argument("--val-fraction", type=float, default=0.25)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cache-folder", help="of rendered images; default: the user's cache")
    arguments = parser.parse_args()

    settings, device = settings_of(arguments), torch.device(arguments.device)
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    run_once(settings, device)  # libraries warm up
    clocks, recalls = zip(
        *(run_once(settings, device) for _ in range(arguments.repeats)), strict=True
    )
    torch.set_num_threads(settings.num_threads)
    print_header("benchmarks.trial", arguments.device)
    print(
        f"{len(dataset.train_classes)} + {len(dataset.test_classes)} classes, "
        f"{len(dataset.labels)} images; median of {arguments.repeats} trials"
    )
    print(f"{'phase':<11}{'wall ms':>9}{'CPU ms':>9}")
    for phase in (*clocks[0].wall, "all"):
        wall = statistics.median(seconds(clock.wall, phase) for clock in clocks)
        cpu = statistics.median(seconds(clock.cpu, phase) for clock in clocks)
        print(f"{phase:<11}{wall * 1000:>9.1f}{cpu * 1000:>9.1f}")
    print("Recall@1: validation {:.3f}, test {:.3f}".format(*recalls[0]))


def seconds(by_phase: dict[str, float], phase: str) -> float:
    return sum(by_phase.values()) if phase == "all" else by_phase[phase]


if __name__ == "__main__":
    main()
