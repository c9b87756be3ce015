import { get, part } from "../api.js";
import { CandleChart, intervals, notice, segments } from "../chart.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { live, now } from "../state.js";
import { empty, facts, panel, side, strategyLink, table, tag } from "../components.js";

const LEVELS = 14, LOOK_MS = 5000, MOST = 20_000;

export const title = (params) => `${params.symbol} ${params.market}`;

export async function open(page) {
  const { market, symbol } = page.params;
  let one = null, interval = page.query.get("interval") || "1m", chart = null, bars = 0;
  const host = h("div.host"), legend = h("div.legend"), frame = h("div.frame", legend, host);
  const read = page.reader(async () => { one = await get(`market/${part(market)}/${part(symbol)}`); chart?.price(Number(one.last_price), one.time_ms); });
  page.every(LOOK_MS, read);
  page.on("candle", (data) => { if (data.symbol === symbol && data.market === market) chart?.latest(); });
  page.onLeave(() => chart?.close());
  page.view(() => one && body());
  await read.now();
  if (!one) return;
  page.drawNow();
  await draw();

  async function draw() {
    chart?.close();
    host.replaceChildren();
    chart = new CandleChart(host, legend, { market, symbol, interval, intervalMS: intervals[interval], onChange: (it) => { bars = it.bars.length;
          page.draw(); } });
    await chart.open((one.price_tick.split(".")[1] ?? "").length, Math.min(MOST, Number(page.query.get("candles")) || 1000));
  }

  function body() {
    const owner = live.strategies.find((each) => each.symbol === symbol && each.market === market);
    const change = one.change_percent_24h / 100;
    return [
      h("div.page-head", h("h1", symbol), h("span.note", market), tag(one.tradable ? "ok" : "halted", one.tradable ? "trading" : "closed"),
        h("p.note", owner ? ["traded by ", strategyLink(owner.name)] : "no strategy trades it")),
      panel("Now", { key: "now", note: "24 hours" },
        facts([["Last", f.exact(one.last_price)],
            ["Change", h("span", { class: change < 0 ? "down" : "up" }, h("span.arrow", { "aria-hidden": "true" }, change < 0 ? "▼" : "▲"),
                f.percent(change, { plus: true }))], ["High", f.exact(one.high_24h)], ["Low", f.exact(one.low_24h)],
            ["Volume", [f.exact(one.volume_24h.toFixed(2)), h("span.unit", symbol.split("-")[0])]], ["Spread", spread()],
        one.funding ? ["Funding rate", f.percent(Number(one.funding.rate), { plus: true, places: 4 })] : null, one.funding?.next_ms
          ? ["Next funding", "in " + f.age(one.funding.next_ms - now())] : null])),
      panel("Candles", { key: "candles", actions: segments("Interval", ["1m", "5m", "15m", "1h", "4h", "1d"].map((each) => [each, each]), interval,
            (to) => { interval = to; page.choose("interval", to); page.draw(); draw(); }), note: chart?.held ?? null },
        h("figure", { "aria-label": `Candles of ${symbol}; the newest are in the table below` },
          h("div.chart.tall", { "aria-hidden": "true", keep: frame })), h("div.chart-foot", h("span", "price in USDT · ", f.zone()), notice()),
        h("details.mirror", h("summary", "The newest candles as a table"),
          table("Candles", [{ name: "Opened", class: "nowrap", cell: (bar) => f.stampShort(bar.time * 1000) },
              ...["open", "high", "low", "close"].map((each) => ({ name: each, num: true, cell: (bar) => f.exact(String(bar[each])) }))],
            chart?.bars.slice(-60).reverse() ?? [],
            { key: (bar) => bar.time, stack: false, none: empty("No candles", "The exchange has not answered yet.") }))),
      h("div.grid.two", { key: "book" }, book(), trades()), brackets(),
    ];
  }

  function spread() {
    const ask = Number(one.asks[0]?.[0]), bid = Number(one.bids[0]?.[0]);
    return ask && bid ? f.percent((ask - bid) / ask, { places: 4 }) : "–";
  }

  function book() {
    const bids = one.bids.slice(0, LEVELS), asks = one.asks.slice(0, LEVELS),
      most = Math.max(...[...bids, ...asks].map(([, quantity]) => Number(quantity)), 0) || 1;
    const prices = f.aligned([...bids, ...asks], ([price]) => price), quantities = f.aligned([...bids, ...asks], ([, quantity]) => quantity);
    const column = (name, all) => h("div", { class: name }, h("h3", h("span", name === "bids" ? "Bids" : "Asks"), h("span", "quantity")),
      h("ol", { class: "plain" }, all.map(([price, quantity]) => h("li.depth", { key: price }, h("span.fill", { share: Number(quantity) / most }),
            h("span", { class: name === "bids" ? "up" : "down" }, prices([price])), h("span", quantities([0, quantity]))))));
    return panel("Order book", { key: "depth", note: `the best ${LEVELS} of each side` }, h("div.book", column("bids", bids), column("asks", asks)));
  }

  function trades() {
    return panel("Trades", { key: "trades", class: "dense", note: "newest first; the side is the taker's" },
      table("Trades", [{ name: "Time", class: "nowrap", cell: (t) => f.stamp(t.time_ms, now()) },
          { name: "Side", cell: (t) => side(t.side) },
          { name: "Price", num: true, cell: f.aligned(one.trades, (t) => t.price) },
          { name: "Quantity", num: true, cell: f.aligned(one.trades, (t) => t.quantity) }], one.trades.slice(0, LEVELS),
            { key: (t) => `${t.time_ms}${t.price}${t.quantity}${one.trades.indexOf(t)}`, none: empty("No trade is listed", "The exchange reports none.") }));
  }

  function brackets() {
    if (!one.brackets.length) return null;
    return panel("Margin brackets", { key: "brackets" },
      table("Margin brackets", [{ name: "Notional up to", num: true, cell: (b) => f.exact(b.max_notional) },
          { name: "Maintenance margin", num: true, cell: (b) => f.percent(Number(b.margin_ratio), { places: 2 }) },
          { name: "Maximum leverage", num: true, cell: (b) => b.max_leverage + " ×" }], one.brackets, { key: (b) => b.max_notional }));
  }
}
