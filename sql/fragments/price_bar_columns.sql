open, high, low, close, closing_bid, closing_ask, first_tick, last_tick,
mid_open, mid_high, mid_low, mid_close, first_mid_tick, last_mid_tick, ticks
