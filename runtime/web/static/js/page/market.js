import { get } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { choose, empty, field, link, panel, strategyLink, table, tag } from "../components.js";

export const title = () => "Market";

export async function open(page) {
  let items = [], text = page.query.get("q") ?? "", market = page.query.get("market") ?? "";
  const read = page.reader(async () => { items = (await get("market/symbols")).items; });
  const shown = () => items.filter((one) => (!market || one.market === market) && one.symbol.toLowerCase().includes(text.toLowerCase())).sort((a,
      b) => Boolean(b.strategy) - Boolean(a.strategy) || a.symbol.localeCompare(b.symbol) || a.market.localeCompare(b.market));
  page.view(() => [
    h("div.page-head", h("h1", "Market"), h("p.note", "The symbols of the exchange with their rules. Traded symbols come first.")),
    panel("Symbols", { note: f.plural(shown().length, "symbol") },
      h("div.filters", h("div.grow", field("Search", h("input", { type: "search", value: text, placeholder: "BTC", "data-search": true,
                on: { input: (event) => { text = event.target.value; page.choose("q", text); page.draw(); } } }))),
        choose("Market", [["", "both"], "futures", "spot"], market, (value) => { market = value; page.choose("market", value); page.draw(); })),
      table("Symbols", [
        { name: "Symbol", class: "nowrap lead", cell: (s) => link(`/market/${s.market}/${encodeURIComponent(s.symbol)}`, s.symbol) },
        { name: "Market", cell: (s) => s.market },
        { name: "Traded by", cell: (s) => strategyLink(s.strategy) },
        { name: "Trading", cell: (s) => tag(s.tradable ? "ok" : "halted", s.tradable ? "open" : "closed") },
        { name: "Price tick", num: true, cell: (s) => f.exact(s.price_tick) },
        { name: "Quantity step", num: true, cell: (s) => f.exact(s.quantity_tick) },
        { name: "Minimum notional", num: true, cell: (s) => f.exact(s.min_notional) },
        { name: "Maximum notional", num: true, cell: (s) => f.exact(s.max_notional) },
        { name: "Maximum leverage", num: true, cell: (s) => (s.max_leverage ? s.max_leverage + " ×" : "–") },
      ], shown(), { key: (s) => s.market + s.symbol, none: empty("No symbol matches", "Change the search above.") })),
  ]);
  await read.now();
}
