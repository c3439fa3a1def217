// What all views of one run share: the header with state, progress, cost and actions, the tabs, the open questions, and
// the replay bar. A view of a run gives its own part; `at` in the address makes everything show an earlier line.

import { h } from "./dom.js";
import { path } from "./api.js";
import { actions, actionKeys } from "./runactions.js";
import { bar, replayKeys, stop } from "./replaybar.js";
import { card, choose, forget, grouped, summary } from "./question.js";
import { runState } from "./icons.js";
import { badge, failure, meter, skeleton } from "./parts.js";
import { between, cost, count, full, money, plural, took, words } from "./format.js";

const TABS = [
  ["run", "", "Overview"],
  ["timeline", "timeline", "Timeline"],
  ["review", "review", "Review"],
  ["gate", "gate", "Gates"],
  ["why", "why", "Why"],
  ["money", "money", "Money"],
  ["spec", "spec", "Spec"],
  ["replay", "replay", "Replay"],
];
const ALSO = { task: "run", proof: "spec" };
const OVER = ["done", "failed", "refused", "no_go", "cancelled", "out_of_budget"];
const LONG_GOAL = 200;
let last = null;

export const isOver = (view) => OVER.includes(view.status);

/** An address of this run that keeps the replayed line. */
export function to(ctx, ...parts) {
  return path(["runs", ctx.params.run, ...parts], { at: ctx.query.get("at") });
}

/** Makes a view of a run. `load(ctx, at)` gets the tab's own data; `render(body, ctx, detail)` draws it. */
export function runView(tab, own) {
  return {
    title: (ctx) => `${own.name ? `${own.name(ctx)} · ` : ""}${clipped(ctx.data.detail.view.goal)}`,
    filter: (ctx) => ({ run: ctx.params.run, deltas: Boolean(own.delta) }),
    delta: own.delta,
    keeps: own.keeps,
    leave: (ctx) => {
      stop(ctx);
      if (own.leave) own.leave(ctx);
    },
    wants: (line, ctx) =>
      !ctx.query.get("at") && line.run === ctx.params.run && (!own.wants || own.wants(line, ctx) || !line.attempt),
    ticks: (ctx) => !ctx.query.get("at") && !isOver(ctx.data.detail.view),
    load: (ctx) => loadRun(ctx, own),
    render(data, ctx) {
      if (!ctx.state.shown) {
        ctx.state.shown = true;
        requestAnimationFrame(() =>
          document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }),
        );
      }
      return [
        head(data, ctx, tab),
        tab === "run" ? asked(data, ctx) : hint(data, ctx),
        h("div", { class: `run-body tab-${tab}`, key: "body" }, body(data, ctx, own)),
        bar(data, ctx),
      ];
    },
    keys: (ctx) => ({
      ...tabKeys(ctx, tab),
      ...actionKeys(ctx),
      ...replayKeys(ctx),
      ...(tab === "run" ? answerKeys(ctx) : {}),
      ...(own.keys && ctx.data.body && !ctx.data.body.failed ? own.keys(ctx) : {}),
    }),
  };
}

/** The run, the tab's own data, the open questions, and in a replay the line that is shown. */
async function loadRun(ctx, own) {
  const { run } = ctx.params;
  const at = ctx.query.get("at");
  if (last && last.run === run && ctx.data === undefined) {
    ctx.data = { detail: last, body: undefined, questions: [], line: null };
    ctx.draw();
  }
  const failed = (error) => {
    if (error.name === "AbortError") throw error;
    return { failed: error };
  };
  const lineAt = () =>
    ctx.get(path(["runs", run, "events"], { after: Number(at) - 1, limit: 1 })).then((page) => page.items[0]);
  const [detail, tabs, questions, line] = await Promise.all([
    ctx.get(path(["runs", run], { at })),
    own.load ? own.load(ctx, at).catch(failed) : null,
    at ? { items: [] } : ctx.get("/questions").catch(() => ({ items: [] })),
    at ? lineAt().catch(() => null) : null,
  ]);
  last = { ...detail, run };
  if (!at) {
    forget(questions.items);
    ctx.app.setQuestions(grouped(questions.items).length);
  }
  return { detail, body: tabs, questions: questions.items.filter((entry) => entry.run === run), line };
}

function body(data, ctx, own) {
  if (data.body === undefined) return skeleton();
  if (data.body && data.body.failed) return failure(data.body.failed, () => ctx.refresh());
  return own.render(data.body, ctx, data.detail);
}

const clipped = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

function head(data, ctx, tab) {
  const { detail } = data;
  const { view } = detail;
  const at = ctx.query.get("at");
  const state = runState({ ...view, interrupted: detail.interrupted && !at, paused: detail.paused && !at });
  return h(
    "header",
    { class: "run-head", key: "head" },
    h(
      "div",
      { class: "crumbs" },
      h("a", { href: "/runs" }, "Runs"),
      h("span", { class: "faint" }, "/"),
      detail.project
        ? [
            h("a", { href: path(["runs"], { project: detail.project }) }, detail.project),
            h("span", { class: "faint" }, "/"),
          ]
        : null,
      h("span", { class: "mono" }, view.run),
      detail.follows
        ? [
            h("span", { class: "faint" }, "follows up"),
            h("a", { class: "mono", href: path(["runs", detail.follows]) }, detail.follows),
          ]
        : null,
    ),
    h("div", { class: "run-title" }, goal(view, ctx), at ? null : actions(detail, ctx)),
    h(
      "div",
      { class: "run-state" },
      badge(state, state === "asking" ? "waiting for you" : state),
      isOver(view) ? null : h("span", { class: "muted" }, words(view.phase)),
      numbers(view, at),
      view.settled ? h("span", { class: "muted" }, `${view.settled.how} by ${view.settled.by}`) : null,
    ),
    progress(view),
    at ? null : now(detail),
    why(view),
    h(
      "nav",
      { class: "tabs", "aria-label": "Views of this run" },
      TABS.map(([name, part, label]) =>
        h(
          "a",
          {
            key: name,
            href: to(ctx, ...(part ? [part] : [])),
            "aria-current": (ALSO[tab] || tab) === name ? "page" : undefined,
          },
          label,
        ),
      ),
    ),
  );
}

/** The goal; a long one is cut, and shown whole on request. */
function goal(view, ctx) {
  const whole = ctx.state.whole;
  const toggle = () => {
    ctx.state.whole = !whole;
    ctx.draw();
  };
  return h(
    "div",
    { class: "goal" },
    h("h1", { class: whole ? "whole" : "" }, view.goal),
    view.goal.length > LONG_GOAL
      ? h(
          "button",
          { class: "link", type: "button", "aria-expanded": String(Boolean(whole)), onclick: toggle },
          whole ? "show less" : "show all",
        )
      : null,
  );
}

function numbers(view, at) {
  const { progress: p, budget, spent } = view;
  const elapsed = isOver(view) || at ? view.elapsed_ms : between(view.started, view.ended);
  const limit = budget.money
    ? ` of ${money(budget.money)}`
    : budget.tokens
      ? ` · ${count(spent.tokens)} of ${count(budget.tokens)} tok`
      : "";
  return [
    p.total
      ? h(
          "span",
          {},
          `${p.completed}/${p.total} tasks`,
          p.failed ? h("span", { class: "t-bad" }, ` ${p.failed} failed`) : null,
        )
      : null,
    h("span", { title: `started ${full(view.started)}` }, took(elapsed)),
    h("span", {}, `${cost(spent.money, spent.tokens) || "$0"}${limit}`),
    p.remaining_ms && !isOver(view) ? h("span", { class: "muted" }, `about ${took(p.remaining_ms)} left`) : null,
  ];
}

function progress(view) {
  const p = view.progress;
  const all = Math.max(1, p.total);
  const label = p.total
    ? `${p.completed} of ${plural(p.total, "task")} finished, ${p.running} in progress, ${p.failed} failed`
    : "no plan yet";
  return meter(
    [
      { share: p.completed / all, kind: "good" },
      { share: p.running / all, kind: "active" },
      { share: p.failed / all, kind: "bad" },
    ],
    label,
  );
}

/** What happens right now, in a line each. */
function now(detail) {
  const active = (detail.activity || []).filter((one) => one.began && !one.ended);
  const checks = detail.running_checks || [];
  if (isOver(detail.view) || (!active.length && !checks.length)) return null;
  return h(
    "ul",
    { class: "now", "aria-label": "Right now" },
    active
      .slice(0, 4)
      .map((one) =>
        h(
          "li",
          { key: one.attempt || one.task || one.phase },
          h("span", { class: "pulse", "aria-hidden": "true" }),
          h("strong", {}, one.attempt || one.task || words(one.phase)),
          one.role ? h("span", { class: "muted" }, one.role) : null,
          h("span", { class: "mono clip" }, one.action || words(one.phase)),
          h("span", { class: "faint" }, took(between(one.began))),
        ),
      ),
    checks
      .slice(0, 3)
      .map((one) =>
        h(
          "li",
          { key: `check ${one.name} ${one.since}` },
          h("span", { class: "pulse", "aria-hidden": "true" }),
          h("strong", {}, "check"),
          h("span", { class: "mono clip" }, one.name),
          h("span", { class: "faint" }, took(between(one.since))),
        ),
      ),
    active.length > 4 ? h("li", { class: "faint" }, `and ${active.length - 4} more`) : null,
  );
}

function why(view) {
  if (!view.why || view.status === "done") return null;
  return h(
    "p",
    { class: `run-why ${isOver(view) ? "bad" : ""}` },
    view.why.reason,
    " ",
    h("span", { class: "mono faint" }, view.why.rule),
  );
}

/** The open questions of this run, in full. */
function asked(data, ctx) {
  const groups = grouped(data.questions);
  if (!groups.length) return null;
  if (!groups.some((group) => group.key === ctx.state.question)) ctx.state.question = groups[0].key;
  const current = groups.find((group) => group.key === ctx.state.question);
  return h(
    "div",
    { class: "questions run-questions", key: "asked" },
    groups.map((group) => card(group, ctx, { current: group === current, within: true })),
  );
}

function hint(data, ctx) {
  const groups = grouped(data.questions);
  if (!groups.length) return null;
  return h(
    "p",
    { class: "hint-bar", key: "hint" },
    summary(data.questions),
    " ",
    h("a", { href: path(["runs", ctx.params.run]) }, "Answer"),
  );
}

function answerKeys(ctx) {
  const groups = grouped(ctx.data.questions);
  const current = groups.find((group) => group.key === ctx.state.question) || groups[0];
  if (!current) return {};
  return Object.fromEntries(
    Array.from({ length: 9 }, (_, n) => [
      String(n + 1),
      [n ? "" : "Answer the question with choice 1, 2, …", () => choose(current, n, ctx), true],
    ]),
  );
}

function tabKeys(ctx, tab) {
  const here = TABS.findIndex(([name]) => name === (ALSO[tab] || tab));
  const step = (by) => () => {
    const [, part] = TABS[(here + by + TABS.length) % TABS.length];
    ctx.go(to(ctx, ...(part ? [part] : [])));
  };
  return { "]": ["Next tab", step(1)], "[": ["Previous tab", step(-1)] };
}
