// The kill switch: three levels, an exact preview of the requests, a reason, and the progress afterwards.

import { part, post } from "./api.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { live, now, operator, refresh } from "./state.js";
import { dialog, say } from "./dialogs.js";
import { ago, button, choose, field, tag } from "./components.js";

export const levels = [
  ["pause", "Pause entries", "Nothing opens. Exits and stops continue."],
  ["cancel", "Cancel orders", "Also cancels resting opening orders. Stops stay."],
  ["flatten", "Flatten", "Also closes every position at market."],
];

const scopeName = (scope) =>
  scope.strategy ? `strategy ${scope.strategy}` : scope.symbol ? `symbol ${scope.symbol} (${scope.market})` : "whole account";

// summary describes the effect of a halt in one line.
export function summary(answer) {
  const cancels = answer.steps.filter((step) => step.action === "cancel").length,
    closes = answer.steps.length - cancels;
  const parts = [closes ? `closes ${f.plural(closes, "position")}` : "", cancels ? `cancels ${f.plural(cancels, "order")}` : ""].filter(Boolean);
  return parts.join(" and ") || "finds nothing to cancel or to close";
}

// engaged describes the effect of a requested halt.
export function engaged(answer) {
  const steps = answer.steps.length
    ? f.plural(answer.steps.length, "step") + " in progress."
    : answer.blind.length
      ? ""
      : "Nothing to cancel or close.";
  const blind = answer.blind.map((line) => ` Cannot see or close yet: ${line}.`).join("");
  say(`Halted the ${answer.scope}: ${answer.level}. ${steps}${blind}`, blind ? "bad" : undefined);
}

export const presets = ["emergency", "a strategy misbehaves", "news or volatility", "the exchange misbehaves", "end of the session"];

// HaltForm is the switch on a page; draw is called when it changes.
export class HaltForm {
  constructor(draw, scope = {}) {
    Object.assign(this, { draw, scope, level: "pause", reason: "", typed: "", preview: null, problem: null, busy: false, newest: 0 });
  }

  // readPreview reads what the chosen level would do now.
  async readPreview() {
    const newest = ++this.newest;
    try {
      const answer = await post("risk/halt", { level: this.level, ...this.scope, dry_run: true });
      if (newest !== this.newest) return;
      this.preview = answer;
      this.problem = null;
    } catch (error) {
      if (newest === this.newest) {
        this.problem = error.message;
        this.preview = null;
      }
    }
    this.draw();
  }

  choose(name, value) {
    this[name] = value;
    this.preview = null;
    this.readPreview();
    this.draw();
  }

  // named: in live trading the most severe level must be confirmed by name.
  get named() {
    return live.status.mode === "live" && this.level === "flatten";
  }
  get ready() {
    return operator() && !this.busy && this.preview && this.reason.trim() && (!this.named || this.typed === live.status.instance);
  }

  async engage() {
    if (!this.ready) return;
    this.busy = true;
    this.draw();
    try {
      const answer = await post("risk/halt", { level: this.level, ...this.scope, reason: this.reason.trim() });
      engaged(answer);
      this.reason = "";
      this.typed = "";
      await refresh();
    } catch (error) {
      say(error.message, "bad");
    }
    this.busy = false;
    this.readPreview();
  }

  node() {
    const locked = !operator();
    return h(
      "form.switch",
      {
        on: {
          submit: (event) => {
            event.preventDefault();
            this.engage();
          },
        },
      },
      h(
        "fieldset.levels",
        h("legend", "Level"),
        levels.map(([name, title, text]) =>
          h(
            "label.level",
            { class: name, key: name },
            h("input", {
              type: "radio",
              name: "level",
              id: "halt-level-" + name,
              value: name,
              checked: name === this.level,
              on: { change: () => this.choose("level", name) },
            }),
            h("div", h("strong", title), h("span", text)),
          ),
        ),
      ),
      h(
        "div.row",
        this.scopes(),
        h(
          "div.grow",
          field(
            "Reason, for the journal",
            h("input", {
              value: this.reason,
              id: "halt-reason",
              maxlength: 400,
              placeholder: "choose one, or write your own",
              list: "halt-reasons",
              autocomplete: "off",
              disabled: locked,
              on: {
                input: (event) => {
                  this.reason = event.target.value;
                  this.draw();
                },
              },
            }),
          ),
        ),
        this.named
          ? field(
              `Type ${live.status.instance} to confirm`,
              h("input", {
                value: this.typed,
                autocomplete: "off",
                on: {
                  input: (event) => {
                    this.typed = event.target.value;
                    this.draw();
                  },
                },
              }),
            )
          : null,
      ),
      h(
        "div.row",
        button(this.busy ? "Halting…" : `${levels.find(([name]) => name === this.level)[1]}: ${scopeName(this.scope)}`, null, {
          type: "submit",
          icon: "halt",
          tone: "final",
          disabled: !this.ready,
          id: "halt-engage",
        }),
        h(
          "p.note",
          { id: "halt-why" },
          locked
            ? "You are logged in as a viewer: only an operator can halt."
            : !this.reason.trim()
              ? "Give a reason to unlock the button."
              : this.named && this.typed !== live.status.instance
                ? "Live: type the instance's name to unlock it."
                : "This acts at once.",
        ),
      ),
      previewOf(this.preview, this.problem, `What “${levels.find(([name]) => name === this.level)[1]}” will send`),
      h(
        "datalist",
        { id: "halt-reasons" },
        presets.map((text) => h("option", { value: text })),
      ),
    );
  }

  scopes() {
    const value = this.scope.strategy
      ? "strategy " + this.scope.strategy
      : this.scope.symbol
        ? `symbol ${this.scope.market} ${this.scope.symbol}`
        : "";
    const symbols = [...new Set(live.strategies.map((one) => `${one.market} ${one.symbol}`))];
    return choose(
      "Scope",
      [
        ["", "whole account"],
        ...live.strategies.map((one) => ["strategy " + one.name, "strategy " + one.name]),
        ...symbols.map((one) => ["symbol " + one, "symbol " + one]),
      ],
      value,
      (text) => {
        const [kind, ...rest] = text.split(" ");
        this.choose(
          "scope",
          kind === "strategy" ? { strategy: rest.join(" ") } : kind === "symbol" ? { market: rest[0], symbol: rest[1] } : {},
        );
      },
      { id: "halt-scope" },
    );
  }
}

function previewOf(answer, problem, title) {
  return h(
    "div.preview",
    { "aria-live": "polite" },
    h("strong", title),
    problem
      ? h("p.bad", problem)
      : !answer
        ? h("p.note", "Asking the engine…")
        : [
            answer.steps.length
              ? [
                  h("p", `It ${summary(answer)}.`),
                  h(
                    "details",
                    { key: "steps" },
                    h("summary", "Each step"),
                    h(
                      "ol",
                      { id: "halt-steps" },
                      answer.steps.map((step) => h("li", `${step.strategy}: ${step.text}`)),
                    ),
                  ),
                ]
              : answer.blind?.length
                ? null
                : h("p", "Nothing: the newest read shows no order to cancel and no position to close."),
            (answer.blind ?? []).map((line) => h("p.bad", "Cannot see or close yet: ", line)),
            answer.effects.map((line) => h("p.note", line)),
            (answer.still_blocking ?? []).map((one) => h("p.note", "still in force: ", one.cause, " (", one.remedy, ")")),
          ],
  );
}

// confirmChange asks before a change: it shows the dry run and asks for a reason. Closing a live position also requires the instance's name.
export async function confirmChange({
  title,
  path,
  body = {},
  verb,
  tone = "primary",
  reason: asks = true,
  needsReason = false,
  closes = false,
  patience,
  summary,
  done,
}) {
  let preview;
  try {
    preview = await post(path + "?dry_run=true", body);
  } catch (error) {
    say(error.message, "bad");
    return;
  }
  const reason = h("input", { maxlength: 400, autocomplete: "off", placeholder: "for the journal" });
  const named = closes && live.status.mode === "live" ? h("input", { autocomplete: "off" }) : null;
  const locked = () => (needsReason && !reason.value.trim()) || (named && named.value !== live.status.instance);
  const go = button(verb, null, { type: "submit", tone, disabled: locked() });
  for (const input of [reason, named])
    input?.addEventListener("input", () => {
      go.disabled = locked();
    });
  const lines = preview.changes ?? preview.effects ?? [];
  const box = dialog(
    title,
    h(
      "form.dialog-body",
      {
        on: {
          submit: async (event) => {
            event.preventDefault();
            go.disabled = true;
            try {
              const answer = await post(path, { ...body, ...(reason.value.trim() ? { reason: reason.value.trim() } : {}) }, patience);
              box.close();
              say(
                summary
                  ? summary(answer)
                  : preview.steps?.length
                    ? `${verb}: ${f.plural(preview.steps.length, "step")} in progress.`
                    : `Done: ${(answer.changes ?? answer.effects ?? []).join("; ") || verb}`,
              );
              await refresh();
              done?.(answer);
            } catch (error) {
              say(error.message, "bad");
              go.disabled = false;
            }
          },
        },
      },
      preview.steps?.length
        ? h(
            "div.preview",
            h("strong", "What it sends"),
            h(
              "ol",
              preview.steps.map((step) => h("li", `${step.strategy}: ${step.text}`)),
            ),
          )
        : null,
      h(
        "div.preview",
        h("strong", "What it does"),
        lines.map((line) => h("p", line)),
      ),
      asks ? field(needsReason ? "Reason" : "Reason (optional)", reason) : null,
      named ? field(`Live: type ${live.status.instance} to confirm`, named) : null,
      h(
        "div.actions",
        button("Dismiss", () => box.close()),
        go,
      ),
    ),
    { wide: true },
  );
  (asks ? reason : go).focus();
}

export const rearm = (scope, done) =>
  confirmChange({ title: `Rearm the ${scopeName(scope)}`, path: "risk/rearm", body: scope, verb: "Rearm", done });
export const resume = (name, done) =>
  confirmChange({ title: `Resume ${name}`, path: `strategies/${part(name)}/resume`, verb: "Resume", done });
export const pause = (name, done) =>
  confirmChange({ title: `Pause ${name}`, path: `strategies/${part(name)}/pause`, verb: "Pause entries", needsReason: true, done });

export const cancelOrder = (o, done) =>
  confirmChange({
    title: `Cancel ${o.client_order_id}`,
    path: `orders/${part(o.client_order_id)}/cancel`,
    verb: "Cancel the order",
    tone: "final",
    needsReason: true,
    done,
  });
export const closePosition = (p, done) =>
  confirmChange({
    title: `Close ${p.symbol} ${p.market}`,
    path: `positions/${p.market}/${part(p.symbol)}/close`,
    verb: "Close the position",
    tone: "final",
    needsReason: true,
    closes: true,
    done,
  });

// haltsInForce lists the halts with the orders and positions that each still has to end, and the way to rearm.
export function haltsInForce(halts, degraded, done) {
  return h(
    "ul.attention",
    halts.map((one) => {
      const scope = one.strategy ? { strategy: one.strategy } : one.symbol ? { market: one.market, symbol: one.symbol } : {};
      const state = degraded.find(
        (each) => each.state === "halted" && (each.strategy ?? "") === (one.strategy ?? "") && (each.symbol ?? "") === (one.symbol ?? ""),
      );
      return h(
        "li.bad",
        { key: JSON.stringify(scope) },
        h(
          "p",
          tag("halted", `${one.level}: ${scopeName(scope)}`),
          " ",
          h("span.note", "since ", ago(one.since, now())),
          h("br"),
          one.reason || "no reason given",
          state?.doing ? [h("br"), h("span.note", "In progress: ", state.doing)] : null,
        ),
        operator() ? button("Rearm…", () => rearm(scope, done), { icon: "play", "aria-label": `Rearm the ${scopeName(scope)}` }) : null,
      );
    }),
  );
}
