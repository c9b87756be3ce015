import { get } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { now } from "../live.js";
import { button, choose, empty, panel, table, tag, time } from "../parts.js";

const kinds = ["audit", "halt", "breach", "quarantined", "adopted", "ignored", "found", "withdrawn", "breaker", "config", "boot"];
const names = { audit: "asked for", boot: "start", config: "configuration", breach: "limit" };

export const title = () => "Audit";

export async function open(page) {
  let items = [], next = null;
  const filter = { kind: page.query.get("kind") ?? "", actor: page.query.get("actor") ?? "" };
  const ask = (after) => get("audit", { ...filter, after, limit: 100 });
  const read = page.reader(async () => { const list = await ask(); items = list.items; next = list.next; });
  const older = async () => { const list = await ask(next); items = items.concat(list.items); next = list.next; page.draw(); };
  const set = (name) => (value) => { filter[name] = value; page.choose(name, value); read.now(); };
  page.on("audit", read);
  page.view(() => [
    h("div.page-head", h("h1", "Audit"), h("p.note", "Who changed what, and what botd did by itself. It is part of the journal and outlives restarts.")),
    panel("Changes", {},
      h("div.filters", choose("Kind", [["", "all"], ...kinds.map((one) => [one, names[one] ?? one])], filter.kind, set("kind"), { "data-search": true }), choose("By", [["", "everybody"], "session", "token", "socket", "botd"], filter.actor, set("actor"))),
      table("Changes", [
        { name: "Time", class: "nowrap", cell: (a) => time(a.at_ms, now()) }, { name: "Kind", cell: (a) => tag(a.kind === "audit" ? "info" : ["breach", "quarantined", "halt", "breaker"].includes(a.kind) ? "warning" : "absent", names[a.kind] ?? a.kind) }, { name: "By", class: "nowrap", cell: (a) => [a.actor, a.role ? h("span.unit", a.role) : null] }, { name: "From", class: "nowrap", cell: (a) => a.from || "–" },
        { name: "Action", class: "text", cell: (a) => a.action }, { name: "On", class: "nowrap", cell: (a) => a.target || "–" }, { name: "Detail", class: "text", cell: (a) => a.detail || "–" }, { name: "Request", cell: (a) => (a.request_id ? h("span.mono", a.request_id) : "–") },
      ], items, { next: next ? button("Show older", older) : null, none: empty("Nothing fits", "Every change asked for through the API, by whom and from where, stands here.") })),
  ]);
  await read.now();
}
