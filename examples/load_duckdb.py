"""Prices of a release at fixed times, with DuckDB, as an Arrow table.

    python load_duckdb.py RELEASE '1 hour'
"""

import duckdb
import pyarrow

from release import arguments, files, report

QUERY = """
WITH
    -- Of several ticks of one time, the last one in the order of the file counts.
    ticks AS (
        SELECT received_at, event, market, arg_max(last, file_row_number) AS last
        FROM read_parquet($ticks, file_row_number = true) GROUP BY ALL
    ),
    ends AS (SELECT min(received_at) AS first, max(received_at) AS last FROM ticks),
    times AS (
        SELECT "at" FROM (
            SELECT unnest(generate_series(time_bucket($every::INTERVAL, first, to_timestamp(0)), last, $every::INTERVAL)) AS "at", first
            FROM ends
        ) WHERE "at" >= first
    ),
    asked AS (SELECT "at", event, market FROM (SELECT DISTINCT event, market FROM ticks) CROSS JOIN times),
    found AS (
        SELECT asked."at", asked.event, asked.market, ticks.last
        FROM asked ASOF JOIN ticks ON asked.market = ticks.market AND asked."at" >= ticks.received_at
    ),
    observed AS (
        SELECT event, begins_at, ends_at FROM read_parquet($coverage) WHERE "table" = 'price_ticks' AND state = 'observed'
    )
SELECT "at", event, market, last, EXISTS (
    SELECT 1 FROM observed WHERE observed.event = found.event AND begins_at <= "at" AND "at" < ends_at
) AS is_observed
FROM found ORDER BY market, "at"
"""


def prices(folder: str, every: str) -> tuple[pyarrow.Table, str]:
    """The last price of every market at each multiple of `every`, only where it was observed.

    A price that may have changed unseen is left out; the second result says how many were.
    """
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    parameters = {"ticks": files(folder, "price_ticks"), "coverage": files(folder, "coverage"), "every": every}
    connection.execute(f"CREATE TABLE prices AS {QUERY}", parameters)
    kept, asked = connection.execute("SELECT count(*) FILTER (is_observed), count(*) FROM prices").fetchone()
    table = connection.execute('SELECT "at", event, market, last FROM prices WHERE is_observed').arrow()
    return table, report(kept, asked)


if __name__ == "__main__":
    table, left_out = prices(*arguments(__doc__, 2))
    print(table.slice(0, 20).to_pandas())
    print(left_out)
