"""Prices of a release at fixed times, with polars.

    python load_polars.py RELEASE 1h
"""

import polars as pl

from release import arguments, files, report


def prices(folder: str, every: str) -> tuple[pl.DataFrame, str]:
    """The last price of every market at each multiple of `every`, only where it was observed.

    A price that may have changed unseen is left out; the second result says how many were.
    """
    ticks = pl.read_parquet(files(folder, "price_ticks"), columns=["received_at", "event", "market", "last"])
    ticks = ticks.sort("received_at", maintain_order=True)
    first, last = ticks["received_at"].min(), ticks["received_at"].max()
    begin = pl.Series([first]).dt.truncate(every)[0]
    times = pl.DataFrame({"at": pl.datetime_range(begin, last, every, eager=True, time_unit="us", time_zone="UTC")})
    times = times.filter(pl.col("at") >= first)
    asked = ticks.select("event", "market").unique().join(times, how="cross").sort("at")
    ticks = ticks.drop("event").with_columns(pl.col("received_at").cast(pl.Datetime("us", "UTC")))
    found = asked.join_asof(ticks, left_on="at", right_on="received_at", by="market", check_sortedness=False)
    found = found.drop_nulls("last")
    coverage = pl.read_parquet(files(folder, "coverage"))
    observed = coverage.filter(pl.col("table") == "price_ticks", pl.col("state") == "observed")
    kept = found.join(observed.select("event", "begins_at", "ends_at"), on="event").filter(
        pl.col("begins_at") <= pl.col("at"), pl.col("at") < pl.col("ends_at")
    )
    return kept.select("at", "event", "market", "last").sort("market", "at"), report(kept.height, found.height)


if __name__ == "__main__":
    frame, left_out = prices(*arguments(__doc__, 2))
    print(frame)
    print(left_out)
