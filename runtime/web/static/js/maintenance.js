// Maintenance by an operator: tokens for other users, backups, test messages.

import { get, part, post, remove } from "./api.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { confirmChange } from "./halt.js";
import { live, operator } from "./state.js";
import { dialog, say } from "./dialogs.js";
import { ago, button, choose, empty, field, panel, table, tag, time } from "./components.js";

const lives = [
  ["7", "a week"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "a year"],
];
const DAY_MS = 86_400_000,
  LONG_MS = 600_000;

export const readTokens = async () => (await get("tokens")).items;

export function tokens(all, read) {
  return panel(
    "Tokens",
    {
      key: "tokens",
      note: "for other people and programs, each with a name, a role and an expiry",
      actions: operator() && live.session.makes_tokens ? button("Create a token…", () => make(read)) : null,
    },
    table(
      "Tokens",
      [
        { name: "Name", cell: (t) => h("span.mono", t.name) },
        { name: "Role", cell: (t) => t.role },
        { name: "Created", class: "nowrap", cell: (t) => ago(t.created, Date.now()) },
        { name: "Expires", class: "nowrap", cell: (t) => (t.ends ? time(t.ends, Date.now()) : "never") },
        { name: "State", cell: (t) => tag(t.ended ? "expired" : "ok", t.ended ? "expired" : "valid") },
        operator()
          ? {
              name: "Revoke",
              cell: (t) => button("Revoke…", () => revoke(t, read), { tone: "small", "aria-label": `Revoke the token ${t.name}` }),
            }
          : null,
      ].filter(Boolean),
      all,
      { key: (t) => t.name, none: empty("No named tokens", "The operator's and the viewer's own tokens are in the data directory.") },
    ),
    operator() && !live.session.makes_tokens
      ? h(
          "p.panel-body.note",
          "You logged in with a token; token sessions cannot create tokens: log in with the link of ",
          h("span.mono", "botd login"),
          ", or use ",
          h("span.mono", "botd token create"),
          ".",
        )
      : null,
  );
}

function make(read) {
  const name = h("input", { maxlength: 32, autocomplete: "off", placeholder: "phone, grafana…" }),
    choice = { role: "viewer", days: "90" };
  const go = button("Create", null, { type: "submit", tone: "primary" });
  const box = dialog(
    "Create a token",
    h(
      "form.dialog-body",
      {
        on: {
          submit: (event) => {
            event.preventDefault();
            send();
          },
        },
      },
      h(
        "div.filters",
        field("Name", name, "a to z, 0 to 9 and -; the audit log uses it"),
        choose(
          "Role",
          [
            ["viewer", "viewer: can read everything"],
            ["operator", "operator: can also make changes"],
          ],
          choice.role,
          (value) => {
            choice.role = value;
          },
        ),
        choose("Valid for", lives, choice.days, (value) => {
          choice.days = value;
        }),
      ),
      h(
        "div.actions",
        button("Dismiss", () => box.close()),
        go,
      ),
    ),
  );
  name.focus();

  async function send() {
    go.disabled = true;
    try {
      const made = await post("tokens", {
        name: name.value.trim(),
        role: choice.role,
        ends: new Date(Math.floor((Date.now() + Number(choice.days) * DAY_MS) / 1000) * 1000).toISOString().replace(".000", ""),
      });
      box.close();
      shown(made);
      read();
    } catch (error) {
      say(error.message, "bad");
      go.disabled = false;
    }
  }
}

// shown shows a new token once.
function shown(made) {
  const text = h("input", { value: made.token, readonly: true, id: "token-secret", on: { focus: (event) => event.target.select() } });
  const box = dialog(
    `The token ${made.name}`,
    h(
      "div.dialog-body",
      h("p", tag("warn", "shown only now"), ` botd stores only its hash. It is valid as ${made.role} until ${f.stampFull(made.ends)}.`),
      field("Token", text),
      h("p.note", "Use it to log in to this dashboard, or in the header of a request: Authorization: Bearer."),
      h(
        "div.actions",
        navigator.clipboard
          ? button("Copy", async () => {
              try {
                await navigator.clipboard.writeText(made.token);
                say("Copied.");
              } catch {
                text.focus();
                text.select();
              }
            })
          : null,
        button("Done", () => box.close(), { tone: "primary" }),
      ),
    ),
  );
  text.focus();
  text.select();
}

function revoke(t, read) {
  const go = button(
    "Revoke",
    async () => {
      go.disabled = true;
      try {
        const answer = await remove("tokens/" + part(t.name));
        box.close();
        say(answer.effects.join("; "));
        read();
      } catch (error) {
        say(error.message, "bad");
        go.disabled = false;
      }
    },
    { tone: "final" },
  );
  const box = dialog(
    `Revoke ${t.name}`,
    h(
      "div.dialog-body",
      h("p", `The token ${t.name} (${t.role}) is refused from now on, and its sessions end. This cannot be undone.`),
      h(
        "div.actions",
        button("Dismiss", () => box.close()),
        go,
      ),
    ),
  );
}

// maintenance are the actions that do not affect trading.
export function maintenance() {
  if (!operator()) return null;
  return panel(
    "Maintenance",
    { key: "maintenance", note: "does not affect trading" },
    h(
      "div.grid.two",
      h(
        "div.panel-body",
        h("p", h("strong", "Journal")),
        h("p.note", "A verified copy, made while botd runs."),
        button("Back up now…", backup),
      ),
      h(
        "div.panel-body",
        h("p", h("strong", "Notifications")),
        h("p.note", "A test message through every channel of botd.yaml."),
        button("Test notifications…", test),
      ),
    ),
  );
}

const backup = () =>
  confirmChange({
    title: "Back up the journal",
    path: "backup",
    verb: "Back up",
    reason: false,
    patience: LONG_MS,
    summary: (answer) => `The journal is copied into ${answer.backup.file}, and verified: ${f.plural(answer.backup.records, "record")}.`,
  });

const test = () =>
  confirmChange({
    title: "Test notifications",
    path: "notifications/test",
    verb: "Send",
    reason: false,
    patience: 30_000,
    summary: (answer) => {
      const sent = answer.items.filter((one) => one.result === "sent").length;
      return `${sent} of ${f.plural(answer.items.length, "channel")} accepted the message.`;
    },
    done: (answer) =>
      dialog(
        "Test messages",
        table(
          "Channels",
          [
            { name: "Channel", cell: (c) => c.channel },
            { name: "Result", cell: (c) => tag(c.result === "sent" ? "ok" : "failed", c.result) },
            { name: "Took", num: true, cell: (c) => f.age(c.took_ms) },
            { name: "Why", class: "text", cell: (c) => c.reason ?? "" },
          ],
          answer.items,
          { key: (c) => c.channel, stack: true },
        ),
      ),
  });
