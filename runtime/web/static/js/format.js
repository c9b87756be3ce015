// Numbers and times for people. Money arrives as decimal text and stays text: it is cut and grouped, never computed with.

import { settings } from "./settings.js";

const MINUS = "−",
  THIN = " ";

// parts splits "-1234.50" in sign, whole digits and fraction.
function parts(text) {
  const match = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(String(text ?? ""));
  return match && { negative: match[1] === "-", whole: match[2], fraction: match[3] ?? "" };
}

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

// rounded rounds a fraction to some places, half away from zero, on digits alone.
function rounded({ negative, whole, fraction }, places) {
  if (fraction.length <= places) return { negative, whole, fraction: fraction.padEnd(places, "0") };
  const digits = BigInt(whole + fraction.slice(0, places)) + (fraction[places] >= "5" ? 1n : 0n);
  const text = digits.toString().padStart(places + 1, "0");
  return { negative, whole: text.slice(0, text.length - places), fraction: places ? text.slice(-places) : "" };
}

function write({ negative, whole, fraction }, plus) {
  const zero = !/[1-9]/.test(whole + fraction);
  const sign = zero ? "" : negative ? MINUS : plus ? "+" : "";
  return sign + grouped(whole) + (fraction ? "." + fraction : "");
}

// money formats an amount of USDT with two places.
export function money(text, { plus = false, places = 2 } = {}) {
  const number = parts(text);
  return number ? write(rounded(number, places), plus) : "–";
}

// exact formats a number with all its digits.
export function exact(text, { plus = false } = {}) {
  const number = parts(text);
  return number ? write(number, plus) : text || "–";
}

// price rounds to the places of another price of the symbol.
export const price = (text, like) => (isZero(text) ? "–" : money(text, { places: (String(like ?? "").split(".")[1] ?? "").length }));

// mean formats a mean price, with two more places than the symbol's prices.
export const mean = (text, like) => (isZero(text) ? "–" : money(text, { places: (String(like ?? ".00").split(".")[1] ?? "").length + 2 }));

// aligned formats the numbers of a column with the same number of places, which aligns their decimal points.
export function aligned(rows, pick) {
  const places = Math.max(0, ...rows.map((row) => parts(pick(row))?.fraction.length ?? 0));
  return (row) => {
    const number = parts(pick(row));
    return number && !isZero(pick(row)) ? write({ ...number, fraction: number.fraction.padEnd(places, "0") }) : "–";
  };
}

// sum adds decimals exactly, on digits alone.
export function sum(all) {
  const numbers = all.map(parts).filter(Boolean),
    places = Math.max(0, ...numbers.map((one) => one.fraction.length));
  const total = numbers.reduce((so, one) => so + BigInt(one.whole + one.fraction.padEnd(places, "0")) * (one.negative ? -1n : 1n), 0n);
  const digits = String(total < 0n ? -total : total).padStart(places + 1, "0");
  return (total < 0n ? "-" : "") + digits.slice(0, digits.length - places) + (places ? "." + digits.slice(-places) : "");
}

// short formats a large statistic in few digits: 1,234, 56.7 K, 8.9 M.
export function short(number) {
  const [by, letter] = [
    [1e9, "B"],
    [1e6, "M"],
    [1e4, "K"],
  ].find(([least]) => Math.abs(number) >= least) ?? [1, ""];
  const value = number / (letter === "K" ? 1e3 : by);
  return exact(value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2)) + (letter ? THIN + letter : "");
}

// given shows "–" where the API returns 0 for none.
export const given = (text) => (isZero(text) ? "–" : exact(text));

export const isZero = (text) => !/[1-9]/.test(String(text ?? ""));
export const sign = (text) => (isZero(text) ? 0 : String(text).startsWith("-") ? -1 : 1);

export function percent(ratio, { plus = false, places = 2 } = {}) {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return "–";
  const text = Math.abs(ratio * 100).toFixed(places);
  return (
    (/[1-9]/.test(text) ? (ratio < 0 ? MINUS : plus ? "+" : "") : "") +
    grouped(text.split(".")[0]) +
    (places ? "." + text.split(".")[1] : "") +
    THIN +
    "%"
  );
}

// arrow shows a direction without color.
export const arrow = (text) => ["▼", "", "▲"][sign(text) + 1];

const two = (n) => String(n).padStart(2, "0");

function clock(ms) {
  const d = new Date(ms);
  return settings.zone === "local"
    ? {
        y: d.getFullYear(),
        mo: d.getMonth(),
        d: d.getDate(),
        h: d.getHours(),
        mi: d.getMinutes(),
        s: d.getSeconds(),
        ms: d.getMilliseconds(),
      }
    : {
        y: d.getUTCFullYear(),
        mo: d.getUTCMonth(),
        d: d.getUTCDate(),
        h: d.getUTCHours(),
        mi: d.getUTCMinutes(),
        s: d.getUTCSeconds(),
        ms: d.getUTCMilliseconds(),
      };
}

export const zone = () => (settings.zone === "local" ? "local time" : "UTC");
export const msOf = (time) => (typeof time === "number" ? time : Date.parse(time));
export const month = (i) => ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][i];

// stamp formats a date and a time, and omits today's date.
export function stamp(time, nowMS = Date.now()) {
  if (!time) return "–";
  const t = clock(msOf(time)),
    now = clock(nowMS);
  const date = t.y === now.y && t.mo === now.mo && t.d === now.d ? "" : `${two(t.d)} ${month(t.mo)}${t.y === now.y ? "" : " " + t.y} `;
  return `${date}${two(t.h)}:${two(t.mi)}:${two(t.s)}`;
}

export function stampFull(time) {
  if (!time) return "–";
  const t = clock(msOf(time));
  return `${t.y}-${two(t.mo + 1)}-${two(t.d)} ${two(t.h)}:${two(t.mi)}:${two(t.s)}.${String(t.ms).padStart(3, "0")} ${zone()}`;
}

export function stampShort(time) {
  const t = clock(msOf(time));
  return `${two(t.d)} ${month(t.mo)} ${two(t.h)}:${two(t.mi)}`;
}

export const parsed = clock;

// age formats a duration: 850 ms, 4 s, 12 min, 3 h, 5 d.
export function age(ms) {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "–";
  const s = Math.max(0, ms) / 1000;
  if (s < 1) return `${Math.round(s * 1000)}${THIN}ms`;
  if (s < 90) return `${Math.floor(s)}${THIN}s`;
  if (s < 5400) return `${Math.floor(s / 60)}${THIN}min`;
  if (s < 172800) return `${Math.floor(s / 3600)}${THIN}h`;
  return `${Math.floor(s / 86400)}${THIN}d`;
}

export function uptime(seconds) {
  const d = Math.floor(seconds / 86400),
    hours = Math.floor((seconds % 86400) / 3600),
    minutes = Math.floor((seconds % 3600) / 60);
  return d ? `${d} d ${hours} h` : hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min` : `${Math.floor(seconds)} s`;
}

// words turns stop_loss into "stop loss".
export const words = (name) => String(name ?? "").replaceAll("_", " ");
export const title = (name) => words(name).replace(/^./, (letter) => letter.toUpperCase());
export const plural = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;
