import { get } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { live, now } from "../state.js";
import { button, choose, empty, intentLink, side, strategyLink, symbolLink, table, tag, time } from "../components.js";

const outcomes = ["derived", "approved", "refused", "placed", "acknowledged", "refused_by_exchange", "uncertain", "filled", "canceled", "rejected",
  "expired", "absent"];
const purposes = ["entry", "exit", "order", "exit_order", "stop_loss", "take_profit", "cancel", "leverage"];

export const title = () => "Intents";

export async function open(page) {
  let items = [], next = null;
  const filter = Object.fromEntries(["strategy", "outcome", "purpose"].map((name) => [name, page.query.get(name) ?? ""]));
  const ask = (after) => get("intents", { ...filter, after, limit: 100 });
  const read = page.reader(async () => { const list = await ask(); items = list.items; next = list.next; });
  const older = async () => { const list = await ask(next); items = items.concat(list.items); next = list.next; page.draw(); };
  const set = (name) => (value) => { filter[name] = value; page.choose(name, value); read.now(); };
  page.on("intent", read);
  page.view(() => [
    h("div.page-head", h("h1", "Intents"), h("p.note",
        "The changes that botd derived in this run, each with its outcome: derived, checked, journalled, sent, acknowledged, fetched, settled.")),
    h("section.panel", { "aria-label": "Intents" },
      h("div.filters.first", choose("Strategy", [["", "all"], ...live.strategies.map((one) => one.name)], filter.strategy, set("strategy"),
          { "data-search": true }),
        choose("Outcome", [["", "all"], ...outcomes.map((one) => [one, f.words(one)])], filter.outcome, set("outcome")),
          choose("Purpose", [["", "all"], ...purposes.map((one) => [one, f.words(one)])], filter.purpose, set("purpose"))),
      table("Intents", [
        { name: "Time", class: "nowrap", cell: (i) => time(i.at_ms, now()) },
        { name: "Intent", cell: (i) => intentLink(i.id, "#" + i.id) },
        { name: "Strategy", cell: (i) => strategyLink(i.strategy) },
        { name: "Purpose", class: "nowrap", cell: (i) => f.words(i.purpose) },
        { name: "Side", cell: (i) => side(i.side) },
        { name: "Quantity", num: true, cell: (i) => (i.quote_amount ? f.money(i.quote_amount) + " USDT" : f.given(i.quantity)) },
        { name: "Price", num: true, cell: f.aligned(items, (i) => i.price || i.stop_price) },
        { name: "Symbol", class: "nowrap", cell: (i) => symbolLink(i.market, i.symbol) },
        { name: "Outcome", cell: (i) => tag(i.outcome) },
        { name: "Why", class: "text", cell: (i) => (i.rule ? `${f.words(i.rule)}: ${i.detail}` : i.reason || i.detail || "–") },
      ], items, { next: next ? button("Show older", older) : null,
        none: empty("No intent matches",
          "An intent is one change that botd derives from a plan: an order, a cancel, a leverage. The next decision that changes something adds one.") })),
  ]);
  await read.now();
}
