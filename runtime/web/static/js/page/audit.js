import { get } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { now } from "../state.js";
import { button, choose, empty, field, panel, strategyLink, table, tag, time } from "../components.js";

const kinds = ["audit", "halt", "breach", "quarantined", "liquidated", "adopted", "ignored", "found", "withdrawn", "transfer", "breaker", "config", "boot"];
const names = { audit: "requested", boot: "start", config: "configuration", breach: "limit" };

export const title = () => "Audit";

export async function open(page) {
  let items = [], next = null, text = "";
  const filter = { kind: page.query.get("kind") ?? "", actor: page.query.get("actor") ?? "" };
  const ask = (after) => get("audit", { ...filter, after, limit: 100 });
  const read = page.reader(async () => { const list = await ask(); items = list.items; next = list.next; });
  const shown = () => items.filter((one) => !text || Object.values(one).join(" ").toLowerCase().includes(text.toLowerCase()));
  const older = async () => { const list = await ask(next); items = items.concat(list.items); next = list.next; page.draw(); };
  const set = (name) => (value) => { filter[name] = value; page.choose(name, value); read.now(); };
  page.on("audit", read);
  page.view(() => [
    h("div.page-head", h("h1", "Audit"), h("p.note", "Who changed what, and botd's own actions. The audit log is part of the journal.")),
    panel("Changes", {},
      h("div.filters", choose("Kind", [["", "all"], ...kinds.map((one) => [one, names[one] ?? one])], filter.kind, set("kind"),
          { "data-search": true }), choose("By", [["", "everybody"], "session", "token", "socket", "botd"], filter.actor, set("actor")),
        h("div.grow", field("Search", h("input", { type: "search", value: text, placeholder: "a reason, a strategy, a request id",
                on: { input: (event) => { text = event.target.value; page.draw(); } } })))),
      table("Changes", [
        { name: "Time", class: "nowrap", cell: (a) => time(a.at_ms, now()) },
        { name: "Kind", class: "nowrap", cell: (a) => tag(a.kind === "audit" ? "info" : ["breach", "quarantined", "halt", "breaker"].includes(a.kind)
            ? "warning" : "absent", names[a.kind] ?? a.kind) },
        { name: "What", class: "what", cell: (a) => [h("strong", describe(a.action)), a.kind === "audit" ? h("span.note.under", a.action,
              a.request_id ? [" · ", h("span.mono", { title: "request id, as in the log" }, a.request_id)] : "") : null] },
        { name: "On", class: "on", cell: on },
        { name: "Detail", class: "text", cell: (a) => detail(a, items) },
        { name: "By", class: "nowrap", cell: (a) => [a.actor, a.role ? h("span.unit", a.role) : null, a.from && a.from !== a.actor
            ? h("span.note.under", a.from) : null] },
      ], shown(), { next: next ? button("Show older", older) : null, none: items.length ? empty("No entry matches",
        "Change the search above, or show older entries.", next ? button("Show older", older) : null) : empty("No entry matches",
        "Every change requested through the API is listed here, with its user and origin.") })),
  ]);
  await read.now();
}

// describe returns the words for a request.
const requests = [[/\/sweeps$/, "Start a sweep"], [/\/sweeps\/.*\/resume$/, "Resume a sweep"], [/\/sweeps\/.*\/cancel$/, "Cancel a sweep"],
  [/\/trials\/.*\/report$/, "Report a trial"], [/\/halt$/, "Halt"], [/\/rearm$/, "Rearm"], [/\/pause$/, "Pause entries"], [/\/stop$/, "Stop a strategy"],
  [/\/flatten$/, "Flatten a strategy"], [/\/resume$/, "Resume"], [/\/orders\/.*\/cancel$/, "Cancel an order"], [/\/close$/, "Close a position"],
  [/\/resolve$/, "Resolve a quarantine"], [/\/reconcile$/, "Run a round"],
  [/\/orders\/cancel$/, "Cancel orders"], [/\/backup$/, "Back up the journal"], [/\/notifications\/test$/, "Test notifications"],
    [/^DELETE .*\/tokens\//, "Revoke a token"], [/\/tokens$/, "Create a token"], [/\/log-level$/, "Change the log's level"],
    [/\/backtests$/, "Start a backtest"], [/\/runs\/.*\/cancel$/, "Cancel a backtest"], [/^DELETE .*\/session$/, "Log out"], [/\/session$/, "Log in"],
    [/\/session\/link$/, "Make a login link"]];
const own = { start: "botd started", configuration: "Configuration read", rearm: "Rearmed", "halt pause": "Halted: pause",
  "halt cancel": "Halted: cancel", "halt flatten": "Halted: flatten" };

const describe = (action) => requests.find(([pattern]) => pattern.test(action.split("?")[0]))?.[1] ?? own[action] ?? f.title(action);

function on(a) {
  const name = /^strategy (\S+)$/.exec(a.target ?? "");
  return name ? ["strategy ", strategyLink(name[1])] : a.target || "–";
}

// detail formats the detail of a change; it cuts a configuration's hash and compares it with the previous one.
function detail(a, items) {
  if (a.kind !== "config" || !/^[0-9a-f]{64}$/.test(a.detail)) return a.detail || "–";
  const before = items.find((one) => one.kind === "config" && Number(one.id) < Number(a.id));
  return [h("span.mono", { title: a.detail }, a.detail.slice(0, 12)),
    before ? (before.detail === a.detail ? ", unchanged" : [", ", h("strong", "changed"), ` from ${before.detail.slice(0, 12)}`]) : ""];
}
