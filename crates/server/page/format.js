// How times, durations, money and counts are written. It formats what the API says and computes nothing else.

const DAY = 86_400_000;

export function ms(text) {
  return text ? Date.parse(text) : NaN;
}

/** `14:03`, or with the date where it was not today. */
export function clock(text, seconds = false) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  const time = at.toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    ...(seconds ? { second: "2-digit" } : {}),
    hour12: false,
  });
  if (new Date().toDateString() === at.toDateString()) return time;
  return `${at.toLocaleDateString([], { day: "numeric", month: "short" })} ${time}`;
}

/** The whole time, for a tooltip. */
export function full(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : at.toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
}

/** `just now`, `3 min ago`, `2 days ago`. */
export function ago(text, now = Date.now()) {
  const past = now - ms(text);
  if (Number.isNaN(past)) return "";
  if (past < 0) return `in ${span(-past)}`;
  if (past < 10_000) return "just now";
  if (past < 30 * DAY) return `${span(past)} ago`;
  return new Date(text).toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
}

/** One unit: `42 s`, `3 min`, `5 h`, `2 days`. */
export function span(length) {
  if (length < 60_000) return `${Math.round(length / 1000)} s`;
  if (length < 3_600_000) return `${Math.round(length / 60_000)} min`;
  if (length < DAY) return `${Math.round(length / 3_600_000)} h`;
  const days = Math.round(length / DAY);
  return days === 1 ? "1 day" : `${days} days`;
}

/** A duration: `0.4 s`, `17 s`, `2:05`, `1:02:05`. */
export function took(length) {
  if (length === null || length === undefined || Number.isNaN(length)) return "";
  if (length < 950) return `${Math.round(length)} ms`;
  if (length < 9_950) return `${(length / 1000).toFixed(1)} s`;
  const all = Math.round(length / 1000);
  if (all < 60) return `${all} s`;
  if (all >= 86_400) return span(length);
  const two = (n) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** How long something took that may still go on. */
export function between(from, to, now = Date.now()) {
  return Math.max(0, (to ? ms(to) : now) - ms(from));
}

/** Dollars; an amount is a decimal text. */
export function money(amount) {
  if (amount === null || amount === undefined || amount === "") return "";
  const value = Number(amount);
  if (Number.isNaN(value)) return String(amount);
  if (value === 0) return "$0";
  return value < 0.01 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

/** `840`, `18.8k`, `263k`, `1.2M`. */
export function count(number) {
  if (number === null || number === undefined) return "";
  const n = Number(number);
  if (n < 1000) return String(n);
  if (n < 100_000) return `${trim((n / 1000).toFixed(1))}k`;
  if (n < 1_000_000) return `${Math.round(n / 1000)}k`;
  return `${trim((n / 1_000_000).toFixed(2))}M`;
}

const trim = (text) => text.replace(/\.?0+$/, "");

/** Bytes: `840 B`, `12 kB`, `3.1 MB`. */
export function bytes(n) {
  if (n < 1000) return `${n} B`;
  return n < 1_000_000 ? `${Math.round(n / 1000)} kB` : `${(n / 1_000_000).toFixed(1)} MB`;
}

/** `1 task`, `2 tasks`. */
export function plural(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

/** Money where a price is known, tokens otherwise. */
export function cost(amount, tokens) {
  if (amount !== null && amount !== undefined && Number(amount) > 0) return money(amount);
  return tokens ? `${count(tokens)} tok` : "";
}

/** With a capital first letter. */
export function capital(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : text;
}

/** A wire word for people: `out_of_budget` is `out of budget`. */
export function words(text) {
  return String(text ?? "").replaceAll("_", " ");
}

/** Colours of the levels of evidence. */
export const LEVELS = { proven_by_others: "good", proven: "good", covered: "", unproven: "warn" };

/** A level of evidence for people. */
export function levelName(name) {
  const plain = { proven_by_others: "proven by another author's tests", unproven: "not shown by any test" };
  return plain[name] || words(name);
}

/** A model's name; a script's is a digest, and long. */
export function model(name) {
  const text = String(name ?? "");
  return /^script\/[0-9a-f]{16,}$/.test(text) ? `script/${text.slice(7, 15)}…` : text;
}

/** The first ten characters of a commit or digest. */
export function short(id) {
  return String(id ?? "").slice(0, 10);
}

/** The last part of a path. */
export function base(path) {
  return String(path ?? "")
    .replace(/\/+$/, "")
    .split("/")
    .pop();
}
