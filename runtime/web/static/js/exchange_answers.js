// Responses of the exchange by request, from botd's public metrics.

import { h } from "./dom.js";
import * as f from "./format.js";
import { empty, table, tag } from "./components.js";

const LINE = /^(botd_exchange_request(?:s_total|_duration_seconds_(?:sum|bucket)))\{([^}]*)\} (\S+)$/;

// answers reads them from /metrics: the count, the failures and the durations of each kind of request.
export async function answers() {
  const response = await fetch("/metrics", { signal: AbortSignal.timeout(12_000) });
  if (!response.ok) throw new Error(`the metrics request returned ${response.status}`);
  const all = new Map();
  for (const line of (await response.text()).split("\n")) {
    const match = LINE.exec(line);
    if (!match) continue;
    const label = Object.fromEntries([...match[2].matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])),
      value = Number(match[3]);
    const one =
      all.get(label.endpoint) ??
      all
        .set(label.endpoint, { endpoint: label.endpoint, market: label.market, requests: 0, failed: new Map(), seconds: 0, buckets: [] })
        .get(label.endpoint);
    if (match[1].endsWith("_total")) {
      one.requests += value;
      if (label.outcome !== "ok" && value) one.failed.set(label.outcome, value);
    } else if (match[1].endsWith("_sum")) one.seconds += value;
    else one.buckets.push([Number(label.le.replace("+Inf", "Infinity")), value]);
  }
  return [...all.values()].filter((one) => one.requests).sort((a, b) => b.failed.size - a.failed.size || b.requests - a.requests);
}

// most is the bound of 99 % of the durations.
function most(one) {
  const all = one.buckets.sort((a, b) => a[0] - b[0]),
    count = all.at(-1)?.[1] ?? 0,
    within = all.find(([, upTo]) => upTo >= 0.99 * count);
  return !count ? "–" : within[0] === Infinity ? `over ${f.age(all.at(-2)[0] * 1000)}` : f.age(within[0] * 1000);
}

const sum = (numbers) => numbers.reduce((so, one) => so + one, 0);

export function answersTable(all) {
  return table(
    "Exchange responses",
    [
      { name: "Request", class: "lead", cell: (a) => f.words(a.endpoint.replace(a.market + "_", "")) },
      { name: "Market", cell: (a) => a.market },
      {
        name: "Answers",
        cell: (a) =>
          a.failed.size
            ? tag("warn", `${f.percent(sum([...a.failed.values()]) / a.requests, { places: 1 })} failed`)
            : tag("ok", "no failures"),
      },
      { name: "Requests", num: true, cell: (a) => f.exact(String(a.requests)) },
      {
        name: "Failed",
        class: "text",
        cell: (a) => [...a.failed].map(([outcome, count]) => `${f.words(outcome)} ${f.exact(String(count))}`).join(", ") || "none",
      },
      { name: "Mean", num: true, cell: (a) => f.age((a.seconds / a.requests) * 1000) },
      { name: "99 of 100 within", num: true, cell: most },
    ],
    all,
    { key: (a) => a.endpoint, none: empty("No requests yet", "They appear after the first round.") },
  );
}
