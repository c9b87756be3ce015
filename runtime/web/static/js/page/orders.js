import { get } from "../api.js";
import { UNSETTLED_AFTER_MS } from "../bounds.js";
import { h, morph } from "../dom.js";
import * as f from "../format.js";
import { cancelOrder, HaltForm } from "../halt.js";
import { live, now, operator } from "../state.js";
import { dialog } from "../dialogs.js";
import { ago, button, choose, empty, intentLink, link, panel, side, strategyLink, symbolLink, table, tabs, tag, time } from "../components.js";

const views = [["live", "Working"], ["ended", "Ended"], ["fills", "Fills"]];

export const title = () => "Orders";

export async function open(page) {
  let items = [], next = null, view = page.query.get("view") || "live";
  const filter = Object.fromEntries(["strategy", "symbol"].map((name) => [name, page.query.get(name) ?? ""]));
  const ask = (after) => get(view === "fills" ? "fills" : "orders", { ...(view === "fills" ? {} : { state: view }), ...filter, after,
    limit: view === "live" ? 1000 : 100 });
  const read = page.reader(async () => { const list = await ask(); items = list.items; next = list.next; });
  const older = async () => { const list = await ask(next); items = items.concat(list.items); next = list.next; page.draw(); };
  const set = (name, value) => { if (name === "view") view = value; else filter[name] = value; page.choose(name, value); items = []; next = null; read.now(); };
  page.on(["order", "fill", "strategy"], read);
  page.every(1000, () => { if (view === "live") page.draw(); });
  page.view(() => [
    h("div.page-head", h("h1", "Orders"), h("p.note", "Orders that botd placed. Canceling an opening order pauses its strategy; exits and stops continue."),
      operator() && view === "live" ? h("div.actions", button("Cancel all…", cancelAll, { icon: "halt", tone: "danger" })) : null),
    unsettled(),
    h("section.panel", { "aria-label": "Orders and fills" }, tabs("Which orders", views, view, (name) => set("view", name)),
      h("div.filters.first", { key: "filters" }, choose("Strategy", [["", "all"], ...live.strategies.map((one) => one.name)], filter.strategy,
          (value) => set("strategy", value), { "data-search": true }),
        choose("Symbol", [["", "all"], ...[...new Set([...live.strategies.map((one) => one.symbol), filter.symbol].filter(Boolean))].sort()],
          filter.symbol, (value) => set("symbol", value))),
      h("div", { role: "tabpanel", "aria-label": views.find(([name]) => name === view)[1] }, view === "fills" ? fills() : orders())),
  ]);
  await read.now();

  // cancelAll is the kill switch at the level that cancels opening orders, for the shown orders.
  function cancelAll() {
    const place = h("div"), market = live.strategies.find((one) => one.symbol === filter.symbol)?.market;
    const form = new HaltForm(() => morph(place.firstElementChild, form.node()), filter.strategy ? { strategy: filter.strategy } : filter.symbol &&
      market ? { market, symbol: filter.symbol } : {});
    form.level = "cancel";
    place.append(form.node());
    dialog("Cancel opening orders", place, { wide: true });
    form.readPreview();
  }

  function orders() {
    const price = f.aligned(items, (o) => (f.isZero(o.price) ? o.stop_price : o.price));
    return [view === "live" ? summary() : null, table("Orders", [
      view === "live" ? { name: "Age", class: "nowrap", by: (o) => -o.sent_ms, cell: (o) => h("span.num", { title: `sent ${f.stampFull(o.sent_ms)}` },
          f.age(now() - o.sent_ms)) } : { name: "Sent", class: "nowrap", cell: (o) => time(o.sent_ms, now()) },
      { name: "Strategy", cell: (o) => strategyLink(o.strategy) },
      { name: "Symbol", class: "nowrap lead", cell: (o) => symbolLink(o.market, o.symbol) },
      { name: "For", class: "nowrap", cell: (o) => link("/intents/" + encodeURIComponent(o.client_order_id), f.words(o.purpose)) },
      { name: "Side", cell: (o) => side(o.side) },
      { name: "Type", class: "nowrap huge",
          cell: (o) => h("span", { title: f.words(o.type.toLowerCase()) + (o.post_only ? ", post only" : "") }, kind(o)) },
      { name: "Price", num: true, cell: price },
      view === "live" ? { name: "Distance", num: true, cell: away } : null,
      { name: "Quantity", num: true, cell: (o) => (o.close_position ? "all" : o.quote_amount ? f.money(o.quote_amount) + " USDT" : f.given(o.quantity)) },
      { name: "Filled", num: true, class: "spare desk", cell: (o) => f.exact(o.filled) },
      { name: "State", cell: (o) => tag(o.state) }, view === "live" ? null : { name: "Ended", num: true, cell: (o) => time(o.ended_ms, now()) },
      { name: "Details", class: "nowrap spare", cell: (o) => intentLink(o.client_order_id) },
      view === "live" && operator() ? { name: "Cancel", cell: (o) => (opens(o) ? button("Cancel…", () => cancelOrder(o, () => read.now()),
            { tone: "small", "aria-label": `Cancel order ${o.client_order_id}` })
          : h("span.soft", { title: "It reduces or protects a position: no halt blocks it." }, "–")) } : null,
    ].filter(Boolean), items, { key: (o) => o.client_order_id, next: more(), none: view === "live" ? empty("No order is working",
      "Market orders fill at once. Resting orders and stops are listed while they work.") : empty("No order has ended yet",
      "Filled, canceled and refused orders are listed here.") })];
  }

  // summary sums up the working orders in one line.
  function summary() {
    if (!items.length) return null;
    const opening = items.filter((o) => opens(o) && !o.reduce_only), worth = (o) => Number(o.quote_amount) || Number(o.price) * Number(o.quantity);
    const far = items.map((o) => distance(o)).filter((one) => one !== null), nearest = far.length ? Math.min(...far.map(Math.abs)) : null;
    return h("p.panel-body.tight.summary", { key: "summary" }, [
      `${f.plural(items.length, "order")}: ${items.filter((o) => o.side === "BUY").length} buy, ${items.filter((o) => o.side === "SELL").length} sell`,
      opening.length ? `${opening.length} that open, worth ${f.money(String(opening.reduce((sum, o) => sum + worth(o), 0).toFixed(2)))} USDT` : "",
      items.length > opening.length ? `${items.length - opening.length} that close or protect` : "",
      nearest === null ? "" : `the nearest is ${f.percent(nearest)} from the price`,
    ].filter(Boolean).join(" · "));
  }

  function fills() {
    const price = (o) => f.mean(o.price, live.strategies.find((one) => one.market === o.market && one.symbol === o.symbol)?.last_price);
    return table("Fills", [
      { name: "Polled", class: "nowrap", cell: (o) => time(o.at_ms, now()) },
      { name: "Strategy", cell: (o) => strategyLink(o.strategy) },
      { name: "Symbol", class: "nowrap lead", cell: (o) => symbolLink(o.market, o.symbol) },
      { name: "For", cell: (o) => f.words(o.purpose) },
      { name: "Side", cell: (o) => side(o.side) },
      { name: "Quantity", num: true, cell: (o) => f.exact(o.quantity) },
      { name: "Mean price", num: true, cell: (o) => (f.isZero(o.price) ? h("span.soft", { title: "The exchange did not report the price of this fill" +
              (o.market === "futures" ? ", and it does not follow from the position yet" : "") }, "–") : derived(o, o.price, price(o))) },
      { name: "Fee", num: true, cell: (o) => (o.fee ? derived(o, o.fee, [f.money(o.fee, { places: 4 }), h("span.unit", o.fee_asset)]) : "–") },
      { name: "Order", cell: (o) => intentLink(o.client_order_id) },
    ], items, { next: more(), none: empty("Nothing has been filled yet", "Fills are listed here with their orders.") });
  }

  function more() { return next ? button("Show older", older) : null; }
}

// derived marks a figure that the exchange does not report; its title has every digit.
const derived = (o, exact, shown) => h("span", { title: o.derived ? `${exact}; derived from the position and the wallet before and after` : exact },
  o.derived ? "≈" : "", shown);

const lastPrice = (o) => Number(live.strategies.find((one) => one.market === o.market && one.symbol === o.symbol)?.last_price);

// distance returns the relative distance of the price from the order's; null if one of them is unknown.
function distance(o) {
  const last = lastPrice(o), at = Number(f.isZero(o.price) ? o.stop_price : o.price);
  return last > 0 && at > 0 ? at / last - 1 : null;
}

function away(o) {
  const far = distance(o);
  return far === null ? "–" : h("span", { title: `the last price is ${f.exact(String(lastPrice(o)))}` }, f.percent(far, { plus: true }));
}

// kind names the type of order; a triggered order is named by its purpose.
const kind = (o) => f.words(o.type.toLowerCase()).replace(/^(stop|take profit) (?=.)/, "");
const opens = (o) => o.purpose === "entry" || o.purpose === "order";

function unsettled() {
  const s = live.status;
  if (!s.unsettled) return null;
  const waits = now() - s.unsettled_since_ms;
  return h("section.panel", { key: "unsettled", "aria-label": "Unsettled orders" },
    h("p.calm", tag(waits > UNSETTLED_AFTER_MS ? "uncertain" : "working", f.plural(s.unsettled, "order") + " unsettled"),
      h("span", "the oldest was sent ", ago(s.unsettled_since_ms, now()), ". botd fetches until it knows; nothing is sent twice.")));
}
