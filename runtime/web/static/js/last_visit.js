// Events since the last visit: this browser stores the time of the visit, and the next visit reads the events after it.

import { get } from "./api.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { live, now, on } from "./state.js";
import { button, link, panel, signed, strategyLink, time } from "./components.js";

const KEY = "botd.seen",
  AWAY_MS = 10 * 60_000,
  KEEP_MS = 15_000;
const MOST = 1000; // maximum counted of each kind

// away returns the time and the equity of the previous visit; null if it was just now, or never.
let away = null,
  watchers = new Set();

const name = () => `${KEY}.${live.session?.instance}.${live.status?.mode}`;
function read() {
  try {
    return JSON.parse(localStorage.getItem(name()));
  } catch {
    return null;
  }
}

function keep() {
  if (document.hidden || live.link !== "open" || !live.status || live.status.equity === null) return;
  try {
    localStorage.setItem(name(), JSON.stringify({ at: now(), equity: live.status.equity }));
  } catch {
    /* then nothing is compared */
  }
}

function back() {
  const before = read();
  if (before?.at && now() - before.at > AWAY_MS) {
    away = before;
    for (const each of [...watchers]) each();
  }
  keep();
}

// startVisits begins to record visits once the status is known.
export function startVisits() {
  back();
  on((topic) => {
    if (topic === "link") keep();
  });
  setInterval(keep, KEEP_MS);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) back();
  });
}

export const visitedAt = () => away?.at ?? null;

// Since is the panel on a page; draw runs on new events.
export class Since {
  constructor(draw) {
    this.draw = draw;
    this.again = () => this.read();
    watchers.add(this.again);
  }

  async read() {
    if (!away) return;
    const before = away,
      later = (list) => list.items.filter((one) => one.at_ms > before.at),
      more = (list) => list.next !== null && list.items.at(-1)?.at_ms > before.at;
    const [fills, intents, audit] = await Promise.all([
      get("fills", { limit: MOST }),
      get("intents", { outcome: "refused", limit: MOST }),
      get("audit", { limit: MOST }),
    ]);
    this.noted = {
      before,
      fills: later(fills),
      refused: later(intents),
      audit: later(audit),
      more: more(fills) || more(intents) || more(audit),
    };
    this.draw();
  }

  dismiss() {
    away = null;
    this.noted = null;
    this.draw();
  }
  close() {
    watchers.delete(this.again);
  }

  node() {
    if (!this.noted || !away) return null;
    const { before, fills, refused, audit, more } = this.noted,
      grew = live.status.equity === null ? "" : (Number(live.status.equity) - Number(before.equity)).toFixed(2);
    const traded = counted(fills, (one) => one.strategy),
      kinds = counted(
        audit.filter((one) => one.kind !== "config"),
        (one) => one.kind,
      );
    const lines = [
      ["Equity", [signed(grew, { unit: "USDT" }), h("span.note", ` from ${f.money(before.equity)}`)]],
      [
        "Fills",
        fills.length
          ? [
              String(fills.length),
              ": ",
              listed(traded.slice(0, 6).map(([one, count]) => [strategyLink(one), ` ${count}`])),
              traded.length > 6 ? ` and ${traded.length - 6} more strategies` : "",
            ]
          : "none",
      ],
      refused.length
        ? [
            "Refusals",
            [
              link("/intents?outcome=refused", String(refused.length)),
              ": ",
              counted(refused, (one) => f.words(one.rule))
                .slice(0, 4)
                .map(([rule, count]) => `${rule} ${count}`)
                .join(", "),
            ],
          ]
        : null,
      kinds.length
        ? [
            "In the audit",
            [kinds.map(([kind, count]) => `${words[kind] ?? f.words(kind)} ${count}`).join(", "), " · ", link("/audit", "see")],
          ]
        : null,
    ].filter(Boolean);
    return panel(
      "Since your last visit",
      {
        key: "since",
        note: [time(before.at, now()), `, ${f.age(now() - before.at)} ago`, more ? "; at least" : ""],
        actions: button("Dismiss", () => this.dismiss(), { icon: "check", tone: "small" }),
      },
      h(
        "dl.since",
        lines.map(([what, text]) => h("div", { key: what }, h("dt", what), h("dd", text))),
      ),
    );
  }
}

const words = { audit: "requested", boot: "starts", breach: "limits reached", halt: "halts" };
const listed = (parts) => parts.map((part, i) => [i ? ", " : "", part]);

// counted counts each kind, the most frequent first.
function counted(all, pick) {
  const times = new Map();
  for (const one of all) times.set(pick(one), (times.get(pick(one)) ?? 0) + 1);
  return [...times].sort((a, b) => b[1] - a[1] || String(a[0]).localeCompare(String(b[0])));
}
