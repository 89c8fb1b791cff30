"""What every loader needs to know about a release of `chancery export --release`."""

import json
import sys
from pathlib import Path


def manifest(folder: str) -> dict:
    """The manifest of a release. `chancery dataset verify` checks that it is true."""
    return json.loads(Path(folder, "manifest.json").read_text(encoding="utf-8"))


def files(folder: str, table: str) -> list[str]:
    """Paths of the Parquet files of a table, one per day, in order. A day without rows has none."""
    paths = [file["path"] for file in manifest(folder)["files"] if file["table"] == table]
    return [str(Path(folder, path)) for path in sorted(paths)]


def schema(folder: str, table: str) -> dict:
    """Columns, types and sort order of a table."""
    return next(one for one in manifest(folder)["tables"] if one["name"] == table)


def report(kept: int, asked: int) -> str:
    """One line that says how much was left out."""
    share = 100 * (asked - kept) / asked if asked else 0
    return f"left out {asked - kept:,} of {asked:,} prices ({share:.1f} %): not observed"


def arguments(usage: str | None, least: int) -> list[str]:
    """The arguments of a program; without them, it ends with its usage."""
    if len(sys.argv) <= least:
        sys.exit((usage or "").strip())
    return sys.argv[1:]
