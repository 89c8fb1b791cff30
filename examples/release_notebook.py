# %% [markdown]
# # From a release to a calibration curve and a table of profit and loss
#
# Reads a release of `chancery export --release` (the folder in the environment variable `RELEASE`). What was not observed is
# left out, and each step says how much that was. A notebook made by `make_notebook.py` of `release_notebook.py`.

# %%
import os

import matplotlib.pyplot as plt
import pandas as pd

from load_pandas import prices, read, resolutions
from release import manifest

RELEASE = os.environ.get("RELEASE", "release")
EVERY = os.environ.get("EVERY", "10min")
HORIZON = pd.Timedelta(os.environ.get("HORIZON", "1h"))

about = manifest(RELEASE)
print(f"{about['name']}@{about['version']}{', data of a simulated exchange' if about['simulated'] else ''}")
pd.DataFrame(about["coverage"], columns=["table", "state", "seconds"])

# %% [markdown]
# ## Calibration
#
# The forecast of a market is its last price one `HORIZON` before its resolution was known. If prices are calibrated, of the
# markets at 30 cents, 30 % are resolved YES. A market whose price was not observed then is left out, not guessed. Of a market
# that was final, moved, and had another final chance later, the last one counts.

# %%
observed = prices(RELEASE, EVERY)
print(observed.attrs["left_out"])
resolved = resolutions(RELEASE).astype({"known_at": observed["at"].dtype})
asked = resolved[["market", "resolution"]].assign(at=(resolved["known_at"] - HORIZON).dt.floor(EVERY))
forecasts = asked.merge(observed[["market", "at", "last"]], on=["market", "at"])
forecasts["result"] = (forecasts["resolution"] == "yes").astype(float)
forecasts["cents"] = (forecasts["last"] * 100).round(4) // 10 * 10
print(f"left out {len(asked) - len(forecasts)} of {len(asked)} resolved markets: their price was not observed {HORIZON} before")
print(f"Brier score {((forecasts['last'] - forecasts['result']) ** 2).mean():.6f}")
curve = forecasts.groupby("cents").agg(markets=("market", "size"), forecast=("last", "mean"), win_rate=("result", "mean"))
curve

# %%
figure, axes = plt.subplots(figsize=(5, 5))
axes.plot([0, 1], [0, 1], color="grey", linestyle="--", label="calibrated")
axes.scatter(curve["forecast"], curve["win_rate"], s=20 * curve["markets"], label="markets of ten cents")
axes.set(xlabel="price before the resolution", ylabel="resolved YES", xlim=(0, 1), ylim=(0, 1))
axes.legend()
plt.show()

# %% [markdown]
# ## Profit and loss
#
# What takers paid and received in the trades of the activity feed, against what the shares are worth since the resolution: 1 or
# 0. Fees are not in the feed. Trades in markets that are not resolved are left out.

# %%
names = ["user_id", "market", "is_primary", "side", "quantity", "price", "executed_at"]
trades = read(RELEASE, "activity_records", names)
settled = resolved.set_index("market")["resolution"].map({"yes": 1.0, "no": 0.0})
yes_value = trades["market"].map(settled).astype(float)
known = yes_value.notna() & trades["is_primary"].notna() & trades["side"].isin(["BUY", "SELL"])
print(f"left out {(~known).sum()} of {len(trades)} trades: the outcome or the side is not known, or the market is not resolved")

trades, yes_value = trades[known].copy(), yes_value[known]
bought = trades["side"].map({"BUY": 1.0, "SELL": -1.0}).astype(float) * trades["quantity"].astype(float)
value = yes_value.where(trades["is_primary"].astype(bool), 1 - yes_value)
trades["volume"] = trades["quantity"].astype(float) * trades["price"].astype(float)
trades["pnl"] = bought * (value - trades["price"].astype(float))
table = trades.groupby("user_id").agg(trades=("pnl", "size"), volume=("volume", "sum"), pnl=("pnl", "sum"))
print(f"profit and loss of all takers: {trades['pnl'].sum():.6f} USDC")
table.sort_values("pnl", ascending=False)

# %%
figure, axes = plt.subplots(figsize=(8, 3))
over_time = trades.sort_values("executed_at")
axes.step(over_time["executed_at"], over_time["pnl"].cumsum(), where="post")
axes.set(xlabel="time of the trade", ylabel="profit and loss of all takers, USDC")
plt.show()
