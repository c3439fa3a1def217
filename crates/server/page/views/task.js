// A task: its brief and scope, the documents it was given and those it was not, its attempts side by side, and what was
// said and called in one of them.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to } from "../runpage.js";
import { Conversation, transcript } from "../transcript.js";
import { sign } from "../icons.js";
import { badge, chip, empty, section, sentences, when } from "../parts.js";
import { between, cost, LEVELS, levelName, model, plural, took, words } from "../format.js";

async function load(ctx, at) {
  const detail = await ctx.get(path(["runs", ctx.params.run, "tasks", ctx.params.task], { at }));
  const attempts = detail.attempts || [];
  const chosen = ctx.query.get("attempt") || (attempts.length ? attempts[attempts.length - 1].attempt : null);
  if (chosen && (!ctx.state.talk || ctx.state.chosen !== chosen)) {
    ctx.state.chosen = chosen;
    ctx.state.talk = new Conversation(
      (page) => path(["runs", ctx.params.run, "attempts", chosen, "transcript"], page),
      ctx,
    );
    ctx.state.talk.more();
  } else if (ctx.state.talk && !ctx.state.talk.next) {
    ctx.state.talk.recorded();
    ctx.state.talk.more();
  }
  return detail;
}

function render(detail, ctx, run) {
  const { task } = detail;
  const attempts = detail.attempts || [];
  const waits = task.depends_on.length ? `It waits for ${task.depends_on.join(", ")}.` : null;
  return h(
    "div",
    { class: "task" },
    taskHead(task, run, ctx),
    task.fault && task.stage !== "finished" ? h("p", { class: "run-why bad" }, task.fault) : null,
    task.evidence ? sentences(task.evidence.because) : null,
    h(
      "div",
      { class: "task-columns" },
      h("div", {}, brief(detail)),
      h("div", {}, scope(detail.scope), documents(detail.documents), checks(task)),
    ),
    attempts.length ? tries(attempts, ctx) : empty("No attempts yet", waits),
  );
}

function taskHead(task, run, ctx) {
  const level = task.evidence && task.evidence.level;
  return h(
    "div",
    { class: "task-head" },
    sign(task.stage, 20),
    h("h2", {}, h("span", { class: "faint" }, `${task.id} `), task.title),
    badge(task.stage),
    level ? chip(levelName(level), LEVELS[level]) : null,
    h("span", { class: "grow" }),
    neighbours(run.view.tasks, task, ctx),
  );
}

function brief({ brief: text, acceptance = [] }) {
  return [
    section("Brief", {}, h("pre", { class: "panel pad brief", tabindex: 0 }, text || "No brief yet.")),
    acceptance.length ? section("It is done when", {}, sentences(acceptance)) : null,
  ];
}

/** The attempts side by side, and the conversation of the chosen one. */
function tries(attempts, ctx) {
  const cards = attempts.map((one) => attemptCard(one, ctx));
  return [
    section("Attempts", { aside: plural(attempts.length, "attempt") }, h("div", { class: "attempts" }, cards)),
    section(`Conversation of ${ctx.state.chosen}`, {}, ctx.state.talk ? transcript(ctx.state.talk) : null),
  ];
}

function neighbours(tasks, task, ctx) {
  const needs = (ids, label) =>
    ids.length
      ? h(
          "span",
          { class: "muted" },
          label,
          ids.map((id) => h("a", { key: id, href: to(ctx, "tasks", id), class: "task-ref" }, id)),
        )
      : null;
  return [
    needs(task.depends_on || [], "blocked by "),
    needs(
      tasks.filter((one) => (one.depends_on || []).includes(task.id)).map((one) => one.id),
      "unblocks ",
    ),
  ];
}

function scope(of) {
  if (!of) return null;
  const lists = Object.entries(of).filter(([, value]) =>
    Array.isArray(value) ? value.length : value !== null && value !== undefined && value !== "",
  );
  if (!lists.length) return null;
  return section(
    "Scope",
    {},
    h(
      "dl",
      { class: "inputs panel pad" },
      lists.map(([name, value]) =>
        h(
          "div",
          { key: name },
          h("dt", {}, words(name)),
          h(
            "dd",
            { class: "mono" },
            Array.isArray(value)
              ? value.map((one) => h("div", { key: String(one.path || one) }, String(one.path || one)))
              : typeof value === "object"
                ? JSON.stringify(value)
                : String(value),
          ),
        ),
      ),
    ),
  );
}

function documents(of) {
  if (!of || !((of.given || []).length + (of.withheld || []).length)) return null;
  const row = (one, given) =>
    h(
      "li",
      { key: one.path },
      sign(given ? "passed" : "skipped", 14),
      h("span", { class: "mono clip" }, one.path),
      h("span", { class: "faint mono", title: one.reason }, one.rule),
    );
  return section(
    "Documents",
    { aside: `${(of.given || []).length} given, ${(of.withheld || []).length} withheld` },
    h(
      "ul",
      { class: "checks panel" },
      (of.given || []).map((one) => row(one, true)),
      (of.withheld || []).map((one) => row(one, false)),
    ),
  );
}

function checks(task) {
  if (!task.checks.length) return null;
  return section(
    "Checks",
    {},
    h(
      "ul",
      { class: "checks panel" },
      task.checks.map((one, i) =>
        h(
          "li",
          { key: i },
          sign(!one.ended ? "running" : one.ended.exited === 0 ? "passed" : "failed", 14),
          h("span", {}, one.check.name),
          h("code", { class: "faint clip" }, one.check.command),
        ),
      ),
    ),
  );
}

function attemptCard(one, ctx) {
  const state = one.ended
    ? /submitted|verified|ok|finished|passed|merged/.test(String(one.outcome))
      ? "passed"
      : "failed"
    : "running";
  const rows = [
    ["Role", one.role],
    ["Model", model(one.model)],
    ["Time", took(between(one.started, one.ended))],
    ["Cost", cost(one.cost, one.tokens)],
    ["Calls", one.calls],
    ["Refused", refused(one.refused)],
    ["Sandbox", one.sandbox],
    ["Changes", changed(one.changes)],
  ];
  return h(
    "article",
    { key: one.attempt, class: `attempt panel ${ctx.state.chosen === one.attempt ? "on" : ""}` },
    h(
      "header",
      {},
      sign(state),
      h("strong", {}, one.attempt),
      h(
        "span",
        { class: "muted" },
        words(typeof one.outcome === "string" ? one.outcome : one.ended ? "ended" : "running"),
      ),
      h("span", { class: "grow" }),
      h("span", { class: "faint" }, when(one.started)),
    ),
    one.fault ? h("p", { class: "t-bad" }, typeof one.fault === "string" ? one.fault : one.fault.what) : null,
    h(
      "dl",
      {},
      rows
        .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== 0)
        .map(([name, value]) => h("div", { key: name }, h("dt", {}, name), h("dd", {}, value))),
    ),
    h(
      "footer",
      {},
      h(
        "a",
        {
          href: path(["runs", ctx.params.run, "tasks", ctx.params.task], {
            attempt: one.attempt,
            at: ctx.query.get("at"),
          }),
          "data-row": true,
          "aria-current": ctx.state.chosen === one.attempt ? "true" : undefined,
        },
        "Conversation",
      ),
      h("a", { href: path(["runs", ctx.params.run, "review"], { task: ctx.params.task }) }, "Diff"),
    ),
  );
}

const refused = (of) =>
  Array.isArray(of)
    ? of.length
      ? h(
          "details",
          {},
          h("summary", {}, plural(of.length, "call")),
          of.map((text, i) =>
            h("code", { key: i }, typeof text === "string" ? text : `${text.tool}: ${text.reason} (${text.rule})`),
          ),
        )
      : ""
    : of;
const changed = (of) =>
  Array.isArray(of)
    ? of.length
      ? h("span", { title: of.map((one) => one.path || one).join("\n") }, plural(of.length, "file"))
      : ""
    : of;

export default runView("task", {
  name: (ctx) => ctx.params.task,
  load,
  render,
  wants: (line, ctx) => String(line.attempt || "").startsWith(`${ctx.params.task}.`),
  delta: (one, ctx) => {
    if (ctx.state.talk && one.attempt === ctx.state.chosen) ctx.state.talk.delta(one);
  },
});
