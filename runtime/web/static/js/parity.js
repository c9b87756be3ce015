// A comparison of a strategy's live trading with a backtest of the same period.

import { get, part } from "./api.js";
import { notice } from "./chart.js";
import { Curves } from "./curve.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { empty, intentLink, side, signed, table } from "./components.js";

const usdt = (value) => f.money(value.toFixed(2), { plus: true }) + " USDT";
const words = ["live", "backtest"];

export class Parity {
  constructor(name, changed) {
    Object.assign(this, { name, changed, answer: null, problem: null });
    this.host = h("div.host");
    this.legend = h("div.legend");
    this.frame = h("div.frame", this.legend, this.host);
    this.curves = new Curves(this.host, this.legend, usdt);
  }

  // read requests the comparison from botd, which runs a backtest.
  async read() {
    if (this.reading) return;
    this.reading = true;
    try {
      this.answer = await get(`strategies/${part(this.name)}/parity`);
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
    this.reading = false;
    this.changed();
    if (!this.answer) return;
    if (!this.opened) {
      this.opened = true;
      await this.curves.open();
    }
    const points = (curve) => {
      const all = [];
      curve.time_ms.forEach((ms, i) => {
        const time = Math.floor(ms / 1000);
        if (!all.length || time > all.at(-1).time) all.push({ time, value: curve.profit[i] });
      });
      return all;
    };
    this.curves.lines([
      { name: words[0], tone: "accent", style: 0, points: points(this.answer.live_curve) },
      { name: words[1], tone: "warn", style: 2, points: points(this.answer.backtest_curve) },
    ]);
  }

  // marks returns the backtest's fills, for the candles.
  marks() {
    return (this.answer?.pairs ?? [])
      .filter((pair) => pair.backtest)
      .map(({ backtest: b }) => ({
        atMS: b.at_ms,
        below: b.buy,
        shape: "circle",
        tone: "warn",
        text: "",
        why: `backtest ${b.buy ? "bought" : "sold"} ${figure(b.quantity)} at ${figure(b.price)}`,
      }));
  }

  view() {
    if (this.problem && !this.answer) return empty("There is nothing to compare yet", this.problem.message);
    const a = this.answer;
    if (!a) return h("p.loading", "Running the backtest over the same period…");
    return [
      h("p.panel-body", { key: "sentence" }, a.sentence + "."),
      h(
        "p.panel-body.note",
        { key: "sums" },
        "Closed round trips: ",
        signed(a.live_pnl.toFixed(2), { unit: "USDT" }),
        " live and ",
        signed(a.backtest_pnl.toFixed(2), { unit: "USDT" }),
        ` in the backtest; fees ${f.money(a.live_fees.toFixed(2))} and ${f.money(a.backtest_fees.toFixed(2))}. `,
        `From ${f.stampShort(a.from_ms)} to ${f.stampShort(a.to_ms)} ${f.zone()}, with the current configuration`,
        a.later ? `; ${f.plural(a.later, "newer order")} left out: the recorded candles end earlier` : "",
        ".",
      ),
      h(
        "figure",
        { key: "curves", "aria-label": `Profit of ${this.name}, live and in the backtest; the sentence above has the totals` },
        h("div.chart", { "aria-hidden": "true", keep: this.frame }),
      ),
      h("div.chart-foot", { key: "foot" }, h("span", "profit, net: live solid, backtest dashed · circles among the candles: fills of the backtest"), notice()),
      this.orders(a.pairs),
    ];
  }

  orders(pairs) {
    const newest = pairs.toReversed(),
      either = (p) => p.live ?? p.backtest,
      of = (p, name, pick) => (p[name] ? pick(p[name]) : h("span.soft", "none"));
    return table(
      "Orders live and in the backtest",
      [
        { name: "Time", class: "nowrap", cell: (p) => f.stampShort(either(p).at_ms) },
        { name: "For", class: "nowrap", cell: (p) => f.words(either(p).purpose) },
        { name: "Side", cell: (p) => side(either(p).buy ? "BUY" : "SELL") },
        { name: "Quantity live", num: true, cell: (p) => of(p, "live", (one) => figure(one.quantity)) },
        { name: "backtest", num: true, cell: (p) => of(p, "backtest", (one) => figure(one.quantity)) },
        { name: "Price live", num: true, cell: (p) => of(p, "live", (one) => (one.price ? figure(one.price) : "–")) },
        { name: "backtest ", num: true, cell: (p) => of(p, "backtest", (one) => figure(one.price)) },
        { name: "Later", num: true, class: "nowrap", cell: (p) => (p.live && p.backtest ? later(p.later_ms) : "–") },
        { name: "Slippage", num: true, class: "nowrap", cell: (p) => (p.slippage_is_known ? worse(p) : "–") },
        { name: "Order", cell: (p) => (p.live?.order ? intentLink(p.live.order) : "–") },
      ],
      newest,
      { key: (p) => `${either(p).at_ms} ${p.live?.order ?? ""} ${either(p).purpose}` },
    );
  }

  close() {
    this.curves.close();
  }
}

// figure formats a number of the comparison, which is a float.
const figure = (value) => f.exact(String(Number(value.toPrecision(8))));

const later = (ms) => (ms < 0 ? "−" : "") + f.age(Math.abs(ms));

// worse formats the cost of live trading: a loss has a minus, as everywhere.
const worse = (p) =>
  h(
    "span",
    { title: `${p.slippage_pct.toFixed(4)} % of the price, ${p.slippage_usdt} USDT; above 0 live was worse` },
    signed((-p.slippage_usdt).toFixed(2), { unit: "USDT" }),
    " ",
    h("span.unit", `${p.slippage_pct > 0 ? "+" : ""}${p.slippage_pct.toFixed(3)} %`),
  );
