// All runs, the newest first, filtered by state, project and words. The list is the server's; further pages come on request.

import { h, settled } from "../dom.js";
import { get, path } from "../api.js";
import { runState } from "../icons.js";
import { badge, chip, complain, empty, meter, searchBox, segments, when } from "../parts.js";
import { between, cost, plural, took } from "../format.js";

const STATES = [
  ["", "All"],
  ["open", "Open"],
  ["waiting", "Waiting"],
  ["unsettled", "To review"],
  ["done", "Done"],
  ["failed", "Failed"],
];
const PAGE = 60;

const asked = (ctx) => ({ state: ctx.query.get("state"), project: ctx.query.get("project"), q: ctx.query.get("q") });
const address = (ctx, change) => path(["runs"], { ...asked(ctx), ...change });

async function load(ctx) {
  const key = JSON.stringify(asked(ctx));
  const held = ctx.state.key === key && ctx.data ? Math.min(ctx.data.items.length, 500) : 0;
  const [page, projects] = await Promise.all([
    ctx.get(path(["runs"], { ...asked(ctx), limit: Math.max(PAGE, held) })),
    ctx.state.projects || ctx.get("/projects").catch(() => ({ items: [] })),
  ]);
  Object.assign(ctx.state, { key, projects });
  return { items: page.items, next: page.next, projects: projects.items };
}

async function more(ctx) {
  try {
    const page = await get(path(["runs"], { ...asked(ctx), limit: PAGE, cursor: ctx.data.next }));
    ctx.data = { ...ctx.data, items: [...ctx.data.items, ...page.items], next: page.next };
    ctx.draw();
  } catch (error) {
    complain(error);
  }
}

const search = settled((ctx, text) => ctx.go(address(ctx, { q: text }), { replace: true }), 200);

function render(data, ctx) {
  const viewer = ctx.app.me && ctx.app.me.role === "viewer";
  const start = viewer ? null : h("a", { class: "button primary", href: "/new" }, "New run");
  const older = h(
    "button",
    { class: "button more-runs", type: "button", key: "more", onclick: () => more(ctx) },
    "Older runs",
  );
  return [
    h("header", { class: "page-head", key: "head" }, h("h1", {}, "Runs"), h("span", { class: "grow" }), start),
    filters(data, ctx),
    data.items.length ? h("ul", { class: "runs panel", key: "list" }, data.items.map(row)) : nothing(ctx),
    data.next ? older : null,
  ];
}

function filters({ projects }, ctx) {
  const { state, project, q } = asked(ctx);
  const states = STATES.map(([value, label]) => [address(ctx, { state: value }), label, (state || "") === value]);
  const option = (one) => h("option", { key: one.name, value: one.name, selected: one.name === project }, one.name);
  const choose = (event) => ctx.go(address(ctx, { project: event.target.value }));
  const select = { class: "project-filter", "aria-label": "Project", onchange: choose };
  return h(
    "div",
    { class: "filters", key: "filters" },
    segments("State", states),
    projects.length > 1 || project
      ? h("select", select, h("option", { value: "" }, "All projects"), projects.map(option))
      : null,
    searchBox("Search goals", q || "", (text) => search(ctx, text)),
  );
}

function nothing(ctx) {
  const { state, project, q } = asked(ctx);
  if (state || project || q) return empty("No matching runs", h("a", { href: "/runs" }, "Show all runs"));
  return empty(
    "No runs yet",
    h("a", { href: "/new" }, "Start the first one"),
    ", or try ",
    h("code", {}, "bosun demo"),
    " in a terminal.",
  );
}

function row(run) {
  return h(
    "li",
    { key: run.run },
    h(
      "a",
      { class: "run-row", href: path(["runs", run.run]), "data-row": true },
      badge(
        runState({ ...run, escalated: run.state === "escalated" }),
        run.paused ? "paused" : run.interrupted ? "interrupted" : run.state,
      ),
      h(
        "span",
        { class: "run-goal" },
        h("span", { class: "clip" }, run.goal),
        h("span", { class: "faint run-sub" }, [run.project, run.run].filter(Boolean).join(" · ")),
      ),
      h(
        "span",
        { class: "run-flags" },
        run.follows ? chip("follow-up") : null,
        run.questions ? chip(plural(run.questions, "question"), "warn") : null,
        run.settled ? chip(String(run.settled.how || run.settled)) : null,
      ),
      h(
        "span",
        { class: "run-tasks" },
        run.tasks
          ? [
              h("span", { class: "muted" }, `${run.finished}/${run.tasks}`),
              meter(
                [{ share: run.finished / run.tasks, kind: run.status === "failed" ? "bad" : "good" }],
                `${run.finished} of ${run.tasks} tasks`,
              ),
            ]
          : null,
      ),
      h("span", { class: "num muted run-took" }, took(between(run.started, run.ended))),
      h("span", { class: "num muted run-cost" }, cost(run.cost, run.tokens)),
      h("span", { class: "num faint run-when" }, when(run.started)),
    ),
  );
}

export default {
  title: () => "Runs",
  load,
  render,
  wants: () => true,
  ticks: (ctx) => ctx.data.items.some((run) => run.status === "running"),
  filter: () => ({
    kinds: [
      "run.requested",
      "run.accepted",
      "run.refused",
      "run.finished",
      "run.settled",
      "plan.adopted",
      "task.finished",
      "task.failed",
      "question.asked",
      "question.answered",
    ],
  }),
  keys: (ctx) => ({ n: ["New run", () => ctx.go("/new")] }),
};
