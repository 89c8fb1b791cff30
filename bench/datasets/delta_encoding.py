"""Writes Parquet files again with DuckDB, whose pages of version 2 have delta encodings, and prints what came of it as JSON.

Arguments: the folder to write to, the number of threads, then the files.
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


def required(path):
    """Columns that are declared as never NULL."""
    rows = duckdb.sql(f"SELECT name FROM parquet_schema('{path}') WHERE repetition_type = 'REQUIRED' AND type IS NOT NULL")
    return {name for (name,) in rows.fetchall()}


folder, threads, *files = sys.argv[1:]
seconds = 0.0
written = 0
digests = []
columns = {}
no_longer_required = set()
for number, source in enumerate(files):
    target = os.path.join(folder, f"{number}.parquet")
    started = time.monotonic()
    write(source, target, int(threads))
    seconds += time.monotonic() - started
    written += os.path.getsize(target)
    digests.append(digest(target))
    no_longer_required |= required(source) - required(target)
    sizes = duckdb.sql(f"SELECT path_in_schema, sum(total_compressed_size) FROM parquet_metadata('{target}') GROUP BY ALL")
    for name, size in sizes.fetchall():
        columns[name] = columns.get(name, 0) + int(size)
    os.remove(target)

print(
    json.dumps(
        {
            "version": duckdb.__version__,
            "seconds": seconds,
            "bytes": written,
            "digests": digests,
            "columns": columns,
            "no_longer_required": len(no_longer_required),
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
    )
)
