// Replay: the lines of a run's log as a list, beside the one that is shown. Choosing a line, or moving the slider, makes
// every view of the run show the state after it.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to } from "../runpage.js";
import { seek } from "../replaybar.js";
import { reveal, virtual } from "../list.js";
import { tone } from "../icons.js";
import { clock, full, took, between } from "../format.js";
import { complain } from "../parts.js";

const ROW = 30;
const PAGE = 200;

const TONES = [
  [/failed|refused|blocked|rejected|exhausted|lost/, "failed"],
  [/finished|passed|verified|accepted|adopted/, "passed"],
  [/asked|warned|retry/, "waiting"],
];
const toneOf = (event) => tone((TONES.find(([pattern]) => pattern.test(event)) || [null, "running"])[1]);

async function load(ctx) {
  ctx.state.lines ||= [];
  ctx.state.stuck = null;
  return {};
}

/** Fetches from the first row that is not there, one request at a time; what cannot be had is asked for at the next load. */
async function fetchRows(ctx, from, until) {
  const { state } = ctx;
  let first = from;
  while (first < until && state.lines[first]) first += 1;
  if (first >= until || state.fetching || state.stuck === first) return;
  state.fetching = true;
  try {
    const answer = await ctx.get(path(["runs", ctx.params.run, "events"], { after: first, limit: PAGE }));
    for (const line of answer.items) state.lines[line.seq - 1] = line;
    if (!state.lines[first]) state.stuck = first;
  } catch (error) {
    if (error.name === "AbortError") return;
    state.stuck = first;
    complain(error);
  } finally {
    state.fetching = false;
  }
  ctx.redraw();
}

function render(_, ctx, detail) {
  const total = detail.last || 0;
  const at = Number(ctx.query.get("at")) || total;
  const state = (ctx.state.list ||= {});
  if (state.at !== at) {
    state.at = at;
    queueMicrotask(() => reveal(state, at - 1, ROW));
  }
  const line = ctx.state.lines[at - 1];
  return h(
    "div",
    { class: "split replay" },
    h(
      "div",
      { class: "split-list panel" },
      virtual(state, {
        total,
        height: ROW,
        label: `Log, ${total} lines`,
        redraw: ctx.redraw,
        active: at - 1,
        missing: (from, until) => fetchRows(ctx, from, until),
        row: (i) => rowOf(ctx.state.lines[i], i + 1 === at, ctx, detail),
      }),
    ),
    h(
      "div",
      { class: "split-one", tabindex: 0, role: "region", "aria-label": "Line" },
      line ? whole(line, ctx, detail) : h("p", { class: "faint" }, "Loading …"),
    ),
  );
}

function rowOf(line, on, ctx, detail) {
  if (!line) return null;
  return h(
    "button",
    {
      type: "button",
      class: `log-line ${on ? "on" : ""}`,
      "data-row": true,
      "aria-current": on ? "true" : undefined,
      onclick: () => seek(ctx, line.seq),
    },
    h("span", { class: "log-seq" }, line.seq),
    h("span", { class: `log-dot t-${toneOf(line.event)}`, "aria-hidden": "true" }),
    h("span", { class: "log-at" }, `+${took(between(detail.view.started, line.at))}`),
    h("span", { class: "log-event" }, line.event),
    h("span", { class: "log-sum clip" }, line.summary),
  );
}

function whole(line, ctx) {
  const decided = line.data && line.data.decision;
  return h(
    "article",
    { class: "why-one" },
    h(
      "div",
      { class: "crumbs" },
      h("span", {}, `line ${line.seq}`),
      h("time", { class: "faint", title: full(line.at) }, clock(line.at, true)),
    ),
    h("h2", { class: "why-rule mono" }, line.event),
    h("p", { class: "why-reason" }, line.summary),
    decided ? h("p", {}, h("a", { href: to(ctx, "why", String(line.seq)) }, "Why?")) : null,
    h("h3", {}, "Recorded data"),
    h("pre", { class: "json", tabindex: 0 }, pretty(line.data)),
  );
}

const MOST_SHOWN = 40_000;
function pretty(data) {
  const text = JSON.stringify(data, null, 2) || "";
  return text.length > MOST_SHOWN
    ? `${text.slice(0, MOST_SHOWN)}\n… ${text.length - MOST_SHOWN} more characters`
    : text;
}

export default runView("replay", {
  name: () => "Replay",
  load,
  render,
  keys: (ctx) => {
    const step = (by) => () => seek(ctx, (Number(ctx.query.get("at")) || ctx.data.detail.last) + by);
    return { j: ["Line after", step(1)], k: ["Line before", step(-1)] };
  },
});
