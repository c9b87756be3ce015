// Candle charts with endless history, drawn by Lightweight Charts,
// which only pages with charts load.

import { get } from "./api.js";
import * as f from "./format.js";
import { h } from "./dom.js";
import { watch } from "./settings.js";

const FIRST = 1000,
  MORE = 2000,
  MOST = 5000; // candles per read
const APART = 9; // candles between two labels
const MOST_BARS = 100_000; // candles that a tab stores

let library = null;

// need loads the library once; a page with charts calls it early.
export function need() {
  return (library ??= new Promise((done, fail) => {
    const script = h("script", { src: new URL("../vendor/lightweight-charts.js", import.meta.url).href });
    script.onload = () => done(window.LightweightCharts);
    script.onerror = () => {
      library = null;
      fail(new Error("the chart library could not be read"));
    };
    document.head.append(script);
  }));
}

export const notice = () =>
  h(
    "span",
    "Charts by ",
    h("a", { href: "https://www.tradingview.com/", rel: "noopener noreferrer", target: "_blank" }, "TradingView Lightweight Charts™"),
    ", © 2026 TradingView, Inc.",
  );

export const color = (name) =>
  getComputedStyle(document.documentElement)
    .getPropertyValue("--" + name)
    .trim();
export const fade = (hex, alpha) => hex + alpha;

export function chartOptions() {
  const line = color("line");
  return {
    autoSize: true,
    layout: {
      background: { color: color("panel") },
      textColor: color("soft"),
      fontSize: 11,
      fontFamily: getComputedStyle(document.body).fontFamily,
      attributionLogo: false,
    },
    grid: { vertLines: { color: line, style: 1 }, horzLines: { color: line, style: 1 } },
    rightPriceScale: { borderColor: line },
    timeScale: {
      borderColor: line,
      timeVisible: true,
      secondsVisible: false,
      rightOffset: 4,
      tickMarkFormatter: tick,
      minBarSpacing: 0.02,
    },
    crosshair: {
      vertLine: { color: color("faint"), labelBackgroundColor: color("edge") },
      horzLine: { color: color("faint"), labelBackgroundColor: color("edge") },
    },
    localization: { timeFormatter: (seconds) => `${f.stampShort(seconds * 1000)} ${f.zone()}` },
  };
}

const two = (n) => String(n).padStart(2, "0");
function tick(seconds, kind) {
  const t = f.parsed(seconds * 1000);
  return [String(t.y), f.month(t.mo), `${t.d} ${f.month(t.mo)}`, `${two(t.h)}:${two(t.mi)}`, `${two(t.h)}:${two(t.mi)}:${two(t.s)}`][kind];
}

// written formats the numbers of an axis, with fixed places and grouped digits.
export const written = (places) => ({
  type: "custom",
  minMove: 10 ** -places,
  formatter: (value) => f.exact(value.toFixed(places).replace(/^-(?=[0.]+$)/, "")),
});

const plotTones = ["accent", "warn", "soft", "text"];
export const plotStyles = ["solid", "dotted", "dashed", "long dashes"];

const NAMED = 12; // orders whose lines have a name

// CandleChart shows a symbol's candles, its fills, and the levels in force.
export class CandleChart {
  constructor(host, legend, { market, symbol, interval, intervalMS, onChange = () => {} }) {
    Object.assign(this, { host, legend, market, symbol, interval, intervalMS, onChange });
    this.bars = [];
    this.volumes = [];
    this.lines = [];
    this.level = new Map();
    this.complete = false; // no older candles exist
    this.closed = false;
  }

  async open(places, want = FIRST) {
    const [charts, first] = await Promise.all([need(), this.read({ limit: Math.min(want, FIRST) })]);
    if (this.closed) return;
    this.charts = charts;
    this.chart = charts.createChart(this.host, chartOptions());
    this.places = Math.min(places, 10);
    this.candles = this.chart.addSeries(charts.CandlestickSeries, { priceFormat: written(this.places), priceLineStyle: 2 });
    this.volume = this.chart.addSeries(charts.HistogramSeries, {
      priceScaleId: "volume",
      priceFormat: { type: "volume" },
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.chart.priceScale("volume").applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } });
    this.candles.priceScale().applyOptions({ scaleMargins: { top: 0.1, bottom: 0.2 } });
    this.marks = charts.createSeriesMarkers(this.candles, []);
    this.bars = first.bars;
    this.volumes = first.volumes;
    this.paint();
    this.show();
    this.chart.timeScale().setVisibleLogicalRange({
      from: this.bars.length - Math.min(160, Math.max(60, this.host.clientWidth / 7)),
      to: this.bars.length + 4,
    });
    this.chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      if (range && range.from < 40) this.older();
    });
    this.chart.subscribeCrosshairMove((at) => this.drawLegend(at.time ? at.seriesData.get(this.candles) : null));
    this.unwatch = watch(() => this.paint());
    this.drawLegend(null);
    while (this.bars.length < want && !this.complete && !this.closed) await this.older(Math.min(MOST, want - this.bars.length));
  }

  async read(which) {
    const c = await get("candles", { market: this.market, symbol: this.symbol, interval: this.interval, ...which });
    const bars = new Array(c.open_ms.length),
      volumes = new Array(bars.length);
    for (let i = 0; i < bars.length; i++) {
      const time = c.open_ms[i] / 1000,
        open = Number(c.open[i]),
        close = Number(c.close[i]);
      bars[i] = { time, open, high: Number(c.high[i]), low: Number(c.low[i]), close };
      volumes[i] = { time, value: c.volume[i] };
    }
    return { bars, volumes, gaps: c.gaps };
  }

  // missing counts the candles missing between the stored ones.
  get missing() {
    const n = this.bars.length;
    return n ? Math.max(0, Math.round(((this.bars[n - 1].time - this.bars[0].time) * 1000) / this.intervalMS) + 1 - n) : 0;
  }

  // held describes the stored candles, for the head of their panel.
  get held() {
    const missing = this.missing ? `${f.exact(String(this.missing))} missing between them` : "none missing";
    return `${f.exact(String(this.bars.length))} read, ${missing}${this.complete ? "; complete" : "; scroll back for more"}`;
  }

  // older reads the candles before the first one.
  async older(limit = MORE) {
    if (this.reading || this.complete || !this.bars.length || this.bars.length >= MOST_BARS) return;
    this.reading = true;
    try {
      const first = this.bars[0].time * 1000,
        to = first;
      const { bars, volumes } = await this.read({ from: Math.max(0, first - limit * this.intervalMS), to });
      if (this.closed) return;
      const fresh = bars.filter((bar) => bar.time * 1000 < first);
      if (!fresh.length) {
        this.complete = true;
        return;
      }
      this.bars = fresh.concat(this.bars);
      this.volumes = volumes.slice(0, fresh.length).concat(this.volumes);
      this.show();
    } catch {
      /* the next scroll tries again */
    } finally {
      this.reading = false;
    }
  }

  show() {
    this.candles.setData(this.bars);
    this.colorVolumes();
    this.onChange(this);
  }

  colorVolumes() {
    const up = fade(color("up-fill"), "55"),
      down = fade(color("down-fill"), "55");
    for (let i = 0; i < this.bars.length; i++) this.volumes[i].color = this.bars[i].close >= this.bars[i].open ? up : down;
    this.volume.setData(this.volumes);
  }

  // latest reads the newest candles again after one closes.
  async latest() {
    if (!this.chart || this.closed) return;
    let newest;
    try {
      newest = await this.read({ limit: 5 });
    } catch {
      return;
    }
    if (this.closed) return;
    for (let i = 0; i < newest.bars.length; i++) this.put(newest.bars[i], newest.volumes[i].value);
    this.onChange(this);
  }

  // price moves the open candle.
  price(value, atMS) {
    const last = this.bars.at(-1);
    if (!this.chart || this.closed || !last || !(value > 0)) return;
    const open = (Math.floor(atMS / this.intervalMS) * this.intervalMS) / 1000;
    if (open < last.time) return;
    if (open > last.time) {
      this.put({ time: open, open: last.close, high: Math.max(last.close, value), low: Math.min(last.close, value), close: value }, 0);
      clearTimeout(this.soon);
      this.soon = setTimeout(() => this.latest(), 4000); // a candle is final 2 s after its close
    } else this.put({ ...last, high: Math.max(last.high, value), low: Math.min(last.low, value), close: value }, this.volumes.at(-1).value);
    this.drawLegend(null);
  }

  put(bar, volume) {
    const last = this.bars.at(-1),
      at = last && bar.time <= last.time ? this.bars.findLastIndex((one) => one.time === bar.time) : this.bars.length;
    if (at < 0) return;
    this.bars[at] = bar;
    this.volumes[at] = { time: bar.time, value: volume, color: fade(color(bar.close >= bar.open ? "up-fill" : "down-fill"), "55") };
    if (at >= this.bars.length - 1) {
      this.candles.update(bar);
      this.volume.update(this.volumes[at]);
    } else this.stale = true;
    if (this.stale && at === this.bars.length - 1) {
      this.stale = false;
      this.show();
    }
  }

  // trades marks fills {atMS, side, quantity}, one mark per candle, and decisions and refusals {atMS, below, shape, tone, text, why}.
  trades(fills, notes = []) {
    this.fills = fills;
    this.noted = notes;
    if (!this.marks || this.closed) return;
    const up = color("up"),
      down = color("down"),
      first = this.bars[0]?.time ?? 0,
      at = (ms) => (Math.floor(ms / this.intervalMS) * this.intervalMS) / 1000;
    const together = new Map(),
      counted = new Map();
    for (const fill of fills) {
      const time = at(fill.atMS),
        key = `${time} ${fill.side}`,
        one = together.get(key) ?? together.set(key, { time, side: fill.side, all: [] }).get(key);
      one.all.push(fill.quantity);
    }
    for (const one of notes)
      (
        counted.get(`${at(one.atMS)} ${one.text}`) ??
        counted.set(`${at(one.atMS)} ${one.text}`, { ...one, time: at(one.atMS), count: 0 }).get(`${at(one.atMS)} ${one.text}`)
      ).count++;
    this.done = new Map();
    const note = (time, text) => this.done.set(time, [...(this.done.get(time) ?? []), text]);
    const all = [...counted.values()]
      .map((one) => {
        note(one.time, (one.why || one.text) + (one.count > 1 ? ` (${one.count} times)` : ""));
        return {
          time: one.time,
          position: one.below ? "belowBar" : "aboveBar",
          shape: one.shape,
          color: color(one.tone),
          text: one.text + (one.count > 1 ? " ×" + one.count : ""),
          size: 0.7,
        };
      })
      .concat(
        [...together.values()].map((one) => {
          const buys = one.side === "BUY",
            quantity = f.exact(f.sum(one.all));
          note(one.time, `${buys ? "▲ bought" : "▼ sold"} ${quantity}${one.all.length > 1 ? ` in ${one.all.length} fills` : ""}`);
          return {
            time: one.time,
            position: buys ? "belowBar" : "aboveBar",
            shape: buys ? "arrowUp" : "arrowDown",
            color: buys ? up : down,
            text: quantity,
          };
        }),
      )
      .filter((mark) => mark.time >= first)
      .sort((a, b) => a.time - b.time);
    const labeled = {};
    for (const mark of all) {
      // only the legend shows a label that would cover the previous one
      if (mark.text && mark.time - (labeled[mark.position] ?? -Infinity) < (APART * this.intervalMS) / 1000) mark.text = "";
      else if (mark.text) labeled[mark.position] = mark.time;
    }
    this.marks.setMarkers(all);
    this.host.dataset.marks = all.length;
  }

  // plots draws indicators {name, own, points}; those with their own scale are below.
  plots(all) {
    this.drawn = all;
    if (!this.chart || this.closed) return;
    const key = all.map((one) => one.name).join();
    if (key !== this.plotted) {
      for (const line of this.series ?? []) this.chart.removeSeries(line);
      this.series = all.map((one, i) =>
        this.chart.addSeries(
          this.charts.LineSeries,
          {
            lineWidth: 1,
            lineStyle: i % 4,
            priceLineVisible: false,
            lastValueVisible: false,
            crosshairMarkerVisible: false,
            ...(one.own ? {} : { autoscaleInfoProvider: () => null }),
          },
          one.own ? 1 : 0,
        ),
      );
      this.plotted = key;
      this.chart.panes()[1]?.setHeight(90);
    }
    all.forEach((one, i) => {
      this.series[i].applyOptions({ color: color(plotTones[i % plotTones.length]) });
      this.series[i].setData(one.points);
    });
    this.host.dataset.plots = all.length;
  }

  // levels draws price lines {key, price, name, tone, dashed}. The names of many orders would hide the chart.
  levels(all) {
    this.shown = all;
    if (!this.candles || this.closed) return;
    const many = all.filter((one) => one.dashed).length > NAMED;
    const keys = new Set(all.map((one) => one.key));
    for (const [key, line] of this.level)
      if (!keys.has(key)) {
        this.candles.removePriceLine(line);
        this.level.delete(key);
      }
    for (const one of all) {
      const options = {
        price: one.price,
        color: color(one.tone),
        lineWidth: 1,
        lineStyle: one.dashed ? 2 : 0,
        axisLabelVisible: !many || !one.dashed,
        title: many && one.dashed ? "" : one.name,
      };
      const line = this.level.get(one.key);
      if (line) line.applyOptions(options);
      else this.level.set(one.key, this.candles.createPriceLine(options));
    }
  }

  // frame scales the chart to every level, however distant, or to the candles only.
  frame(on) {
    this.framed = on;
    if (!this.candles || this.closed) return;
    this.candles.applyOptions({
      autoscaleInfoProvider: (original) => {
        const info = original(),
          prices = this.framed ? (this.shown ?? []).map((one) => one.price) : [];
        if (!info?.priceRange || !prices.length) return info;
        const { minValue, maxValue } = info.priceRange;
        return { ...info, priceRange: { minValue: Math.min(minValue, ...prices), maxValue: Math.max(maxValue, ...prices) } };
      },
    });
    this.host.dataset.framed = on;
  }

  // drawLegend writes the legend: the candle under the pointer, or the newest, and its events.
  drawLegend(bar) {
    const one = bar ?? this.bars.at(-1);
    if (!one || !this.legend) return;
    const number = (value) => f.exact(value.toFixed(this.places)),
      way = one.close >= one.open,
      volume = this.volumeAt(one.time);
    this.legend.replaceChildren(
      h("span.at", f.stampShort(one.time * 1000)),
      ...[
        ["O", one.open],
        ["H", one.high],
        ["L", one.low],
        ["C", one.close],
      ].map(([name, value]) => h("span", { class: name === "C" ? "" : "more" }, h("span.note", name + " "), number(value))),
      h("span", { class: way ? "up" : "down" }, h("span.arrow", way ? "▲" : "▼"), f.percent(one.close / one.open - 1, { plus: true })),
      volume === null ? "" : h("span.more", h("span.note", "V "), f.short(volume)),
      ...(bar ? (this.done?.get(one.time) ?? []) : []).map((text) => h("span.done", text)),
    );
  }

  volumeAt(time) {
    const at = this.bars.at(-1)?.time === time ? this.bars.length - 1 : this.bars.findIndex((one) => one.time === time);
    return at < 0 ? null : this.volumes[at].value;
  }

  paint() {
    if (!this.chart || this.closed) return;
    this.chart.applyOptions(chartOptions());
    const up = color("up-fill"),
      down = color("down-fill");
    this.candles.applyOptions({
      upColor: up,
      downColor: down,
      borderUpColor: up,
      borderDownColor: down,
      wickUpColor: up,
      wickDownColor: down,
      priceLineColor: color("soft"),
    });
    if (this.bars.length) this.colorVolumes();
    if (this.shown) this.levels(this.shown);
    if (this.fills) this.trades(this.fills, this.noted);
    if (this.drawn) this.plots(this.drawn);
  }

  close() {
    this.closed = true;
    clearTimeout(this.soon);
    this.unwatch?.();
    this.chart?.remove();
  }
}

export const intervals = {
  "1m": 60e3,
  "3m": 180e3,
  "5m": 300e3,
  "15m": 900e3,
  "30m": 1800e3,
  "1h": 3600e3,
  "2h": 7200e3,
  "4h": 14400e3,
  "6h": 21600e3,
  "8h": 28800e3,
  "12h": 43200e3,
  "1d": 86400e3,
  "3d": 259200e3,
  "1w": 604800e3,
};

export function segments(label, options, chosen, on) {
  return h(
    "div.segments",
    { role: "group", "aria-label": label },
    options.map(([name, text]) =>
      h("button", { type: "button", key: name, "aria-pressed": String(name === chosen), on: { click: () => on(name) } }, text),
    ),
  );
}
