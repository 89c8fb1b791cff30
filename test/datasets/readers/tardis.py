"""Prints what two programs read from an export in the layout of Tardis.dev, and which lines they refuse, as JSON.

    python tardis.py EXPORT

Per symbol: the quotes and trades that nautilus_trader reads, with the last best prices (null: the side is empty) and the
volume; the same from the events that hftbacktest makes of the book and the trades. hftbacktest omits a snapshot that nothing
follows in its file: `refused` has those lines, and its best prices are those after them.
"""

import csv
import gzip
import json
import sys
from contextlib import redirect_stdout
from itertools import takewhile
from pathlib import Path

from hftbacktest import BUY_EVENT, DEPTH_CLEAR_EVENT, LOCAL_EVENT, TRADE_EVENT
from hftbacktest.data.utils.tardis import convert
from nautilus_trader.adapters.tardis import TardisCSVDataLoader

EVENT = 0xFF


def lines(path: Path) -> list[dict]:
    with gzip.open(path, "rt", newline="") as text:
        return list(csv.DictReader(text))


def best(prices: set[float], choose) -> float | None:
    return choose(prices, default=None)


def nautilus(quotes: Path, trades: Path | None) -> dict:
    loader = TardisCSVDataLoader(price_precision=6, size_precision=6)
    ticks = loader.load_quotes(str(quotes))
    fills = loader.load_trades(str(trades)) if trades else []
    last = ticks[-1]
    return {
        "quotes": len(ticks),
        "bid": float(last.bid_price) if float(last.bid_size) else None,
        "ask": float(last.ask_price) if float(last.ask_size) else None,
        "trades": len(fills),
        "volume": round(sum(float(fill.price) * float(fill.size) for fill in fills), 6),
        "refused": [",".join(line.values()) for line in lines(quotes)[len(ticks) :]],
    }


def hftbacktest(book: Path, trades: Path | None) -> dict:
    files = [str(path) for path in (trades, book) if path]
    with redirect_stdout(sys.stderr):
        events = convert(files, buffer_size=1_000_000, ss_buffer_size=1_000)
    events = events[events["ev"] & LOCAL_EVENT != 0]
    fills = events[events["ev"] & EVENT == TRADE_EVENT]
    levels: dict[bool, set[float]] = {True: set(), False: set()}
    depth = 0
    for event in events[events["ev"] & EVENT != TRADE_EVENT]:
        side = levels[bool(event["ev"] & BUY_EVENT)]
        if event["ev"] & EVENT == DEPTH_CLEAR_EVENT:
            side.clear()
            continue
        depth += 1
        apply(side, float(event["px"]), float(event["qty"]))
    written = lines(book)
    refused = list(reversed(list(takewhile(lambda line: line["is_snapshot"] == "true", reversed(written)))))
    if refused:
        levels = {True: set(), False: set()}
    for line in refused:
        apply(levels[line["side"] == "bid"], float(line["price"]), float(line["amount"]))
    return {
        "lines": len(written),
        "read": depth,
        "bid": best(levels[True], max),
        "ask": best(levels[False], min),
        "trades": len(fills),
        "volume": round(float((fills["px"] * fills["qty"]).sum()), 6),
        "refused": [",".join(line.values()) for line in refused],
    }


def apply(side: set[float], price: float, amount: float) -> None:
    if amount > 0:
        side.add(price)
    else:
        side.discard(price)


export = Path(sys.argv[1])
result = {}
for quotes in sorted((export / "quotes").iterdir()):
    symbol = quotes.name.removesuffix(".csv.gz").split("_", 3)[3]
    [trades] = [*(export / "trades").glob(quotes.name.replace("quotes", "trades"))] or [None]
    book = export / "incremental_book_L2" / quotes.name.replace("quotes", "incremental_book_L2")
    result[f"{quotes.name.split('_')[2]} {symbol}"] = {
        "nautilus": nautilus(quotes, trades),
        "hftbacktest": hftbacktest(book, trades),
    }
print(json.dumps(result))
