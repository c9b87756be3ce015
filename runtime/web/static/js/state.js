// This tab's state of the running botd: the newest status, and the events that change it. Events come from the
// worker that all tabs share; without shared workers a tab has its own stream while it is visible.

import { get, toLogin } from "./api.js";

export const live = {
  session: null,
  status: null,
  strategies: [],
  link: "connecting",
  since: Date.now(),
  heard: 0, // time of the last message, by this computer's clock
  offset: 0, // the exchange's clock minus this computer's
  began: 0, // start of botd, by this computer's clock
  epoch: "",
  last: "", // id of the stream's last event
};

const watchers = new Set(); // (topic, data)
const QUIET_MS = 15_000,
  SAY_MS = 20_000;
let port = null,
  logs = 0;

export function on(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
function emit(topic, data) {
  for (const watcher of [...watchers]) watcher(topic, data);
}

// now returns the exchange's time, which records, orders and candles carry.
export const now = () => Date.now() + live.offset;
export const operator = () => live.session?.role === "operator";
export const strategy = (name) => live.strategies.find((one) => one.name === name);

function heard() {
  live.heard = Date.now();
}

function link(state, since) {
  if (state === "out") {
    toLogin();
    return;
  }
  if (live.link === state) return;
  const returned = live.link === "lost" && state === "open";
  live.link = state;
  live.since = since;
  emit("link", state);
  if (returned) again();
}

// refresh reads the whole status.
export async function refresh() {
  const status = await get("status");
  live.strategies = status.strategies;
  took(status);
  heard();
}

function took(status) {
  live.offset = Date.parse(status.time) - Date.now();
  live.began = Date.now() - status.uptime_s * 1000;
  live.status = { ...status, version: status.version || live.status?.version };
  emit("status", live.status);
}

// again reads everything after a missed event.
async function again() {
  try {
    await refresh();
    emit("reread", null);
  } catch {
    lose();
  }
}

function lose() {
  if (live.link !== "lost") link("lost", Date.now());
}

function receive(message) {
  switch (message.kind) {
    case "state":
      link(message.state, message.since);
      break;
    case "gap":
      again();
      break;
    case "hello":
      heard();
      if (live.epoch && live.epoch !== message.data.epoch) again();
      live.epoch = message.data.epoch;
      break;
    case "event":
      heard();
      live.last = message.id;
      apply(message.topic, message.data);
  }
}

function apply(topic, data) {
  if (topic === "status") {
    took(data);
    return;
  }
  if (topic === "notice" && data.kind === "strategy_reloaded") setTimeout(again, 300); // a strategy may have been removed
  if (topic === "strategy") {
    const at = live.strategies.findIndex((one) => one.name === data.name);
    if (at < 0) live.strategies.push(data);
    else live.strategies[at] = data;
  }
  emit(topic, data);
}

// wantLogs subscribes to log lines until the returned function is called.
export function wantLogs() {
  logs++;
  say();
  return () => {
    logs--;
    say();
  };
}

function say(kind = "here") {
  port?.postMessage({ kind, logs: logs > 0 });
}

export async function start() {
  live.session = await get("session");
  await refresh();
  await connect();
  setInterval(watch, 5000);
  setInterval(say, SAY_MS);
  addEventListener("pagehide", () => port?.postMessage({ kind: "bye" }));
  addEventListener("pageshow", (event) => {
    if (event.persisted) {
      say();
      again();
    }
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
      say();
      again();
    }
  });
}

async function connect() {
  const script = new URL("./stream.js", import.meta.url);
  if ("SharedWorker" in window) {
    const worker = new SharedWorker(script, { type: "module", name: "botd" });
    worker.onerror = () => lose();
    port = worker.port;
    port.onmessage = ({ data }) => receive(data);
    port.start();
    return;
  }
  const { join } = await import(script);
  const channel = new MessageChannel();
  join(channel.port1);
  port = channel.port2;
  port.onmessage = ({ data }) => receive(data);
  document.addEventListener("visibilitychange", () => say(document.hidden ? "bye" : "here"));
}

// watch detects a connection that hangs without an error.
async function watch() {
  if (document.hidden || Date.now() - live.heard < QUIET_MS) return;
  try {
    await refresh();
    if (live.link !== "open" || live.status.event_id !== live.last) say("again"); // events were missed: the stream hangs
    live.last = live.status.event_id;
  } catch {
    lose();
  }
}
