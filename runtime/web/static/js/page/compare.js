import { get, part } from "../api.js";
import { notice } from "../chart.js";
import { Curves } from "../curve.js";
import { h } from "../dom.js";
import * as f from "../format.js";
import { empty, link, panel, signed, table } from "../components.js";
import { figure, gain } from "./backtests.js";

const tones = ["accent", "warn", "up", "down", "soft", "text"];
const strokes = ["solid", "dotted", "dashed", "long dashes", "sparse dots", "solid"];

export const title = () => "Compare backtests";

export async function open(page) {
  const ids = (page.query.get("ids") ?? "").split(",").filter(Boolean).slice(0, tones.length);
  let runs = [];
  const host = h("div.host"), curves = new Curves(host);
  page.onLeave(() => curves.close());
  const read = page.reader(async () => { runs = await Promise.all(ids.map((id) => get("backtests/" + part(id)))); });
  page.view(() => runs.length > 1 ? [
    h("div.page-head", h("h1", "Compare"), h("p.note", runs.map((one) => one.id).join(", ")), h("div.actions", link("/backtests", "All reports"))),
    panel("Equity relative to its start", { key: "curves" }, h("figure", { "aria-label": "Equity curves; the table below lists the final values" },
        h("div.chart", { "aria-hidden": "true", keep: host })),
      h("div.chart-foot", h("span", runs.map((one, i) => `${one.id}: ${strokes[i]}`).join(" · ")), notice())),
    figures(runs), differences(runs),
  ] : panel("Nothing to compare", {}, empty("Select at least two reports", "Select them in the list of backtests.", link("/backtests", "To the list"))));
  await read.now();
  if (runs.length < 2) return;
  page.drawNow();
  await curves.open();
  curves.lines(runs.map((one, i) => ({ name: one.id, tone: tones[i], style: i % 5, points: points(one) })));
}

function points(one) {
  const first = Number(one.equity[0]) || 1, all = [];
  one.time_ms.forEach((ms, i) => { const time = Math.floor(ms / 1000);
      if (!all.length || time > all.at(-1).time) all.push({ time, value: (Number(one.equity[i]) / first - 1) * 100 }); });
  return all;
}

function figures(runs) {
  const rows = [
    ["Return", (b) => signed((gain(b) * 100).toFixed(4), { unit: "%" })], ["Final equity", (b) => [f.money(b.final_equity), h("span.unit", "USDT")]],
      ["Maximum drawdown", (b) => figure(b.max_drawdown_pct, 2) + " %"], ["CAGR", (b) => (b.cagr_pct === null ? "–" : figure(b.cagr_pct, 1) + " %")],
    ["Sharpe", (b) => figure(b.sharpe)], ["Sortino", (b) => figure(b.sortino)], ["Calmar", (b) => figure(b.calmar)],
      ["Profit factor", (b) => figure(b.profit_factor)],
      ["Expectancy", (b) => (b.expectancy === null ? "–" : [f.money(b.expectancy, { plus: true }), h("span.unit", "USDT")])],
    ["Round trips", (b) => f.exact(String(b.round_trips))], ["Won", (b) => (b.round_trips ? f.percent(b.wins / b.round_trips, { places: 1 }) : "–")],
      ["Exposure", (b) => (b.exposure_pct === null ? "–" : figure(b.exposure_pct, 1) + " %")], ["Fees", (b) => f.money(b.total_fees)],
      ["Funding paid", (b) => f.money(b.total_funding)],
    ["Candles", (b) => f.exact(String(b.candles))], ["Period", (b) => `${b.from.slice(0, 10)} to ${b.to.slice(0, 10)}`],
      ["Data", (b) => h("span.mono", b.data_sha256.slice(0, 8))], ["Warnings", (b) => String(b.warnings.length)],
  ];
  return panel("Figures", { key: "figures" },
    table("Figures", [{ name: "Figure", cell: (row) => row[0] }, ...runs.map((one) => ({ name: one.id, num: true, cell: (row) => row[1](one) }))],
      rows, { key: (row) => row[0], stack: false }));
}

// differences returns the settings that differ between the runs.
function differences(runs) {
  const all = runs.map((one) => settings(one.config.join("---\n"))),
    keys = [...new Set(all.flatMap((one) => [...one.keys()]))].filter((key) => new Set(all.map((one) => one.get(key))).size > 1).sort();
  return panel("Differences", { key: "differs", note: "of the effective configurations" },
    table("Settings that differ", [{ name: "Setting", cell: (key) => h("span.mono", key) },
        ...runs.map((one, i) => ({ name: one.id, num: true, cell: (key) => h("span.mono", all[i].get(key) ?? "–") }))], keys,
      { key: (key) => key, stack: false, none: empty("No differences",
          "The runs have the same configuration: their data or the version of botd differs.") }));
}

// settings parses the plain YAML that botd writes: blocks by indent, one value a line.
function settings(text) {
  const out = new Map(), path = [];
  for (const line of text.split("\n")) {
    const match = /^(\s*)([\w.]+):\s*(.*)$/.exec(line);
    if (!match) continue;
    const depth = match[1].length / 2;
    path.length = depth;
    path[depth] = match[2];
    if (match[3]) out.set(path.join("."), match[3]);
  }
  return out;
}
