// What an operator does for botd itself: tokens for others, backups, test messages.

import { get, part, post, remove } from "./api.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { confirmChange } from "./halt.js";
import { live, operator } from "./live.js";
import { dialog, say } from "./menu.js";
import { ago, button, choose, empty, field, panel, table, tag, time } from "./parts.js";

const lives = [["7", "a week"], ["30", "30 days"], ["90", "90 days"], ["365", "a year"]];
const DAY_MS = 86_400_000, LONG_MS = 600_000;

export const readTokens = async () => (await get("tokens")).items;

export function tokens(all, read) {
  return panel("Tokens", { key: "tokens", note: "for other people and programs, each with a name, a role and an end", actions: operator() && live.session.makes_tokens ? button("Make a token…", () => make(read)) : null },
    table("Tokens", [
      { name: "Name", cell: (t) => h("span.mono", t.name) }, { name: "Role", cell: (t) => t.role }, { name: "Made", class: "nowrap", cell: (t) => ago(t.made, Date.now()) }, { name: "Ends", class: "nowrap", cell: (t) => (t.ends ? time(t.ends, Date.now()) : "never") }, { name: "State", cell: (t) => tag(t.ended ? "expired" : "ok", t.ended ? "ended" : "good") },
      operator() ? { name: "Revoke", cell: (t) => button("Revoke…", () => revoke(t, read), { tone: "small", "aria-label": `Revoke the token ${t.name}` }) } : null,
    ].filter(Boolean), all, { key: (t) => t.name, none: empty("No token has a name", "The operator's and the viewer's own stand in the data directory.") }),
    operator() && !live.session.makes_tokens ? h("p.panel-body.note", "You logged in by a token, and a token makes no others: log in by the link of ", h("span.mono", "botd login"), ", or use ", h("span.mono", "botd token create"), ".") : null);
}

function make(read) {
  const name = h("input", { maxlength: 32, autocomplete: "off", placeholder: "phone, grafana…" }), asked = { role: "viewer", days: "90" };
  const go = button("Make it", null, { type: "submit", tone: "primary" });
  const box = dialog("Make a token", h("form.dialog-body", { on: { submit: (event) => { event.preventDefault(); send(); } } },
    h("div.filters", field("Name", name, "a to z, 0 to 9 and -; the audit log knows it by that"), choose("Role", [["viewer", "viewer: sees everything"], ["operator", "operator: changes things too"]], asked.role, (value) => { asked.role = value; }), choose("Good for", lives, asked.days, (value) => { asked.days = value; })),
    h("div.actions", button("Leave it", () => box.close()), go)));
  name.focus();

  async function send() {
    go.disabled = true;
    try {
      const made = await post("tokens", { name: name.value.trim(), role: asked.role, ends: new Date(Math.floor((Date.now() + Number(asked.days) * DAY_MS) / 1000) * 1000).toISOString().replace(".000", "") });
      box.close();
      shown(made);
      read();
    } catch (error) { say(error.message, "bad"); go.disabled = false; }
  }
}

// shown is the only look at a token there is.
function shown(made) {
  const text = h("input", { value: made.token, readonly: true, id: "token-secret", on: { focus: (event) => event.target.select() } });
  const box = dialog(`The token ${made.name}`, h("div.dialog-body",
    h("p", tag("warn", "shown this once"), ` botd keeps no more than its hash. It is good for a ${made.role} until ${f.stampFull(made.ends)}.`), field("Token", text),
    h("p.note", "It logs in to this dashboard, or goes into a request's header: Authorization: Bearer."),
    h("div.actions", navigator.clipboard ? button("Copy", async () => { try { await navigator.clipboard.writeText(made.token); say("Copied."); } catch { text.focus(); text.select(); } }) : null, button("I have it", () => box.close(), { tone: "primary" }))));
  text.focus();
  text.select();
}

function revoke(t, read) {
  const go = button("Revoke", async () => {
    go.disabled = true;
    try { const told = await remove("tokens/" + part(t.name)); box.close(); say(told.does.join("; ")); read(); } catch (error) { say(error.message, "bad"); go.disabled = false; }
  }, { tone: "armed" });
  const box = dialog(`Revoke ${t.name}`, h("div.dialog-body", h("p", `Whoever has the token ${t.name} (${t.role}) is shut out at once, and sessions that it opened end. It can not be undone.`), h("div.actions", button("Leave it", () => box.close()), go)));
}

// upkeep are the deeds that change nothing about trading.
export function upkeep() {
  if (!operator()) return null;
  return panel("Upkeep", { key: "upkeep", note: "neither touches trading" }, h("div.grid.two",
    h("div.panel-body", h("p", h("strong", "Journal")), h("p.note", "All that botd must remember, copied while it runs and verified."), button("Back up now…", backup)),
    h("div.panel-body", h("p", h("strong", "Notifications")), h("p.note", "A test message through every channel of botd.yaml."), button("Test notifications…", test))));
}

const backup = () => confirmChange({ title: "Back up the journal", path: "backup", verb: "Back up", reason: false, patience: LONG_MS, tells: (told) => `The journal is copied into ${told.backup.file}, and verified: ${f.plural(told.backup.records, "record")}.` });

const test = () => confirmChange({
  title: "Test notifications", path: "notifications/test", verb: "Send", reason: false, patience: 30_000, tells: (told) => { const sent = told.items.filter((one) => one.result === "sent").length; return `${sent} of ${f.plural(told.items.length, "channel")} took the message.`; },
  done: (told) => dialog("What became of the messages", table("Channels", [{ name: "Channel", cell: (c) => c.channel }, { name: "Result", cell: (c) => tag(c.result === "sent" ? "ok" : "failed", c.result) }, { name: "Took", num: true, cell: (c) => f.age(c.took_ms) }, { name: "Why", class: "text", cell: (c) => c.why ?? "" }], told.items, { key: (c) => c.channel, stack: true })),
});
