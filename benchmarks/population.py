"""What a trial costs as a member of a population, beside the same trial alone and a plain loop.

    python -m benchmarks.population --loss proxy_anchor --members 8 64
    python -m benchmarks.population --every-loss --members 64
    python -m benchmarks.population --equality --searches 40

On a GPU, where there is one, seconds of the clock. Else one thread and processor seconds: a worker
slot has one, whatever runs in it, so the ratio is that of trials per second with all slots busy.
The plain loop trains the same head on the same batches with the loss of pytorch-metric-learning
and torch's AdamW, and validates nothing. Equality runs one study twice, trial by trial and as
populations, with configs that no result changes.
"""

import argparse
import csv
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import torch

import podium
from benchmarks.interleaved import print_header
from benchmarks.twins import twin_module, twin_names
from podium.orchestrator.results.trial_files.reader import Reader
from podium.trainables.device import trial_device
from podium.trainables.population.run_population import Population
from podium.trainables.registry import load, names
from podium.trainables.settings.population_agreement import why_alone
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from podium.trainables.trial.run_trial import run_trial

NOT_HERE = {"label_distances", "several_views", "class_text"}  # of vectors with classes alone
CLASSES, IMAGES = 100, 30  # half of the classes are for testing, a fifth of the others validates

STUDY = """\
study: {name}
datasets: [{{name: glyphs, script: greek}}, {{name: glyphs, script: latin}}]
backbones: [conv_small]
embedding_dims: [32]
losses: [arcface, contrastive, margin, multi_similarity, n_pair, proxy_anchor, proxy_nca_pp,
  soft_triple, sup_con, triplet]
protocol: {{kind: fixed, val_fraction: 0.3}}
search: {{trials: 12, sampler: random, early_stopping: none, repeats: {repeats},
  population: {population}}}
final: {{seeds: 1}}
training: {{mode: frozen_features, epochs: 10}}
storage: {storage}
"""


def write_features(folder: Path, num_features: int) -> None:
    random = np.random.default_rng(0)
    centres = random.standard_normal((CLASSES, num_features)).repeat(IMAGES, 0)
    noise = random.standard_normal((CLASSES * IMAGES, num_features))
    np.save(folder / "features.npy", (0.5 * centres + noise).astype(np.float32))
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("class", "role", "image"))
        for number in range(CLASSES):
            role = "train" if number < CLASSES // 2 else "test"
            writer.writerows([(f"class {number:03}", role, "")] * IMAGES)


def trials(arguments: argparse.Namespace, folder: Path, num: int) -> dict[str, TrialSettings]:
    """Trials of one search that differ in their learning rates."""
    return {
        str(number): TrialSettings(
            dataset=DatasetSettings(name="features", options={"root": str(folder)}),
            protocol=ProtocolSettings(val_fraction=0.2),
            folds=(0,),
            backbone=BackboneSettings(name="identity"),
            embedding_dim=arguments.dim,
            loss=arguments.loss,
            hyperparameters={"learning_rate": 1e-4 * (1.0 + number / num)},
            training=TrainingSettings(epochs=arguments.epochs, batch_size=arguments.batch_size),
            seed=0,
            cache_folder=str(folder),
        )
        for number in range(num)
    }


def clock() -> float:
    return time.perf_counter() if trial_device().type == "cuda" else time.process_time()


def alone_seconds(settings: TrialSettings) -> float:
    started = clock()
    list(run_trial(settings))
    return clock() - started


def member_seconds(members: dict[str, TrialSettings]) -> float:
    """Of one member, the start of the population included."""
    started = clock()
    population = Population(members)
    while population.members:
        population.step()
    return (clock() - started) / len(members)


def num_steps(arguments: argparse.Namespace) -> int:
    """Of a training: four fifths of half of the images train."""
    return arguments.epochs * (CLASSES * IMAGES * 2 // 5 // arguments.batch_size)


def loop_seconds(arguments: argparse.Namespace, folder: Path) -> float:
    """A head, the loss of pytorch-metric-learning and AdamW, for as many steps."""
    device = trial_device()
    vectors_NF = torch.from_numpy(np.load(folder / "features.npy"))[: CLASSES // 2 * IMAGES]
    vectors_NF = vectors_NF.to(device)
    labels_N = torch.arange(CLASSES // 2, device=device).repeat_interleave(IMAGES)
    head = torch.nn.Linear(arguments.features, arguments.dim).to(device)
    ours = load("losses", arguments.loss)()
    ours.prepare(CLASSES // 2, arguments.dim, torch.Generator().manual_seed(0))
    loss = twin_module(arguments.loss).twin(ours, CLASSES // 2, arguments.dim).to(device)
    optimiser = torch.optim.AdamW([*head.parameters(), *ours.parameters()], fused=True)
    started = clock()
    for _ in range(num_steps(arguments)):
        batch_B = torch.randint(len(labels_N), (arguments.batch_size,), device=device)
        optimiser.zero_grad(set_to_none=True)
        loss(head(vectors_NF[batch_B]), labels_N[batch_B]).backward()
        optimiser.step()
    assert head.weight.isfinite().all()  # waits for a GPU
    return clock() - started


def print_speed(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    print_header("benchmarks.population", trial_device().type)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_features(folder, arguments.features)
        of_one = trials(arguments, folder, 1)
        alone_seconds(of_one["0"])  # caches, and what is loaded once
        rounds = range(arguments.rounds)
        alone = statistics.median(alone_seconds(of_one["0"]) for _ in rounds)
        print(f"{arguments.loss}, {arguments.features} features, {arguments.dim} dimensions,")
        print(f"batches of {arguments.batch_size}, {arguments.epochs} epochs, seconds\n")
        print(f"{'a trial alone':<34}{alone:>10.3f}")
        if arguments.loss in twin_names():
            plain = statistics.median(loop_seconds(arguments, folder) for _ in rounds)
            print(f"{'pytorch-metric-learning, a loop':<34}{plain:>10.3f}{alone / plain:>8.2f} x")
        for num in arguments.members:
            member = statistics.median(
                member_seconds(trials(arguments, folder, num)) for _ in rounds
            )
            print(f"{f'a member of {num}':<34}{member:>10.3f}{alone / member:>8.2f} x")


def print_every_loss(arguments: argparse.Namespace) -> None:
    """What a member costs beside a trial alone, for every loss that can be mapped."""
    torch.set_num_threads(1)
    print_header("benchmarks.population", trial_device().type)
    (size,) = arguments.members
    print(f"{'milliseconds of a step':<28}{'alone':>8}{f'of {size}':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_features(folder, arguments.features)
        for loss in names("losses"):
            arguments.loss = loss
            members = trials(arguments, folder, size)
            if why_alone(members["0"]) or load("losses", loss).needs & NOT_HERE:
                continue
            alone_seconds(members["0"])  # caches, and what is loaded once
            rounds = range(arguments.rounds)
            alone = statistics.median(alone_seconds(members["0"]) for _ in rounds)
            member = statistics.median(member_seconds(members) for _ in rounds)
            step = 1e3 / num_steps(arguments)
            print(f"{loss:<28}{alone * step:>8.2f}{member * step:>8.2f}{alone / member:>7.2f} x")


def searched(storage: Path, *, repeats: int, population: int) -> pl.DataFrame:
    name = f"population-of-{population}"
    file = storage / f"{name}.yaml"
    file.write_text(
        STUDY.format(name=name, storage=storage, repeats=repeats, population=population),
        encoding="utf-8",
    )
    podium.load(file).run(local=True)
    found = Reader(storage / name).trials().collect()
    return found.filter(pl.col("stage") == "search").select("trial_id", "search", "objective")


def print_equality(arguments: argparse.Namespace) -> None:
    print_header("benchmarks.population", trial_device().type)
    repeats = max(1, arguments.searches // 20)  # ten losses on two data sets
    with tempfile.TemporaryDirectory() as name:
        alone, together = (
            searched(Path(name), repeats=repeats, population=size) for size in (1, 12)
        )
    both = alone.join(together, on="trial_id", suffix="_together", validate="1:1")
    off = (both["objective"] - both["objective_together"]).abs() * 100.0
    winners = both.group_by("search").agg(
        pl.col("trial_id").sort_by("objective", "trial_id").last().alias("alone"),
        pl.col("trial_id").sort_by("objective_together", "trial_id").last().alias("together"),
    )
    same = (winners["alone"] == winners["together"]).mean()
    print(f"{len(both)} trials of {len(winners)} searches")
    print(f"validation Recall@1 off by at most 0.1 points: {(off <= 0.1).mean():.1%}")
    print(f"most points off: {off.max():.2f}")
    print(f"searches with the same winner: {same:.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loss", default="proxy_anchor")
    parser.add_argument("--features", type=int, default=512)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--members", type=int, nargs="+", default=[1, 8, 64, 256])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every-loss", action="store_true")
    parser.add_argument("--equality", action="store_true")
    parser.add_argument("--searches", type=int, default=40)
    arguments = parser.parse_args()
    if arguments.equality:
        print_equality(arguments)
    elif arguments.every_loss:
        print_every_loss(arguments)
    else:
        print_speed(arguments)


if __name__ == "__main__":
    main()
