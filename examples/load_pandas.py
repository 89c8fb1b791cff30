"""Prices of a release at fixed times, with pandas 2 or 3 and pyarrow.

    python load_pandas.py RELEASE 1h
"""

import pandas as pd

from release import arguments, files, report


def read(folder: str, table: str, columns: list[str]) -> pd.DataFrame:
    """The rows of a table, all days."""
    days = [pd.read_parquet(path, columns=columns) for path in files(folder, table)]
    return pd.concat(days, ignore_index=True) if days else pd.DataFrame(columns=columns)


def resolutions(folder: str) -> pd.DataFrame:
    """How each market was resolved, and when that was known.

    A market that moves, and has another final chance on a later day, has several rows: the last one counts.
    """
    columns = ["market", "event", "name", "resolution", "known_at"]
    rows = read(folder, "resolutions", columns).sort_values("known_at", kind="stable")
    return rows.drop_duplicates("market", keep="last", ignore_index=True)


def prices(folder: str, every: str) -> pd.DataFrame:
    """The last price of every market at each multiple of `every`, only where it was observed.

    A price that may have changed unseen is left out; `attrs["left_out"]` says how many were.
    """
    ticks = read(folder, "price_ticks", ["received_at", "event", "market", "last"]).sort_values("received_at", kind="stable")
    times = pd.date_range(ticks["received_at"].min().ceil(every), ticks["received_at"].max().floor(every), freq=every)
    markets = ticks[["event", "market"]].drop_duplicates()
    asked = markets.merge(pd.DataFrame({"at": times.astype(ticks["received_at"].dtype)}), how="cross").sort_values("at")
    found = pd.merge_asof(asked, ticks.drop(columns="event"), left_on="at", right_on="received_at", by="market")
    found = found.dropna(subset=["last"])
    coverage = read(folder, "coverage", ["table", "event", "market", "begins_at", "ends_at", "state"])
    observed = coverage[(coverage["table"] == "price_ticks") & (coverage["state"] == "observed")]
    pairs = found.merge(observed[["event", "begins_at", "ends_at"]], on="event")
    kept = pairs[(pairs["begins_at"] <= pairs["at"]) & (pairs["at"] < pairs["ends_at"])]
    result = kept[["at", "event", "market", "last"]].sort_values(["market", "at"], ignore_index=True)
    result.attrs["left_out"] = report(len(result), len(found))
    return result


if __name__ == "__main__":
    frame = prices(*arguments(__doc__, 2))
    print(frame.to_string(max_rows=20))
    print(frame.attrs["left_out"])
