"""Counts the positions of the built-in strategies with TA-Lib, pandas and whole numbers, apart from botd.

    pip install TA-Lib==0.8.2 pandas numpy
    botd data generate --symbol ETH-USDT --interval 1h --candles 6000 --seed 5 --out g.csv
    python3 library.py g.csv

Each trades long and short (rsi long alone) with its defaults. Prints what gallery.py prints.
"""
import sys

import numpy as np
import pandas as pd
import talib as ta

d = pd.read_csv(sys.argv[1])
o, h, l, c = (d[k].astype(float).values for k in ("open", "high", "low", "close"))
n = len(c)
cents = [int(round(x * 100)) for x in c]  # averages of prices are compared exactly


def crosses(differences):
    side, before, sides = 0, None, []
    for x in differences:
        if x is not None and not np.isnan(x):
            if before is not None and before <= 0 < x:
                side = 1
            elif before is not None and before >= 0 > x:
                side = -1
            before = x
        sides.append(side)
    return sides


def reverts(low, high, back_up, back_down):
    side, sides = 0, []
    for i in range(n):
        if low[i]:
            side = 1
        elif high[i]:
            side = -1
        elif side == 1 and back_up[i] or side == -1 and back_down[i]:
            side = 0
        sides.append(side)
    return sides


def supertrend(period=10, times=3):
    atr, up, low, trend, side, sides = ta.ATR(h, l, c, period), None, None, None, 0, []
    for i in range(n):
        if not np.isnan(atr[i]):
            middle = (h[i] + l[i]) / 2
            above, below = middle + times * atr[i], middle - times * atr[i]
            up = above if up is None or above < up or c[i - 1] > up else up
            low = below if low is None or below > low or c[i - 1] < low else low
            new = trend or (1 if c[i] > up else -1)
            if trend == -1 and c[i] > up:
                new = 1
            elif trend == 1 and c[i] < low:
                new = -1
            side, trend = (new if trend and new != trend else side), new
        sides.append(side)
    return sides


def donchian(entry=20, leave=10):
    side, sides = 0, []
    for i in range(n):
        if i >= entry:
            if c[i] > max(h[i - entry:i]):
                side = 1
            elif c[i] < min(l[i - entry:i]):
                side = -1
            elif side == 1 and c[i] < min(l[i - leave:i]) or side == -1 and c[i] > max(h[i - leave:i]):
                side = 0
        sides.append(side)
    return sides


def bands(period):
    s = pd.Series(c)
    mean, dev = s.rolling(period).mean(), s.rolling(period).std(ddof=0)
    return reverts(s < mean - 2 * dev, s > mean + 2 * dev, s >= mean, s <= mean)


r = pd.Series(ta.RSI(c, 14))
SIDES = {
    "bollinger": bands(20),
    "donchian": donchian(),
    "ema_cross": crosses(ta.EMA(c, 12) - ta.EMA(c, 26)),
    "macd": crosses(ta.MACD(c)[2]),
    "rsi": [max(0, s) for s in reverts(r < 30, r > 70, r < 0, r < 0)],
    "sma_cross": crosses([None] * 49 + [5 * sum(cents[i - 9:i + 1]) - sum(cents[i - 49:i + 1]) for i in range(49, n)]),
    "supertrend": supertrend(),
    "zscore": bands(50),
}
for name, sides in SIDES.items():
    entered = [(i, sides[i]) for i in range(1, n - 1) if sides[i] != sides[i - 1] and sides[i] != 0]
    closed = [e for e in (entered[:-1] if sides[n - 2] else entered) if e[0] >= 1000]  # a position that is still open at the end is no trade
    longs, shorts, total = sum(s > 0 for _, s in closed), sum(s < 0 for _, s in closed), sum(i for i, _ in closed)
    print(f'\t{{"{name}", {longs}, {shorts}, {total}}},')
