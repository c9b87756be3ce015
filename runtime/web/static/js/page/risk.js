import { get } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { HaltForm, haltsInForce } from "../halt.js";
import { now } from "../state.js";
import { ago, button, choose, empty, meter, panel, side, strategyLink, symbolLink, table, tag, time } from "../components.js";

export const title = () => "Risk";

export async function open(page) {
  let risk = { halts: [], limits: [], rejections: [], degraded: [], history: [] }, refused = { items: [], next: null }, incidents = [];
  let rule = page.query.get("rule") ?? "";
  const form = new HaltForm(() => page.draw());
  const ask = (after) => get("risk/rejections", { rule, limit: 20, after });
  const read = page.reader(async () => { 
    let list;
    [risk, refused, list] = await Promise.all([get("risk"), ask(), get("incidents", { limit: 20 })]);
    incidents = list.items;
  });
  const older = async () => { const list = await ask(refused.next); refused = { items: refused.items.concat(list.items), next: list.next }; page.draw(); };
  const only = (value) => { rule = value; page.choose("rule", value); read.now(); };
  page.on(["risk", "status", "intent", "order", "strategy"], read);
  page.on(["order", "position", "fill", "risk"], () => { clearTimeout(form.timer); form.timer = setTimeout(() => form.readPreview(), 700); });
  page.onLeave(() => clearTimeout(form.timer));
  page.view(() => [
    h("div.page-head", h("h1", "Risk"), h("p.note", "Every limit with its utilization and headroom, and the kill switch.")),
    risk.halts.length ? panel("Halted", { key: "halted", note: "a halt ends only when you rearm" },
      haltsInForce(risk.halts, risk.degraded, () => read.now())) : null,
    panel("Kill switch", { key: "switch", note: risk.halts.length ? null : "armed" }, form.node()),
    others(risk), incidentList(incidents), limits(risk.limits), h("div.grid", { key: "past", class: risk.rejections.some((one) => one.count) ? "" : "two" },
      refusals(risk.rejections), history(risk.history)),
    refused.items.length || rule ? intents() : null,
  ]);
  form.readPreview();
  await read.now();

  function intents() {
    const some = risk.rejections.filter((one) => one.count).map((one) => one.rule);
    return panel("Refused intents", { key: "refused", note: "newest first, since the start; repeated refusals are listed once" },
      h("div.filters", choose("Rule", [["", "all"], ...[...new Set([...some, rule].filter(Boolean))].sort().map((one) => [one, f.words(one)])], rule, only)),
      table("Refused intents", [
        { name: "Time", class: "nowrap", cell: (r) => time(r.at_ms, now()) },
        { name: "Rule", class: "nowrap", cell: (r) => h("a", { href: "/intents/" + encodeURIComponent(r.intent), title: "Checks" }, f.words(r.rule)) },
        { name: "Strategy", cell: (r) => strategyLink(r.strategy) },
        { name: "Symbol", class: "nowrap", cell: (r) => symbolLink(r.market, r.symbol) },
        { name: "Purpose", class: "nowrap", cell: (r) => [f.words(r.purpose), " ", r.side ? side(r.side) : null, " ", r.quantity ? f.exact(r.quantity)
            : r.quote_amount ? f.money(r.quote_amount) + " USDT" : ""] },
        { name: "Why", class: "text", cell: (r) => [[r.value, r.limit && `limit ${r.limit}`].filter(Boolean).join(", ") || "–",
            r.hint ? h("span.note.under", r.hint) : null] },
      ], refused.items, { next: refused.next ? button("Show older", older) : null, none: empty("No refusal by this rule", "Choose another rule above.") }));
  }
}

function others(risk) {
  const rest = risk.degraded.filter((one) => one.state !== "halted");
  if (!rest.length) return null;
  return panel("Also in force", { key: "others" },
    h("ul.attention", rest.map((one, i) => h("li.warn", { key: one.state + i }, h("p", tag("near", f.words(one.state)), " ",
            [one.strategy, one.market, one.symbol].filter(Boolean).join(" ") || "account", " ", h("span.note", "since ", ago(one.since, now()),
              one.until ? [", until ", time(one.until, now())] : ""), h("br"), one.cause, h("br"), h("span.note", "Remedy: ", one.remedy,
              one.doing ? ` · ${one.doing}` : ""))))));
}

// incidentList shows incidents, newest first, including those that have ended.
function incidentList(all) {
  if (!all.length) return null;
  const open = all.filter((one) => one.state === "open").length;
  return panel("Incidents", { key: "incidents", note: open ? f.plural(open, "open incident") : "none open" },
    table("Incidents", [
      { name: "Opened", class: "nowrap", cell: (i) => time(i.opened, now()) },
      { name: "Incident", class: "nowrap lead", cell: (i) => [f.title(i.kind), h("span.note.under",
            [i.strategy, i.market, i.symbol].filter(Boolean).join(" ") || "account")] },
      { name: "State", class: "nowrap", cell: (i) => i.state === "open" ? tag(i.severity === "critical" ? "breached" : "near", i.severity)
          : ["ended ", ago(i.closed, now())] },
      { name: "Cause", class: "text", cell: (i) => [i.cause, i.times > 1 ? ` (${i.times} times)` : "",
            i.state === "open" ? h("span.note.under", "Remedy: ", i.remedy) : null] },
      { name: "Runbook", class: "nowrap", cell: (i) => i.runbook },
    ], all));
}

const reached = (all) => all.filter((one) => ["near", "full", "breached"].includes(one.state)).length;

function limits(all) {
  const order = (one) => (one.scope.startsWith("account") ? 0 : one.scope.startsWith("strategy") ? 1 : 2);
  const near = (one) => (["breached", "full", "near", "unknown"].indexOf(one.state) + 5) % 5; // breached and nearly used limits come first
  const rows = [...all].sort((a, b) => near(a) - near(b) || order(a) - order(b) || a.scope.localeCompare(b.scope));
  return panel("Limits", { key: "limits", note: [f.plural(all.length, "limit"), ", ", reached(all) ? `${reached(all)} near or over` : "none near"] },
    table("Limits", [
    { name: "Limit", class: "nowrap lead", cell: (l) => [f.words(l.rule), h("span.note.under", l.strategy ? ["strategy ", strategyLink(l.strategy)]
          : l.scope)] },
    { name: "Utilization", class: "share spare", cell: (l) => meter(l.ratio, `${f.words(l.rule)} of ${l.scope}`, l.state) },
    { name: "%", num: true, cell: (l) => f.percent(l.ratio, { places: 1 }) },
    { name: "State", cell: (l) => tag(l.state, l.state === "ok" ? "ok" : f.words(l.state)) },
    { name: "Value", num: true, cell: (l) => amount(l.value) },
    { name: "Limit", num: true, cell: (l) => amount(l.limit) },
    { name: "Headroom", num: true, class: "spare", cell: (l) => amount(l.headroom) },
    { name: "Remedy", class: "text", cell: (l) => [[l.reason, l.remedy].filter(Boolean).join(". "),
        l.set ? h("span.note.under", `tightened by ${l.set.set_by} `, time(Date.parse(l.set.at), now()), `: ${l.set.reason}`) : null] },
  ], rows, { key: (l) => l.scope + l.rule, none: empty("No limits yet", "They appear after the first round.") }));
}

// amount groups the digits of "29999.64 USDT" and preserves the rest.
function amount(text) {
  const match = /^(-?[\d.]+)( .*)?$/.exec(text ?? "");
  if (text === "-") return h("span.soft", { title: "Nothing to measure now" }, "–");
  return match ? [f.exact(match[1]), match[2] ? h("span.unit", match[2].trim()) : null] : text || "–";
}

function refusals(all) {
  const some = all.filter((one) => one.count).sort((a, b) => b.count - a.count), never = all.filter((one) => !one.count);
  return panel("Refusals by rule", { key: "refusals", note: "since the start" }, table("Refusals by rule", [
    { name: "Rule", class: "nowrap lead", cell: (r) => f.words(r.rule) },
    { name: "Refused", num: true, cell: (r) => f.exact(String(r.count)) },
    { name: "Last", class: "nowrap", cell: (r) => time(r.last_ms, now()) },
    { name: "Strategy", cell: (r) => strategyLink(r.strategy) },
    { name: "Symbol", cell: (r) => r.symbol || "–" },
    { name: "Value", class: "text", cell: (r) => r.value || "–" },
    { name: "Limit", class: "text", cell: (r) => r.limit || "–" },
    { name: "Hint", class: "text", cell: (r) => r.hint || "–" },
  ], some, { key: (r) => r.rule, none: empty("Nothing was refused", `All ${all.length} rules passed every intent since the start.`) }),
  some.length ? h("p.panel-body.note", `Never refused: ${never.map((one) => f.words(one.rule)).join(", ")}.`) : null);
}

function history(all) {
  return panel("History", { key: "history", note: "halts, breakers and limits since the start" },
    all.length ? h("ul.feed", all.map((one) => h("li", { key: one.id }, time(one.at_ms, now()), h("span.what", tag(one.severity, f.words(one.kind)),
            one.ended ? " ended" : "", h("span.note", [one.strategy, one.text].filter(Boolean).join(": ")))))) : empty("No events",
      "Halts, breakers and breached limits of this run are listed here; the audit page has those of all runs."));
}
