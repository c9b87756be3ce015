"""Counts the trades of a strategy that reads another symbol's candles, apart from botd and with nothing but Python.

    botd data generate --symbol ETH-USDT --interval 1h --candles 6000 --seed 5 --out eth.csv
    botd data generate --symbol BTC-USDT --interval 1h --candles 6000 --seed 6 --out btc.csv
    python3 others.py eth.csv btc.csv

It is long while Bitcoin's last whole day closed above the average of ten days, and Ether gains on Bitcoin. Every 50th candle of Bitcoin is
missing. It prints the closed positions whose entry was decided on candle 1000 or later, and the sum of these candles' numbers.
"""
import csv
import sys

eth, btc = (list(csv.DictReader(open(name))) for name in sys.argv[1:3])
hour = 3_600_000
own = [float(row["close"]) for row in eth]
of_btc = {int(row["open_time_ms"]): float(row["close"]) for i, row in enumerate(btc) if i % 50 != 49}


class Ema:
    """An exponential average that begins with the mean of its first values."""

    def __init__(self, n):
        self.n, self.first, self.value = n, [], None

    def add(self, x):
        if self.value is not None:
            self.value += (x - self.value) * 2 / (self.n + 1)
        else:
            self.first.append(x)
            if len(self.first) == self.n:
                self.value = sum(self.first) / self.n
        return self.value


ratio, days = Ema(24), Ema(10)
newest = day_close = day_ema = None
forming, held, entered, closed = None, False, 0, []
for i, row in enumerate(eth):
    opened = int(row["open_time_ms"])
    if opened in of_btc:
        newest = of_btc[opened]
        last_hour = opened % (24 * hour) == 23 * hour
        if forming is not None and opened // (24 * hour) != forming[0]:  # the day's last hour is missing: a later one ends it
            day_close = forming[1]
            day_ema = days.add(day_close)
        forming = (opened // (24 * hour), newest)
        if last_hour:
            day_close = newest
            day_ema = days.add(day_close)
            forming = None
    mean = ratio.add(own[i] / newest) if newest is not None else None
    long = day_ema is not None and mean is not None and day_close > day_ema and own[i] / newest > mean
    if i == len(eth) - 1:
        break  # what the last candle decides has no candle to fill in
    if long and not held:
        entered = i
    if held and not long:
        closed.append(entered)
    held = long
counted = [i for i in closed if i >= 1000]
print(len(counted), sum(counted))
