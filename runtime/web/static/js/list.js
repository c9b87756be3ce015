// How a list is shown: sorted by a column, filtered by a text, and in parts on a phone. Each list's view is remembered while the tab is open.

import { h } from "./dom.js";

const FILTERED = 12, // rows from which a list has a filter
  PHONE = 14, // rows on a phone before a request for more
  TALL = 7; // rows on a phone before a request for more, if a column has a text on its own lines
const lists = new Map();
export const narrow = matchMedia("(max-width: 640px)");

export function listOf(caption) {
  if (!lists.has(caption)) lists.set(caption, { column: "", down: true, text: "", all: false });
  return lists.get(caption);
}

const again = () => document.dispatchEvent(new Event("botd:list"));
narrow.addEventListener("change", again);

// value returns a cell's sort key: its time, its number, or its text.
function value(cell, number) {
  const time = cell.querySelector("time")?.dateTime,
    text = cell.textContent.trim();
  if (time) return Date.parse(time);
  if (!number) return text.toLowerCase();
  const found = Number(text.replaceAll(",", "").replace("−", "-").match(/-?\d+(\.\d+)?/)?.[0]);
  return Number.isNaN(found) ? -Infinity : found;
}

// arranged returns the table rows to show, from pairs of a row and its element, and their number without paging.
export function arranged(caption, columns, pairs) {
  const list = listOf(caption),
    sought = list.text.toLowerCase(),
    at = columns.findIndex((one) => one.name === list.column);
  let shown = sought ? pairs.filter(([, row]) => row.textContent.toLowerCase().includes(sought)) : pairs;
  if (at >= 0) {
    const { by, num } = columns[at],
      of = ([one, row]) => (by ? by(one) : value(row.children[at], num)),
      sign = list.down ? -1 : 1;
    shown = shown
      .map((pair) => [of(pair), pair])
      .sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0))
      .map(([, pair]) => pair);
  }
  const count = shown.length;
  if (narrow.matches && !list.all) shown = shown.slice(0, columns.some((one) => one.class?.includes("text")) ? TALL : PHONE);
  return { rows: shown.map(([, row]) => row), count };
}

// heading sorts by its column; a second press reverses the order.
export function heading(caption, column, sortable) {
  const list = listOf(caption),
    mine = list.column === column.name;
  if (!sortable || !column.name) return [column.name, null];
  const press = () => {
    list.down = mine ? !list.down : !!column.num;
    list.column = column.name;
    again();
  };
  const arrow = h("span.arrow", { "aria-hidden": "true" }, mine ? (list.down ? "▼" : "▲") : "");
  return [h("button.sort", { type: "button", on: { click: press } }, column.name, arrow), mine ? (list.down ? "descending" : "ascending") : null];
}

// filter narrows a long list to the rows that contain a text.
export function filter(caption, count) {
  const list = listOf(caption);
  if (count < FILTERED && !list.text) return null;
  const change = (event) => {
    list.text = event.target.value;
    again();
  };
  return h(
    "div.filters.list",
    { key: "filter " + caption },
    h("input", { type: "search", value: list.text, placeholder: `Filter ${count} rows`, "aria-label": `Filter ${caption}`, on: { input: change } }),
  );
}

// rest shows the rows that a phone omits at first.
export function rest(caption, shown, count) {
  if (shown >= count) return null;
  const press = () => {
    listOf(caption).all = true;
    again();
  };
  return h("button.button", { type: "button", on: { click: press } }, `Show all ${count}`);
}
