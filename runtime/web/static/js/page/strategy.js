import { get, part, Problem } from "../api.js";
import { CandleChart, intervals, notice, plotStyles, segments } from "../chart.js";
import { h, morph } from "../dom.js";
import * as f from "../format.js";
import { now, operator, strategy } from "../state.js";
import { dialog } from "../dialogs.js";
import { ago, button, due, empty, facts, intentLink, link, meter, panel, side, signed, symbolLink, table, tabs, tag, time, unit } from "../components.js";
import { yaml } from "../yaml.js";

const views = [["why", "Why"], ["decisions", "Decisions"], ["orders", "Orders"], ["fills", "Fills"], ["trades", "Trades"],
  ["parity", "Live vs. backtest"], ["limits", "Limits"], ["config", "Configuration"]];
const MOST = 20_000;
const FIRST = 500, PLOTTED = 300, MOST_PLOTTED = 5000; // candles, and those of the indicators: at first, and after scrolling back

const halting = () => import("../halt.js"); // loaded at its first use

export const title = (params) => params.name;

// joined adds older decisions to the newest ones.
function joined(newer, others) {
  const oldest = Number(newer.at(-1)?.id ?? Infinity);
  return newer.concat(others.filter((one) => Number(one.id) < oldest));
}

export async function open(page) {
  const name = page.params.name;
  let one = null, decisions = [], after = null, fills = [], refused = [], plots = [], view = page.query.get("view") || "why", reasons = null,
    preview = null, drawn = null, trades = { items: [], next: null }, interval = page.query.get("interval"), chart = null, bars = 0,
    places = 2, parity = null, framed = false;
  const host = h("div.host"), legend = h("div.legend"), frame = h("div.frame", legend, host);
  const read = page.reader(async () => {
    const [strategy, decided, filled, no] = await Promise.all([get("strategies/" + part(name)), get(`strategies/${part(name)}/decisions`,
          { limit: 200 }), get("fills", { strategy: name, limit: 1000 }), get("intents", { strategy: name, outcome: "refused", limit: 50 })]);
    if (!one) after = decided.next;
    one = strategy;
    refused = no.items;
    decisions = joined(decided.items, decisions);
    fills = filled.items;
    overlay();
  });
  const older = async () => { const list = await get(`strategies/${part(name)}/decisions`, { limit: 200, after });
    decisions = joined(decisions, list.items); after = list.next; page.draw(); };
  page.on(["strategy", "status"], () => page.draw());
  page.on(["decision", "order", "fill", "risk", "position"], (data) => { if (!data.strategy || data.strategy === name) read(); });
  page.on("strategy", (data) => { if (data.name === name) { chart?.price(Number(data.last_price), data.last_price_ms);
        if (one) { Object.assign(one, data); overlay(); } } });
  page.on("candle", (data) => { if (data.symbol === one?.symbol && data.market === one?.market) { chart?.latest(); plot(PLOTTED); } });
  const explain = page.reader(async () => { if (view === "why") [reasons, preview] = await Promise.all([import("../explanation.js"),
          get(`strategies/${part(name)}/explain`)]); });
  const askTrades = (after) => get("trades", { strategy: name, limit: 100, after });
  const round = page.reader(async () => { if (view === "trades") [drawn, trades] = await Promise.all([import("../round_trips.js"), askTrades()]); });
  const compare = page.reader(async () => { if (view !== "parity" || !operator()) return;
    parity ??= new (await import("../parity.js")).Parity(name, () => { overlay(); page.draw(); });
    await parity.read(); });
  page.every(60_000, compare);
  page.onLeave(() => parity?.close());
  const earlier = async () => { const list = await askTrades(trades.next); trades = { items: trades.items.concat(list.items), next: list.next }; page.draw(); };
  page.on("trade", (data) => { if (data.strategy === name) round(); });
  page.on(["decision", "candle", "position"], (data) => { if (data.strategy === name || data.symbol === one?.symbol) explain(); });
  page.every(5000, explain);
  page.every(1000, () => page.draw());
  page.onLeave(() => chart?.close());
  page.view(() => one && body());
  await read.now();
  if (!one) throw page.problem ?? new Problem(404, "not_found", name);
  interval ||= one.interval;
  places = (one.last_price.split(".")[1] ?? "").length;
  const symbol = (await get("market/symbols", { market: one.market })).items.find((each) => each.symbol === one.symbol);
  if (symbol) places = (symbol.price_tick.split(".")[1] ?? "").length;
  explain.now();
  round.now();
  compare.now();
  page.drawNow();
  await draw();

  async function draw() {
    chart?.close();
    host.replaceChildren();
    chart = new CandleChart(host, legend, { market: one.market, symbol: one.symbol, interval, intervalMS: intervals[interval],
        onChange: (it) => { const more = it.bars.length > bars + 1 && bars > 0; bars = it.bars.length; overlay(); page.draw();
          if (more && plots.length && plots[0].points.length < Math.min(MOST_PLOTTED, bars)) plot(Math.min(MOST_PLOTTED, bars)); } });
    bars = 0;
    await chart.open(places, Math.min(MOST, Number(page.query.get("candles")) || FIRST));
    overlay();
    chart.frame(framed);
    plot(PLOTTED);
  }

  // plot draws the strategy's indicators over its candles.
  async function plot(limit) {
    if (interval !== one.interval) { plots = []; chart?.plots([]); return; }
    let plotted;
    try { plotted = await get(`strategies/${part(name)}/plots`, { limit: Math.max(limit, plots[0]?.points.length ?? 0) }); } catch { return;
      } // the next candle triggers another read
    const drawn = plotted.lines.map((line) => ({ name: line.name, own: line.own,
          points: plotted.open_ms.flatMap((ms, i) => (line.values[i] === null ? [] : [{ time: ms / 1000, value: line.values[i] }])) }));
    const before = plots.length;
    plots = drawn;
    chart?.plots(drawn);
    if (before !== drawn.length) page.draw();
  }

  // marks are the decisions that change the side of the target, and the refused intents.
  function marks() {
    const marks = [];
    for (let i = decisions.length - 1, before = ""; i >= 0; i--) {
      const { side: to, at_ms, reason } = decisions[i];
      if (to !== before && (to === "long" || to === "short")) marks.push({ atMS: at_ms, below: to === "long", shape: "circle", tone: "accent",
          text: to, why: `target ${to}: ${reason}` });
      else if (to !== before && before && before !== "flat") marks.push({ atMS: at_ms, below: before === "short", shape: "circle", tone: "soft",
          text: "out", why: `exits: ${reason}` });
      before = to;
    }
    return marks.concat(refused.map((intent) => ({ atMS: intent.at_ms, below: intent.side === "BUY", shape: "square", tone: "warn",
            text: f.words(intent.rule), why: `refused by ${f.words(intent.rule)}: ${intent.detail}` })));
  }

  function overlay() {
    if (!chart?.chart || !one) return;
    chart.trades(fills.map((fill) => ({ atMS: fill.at_ms, side: fill.side, quantity: fill.quantity })),
      view === "parity" && parity ? parity.marks() : marks());
    const lines = [];
    if (f.sign(one.position) && !f.isZero(one.entry_price)) lines.push({ key: "entry", price: Number(one.entry_price), name: "entry", tone: "accent" });
    if (!f.isZero(one.liq_price)) lines.push({ key: "liq", price: Number(one.liq_price), name: "liquidation", tone: "down" });
    for (const order of one.orders) {
      const stop = !f.isZero(order.stop_price), price = Number(stop ? order.stop_price : order.price);
      if (price > 0) lines.push({ key: order.client_order_id, price, name: `${f.words(order.purpose)} ${order.side.toLowerCase()}`,
          tone: stop ? "warn" : order.side === "BUY" ? "up" : "down", dashed: true });
    }
    chart.levels(lines);
  }

  function body() {
    const s = { ...one, ...(strategy(name) ?? {}) };
    return [
      h("div.page-head", h("h1", name), tag(s.state), h("p.note", `${s.kind} on `, symbolLink(s.market, s.symbol), h("span.unit", s.interval),
          h("span.links", link(`/intents?strategy=${part(name)}`, "intents"), link(`/logs?strategy=${part(name)}`, "log"))), h("div.actions", controls(s))),
      s.state_reason || s.degraded.length ? panel("What blocks openings", { key: "why" },
        h("ul.attention", s.degraded.map((each, i) => h("li.warn", { key: each.state + i }, h("p", tag("near", f.words(each.state)), " ", each.cause,
                h("br"), h("span.note", "Remedy: ", each.remedy)))), s.state_reason && !s.degraded.length ? h("li.warn", { key: "why" }, h("p", s.state_reason))
          : null)) : null,
      facts4(s), candles(s), h("section.panel", { "aria-label": "More of " + name, key: "more" },
        tabs("More of " + name, views, view, (to) => { view = to; page.choose("view", to);
            explain.now(); round.now(); compare.now(); overlay(); page.draw(); }),
        h("div", { role: "tabpanel", "aria-label": views.find(([each]) => each === view)[1] }, tab(s))),
    ];
  }

  function controls(s) {
    if (!operator()) return h("span.note", "viewer: read only");
    const halted = s.degraded.some((each) => each.state === "halted" && each.strategy === name), latched = s.latch || s.state === "latched";
    return [
      halted || latched
        ? button(latched && !halted ? "Release latch…" : "Resume…", async () => (await halting()).resume(name, read), { icon: "play" })
        : button("Pause entries…", async () => (await halting()).pause(name, read), { icon: "pause" }),
      button("Halt…", stop, { icon: "halt", tone: "danger" }),
    ];
  }

  async function stop() {
    const { HaltForm } = await halting();
    const place = h("div"), form = new HaltForm(() => morph(place.firstElementChild, form.node()), { strategy: name });
    place.append(form.node());
    dialog("Halt " + name, place, { wide: true });
    form.readPreview();
  }

  function facts4(s) {
    const base = s.symbol.split("-")[0], way = f.sign(s.position);
    return panel("Now", { key: "now", note: s.plan.reason || s.reason || null }, facts([
      ["Target", s.plan.target || (s.plan.orders.length ? f.plural(s.plan.orders.length, "order") + " in the book" : "nothing")],
        ["Position", way ? [side(way > 0 ? "LONG" : "SHORT"), " ", f.exact(s.position.replace("-", "")), h("span.unit", base)] : "flat"],
        ["Entry", f.isZero(s.entry_price) ? "–" : h("span", { title: s.entry_price },
            f.money(s.entry_price, { places: places + 2 }).replace(/(\.\d*[1-9])0+$/, "$1"))],
        ["Last", f.exact(s.last_price)],
      ["Unrealized", signed(s.unrealized, { unit: "USDT" })], ["Net", signed(s.realized, { unit: "USDT" })],
        ["Own equity", unit(f.money(s.equity), "USDT")], ["Stop-loss", exit(s, "stop_loss")], ["Take-profit", exit(s, "take_profit")],
        ["Protected", way ? (s.protected ? tag("ok", "on the exchange") : tag("near", "no stop on the exchange")) : "–"],
      ["Last tick", s.last_tick_ms ? ago(s.last_tick_ms, now()) : "–"], ["Next tick", due(s.next_tick_ms, now())],
        s.latch ? ["Latched", `${s.latch}: no entry until its target is zero or changes side`] : null,
    ]));
  }

  // exit returns the price of the working exit order, or that of the plan.
  function exit(s, purpose) {
    const order = s.orders.find((each) => each.purpose === purpose);
    return order ? f.given(order.stop_price) : s.plan[purpose] || "none";
  }

  function candles(s) {
    const shown = chart?.bars.slice(-60).reverse() ?? [];
    const offered = Object.keys(intervals).filter((each) => ["1m", "5m", "15m", "1h", "4h", "1d", s.interval].includes(each));
    const choice = (to) => { interval = to; page.choose("interval", to); page.draw(); draw(); };
    const counts = [f.plural(fills.length, "fill"), f.plural(decisions.length, "decision"), f.plural(refused.length, "refusal")].join(", ");
    return panel("Candles", { key: "candles", note: chart?.held ?? null,
        actions: [h("button.button.quiet", { type: "button", "aria-pressed": String(framed), title: "Scale the chart so that stop, target, entry, " +
              "orders and liquidation are in view", on: { click: () => { framed = !framed; chart?.frame(framed); page.draw(); } } },
            framed ? "Candles alone" : "Levels in view"), segments("Interval", offered.map((each) => [each, each]), interval, choice)] },
      h("figure", { "aria-label": `Candles of ${s.symbol}, ${counts}; the newest are in the tables below` },
        h("div.chart.tall", { "aria-hidden": "true", keep: frame })),
      h("div.chart-foot", h("span", "▲ buy, ▼ sell, ● decision, ■ refusal · lines: entry, orders, stops, liquidation",
          plots.map((line, i) => ` · ${line.name}: ${plotStyles[i % plotStyles.length]}`), " · ", f.zone()), notice()),
      h("details.mirror", h("summary", "The newest candles as a table"),
        table("Candles of " + s.symbol, [{ name: "Opened", class: "nowrap", cell: (bar) => f.stampShort(bar.time * 1000) },
            ...["open", "high", "low", "close"].map((each) => ({ name: each, num: true, cell: (bar) => f.exact(bar[each].toFixed(places)) }))], shown,
          { key: (bar) => bar.time, stack: false, none: empty("No candles", "The exchange has not been read yet, or did not answer.") })));
  }

  function tab(s) {
    switch (view) {
      case "why": return reasons ? reasons.why(preview) : h("p.loading", "Asking the engine…");
      case "trades": return drawn ? drawn.trips(trades.items, trades.next ? button("Show older", earlier) : null) : h("p.loading", "Reading…");
      case "parity": return !operator() ? empty("Only an operator can compare", "This runs a backtest in the daemon; you are logged in as a viewer.")
        : parity ? parity.view() : h("p.loading", "Running the backtest over the same period…");
      case "orders": return table("Working orders", [{ name: "Sent", cell: (o) => time(o.sent_ms, now()) },
          { name: "For", cell: (o) => f.words(o.purpose) },
          { name: "Side", cell: (o) => side(o.side) },
          { name: "Price", num: true, cell: f.aligned(s.orders, (o) => (f.isZero(o.price) ? o.stop_price : o.price)) },
          { name: "Quantity", num: true, cell: (o) => (o.close_position ? "all" : f.given(o.quantity)) },
          { name: "State", cell: (o) => tag(o.state) },
          { name: "Life", cell: (o) => intentLink(o.client_order_id) }], s.orders,
            { key: (o) => o.client_order_id, none: empty("No order is working", link("/orders?view=ended&strategy=" + part(name), "Show ended orders")) });
      case "fills": return table("Fills", [{ name: "Seen", cell: (o) => time(o.at_ms, now()) },
          { name: "For", cell: (o) => f.words(o.purpose) },
          { name: "Side", cell: (o) => side(o.side) },
          { name: "Quantity", num: true, cell: (o) => f.exact(o.quantity) },
          { name: "Mean price", num: true, cell: f.aligned(fills.slice(0, 100), (o) => o.price) },
          { name: "Order", cell: (o) => intentLink(o.client_order_id) }], fills.slice(0, 100),
            { none: empty("Nothing has been filled yet", "Fills are listed here and marked on the chart.") });
      case "limits": return table("Limits", [{ name: "Limit", cell: (l) => f.words(l.rule) },
          { name: "Value", num: true, cell: (l) => l.value },
          { name: "Limit", num: true, cell: (l) => l.limit },
          { name: "Headroom", num: true, cell: (l) => l.headroom },
          { name: "Utilization", cell: (l) => meter(l.ratio, f.words(l.rule), l.state) },
          { name: "State", cell: (l) => tag(l.state) }], s.limits,
            { key: (l) => l.scope + l.rule, none: empty("No limits of its own", link("/risk", "The account's limits apply to it")) });
      case "config": return yaml(s.config);
    }
    return table("Decisions", [{ name: "Time", class: "nowrap", cell: (d) => time(d.at_ms, now()) },
        { name: "Target", class: "nowrap", cell: (d) => d.target || "none" },
        { name: "Reason", class: "text", cell: (d) => d.reason || "–" },
        { name: "Last price", num: true, cell: f.aligned(decisions, (d) => d.last_price) },
        { name: "Position at the time", num: true, cell: (d) => f.exact(d.position) }], decisions, { next: after ? button("Show older", older) : null,
          none: empty("No decision yet", "A change of the strategy's plan is listed here, with its reason. The plan in force is above.") });
  }
}
