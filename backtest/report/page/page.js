"use strict";
(async () => {
  const root = document.documentElement,
    $ = (id) => document.getElementById(id);

  // Light or dark by the system setting until the button changes it.
  const store = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      /* a page from a file may have no storage */
    }
  };
  const stored = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  root.dataset.theme = stored("botd-theme") || (dark.matches ? "dark" : "light");
  if (stored("botd-hue") === "other") root.dataset.hue = "other";
  const painters = [];
  const repaint = () => painters.forEach((paint) => paint());
  dark.addEventListener("change", (e) => {
    if (!stored("botd-theme")) {
      root.dataset.theme = e.matches ? "dark" : "light";
      repaint();
    }
  });
  $("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    store("botd-theme", root.dataset.theme);
    repaint();
  });
  // Paper is white.
  let shown = "";
  addEventListener("beforeprint", () => {
    shown = root.dataset.theme;
    root.dataset.theme = "light";
    repaint();
  });
  addEventListener("afterprint", () => {
    root.dataset.theme = shown;
    repaint();
  });
  const hue = $("hue"),
    showHue = () => hue.setAttribute("aria-pressed", String(root.dataset.hue === "other"));
  hue.addEventListener("click", () => {
    if (root.dataset.hue === "other") delete root.dataset.hue;
    else root.dataset.hue = "other";
    store("botd-hue", root.dataset.hue || "");
    showHue();
    repaint();
  });
  showHue();

  const color = (name) =>
    getComputedStyle(root)
      .getPropertyValue("--" + name)
      .trim();
  const faded = (name, share) => "rgba(" + color(name) + "," + share + ")";
  const pad = (n) => String(n).padStart(2, "0");
  const clock = (s) => {
    const d = new Date(s * 1000);
    return (
      d.getUTCFullYear() +
      "-" +
      pad(d.getUTCMonth() + 1) +
      "-" +
      pad(d.getUTCDate()) +
      " " +
      pad(d.getUTCHours()) +
      ":" +
      pad(d.getUTCMinutes())
    );
  };
  const span = (s) => (s < 3600 ? Math.round(s / 60) + " min" : s < 86400 ? (s / 3600).toFixed(1) + " h" : (s / 86400).toFixed(1) + " d");
  const money = (n, places = 2) => n.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
  const signed = (n) => (n >= 0 ? "+" : "−") + money(Math.abs(n));

  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const appearance = () => ({
    layout: {
      background: { color: color("card") },
      textColor: color("soft"),
      attributionLogo: false,
      fontSize: 12,
      fontFamily: "system-ui, sans-serif",
      panes: { separatorColor: color("line"), enableResize: false },
    },
    grid: { vertLines: { color: color("line"), style: 1 }, horzLines: { color: color("line"), style: 1 } },
    rightPriceScale: { borderColor: color("line") },
    timeScale: { borderColor: color("line"), timeVisible: true, secondsVisible: false, minBarSpacing: 0.02 },
  });
  const made = (id) => {
    const box = $(id);
    if (!box || !window.LightweightCharts) return null;
    const chart = LightweightCharts.createChart(
      box,
      Object.assign({ autoSize: true, handleScroll: { vertTouchDrag: false }, kineticScroll: { mouse: false, touch: !still } }, appearance()),
    );
    painters.push(() => chart.applyOptions(appearance()));
    return chart;
  };
  // Data and library are packed (RFC 1951); the library runs as a script whose hash the page's policy names.
  const unpacked = async (id) => {
    const stream = new DecompressionStream("deflate-raw"),
      writer = stream.writable.getWriter(),
      reader = stream.readable.getReader(),
      decoder = new TextDecoder();
    writer.write(Uint8Array.from(atob($(id).textContent), (c) => c.charCodeAt(0)));
    writer.close();
    let all = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) all += decoder.decode(part.value, { stream: true });
    return all + decoder.decode();
  };
  if (!window.DecompressionStream) {
    $("old-browser").hidden = false;
    return;
  }
  const [text, code] = await Promise.all([unpacked("data"), unpacked("library")]),
    data = JSON.parse(text),
    library = document.createElement("script");
  library.textContent = code;
  document.head.append(library);
  // Times are written as their distances.
  const since = (all) => all && all.forEach((_, i) => i && (all[i] += all[i - 1]));
  for (const all of [data.equity.t, data.trips.a, data.trips.b]) since(all);
  if (data.live) for (const all of [data.live.t, data.live.f]) since(all);
  for (const s of data.series) {
    for (const all of [s.t, s.fills.t, s.levels.a, s.levels.b]) since(all);
    for (const l of s.lines || []) since(l.v);
  }
  const L = window.LightweightCharts;
  const zip = (times, values) => times.map((time, i) => (values[i] === null ? { time } : { time, value: values[i] }));
  const quiet = { lastValueVisible: false, priceLineVisible: false };

  // wide keeps an axis from zooming into noise: it spans at least 1 % of what it shows.
  const wide = (original) => {
    const info = original(),
      range = info && info.priceRange;
    if (!range) return info;
    const middle = (range.minValue + range.maxValue) / 2,
      least = Math.max(Math.abs(middle) * 0.005, (range.maxValue - range.minValue) / 2);
    return Object.assign({}, info, { priceRange: { minValue: middle - least, maxValue: middle + least } });
  };

  function drawEquity() {
    const e = data.equity,
      chart = made("chart-equity");
    if (!chart || !e.t) return;
    const hold = chart.addSeries(L.LineSeries, Object.assign({ lineWidth: 1 }, quiet)),
      equity = chart.addSeries(L.AreaSeries, { lineWidth: 2, priceLineVisible: false });
    const cash = { type: "custom", minMove: 0.01, formatter: (v) => money(v, Math.abs(v) < 1000 ? 2 : 0) };
    hold.applyOptions({ priceFormat: cash });
    equity.applyOptions({ priceFormat: cash, autoscaleInfoProvider: wide });
    const fall = chart.addSeries(
      L.AreaSeries,
      Object.assign(
        {
          lineWidth: 1,
          invertFilledArea: true,
          priceFormat: { type: "custom", formatter: (v) => (Math.abs(v) < 0.05 ? "0" : v.toFixed(1)) + " %", minMove: 0.01 },
        },
        quiet,
      ),
      1,
    );
    const held = chart.addSeries(
      L.AreaSeries,
      Object.assign(
        { lineWidth: 1, lineType: 1, priceFormat: { type: "custom", formatter: (v) => v.toFixed(2) + " ×", minMove: 0.01 } },
        quiet,
      ),
      2,
    );
    hold.setData(zip(e.t, e.h));
    equity.setData(zip(e.t, e.e));
    fall.setData(zip(e.t, e.d));
    held.setData(zip(e.t, e.l));
    let live = null;
    if (data.live && data.live.t) {
      live = chart.addSeries(L.LineSeries, Object.assign({ lineWidth: 2, priceFormat: cash }, quiet));
      live.setData(zip(data.live.t, data.live.e));
      $("live-key").hidden = false;
    }
    const paint = () => {
      if (live) live.applyOptions({ color: color("line3") });
      hold.applyOptions({ color: color("hold") });
      equity.applyOptions({ lineColor: color("accent"), topColor: color("accent") + "38", bottomColor: color("accent") + "05" });
      fall.applyOptions({ lineColor: color("down"), topColor: faded("downbg", 0.05), bottomColor: faded("downbg", 0.3) });
      held.applyOptions({ lineColor: color("faint"), topColor: color("faint") + "55", bottomColor: color("faint") + "10" });
    };
    painters.push(paint);
    paint();
    const panes = chart.panes();
    panes[0].setStretchFactor(6);
    panes[1].setStretchFactor(2.2);
    panes[2].setStretchFactor(1.6);
    chart.timeScale().fitContent();
    const log = $("log");
    log.addEventListener("click", () => {
      const on = log.getAttribute("aria-pressed") !== "true";
      log.setAttribute("aria-pressed", String(on));
      equity.priceScale().applyOptions({ mode: on ? L.PriceScaleMode.Logarithmic : L.PriceScaleMode.Normal });
    });
    const hover = $("equity-hover"),
      show = (i) => {
        hover.textContent = [
          clock(e.t[i]),
          "equity " + money(e.e[i]),
          "buy and hold " + money(e.h[i]),
          "drawdown " + e.d[i].toFixed(2) + " %",
          "position " + e.l[i].toFixed(2) + " × equity",
        ].join("   ");
      };
    show(e.t.length - 1);
    chart.subscribeCrosshairMove((at) => show(at.time ? barAt(e.t, at.time) : e.t.length - 1));
  }

  function drawRolling() {
    const r = data.rolling;
    if (!r.t || r.t.length < 2) return;
    $("rolling-part").hidden = false;
    const chart = made("chart-rolling");
    if (chart) {
      const sharpe = chart.addSeries(L.LineSeries, Object.assign({ lineWidth: 2, title: "Sharpe" }, quiet)),
        share = { type: "custom", minMove: 0.01, formatter: (v) => v.toFixed(0) + " %" },
        spread = chart.addSeries(
          L.LineSeries,
          Object.assign({ lineWidth: 1, priceScaleId: "left", title: "volatility", priceFormat: share }, quiet),
        );
      chart.applyOptions({ leftPriceScale: { visible: true, borderVisible: false } });
      sharpe.setData(zip(r.t, r.s));
      spread.setData(zip(r.t, r.v));
      const zero = sharpe.createPriceLine({ price: 0, lineWidth: 1, lineStyle: 2, axisLabelVisible: false });
      const paint = () => {
        sharpe.applyOptions({ color: color("accent") });
        spread.applyOptions({ color: color("hold") });
        zero.applyOptions({ color: color("faint") });
      };
      painters.push(paint);
      paint();
      chart.timeScale().fitContent();
    }
    const rows = document.createDocumentFragment();
    for (let i = r.t.length - 1; i >= 0; i -= 7)
      rows.append(row([clock(r.t[i]).slice(0, 10), r.s[i] === null ? "–" : r.s[i].toFixed(2), r.v[i].toFixed(1)], ["", "n", "n"]));
    $("rolling-rows").append(rows);
  }

  function row(cells, classes) {
    const tr = document.createElement("tr");
    cells.forEach((text, i) => {
      const td = document.createElement("td");
      td.textContent = text;
      if (classes[i]) td.className = classes[i];
      tr.append(td);
    });
    return tr;
  }

  // The bar that holds a time: the last one that opens at or before it.
  const barAt = (times, time) => {
    let low = 0,
      high = times.length - 1;
    while (low < high) {
      const m = (low + high + 1) >> 1;
      if (times[m] <= time) low = m;
      else high = m - 1;
    }
    return low;
  };

  // Fills, stops and positions are drawn over the candles, those in sight alone.
  class Marks {
    constructor(series, marks) {
      this.owner = series;
      this.marks = marks;
    }
    attached({ chart, requestUpdate }) {
      this.chart = chart;
      this.update = requestUpdate;
    }
    updateAllViews() {}
    paneViews() {
      const under = {
        zOrder: () => "bottom",
        renderer: () => ({ draw: (target) => target.useMediaCoordinateSpace((s) => this.bands(s)) }),
      };
      const over = { zOrder: () => "top", renderer: () => ({ draw: (target) => target.useMediaCoordinateSpace((s) => this.points(s)) }) };
      return [under, over];
    }
    seen() {
      const r = this.chart.timeScale().getVisibleLogicalRange();
      return r ? [r.from - 1, r.to + 1] : [0, -1];
    }
    x(bar) {
      return this.chart.timeScale().logicalToCoordinate(bar);
    }
    y(price) {
      return this.owner.priceToCoordinate(price);
    }
    bands({ context: c, mediaSize }) {
      const [from, to] = this.seen();
      for (const t of this.marks.trips) {
        if (t.b < from || t.a > to) continue;
        const a = this.x(t.a),
          b = this.x(t.b);
        c.fillStyle = faded(t.gain >= 0 ? "upbg" : "downbg", t.on ? 0.22 : 0.09);
        c.fillRect(a, 0, Math.max(1, b - a), mediaSize.height);
      }
    }
    // circles are live fills.
    circles(c, from, to) {
      c.strokeStyle = color("line3");
      c.lineWidth = 2;
      for (const f of this.marks.live) {
        const y = f.bar < from || f.bar > to ? null : this.y(f.price);
        if (y === null) continue;
        c.beginPath();
        c.arc(this.x(f.bar), y, 5, 0, 2 * Math.PI);
        c.stroke();
      }
    }
    points({ context: c, mediaSize }) {
      const [from, to] = this.seen(),
        width = mediaSize.width / Math.max(1, to - from),
        size = Math.max(2.5, Math.min(6, width * 1.5));
      this.circles(c, from, to);
      c.lineWidth = 1;
      for (const l of this.marks.levels) {
        if (l.b < from || l.a > to) continue;
        c.strokeStyle = color(l.stop ? "down" : "up");
        c.setLineDash([4, 3]);
        const y = this.y(l.price);
        if (y === null) continue;
        c.beginPath();
        c.moveTo(this.x(l.a), y);
        c.lineTo(Math.max(this.x(l.b), this.x(l.a) + 2), y);
        c.stroke();
      }
      c.setLineDash([]);
      for (const t of this.marks.trips) {
        if (t.b < from || t.a > to || (width < 0.7 && !t.on)) continue;
        const y1 = this.y(t.entry),
          y2 = this.y(t.exit);
        if (y1 === null || y2 === null) continue;
        c.strokeStyle = color(t.gain >= 0 ? "up" : "down");
        c.lineWidth = t.on ? 2.5 : 1.2;
        c.beginPath();
        c.moveTo(this.x(t.a), y1);
        c.lineTo(this.x(t.b), y2);
        c.stroke();
      }
      for (const f of this.marks.fills) {
        if (f.bar < from || f.bar > to) continue;
        const x = this.x(f.bar),
          y = this.y(f.price);
        if (y === null) continue;
        const buy = f.quantity > 0,
          tip = y + (buy ? 2 : -2),
          base = y + (buy ? 2 + size * 1.7 : -2 - size * 1.7);
        c.fillStyle = color(buy ? "up" : "down");
        c.strokeStyle = color("card");
        c.lineWidth = 1;
        c.beginPath();
        c.moveTo(x, tip);
        c.lineTo(x - size, base);
        c.lineTo(x + size, base);
        c.closePath();
        c.fill();
        c.stroke();
        if (width > 26) {
          c.fillStyle = color("soft");
          c.font = "11px system-ui, sans-serif";
          c.textAlign = "center";
          c.fillText((buy ? "buy " : "sell ") + Math.abs(f.quantity) + " " + f.purpose, x, base + (buy ? 13 : -5));
        }
      }
    }
  }

  const T = data.trips,
    tripCount = T.a ? T.a.length : 0;
  let candles = null;

  function drawCandles() {
    const chart = made("chart-candles"),
      pick = $("series");
    if (!chart || !data.series.length) return;
    const bars = chart.addSeries(L.CandlestickSeries, { priceLineVisible: false }),
      volume = chart.addSeries(L.HistogramSeries, Object.assign({ priceScaleId: "volume", priceFormat: { type: "volume" } }, quiet));
    chart.priceScale("volume").applyOptions({ scaleMargins: { top: 0.86, bottom: 0 }, visible: false });
    let marks = null,
      lines = [],
      moved = null,
      at = -1;
    const hover = $("candles-hover"),
      hues = ["accent", "hold", "line3", "line4", "line5", "line6"];
    const values = (s, rows, i) => {
      const row = rows[i],
        places = Math.max(0, Math.min(s.places, Math.round(-Math.log10(s.tick)))),
        price = (v) => money(v, places);
      hover.replaceChildren(
        [clock(row.time), "open " + price(row.open), "high " + price(row.high), "low " + price(row.low), "close " + price(row.close)].join("   "),
      );
      for (const l of lines) {
        const value = i < l.own.from ? "–" : money(l.own.v[i - l.own.from] * l.own.u, l.own.own ? 2 : places),
          word = document.createElement("span");
        word.className = "key " + l.hue;
        word.textContent = l.own.name + " " + value;
        hover.append(" ", word);
      }
    };
    const paint = () => {
      bars.applyOptions({
        upColor: color("up"),
        downColor: color("down"),
        borderUpColor: color("up"),
        borderDownColor: color("down"),
        wickUpColor: color("up"),
        wickDownColor: color("down"),
      });
      volume.applyOptions({ color: color("faint") + "50" });
      for (const l of lines) l.drawn.applyOptions({ color: color(l.hue) });
      if (marks && marks.update) marks.update();
    };
    painters.push(paint);
    const show = (n) => {
      if (n === at) return;
      at = n;
      pick.value = String(n);
      const s = data.series[n],
        unit = Math.pow(10, -s.places),
        rows = [];
      let last = 0;
      for (let i = 0; i < s.t.length; i++) {
        const open = last + s.o[i];
        last = open + s.c[i];
        rows.push({ time: s.t[i], open: open * unit, high: (open + s.h[i]) * unit, low: (open - s.l[i]) * unit, close: last * unit });
      }
      const places = Math.max(0, Math.min(s.places, Math.round(-Math.log10(s.tick))));
      bars.applyOptions({ priceFormat: { type: "price", precision: places, minMove: Math.pow(10, -places) } });
      bars.setData(rows);
      volume.setData(s.t.map((time, i) => ({ time, value: s.v[i] })));
      for (const l of lines) chart.removeSeries(l.drawn);
      lines = (s.lines || []).map((own, i) => {
        const format = { type: "price", precision: own.own ? 2 : places, minMove: Math.pow(10, own.own ? -2 : -places) },
          options = Object.assign({ lineWidth: 1, crosshairMarkerVisible: false, priceFormat: format }, quiet),
          drawn = chart.addSeries(L.LineSeries, options, own.own ? 1 : 0);
        drawn.setData(own.v.map((v, k) => ({ time: s.t[own.from + k], value: v * own.u })));
        return { own, drawn, hue: hues[i % hues.length] };
      });
      const panes = chart.panes();
      if (panes[1]) {
        panes[0].setStretchFactor(4);
        panes[1].setStretchFactor(1);
      }
      if (marks) bars.detachPrimitive(marks);
      const own = { trips: [], fills: [], levels: [], live: [] },
        f = s.fills,
        l = s.levels;
      for (let i = 0; i < tripCount; i++)
        if (T.n[i] === n)
          own.trips.push({ index: i, a: barAt(s.t, T.a[i]), b: barAt(s.t, T.b[i]), gain: T.g[i], entry: T.p[i], exit: T.x[i] });
      for (let i = 0; f.t && i < f.t.length; i++)
        own.fills.push({ bar: barAt(s.t, f.t[i]), price: f.p[i], quantity: f.q[i], purpose: f.w[i].replaceAll("_", " ") });
      if (data.live && n === 0)
        own.live = data.live.f.map((time, i) => ({ bar: barAt(s.t, time), price: data.live.p[i] })).filter((mark) => mark.price > 0);
      for (let i = 0; l.a && i < l.a.length; i++)
        own.levels.push({ a: barAt(s.t, l.a[i]), b: l.b[i] ? barAt(s.t, l.b[i]) : s.t.length - 1, price: l.p[i], stop: l.s[i] });
      marks = new Marks(bars, own);
      bars.attachPrimitive(marks);
      if (f.left)
        $("candles-note").textContent += " Only the first " + f.t.length + " fills are drawn; fills.csv has the other " + f.left + ".";
      paint();
      const fit = Math.min(s.t.length, 400);
      chart.timeScale().setVisibleLogicalRange({ from: s.t.length - fit, to: s.t.length });
      $("shown").textContent = s.t.length.toLocaleString("en-US") + " candles of " + s.interval;
      values(s, rows, rows.length - 1);
      if (moved) chart.unsubscribeCrosshairMove(moved);
      moved = (over) => values(s, rows, over.time ? barAt(s.t, over.time) : rows.length - 1);
      chart.subscribeCrosshairMove(moved);
    };
    data.series.forEach((s, i) => {
      const o = document.createElement("option");
      o.value = String(i);
      o.textContent = s.name;
      pick.append(o);
    });
    pick.parentElement.hidden = data.series.length < 2;
    pick.addEventListener("change", () => show(Number(pick.value)));
    $("fit").addEventListener("click", () => chart.timeScale().fitContent());
    let current = tripCount;
    const go = (i) => {
      if (i < 0 || i >= tripCount || T.n[i] < 0) return;
      current = i;
      show(T.n[i]);
      let mine = null;
      for (const t of marks.marks.trips) {
        t.on = t.index === i;
        if (t.on) mine = t;
      }
      const room = Math.max(15, (mine.b - mine.a) * 0.8);
      chart.timeScale().setVisibleLogicalRange({ from: mine.a - room, to: mine.b + room });
      marks.update();
      $("shown").textContent =
        "trade " +
        (i + 1) +
        " of " +
        tripCount +
        ": " +
        (T.s[i] ? "long" : "short") +
        " " +
        clock(T.a[i]) +
        ", " +
        signed(T.g[i]) +
        " USDT";
    };
    $("previous").addEventListener("click", () => go(current - 1));
    $("next").addEventListener("click", () => go(current + 1 < tripCount ? current + 1 : 0));
    $("previous").disabled = $("next").disabled = tripCount === 0;
    candles = { go };
    show(0);
  }

  function listTrips() {
    const body = $("trip-rows");
    if (!body) return;
    const size = 25,
      value = {
        a: (i) => T.a[i],
        held: (i) => T.b[i] - T.a[i],
        g: (i) => T.g[i],
        cost: (i) => T.f[i] + T.u[i],
        mae: (i) => T.mae[i],
        mfe: (i) => T.mfe[i],
      };
    let order = [],
      page = 0,
      by = "a",
      down = false;
    const choose = () => {
      const word = $("find").value.toLowerCase(),
        want = $("filter").value;
      order = [];
      for (let i = 0; i < tripCount; i++) {
        if (
          (want === "win" && T.g[i] <= 0) ||
          (want === "loss" && T.g[i] > 0) ||
          (want === "long" && !T.s[i]) ||
          (want === "short" && T.s[i])
        )
          continue;
        const name = T.n[i] >= 0 ? data.series[T.n[i]].name : "";
        if (word && !(name + " " + T.who[i] + " " + T.in[i] + " " + T.out[i] + " " + clock(T.a[i])).toLowerCase().includes(word)) continue;
        order.push(i);
      }
      const of = value[by];
      order.sort((x, y) => (down ? of(y) - of(x) : of(x) - of(y)) || x - y);
      page = 0;
      show();
    };
    const show = () => {
      const pages = Math.max(1, Math.ceil(order.length / size)),
        rows = document.createDocumentFragment();
      page = Math.min(page, pages - 1);
      for (const i of order.slice(page * size, page * size + size)) {
        const name = data.series.length > 1 && T.n[i] >= 0 ? " " + data.series[T.n[i]].name : "";
        const tr = row(
          [
            clock(T.a[i]),
            span(T.b[i] - T.a[i]),
            (T.s[i] ? "long" : "short") + name,
            T.q[i],
            money(T.p[i], 2),
            money(T.x[i], 2),
            signed(T.g[i]),
            money(T.f[i] + T.u[i]),
            T.mae[i].toFixed(2),
            T.mfe[i].toFixed(2),
            T.in[i],
            T.out[i].replaceAll("_", " "),
          ],
          ["", "", "", "n", "n", "n", "n " + (T.g[i] > 0 ? "up" : "down"), "n", "n", "n", "why", ""],
        );
        tr.title = T.in[i];
        tr.tabIndex = 0;
        const open = () => {
          body.querySelectorAll(".on").forEach((e) => e.classList.remove("on"));
          tr.classList.add("on");
          if (candles) {
            candles.go(i);
            $("candles").scrollIntoView({ behavior: still ? "auto" : "smooth" });
          }
        };
        tr.addEventListener("click", open);
        tr.addEventListener("keydown", (e) => {
          if (e.key === "Enter") open();
        });
        rows.append(tr);
      }
      body.replaceChildren(rows);
      $("page").textContent = page + 1 + " / " + pages;
      $("back").disabled = page === 0;
      $("more").disabled = page === pages - 1;
      $("trips-count").textContent =
        order.length.toLocaleString("en-US") +
        " round trips" +
        (T.left ? " (the first of " + (tripCount + T.left) + "; trades.csv lists all)" : "");
      document
        .querySelectorAll("#trips [data-sort]")
        .forEach((b) => b.parentElement.setAttribute("aria-sort", b.dataset.sort !== by ? "none" : down ? "descending" : "ascending"));
    };
    document.querySelectorAll("#trips [data-sort]").forEach((b) =>
      b.addEventListener("click", () => {
        if (by === b.dataset.sort) down = !down;
        else {
          by = b.dataset.sort;
          down = by !== "a";
        }
        choose();
      }),
    );
    $("find").addEventListener("input", choose);
    $("filter").addEventListener("change", choose);
    $("back").addEventListener("click", () => {
      page--;
      show();
    });
    $("more").addEventListener("click", () => {
      page++;
      show();
    });
    choose();
  }

  for (const part of [drawEquity, drawCandles, drawRolling, listTrips]) part();
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      document.body.dataset.ready = "yes";
    }),
  );
})();
