"""Writes Parquet files again with DuckDB, whose pages of version 2 have delta encodings, and prints what came of it as JSON.

Arguments: the folder to write to, then the files. Everything is written twice, with two threads and with one.
"""

import hashlib
import json
import os
import resource
import sys
import time

import duckdb

OPTIONS = "FORMAT parquet, PARQUET_VERSION V2, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 131072"


def write(source, target, threads):
    with duckdb.connect(config={"threads": threads, "memory_limit": "1GB"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"COPY (SELECT * FROM read_parquet('{source}')) TO '{target}' ({OPTIONS})")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


folder, *files = sys.argv[1:]
seconds = 0.0
written = 0
different = 0
columns = {}
for number, source in enumerate(files):
    target = os.path.join(folder, f"{number}.parquet")
    again = os.path.join(folder, f"{number}-again.parquet")
    started = time.monotonic()
    write(source, target, 2)
    seconds += time.monotonic() - started
    write(source, again, 1)
    written += os.path.getsize(target)
    different += digest(target) != digest(again)
    sizes = duckdb.sql(f"SELECT path_in_schema, sum(total_compressed_size) FROM parquet_metadata('{target}') GROUP BY ALL")
    for name, size in sizes.fetchall():
        columns[name] = columns.get(name, 0) + int(size)
    os.remove(target)
    os.remove(again)

print(
    json.dumps(
        {
            "version": duckdb.__version__,
            "seconds": seconds,
            "bytes": written,
            "different": different,
            "columns": columns,
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
    )
)
