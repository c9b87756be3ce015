"""Computes rolling figures and years of metric_golden.json in plain Python, independently of botd. Run once:
python3 rolling_golden.py > rolling_golden.json"""
import json, math
from datetime import datetime, timedelta, timezone

out, W, A = [], 180, math.sqrt(365)
for c in json.load(open("metric_golden.json")):
    e, b, f = c["equity"], c["bench"], c["risk_free"] / 365
    r = [e[i + 1] / e[i] - 1 for i in range(len(e) - 1)]
    q = [b[i + 1] / b[i] - 1 for i in range(len(b) - 1)]
    rows, years = [], {}
    for i in range(W, len(r) + 1):
        x, y = r[i - W:i], q[i - W:i]
        m, my = math.fsum(x) / W, math.fsum(y) / W
        sd = math.sqrt(math.fsum((v - m) ** 2 for v in x) / (W - 1))
        ex = [v - f for v in x]
        me = math.fsum(ex) / W
        down = math.sqrt(math.fsum(min(0, v) ** 2 for v in ex) / W)
        cov = math.fsum((u - m) * (v - my) for u, v in zip(x, y)) / (W - 1)
        var = math.fsum((v - my) ** 2 for v in y) / (W - 1)
        rows.append([c["first_ms"] + i * 86400000, sd * A, me / sd * A, me / down * A, cov / var])
    start = datetime.fromtimestamp(c["first_ms"] / 1000, timezone.utc)
    for i, (u, v) in enumerate(zip(r, q)):
        y = str((start + timedelta(days=i)).year)
        a, h = years.get(y, (1, 1))
        years[y] = (a * (1 + u), h * (1 + v))
    out.append(dict(rolling=rows[::20] + rows[-1:] if rows else [], count=len(rows),
                    years=[[y, 100 * (a - 1), 100 * (h - 1)] for y, (a, h) in years.items()]))
print(json.dumps(out), end="")
