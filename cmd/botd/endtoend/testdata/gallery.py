"""Counts the trades of the gallery's strategies with TA-Lib and pandas, apart from botd.

    pip install TA-Lib==0.8.2 pandas numpy
    botd data generate --symbol ETH-USDT --interval 1h --candles 6000 --seed 5 --out g.csv
    python3 gallery.py g.csv

Prints for each: closed positions, long and short, whose entry was decided on candle 1000 or later, and the sum of these candles' numbers.
"""
import sys

import numpy as np
import pandas as pd
import talib as ta

d = pd.read_csv(sys.argv[1])
o, h, l, c, v = (d[k].astype(float) for k in ("open", "high", "low", "close", "volume"))
at = pd.to_datetime(d.open_time_ms, unit="ms")
hour = (at + pd.Timedelta(hours=1)).dt.hour


def S(x):
    return pd.Series(np.asarray(x, dtype=float))


def above(a, b):
    b = S(b) if not np.isscalar(b) else pd.Series(float(b), a.index)
    return (a.shift() <= b.shift()) & (a > b)


def below(a, b):
    b = S(b) if not np.isscalar(b) else pd.Series(float(b), a.index)
    return (a.shift() >= b.shift()) & (a < b)


sma = lambda n: S(ta.SMA(c, n))
ema = lambda n: S(ta.EMA(c, n))
rsi = lambda n: S(ta.RSI(c, n))
up_band, mid_band, low_band = map(S, ta.BBANDS(c, 20, 2, 2))
macd, signal, _ = map(S, ta.MACD(c))
dev = c.rolling(20).std(ddof=0) / c.rolling(20).mean()
atr = S(ta.ATR(h, l, c, 10))
k_mid, k_up, k_low = ema(20), ema(20) + 2 * atr, ema(20) - 2 * atr
adx, plus, minus = S(ta.ADX(h, l, c, 14)), S(ta.PLUS_DI(h, l, c, 14)), S(ta.MINUS_DI(h, l, c, 14))
sar = S(ta.SAR(h, l, 0.02, 0.2))
sk, sd = map(S, ta.STOCH(h, l, c, 14, 3, 0, 3, 0))
willr, cci = S(ta.WILLR(h, l, c, 14)), S(ta.CCI(h, l, c, 20))
a_down, a_up = map(S, ta.AROON(h, l, 25))
middle = lambda n: (h.rolling(n).max() + l.rolling(n).min()) / 2
conversion, base = middle(9), middle(26)
span_a, span_b = ((conversion + base) / 2).shift(25), middle(52).shift(25)
four = c[at.dt.hour % 4 == 3]
four_ema = pd.Series(ta.EMA(four.values, 26), four.index)
slope = (four_ema > four_ema.shift()).reindex(c.index).ffill().fillna(False).astype(bool)
ha_close = (o + h + l + c) / 4
ha_open = [(o[0] + c[0]) / 2]
for i in range(1, len(c)):
    ha_open.append((ha_open[-1] + ha_close[i - 1]) / 2)
ha_open = S(ha_open)
ha_low = pd.concat([l, ha_open, ha_close], axis=1).min(axis=1)
span = h - l
engulf, hammer = S(ta.CDLENGULFING(o, h, l, c)), S(ta.CDLHAMMER(o, h, l, c))
day = at.dt.floor("D")
vwap = ((h + l + c) / 3 * v).groupby(day).cumsum() / v.groupby(day).cumsum()
z = (c - c.rolling(48).mean()) / c.rolling(48).std(ddof=0)
trix, kama, roc = S(ta.TRIX(c, 15)), S(ta.KAMA(c, 30)), S(ta.ROC(c, 240))
f_up = h.shift(2).where((h.shift(2) > h) & (h.shift(2) > h.shift(1)) & (h.shift(2) > h.shift(3)) & (h.shift(2) > h.shift(4))).ffill()
f_down = l.shift(2).where((l.shift(2) < l) & (l.shift(2) < l.shift(1)) & (l.shift(2) < l.shift(3)) & (l.shift(2) < l.shift(4))).ffill()
tr = pd.concat([h, c.shift()], axis=1).max(axis=1) - pd.concat([l, c.shift()], axis=1).min(axis=1)
v_plus = (h - l.shift()).abs().rolling(14).sum() / tr.rolling(14).sum()
v_minus = (l - h.shift()).abs().rolling(14).sum() / tr.rolling(14).sum()
no = pd.Series(False, c.index)
hi, lo = lambda n, x=h: x.rolling(n).max(), lambda n, x=l: x.rolling(n).min()

RULES = {  # long in, long out, short in, short out
    "golden-cross": (above(sma(50), sma(200)), below(sma(50), sma(200))),
    "turtle-55": (c > hi(55).shift(), c < lo(20).shift(), c < lo(55).shift(), c > hi(20).shift()),
    "connors-rsi2": ((c > sma(200)) & (rsi(2) < 10), c > sma(5)),
    "double-seven": ((c > sma(200)) & (c <= lo(7, c)), c >= hi(7, c)),
    "macd-signal": (above(macd, signal) & (macd < 0), below(macd, signal)),
    "bollinger-rsi": ((rsi(14) < 30) & (c < low_band), rsi(14) > 70),
    "bollinger-squeeze": ((c > up_band) & ((dev <= lo(120, dev)).rolling(10).sum() > 0), c < low_band),
    "keltner-breakout": (c > k_up, c < k_mid, c < k_low, c > k_mid),
    "holy-grail": ((adx > 30) & (plus > minus) & (l <= ema(20)) & (c > ema(20)), c < lo(10).shift()),
    "dmi-cross": (above(plus, minus) & (adx > 20), below(plus, minus), below(plus, minus) & (adx > 20), above(plus, minus)),
    "parabolic": (c > sar, no, c < sar, no),
    "stochastic-cross": (above(sk, sd) & (sk < 20), below(sk, sd) & (sk > 80)),
    "williams-r": (above(willr, -80), willr > -20),
    "cci-breakout": (above(cci, 100), cci < 100, below(cci, -100), cci > -100),
    "aroon-trend": (above(a_up, a_down) & (a_up > 70), (a_down > 70) & (a_down > a_up)),
    "ichimoku": (above(conversion, base) & (c > pd.concat([span_a, span_b], axis=1).max(axis=1, skipna=False)), c < base),
    "triple-screen": (slope & (rsi(7) < 35), rsi(7) > 65),
    "heikin-ashi": ((ha_close > ha_open) & (ha_close.shift() > ha_open.shift()) & (ha_low >= ha_open), ha_close < ha_open),
    "narrow-range-7": ((span.shift() <= lo(7, span).shift()) & (c > h.shift()), c < l.shift()),
    "engulfing": ((engulf > 0) & (c < sma(20)), engulf < 0),
    "hammer": ((hammer > 0) & (c < sma(20)), c > sma(20)),
    "vwap-cross": (above(c, vwap) & (hour < 20), c < vwap),
    "time-series-momentum": (roc > 0, no, roc < 0, no),
    "zscore-reversion": (z < -2, z > 0, z > 2, z < 0),
    "trix-zero": (above(trix, 0), no, below(trix, 0), no),
    "kama-cross": (above(c, kama) & (kama > kama.shift(3)), below(c, kama)),
    "hour-of-day": (hour == 21, hour == 23),
    "strategy-001": (above(ema(20), ema(50)) & (ha_close > ema(20)) & (ha_open < ha_close),
                     (ha_close < ema(20)) & (ha_open > ha_close)),
    "fractal-breakout": ((c > f_up) & (c > sma(50)), c < f_down),
    "vortex": (above(v_plus, v_minus), no, below(v_plus, v_minus), no),
}
for name, rules in sorted(RULES.items()):
    long_in, long_out, short_in, short_out = (np.asarray(x, dtype=bool) for x in (rules + (no, no))[:4])
    side, entered = 0, []
    for i in range(len(c) - 1):  # what the last candle decides has no candle to fill in
        before = side
        if long_in[i] != short_in[i]:
            side = 1 if long_in[i] else -1
        elif long_in[i]:
            pass
        elif side > 0 and long_out[i] or side < 0 and short_out[i]:
            side = 0
        if side != before and side != 0:
            entered.append((i, side))
    closed = [e for e in (entered[:-1] if side else entered) if e[0] >= 1000]  # a position that is still open at the end is no trade
    longs, shorts, total = sum(s > 0 for _, s in closed), sum(s < 0 for _, s in closed), sum(i for i, _ in closed)
    print(f'\t{{"{name}", {longs}, {shorts}, {total}}},')
