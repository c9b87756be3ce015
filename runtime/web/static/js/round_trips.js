// Round trips: entry, exit, and profit.

import { h } from "./dom.js";
import * as f from "./format.js";
import { now } from "./state.js";
import { empty, side, signed, symbolLink, table, tag, time, unit } from "./components.js";

const tones = { stop_loss: "warn", liquidation: "bad", manual: "warn", take_profit: "good" };

const means = (t) =>
  h(
    "span.num",
    { title: `${t.entry_price} → ${t.exit_price}` },
    price(t.entry_price),
    " → ",
    price(t.exit_price),
  );

// price cuts the tail of a mean price.
function price(text) {
  const places = (text.split(".")[1] ?? "").length;
  return f.isZero(text) ? "–" : f.money(text, { places: Math.min(places, Number(text) >= 100 ? 2 : 6) });
}

export function trips(items, next) {
  const source = (t) =>
    t.derived ? "; both derived from the wallet, since the exchange reports them for no order" : ", as the exchange reports them";
  const costs = (t) => `fees ${t.fees}, funding ${t.funding}${source(t)}`;
  return [
    items.length ? tally(items) : null,
    table(
      "Round trips",
      [
        { name: "Closed", class: "nowrap", cell: (t) => time(t.closed_ms, now()) },
        { name: "Side", cell: (t) => side(t.side) },
        { name: "Quantity", num: true, cell: f.aligned(items, (t) => t.quantity) },
        { name: "Entry → exit", num: true, class: "nowrap", cell: means },
        { name: "Duration", num: true, class: "nowrap", cell: (t) => f.age(t.closed_ms - t.opened_ms) },
        { name: "Exit by", class: "nowrap", cell: (t) => tag("", f.words(t.exit_purpose), tones[t.exit_purpose] ?? "quiet") },
        { name: "Gross", num: true, cell: (t) => f.money(t.realized, { plus: true }) },
        { name: "Fees, funding", num: true, cell: (t) => h("span.num", { title: costs(t) }, f.money(f.sum([t.fees, t.funding]))) },
        { name: "Net", num: true, cell: net },
      ],
      items,
      {
        next,
        none: empty("No closed round trips", "From flat to flat, net of fees and funding: each is listed once its amounts are booked."),
      },
    ),
  ];
}

// net returns the profit of a closed position after fees and funding.
const net = (t) => [
  h("span", { title: `price difference ${t.realized}, fees ${t.fees}, funding ${t.funding}` }, signed(t.pnl)),
  t.complete ? null : h("span.unit", { title: "It began before the ledger, or some of its amounts are unknown" }, "partial"),
];

// tally sums up the shown trips.
function tally(items) {
  const won = items.filter((t) => f.sign(t.pnl) > 0).length,
    lost = items.filter((t) => f.sign(t.pnl) < 0).length;
  return h(
    "p.panel-body.note",
    { key: "tally" },
    `${f.plural(items.length, "round trip")}: ${won} won, ${lost} lost, net `,
    signed(f.sum(items.map((t) => t.pnl)), { unit: items[0].asset }),
    ` after ${f.money(f.sum(items.map((t) => t.fees)))} fees and ${f.money(f.sum(items.map((t) => t.funding)))} funding.`,
  );
}

export function past(items, next) {
  return table(
    "Closed positions",
    [
      { name: "Closed", class: "nowrap", cell: (p) => time(p.closed_ms, now()) },
      { name: "Symbol", class: "nowrap", cell: (p) => symbolLink(p.market, p.symbol) },
      {
        name: "Strategy",
        cell: (p) =>
          p.strategy
            ? h("a", { href: `/strategies/${encodeURIComponent(p.strategy)}?view=trades` }, p.strategy)
            : h("span.soft", { title: "not opened by botd" }, "nobody's"),
      },
      { name: "Side", cell: (p) => side(p.side) },
      { name: "Quantity", num: true, cell: (p) => unit(f.exact(p.quantity), p.symbol.split("-")[0]) },
      { name: "Entry → close", num: true, class: "nowrap", cell: means },
      { name: "For", num: true, class: "nowrap", cell: (p) => f.age(p.closed_ms - p.opened_ms) },
      { name: "Exit by", class: "nowrap", cell: (p) => tag("", f.words(p.exit_purpose), tones[p.exit_purpose] ?? "quiet") },
      { name: "Fees, funding", num: true, class: "desk", cell: (p) => h("span.num", { title: `fees ${p.fees}, funding ${p.funding}` },
          p.complete ? f.money(f.sum([p.fees, p.funding])) : "–") },
      { name: "Net", num: true, cell: net },
    ],
    items,
    { next, none: empty("No closed positions", "Each is listed here with its prices once it is closed, including earlier runs.") },
  );
}
