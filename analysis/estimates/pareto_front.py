"""Which points are on the Pareto front of two quantities, both better if smaller."""

import polars as pl


def on_front(frame: pl.DataFrame, cost: pl.Expr, regret: pl.Expr) -> pl.Series:
    """Whether no other row costs and regrets as little, and one of them less.

    Rows that equal each other are on the front together. A row whose cost or regret is missing is
    not comparable: null, and it dominates nothing.

    Args:
        frame: the rows.
        cost: cost of each row.
        regret: regret of each row. Regrets are estimates: a front of few searches is no more
            certain than their intervals.
    """
    points = frame.select(
        cost.cast(pl.Float64).fill_nan(None).alias("cost"),
        regret.cast(pl.Float64).fill_nan(None).alias("regret"),
    )
    known = points.drop_nulls().unique().sort("cost", "regret")
    least_before = pl.col("regret").cum_min().shift()
    front = known.with_columns(
        (pl.col("regret") < least_before).fill_null(value=True).alias("on_front")
    )
    return points.join(front, on=points.columns, how="left", maintain_order="left")["on_front"]
