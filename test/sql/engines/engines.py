"""Computes figures of views with libraries that others wrote. Input and output are JSON: a question and its data, and the answer."""

import json
import sys
from decimal import Decimal


def fifo(accounts):
    """Cost of the held shares, and realised profit or loss, of each account, by beancount's booking "FIFO"."""
    from beancount import loader
    from beancount.core.data import Transaction

    lines = ['option "operating_currency" "USDC"', "2020-01-01 open Assets:Cash"]
    for number in range(len(accounts)):
        lines.append(f'2020-01-01 open Assets:Held:A{number} YES "FIFO"')
    for number, fills in enumerate(accounts):
        for i, (side, quantity, price) in enumerate(fills):
            # Lots of one day with one price would be one lot.
            lines.append(f'2020-01-{i + 2:02} * "{number}"')
            if side == "BUY":
                lines.append(f"  Assets:Held:A{number}  {quantity} YES {{{price} USDC}}")
            else:
                lines.append(f"  Assets:Held:A{number}  -{quantity} YES {{}} @ {price} USDC")
            lines.append("  Assets:Cash")
    entries, errors, _ = loader.load_string("\n".join(lines))
    if errors:
        raise ValueError(errors[0])
    books = [[Decimal(0), Decimal(0)] for _ in accounts]
    for entry in entries:
        if not isinstance(entry, Transaction):
            continue
        book = books[int(entry.narration)]
        for posting in entry.postings:
            if posting.cost is None:
                continue
            shares = posting.units.number
            book[0] += shares * posting.cost.number
            if shares < 0:
                book[1] -= shares * (posting.price.number - posting.cost.number)
    return [[str(cost), str(realised)] for cost, realised in books]


def average_cost(accounts):
    """Average price of the held shares, and realised profit or loss, of each account, by nautilus_trader's Position."""
    from nautilus_trader.core.uuid import UUID4
    from nautilus_trader.model.enums import LiquiditySide, OrderSide, OrderType
    from nautilus_trader.model.events import OrderFilled
    from nautilus_trader.model.identifiers import (
        AccountId,
        ClientOrderId,
        PositionId,
        StrategyId,
        TradeId,
        TraderId,
        VenueOrderId,
    )
    from nautilus_trader.model.objects import Money, Price, Quantity
    from nautilus_trader.model.position import Position
    from nautilus_trader.test_kit.providers import TestInstrumentProvider

    instrument = TestInstrumentProvider.binary_option()
    answers = []
    for number, fills in enumerate(accounts):
        position = None
        for i, (side, quantity, price) in enumerate(fills):
            fill = OrderFilled(
                trader_id=TraderId("T-1"),
                strategy_id=StrategyId("S-1"),
                instrument_id=instrument.id,
                client_order_id=ClientOrderId(f"O-{i}"),
                venue_order_id=VenueOrderId(str(i)),
                account_id=AccountId(f"A-{number}"),
                trade_id=TradeId(str(i)),
                position_id=PositionId("P-1"),
                order_side=OrderSide.BUY if side == "BUY" else OrderSide.SELL,
                order_type=OrderType.MARKET,
                last_qty=Quantity.from_str(quantity),
                last_px=Price.from_str(price),
                currency=instrument.quote_currency,
                commission=Money(0, instrument.quote_currency),
                liquidity_side=LiquiditySide.TAKER,
                event_id=UUID4(),
                ts_event=i,
                ts_init=i,
            )
            if position is None:
                position = Position(instrument, fill)
            else:
                position.apply(fill)
        answers.append([position.avg_px_open, position.realized_pnl.as_double()])
    return answers


def calibration(groups):
    """Brier score, log score, slope and intercept, and the reliability curve by cent, of each group, by scikit-learn."""
    import numpy
    from sklearn.calibration import calibration_curve
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import brier_score_loss, log_loss

    answers = []
    for group in groups:
        forecast, result, weight = (numpy.array(group[name], dtype=float) for name in ("forecast", "result", "weight"))
        # It regularizes unless told otherwise; C is the inverse of the strength.
        model = LogisticRegression(C=numpy.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000)
        model.fit(numpy.log(forecast / (1 - forecast)).reshape(-1, 1), result, sample_weight=weight)
        # Its bins are (a, b].
        rates, forecasts = calibration_curve(result, forecast + 1e-9, n_bins=100)
        answers.append(
            {
                "brier": brier_score_loss(result, forecast, sample_weight=weight),
                "log": log_loss(result, forecast, sample_weight=weight),
                "slope": model.coef_[0][0],
                "intercept": model.intercept_[0],
                "curve": [[one - 1e-9, rate] for one, rate in zip(forecasts, rates)],
            }
        )
    return answers


def drawdown(case):
    """The largest drawdown of a capital with these equities, as a fraction, by empyrical."""
    import pandas
    from empyrical import max_drawdown

    worth = pandas.Series([case["capital"], *(case["capital"] + one for one in case["equity"])])
    return -max_drawdown(worth.pct_change().dropna())


def prices(case):
    """Candles and time-weighted prices of each period, and markouts of trades, by pandas."""
    import pandas

    ticks = pandas.DataFrame(case["ticks"], columns=["at", "last", "mid"]).astype({"last": float, "mid": float})
    ticks["at"] = pandas.to_datetime(ticks["at"], unit="s")
    period = f"{case['period']}s"
    last = ticks.set_index("at")["last"]
    candles = last.resample(period).agg(["first", "max", "min", "last", "count"])
    candles = candles[candles["count"] > 0]
    twap = last.groupby(level=0).last().resample("1s").ffill().resample(period).mean()
    trades = pandas.DataFrame(case["trades"], columns=["id", "at", "direction", "price"])
    answers = {}
    for name, seconds in (("mid", -case["margin"]), ("markout_5s", 5), ("markout_1m", 60), ("markout_5m", 300)):
        at = (pandas.to_datetime(trades["at"], unit="s") + pandas.Timedelta(seconds=seconds)).astype(ticks["at"].dtype)
        moments = trades.assign(at=at).sort_values("at", kind="stable")
        found = pandas.merge_asof(moments, ticks[["at", "mid"]].rename(columns={"mid": "found"}), on="at")
        values = found["found"] if name == "mid" else found["direction"] * (found["found"] - found["price"])
        answers[name] = dict(zip(found["id"], values))
    return {
        "candles": [[int(at.timestamp()), *map(float, row)] for at, row in zip(candles.index, candles.to_numpy())],
        "twap": [[int(at.timestamp()), value] for at, value in twap.items()],
        "markouts": answers,
    }


QUESTIONS = {
    "fifo": fifo,
    "average_cost": average_cost,
    "calibration": calibration,
    "drawdown": drawdown,
    "prices": prices,
}

questions = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps({name: QUESTIONS[name](data) for name, data in questions.items()}))
