import { get, post } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { confirmChange } from "../halt.js";
import { now, operator } from "../state.js";
import { say } from "../dialogs.js";
import { ago, button, empty, facts, intentLink, panel, side, strategyLink, symbolLink, table, tag, time } from "../components.js";

export const title = () => "Reconcile";

export async function open(page) {
  let state = null, listed = { items: [], next: null };
  const ask = (after) => get("reconcile/differences", { limit: 25, after });
  const read = page.reader(async () => { [state, listed] = await Promise.all([get("reconcile"), ask()]); });
  const older = async () => { const list = await ask(listed.next); listed = { items: listed.items.concat(list.items), next: list.next }; page.draw(); };
  page.on(["reconcile", "order", "position", "status"], read);
  page.every(5000, read);
  page.view(() => state && [
    h("div.page-head", h("h1", "Reconcile"), h("p.note", "Exchange and journal, compared in every round."),
      operator() ? h("div.actions", button("Run a round now", round, { icon: "reconcile" })) : null),
    glance(state), ...state.quarantines.map((one) => quarantine(one, read)), h("div.grid", { key: "found", class: state.unknown.length ? "" : "two" },
      unknown(state.unknown), events(state.events)), rounds(state.rounds), differences(listed.items, listed.next ? button("Show older", older) : null),
  ]);
  await read.now();

  async function round() {
    try { await post("reconcile", {}); say("A round has begun."); read(); } catch (error) { say(error.message, "bad"); }
  }
}

function glance(s) {
  const calm = !s.quarantines.length && !s.unknown.length && !s.blind;
  return h("section.panel", { key: "glance", "aria-label": "At a glance" }, h("p.calm", tag(calm ? "ok" : "failed", calm ? "agree" : "check"),
    h("span", h("strong", calm ? "Exchange and journal agree." : s.blind ? "botd cannot read the exchange."
        : `${f.plural(s.quarantines.length, "symbol")} in quarantine, ${f.plural(s.unknown.length, "order")} with an uncertain outcome.`),
      " The last complete round was ", s.last_ms ? ago(s.last_ms, now()) : "never", s.failed ? `; ${s.failed} failed since` : "", ".")));
}

function quarantine(q, done) {
  const where = { market: q.market, symbol: q.symbol }, name = `${q.symbol} ${q.market}`;
  const ask = (decision, verb) => confirmChange({ title: `${verb} on ${name}`, path: "reconcile/resolve", body: { ...where, decision }, verb,
      needsReason: true, done });
  return panel(`Quarantine: ${name}`, { key: "q " + name, class: "differs", note: ["since ", ago(q.since, now())], actions: operator() && !q.blocked
      ? [button("Adopt…", () => ask("adopt", "Adopt")), button("Ignore…", () => ask("ignore", "Ignore"))]
      : h("span.note", q.blocked || "an operator resolves it") },
    h("p.panel-body", tag("quarantined"), " ", q.cause, q.strategy ? [" · strategy ", strategyLink(q.strategy)] : null,
      ". Nothing opens on it until you decide."),
    facts([["Exchange", f.exact(q.position)], ["Journal", f.exact(q.explained)], ["Foreign", f.exact(q.ignored)],
        ["Difference", h("strong.bad", f.exact(q.difference, { plus: true }))]]),
    q.orders.length ? table("Orders that the journal does not know", [{ name: "Order", cell: (o) => h("span.mono", String(o.order_id)) },
        { name: "Client order id", cell: (o) => h("span.mono", o.client_order_id || "–") },
        { name: "Side", cell: (o) => side(o.side) },
        { name: "Type", cell: (o) => f.words(o.type.toLowerCase()) },
        { name: "Quantity", num: true, cell: (o) => f.exact(o.quantity) },
        { name: "Filled", num: true, cell: (o) => f.exact(o.filled) },
        { name: "Price", num: true, cell: (o) => f.given(f.isZero(o.price) ? o.stop_price : o.price) }], q.orders, { key: (o) => o.order_id }) : null,
    q.unknown.length ? unknownTable(q.unknown) : null,
    h("div.grid.two", choice("Adopt: botd manages the difference", q.adopt), choice("Ignore: the difference stays foreign", q.ignore)));
}

const choice = (name, lines) => h("div.panel-body", h("h3.note", name), h("ul", lines.map((line) => h("li", "· ", line))));

function unknown(all) {
  return panel("Orders with an uncertain outcome", { key: "unknown", note: all.length ? f.plural(all.length, "order") : null },
    all.length ? unknownTable(all) : empty("The outcome of every order is known",
      "An order whose answer was lost is listed here until two equal snapshots settle it. It is never sent again."));
}

const unknownTable = (all) => table("Orders with an uncertain outcome", [{ name: "Sent", cell: (o) => ago(o.sent_ms, now()) },
    { name: "Strategy", cell: (o) => strategyLink(o.strategy) },
    { name: "Symbol", cell: (o) => symbolLink(o.market, o.symbol) },
    { name: "For", cell: (o) => f.words(o.purpose) },
    { name: "Side", cell: (o) => side(o.side) },
    { name: "Quantity", num: true, cell: (o) => f.given(o.quantity) },
    { name: "State", cell: (o) => tag(o.state) },
    { name: "Why", class: "text", cell: (o) => o.reason || "–" },
    { name: "Life", cell: (o) => intentLink(o.client_order_id) }], all, { key: (o) => o.client_order_id });

function events(all) {
  return panel("Findings", { key: "events", note: "adopted, ignored, found and stale, in this run" },
    all.length ? h("ul.feed", all.map((one) => h("li", { key: one.id }, time(one.at_ms, now()), h("span.what", tag(one.severity, f.words(one.kind)),
            one.ended ? " ended" : "", one.symbol ? ` ${one.symbol}` : "", h("span.note", one.text))))) : empty("No findings in this run",
      "Positions and orders that botd did not make, and stale lists, are listed here."));
}

function differences(all, next) {
  const much = (d) => [d.quantity, d.amount].filter(Boolean).map((text) => f.exact(text, { plus: true })).join(" ") + (d.asset ? " " + d.asset : "") || "–";
  return panel("Differences", { key: "differences", note: "of the journal, including earlier runs" }, table("Differences", [
    { name: "Time", class: "nowrap", cell: (d) => time(d.at_ms, now()) },
    { name: "What", class: "nowrap", cell: (d) => tag(d.open ? "quarantined" : d.kind === "unexplained" ? "warning" : "info", d.kind) },
    { name: "Symbol", class: "nowrap", cell: (d) => (d.symbol ? symbolLink(d.market, d.symbol) : d.market) },
    { name: "Amount", num: true, class: "nowrap", cell: much },
    { name: "Why", class: "text", cell: (d) => d.text || "–" },
    { name: "Until", class: "nowrap", cell: (d) => (d.open ? tag("near", "needs a decision") : d.ended_ms ? time(d.ended_ms, now()) : "–") },
  ], all, { next, none: empty("No differences", "Quarantined, adopted, ignored and found differences, and unexplained money, are listed here.") }));
}

function rounds(all) {
  const slowest = Math.max(1, ...all.map((one) => one.duration_ms));
  return panel("Rounds", { key: "rounds", note: `the last ${all.length}, the slowest took ${f.age(slowest)}` },
    h("p.panel-body.tight.note", { "aria-hidden": "true" }, "duration of each round, the newest at the right"),
      h("div.rounds", { "aria-hidden": "true" },
        [...all].reverse().map((one) => h("span", { key: one.id, class: one.complete ? "" : "bad", tall: one.duration_ms / slowest,
              title: `${f.stamp(one.at_ms)}: ${one.duration_ms} ms` }))),
    h("details.mirror", h("summary", "As a table"), table("Rounds", [{ name: "Began", cell: (r) => time(r.at_ms, now()) },
          { name: "Result", cell: (r) => tag(r.complete ? "ok" : "failed", r.complete ? "complete" : "failed") },
          { name: "Duration", num: true, cell: (r) => r.duration_ms + " ms" },
          { name: "Sent", num: true, cell: (r) => String(r.acted) }], all)));
}
