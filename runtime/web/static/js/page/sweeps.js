import { get, part } from "../api.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { now, operator } from "../state.js";
import { say } from "../dialogs.js";
import { button, empty, link, panel, table, tag, time } from "../components.js";
import { SweepForm } from "../sweep_form.js";

export const title = () => "Sweeps";
export const figure = (number) => (number === null ? "–" : number.toFixed(2).replace("-", "−"));
export const states = { running: "running", interrupted: "warning", done: "ok" };
export const settings = (best) => Object.keys(best ?? {}).sort().map((name) => `${name} ${best[name]}`).join(", ");

export async function open(page) {
  let items = [], runs = [];
  const form = new SweepForm(() => page.draw(), (answer) => { say(`The sweep ${answer.id} has started.`); read(); });
  const read = page.reader(async () => { const [list, here] = await Promise.all([get("sweeps"), get("sweeps/runs")]); items = list.items; runs = here.items; });
  const asking = () => page.query.get("new") !== null && operator();
  const ask = () => { page.choose("new", asking() ? "" : "1"); if (asking()) form.read().catch((error) => say(error.message, "bad")); page.draw(); };
  const busy = () => runs.some((one) => one.state === "running");
  page.every(2000, () => { if (busy() || items.some((one) => one.state === "running")) read(); });
  page.every(15_000, read);
  page.view(() => [
    h("div.page-head", h("h1", "Sweeps"), h("p.note", "Many backtests of one strategy with different settings, in data_dir/sweeps."),
      h("div.actions", link("/backtests", "Backtests"), operator() ? button(asking() ? "Close the form" : "Start a sweep…", ask,
          { tone: asking() ? "" : "primary", id: "sweep-open", "aria-expanded": String(asking()) }) : null)),
    asking() ? form.node(busy()) : null,
    items.length ? panel("Sweeps", { key: "sweeps", note: f.plural(items.length, "sweep") }, list()) : panel("Sweeps", { key: "sweeps" },
      empty("No sweeps yet", "Start one above, or on the command line with --name.",
        h("code", "botd sweep run -s trend.yaml --data candles.csv --vary fast=5..20..5 --name first"))),
  ]);
  if (asking()) await form.read();
  await read.now();

  function list() {
    return table("Sweeps", [
      { name: "Sweep", class: "lead", cell: (s) => link("/sweeps/" + part(s.name), s.name) },
      { name: "Started", class: "nowrap huge", cell: (s) => time(s.at, now()) },
      { name: "State", class: "nowrap", cell: (s) => [tag(states[s.state], s.state), s.state === "done" || !s.total ? null
          : h("span.unit", `${s.done} of ${s.total}`)] },
      { name: "Strategy", class: "nowrap", cell: (s) => s.strategy },
      { name: "Search", class: "nowrap desk", cell: (s) => [s.search, h("span.unit", `by ${s.sort}`)] },
      { name: "Best", class: "text", cell: (s) => settings(s.best) || "–" },
      { name: "Sharpe", num: true, cell: (s) => figure(s.sharpe) },
      { name: "Luck alone", num: true, cell: (s) => figure(s.expected_max_sharpe) },
      { name: "Unseen", num: true, cell: (s) => figure(s.out_of_sample_sharpe) },
    ], items, { key: (s) => s.name });
  }
}
