// The timeline: a waterfall of attempts, checks, merges, waits and questions, one row for each task and for the run itself.
// Where a bar begins and ends is the server's word; what is open ends now.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to } from "../runpage.js";
import { chip, empty } from "../parts.js";
import { between, clock, ms, took, words } from "../format.js";

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400].map(
  (s) => s * 1000,
);
const KINDS = [
  ["plan", "plan"],
  ["prepare", "prepare"],
  ["attempt", "attempt"],
  ["check", "check"],
  ["merge", "merge"],
  ["gate", "gate"],
  ["wait", "wait"],
  ["question", "question"],
];

async function load(ctx, at) {
  return ctx.get(path(["runs", ctx.params.run, "timeline"], { at }));
}

function render(line, ctx, detail) {
  if (!line.rows.length) return empty("Nothing recorded yet");
  const from = ms(line.from);
  const open = line.rows.some((row) => row.bars.some((bar) => !bar.to)) && !ctx.query.get("at");
  const to_ = Math.max(open ? Date.now() : 0, ms(line.to) || 0, from + 1000);
  const scale = { from, length: (to_ - from) * 1.01 };
  const picked = pickedBar(line, ctx);
  return h(
    "div",
    { class: "timeline" },
    h(
      "div",
      { class: "legend" },
      KINDS.filter(([kind]) => line.rows.some((row) => row.bars.some((bar) => bar.kind === kind))).map(
        ([kind, label]) => h("span", { key: kind }, h("i", { class: `swatch k-${kind}` }), label),
      ),
      h("span", {}, h("i", { class: "swatch o-failed" }), "failed"),
    ),
    h(
      "div",
      { class: "tracks panel" },
      axis(scale),
      line.rows.map((row) => trackRow(row, scale, ctx)),
    ),
    picked
      ? about(picked, ctx, detail)
      : h(
          "p",
          { class: "faint timeline-hint" },
          "Point at a bar, or move to it with Tab, to see what it was and why.",
        ),
  );
}

function axis({ from, length }) {
  const step = STEPS.find((one) => length / one <= 9) || STEPS[STEPS.length - 1];
  const ticks = [];
  for (let at = 0; at <= length; at += step) ticks.push(at);
  return h(
    "div",
    { class: "track axis", "aria-hidden": "true" },
    h("span", { class: "track-label faint" }, clock(new Date(from).toISOString())),
    h(
      "div",
      { class: "lane" },
      ticks.map((at) =>
        h(
          "span",
          { key: at, class: "tick", style: { left: `${(at / length) * 100}%` } },
          at ? took(at).replace(".0 s", " s") : "0",
        ),
      ),
    ),
  );
}

function trackRow(row, scale, ctx) {
  const label = row.task
    ? h(
        "a",
        { href: to(ctx, "tasks", row.task) },
        h("span", { class: "faint" }, row.task),
        " ",
        row.label.startsWith(row.task) ? row.label.slice(row.task.length).trim() : row.label,
      )
    : row.label;
  return h(
    "div",
    { class: "track", key: row.id },
    h("span", { class: "track-label clip", title: row.label }, label),
    h(
      "div",
      { class: "lane" },
      row.bars.map((bar, i) => barBox(row, bar, i, scale, ctx)),
    ),
  );
}

function barBox(row, bar, i, { from, length }, ctx) {
  const id = `${row.id} ${i}`;
  const begin = (ms(bar.from) - from) / length;
  const size = between(bar.from, bar.to, ctx.query.get("at") ? from + length / 1.01 : Date.now()) / length;
  const said = `${words(bar.kind)} ${shortly(bar)}, ${bar.label || ""}, ${took(size * length)}${bar.outcome ? `, ${words(bar.outcome)}` : ""}${bar.reason ? `: ${bar.reason}` : ""}`;
  return h(
    "button",
    {
      key: i,
      type: "button",
      class: `bar k-${bar.kind} o-${bar.outcome || ""} ${ctx.state.bar === id ? "on" : ""} ${bar.to ? "" : "open"} ${bar.inner ? "inner" : ""}`,
      style: { left: `${begin * 100}%`, width: `max(3px, ${size * 100}%)` },
      "aria-label": said,
      title: said,
      onclick: () => pick(ctx, id),
      onmouseenter: () => pick(ctx, id),
      onfocus: () => pick(ctx, id),
    },
    size > 0.06 ? h("span", {}, shortly(bar)) : null,
  );
}

/** What fits into a bar: why it is waited, which attempt, or its name. */
function shortly(bar) {
  if (bar.kind === "wait" || bar.kind === "question") return bar.reason || bar.label;
  return bar.kind === "attempt" && bar.attempt ? bar.attempt : bar.label;
}

function pick(ctx, id) {
  if (ctx.state.bar === id) return;
  ctx.state.bar = id;
  ctx.draw();
}

function pickedBar(line, ctx) {
  for (const row of line.rows) {
    const i = row.bars.findIndex((_, n) => `${row.id} ${n}` === ctx.state.bar);
    if (i >= 0) return { row, bar: row.bars[i] };
  }
  return null;
}

function about({ row, bar }, ctx) {
  const kind = bar.outcome === "failed" ? "bad" : bar.outcome === "ok" ? "good" : "";
  return h(
    "div",
    { class: "bar-about panel", "aria-live": "polite" },
    h(
      "div",
      {},
      h("strong", {}, words(bar.kind)),
      " ",
      bar.label,
      " ",
      bar.outcome ? chip(words(bar.outcome), kind) : null,
    ),
    bar.reason ? h("p", {}, bar.reason) : null,
    h(
      "p",
      { class: "faint" },
      row.label,
      " · ",
      clock(bar.from, true),
      bar.to ? ` to ${clock(bar.to, true)}` : ", still going on",
      " · ",
      took(between(bar.from, bar.to)),
      row.task ? [" · ", h("a", { href: to(ctx, "tasks", row.task) }, "task")] : null,
    ),
  );
}

export default runView("timeline", { name: () => "Timeline", load, render, wants: (line) => !line.attempt });
