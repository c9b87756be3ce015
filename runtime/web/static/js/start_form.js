// The common parts of the forms that start a backtest and a sweep: the choice of a strategy, a preview by a dry run, and the start.

import { get, post } from "./api.js";
import { h } from "./dom.js";
import { operator } from "./state.js";
import { say } from "./dialogs.js";
import { button, choose, field } from "./components.js";

const LOOK_MS = 300; // delay after the last key

// StartForm is a form on a page, with its entries as fields; draw runs on a change, and started receives the
// response to the start. Its ids begin with the name of what it starts.
export class StartForm {
  constructor(starts, draw, started, entries) {
    Object.assign(this, { starts, path: starts + "s", draw, started, choices: null });
    Object.assign(this, { strategy: "", params: {}, from: "", to: "", seed: "1", name: "", ...entries });
    Object.assign(this, { preview: null, problem: null, busy: false, newest: 0, timer: 0 });
  }

  async read() {
    this.choices = await get("backtests/choices");
    if (!this.chosen) this.strategy = this.choices.strategies[0]?.name ?? "";
    this.fit();
    this.readPreview();
  }

  get chosen() {
    return this.choices?.strategies.find((one) => one.name === this.strategy);
  }

  // fit replaces values that the strategy does not support.
  fit() {}

  // whole reports whether the entries suffice for a preview.
  get whole() {
    return true;
  }

  // readPreview reads the preview after a moment without typing.
  readPreview() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const newest = ++this.newest;
      if (!this.chosen || !operator()) return;
      let answer = null, problem = null;
      try {
        if (this.whole) answer = await post(this.path, { ...this.body(), dry_run: true });
      } catch (error) {
        problem = error.message;
      }
      if (newest !== this.newest) return;
      this.preview = answer;
      this.problem = problem;
      this.draw();
    }, LOOK_MS);
  }

  set(name, value) {
    this[name] = value;
    if (name === "strategy") {
      this.params = {};
      this.fit();
    }
    this.preview = null;
    this.readPreview();
    this.draw();
  }

  async start() {
    if (this.busy || !this.preview) return;
    this.busy = true;
    this.draw();
    try {
      const answer = await post(this.path, this.body());
      this.name = "";
      this.started(answer);
    } catch (error) {
      say(error.message, "bad");
    }
    this.busy = false;
    this.readPreview();
    this.draw();
  }

  form(...content) {
    return h("form.switch", { on: { submit: (event) => { event.preventDefault(); this.start(); } } }, ...content);
  }

  strategies() {
    const words = (one) => `${one.name} · ${one.strategy}, ${one.symbol} ${one.market}, ${one.interval}`;
    return choose("Strategy", this.choices.strategies.map((one) => [one.name, words(one)]), this.strategy,
      (value) => this.set("strategy", value), { id: this.starts + "-strategy" });
  }

  files(all) {
    return choose("Candles", all, this.file, (value) => this.set("file", value), { id: this.starts + "-file" });
  }

  input(label, name, more) {
    return h("div", { key: name }, field(label, h("input", { id: `${this.starts}-${name}`, ...more, value: this[name],
      on: { input: (event) => this.set(name, event.target.value) } })));
  }

  // end shows the effect of a start, and the button, which is off while one runs.
  end(running, note) {
    const does = () => {
      if (this.problem) return h("p.bad", this.problem);
      if (!this.whole) return h("p.note", "Enter at least one parameter to vary.");
      return this.preview ? this.preview.effects.map((line) => h("p", line)) : h("p.note", "Asking botd…");
    };
    return [
      h("div.preview", { "aria-live": "polite" }, h("strong", "What it does"), does()),
      h("div.row", button(this.busy ? "Starting…" : "Start", null, { type: "submit", icon: "play", tone: "primary",
        disabled: this.busy || running || !this.preview, id: this.starts + "-start" }), h("p.note", note)),
    ];
  }
}
