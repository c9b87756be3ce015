// Curves over time, drawn by Lightweight Charts.

import { chartOptions, color, fade, need, written } from "./chart.js";
import { h } from "./dom.js";
import * as f from "./format.js";
import { watch } from "./settings.js";

// wide keeps an axis from zooming into noise: its span is at least 1 % of the values.
function wide(original) {
  const info = original(),
    range = info?.priceRange;
  if (!range) return info;
  const middle = (range.minValue + range.maxValue) / 2,
    least = Math.max(Math.abs(middle) * 0.005, (range.maxValue - range.minValue) / 2);
  return { ...info, priceRange: { minValue: middle - least, maxValue: middle + least } };
}

// Curve is one line over time with marks {time, shape, text, tone}, and the drawdown below it.
export class Curve {
  constructor(host, legend = null) {
    Object.assign(this, { host, legend });
  }

  async open() {
    const charts = await need();
    if (this.closed) return;
    this.chart = charts.createChart(this.host, chartOptions());
    this.line = this.chart.addSeries(charts.AreaSeries, { lineWidth: 2, priceFormat: written(2), priceLineVisible: false, autoscaleInfoProvider: wide });
    this.marks = charts.createSeriesMarkers(this.line, []);
    this.fall = this.chart.addSeries(
      charts.AreaSeries,
      { lineWidth: 1, invertFilledArea: true, priceLineVisible: false, lastValueVisible: false, crosshairMarkerVisible: false,
        priceFormat: { type: "custom", minMove: 0.01, formatter: (value) => value.toFixed(2) + " %" } },
      1,
    );
    this.chart.panes().forEach((pane, i) => pane.setStretchFactor(i ? 1 : 3));
    this.chart.subscribeCrosshairMove((at) =>
      this.drawLegend(at.time ? { time: at.time, value: at.seriesData.get(this.line)?.value } : null),
    );
    this.unwatch = watch(() => this.paint());
    this.fits();
    this.paint();
  }

  // fits shows the whole curve whenever the width of its element changes; the first change is its insertion into the page.
  fits() {
    this.sizes = new ResizeObserver(() => {
      if (this.host.clientWidth !== this.wide) {
        this.wide = this.host.clientWidth;
        requestAnimationFrame(() => {
          if (!this.closed) this.chart.timeScale().fitContent();
        });
      }
    });
    this.sizes.observe(this.host);
  }

  // apart joins marks that would cover each other into the most severe one, with their number. The legend lists each.
  apart(marks) {
    const width = this.points.length > 1 ? (this.points.at(-1).time - this.points[0].time) / 24 : 0,
      out = [];
    for (const mark of marks) {
      const last = out.at(-1);
      if (!last || mark.time - last.time > width) {
        out.push({ ...mark, count: 1, texts: new Set([mark.text]) });
        continue;
      }
      last.count++;
      last.texts.add(mark.text);
      if (mark.tone === "bad") Object.assign(last, { shape: mark.shape, tone: mark.tone });
      last.text = last.texts.size === 1 ? `${mark.text} ×${last.count}` : `${last.count} events`;
    }
    return out;
  }

  // drawLegend writes the point under the pointer, or the newest.
  drawLegend(point) {
    const one = point?.value === undefined ? this.points?.at(-1) : point;
    if (!one || !this.legend) return;
    this.legend.replaceChildren(
      h("span.at", f.stampShort(one.time * 1000)),
      h("span", f.money(one.value.toFixed(2)), h("span.unit", "USDT")),
      h("span.note", `drawdown ${(-(this.under?.get(one.time) ?? 0)).toFixed(2)} %`),
      ...(point ? (this.noted ?? []) : [])
        .filter((mark) => Math.abs(mark.time - one.time) < this.near)
        .map((mark) => h("span.done", mark.why ?? mark.text)),
    );
  }

  set(points, marks) {
    this.points = points;
    this.noted = marks;
    if (!this.chart) return;
    if (this.closed) return;
    this.near = points.length > 1 ? Math.max(60, (points.at(-1).time - points[0].time) / points.length) : 60;
    this.line.setData(points);
    let peak = -Infinity;
    this.under = new Map(points.map(({ time, value }) => [time, ((peak = Math.max(peak, value)) > 0 ? value / peak - 1 : 0) * 100]));
    this.fall.setData(points.map(({ time }) => ({ time, value: this.under.get(time) })));
    this.drawLegend(null);
    this.marks.setMarkers(
      this.apart(marks).map((mark) => ({
        time: mark.time,
        position: "aboveBar",
        shape: mark.shape,
        color: color(mark.tone),
        text: mark.text,
        size: 0.5,
      })),
    );
    this.chart.timeScale().fitContent();
  }

  paint() {
    if (!this.chart) return;
    this.chart.applyOptions(chartOptions());
    const accent = color("accent");
    this.line.applyOptions({ lineColor: accent, topColor: fade(accent, "30"), bottomColor: fade(accent, "03") });
    const down = color("down-fill");
    this.fall.applyOptions({ lineColor: down, topColor: fade(down, "05"), bottomColor: fade(down, "40") });
    if (this.points) this.set(this.points, this.noted);
  }

  close() {
    this.closed = true;
    this.sizes?.disconnect();
    this.unwatch?.();
    this.chart?.remove();
  }
}

// Curves are several lines over time on one scale: {name, tone, points}. The values are percent unless a unit
// is given; the legend has each line's value under the pointer, or its newest.
export class Curves extends Curve {
  constructor(host, legend = null, say = (value) => value.toFixed(1) + " %") {
    super(host, legend);
    this.say = say;
  }

  async open() {
    const charts = await need();
    if (this.closed) return;
    this.charts = charts;
    this.chart = charts.createChart(this.host, chartOptions());
    this.chart.subscribeCrosshairMove((at) => this.drawValues(at.time ? at : null));
    this.fits();
    this.unwatch = watch(() => this.paint());
  }

  lines(all) {
    this.all = all;
    if (!this.chart || this.closed) return;
    for (const line of this.drawn ?? []) this.chart.removeSeries(line);
    this.drawn = all.map((one) => {
      const line = this.chart.addSeries(this.charts.LineSeries, {
        lineWidth: 2,
        lineStyle: one.style,
        title: one.name,
        priceLineVisible: false,
        color: color(one.tone),
        priceFormat: { type: "custom", minMove: 0.01, formatter: this.say },
      });
      line.setData(one.points);
      return line;
    });
    this.drawValues(null);
    this.chart.timeScale().fitContent();
  }

  drawValues(at) {
    if (!this.legend || !this.drawn) return;
    const time = at?.time ?? Math.max(...this.all.map((one) => one.points.at(-1)?.time ?? 0));
    const value = (one, i) => (at ? at.seriesData.get(this.drawn[i])?.value : one.points.at(-1)?.value);
    this.legend.replaceChildren(
      h("span.at", time > 0 ? f.stampShort(time * 1000) : "–"),
      ...this.all.map((one, i) => h("span", h("span.note", one.name + " "), value(one, i) === undefined ? "–" : this.say(value(one, i)))),
    );
  }

  paint() {
    if (!this.chart) return;
    this.chart.applyOptions(chartOptions());
    if (this.all) this.lines(this.all);
  }
}
