// Starting a backtest: strategy and data, a preview, the progress, and the way to its
// report.

import { part, post } from "./api.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { now, operator } from "./state.js";
import { say } from "./dialogs.js";
import { button, empty, field, panel, table, tag, time } from "./components.js";
import { StartForm } from "./start_form.js";

const MADE = ""; // no file: a synthetic market

// BacktestForm is the form on a page; draw runs on a change, and started receives the run that was started.
export class BacktestForm extends StartForm {
  constructor(draw, started) {
    super("backtest", draw, (answer) => started(answer.run), { file: MADE, candles: "10000", study: false });
  }

  get fits() {
    return this.choices.files.filter(
      (one) =>
        !one.interval || (one.interval === this.chosen.interval && one.market === this.chosen.market && one.symbol === this.chosen.symbol),
    );
  }

  // body returns the request, with only the differences from the configuration.
  body() {
    const params = Object.fromEntries(
      Object.entries(this.params).filter(([name, value]) => value !== this.chosen.params.find((one) => one.name === name)?.value),
    );
    const made = this.file === MADE;
    return {
      strategy: this.strategy,
      ...(Object.keys(params).length ? { params } : {}),
      ...(this.from ? { from: this.from } : {}),
      ...(!made && this.to ? { to: this.to } : {}),
      ...(this.study ? { study: true } : {}),
      ...(this.name.trim() ? { name: this.name.trim() } : {}),
      ...(made ? { seed: Number(this.seed), candles: Number(this.candles) } : { file: this.file }),
    };
  }

  fit() {
    if (this.chosen && !this.fits.some((one) => one.file === this.file)) this.file = MADE;
  }

  node(running) {
    const title = "Start a backtest",
      key = "start";
    if (!operator()) return null;
    if (!this.choices) return panel(title, { key }, h("p.panel-body.note", "Reading…"));
    if (!this.chosen)
      return panel(
        title,
        { key },
        empty("No strategy is configured", "A backtest runs a configured strategy; put one into configs/strategies."),
      );
    return panel(
      title,
      { key, note: "in this botd, in parallel with trading: one at a time, on at most half a core" },
      this.form(
        h("div.row", this.strategies(), this.files([[MADE, "a synthetic market"], ...this.fits.map((one) => [one.file, one.file])])),
        h(
          "div.row",
          this.file === MADE
            ? [
                this.input("Seed", "seed", { type: "number", min: "0", step: "1" }),
                this.input("Candles, at most a million", "candles", { type: "number", min: "1", max: this.choices.max_candles, step: "1" }),
                this.input("First day", "from", { type: "date" }),
              ]
            : [this.input("From", "from", { type: "date" }), this.input("Until", "to", { type: "date" })],
          h(
            "div.grow",
            this.input("Name of the report (optional)", "name", { maxlength: 100, autocomplete: "off", placeholder: `${this.strategy}-…` }),
          ),
        ),
        this.parameters(),
        h(
          "label.check",
          h("input", {
            type: "checkbox",
            checked: this.study,
            id: "backtest-study",
            on: { change: (event) => this.set("study", event.target.checked) },
          }),
          h("span", "With robustness checks: worse costs, orders one candle later, truncated data (takes about four times as long)"),
        ),
        this.end(
          running,
          running
            ? "A backtest is running."
            : this.choices.files.length
              ? ""
              : `botd data download and import put recorded candles into data_dir/candles.`,
        ),
      ),
    );
  }

  parameters() {
    if (!this.chosen.params.length) return null;
    const changed = Object.keys(this.body().params ?? {}).length;
    return h(
      "details.params",
      { key: "params " + this.strategy },
      h("summary", changed ? `Parameters, ${changed} changed` : "Parameters as configured"),
      h(
        "div.fields",
        this.chosen.params.map((one) =>
          h(
            "div",
            { key: one.name },
            field(
              f.words(one.name),
              h("input", {
                id: "backtest-param-" + one.name,
                value: this.params[one.name] ?? one.value,
                autocomplete: "off",
                on: {
                  input: (event) => {
                    this.params[one.name] = event.target.value;
                    this.set("params", this.params);
                  },
                },
              }),
              one.help,
            ),
          ),
        ),
      ),
    );
  }
}

const phases = { reading: "reading candles", running: "running", study: "running the study", writing: "writing the report" };

// backtestRuns shows the backtests that were started here: the running one with its progress, and the earlier ones.
export function backtestRuns(runs, done, form) {
  const running = runs.find((one) => one.state === "running"),
    ended = runs.filter((one) => one.state !== "running");
  return [
    running
      ? panel(
          `Running ${running.id}`,
          {
            key: "running",
            note: `${running.strategy} over ${running.data}`,
            actions: operator()
              ? button("Cancel", () => cancel(running, done), { tone: "small", "aria-label": `Cancel the backtest ${running.id}` })
              : null,
          },
          h(
            "div.panel-body",
            h(
              "div.meter",
              {
                role: "progressbar",
                "aria-label": `Progress of ${running.id}`,
                "aria-valuemin": "0",
                "aria-valuemax": "100",
                "aria-valuenow": String(Math.round(running.share * 100)),
                "aria-valuetext": f.percent(running.share, { places: 0 }),
              },
              h("span.meter-fill", { share: running.share }),
            ),
            h(
              "p.note",
              `${phases[running.phase] ?? running.phase}, ${f.percent(running.share, { places: 0 })}, for ${f.age(now() - running.started_ms)}`,
            ),
          ),
        )
      : null,
    form?.node(Boolean(running)),
    ended.length
      ? panel(
          "Started here",
          { key: "ended", note: "since botd started" },
          table(
            "Backtests started here",
            [
              { name: "Ended", class: "nowrap", cell: (one) => time(one.ended_ms, now()) },
              {
                name: "Report",
                class: "lead",
                cell: (one) =>
                  one.state === "done"
                    ? h("a", { href: `/api/v1/backtests/${part(one.id)}/report`, target: "_blank", rel: "noopener" }, one.id)
                    : one.id,
              },
              { name: "Strategy", cell: (one) => one.strategy },
              { name: "Candles", cell: (one) => one.data },
              { name: "Took", num: true, cell: (one) => f.age(one.ended_ms - one.started_ms) },
              {
                name: "Result",
                class: "text",
                cell: (one) => [
                  tag({ done: "ok", canceled: "canceled", failed: "failed" }[one.state], one.state),
                  one.error ? h("span.note.under", one.error.split("\n")[0]) : null,
                ],
              },
            ],
            ended,
            { key: (one) => one.id + one.ended_ms },
          ),
        )
      : null,
  ];
}

async function cancel(run, done) {
  try {
    await post(`backtests/runs/${part(run.id)}/cancel`);
    say(`Canceled ${run.id}.`);
  } catch (error) {
    say(error.message, "bad");
  }
  done();
}
