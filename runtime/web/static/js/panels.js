// Open positions, the profit of each strategy, and the result of each day: net, and rounded to the symbol's places.

import { NEAR_LIQUIDATION } from "./bounds.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { live, now } from "./state.js";
import { ago, empty, link, panel, side, signed, strategyLink, symbolLink, table, tag } from "./components.js";

const POSITIONS = 12,
  STRATEGIES = 10,
  DAYS = 14,
  DAY = 86_400_000;

// away formats a price and its distance from the last one.
function away(price, ratio, like, near) {
  if (ratio === null || ratio === undefined) return h("span.soft", "none");
  return h("span", { class: near && ratio < near ? "bad" : "", title: price }, f.price(price, like), h("span.unit", f.percent(ratio, { places: 1 })));
}

const total = (rows, pick) => signed(f.sum(rows.map(pick)));

export function positionsPanel(positions) {
  const rows = positions.slice(0, POSITIONS),
    size = (p) => f.exact(p.quantity?.replace("-", ""));
  const columns = [
    { name: "Symbol", class: "lead nowrap", cell: (p) => symbolLink(p.market, p.symbol) },
    { name: "Strategy", class: "spare", cell: (p) => (p.strategy ? strategyLink(p.strategy) : h("span.soft", "no strategy")) },
    { name: "Side", cell: (p) => side({ 1: "LONG", "-1": "SHORT" }[f.sign(p.quantity)]) },
    { name: "Size", num: true, cell: (p) => h("span", { title: `worth ${p.notional} USDT` }, size(p)) },
    { name: "Entry", num: true, cell: (p) => h("span", { title: p.entry_price }, f.price(p.entry_price, p.last_price)) },
    { name: "Mark", num: true, cell: (p) => h("span", { title: `last price ${p.last_price}` }, f.exact(p.mark_price || p.last_price)) },
    { name: "Profit", num: true, cell: (p) => h("span", { title: `${p.profit} net; price difference ${p.unrealized}` }, signed(p.profit)) },
    { name: "%", num: true, cell: (p) => (p.profit_ratio === null ? "–" : signed(String((p.profit_ratio * 100).toFixed(2)))) },
    { name: "Stop", num: true, cell: (p) => away(p.stop_price, p.stop_distance_ratio, p.last_price) },
    { name: "Liquidation", num: true, cell: (p) => away(p.liq_price, p.liquidation_distance_ratio, p.last_price, NEAR_LIQUIDATION) },
    { name: "Age", num: true, cell: (p) => (p.since_ms ? ago(p.since_ms, now()) : "–") },
  ];
  const sums = positions.length > 1 ? h("span", `${positions.length} positions, profit `, total(positions, (p) => p.profit)) : null;
  return panel(
    "Open positions",
    { actions: link("/positions", "details"), note: "profit is net of fees and funding, in USDT and as a share of the value at entry" },
    table("Open positions", columns, rows, {
      key: (p) => `${p.market} ${p.symbol}`,
      next: positions.length > rows.length ? link("/positions", `${positions.length - rows.length} more`) : sums,
      none: empty("No position is open", "Once a strategy enters, its profit and its distance to stop and liquidation are shown here."),
    }),
  );
}

export function strategiesPanel() {
  const all = [...live.strategies].sort((a, b) => (a.state === "running") - (b.state === "running")), // strategies that do not run come first
    rows = all.slice(0, STRATEGIES);
  const columns = [
    { name: "Strategy", class: "lead", cell: (s) => strategyLink(s.name) },
    { name: "State", cell: (s) => tag(s.state) },
    { name: "Symbol", class: "nowrap spare", cell: (s) => symbolLink(s.market, s.symbol) },
    { name: "Unrealized", num: true, cell: (s) => h("span", { title: s.unrealized }, signed(s.unrealized)) },
    { name: "Net", num: true, cell: (s) => h("span", { title: s.realized }, signed(s.realized)) },
    { name: "Profit", num: true, cell: (s) => h("span", { title: s.profit }, signed(s.profit)) },
    { name: "Why", class: "text spare", cell: (s) => s.state_reason || s.reason || "–" },
  ];
  const sums = h(
    "span",
    `${f.plural(all.length, "strategy", "strategies")}, profit `,
    total(all, (s) => s.profit),
    all.length > rows.length ? [", ", link("/strategies", `${all.length - rows.length} more`)] : null,
  );
  return panel(
    "Profit by strategy",
    { actions: link("/strategies", "details"), note: "in USDT since each began; fees and funding are in Net" },
    table("Profit by strategy", columns, rows, {
      key: (s) => s.name,
      next: all.length > 1 ? sums : null,
      none: empty("No strategy is configured", "Put a file into strategies/ of the configuration directory; botd init writes a commented one."),
    }),
  );
}

// days returns the changes of the equity by day (UTC), oldest first; the last one is today's.
function days(whole) {
  const ends = new Map(); // the last point of each day
  whole.time_ms.forEach((ms, i) => ends.set(Math.floor(ms / DAY), whole.equity[i]));
  const today = Math.floor(now() / DAY),
    out = [];
  for (let day = today - DAYS + 1; day < today; day++) {
    const [before, end] = [ends.get(day - 1), ends.get(day)];
    if (before !== undefined && end !== undefined) out.push({ day, change: f.sum([end, before.startsWith("-") ? before.slice(1) : "-" + before]) });
  }
  const change = live.status.today.change; // null while the equity is unknown
  return change === null ? out : [...out, { day: today, change }];
}

export function daysPanel(whole) {
  const all = whole ? days(whole) : [],
    most = Math.max(0.01, ...all.map((one) => Math.abs(Number(one.change))));
  const named = (one) => f.stampFull(one.day * DAY).slice(0, 10);
  return panel(
    "Profit by day",
    { note: "change of equity, UTC, deposits included", class: "days" },
    h(
      "ol.days",
      { "aria-label": "Profit by day, oldest first" },
      all.map((one) =>
        h(
          "li",
          { key: one.day, class: f.sign(one.change) < 0 ? "lost" : "won", title: `${named(one)}: ${one.change} USDT` },
          h("span.bar", { tall: Math.abs(Number(one.change)) / most }),
          h("span.hidden", `${named(one)} ${f.money(one.change, { plus: true })}`),
        ),
      ),
    ),
    h(
      "p.panel-body.tight.note",
      "today ",
      signed(live.status.today.change),
      all.length > 1 ? [`, ${all.length} days `, total(all, (one) => one.change)] : null,
    ),
  );
}
