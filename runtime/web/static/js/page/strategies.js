import { h } from "../dom.js";
import * as f from "../format.js";
import { live, now } from "../state.js";
import { ago, choose, due, empty, field, panel, side, signed, strategyLink, symbolLink, table, tag } from "../components.js";

const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });
const FEW = 6; // up to this number, a search is unnecessary
const orders = {
  trouble: ["not running first", (a, b) => (a.state === "running") - (b.state === "running") || byName(a, b)], name: ["name", (a, b) => byName(a, b)],
    symbol: ["symbol", (a, b) => a.symbol.localeCompare(b.symbol) || byName(a, b)],
  best: ["largest profit first", (a, b) => made(b) - made(a)], worst: ["largest loss first", (a, b) => made(a) - made(b)],
};
const made = (s) => Number(s.realized) + Number(s.unrealized);

export const title = () => "Strategies";

export async function open(page) {
  let text = page.query.get("q") ?? "", state = page.query.get("state") ?? "", order = orders[page.query.get("order")] ? page.query.get("order") : "trouble";
  const set = (name, take) => (value) => { take(value); page.choose(name, value); page.draw(); };
  page.on(["strategy", "status"], () => page.draw());
  page.every(1000, () => page.draw());
  page.view(() => {
    const all = live.strategies, shown = all.filter((s) => (!state || s.state === state) &&
      `${s.name} ${s.kind} ${s.market} ${s.symbol} ${s.interval}`.toLowerCase().includes(text.toLowerCase())).sort(orders[order][1]);
    return [
      h("div.page-head", h("h1", "Strategies"), h("p.note", "The target and the position of each.")),
      panel("All strategies", { note: totals(shown, all) },
        all.length > FEW || text || state ? h("div.filters", h("div.grow", field("Search", h("input", { type: "search", value: text,
                  placeholder: "name, kind or symbol", "data-search": true,
                  on: { input: (event) => set("q", (value) => { text = value; })(event.target.value) } }))),
          choose("State", [["", "all"], ...[...new Set([...all.map((s) => s.state), state].filter(Boolean))].sort().map((one) => [one,
                  f.words(one)])], state, set("state", (value) => { state = value; })),
          choose("Order", Object.entries(orders).map(([name, [words]]) => [name, words]), order, set("order", (value) => { order = value; }))) : null,
        table("Strategies", columns, shown, { key: (s) => s.name, none: all.length ? empty("No strategy matches", "Change the search above.")
            : empty("No strategy is configured",
              "Put a file into strategies/ of the configuration directory: botd sees it within seconds. botd init writes a commented one.") })),
    ];
  });
}

function totals(shown, all) {
  if (!shown.length) return null;
  const runs = shown.filter((s) => s.state === "running").length, sum = (name) => f.sum(shown.map((s) => s[name]));
  return [shown.length < all.length ? `${shown.length} of ${all.length}, ` : "", runs === shown.length ? `all ${runs} running`
    : `${runs} of ${shown.length} running`, " · unrealized ", signed(sum("unrealized")), " · net ", signed(sum("realized")), " USDT"];
}

const columns = [
  { name: "Strategy", cell: (s) => [strategyLink(s.name), h("span.unit", s.kind)], class: "nowrap lead" },
  { name: "State", cell: (s) => tag(s.state) },
  { name: "Symbol", class: "nowrap", cell: (s) => [symbolLink(s.market, s.symbol), h("span.unit", s.interval)] },
  { name: "Target", num: true, cell: (s) => f.exact(s.target) },
  { name: "Position", num: true, cell: (s) => (f.sign(s.position) ? [side(f.sign(s.position) > 0 ? "long" : "short"), " ",
        f.exact(s.position.replace("-", ""))] : h("span.soft", "flat")) },
  { name: "Protected", cell: (s) => (f.sign(s.position) ? tag(s.protected ? "ok" : "near", s.protected ? "stop" : "no stop") : "–") },
  { name: "Unrealized", num: true, cell: (s) => signed(s.unrealized) },
  { name: "Net", num: true, cell: (s) => signed(s.realized) },
  { name: "Last price", num: true, class: "desk", cell: (s) => f.exact(s.last_price) },
  { name: "Last tick", num: true, class: "desk", cell: (s) => (s.last_tick_ms ? ago(s.last_tick_ms, now()) : "–") },
  { name: "Next", num: true, class: "desk", cell: (s) => due(s.next_tick_ms, now()) },
  { name: "Why", class: "text", cell: (s) => s.state_reason || s.reason || "–" },
];
