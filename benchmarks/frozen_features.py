"""What an epoch costs that trains the head alone, beside one that trains the whole network.

    python -m benchmarks.frozen_features --backbone resnet18 --size 96

Both trials see the same images: glyphs, as RGB networks take grey ones. An epoch is trained and
validated. Features are computed once for all trials of a node; how many epochs of fine-tuning that
costs is told too, and what a whole trial then takes.
"""

import argparse
import statistics
import tempfile
import time

import torch

from benchmarks.interleaved import interleaved_seconds, median_ratio, print_header
from trainables.dataset_interface.load_dataset import load_dataset
from trainables.settings.training_settings import TrainingSettings
from trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from trainables.trial.fold_run import FoldRun
from trainables.trial.setup import set_up

FROZEN = "frozen_features"
WHOLE = "fine_tune"


def settings_of(arguments: argparse.Namespace, mode: str, cache_folder: str) -> TrialSettings:
    options = {
        "classes": arguments.classes,
        "instances_per_class": arguments.instances,
        "size": arguments.size,
    }
    return TrialSettings(
        dataset=DatasetSettings(name="glyphs", options=options),
        protocol=ProtocolSettings(val_fraction=0.2),
        folds=(0,),
        backbone=BackboneSettings(name=arguments.backbone, weights=arguments.weights),
        embedding_dim=arguments.dim,
        loss=arguments.loss,
        hyperparameters={},
        training=TrainingSettings(mode=mode, batch_size=arguments.batch_size),
        seed=0,
        num_threads=arguments.threads,
        cache_folder=cache_folder,
    )


def started(settings: TrialSettings, device: torch.device) -> tuple[FoldRun, float]:
    """A fold that is ready to train, and the seconds until it was."""
    setup = set_up(settings)
    before = time.perf_counter()
    run = FoldRun(setup, 0, device)
    return run, time.perf_counter() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backbone", default="resnet18")
    parser.add_argument("--weights", default="random")
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--classes", type=int, default=200)
    parser.add_argument("--instances", type=int, default=8)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--loss", default="multi_similarity")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)

    with tempfile.TemporaryDirectory() as folder:
        of_frozen, of_whole = (settings_of(arguments, mode, folder) for mode in (FROZEN, WHOLE))
        dataset = load_dataset(of_frozen.dataset, folder)
        whole, _ = started(of_whole, device)
        _, first_s = started(of_frozen, device)
        frozen, again_s = started(of_frozen, device)
        ways = {FROZEN: lambda: frozen.run_epoch(1), WHOLE: lambda: whole.run_epoch(1)}
        timings = interleaved_seconds(ways, rounds=arguments.rounds, device=arguments.device)

    torch.set_num_threads(arguments.threads)
    print_header("benchmarks.frozen_features", arguments.device)
    print(
        f"{arguments.backbone} at {arguments.size} px, {len(dataset.labels) // 2} images of "
        f"training classes, a fifth of the classes for validation, batches of "
        f"{arguments.batch_size}; median of {arguments.rounds} epochs"
    )
    seconds = {way: statistics.median(found) for way, found in timings.items()}
    ratio = median_ratio(timings, WHOLE, FROZEN)
    print(f"{'epoch, whole network':<40}{seconds[WHOLE]:>10.3f} s")
    print(f"{'epoch, head alone':<40}{seconds[FROZEN]:>10.4f} s")
    print(f"{'ratio':<40}{ratio:>10,.0f}")
    print(f"{'features, once per node':<40}{first_s - again_s:>10.3f} s")
    print(f"{'start of any other trial':<40}{again_s:>10.4f} s")
    epochs = (first_s - again_s) / seconds[WHOLE]
    print(f"{'features, in epochs of the whole network':<40}{epochs:>10.2f}")


if __name__ == "__main__":
    main()
