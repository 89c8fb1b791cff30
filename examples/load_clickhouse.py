"""Loads the tables of a release into a database of any ClickHouse server, with clickhouse-connect.

    CLICKHOUSE_PASSWORD=... python load_clickhouse.py RELEASE DATABASE [HOST [PORT [USER]]]

The columns have the types of the manifest. For an instance with Chancery's views, use `chancery import` instead.
"""

import os
from pathlib import Path

import clickhouse_connect
from clickhouse_connect.driver.client import Client

from release import arguments, files, manifest, schema


def load(folder: str, client: Client, database: str) -> dict[str, int]:
    """Creates the database and its tables, and returns the number of rows of each."""
    client.command(f"CREATE DATABASE {database}")
    rows = {}
    for table in (one["name"] for one in manifest(folder)["tables"]):
        described = schema(folder, table)
        columns = ", ".join(f"`{column['name']}` {column['type']}" for column in described["columns"])
        order = ", ".join(f"`{name}`" for name in described["sort_order"])
        client.command(
            f"CREATE TABLE {database}.{table} ({columns}) ENGINE = MergeTree ORDER BY ({order}) SETTINGS allow_nullable_key = 1"
        )
        for path in files(folder, table):
            client.raw_insert(f"{database}.{table}", insert_block=Path(path).read_bytes(), fmt="Parquet")
        rows[table] = client.command(f"SELECT count() FROM {database}.{table}")
    return rows


if __name__ == "__main__":
    given = arguments(__doc__, 2)
    release, name, host, port, user = [*given, *["localhost", "8123", "default"][len(given) - 2 :]]
    password = os.environ.get("CLICKHOUSE_PASSWORD", "")
    with clickhouse_connect.get_client(host=host, port=int(port), username=user, password=password) as connection:
        for loaded, count in load(release, connection, name).items():
            print(f"{loaded}: {count:,} rows")
