import { get } from "../api.js";
import { NEAR_LIQUIDATION, UNSETTLED_AFTER_MS } from "../bounds.js";
import { notice, segments } from "../chart.js";
import { Curve } from "../curve.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { ASKED, feedPanel, merged } from "../activity.js";
import { icon } from "../icons.js";
import { live, now } from "../state.js";
import { daysPanel, positionsPanel, strategiesPanel } from "../panels.js";
import { ago, empty, facts, link, panel, signed, table, tag, tile, time } from "../components.js";
import { visitedAt, Since } from "../last_visit.js";

const HOUR = 3_600_000, SHOWN = 6;
const ranges = [["1h", "1 h", HOUR], ["24h", "24 h", 24 * HOUR], ["7d", "7 d", 168 * HOUR], ["30d", "30 d", 720 * HOUR], ["all", "All", 0]];

export const title = () => "Overview";

export async function open(page) {
  let positions = [], limits = [], feed = [], notices = [], equity = null, whole = null, range = page.query.get("range") || "24h";
  const host = h("div.host"), legend = h("div.legend"), curve = new Curve(host, legend), frame = h("div.frame", legend, host);
  const readPositions = page.reader(async () => { positions = (await get("positions")).items; });
  const readLimits = page.reader(async () => { limits = (await get("risk/limits")).items; });
  const readFeed = page.reader(async () => {
    const [fills, intents, noted] = await Promise.all([get("fills", { limit: ASKED }), get("intents", { outcome: "refused", limit: ASKED }),
        get("notices", { limit: ASKED })]);
    notices = noted.items;
    feed = merged(fills.items, intents.items, noted.items);
  });
  const readEquity = page.reader(async () => {
    const length = ranges.find(([name]) => name === range)[2];
    equity = await get("equity", length ? { from: Math.round(now() - length) } : {});
    curve.set(points(equity), marks(equity));
  });
  const readWhole = page.reader(async () => { // a step has its last point: the very first point is read separately
    const steps = await get("equity", { step: 6 * HOUR }), to = steps.time_ms[0], first = to ? await get("equity", { from: to - 6 * HOUR, to }) : steps;
    whole = { time_ms: [...first.time_ms.slice(0, 1), ...steps.time_ms], equity: [...first.equity.slice(0, 1), ...steps.equity] };
  });
  let answers = null, exchange = null, open = false;
  const readAnswers = page.reader(async () => {
    exchange ??= await import("../exchange_answers.js");
    answers = exchange.answersTable(await exchange.answers());
  });
  const ask = (event) => { open = event.target.open; if (open) readAnswers(); };
  page.every(5000, () => { if (open) readAnswers(); });
  const since = new Since(() => page.draw());
  page.view(() => [
    h("div.page-head", h("h1", "Overview"), h("p.note", running())),
    attention(notices), since.node(), live.strategies.length ? null : begin(), tiles(positions, whole), positionsPanel(positions),
      h("div.grid.wide", { key: "made" }, strategiesPanel(), daysPanel(whole)),
      h("div.grid.wide", { key: "curves" }, equityPanel(), feedPanel(feed, visitedAt())), health(limits, answers, ask),
  ]);
  page.on(["status", "strategy", "link"], () => page.draw());
  page.on(["fill", "intent", "notice"], () => { readFeed(); readLimits(); });
  page.on(["position", "order", "trade", "strategy"], readPositions);
  page.on("account", readEquity);
  page.every(15_000, () => { readLimits(); readFeed(); }); // the price of a futures fill is known some seconds after the fill
  page.every(HOUR / 6, readWhole);
  page.every(1000, () => page.draw());
  page.onLeave(() => { curve.close(); since.close(); });
  since.read().catch(() => {}); // the lists also contain what happened meanwhile
  await Promise.all([readPositions.now(), readLimits.now(), readFeed.now(), readWhole.now(), curve.open().then(readEquity.now)]);

  function equityPanel() {
    const first = equity?.equity[0], last = live.status.equity;
    const grew = first === undefined || last === null ? null : Number(last) - Number(first);
    return panel("Equity", { class: "grows", actions: segments("Range", ranges, range, (name) => { range = name; page.choose("range", name);
            readEquity.now(); }), note: grew === null ? null : ["in this range ", signed(grew.toFixed(2), { unit: "USDT" })] },
      equity && equity.time_ms.length < 2 ? empty("The curve starts now", "Equity is recorded every minute. The curve appears after a few minutes.") : null,
      h("figure", { "aria-label": "Equity over time; the table below has its numbers", key: "figure", class: equity && equity.time_ms.length < 2
          ? "hidden" : null }, h("div.chart", { "aria-hidden": "true", keep: frame })),
      equity && equity.time_ms.length < 2 ? null : h("div.chart-foot", h("span",
          "USDT, all markets; below it the drawdown · marks: starts, halts, limits · ", f.zone()), notice()),
      equity?.time_ms.length > 1 && h("details.mirror", h("summary", "Numbers"),
        table("Equity over time", [{ name: "Time", cell: (i) => time(equity.time_ms[i], now()) },
            { name: "Equity", num: true, cell: (i) => f.money(equity.equity[i]) },
            { name: "Wallet", num: true, cell: (i) => f.money(equity.wallet[i]) },
            { name: "Unrealized", num: true, cell: (i) => signed(equity.unrealized[i]) }], sampled(equity.time_ms.length), { key: (i) => i })));
  }
}

// begin shows the first steps while nothing is configured.
function begin() {
  return panel("Getting started", { key: "begin", note: "no strategy is configured: nothing is traded and no account is fetched" }, h("ol.begin",
    h("li", h("code", "botd init"), h("span.note.under", "writes a commented configuration with a strategy into ./configs")),
      h("li", h("code", "botd check -c configs"), h("span.note.under", "reports every mistake with file and line")),
    h("li", h("code", "botd run -c configs"), h("span.note.under", "runs it; the strategy's candles, decisions and orders are then shown here"))));
}

const running = () => `${live.status.instance} has been running for ${f.uptime((Date.now() - live.began) / 1000)}, botd ${live.status.version}`;

// points returns the points of the curve, at most one a second.
function points(equity) {
  const all = [];
  equity.time_ms.forEach((ms, i) => { const at = Math.floor(ms / 1000);
      if (!all.length || at > all.at(-1).time) all.push({ time: at, value: Number(equity.equity[i]) }); });
  return all;
}

function marks(equity) {
  const first = (equity.time_ms[0] ?? 0) / 1000;
  return equity.marks.filter((mark) => mark.at_ms / 1000 >= first &&
    mark.kind !== "config").slice(-12).map((mark) => ({ time: Math.floor(mark.at_ms / 1000), shape: mark.kind === "boot" ? "circle" : "square",
        tone: mark.kind === "boot" ? "faint" : "bad", text: mark.kind === "boot" ? "start" : mark.action, why: mark.kind === "boot" ? "botd started"
        : [mark.action, mark.detail].filter(Boolean).join(": ") }));
}

function sampled(count) {
  const step = Math.max(1, Math.ceil(count / 60)), rows = [];
  for (let i = count - 1; i >= 0; i -= step) rows.push(i);
  return rows;
}

// grown returns the change of the equity since a time, by its history; null if the history does not reach back that far.
function grown(whole, fromMS) {
  if (!whole?.time_ms.length || live.status.equity === null || (fromMS && whole.time_ms[0] > fromMS + 6 * HOUR)) return null;
  const at = fromMS ? Math.max(0, whole.time_ms.findLastIndex((ms) => ms <= fromMS)) : 0;
  if (!fromMS && whole.time_ms[0] >= now() - (now() % (24 * HOUR))) return { change: live.status.today.change, at: whole.time_ms[0] }; // it began today
  return { change: (Number(live.status.equity) - Number(whole.equity[at])).toFixed(2), at: whole.time_ms[at] };
}

// uncounted lists the assets of the spot wallet that are not part of equity.
function uncounted(held) {
  if (!held?.length) return [];
  const rest = held.length - 1, first = `${f.exact(held[0].quantity)} ${held[0].asset}`;
  const title = "Equity includes the quote asset and botd's purchases, but not the spot wallet's previous holdings: " +
    held.map((one) => `${f.exact(one.quantity)} ${one.asset}`).join(", ");
  return [h("br"), h("span", { title }, `not counting ${first}${rest ? ` and ${f.plural(rest, "other asset")}` : ""}`)];
}

// tiles are the four main figures, all of them net.
function tiles(positions, whole) {
  const s = live.status, week = grown(whole, now() - 168 * HOUR), all = grown(whole, 0), traded = live.strategies.length > 0;
  const open = f.sum(positions.map((one) => one.profit)), unprotected = positions.filter((one) => f.sign(one.quantity) && !one.protected).length;
  return h("dl.tiles.four", { key: "tiles" },
    tile("Equity", traded ? [f.money(s.equity), h("span.unit", "USDT")] : "–",
      { title: s.equity, detail: traded ? [all ? ["in all ", signed(all.change), " "] : "", ...uncounted(s.uncounted)] : "not read" }),
    tile("Today", signed(s.today.change), { title: s.today.change, detail: [f.percent(s.today.change_ratio, { plus: true }),
          week ? [", 7 d ", signed(week.change)] : ""] }),
    tile("Drawdown", f.percent(s.today.drawdown_ratio), { detail: ["from today's peak of ", f.money(s.today.peak)], title: s.today.peak,
        tone: s.today.drawdown_ratio > 0.1 ? "warn" : "" }),
    tile("Open positions", positions.length ? signed(open) : "None", { title: open, href: "/positions",
        detail: positions.length ? [f.plural(positions.length, "position"), ", net", unprotected ? `, ${unprotected} without a stop`
            : ""] : "no position is open" }));
}

// state returns the figures of risk and health, which matter when they change.
function state(limits) {
  const s = live.status, near = s.nearest_liquidation, tightest = highest(limits.filter((one) => one.near !== "usual"));
  const margin = Number(s.futures_equity) > 0 ? Number(s.margin_used) / Number(s.futures_equity) : null, differs = s.reconcile.differences;
  const late = s.unsettled && now() - s.unsettled_since_ms > UNSETTLED_AFTER_MS, at = near && placed(near.symbol, near.price);
  return facts([
    ...titled(limits),
    ["Tightest limit", tightest ? link("/risk", h("span", { class: { ok: "", breached: "bad" }[tightest.state] ?? "warn" },
          f.percent(tightest.ratio, { places: 0 }), ` ${f.words(tightest.rule)}`)) : "no limit is set"],
    ["Margin in use", h("span", { title: `${s.available} USDT available` }, f.percent(margin, { places: 1 }))],
    ["Nearest liquidation", near ? h("span", { class: near.distance_ratio < NEAR_LIQUIDATION ? "bad" : "", title: near.price }, `${near.symbol} at ${at}, `,
        f.percent(near.distance_ratio, { places: 1 }), " away") : "no position can be liquidated"],
    ["Orders", h("span", { class: late ? "bad" : "" }, link("/orders", String(s.open_orders), s.unsettled
        ? `, ${s.unsettled} unsettled for ${f.age(now() - s.unsettled_since_ms)}` : ", all settled"))],
    ["Reconciled", h("span", { class: differs ? "bad" : s.reconcile.failed > 2 ? "warn" : "" }, s.reconcile.last_ms
          ? `${f.age(now() - s.reconcile.last_ms)} ago` : "not yet", differs ? `, ${f.plural(differs, "difference")}` : s.reconcile.failed
        ? `, ${s.reconcile.failed} rounds failed` : "")],
  ]);
}

// titled returns the utilization of each limit that has a title of its own: of several scopes, the highest.
function titled(limits) {
  const titles = new Set(limits.map((one) => one.title).filter(Boolean));
  return [...titles].map((title) => [title, highest(limits.filter((one) => one.title === title))])
    .map(([title, one]) => [title, h("span", { title: one.scope }, f.percent(one.ratio, { places: 1 }), " of its limit")]);
}

const highest = (limits) => [...limits].sort((a, b) => b.ratio - a.ratio)[0];
const placed = (symbol, price) => f.price(price, live.strategies.find((one) => one.symbol === symbol && one.market === "futures")?.last_price);

// attention lists everything that requires a person, each with its resolution.
function attention(notices) {
  const s = live.status, all = [];
  if (live.link === "lost") all.push(["bad", "The connection is lost", "the current state is unknown; below is the last known state",
      live.since, "/", "use botd status on its machine; this page reconnects automatically"]);
  for (const check of s.checks) if (!check.ok) all.push(["bad", `Not ready: ${f.words(check.name)}`, check.detail, null, "/settings", null]);
  for (const one of s.degraded) all.push([one.state === "limit" || one.state === "halted" ? "warn" : "bad",
      `${f.title(one.state)}: ${[one.strategy, one.market, one.symbol].filter(Boolean).join(" ") || "account"}`, one.cause, one.since,
      ["quarantined", "contradicted"].includes(one.state) ? "/reconcile" : "/risk", [one.remedy, one.doing].filter(Boolean).join(" ")]);
  for (const one of s.incidents ?? []) if (one.in_force && ["rate_limited", "ledger"].includes(one.kind)) all.push(["warn",
      `${f.title(one.kind)}: ${one.market ?? "account"}`, one.cause, one.since, "/risk", one.remedy]);
  for (const one of live.strategies) {
    if (one.state === "failed") all.push(["bad", `Strategy ${one.name} failed`, one.state_reason, null, "/strategies/" + encodeURIComponent(one.name), null]);
  }
  if (s.unsettled && now() - s.unsettled_since_ms > UNSETTLED_AFTER_MS) all.push(["warn", `${f.plural(s.unsettled, "order")} unsettled`,
      "botd polls until the outcome is known; nothing is sent twice", s.unsettled_since_ms, "/orders", null]);
  for (const one of notices) if (one.severity === "error" && !one.ended && now() - one.at_ms < 15 * 60_000 &&
    !["halt", "limit", "quarantine", "contradicted"].includes(one.kind)) all.push(["bad", f.title(one.kind), one.text, one.at_ms, "/logs", null]);
  if (s.unclean_start && s.uptime_s < 3600) all.push(["info", "The previous run was interrupted",
      "it ended without a clean stop; the start has reconciled what it left open", s.started, "/logs", null]);
  const last = s.out_of_band_halt;
  if (last && now() - f.msOf(last.since) < 24 * 3600_000) all.push([last.active ? "warn" : "info", "The kill switch acted without the engine",
      `${last.level}, by ${last.requested_by}: ${f.plural(last.orders, "order")} sent; ${last.cause}`, f.msOf(last.since), "/risk",
      last.active ? "the engine does not answer yet" : `the engine took over after ${f.age(last.took_ms)}`]);
  if (!all.length) return null;
  return panel("Needs attention", { key: "attention", note: f.plural(all.length, "item") }, h("div.attention", h("ul", all.slice(0, SHOWN).map(one)),
      all.length > SHOWN ? h("details", h("summary", `${all.length - SHOWN} more`), h("ul", all.slice(SHOWN).map(one))) : null));

  function one([tone, what, why, at, href, way], i) {
    return h("li", { class: tone, key: what + i }, icon(tone === "info" ? "info" : "warning"), h("p", h("span.title", link(href, what)),
        at ? [" ", h("span.note", ago(at, now()))] : null, why ? [h("br"), why] : null, way ? [h("br"), h("span.note", "Remedy: ", way)] : null));
  }
}

function health(limits, answers, ask) {
  const s = live.status, failed = s.checks.filter((check) => !check.ok).length;
  const reconciled = s.reconcile.last_ms ? "exchange and journal agree" : "the first reconciliation is running";
  const calm = live.link !== "lost" && !failed && !s.degraded.length;
  return panel("Health", { actions: link("/readyz?verbose", "readyz"), note: calm ? `All systems normal: all ${s.checks.length} checks pass, ${reconciled}`
      : s.ready ? "ready" : "not ready" },
    state(limits),
    h("details.mirror", { key: "checks", open: failed > 0 }, h("summary", "Checks"),
    h("ul.checks", s.checks.map((check) => h("li", { key: check.name, title: check.detail ?? null },
          tag(check.ok ? "ok" : "failed", f.words(check.name)), check.detail ? h("span.note", " " + check.detail) : null)))),
    h("details.mirror", { key: "answers", on: { toggle: ask } }, h("summary", "Exchange responses by request, since the start"), answers ??
      h("p.panel-body.note", "Reading…")));
}
