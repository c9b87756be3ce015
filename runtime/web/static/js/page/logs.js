import { get, put } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { live, now, operator, wantLogs } from "../state.js";
import { say } from "../dialogs.js";
import { button, choose, empty, field, link, panel } from "../components.js";

const SHOWN = 400;
const order = ["trace", "debug", "info", "warn", "error", "fatal", "panic"];
const tones = { warn: "warn", error: "bad", fatal: "bad", panic: "bad" };

export const title = () => "Logs";

export async function open(page) {
  let lines = [], next = null, paused = false, missed = 0, level = null;
  const filter = Object.fromEntries(["level", "strategy", "event", "text"].map((name) => [name, page.query.get(name) ?? ""]));
  const ask = (after) => get("logs", { ...filter, after, limit: 200 });
  const read = page.reader(async () => { const list = await ask(); lines = list.items; next = list.next; missed = 0; });
  const set = (name) => (value) => { filter[name] = value; page.choose(name, value); clearTimeout(set.timer); set.timer = setTimeout(read.now, 200); };
  const older = async () => { const list = await ask(next); lines = lines.concat(list.items); next = list.next; page.draw(); };
  page.onLeave(wantLogs());
  page.on("log", (line) => {
    if (!fits(line)) return;
    if (paused) missed++; else { lines = [line, ...lines].slice(0, Math.max(SHOWN, next ? lines.length : SHOWN)); }
    page.draw();
  });
  page.view(() => [
    h("div.page-head", h("h1", "Logs"), h("p.note", "Newest line first, live."),
      h("div.actions", button(paused ? `Resume${missed ? ` (${missed} new)` : ""}` : "Pause", () => { paused = !paused; if (!paused) read.now();
            page.draw(); }, { icon: paused ? "play" : "pause" }), h("button.button", { type: "button", on: { click: download } }, "Download"))),
    panel("Lines", { note: paused ? "paused" : "live" },
      h("div.filters", choose("Minimum level", [["", "every level"], ...order.slice(0, 5)], filter.level, set("level")),
        choose("Strategy", [["", "all"], ...live.strategies.map((one) => one.name)], filter.strategy, set("strategy")),
        field("Event", h("input", { value: filter.event, placeholder: "order. or exact name",
              on: { input: (event) => set("event")(event.target.value.trim()) } })),
        h("div.grow", field("Text", h("input", { type: "search", value: filter.text, placeholder: "in the message", "data-search": true,
                on: { input: (event) => set("text")(event.target.value) } }))),
        level && operator() ? choose("Log level", level.levels, level.level, change) : null),
      lines.length ? h("ol.log", { tabindex: "0", "aria-label": "Log lines" }, lines.map(line),
        next ? h("li", { key: "older" }, button("Show older", older)) : null) : empty("No line matches",
        "Change the filters, or wait: lines appear as they are written.")),
  ]);
  [level] = await Promise.all([get("log-level"), read.now()]);

  function fits(one) {
    return (!filter.level || order.indexOf(one.level) >= order.indexOf(filter.level)) && (!filter.strategy || one.strategy === filter.strategy) &&
      (!filter.event || one.event === filter.event || (filter.event.endsWith(".") && one.event.startsWith(filter.event))) &&
      (!filter.text || one.msg.toLowerCase().includes(filter.text.toLowerCase()));
  }

  async function change(value) {
    try { await put("log-level", { level: value }); level.level = value; say(`The log's level is ${value}.`); } catch (error) { say(error.message, "bad"); }
    page.draw();
  }

  function download() {
    const text = lines.map((one) => JSON.stringify(one)).join("\n") + "\n", url = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
    const anchor = h("a", { href: url, download: `botd-${live.session.instance}-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.jsonl` });
    anchor.click();
    URL.revokeObjectURL(url);
  }
}

// linked links the ids of orders to their intents.
function linked(text) {
  const id = new RegExp(`\\bb${live.session.instance.replace(/[^\w-]/g, "\\$&")}-[a-z0-9]+-\\d+\\b`, "g"), out = [];
  let from = 0;
  for (const match of text.matchAll(id)) { out.push(text.slice(from, match.index), link("/intents/" + encodeURIComponent(match[0]), match[0]));
    from = match.index + match[0].length; }
  return [...out, text.slice(from)];
}

function line(one) {
  return h("li", { key: one.id }, h("time", { datetime: one.time, title: f.stampFull(one.time) }, f.stamp(one.time, now())),
    h("span", { class: tones[one.level] ?? "soft" }, one.level), h("span.event", one.event), h("span.message", linked(one.msg)));
}
