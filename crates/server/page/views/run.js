// The overview of a run: its plan as a graph, the tasks as a table, and how it ended. The graph is laid out by the server;
// here its edges become SVG paths and its nodes links.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to, isOver } from "../runpage.js";
import { sign } from "../icons.js";
import { badge, boxed, chip, empty, section, table } from "../parts.js";
import { cost, LEVELS, levelName, plural, short, took, words } from "../format.js";

const SHOWN = 14;

async function load(ctx, at) {
  return ctx.get(path(["runs", ctx.params.run, "graph"], { at }));
}

function render(graph, ctx, detail) {
  const { view } = detail;
  const nodes = graph.nodes || [];
  if (!nodes.length) {
    return [
      isOver(view)
        ? empty("No plan", "The run ended before one was adopted.")
        : empty("No plan yet", "It is shown here as soon as it is adopted."),
      outcome(view, ctx),
    ];
  }
  return [
    section(graph.proposed ? "Plan, not approved yet" : "Plan", { class: "plan", aside: legend(ctx) }, picture(graph, view, ctx)),
    tasks(graph, view, ctx),
    outcome(view, ctx),
  ];
}

function legend(ctx) {
  const on = ctx.state.focus;
  return on
    ? h("span", {}, `${on}: blocked by and unblocks`)
    : h("span", { class: "faint" }, "arrows: what a task waits for");
}

function picture(graph, view, ctx) {
  const levels = new Map(view.tasks.map((task) => [task.id, task.evidence && task.evidence.level]));
  const on = ctx.state.focus;
  const node = graph.nodes.find((one) => one.id === on);
  const near = new Set(node ? [on, ...(node.blocked_by || []), ...(node.unblocks || [])] : []);
  const dim = (id) => (node && !near.has(id) ? "dim" : "");
  const lit = (edge) => (node && (edge.from === on || edge.to === on) ? "lit" : node ? "dim" : "");
  return h(
    "div",
    { class: "graph panel", tabindex: -1 },
    h(
      "div",
      { class: "graph-inner", style: { width: `${graph.width}px`, height: `${graph.height}px` } },
      h(
        "svg",
        {
          class: "edges",
          width: graph.width,
          height: graph.height,
          viewBox: `0 0 ${graph.width} ${graph.height}`,
          "aria-hidden": "true",
        },
        h(
          "defs",
          {},
          h(
            "marker",
            { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
            h("path", { class: "arrow", d: "M1 1l6 3-6 3z" }),
          ),
        ),
        (graph.edges || []).map((edge) =>
          h("path", {
            "marker-end": "url(#arrow)",
            key: `${edge.from} ${edge.to}`,
            d: edge.path,
            class: `edge e-${edge.kind || "needs"} ${lit(edge)}`,
          }),
        ),
      ),
      graph.nodes.map((one) => nodeBox(one, ctx, dim(one.id), levels.get(one.id))),
    ),
  );
}

function nodeBox(one, ctx, dim, level) {
  const focus = (id) => () => {
    if (ctx.state.focus !== id) {
      ctx.state.focus = id;
      ctx.draw();
    }
  };
  const figures = [
    one.attempts > 1 ? plural(one.attempts, "attempt") : "",
    one.elapsed_ms ? took(one.elapsed_ms) : "",
    cost(one.cost, one.tokens),
  ]
    .filter(Boolean)
    .join(" · ");
  const waits =
    one.stage === "waiting" && (one.blocked_by || []).length ? `waits for ${one.blocked_by.join(", ")}` : "";
  return h(
    "a",
    {
      key: one.id,
      class: `node s-${one.stage} ${dim}`,
      href: to(ctx, "tasks", one.id),
      style: { left: `${one.x}px`, top: `${one.y}px`, width: `${one.w}px`, height: `${one.h}px` },
      onmouseenter: focus(one.id),
      onmouseleave: focus(null),
      onfocus: focus(one.id),
      onblur: focus(null),
    },
    h(
      "span",
      { class: "node-top" },
      sign(one.stage, 14),
      h("span", { class: "node-id" }, one.id),
      h("span", { class: "node-title clip" }, one.title),
      one.merge_order
        ? h(
            "span",
            { class: "node-order", title: `merged as number ${one.merge_order}` },
            h("span", { class: "hidden" }, "merged as number "),
            h("span", { "aria-hidden": "true" }, "#"),
            one.merge_order,
          )
        : null,
    ),
    h(
      "span",
      { class: "node-line clip" },
      one.action || waits || [words(one.stage), levelName(level || "")].filter(Boolean).join(", "),
    ),
    h("span", { class: "node-line faint clip" }, figures),
  );
}

/** Why it is not finished, or what an earlier attempt failed at. */
function fault(task) {
  if (!task.fault) return "";
  if (["failed", "retrying", "asking"].includes(task.stage)) return task.fault;
  return task.attempts > 1 ? h("span", { class: "faint" }, `before: ${task.fault}`) : "";
}

function tasks(graph, view, ctx) {
  const nodes = new Map(graph.nodes.map((one) => [one.id, one]));
  return section(
    "Tasks",
    {
      class: "tasks",
      aside: view.retries ? `${plural(view.attempts, "attempt")}, ${plural(view.retries, "retry", "retries")}` : null,
    },
    table(
      "Tasks",
      [
        ["Task", "task-name"],
        ["State", "nowrap"],
        ["Last action", "task-action muted"],
        ["Evidence", "nowrap"],
        ["Tries", "num"],
        ["Time", "num"],
        ["Cost", "num"],
      ],
      view.tasks.map((task) => {
        const node = nodes.get(task.id) || {};
        const level = task.evidence && task.evidence.level;
        return {
          key: task.id,
          href: to(ctx, "tasks", task.id),
          class: `s-${task.stage}`,
          cells: [
            h(
              "a",
              { href: to(ctx, "tasks", task.id), class: "task-link" },
              sign(task.stage),
              h("span", { class: "faint" }, task.id),
              h("span", {}, task.title),
            ),
            words(task.stage),
            node.action || fault(task),
            level ? chip(levelName(level), LEVELS[level], (task.evidence.because || []).join("\n")) : "",
            task.attempts || "",
            node.elapsed_ms ? took(node.elapsed_ms) : "",
            cost(node.cost, node.tokens),
          ],
        };
      }),
      ctx.go,
    ),
  );
}

/** Checks on the merged tree, gates, changes, the sandbox, and what is missing. */
function outcome(view, ctx) {
  return h(
    "div",
    { class: "outcome" },
    part("Checks on the merged tree", view.merged_checks.map(checkLine)),
    part(
      "Gates",
      view.gates.map((gate, i) => gateLine(gate, i, ctx)),
    ),
    changes(view, ctx),
    view.walls ? sandbox(view.walls) : null,
    part(
      "Missing",
      (view.missing || []).map((one, i) => h("li", { key: i, class: "mono" }, one.path || String(one))),
    ),
    part(
      "Refused calls",
      (view.dangers || []).map((one, i) => h("li", { key: i, class: "mono" }, one)),
    ),
    documents(ctx),
  );
}

const part = (title, lines, aside) => (lines.length ? section(title, { key: title, aside }, boxed(lines)) : null);

function checkLine(one, i) {
  const state = !one.ended ? "running" : one.ended.exited === 0 ? "passed" : one.excused ? "skipped" : "failed";
  const name = h("span", { class: "grow" }, one.check.name, " ", h("code", { class: "faint" }, one.check.command));
  return h(
    "li",
    { key: `${i} ${one.check.name}` },
    sign(state),
    name,
    one.excused ? chip("fails as before", "warn") : null,
  );
}

function gateLine(gate, i, ctx) {
  return h(
    "li",
    { key: `${i} ${gate.phase}` },
    sign(gate.go ? "passed" : "failed"),
    h("a", { class: "grow", href: `${to(ctx, "gate")}#${gate.phase}` }, words(gate.phase)),
    gate.card ? h("span", { class: "muted" }, `${gate.card.score} of 100`) : null,
  );
}

function changes(view, ctx) {
  const sum = (name) => view.changes.reduce((total, one) => total + (one[name] || 0), 0);
  const line = (one) =>
    h(
      "li",
      { key: one.path },
      h("span", { class: "mono grow clip" }, one.path),
      h("span", { class: "t-good" }, `+${one.added || 0}`),
      h("span", { class: "t-bad" }, `−${one.removed || 0}`),
    );
  const last = `${plural(view.changes.length, "file")}, +${sum("added")} −${sum("removed")} on ${view.branch} at ${short(view.head)}`;
  const lines = view.changes.length
    ? [...view.changes.slice(0, SHOWN).map(line), h("li", { key: "sum", class: "faint" }, last)]
    : [];
  return part("Changes", lines, h("a", { href: to(ctx, "review") }, "Review"));
}

function sandbox(walls) {
  const held = badge(walls.rung === "none" ? "failed" : "passed", walls.rung);
  const why = [
    h("span", { class: "muted" }, walls.decision.reason),
    " ",
    h("span", { class: "mono faint" }, walls.decision.rule),
  ];
  return section("Sandbox", { key: "Sandbox" }, h("p", { class: "panel pad held" }, held, " ", why));
}

/** The same as JSON, for programs and people who want all of it. */
function documents(ctx) {
  const names = ["plan", "response", "artifacts", "proof"];
  const link = (name) => {
    const href = `/api/v1${path(["runs", ctx.params.run, name])}`;
    return h("a", { key: name, href, "data-external": true, class: "task-ref" }, name);
  };
  return section("As JSON", { key: "json" }, h("p", { class: "panel pad" }, names.map(link)));
}

export default runView("run", { load, render, wants: () => true });
