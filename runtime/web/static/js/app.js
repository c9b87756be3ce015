// The frame of every page: head, navigation, banners, shortcuts.

import { h, morph } from "./dom.js";
import { icon } from "./icons.js";
import * as f from "./format.js";
import { live, now, on, operator, start } from "./state.js";
import { begin, current, match } from "./router.js";
import { apply, change, theme, watch } from "./settings.js";
import { emergency, goTo, help, listenKeys } from "./shortcuts.js";
import { signed } from "./components.js";
import { more } from "./dialogs.js";
import { places } from "./pages.js";
import { startVisits } from "./last_visit.js";

apply();

// All modules of a page load at once.
const charts = () =>
    import("./chart.js").then((module) => {
      module.need().catch(() => {});
    }),
  halts = () => import("./halt.js"),
  together = (...all) => Promise.all(all).then(([page]) => page);
const loaders = {
  overview: () => together(import("./page/overview.js"), charts(), import("./curve.js"), import("./panels.js"), import("./activity.js")),
  strategies: () => import("./page/strategies.js"),
  strategy: () => together(import("./page/strategy.js"), charts(), import("./yaml.js")),
  orders: () => together(import("./page/orders.js"), halts()),
  intents: () => import("./page/intents.js"),
  intent: () => import("./page/intent.js"),
  positions: () => together(import("./page/positions.js"), halts()),
  risk: () => together(import("./page/risk.js"), halts()),
  reconcile: () => together(import("./page/reconcile.js"), halts()),
  backtests: () => together(import("./page/backtests.js"), import("./backtest_form.js"), import("./start_form.js")),
  compare: () => together(import("./page/compare.js"), charts(), import("./curve.js")),
  sweeps: () => together(import("./page/sweeps.js"), import("./sweep_form.js"), import("./start_form.js")),
  sweep: () => together(import("./page/sweep.js"), import("./page/sweeps.js"), import("./sweep_form.js")),
  market: () => import("./page/market.js"),
  symbol: () => together(import("./page/symbol.js"), charts()),
  logs: () => import("./page/logs.js"),
  settings: () => together(import("./page/settings.js"), import("./chart.js"), import("./yaml.js")),
  audit: () => import("./page/audit.js"),
  missing: () => import("./page/missing.js"),
};

let here = "";

function head() {
  const s = live.status;
  if (!s) return h("header.head", h("div.brand", "botd"));
  const priced = Math.max(0, ...live.strategies.map((one) => one.last_price_ms));
  return h(
    "header.head",
    h("a.brand", { href: "/", "aria-label": "botd: overview" }, "botd"),
    h(
      "span.mode",
      { class: "mode-" + s.mode, title: `mode ${s.mode}, instance ${s.instance}` },
      s.mode.toUpperCase(),
      h("span.instance", s.instance),
    ),
    h(
      "div.glance",
      glance("Equity", h("span.num", f.money(s.equity), h("span.unit", "USDT")), "wide", "All markets, as last fetched"),
      glance(
        "Today",
        signed(s.today.change),
        "",
        `Change of the equity since 00:00 UTC, in USDT: ${f.percent(s.today.change_ratio, { plus: true })}`,
      ),
      glance(
        "Unsettled",
        h("span.num", { class: late(s) ? "warn" : "" }, String(s.unsettled)),
        "wide",
        "Orders sent whose outcome is not known yet; every order is unsettled for a moment",
      ),
      glance(
        "Newest price",
        h("span.num", priced ? f.age(Math.max(1000, now() - priced)) + " old" : "–"),
        "wide",
        "Age of the newest price of any symbol",
      ),
    ),
    linkState(),
    h(
      "button.button.quiet.square.themer",
      {
        type: "button",
        "aria-label": `Theme: ${theme()}. Change to ${theme() === "dark" ? "light" : "dark"}`,
        title: "Light or dark (t)",
        on: { click: toggle },
      },
      icon(theme() === "dark" ? "sun" : "moon"),
    ),
    halt(16),
  );
}

// halt opens the emergency control: in the head, or at the bottom on a phone.
const halt = (size) =>
  h(
    "button.button.danger.halt",
    { type: "button", "aria-haspopup": "dialog", "aria-keyshortcuts": "!", title: "Emergency (!)", on: { click: emergency } },
    icon("halt", size),
    h("span", live.status?.halted ? "Halted" : "Halt"),
  );

const glance = (label, value, more, title) =>
  h("div.glance-item", { class: more, key: label, title }, h("span.glance-label", label), value);
const LATE_MS = 5000; // an order is normally settled earlier
const late = (s) => s.unsettled && now() - s.unsettled_since_ms > LATE_MS;

function linkState() {
  const [tone, word] = { open: ["good", "Live"], connecting: ["quiet", "Connecting"], lost: ["bad", "No connection"] }[live.link];
  return h(
    "span.link",
    { class: tone, title: live.link === "open" ? "Events arrive live" : "What is shown may be outdated" },
    h("span.shape", { "aria-hidden": "true" }, { good: "●", quiet: "○", bad: "■" }[tone]),
    h("span.link-word", word),
  );
}

function nav() {
  const groups = [];
  for (const place of places)
    (groups.find((one) => one.name === place.group) ?? groups[groups.push({ name: place.group, all: [] }) - 1]).all.push(place);
  return h(
    "nav.nav",
    { "aria-label": "Pages" },
    groups.map((group) =>
      h("div.nav-group", { key: group.name }, h("p.nav-title", { "aria-hidden": "true" }, group.name), h("ul", group.all.map(place))),
    ),
    h(
      "div.nav-foot",
      h("button.button.quiet", { type: "button", on: { click: goTo } }, icon("search"), "Go to", h("kbd", "Ctrl k")),
      h("button.button.quiet", { type: "button", on: { click: help } }, icon("keyboard"), "Shortcuts", h("kbd", "?")),
      h("a.button.quiet", { href: "/docs/" }, icon("document"), "Documents"),
    ),
  );

  function place(one) {
    const mine = one.pages.includes(here),
      count = badge(one.name);
    return h(
      "li",
      { key: one.name },
      h(
        "a",
        { href: one.path, "aria-current": mine ? "page" : null, title: `${one.text} (g ${one.key})` },
        icon(one.name),
        h("span", one.text),
        count ? h("span.badge", { "aria-label": count[1] }, count[0]) : null,
      ),
    );
  }
}

function badge(name) {
  const s = live.status;
  if (name === "orders" && s?.open_orders) return [s.open_orders, `${s.open_orders} open`];
  if (name === "reconcile" && s?.reconcile.differences) return [s.reconcile.differences, "differences"];
  if (name === "risk" && s?.degraded.length) return [s.degraded.length, "states in force"];
  return null;
}

function bottom() {
  const shown = ["overview", "strategies", "positions", "orders"].map((name) => places.find((one) => one.name === name));
  return h(
    "nav.bottom",
    { "aria-label": "Main pages" },
    h(
      "ul",
      shown.map((one) =>
        h(
          "li",
          { key: one.name, class: one.name === "orders" ? "spare" : "" },
          h("a", { href: one.path, "aria-current": one.pages.includes(here) ? "page" : null }, icon(one.name, 20), h("span", one.text)),
        ),
      ),
      h("li", h("button", { type: "button", on: { click: () => more(here) } }, icon("more", 20), h("span", "More"))),
      h("li", halt(20)),
    ),
  );
}

// since formats the time since which the account is in a state, for the end of a clause.
function banners() {
  const s = live.status,
    all = [];
  if (live.link === "lost") {
    all.push(
      h(
        "div.banner.bad",
        { key: "link" },
        icon("warning"),
        h(
          "p",
          h("strong", "Connection lost"),
          ` since ${f.stamp(live.since)} ${f.zone()}. This is the last known state. botd keeps trading without this page, which reconnects every two seconds.`,
        ),
      ),
    );
  }
  if (s?.halted) {
    all.push(
      h(
        "div.banner.bad",
        { key: "halt" },
        icon("halt"),
        h(
          "p",
          h("strong", `Trading is halted: ${s.halted}`),
          s.reason ? ` (${s.reason})` : "",
          ". ",
          h("a", { href: "/risk" }, operator() ? "Show and rearm" : "Show"),
        ),
      ),
    );
  }
  for (const one of s?.degraded.filter((each) => each.state === "blind") ?? []) {
    const of = [one.market, one.symbol].filter(Boolean).join(" ");
    all.push(
      h(
        "div.banner.warn",
        { key: `blind ${of}` },
        icon("warning"),
        h(
          "p",
          h("strong", `botd cannot read ${of || "the exchange"}`),
          ` since ${f.stamp(Date.parse(one.since))} ${f.zone()}: ${one.cause}. It ${one.remedy}.`,
        ),
      ),
    );
  }
  const stale = s?.degraded.filter((one) => one.state === "stale") ?? [];
  if (stale.length)
    all.push(
      h(
        "div.banner.warn",
        { key: "stale" },
        icon("warning"),
        h(
          "p",
          h("strong", `No new data of ${stale.map((one) => one.symbol).join(", ")}`),
          ` since ${f.stamp(Date.parse(stale[0].since))} ${f.zone()}. It ${stale[0].remedy}.`,
        ),
      ),
    );
  return h("div.banners", { role: "alert" }, all);
}

// trouble marks the tab's title, which is visible while the page is not.
function trouble() {
  const s = live.status;
  return live.link === "lost"
    ? "[no connection] "
    : s?.halted
      ? "[halted] "
      : s?.blind
        ? "[blind] "
        : s?.degraded.length
          ? `[${s.degraded.length}] `
          : "";
}

const frame = {
  head: document.getElementById("head"),
  nav: document.getElementById("nav"),
  bottom: document.getElementById("bottom"),
  banners: document.getElementById("banners"),
};
let scheduled = false;

function draw() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    document.documentElement.dataset.mode = live.status?.mode ?? "";
    document.body.classList.toggle("stale", live.link === "lost");
    document.title = trouble() + document.title.replace(/^\[[^\]]*\] /, "");
    for (const [name, make] of Object.entries({ head, nav, bottom, banners }))
      frame[name] = morph(frame[name], Object.assign(make(), { id: name }));
  });
}

const toggle = () => change("theme", theme() === "dark" ? "light" : "dark");

async function main() {
  loaders[match(location.pathname).name]().catch(() => {}); // loaded while the status is read; the page shows a failure
  try {
    await start();
  } catch (error) {
    if (error.status === 401) return;
    document
      .getElementById("main")
      .replaceChildren(
        h(
          "div.page",
          h(
            "div.empty",
            h("p.empty-title", "botd cannot be reached"),
            h("p", error.message),
            h("p", "Is the daemon running? This page retries every five seconds."),
          ),
        ),
      );
    setTimeout(main, 5000);
    return;
  }
  on((topic) => {
    if (["status", "strategy", "link"].includes(topic)) draw();
  });
  startVisits();
  watch(() => {
    draw();
    current()?.draw();
  });
  setInterval(draw, 1000);
  listenKeys({ toggle });
  draw();
  begin(
    document.getElementById("main"),
    (name) => loaders[name](),
    (name, title) => {
      here = name;
      scrollTo(0, 0);
      document.getElementById("announcement").textContent = title;
      draw();
    },
  );
}

main();
