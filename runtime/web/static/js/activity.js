// Recent activity: fills, refusals and notices in one list, newest first.

import { h } from "./dom.js";
import * as f from "./format.js";
import { now } from "./state.js";
import { empty, link, panel, side, strategyLink, tag, time } from "./components.js";

export const ASKED = 60; // of each kind
const SHOWN = 14;

// merged combines them in one list; consecutive fills of a strategy form one entry.
export function merged(fills, intents, notices) {
  const all = [
    ...fills.map((one) => ({ id: "f" + one.id, at: one.at_ms, fill: one, of: [one] })),
    ...intents
      .filter((one) => one.outcome.startsWith("refused"))
      .map((one) => ({
        id: "i" + one.id,
        at: one.at_ms,
        what: [tag("refused"), ` ${f.words(one.purpose)} of ${one.strategy}`],
        note: [one.detail, " ", link("/intents/" + one.id, "why")],
      })),
    ...notices.map((one) => ({
      id: "n" + one.id,
      at: one.at_ms,
      what: [tag(one.severity, f.words(one.kind)), one.ended ? " ended" : ""],
      note: [one.strategy ? [strategyLink(one.strategy), " "] : null, one.text],
    })),
  ].sort((a, b) => b.at - a.at);
  const out = [];
  for (const one of all) {
    const last = out.at(-1);
    if (one.fill && last?.fill && ["strategy", "market", "symbol", "side", "purpose"].every((name) => one.fill[name] === last.fill[name]))
      last.of.push(one.fill);
    else out.push(one);
  }
  return out.slice(0, SHOWN);
}

function filled({ fill, of }) {
  const known = of.length === 1 && !f.isZero(fill.price),
    fees = of.every((one) => one.fee) && new Set(of.map((one) => one.fee_asset)).size === 1 ? f.sum(of.map((one) => one.fee)) : "";
  return h(
    "span.what",
    side(fill.side),
    ` ${f.exact(f.sum(of.map((one) => one.quantity)))} ${fill.symbol}`,
    known ? ` at ${fill.derived ? "≈" : ""}${f.money(fill.price, { places: Number(fill.price) < 1 ? 10 : 4 }).replace(/\.?0+$/, "")}` : "",
    h(
      "span.note",
      fees ? `fee ${fill.derived ? "≈" : ""}${f.money(fees, { places: 4 })} ${fill.fee_asset}, ` : "",
      `${f.words(fill.purpose)} of `,
      strategyLink(fill.strategy),
      of.length > 1
        ? [` in ${of.length} fills since `, time(of.at(-1).at_ms, now())]
        : [", ", link("/intents/" + encodeURIComponent(fill.client_order_id), "how")],
    ),
  );
}

// feedPanel draws them, with a line at the time of the last visit.
export function feedPanel(feed, seenAt) {
  const at = seenAt ? feed.findIndex((one) => one.at <= seenAt) : -1;
  return panel(
    "Activity",
    { note: "fills, refusals and notices", class: "activity" },
    feed.length
      ? h(
          "ul.feed",
          { tabindex: "0", "aria-label": "Recent activity" },
          feed.map((one, i) => [
            i === at ? h("li.seen", { key: "seen" }, "last visit ", time(seenAt, now())) : null,
            h("li", { key: one.id }, time(one.at, now()), one.fill ? filled(one) : h("span.what", one.what, h("span.note", one.note))),
          ]),
        )
      : empty("Nothing yet", "Fills, refusals and notices are listed here as they happen."),
  );
}
