"""Long while the fast average of closes is above the slow one, flat otherwise."""
from collections import deque

import botd


class Cross(botd.Strategy):
    fast = botd.Parameter(5, minimum=1, help="candles of the fast average")
    slow = botd.Parameter(20, minimum=2, help="candles of the slow average")

    def start(self):
        self.closes = deque(maxlen=self.slow)

    def warmup(self):
        return self.slow

    def candle(self, view):
        self.closes.append(view.candle.close)

    def decide(self, view):
        if len(self.closes) < self.slow:
            return botd.Plan(target=0, reason="too few candles")
        closes = list(self.closes)
        fast = sum(closes[-self.fast:]) / self.fast
        slow = sum(closes) / self.slow
        if fast > slow:
            return botd.Plan(target=self.size, reason="fast above slow")
        return botd.Plan(target=0, reason="fast below slow")


botd.run(Cross)
