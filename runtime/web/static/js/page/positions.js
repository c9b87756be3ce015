import { get } from "../api.js";
import { NEAR_LIQUIDATION } from "../bounds.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { icon } from "../icons.js";
import { closePosition } from "../halt.js";
import { past } from "../round_trips.js";
import { now, operator } from "../state.js";
import { ago, button, empty, facts, intentLink, meter, panel, side, signed, strategyLink, table, tag, unit } from "../components.js";

export const title = () => "Positions";

export async function open(page) {
  let positions = [], account = null, closed = null;
  const read = page.reader(async () => { const [held, money] = await Promise.all([get("positions"), get("account")]); positions = held.items;
      account = money; });
  const ask = (after) => get("positions/history", { limit: 25, after });
  const ended = page.reader(async () => { closed = await ask(); });
  const older = async () => { const list = await ask(closed.next); closed = { items: closed.items.concat(list.items), next: list.next }; page.draw(); };
  page.on(["trade", "position"], ended);
  page.on(["position", "order", "fill", "reconcile", "strategy", "status", "risk"], read);
  page.view(() => [
    h("div.page-head", h("h1", "Positions"), h("p.note", "Positions as the exchange reports them, and as botd's journal explains them.")),
    positions.length ? positions.map(position) : panel("No position", { key: "none" },
      empty("No position is open", "Once a strategy enters, its position, protection and distance to liquidation are shown here.")),
    account ? margin(account) : null, account ? wallet(account) : null,
    closed ? panel("Closed positions", { key: "closed", note: "including earlier runs" },
      past(closed.items, closed.next ? button("Show older", older) : null)) : null,
  ]);
  await Promise.all([read.now(), ended.now()]);

  function position(p) {
    return shown(p, f.sign(p.quantity) && p.strategy && operator() ? button("Close…", () => closePosition(p, () => read.now()),
        { tone: "small", "aria-label": `Close the position ${p.symbol} ${p.market}` }) : null);
  }
}

// mean formats a mean price with two more places than the market's prices.
function mean(p) {
  const places = (p.last_price.split(".")[1] ?? "").length + 2;
  return f.isZero(p.entry_price) ? "–" : h("span", { title: p.entry_price }, f.money(p.entry_price, { places }));
}

function shown(p, close) {
  const way = f.sign(p.quantity), differs = f.sign(p.difference) !== 0 || p.quarantine || p.contradiction, base = p.symbol.split("-")[0];
  const name = `${p.symbol} ${p.market}`, exchange = p.reported ?? p.quantity, state = p.contradiction?.state ?? (p.quarantine ? "quarantined" : "differs");
  return panel(name, {
    key: name, class: differs ? "differs" : "",
    note: [p.strategy ? ["of ", strategyLink(p.strategy)] : "no strategy", p.since_ms ? [", since ", ago(p.since_ms, now())] : ""],
    actions: [h("a", { href: `/market/${p.market}/${encodeURIComponent(p.symbol)}` }, "market"),
      differs ? tag("quarantined", state) : tag(p.settled ? "ok" : "uncertain", p.settled ? "settled"
        : "settling"), close],
  },
  facts([
    ["Side", way ? side(way > 0 ? "LONG" : "SHORT") : p.quantity ? "flat" : "unknown"],
      ["Quantity", unit(f.exact(p.quantity?.replace("-", "")), base)],
      ["Value", unit(f.money(p.notional), "USDT")],
    ["Entry", mean(p)], ["Last", f.exact(p.last_price)], p.mark_price ? ["Mark", f.exact(p.mark_price)] : null,
      ["Unrealized", signed(p.unrealized, { unit: "USDT" })], p.leverage ? ["Leverage", p.leverage + " ×"] : null,
  ]),
  h("div.grid.two",
    h("div.panel-body", h("h3.note", "Exchange and journal"), !differs ? h("dl.facts.inline", [["Exchange", exchange], ["Journal", p.journal],
          f.sign(p.ignored) ? ["Foreign", p.ignored] : null].filter(Boolean).map(([what, number]) => h("div", { key: what }, h("dt", what),
            h("dd", unit(f.exact(number), base)))), h("div", { key: "verdict" }, h("dt", "Verdict"),
            h("dd", p.unread ? tag("failed", "unread") : tag("ok", "agree"))))
      : table("Exchange and journal of " + name, [{ name: "Quantity", cell: (row) => row[0] },
          { name: base, num: true, cell: (row) => f.exact(row[1]) },
          { name: "Verdict", cell: (row) => row[2] ?? "" }],
      [["Exchange", exchange], ["Journal", p.journal], f.sign(p.ignored) ? ["Foreign", p.ignored] : null,
        ["Difference", p.difference, differs ? tag("failed", "differs") : tag("ok", "agree")]].filter(Boolean),
      { key: (row) => row[0], row: (row) => ({ class: row[0] === "Difference" && differs ? "differs" : null }) }),
      p.quarantine ? h("p", tag("quarantined"), " ", p.quarantine, " ", h("a", { href: "/reconcile" }, "resolve it")) : null,
      p.unread ? h("p", tag("failed", "unread"), " since ", ago(Date.parse(p.unread.since), now()), ": ", p.unread.cause, " ",
        h("span.note", p.unread.remedy)) : null,
      p.contradiction ? h("p", tag("contradicted"), " since ", ago(Date.parse(p.contradiction.since), now()), ": ", p.contradiction.cause, " ",
        h("span.note", p.contradiction.remedy)) : null),
    h("div.panel-body", h("h3.note", "Protection"), protection(p), liquidation(p))));
}

function protection(p) {
  if (!f.sign(p.quantity)) {
    return h("p.soft", p.quantity ? "No position to protect." : p.protected ? "By the journal, its stop is on the exchange." : "No stop is known.");
  }
  const rows = p.protection.length ? table("Protection of " + p.symbol, [
    { name: "What", cell: (one) => f.words(one.purpose) },
    { name: "At", num: true, cell: (one) => f.exact(one.stop_price) },
    { name: "Covers", num: true, cell: (one) => (one.quantity ? f.exact(one.quantity) : "all") },
    { name: "State", cell: (one) => tag(one.state) }, { name: "Order", cell: (one) => intentLink(one.client_order_id) },
  ], p.protection, { key: (one) => one.client_order_id }) : null;
  return [
    p.protected ? h("p", tag("ok", "covered by a stop on the exchange"))
      : h("p", tag(p.unprotected_ms ? "near" : "absent", "no stop on the exchange"),
        h("span.note", p.unprotected_since_ms ? [" since ", ago(p.unprotected_since_ms, now()), ` · ${f.age(p.unprotected_ms)} in total`]
          : p.unprotected_ms ? ` for ${f.age(p.unprotected_ms)} in total` : " · its strategy sets none")),
    rows, f.sign(p.reducing) ? h("p.note", `working reduceOnly orders total ${f.exact(p.reducing)}`) : null,
  ];
}

function liquidation(p) {
  if (p.market === "spot") return h("p.note", "Spot positions cannot be liquidated.");
  if (p.liquidation_distance_ratio === null) return h("p.note", "It cannot be liquidated.");
  const near = p.liquidation_distance_ratio < NEAR_LIQUIDATION;
  return [h("p", { class: near ? "bad" : "" }, near ? [icon("warning"), " "] : null,
      `Liquidation at ${f.exact(p.liq_price)}, ${f.percent(p.liquidation_distance_ratio, { places: 1 })} away`),
    meter(1 - p.liquidation_distance_ratio, "Proximity to liquidation of " + p.symbol, near ? "breached" : p.liquidation_distance_ratio < 0.15
      ? "near" : "ok")];
}

function margin(a) {
  return panel("Margin account", { key: "margin", note: a.at_ms ? ["fetched ", ago(a.at_ms, now())] : "not fetched yet" }, facts([
    ["Wallet", unit(f.money(a.wallet), "USDT")], ["Unrealized", signed(a.unrealized, { unit: "USDT" })], ["Equity", unit(f.money(a.equity), "USDT")],
      ["Available", unit(f.money(a.available), "USDT")],
    ["Margin in use", unit(f.money(a.margin_used), "USDT")], ["Maintenance margin", unit(f.money(a.maintenance_margin), "USDT")],
      ["Total equity", unit(f.money(a.total_equity), "USDT")],
  ]));
}

function wallet(a) {
  const held = a.balances.filter((one) => !f.isZero(one.free) || !f.isZero(one.frozen));
  return panel("Spot wallet", { key: "wallet" }, table("Spot wallet", [{ name: "Asset", cell: (one) => one.asset },
        { name: "Free", num: true, cell: (one) => f.exact(one.free) },
        { name: "In orders", num: true, cell: (one) => f.exact(one.frozen) }], held,
          { key: (one) => one.asset, none: empty("The spot wallet is empty", "The wallet is fetched only if a strategy trades on spot.") }));
}
