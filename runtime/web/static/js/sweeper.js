// Starting a sweep: strategy, candles and what is varied, and a preview.

import { get, post } from "./api.js";
import { h } from "./dom.js";
import { operator } from "./live.js";
import { say } from "./menu.js";
import { button, choose, empty, field, panel } from "./parts.js";

const LOOK_MS = 300; // after the last key
const searches = [
  ["grid", "grid: every combination"],
  ["random", "random"],
  ["tpe", "tpe: learns where good ones are"],
];

// SweepForm is the form on a page; draw is called when it changes, started with the answer.
export class SweepForm {
  constructor(draw, started) {
    Object.assign(this, { draw, started, choices: null, strategy: "", file: "", vary: "", search: "grid", trials: "", seed: "1", sort: "sharpe" });
    Object.assign(this, { where: "", require: "", split: "70%", from: "", to: "", name: "", preview: null, problem: null, busy: false, asked: 0 });
  }

  async read() {
    this.choices = await get("backtests/choices");
    if (!this.chosen) this.strategy = this.choices.strategies[0]?.name ?? "";
    if (!this.fits.some((one) => one.file === this.file)) this.file = this.fits[0]?.file ?? "";
    this.readPreview();
  }

  get chosen() {
    return this.choices?.strategies.find((one) => one.name === this.strategy);
  }

  // fits are the files that may be the strategy's; a path that does not say whose it is may.
  get fits() {
    const c = this.chosen;
    return (this.choices?.files ?? []).filter((one) => !one.symbol || (c && one.symbol === c.symbol && one.market === c.market));
  }

  body() {
    const vary = this.vary.split("\n").map((line) => line.trim()).filter(Boolean);
    const given = { strategy: this.strategy, file: this.file, search: this.search, vary };
    for (const name of ["sort", "where", "require", "split", "from", "to", "name"]) if (this[name].trim()) given[name] = this[name].trim();
    if (this.trials) given.trials = Number(this.trials);
    if (this.search !== "grid") given.seed = Number(this.seed);
    return given;
  }

  // readPreview reads what would run, once nothing was typed for a moment.
  readPreview() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const asked = ++this.asked;
      if (!this.chosen || !this.file || !operator()) return;
      let answer = null, problem = null;
      try {
        if (this.vary.trim()) answer = await post("sweeps", { ...this.body(), dry_run: true });
      } catch (error) {
        problem = error.message;
      }
      if (asked !== this.asked) return;
      this.preview = answer;
      this.problem = problem;
      this.draw();
    }, LOOK_MS);
  }

  set(name, value) {
    this[name] = value;
    if (name === "strategy" && !this.fits.some((one) => one.file === this.file)) this.file = this.fits[0]?.file ?? "";
    this.preview = null;
    this.readPreview();
    this.draw();
  }

  async start() {
    if (this.busy || !this.preview) return;
    this.busy = true;
    this.draw();
    try {
      this.started(await post("sweeps", this.body()));
      this.name = "";
    } catch (error) {
      say(error.message, "bad");
    }
    this.busy = false;
    this.readPreview();
    this.draw();
  }

  node(running) {
    const title = "Start a sweep", key = "start";
    if (!operator()) return null;
    if (!this.choices) return panel(title, { key }, h("p.panel-body.note", "Reading…"));
    if (!this.chosen) return panel(title, { key }, empty("No strategy is configured", "A sweep tries settings of a configured strategy."));
    if (!this.fits.length)
      return panel(title, { key }, this.strategies(), empty("There are no candles of its symbol",
        "botd data download and import put some into data_dir/candles; botd records what it trades."));
    const names = this.chosen.params.map((one) => one.name).join(", ") || "a parameter";
    return panel(
      title,
      { key, note: "in a process of its own, which leaves half of each processor to others" },
      h(
        "form.switch",
        { on: { submit: (event) => { event.preventDefault(); this.start(); } } },
        h("div.row", this.strategies(),
          choose("Candles", this.fits.map((one) => [one.file, one.file]), this.file, (value) => this.set("file", value), { id: "sweep-file" })),
        field(
          "What is varied, one a line",
          h("textarea", { id: "sweep-vary", rows: "3", spellcheck: "false", value: this.vary, placeholder: this.example(),
            on: { input: (event) => this.set("vary", event.target.value) } }),
          `NAME=VALUE,VALUE or NAME=FROM..TO..STEP of ${names}, or of a key of its file, as protect.stop_loss=1%,2%`,
        ),
        h("div.row", choose("Search", searches, this.search, (value) => this.set("search", value), { id: "sweep-search" }),
          this.input("Trials, at most", "trials", { type: "number", min: "1", max: "10000", step: "1" }),
          this.search === "grid" ? null : this.input("Seed", "seed", { type: "number", min: "1", step: "1" }),
          this.input("Split: what chooses", "split", { autocomplete: "off" }), this.input("Ranked by", "sort", { autocomplete: "off" })),
        h("details.params", { key: "more" }, h("summary", "Conditions, period and name"),
          h("div.fields", this.input("Only choices with", "where", { placeholder: "fast < slow", autocomplete: "off" }),
            this.input("Trials must have", "require", { placeholder: "trades >= 30", autocomplete: "off" }),
            this.input("From", "from", { type: "date" }), this.input("Until", "to", { type: "date" }),
            this.input("Name", "name", { maxlength: 100, autocomplete: "off", placeholder: `${this.strategy}-…` }))),
        h("div.preview", { "aria-live": "polite" }, h("strong", "What it does"), this.says()),
        h("div.row", button(this.busy ? "Starting…" : "Start", null, { type: "submit", icon: "play", tone: "primary",
            disabled: this.busy || running || !this.preview, id: "sweep-start" }), h("p.note", running ? "A process of a sweep is running." : "")),
      ),
    );
  }

  strategies() {
    const words = (one) => `${one.name} · ${one.strategy}, ${one.symbol} ${one.market}, ${one.interval}`;
    return choose("Strategy", this.choices.strategies.map((one) => [one.name, words(one)]), this.strategy,
      (value) => this.set("strategy", value), { id: "sweep-strategy" });
  }

  says() {
    if (this.problem) return h("p.bad", this.problem);
    if (!this.vary.trim()) return h("p.note", "Say what is varied.");
    return this.preview ? this.preview.does.map((line) => h("p", line)) : h("p.note", "Asking botd…");
  }

  example() {
    return this.chosen.params.slice(0, 2).map((one) => `${one.name}=${one.value},…`).join("\n");
  }

  input(label, name, more) {
    return h("div", { key: name }, field(label, h("input", { id: "sweep-" + name, ...more, value: this[name],
          on: { input: (event) => this.set(name, event.target.value) } })));
  }
}
