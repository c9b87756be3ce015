import { get } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { cancelOrder } from "../halt.js";
import { live, now, operator } from "../live.js";
import { ago, button, choose, empty, intentLink, panel, side, strategyLink, symbolLink, table, tabs, tag, time } from "../parts.js";

const views = [["live", "Working"], ["ended", "Ended"], ["fills", "Fills"]];

export const title = () => "Orders";

export async function open(page) {
  let items = [], next = null, view = page.query.get("view") || "live", strategy = page.query.get("strategy") ?? "";
  const ask = (after) => get(view === "fills" ? "fills" : "orders", { ...(view === "fills" ? {} : { state: view }), strategy, after, limit: 100 });
  const read = page.reader(async () => { const list = await ask(); items = list.items; next = list.next; });
  const older = async () => { const list = await ask(next); items = items.concat(list.items); next = list.next; page.draw(); };
  const set = (name, value) => { if (name === "view") view = value; else strategy = value; page.choose(name, value); items = []; next = null; read.now(); };
  page.on(["order", "fill", "strategy"], read);
  page.every(1000, () => { if (view === "live") page.draw(); });
  page.view(() => [
    h("div.page-head", h("h1", "Orders"), h("p.note", "What botd placed. An opening order can be canceled here, which pauses its strategy; exits and stops go on.")),
    unsettled(),
    h("section.panel", { "aria-label": "Orders and fills" }, tabs("Which orders", views, view, (name) => set("view", name)),
      h("div.filters.first", { key: "filters" }, choose("Strategy", [["", "all"], ...live.strategies.map((one) => one.name)], strategy, (value) => set("strategy", value), { "data-search": true })),
      h("div", { role: "tabpanel", "aria-label": views.find(([name]) => name === view)[1] }, view === "fills" ? fills() : orders())),
  ]);
  await read.now();

  function orders() {
    const price = f.aligned(items, (o) => (f.isZero(o.price) ? o.stop_price : o.price));
    return table("Orders", [
      { name: "Sent", class: "nowrap", cell: (o) => time(o.sent_ms, now()) }, { name: "Strategy", cell: (o) => strategyLink(o.strategy) }, { name: "Symbol", class: "nowrap", cell: (o) => symbolLink(o.market, o.symbol) }, { name: "For", class: "nowrap", cell: (o) => f.words(o.purpose) },
      { name: "Side", cell: (o) => side(o.side) }, { name: "Type", class: "nowrap", cell: (o) => [f.words(o.type.toLowerCase()), o.post_only ? h("span.unit", "post only") : null, o.reduce_only ? h("span.unit", "reduce only") : null] },
      { name: "Price", num: true, cell: price }, { name: "Quantity", num: true, cell: (o) => (o.close_position ? "all" : o.quote_amount ? f.money(o.quote_amount) + " USDT" : f.given(o.quantity)) }, { name: "Filled", num: true, cell: (o) => f.exact(o.filled) },
      { name: "State", cell: (o) => tag(o.state) }, { name: view === "live" ? "Age" : "Ended", num: true, cell: (o) => (view === "live" ? f.age(now() - o.sent_ms) : time(o.ended_ms, now())) }, { name: "Life", class: "nowrap", cell: (o) => intentLink(o.client_order_id) },
      view === "live" && operator() ? { name: "Cancel", cell: (o) => (opens(o) ? button("Cancel…", () => cancelOrder(o, () => read.now()), { tone: "small", "aria-label": `Cancel order ${o.client_order_id}` }) : h("span.soft", { title: "It reduces or protects a position: no halt keeps it back." }, "–")) } : null,
    ].filter(Boolean), items, { key: (o) => o.client_order_id, next: more(), none: view === "live" ? empty("No order is working", "Market orders are gone in a moment. Resting orders and stops stand here while the exchange has them.") : empty("No order has ended yet", "Filled, canceled and refused orders stand here.") });
  }

  function fills() {
    return table("Fills", [
      { name: "Seen", class: "nowrap", cell: (o) => time(o.at_ms, now()) }, { name: "Strategy", cell: (o) => strategyLink(o.strategy) }, { name: "Symbol", class: "nowrap", cell: (o) => symbolLink(o.market, o.symbol) }, { name: "For", cell: (o) => f.words(o.purpose) }, { name: "Side", cell: (o) => side(o.side) },
      { name: "Quantity", num: true, cell: (o) => f.exact(o.quantity) }, { name: "Mean price", num: true, cell: f.aligned(items, (o) => o.price) }, { name: "Order", cell: (o) => intentLink(o.client_order_id) },
    ], items, { next: more(), none: empty("Nothing was filled yet", "Each fill stands here with the order it belongs to.") });
  }

  function more() { return next ? button("Show older", older) : null; }
}

const opens = (o) => o.purpose === "entry" || o.purpose === "order";

function unsettled() {
  const s = live.status;
  if (!s.unsettled) return null;
  const waits = now() - s.unsettled_since_ms;
  return h("section.panel", { key: "unsettled", "aria-label": "Unsettled orders" }, h("p.calm", tag(waits > 60_000 ? "uncertain" : "working", f.plural(s.unsettled, "order") + " unsettled"), h("span", "the oldest was sent ", ago(s.unsettled_since_ms, now()), ". botd fetches until it knows; nothing is sent twice.")));
}
