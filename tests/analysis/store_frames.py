"""The frames a reader of the results store gives, built by hand from a few runs."""

from dataclasses import dataclass, field

import polars as pl

QUERIES = 200

TRIAL_SCHEMA = {
    "trial_id": pl.String,
    "search": pl.String,
    "stage": pl.String,
    "config_hash": pl.String,
    "is_default": pl.Boolean,
    "is_winner": pl.Boolean,
    "block": pl.String,
    "dataset": pl.String,
    "backbone": pl.String,
    "embedding_dim": pl.Int32,
    "image_size": pl.Int32,
    "loss": pl.String,
    "protocol": pl.String,
    "split_protocol": pl.String,
    "train_on": pl.String,
    "repeat": pl.Int32,
    "num_folds": pl.Int32,
    "seed_index": pl.Int32,
    "fold": pl.Int32,
    "split_hash": pl.String,
    "protocol_hash": pl.String,
    "test_hash": pl.String,
    "settings": pl.String,
    "state": pl.String,
    "epoch_selected": pl.Int32,
    "val_recall_at_1": pl.Float64,
}
SCORE_SCHEMA = {
    "trial_id": pl.String,
    "fold": pl.Int32,
    "metric": pl.String,
    "k": pl.Int32,
    "value": pl.Float64,
    "hits": pl.Int64,
    "queries": pl.Int64,
}


@dataclass
class Store:
    """Collects trials; ``trials`` and ``test_scores`` are what the reader would give."""

    protocol: str = "fixed"
    num_folds: int = 1
    image_size: int | None = None
    settings: str = "{}"
    fresh_splits: bool = False
    rows: list[dict] = field(default_factory=list)
    scores: list[dict] = field(default_factory=list)

    def search(self, dim, loss, config, value, *, default=False, state="COMPLETE", repeat=0):
        self._trial(
            "search", dim, loss, config, repeat, 0, 0, is_default=default, state=state, val=value
        )

    def final(self, dim, loss, config, hits, *, default=False, winner=False, **place):
        """One final run; ``hits`` of 200 test queries, or None for a failed run."""
        self._tested("final", dim, loss, config, hits, default, winner, **place)

    def baseline(self, dim, hits, *, loss="untrained", **place):
        self._tested("baseline", dim, loss, "none", hits, False, False, **place)

    def features(self, hits):
        """Of the blocks of all dimensions."""
        self.baseline(None, hits, loss="features")

    def _tested(
        self,
        stage,
        dim,
        loss,
        config,
        hits,
        default,
        winner,
        *,
        seed=0,
        fold=0,
        repeat=0,
        val=None,
        epoch=None,
    ):
        trial_id = self._trial(
            stage,
            dim,
            loss,
            config,
            repeat,
            seed,
            fold,
            is_default=default,
            is_winner=winner,
            state="FAILED" if hits is None else "COMPLETE",
            val=val,
            epoch=epoch,
        )
        if hits is not None:
            for k, found in ((1, hits), (2, hits + 10)):
                self.scores.append(
                    {
                        "trial_id": trial_id,
                        "fold": fold,
                        "metric": "recall",
                        "k": k,
                        "value": found / QUERIES,
                        "hits": found,
                        "queries": QUERIES,
                    }
                )

    def _trial(
        self, stage, dim, loss, config, repeat, seed, fold, *, val, state, epoch=None, **flags
    ):
        size = "" if self.image_size is None else f"/{self.image_size}px"
        search = f"glyphs.net.{dim}{size}.{loss}.{self.protocol}.{repeat}"
        trial_id = f"{search}.{stage}.{config}.{seed}.{fold}"
        self.rows.append(
            {
                "trial_id": trial_id,
                "search": search,
                "stage": stage,
                "config_hash": config,
                "is_default": flags.get("is_default", False),
                "is_winner": flags.get("is_winner", False),
                "block": f"glyphs/net/{dim}{size}",
                "dataset": "glyphs",
                "backbone": "net",
                "embedding_dim": dim,
                "image_size": self.image_size,
                "loss": loss,
                "protocol": self.protocol,
                "split_protocol": self.protocol,
                "train_on": "part" if stage == "final" else None,
                "repeat": repeat,
                "num_folds": self.num_folds,
                "seed_index": seed,
                "fold": fold,
                "split_hash": f"{self.protocol}-{repeat if self.fresh_splits else 0}-{fold}",
                "protocol_hash": f"{self.protocol}-hash",
                "test_hash": "test-hash",
                "settings": self.settings,
                "state": state,
                "epoch_selected": epoch,
                "val_recall_at_1": val,
            }
        )
        return trial_id

    def change(self, index, **values):
        self.rows[index].update(values)

    @property
    def trials(self) -> pl.LazyFrame:
        return pl.LazyFrame(self.rows, schema=TRIAL_SCHEMA)

    @property
    def test_scores(self) -> pl.LazyFrame:
        return pl.LazyFrame(self.scores, schema=SCORE_SCHEMA)
