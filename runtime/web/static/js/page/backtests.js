import { get, part } from "../api.js";
import { BacktestForm, backtestRuns } from "../backtest_form.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { now, operator } from "../state.js";
import { say } from "../dialogs.js";
import { button, empty, field, panel, signed, symbolLink, table, tag, time } from "../components.js";
import { navigate } from "../router.js";

const MOST = 6; // runs compared at once

export const title = () => "Backtests";
export const figure = (number, places = 2) => (number === null ? "–" : number.toFixed(places).replace("-", "−"));
const same = (one, other) => one.id === other.id && one.started_ms === other.started_ms;
export const gain = (one) => Number(one.final_equity) / Number(one.initial_equity) - 1;

export async function open(page) {
  let items = [], runs = [], text = page.query.get("q") ?? "";
  const chosen = new Set(), form = new BacktestForm(() => page.draw(), (run) => took(run));
  const read = page.reader(async () => { const [list, here] = await Promise.all([get("backtests"), get("backtests/runs")]); items = list.items;
      runs = here.items.map(known); });
  const asking = () => page.query.get("new") !== null && operator();
  const ask = () => { page.choose("new", asking() ? "" : "1"); if (asking()) form.read().catch((error) => say(error.message, "bad")); page.draw(); };
  const shown = () => items.filter((one) => `${one.id} ${one.name} ${one.strategy} ${one.symbol}`.toLowerCase().includes(text.toLowerCase()));
  page.every(10_000, read);
  page.every(1000, () => { if (running()) page.draw(); });
  page.on("backtest", took);
  page.view(() => [
    h("div.page-head", h("h1", "Backtests"), h("p.note", "Reports in data_dir/backtests, of runs started here or on the command line."),
      h("div.actions", operator() ? button(asking() ? "Close the form" : "Start a backtest…", ask,
          { tone: asking() ? "" : "primary", id: "backtest-open", "aria-expanded": String(asking()) }) : null,
        h("button.button", { type: "button", disabled: chosen.size < 2,
            on: { click: () => navigate("/backtests/compare?ids=" + [...chosen].map(part).join(",")) } }, chosen.size < 2 ? "Select two to compare"
          : `Compare ${chosen.size}`))),
    backtestRuns(runs, () => read.now(), asking() ? form : null),
    items.length ? panel("Reports", { note: f.plural(shown().length, "report") },
      h("div.filters", h("div.grow", field("Search", h("input", { type: "search", value: text, placeholder: "name, strategy or symbol",
                "data-search": true, on: { input: (event) => { text = event.target.value; page.choose("q", text); page.draw(); } } })))), list())
    : panel("Reports", {}, none()),
  ]);
  if (asking()) await form.read();
  await read.now();

  function running() { return runs.some((one) => one.state === "running"); }

  // known returns the latest state of a run: a response requested before its end may arrive after it.
  function known(run) { return runs.find((one) => one.ended_ms && same(one, run)) ?? run; }

  // took handles the progress of a run; a run that has ended is in the list of reports.
  function took(progress) {
    const run = known(progress), at = runs.findIndex((one) => same(one, run));
    if (at < 0) runs.unshift(run); else runs[at] = run;
    if (run.state === "done") { say(`The backtest ${run.id} is done.`); chosen.add(run.id); read(); }
    if (run.state === "failed") say(`The backtest ${run.id} failed: ${run.error.split("\n")[0]}`, "bad");
    page.draw();
  }

  function list() {
    return table("Reports", [
      { name: "Compare", cell: (b) => h("input", { type: "checkbox", checked: chosen.has(b.id), disabled: !chosen.has(b.id) && chosen.size >= MOST,
            "aria-label": `Compare ${b.id}`, on: { change: (event) => { if (event.target.checked) chosen.add(b.id); else chosen.delete(b.id);
                page.draw(); } } }) },
      { name: "Report", class: "lead", cell: (b) => [b.page ? h("a", { href: `/api/v1/backtests/${part(b.id)}/report`, target: "_blank",
              rel: "noopener" }, b.id) : b.id] },
      { name: "Made", class: "nowrap huge", cell: (b) => time(b.at, now()) },
      { name: "Strategy", class: "nowrap", cell: (b) => h("span", { title: b.strategy }, b.name || b.strategy) },
      { name: "Symbol", class: "nowrap", cell: (b) => [symbolLink(b.market, b.symbol), " ", b.interval] },
      { name: "Period", class: "nowrap huge", cell: (b) => `${b.from.slice(0, 10)} to ${b.to.slice(0, 10)}` },
      { name: "Return", num: true, cell: (b) => signed((gain(b) * 100).toFixed(4), { unit: "%" }) },
      { name: "Maximum drawdown", num: true, cell: (b) => figure(b.max_drawdown_pct, 1) + " %" },
      { name: "Sharpe", num: true, cell: (b) => figure(b.sharpe) },
      { name: "Profit factor", num: true, class: "huge", cell: (b) => figure(b.profit_factor) },
      { name: "Trips", num: true, cell: (b) => f.exact(String(b.round_trips)) },
      { name: "Won", num: true, class: "desk", cell: (b) => (b.round_trips ? f.percent(b.wins / b.round_trips, { places: 0 }) : "–") },
      { name: "Fees", num: true, class: "desk", cell: (b) => f.money(b.total_fees) },
      { name: "Warnings", cell: (b) => (b.warnings.length ? h("span", { title: b.warnings.join("\n") }, tag("warning", String(b.warnings.length)),
            h("span.hidden", b.warnings.join("; "))) : tag("ok", "none")) },
    ], shown(), { key: (b) => b.id, none: empty("No report matches", "Change the search above.") });
  }
}

function none() {
  return empty("No reports yet", "Start a backtest above, or on the command line with --out in this directory.",
    h("code", "botd backtest run -s configs/strategies/trend.yaml --data candles.csv --out data/backtests/trend-1"));
}
