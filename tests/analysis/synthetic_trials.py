"""The rows of synthetic trials with known truth.

Test recall = level of the block + strength of the loss + what the configuration adds + noise of
the seed, so that who should win, and by how much tuning helps, is known beforehand.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
from PIL import Image, ImageDraw

from podium.orchestrator.study.study import (
    Block,
    FinalSettings,
    ResourceSettings,
    Search,
    SearchSettings,
    StudyLoss,
    StudyTraining,
)
from podium.orchestrator.study.study import Study as StudyFile
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
)

KS = (1, 2, 4, 8)
EPOCHS = 6
CLASSES = 20
QUERIES = 15  # a class
STARTED_AT = datetime(2026, 1, 5, 8, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What the study is made of; recalls are shares of 1."""

    strengths: Mapping[str, float] = field(
        default_factory=lambda: {
            "contrastive": 0.00,
            "multi_similarity": 0.03,
            "proxy_anchor": 0.06,
        }
    )
    tuning_gains: Mapping[str, float] = field(
        default_factory=lambda: {
            "contrastive": 0.04,
            "multi_similarity": 0.02,
            "proxy_anchor": 0.08,
        }
    )
    scripts: tuple[str, ...] = ("armenian", "cyrillic", "greek", "latin")
    embedding_dims: tuple[int, ...] = (16, 32)
    search_trials: int = 10
    seeds: int = 3
    noise: float = 0.004
    untrained: float = 0.35
    features: float = 0.30
    failed_finals: tuple[tuple[str, str], ...] = ()  # (block, loss): all seeds of the winner
    class_prefix: str = "letter "
    dataset: str = "glyphs"
    has_without_k: bool = False  # whether tested trials have NMI and its like too
    has_diagnostics: bool = False  # whether epochs have gradient norms and effective ranks
    tests_searches: bool = False  # whether trials of searches are tested, as with record_all

    @property
    def blocks(self) -> list[Block]:
        return [
            Block(dataset=f"{self.dataset}-{script}", backbone="conv_small", embedding_dim=dim)
            for script in self.scripts
            for dim in self.embedding_dims
        ]

    @property
    def study_file(self) -> StudyFile:
        return StudyFile(
            name="synthetic",
            datasets=tuple(
                DatasetSettings(name=self.dataset, options={"script": s}) for s in self.scripts
            ),
            backbones=(BackboneSettings(name="conv_small"),),
            embedding_dims=self.embedding_dims,
            losses=tuple(map(StudyLoss, self.strengths)),
            protocols=(ProtocolSettings(),),
            search=SearchSettings(trials=self.search_trials),
            final=FinalSettings(seeds=self.seeds),
            training=StudyTraining(overrides={"epochs": EPOCHS}),
            resources=ResourceSettings(),
            ks=KS,
        )

    def level(self, block: Block) -> float:
        own = replace(block, embedding_dim=block.embedding_dim or self.embedding_dims[0])
        return 0.50 + 0.03 * self.blocks.index(own)


SMALL = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2)
"""Two blocks x three losses, for the many tests that look at one thing."""


def trial_row(
    truth: Truth,
    search: Search,
    *,
    stage: str,
    index: int,
    config: str,
    state: str,
    epochs: int,
    added: float,
    seed_index: int,
    is_default: bool = False,
    is_winner: bool = False,
    selected_from: int | None = None,
) -> dict[str, object]:
    block = search.block
    trial_id = f"{search.id}.{stage}.{config}.{seed_index}"
    generator = np.random.default_rng(list(trial_id.encode()))
    recall = truth.level(block) + truth.strengths.get(search.loss, 0.0) + added
    recall += float(generator.normal(0, truth.noise))
    is_tested = (stage != "search" or truth.tests_searches) and state == "COMPLETE"
    is_final = is_tested and stage != "search"
    reached = [0] if epochs == 0 else list(range(1, epochs + 1))
    has_scores = state != "FAILED"
    has_val = has_scores and search.loss != "features"
    val = {epoch: _by_k(recall + 0.1 - 0.15 / (epoch + 1)) for epoch in reached}
    selected = reached[-1]
    started_at = STARTED_AT + timedelta(seconds=7 * index)
    return {
        "study": "synthetic",
        "trial_id": trial_id,
        "search": search.id,
        "stage": stage,
        "index": index,
        "config_hash": f"{search.loss}.{config}",
        "is_default": is_default,
        "is_winner": is_winner,
        "selected_from": selected_from,
        "block": block.label,
        "dataset": block.dataset,
        "backbone": block.backbone,
        "weights": "random",
        "embedding_dim": block.embedding_dim,
        "image_size": block.image_size,
        "loss": search.loss,
        "protocol": search.protocol,
        "split_protocol": "fixed",
        "train_on": "part" if stage == "final" else None,
        "repeat": search.repeat,
        "fold": 0,
        "num_folds": 1,
        "seed": 1000 + seed_index if stage != "search" else 7,
        "seed_index": seed_index,
        "leaks": False,
        "same_as": None,
        "split_hash": f"split-{block.dataset}",
        "protocol_hash": f"protocol-{block.dataset}",
        "test_hash": f"test-{block.dataset}",
        "data_hash": f"data-{block.dataset}",
        "settings": "{}",
        "hp.margin": 0.1 * index,
        "state": state,
        "cause": "diverged" if state == "FAILED" else None,
        "message": "loss is nan at epoch 1" if state == "FAILED" else None,
        "traceback": None,
        "log": None,
        "rung": 1 if state == "PRUNED" else None,
        "epochs_planned": EPOCHS,
        "epochs_run": epochs,
        "epoch_selected": selected if has_scores else None,
        "selection_rule": "best_val_epoch",
        "test_readings": int(is_tested),
        "objective": val[selected][1] if has_val else None,
        **{f"val_recall_at_{k}": val[selected][k] if has_val else None for k in KS},
        "seconds": 1.5 * max(1, epochs),
        "test_seconds": 0.5 * is_tested,
        "peak_memory_mb": 180.0,
        "attempts": 1,
        "node": "node-a",
        "device": "cpu",
        "executor": "single",
        "started_at": started_at,
        "ended_at": started_at + timedelta(seconds=1.5 * max(1, epochs)),
        "podium_version": "0.1.0",
        "torch_version": "2.15.0",
        "python_version": "3.11.7",
        "git_commit": "0123abc",
        "scores": [
            *(s for e in reached for s in _scores(e, "val", val[e])),
            *(s for e in reached for s in _diagnostics(e, recall) if truth.has_diagnostics),
        ]
        if has_val
        else [],
        "class_hits": [
            hits for epoch in reached for hits in _class_hits(epoch, "val", 1, val[epoch][1])
        ]
        if has_val
        else [],
        "test_scores": [
            *_scores(selected, "test", _by_k(recall)),
            *(_without_k(selected, recall) if truth.has_without_k else ()),
        ]
        if is_tested
        else [],
        "test_class_hits": [
            hits for k in KS for hits in _class_hits(selected, "test", k, _by_k(recall)[k])
        ]
        if is_tested
        else [],
        "test_retrievals": _retrievals(truth, recall) if is_final and seed_index < 2 else [],
    }


def _by_k(recall: float) -> dict[int, float]:
    """Recalls on the grid of whole hits, growing with k."""
    total = CLASSES * QUERIES
    first = min(max(recall, 0.0), 0.98)
    return {k: round((1 - (1 - first) / k**0.7) * total) / total for k in KS}


def _scores(epoch: int, role: str, recalls: Mapping[int, float]) -> list[dict[str, object]]:
    total = CLASSES * QUERIES
    return [
        {
            "fold": 0,
            "epoch": epoch,
            "role": role,
            "metric": "recall",
            "k": k,
            "value": value,
            "hits": round(value * total),
            "queries": total,
            "gallery": total - 1,
        }
        for k, value in recalls.items()
    ]


def without_k(recall: float) -> dict[str, float]:
    """What a trial of that recall has of metrics without K: NMI falls where recall rises."""
    return {
        "r_precision": 0.5 * recall,
        "map_at_r": 0.25 * recall,
        "nmi": 1.0 - 0.5 * recall,
        "f1": 0.75 * recall,
    }


def _without_k(epoch: int, recall: float) -> list[dict[str, object]]:
    total = CLASSES * QUERIES
    shared = {"fold": 0, "epoch": epoch, "role": "test", "k": None, "hits": None}
    return [
        {**shared, "metric": metric, "value": value, "queries": total, "gallery": total}
        for metric, value in without_k(recall).items()
    ]


def _diagnostics(epoch: int, recall: float) -> list[dict[str, object]]:
    shared = {"fold": 0, "epoch": epoch, "k": None, "hits": None, "queries": None, "gallery": None}
    return [
        {**shared, "role": "train", "metric": "gradient_norm", "value": recall / (epoch + 1)},
        {**shared, "role": "val", "metric": "effective_rank", "value": 10 * recall + epoch},
    ]


def _class_hits(epoch: int, role: str, k: int, recall: float) -> list[dict[str, object]]:
    """Hits spread over the classes, the first classes being the easiest."""
    left = round(recall * CLASSES * QUERIES)
    hits = []
    for class_id in range(CLASSES):
        found = min(QUERIES, -(-left // (CLASSES - class_id)) + (CLASSES // 2 - class_id) // 4)
        found = max(0, min(found, left)) if class_id < CLASSES - 1 else min(QUERIES, left)
        left -= found
        hits.append(
            {
                "fold": 0,
                "epoch": epoch,
                "role": role,
                "k": k,
                "class_id": class_id,
                "queries": QUERIES,
                "hits": found,
            }
        )
    return hits


def _retrievals(truth: Truth, recall: float) -> list[dict[str, object]]:
    """Four queries with five neighbours; the better the recall, the fewer errors."""
    return [
        {
            "fold": 0,
            "class_name": f"{truth.class_prefix}{query}",
            "png": picture(query, 0),
            "neighbours": [
                {
                    "class_name": f"{truth.class_prefix}{query + (0 if is_correct else place)}",
                    "is_correct": is_correct,
                    "similarity": 0.95 - 0.05 * place,
                    "png": picture(query + (0 if is_correct else place), place),
                }
                for place in range(1, 6)
                for is_correct in [(query * 7 + place * 3) % 10 < 14 * recall - 3]
            ],
        }
        for query in range(4)
    ]


@cache
def picture(letter: int, variant: int) -> bytes:
    """A 32 x 32 grey PNG of one letter, shifted a little by variant."""
    image = Image.new("L", (32, 32), 0)
    draw = ImageDraw.Draw(image)
    draw.text((8 + variant, 6), chr(ord("A") + letter), fill=255, font_size=20)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
