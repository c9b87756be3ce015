import { h } from "../dom.js";
import * as f from "../format.js";
import { live, now } from "../live.js";
import { ago, due, empty, panel, side, signed, strategyLink, symbolLink, table, tag } from "../parts.js";

export const title = () => "Strategies";

export async function open(page) {
  page.on(["strategy", "status"], () => page.draw());
  page.every(1000, () => page.draw());
  page.view(() => [
    h("div.page-head", h("h1", "Strategies"), h("p.note", "What each one wants to be true, and how far it is.")),
    panel("All strategies", { note: "money in USDT" }, table("Strategies", [
      { name: "Strategy", cell: (s) => [strategyLink(s.name), h("span.unit", s.kind)], class: "nowrap" }, { name: "State", cell: (s) => tag(s.state) }, { name: "Symbol", class: "nowrap", cell: (s) => [symbolLink(s.market, s.symbol), h("span.unit", s.interval)] },
      { name: "Wants", num: true, cell: (s) => f.exact(s.target) }, { name: "Has", num: true, cell: (s) => (f.sign(s.position) ? [side(f.sign(s.position) > 0 ? "long" : "short"), " ", f.exact(s.position.replace("-", ""))] : h("span.soft", "flat")) },
      { name: "Protected", cell: (s) => (f.sign(s.position) ? tag(s.protected ? "ok" : "near", s.protected ? "stop" : "no stop") : "–") }, { name: "Unrealised", num: true, cell: (s) => signed(s.unrealized) }, { name: "Realised", num: true, cell: (s) => signed(s.realized) }, { name: "Last price", num: true, cell: (s) => f.exact(s.last_price) },
      { name: "Last tick", num: true, cell: (s) => (s.last_tick_ms ? ago(s.last_tick_ms, now()) : "–") }, { name: "Next", num: true, cell: (s) => due(s.next_tick_ms, now()) }, { name: "Why", class: "text", cell: (s) => s.why || s.reason || "–" },
    ], live.strategies, { key: (s) => s.name, none: empty("No strategy is configured", "Put a file into strategies/ of the configuration directory, then start botd again.") })),
  ]);
}
