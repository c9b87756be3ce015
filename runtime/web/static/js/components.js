// The components of pages.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import * as f from "./format.js";
import { arranged, filter, heading, narrow, rest } from "./list.js";

export const link = (href, ...content) => h("a", { href }, ...content);

// tag is a short state: a shape and a word; the color only repeats them.
const tones = {
  running: "good",
  ok: "good",
  filled: "good",
  passed: "good",
  working: "info",
  acknowledged: "info",
  sending: "info",
  placed: "info",
  approved: "info",
  derived: "quiet",
  warming_up: "quiet",
  near: "warn",
  full: "warn",
  latched: "warn",
  uncertain: "warn",
  warning: "warn",
  warn: "warn",
  halted: "bad",
  unprotected: "bad",
  quarantined: "bad",
  contradicted: "bad",
  failed: "bad",
  hung: "bad",
  breached: "bad",
  refused: "bad",
  refused_by_exchange: "bad",
  rejected: "bad",
  error: "bad",
  unknown: "warn",
  canceled: "quiet",
  expired: "quiet",
  absent: "quiet",
  info: "info",
  not_reached: "quiet",
};
const shapes = { good: "●", info: "◆", warn: "▲", bad: "■", quiet: "○" };

export function tag(state, text = f.words(state), tone = tones[state] ?? "quiet") {
  return h("span.tag", { class: tone }, h("span.shape", { "aria-hidden": "true" }, shapes[tone]), text);
}

// signed is a profit or a loss: arrow, sign and color.
export function signed(text, { places = 2, unit = "" } = {}) {
  const number = f.money(text, { plus: true, places }),
    way = f.isZero(number) ? 0 : f.sign(text);
  return h(
    "span.num",
    { class: ["down", "flat", "up"][way + 1] },
    way ? h("span.arrow", { "aria-hidden": "true" }, f.arrow(text)) : null,
    number,
    unit ? h("span.unit", unit) : null,
  );
}

export const unit = (number, name) => [number, h("span.unit", name)];

export function side(name) {
  const buys = name === "BUY" || name === "long" || name === "LONG";
  return name ? h("span.side", { class: buys ? "up" : "down" }, h("span.arrow", { "aria-hidden": "true" }, buys ? "▲" : "▼"), name) : "–";
}

export function time(at, nowMS) {
  return at ? h("time", { datetime: new Date(f.msOf(at)).toISOString(), title: f.stampFull(at) }, f.stamp(at, nowMS)) : "–";
}

export function ago(at, nowMS) {
  return at
    ? h(
        "time",
        { datetime: new Date(f.msOf(at)).toISOString(), title: f.stampFull(at) },
        nowMS - f.msOf(at) < 1000 ? "now" : f.age(nowMS - f.msOf(at)) + " ago",
      )
    : "–";
}

// due formats the time until an event.
export const due = (at, nowMS) => (!at ? "–" : at - nowMS < 1000 ? "now" : "in " + f.age(at - nowMS));

export function panel(title, { actions = null, note = null, key = title, class: more = "" } = {}, ...content) {
  const id =
    "p-" +
    String(key)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-");
  return h(
    "section.panel",
    { key, class: more, "aria-labelledby": id },
    h("header.panel-head", h("h2", { id }, title), note ? h("span.note", note) : null, actions ? h("div.actions", actions) : null),
    ...content,
  );
}

export function empty(title, text, ...more) {
  return h("div.empty", h("p.empty-title", title), h("p", text), ...more);
}

export function tile(label, value, { detail = null, tone = "", href = null, title = null } = {}) {
  const inside = [h("dt", label), h("dd", h("span.tile-value", value), detail ? h("span.tile-detail", detail) : null)];
  return h(
    "div.tile",
    { key: label, class: tone, title },
    href ? [inside[0], h("dd", link(href, h("span.tile-value", value)), detail ? h("span.tile-detail", detail) : null)] : inside,
  );
}

// table draws rows under columns {name, cell(row), num, class}. A row's link is in its first cell, so that the keyboard can
// reach it. On a phone the rows of a wide table stack: each cell has its label, and roles preserve the table.
export function table(
  caption,
  columns,
  rows,
  { key = (row) => row.id, none = null, row: more = () => ({}), next = null, stack = columns.length > 4 } = {},
) {
  if (!rows.length && none) return none;
  const shape = (column) => [column.num ? "num" : "", column.class ?? ""].filter(Boolean).join(" ") || null,
    role = (name) => (stack ? name : null);
  const line = (one) => h("tr", { key: key(one), role: role("row"), ...more(one) }, columns.map((column) => cell(column, one)));
  const cell = (column, one) => {
    const made = h("td", { class: shape(column), role: role("cell"), "data-label": role(column.name) }, column.cell(one));
    if (column.class?.includes("text")) made.title = made.textContent; // it is cut to one line
    if (stack && narrow.matches && made.textContent === "–") made.classList.add("nothing"); // a list can omit it
    return made;
  };
  const list = arranged(caption, columns, rows.map((one) => [one, line(one)])),
    left = rest(caption, list.rows.length, list.count);
  const head = (column) => {
    const [content, sort] = heading(caption, column, rows.length > 1);
    return h("th", { scope: "col", class: shape(column), role: role("columnheader"), "aria-sort": sort }, content);
  };
  const foot = left || next;
  return [
    filter(caption, rows.length),
    h(
      "div.scroll",
      { tabindex: "0", role: "group", "aria-label": caption, key: "table " + caption },
      h(
        "table",
        { class: stack ? "stack" : "", role: role("table") },
        h("caption.hidden", caption),
        h("thead", { role: role("rowgroup") }, h("tr", { role: role("row") }, columns.map(head))),
        h("tbody", { role: role("rowgroup") }, list.rows),
        foot
          ? h(
              "tfoot",
              { role: role("rowgroup") },
              h("tr", { role: role("row") }, h("td", { colspan: columns.length, role: role("cell") }, left, left && next ? " " : null, next)),
            )
          : null,
      ),
    ),
  ];
}

export function button(text, on, { icon: name = null, tone = "", disabled = false, title = null, type = "button", ...more } = {}) {
  return h("button.button", { type, class: tone, disabled, title, on: { click: on }, ...more }, name ? icon(name) : null, text);
}

// meter shows the utilization of a limit, in words for screen readers.
export function meter(ratio, label, state = "ok") {
  const share = Math.max(0, Math.min(1, ratio || 0));
  return h(
    "div.meter",
    {
      class: tones[state] ?? "quiet",
      role: "meter",
      "aria-label": label,
      "aria-valuemin": "0",
      "aria-valuemax": "100",
      "aria-valuenow": String(Math.round(share * 100)),
      "aria-valuetext": f.percent(ratio || 0, { places: 1 }),
    },
    h("span.meter-fill", { share }),
  );
}

export function field(label, control, hint = null) {
  return h("label.field", h("span.field-label", label), control, hint ? h("span.hint", hint) : null);
}

export function choose(label, options, value, on, more = {}) {
  return field(
    label,
    h(
      "select",
      { value, on: { change: (event) => on(event.target.value) }, ...more },
      options.map((option) => {
        const [name, text] = Array.isArray(option) ? option : [option, option];
        return h("option", { value: name, selected: name === value }, text);
      }),
    ),
  );
}

export function tabs(label, options, chosen, on) {
  return h(
    "div.tabs",
    { role: "tablist", "aria-label": label, on: { keydown: (event) => walk(event) } },
    options.map(([name, text]) =>
      h(
        "button.tab",
        {
          type: "button",
          role: "tab",
          key: name,
          "aria-selected": String(name === chosen),
          tabindex: name === chosen ? "0" : "-1",
          on: { click: () => on(name) },
        },
        text,
      ),
    ),
  );
}

function walk(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const all = [...event.currentTarget.querySelectorAll("[role=tab]")];
  const to = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
  to.focus();
  to.click();
}

export function facts(pairs) {
  return h(
    "dl.facts",
    pairs.filter(Boolean).map(([name, value]) => h("div", { key: name }, h("dt", name), h("dd", value))),
  );
}

export const strategyLink = (name) => (name ? link("/strategies/" + encodeURIComponent(name), name) : "–");
export const symbolLink = (market, symbol) =>
  symbol ? h("a.symbol", { href: `/market/${market}/${encodeURIComponent(symbol)}` }, symbol, h("span.unit", market)) : "–";
export const intentLink = (id, text = id) => (id ? link("/intents/" + encodeURIComponent(id), h("span.mono", text)) : "–");
