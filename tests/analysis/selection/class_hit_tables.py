"""Tables of class hits from arrays."""

import numpy as np
import polars as pl

from tests.analysis.protocol_studies import PLACE


def class_hits_of(hits_CEK, queries, **columns):
    """Hits of configs by epochs by classes; ``queries`` is one number, or one for each class."""
    config, epoch, class_id = np.indices(np.shape(hits_CEK)).reshape(3, -1)
    frame = pl.DataFrame(
        {
            "config": [f"c{c}" for c in config],
            "epoch": epoch,
            "class_id": class_id,
            "queries": np.broadcast_to(queries, np.shape(hits_CEK)[-1:])[class_id],
            "hits": np.asarray(hits_CEK).reshape(-1),
        }
    )
    values = {**PLACE, "repeat": 0, "seed": 0, "fold": None, **columns}
    return frame.with_columns(pl.lit(value).alias(name) for name, value in values.items())
