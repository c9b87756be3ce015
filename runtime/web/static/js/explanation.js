// Why a strategy trades or does not: its conditions, the effect of its next tick, and what blocks it. botd explain prints the same.

import { h } from "./dom.js";
import * as f from "./format.js";
import { now } from "./state.js";
import { due, side, table, tag } from "./components.js";

export function why(o) {
  if (!o) return h("p.loading", "Asking the engine…");
  return h("div.why", blocks(o), warming(o), conditions(o), next(o));
}

const part = (title, ...content) => h("section", { key: title }, h("h3", title), content);

function blocks(o) {
  if (!o.blocks.length) return null;
  return part(
    "What blocks it",
    h(
      "ul.attention",
      o.blocks.map((one) =>
        h("li.warn", { key: one.what }, h("p", h("span.title", one.what), h("br"), h("span.note", "Remedy: ", one.remedy))),
      ),
    ),
  );
}

function warming(o) {
  return o.data.candles < o.data.warmup
    ? h("p.panel-body", tag("warming_up"), ` It has processed ${o.data.candles} of the ${o.data.warmup} candles of its warm-up.`)
    : null;
}

function conditions(o) {
  return part(
    "Conditions",
    table(
      "Conditions",
      [
        { name: "Condition", class: "lead", cell: (c) => c.name },
        { name: "Value", num: true, cell: (c) => h("span.num", c.value) },
        { name: "Requires", class: "text", cell: (c) => c.requires || "–" },
        { name: "Met", class: "nowrap", cell: (c) => (c.requires ? tag(c.met ? "ok" : "absent", c.met ? "met" : "not met") : "") },
      ],
      o.conditions,
      {
        key: (c) => c.name,
        none: h("p.panel-body.tight.soft", { key: "none" }, "It decides by the time and its position alone; no condition has a number."),
      },
    ),
  );
}

const desired = (plan) => [
  plan.target || (plan.orders.length ? f.plural(plan.orders.length, "order") + " in the book" : "nothing"),
  plan.reason ? h("span.soft", `: ${plan.reason}`) : "",
];

function next(o) {
  const steps = table(
    "What would be sent",
    [
      { name: "For", class: "lead", cell: (s) => f.words(s.purpose) },
      { name: "Side", cell: (s) => side(s.side) },
      {
        name: "Quantity",
        num: true,
        cell: (s) => (s.quantity ? f.exact(s.quantity) : s.quote_amount ? f.money(s.quote_amount) + " USDT" : "–"),
      },
      { name: "Price", num: true, cell: (s) => f.given(s.price || s.stop_price || "0") },
      { name: "Outcome", cell: (s) => tag(s.outcome === "waits" ? "uncertain" : s.outcome, s.outcome) },
      { name: "Why", class: "text", cell: (s) => (s.rule ? [f.words(s.rule), refusal(s)] : s.refused_by || s.reason || "–") },
    ],
    o.steps,
    { key: (s) => o.steps.indexOf(s) },
  );
  return part(
    "Next tick",
    h(
      "p.panel-body.tight",
      o.next_tick_ms
        ? [h("strong", due(o.next_tick_ms, now())), o.changes ? ": the target would be " : ": the target would stay ", desired(o.plan)]
        : "It has no next tick.",
      o.steps.length ? "" : h("span.note.under", "Nothing would be sent: the position matches the target."),
    ),
    o.steps.length ? steps : null,
  );
}

function refusal(step) {
  const no = step.checks?.find((one) => one.verdict === "refused");
  return no ? `: ${[no.value, no.limit && `the limit is ${no.limit}`].filter(Boolean).join(", ")}${no.hint ? `. ${no.hint}` : ""}` : "";
}
