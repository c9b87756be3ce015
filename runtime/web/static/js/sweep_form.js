// Starting a sweep: strategy, candles and varied parameters, and a preview.

import { h } from "./dom.js";
import { operator } from "./state.js";
import { choose, empty, field, panel } from "./components.js";
import { StartForm } from "./start_form.js";

const searches = [
  ["grid", "grid: every combination"],
  ["random", "random"],
  ["tpe", "tpe: concentrates on promising regions"],
];

// SweepForm is the form on a page; draw runs on a change, and started receives the response.
export class SweepForm extends StartForm {
  constructor(draw, started) {
    super("sweep", draw, started, { file: "", vary: "", search: "grid", trials: "", sort: "sharpe", where: "", require: "", split: "70%" });
  }

  fit() {
    if (!this.fits.some((one) => one.file === this.file)) this.file = this.fits[0]?.file ?? "";
  }

  get whole() {
    return this.file && this.vary.trim();
  }

  // fits returns the files that may be the strategy's; a path without a symbol qualifies too.
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

  node(running) {
    const title = "Start a sweep", key = "start";
    if (!operator()) return null;
    if (!this.choices) return panel(title, { key }, h("p.panel-body.note", "Reading…"));
    if (!this.chosen) return panel(title, { key }, empty("No strategy is configured", "A sweep tries settings of a configured strategy."));
    if (!this.fits.length)
      return panel(title, { key }, this.strategies(), empty("There are no candles for its symbol",
        "botd data download and import add candles to data_dir/candles; botd records those of the symbols it trades."));
    const names = this.chosen.params.map((one) => one.name).join(", ") || "a parameter";
    return panel(
      title,
      { key, note: "in a separate process, which leaves half of each processor free" },
      this.form(
        h("div.row", this.strategies(), this.files(this.fits.map((one) => [one.file, one.file]))),
        field(
          "Keys to vary, one per line",
          h("textarea", { id: "sweep-vary", rows: "3", spellcheck: "false", value: this.vary, placeholder: this.example(),
            on: { input: (event) => this.set("vary", event.target.value) } }),
          `NAME=VALUE,VALUE or NAME=FROM..TO..STEP of ${names}, or of a key of its file, such as protect.stop_loss=1%,2%`,
        ),
        h("div.row", choose("Search", searches, this.search, (value) => this.set("search", value), { id: "sweep-search" }),
          this.input("Trials, at most", "trials", { type: "number", min: "1", max: "10000", step: "1" }),
          this.search === "grid" ? null : this.input("Seed", "seed", { type: "number", min: "1", step: "1" }),
          this.input("In-sample share", "split", { autocomplete: "off" }), this.input("Ranked by", "sort", { autocomplete: "off" })),
        h("details.params", { key: "more" }, h("summary", "Conditions, period and name"),
          h("div.fields", this.input("Only settings with", "where", { placeholder: "fast < slow", autocomplete: "off" }),
            this.input("Trials must have", "require", { placeholder: "trades >= 30", autocomplete: "off" }),
            this.input("From", "from", { type: "date" }), this.input("Until", "to", { type: "date" }),
            this.input("Name", "name", { maxlength: 100, autocomplete: "off", placeholder: `${this.strategy}-…` }))),
        this.end(running, running ? "A sweep is running." : ""),
      ),
    );
  }

  example() {
    return this.chosen.params.slice(0, 2).map((one) => `${one.name}=${one.value},…`).join("\n");
  }
}
