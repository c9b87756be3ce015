// The page of an address, and a page's functions: draw, read again, receive events, and clean up on leaving.

import { h, morph, mount } from "./dom.js";
import { live, on } from "./state.js";
import { button, empty, panel } from "./components.js";

const routes = [
  ["/", "overview"],
  ["/strategies", "strategies"],
  ["/strategies/:name", "strategy"],
  ["/orders", "orders"],
  ["/intents", "intents"],
  ["/intents/:id", "intent"],
  ["/positions", "positions"],
  ["/risk", "risk"],
  ["/reconcile", "reconcile"],
  ["/backtests", "backtests"],
  ["/backtests/compare", "compare"],
  ["/sweeps", "sweeps"],
  ["/sweeps/:name", "sweep"],
  ["/market", "market"],
  ["/market/:market/:symbol", "symbol"],
  ["/logs", "logs"],
  ["/settings", "settings"],
  ["/audit", "audit"],
];
const AGAIN_MS = 1000; // minimum time between two reads of a page

export function match(path) {
  const have = path.replace(/\/+$/, "").split("/");
  for (const [pattern, name] of routes) {
    const want = pattern.replace(/\/+$/, "").split("/");
    if (want.length !== have.length) continue;
    const params = {};
    if (want.every((part, i) => (part.startsWith(":") ? (params[part.slice(1)] = decodeURIComponent(have[i])) : part === have[i])))
      return { name, params };
  }
  return { name: "missing", params: {} };
}

class Page {
  constructor(host, params) {
    this.host = host;
    this.params = params;
    this.query = new URLSearchParams(location.search);
    this.live = true;
    this.leaving = [];
    this.listeners = new Map();
    this.shown = false;
  }

  // view sets the function that draws the page.
  view(make) {
    this.make = make;
  }

  // draw draws the page, at most once a frame.
  draw() {
    if (this.scheduled || !this.live) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.drawNow();
    });
  }

  drawNow() {
    if (!this.live || !this.make) return;
    const desired = h("div.page", { id: "page" }, this.make());
    mount(morph(this.host.firstElementChild, desired));
    for (const each of this.after ?? []) each();
  }

  // afterDraw runs when elements are in the page, for charts.
  afterDraw(what) {
    (this.after ??= []).push(what);
  }

  on(topics, what) {
    for (const topic of [].concat(topics)) this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), what]);
  }
  onLeave(what) {
    this.leaving.push(what);
  }
  every(ms, what) {
    const timer = setInterval(() => {
      if (!document.hidden) what();
    }, ms);
    this.onLeave(() => clearInterval(timer));
  }

  // reader returns a function that reads and draws, at most once a second, and not while the page is hidden.
  reader(read) {
    let timer = 0,
      began = 0,
      running = false,
      more = false;
    const go = async () => {
      timer = 0;
      if (!this.live) return;
      if (running || document.hidden) {
        more = true;
        return;
      }
      running = true;
      more = false;
      began = performance.now();
      try {
        await read();
        this.problem = null;
      } catch (error) {
        this.problem = error;
        if (!this.shown) this.fail(error);
      }
      running = false;
      if (this.live) this.draw();
      if (more) again();
    };
    const again = () => {
      if (!timer) timer = setTimeout(go, Math.max(0, AGAIN_MS - (performance.now() - began)));
    };
    this.on("reread", again);
    this.onLeave(() => clearTimeout(timer));
    again.now = go;
    return again;
  }

  fail(error) {
    this.view(() =>
      panel(
        "This page cannot be shown",
        { key: "problem" },
        empty(
          error.status === 404 ? "Not found" : "It could not be read",
          error.message,
          button("Try again", () => navigate(location.pathname + location.search, { replace: true })),
        ),
      ),
    );
  }

  // choose changes the address's query, so that a filter can be bookmarked.
  choose(name, value) {
    if (value) this.query.set(name, value);
    else this.query.delete(name);
    const text = this.query.toString();
    history.replaceState(null, "", location.pathname + (text ? "?" + text : ""));
  }

  leave() {
    this.live = false;
    for (const each of this.leaving) each();
  }
}

let page = null,
  host = null,
  changed = () => {},
  load = null,
  visits = 0;

export function begin(where, loader, onChange) {
  host = where;
  load = loader;
  changed = onChange;
  on((topic, data) => {
    for (const listener of page?.listeners.get(topic) ?? []) listener(data);
  });
  addEventListener("popstate", () => show());
  document.addEventListener("click", follow);
  document.addEventListener("botd:list", () => page?.draw());
  return show();
}

// follow keeps links inside the page.
function follow(event) {
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (
    anchor.target ||
    anchor.origin !== location.origin ||
    anchor.hasAttribute("download") ||
    /^\/(api|docs|metrics|healthz|readyz|login|static)/.test(anchor.pathname) ||
    (anchor.pathname === location.pathname && anchor.hash)
  )
    return;
  event.preventDefault();
  navigate(anchor.pathname + anchor.search);
}

export function navigate(to, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", to);
  return show();
}

async function show() {
  const visit = ++visits,
    { name, params } = match(location.pathname);
  delete document.body.dataset.ready;
  let module;
  try {
    module = await load(name);
  } catch {
    location.reload();
    return;
  } // the files are of another version
  if (visit !== visits) return;
  page?.leave();
  const next = new Page(host, params);
  page = next;
  document.title = `${module.title(params)} · botd ${live.session?.instance ?? ""}`;
  host.replaceChildren(h("div.page", { id: "page" }, h("p.loading", "Reading…")));
  changed(name, module.title(params));
  try {
    await module.open(next);
  } catch (error) {
    next.fail(error);
  }
  if (visit !== visits) return;
  next.shown = true;
  next.drawNow();
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (visit === visits) document.body.dataset.ready = name;
    }),
  );
}

export const current = () => page;
