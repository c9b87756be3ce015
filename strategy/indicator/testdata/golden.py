"""Writes golden_candles.csv and golden_values.csv: candles with gaps, and what TA-Lib and pandas make of them.

    pip install TA-Lib==0.8.2 pandas numpy && python3 testdata/golden.py testdata

The values in the repository are those of the versions named in the first line of golden_values.csv.
"""
import random
import sys

import numpy as np
import pandas as pd
import talib
from talib import abstract

random.seed(20)
rows, last = [], 100.0
for i in range(3000):
    # Gaps, bodies and shadows of every size, in ticks of a cent; a calm stretch in the middle.
    scale = 0.2 if 1400 < i < 1600 else 1.0
    gap = random.choice([0, 0, random.gauss(0, 1.2)]) * scale
    open_ = max(5, round(last + gap, 2))
    close = max(5, round(open_ + random.choice([0, 0.02, random.gauss(0, 0.6), random.gauss(0, 2)]) * scale, 2))
    high = round(max(open_, close) + random.choice([0, 0.03, abs(random.gauss(0, 1.0))]) * scale, 2)
    low = round(min(open_, close) - random.choice([0, 0.03, abs(random.gauss(0, 1.0))]) * scale, 2)
    rows.append((open_, high, low, close, round(random.expovariate(0.1), 3)))
    last = close + (100 - close) * 0.01
o, h, l, c, v = map(np.array, zip(*rows))

PATTERNS = {
    "belt_hold": "CDLBELTHOLD", "dark_cloud_cover": "CDLDARKCLOUDCOVER", "doji": "CDLDOJI", "dragonfly_doji": "CDLDRAGONFLYDOJI",
    "engulfing": "CDLENGULFING", "evening_star": "CDLEVENINGSTAR", "gravestone_doji": "CDLGRAVESTONEDOJI", "hammer": "CDLHAMMER",
    "hanging_man": "CDLHANGINGMAN", "harami": "CDLHARAMI", "inverted_hammer": "CDLINVERTEDHAMMER", "long_legged_doji": "CDLLONGLEGGEDDOJI",
    "marubozu": "CDLMARUBOZU", "morning_star": "CDLMORNINGSTAR", "piercing": "CDLPIERCING", "shooting_star": "CDLSHOOTINGSTAR",
    "spinning_top": "CDLSPINNINGTOP", "three_black_crows": "CDL3BLACKCROWS", "three_inside": "CDL3INSIDE", "three_outside": "CDL3OUTSIDE",
    "three_white_soldiers": "CDL3WHITESOLDIERS",
}


def fractals(wing):
    up = pd.Series(np.nan, range(len(h)))
    down = up.copy()
    for i in range(2 * wing, len(h)):
        m = i - wing
        others = [k for k in range(i - 2 * wing, i + 1) if k != m]
        if all(h[k] < h[m] for k in others):
            up[i] = h[m]
        if all(l[k] > l[m] for k in others):
            down[i] = l[m]
    return up.ffill(), down.ffill()


def percent_rank(period):
    return [np.nan if i < period else 100 * np.mean(c[i - period:i] <= c[i]) for i in range(len(c))]


ppo = talib.PPO(c, 12, 26, matype=1)
signal = np.concatenate([ppo[:25], talib.EMA(ppo[25:], 9)])
pairs_x, pairs_y = pd.Series(h), pd.Series(l)
up, down = fractals(2)
VALUES = {
    "t3 0 TA-Lib": talib.T3(c, 5, 0.7), "ppo 0 TA-Lib": np.where(np.isnan(signal), np.nan, ppo), "ppo 1 TA-Lib": signal,
    "adxr 0 TA-Lib": talib.ADXR(h, l, c, 14), "correlation 0 pandas": pairs_x.rolling(30).corr(pairs_y), "beta 0 TA-Lib": talib.BETA(h, l, 5),
    "percent_rank 0 numpy": percent_rank(100), "fractals 0 pandas": up, "fractals 1 pandas": down,
}
where = sys.argv[1]
with open(where + "/golden_candles.csv", "w") as f:
    f.write("open,high,low,close,volume\n")
    f.writelines(",".join(f"{x:g}" for x in row) + "\n" for row in rows)
with open(where + "/golden_values.csv", "w") as f:
    f.write(f"# indicator output oracle,first candle,candle:value ... by TA-Lib {talib.__ta_version__.decode().split()[0]}, pandas {pd.__version__}\n")
    for name, function in PATTERNS.items():
        found = abstract.Function(function)
        values = getattr(talib, function)(o, h, l, c)
        hits = " ".join(f"{i}:{x}" for i, x in enumerate(values) if x)
        f.write(f"{name} 0 TA-Lib,{found.lookback},{hits}\n")
    for name, values in VALUES.items():
        values = np.asarray(values)
        first = int(np.flatnonzero(~np.isnan(values))[0])
        shown = sorted(set(range(first, len(c), 17)) | set(range(1490, 1500)))
        f.write(f"{name},{first}," + " ".join(f"{i}:{values[i]:.15g}" for i in shown) + "\n")
