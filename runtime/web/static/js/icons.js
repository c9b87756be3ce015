// Icons drawn as strokes: one line of path each, in a square of 24.

import { h } from "./dom.js";

const paths = {
  overview: "M4 13h6V4H4zM14 20h6V11h-6zM4 20h6v-3H4zM14 7h6V4h-6z",
  strategies: "M3 17l5-6 4 4 8-10M15 5h5v5",
  orders: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  intents: "M5 12h3M16 12h3M12 12m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0M12 3v3M12 18v3",
  positions: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  risk: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM12 8v5M12 16h.01",
  reconcile: "M4 8h13l-3-3M20 16H7l3 3",
  backtests: "M12 8v4l3 2M4 12a8 8 0 1 0 2.5-5.8L4 8M4 4v4h4",
  sweeps: "M4 4h4v4H4zM10 4h4v4h-4zM16 4h4v4h-4zM4 10h4v4H4zM10 10h4v4h-4zM16 10h4v4h-4zM4 16h4v4H4zM10 16h4v4h-4z",
  market: "M6 4v16M6 8h3v7H3V8zM18 4v16M18 6h3v6h-6V6zM12 6v14M12 10h2v6h-4v-6z",
  logs: "M5 5h14M5 9.7h10M5 14.3h14M5 19h7",
  audit: "M9 4h6v3H9zM7 5H5v16h14V5h-2M8.5 14l2.5 2.5 4.5-5",
  settings: "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  halt: "M8 3h8l5 5v8l-5 5H8l-5-5V8zM8.5 12h7",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  info: "M12 12m-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 11v5M12 8h.01",
  pause: "M8 5v14M16 5v14",
  play: "M7 5l12 7-12 7z",
  close: "M6 6l12 12M18 6L6 18",
  moon: "M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10z",
  sun: "M12 12m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19",
  keyboard: "M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8",
  document: "M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h7",
  search: "M11 11m-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0M15.5 15.5L20 20",
  minus: "M6 12h12",
};

export function icon(name, size = 16) {
  return h(
    "svg.icon",
    {
      viewBox: "0 0 24 24",
      width: size,
      height: size,
      "aria-hidden": "true",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": "1.8",
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    },
    h("path", { d: paths[name] }),
  );
}
