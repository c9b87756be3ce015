import { get, part } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { narrow } from "../list.js";
import { now } from "../state.js";
import { empty, facts, panel, side, strategyLink, symbolLink, table, tag, time } from "../components.js";

const road = ["derived", "checked", "journalled", "sent", "acknowledged", "fetched", "settled"];
const ends = { refused: 1, uncertain: 1 };

export const title = (params) => "Intent " + params.id;

export async function open(page) {
  let one = null;
  const read = page.reader(async () => { one = await get("intents/" + part(page.params.id)); });
  page.on(["intent", "order", "fill"], (data) => { if (data.id === one?.id || data.client_order_id === one?.client_order_id) read(); });
  page.view(() => one && [
    h("div.page-head", h("h1", `${f.words(one.purpose)} of ${one.strategy}`), tag(one.outcome), h("p.note", one.reason || one.detail || "")),
    life(one), panel("Request", { key: "request" }, request(one)), checks(one), one.order ? order(one.order) : null, events(one),
    h("details.panel.mirror", { key: "json" }, h("summary", "As JSON"), h("pre.yaml", { tabindex: "0" }, JSON.stringify(one, null, 2))),
  ]);
  await read.now();
}

// life draws the sequence of steps of an order, and how far this one is.
function life(one) {
  const first = one.steps[0]?.at_ms ?? one.at_ms, seen = new Map();
  for (const step of one.steps) seen.set(step.step, step);
  const reached = Math.max(-1, ...road.map((name, i) => (seen.has(name) ? i : -1)));
  const bad = one.steps.filter((step) => ends[step.step]);
  const over = bad.length || seen.has("settled") || one.purpose === "cancel" || one.purpose === "leverage";
  const steps = road.map((name, i) => ({ name, step: seen.get(name), state: seen.has(name) ? "done" : i < reached ? "done" : !over &&
        i === reached + 1 ? "now" : "todo" }));
  const shown = bad.length && !seen.has("settled") ? [...steps.filter((one) => one.step),
    ...bad.map((step) => ({ name: step.step, step, state: "bad" }))] : steps;
  return panel("Life cycle", { key: "life", note: ["from ", time(first, now())] },
    h("ol.life", shown.map(({ name, step, state }) => h("li", { class: state, key: name },
    h("span.step-name", f.words(name), h("span.hidden", { done: ": done", now: ": in progress", todo: ": not reached", bad: ": it ended here" }[state])),
    h("span.step-time", step ? elapsed(step.at_ms - first) : state === "now" ? "waiting" : state === "done" ? "earlier run" : "–"),
      step?.text ? h("span.step-text", step.text) : null))));
}

const elapsed = (ms) => `+${(ms / 1000).toFixed(3)} s`;

function request(one) {
  return facts([["Strategy", strategyLink(one.strategy)], ["Symbol", symbolLink(one.market, one.symbol)], ["Purpose", f.words(one.purpose)],
      one.side ? ["Side", side(one.side)] : null, one.type ? ["Type", f.words(one.type.toLowerCase())] : null,
    !f.isZero(one.quantity) ? ["Quantity", f.exact(one.quantity)] : one.quote_amount ? ["For", f.money(one.quote_amount) + " USDT"] : null,
      !f.isZero(one.price) ? ["Price", f.exact(one.price)] : null, !f.isZero(one.stop_price) ? ["Stop price", f.exact(one.stop_price)] : null,
      one.last_price ? ["Last price at the time", f.exact(one.last_price)] : null,
    one.client_order_id ? ["Client order id", h("span.mono", one.client_order_id)] : null,
      one.order_id ? ["Order id", h("span.mono", String(one.order_id))] : null]);
}

// short drops the digits of a division after the eighth place; the JSON has all.
const short = (text) => text?.replace(/(\.\d{8})\d+/g, "$1");

function checks(one) {
  const passed = one.checks.filter((each) => each.verdict === "passed").length;
  const order = { refused: 0, passed: 1, not_reached: 2 };
  const plain = one.checks.filter((each) => each.verdict === "passed" && !each.value && !each.hint),
    never = one.checks.filter((each) => each.verdict === "not_reached");
  const rows = one.checks.filter((each) => !plain.includes(each) && !never.includes(each)).sort((a, b) => order[a.verdict] - order[b.verdict]),
    names = (all) => all.map((each) => f.words(each.rule)).join(", ");
  return panel("Checks", { key: "checks", note: one.checks.length ? `${passed} of ${one.checks.length} passed` : null }, table("Checks", [
    { name: "Rule", class: "nowrap lead", cell: (c) => [f.words(c.rule), c.scope ? h("span.note.under", c.scope) : null] },
    { name: "Verdict", cell: (c) => tag(c.verdict) },
    { name: "Value", num: true, cell: (c) => short(c.value) || h("span.soft", "none") },
    { name: "Limit", num: true, cell: (c) => short(c.limit) || "–" },
    { name: "Hint", class: "text", cell: (c) => c.hint || "–" },
  ], rows, { key: (c) => c.rule + (c.scope ?? ""), none: one.checks.length ? null : empty("No checks", one.purpose === "cancel" ||
    one.purpose === "leverage" ? "Cancels and leverage are not orders: no rule applies."
    : "Only the checks of the newest intents of this run are in memory; the journal has the order itself.") }),
  plain.length ? h("p.panel-body.tight", { key: "plain" }, tag("passed", `${plain.length} more passed`),
    h("span.note", ` without figures: ${names(plain)}`)) : null,
  never.length ? h("p.panel-body.tight", { key: "never" }, tag("not_reached", `${never.length} not reached`), h("span.note", `: ${names(never)}`)) : null);
}

function order(o) {
  return panel("Order", { key: "order", note: tag(o.state) },
    facts([["Quantity", o.close_position ? "whole position" : f.given(o.quantity)], ["Filled", f.exact(o.filled)],
        ["Mean price", f.given(o.mean_price)], ["Price", f.given(o.price)], ["Stop price", f.given(o.stop_price)],
    ["Sent", time(o.sent_ms, now())], ["Ended", time(o.ended_ms, now())],
      ["Flags", [o.reduce_only && "reduce only", o.close_position && "close position", o.post_only && "post only"].filter(Boolean).join(", ") ||
        "none"], o.evidence ? ["Evidence", o.evidence] : null, o.reason ? ["Why", o.reason] : null]));
}

function events(one) { // the life cycle shows the newest of each step
  const all = table("Events", [{ name: "Time", class: "nowrap", cell: (s) => f.stampFull(s.at_ms) },
        { name: "After", num: true, cell: (s) => elapsed(s.at_ms - one.steps[0].at_ms) },
        { name: "Step", cell: (s) => f.words(s.step) },
        { name: "What", class: "text", cell: (s) => s.text || "–" }],
    one.steps, { key: (s) => one.steps.indexOf(s), none: empty("No events", "It belongs to an earlier run.") });
  return panel("Events", { key: "events" }, narrow.matches ? h("details.mirror", h("summary", f.plural(one.steps.length, "event")), all) : all);
}
