"""Computes the content_sha256 of a file of a release again, from its rows alone.

    python content_digest.py RELEASE price_ticks/2026-01-05.parquet

Each row is written as ClickHouse's RowBinary: strings with their length, numbers little-endian, a byte before a nullable
value, DateTime64 as Int64 microseconds since 1970-01-01 UTC, Decimal as its unscaled integer.
"""

import hashlib
import re
import struct
import sys
from pathlib import Path
from typing import Callable

import pyarrow as pa
import pyarrow.parquet as pq

from release import arguments, manifest, schema

Encode = Callable[[object], bytes]
NUMBERS = {"UInt8": "<B", "UInt16": "<H", "UInt32": "<I", "UInt64": "<Q", "Int8": "<b", "Int16": "<h", "Int32": "<i",
           "Int64": "<q", "Float32": "<f", "Float64": "<d", "Bool": "<?"}  # fmt: skip


def varint(number: int) -> bytes:
    """An unsigned LEB128 number."""
    encoded = bytearray()
    while number > 127:
        encoded.append(number % 128 | 128)
        number //= 128
    return bytes([*encoded, number])


def text(value: object) -> bytes:
    content = value.encode() if isinstance(value, str) else bytes(value)
    return varint(len(content)) + content


def microseconds(value: object) -> bytes:
    return struct.pack("<q", value)


def encoder(kind: str) -> Encode:
    """How a value of a ClickHouse type is written. Times are integers, in microseconds."""
    if kind.startswith("Nullable("):
        inner = encoder(kind[len("Nullable(") : -1])
        return lambda value: b"\1" if value is None else b"\0" + inner(value)
    if kind.startswith("Array("):
        inner = encoder(kind[len("Array(") : -1])
        return lambda values: varint(len(values)) + b"".join(map(inner, values))
    if kind.startswith("Map("):
        key, inner = (encoder(part) for part in kind[len("Map(") : -1].split(", ", 1))
        return lambda pairs: varint(len(pairs)) + b"".join(key(name) + inner(value) for name, value in pairs)
    if kind == "String":
        return text
    if kind.startswith("DateTime64"):
        return microseconds
    if kind.startswith("Decimal"):
        digits, scale = map(int, re.findall(r"\d+", kind))
        size = 4 if digits <= 9 else 8 if digits <= 18 else 16 if digits <= 38 else 32
        return lambda value: int(value.scaleb(scale)).to_bytes(size, "little", signed=True)
    packed = struct.Struct(NUMBERS[kind])
    return packed.pack


def digest(folder: str, path: str) -> str:
    """SHA-256 over the rows of a file, in its order."""
    columns = schema(folder, path.split("/")[0])["columns"]
    encoders = [encoder(column["type"]) for column in columns]
    names = [column["name"] for column in columns]
    hashed = hashlib.sha256()
    for batch in pq.ParquetFile(Path(folder, path)).iter_batches(batch_size=8192, columns=names):
        values = [batch.column(name) for name in names]
        rows = zip(*(plain(value) for value in values))
        hashed.update(b"".join(encode(value) for row in rows for encode, value in zip(encoders, row)))
    return hashed.hexdigest()


def plain(values) -> list:
    """A column as Python values, times as integers in microseconds."""
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
    return values.to_pylist()


if __name__ == "__main__":
    release, path = arguments(__doc__, 2)
    stated = {file["path"]: file["content_sha256"] for file in manifest(release)["files"]}
    if path not in stated:
        sys.exit(f"{path} is not in the manifest; write it like {next(iter(stated), 'TABLE/DAY.parquet')}")
    found = digest(release, path)
    print(f"{found} {'as the manifest says' if found == stated[path] else f'but the manifest says {stated[path]}'}")
    sys.exit(found != stated[path])
