// What a person can do with a run: pause, resume, cancel, accept, add tests, discard. Whatever cannot be taken back is confirmed first.

import { h } from "./dom.js";
import { path, post } from "./api.js";
import { confirm, toast } from "./parts.js";
import { cost, plural, short } from "./format.js";

const OVER = ["done", "failed", "refused", "no_go", "cancelled", "out_of_budget"];

/** The actions that make sense now: {name: {label, key, run}}. */
function possible(detail, ctx) {
  const { view } = detail;
  if (ctx.app.me && ctx.app.me.role === "viewer") return [];
  const over = OVER.includes(view.status);
  const parked = detail.interrupted || detail.paused;
  const result = over && !view.settled && view.head && view.head !== view.base;
  return [
    !over && !parked ? ["Pause", "p", () => act(ctx, "pause", {}, "Paused; nothing is lost")] : null,
    parked && !over ? ["Resume", "p", () => act(ctx, "resume", {}, "Resumed"), "primary"] : null,
    !over ? ["Cancel", "x", () => cancel(ctx)] : null,
    result ? ["Accept", "a", () => accept(ctx, view), view.status === "done" ? "primary" : ""] : null,
    mayAddTests(ctx, view) ? ["Add tests", "t", () => addTests(ctx, view)] : null,
    result ? ["Discard", "x", () => discard(ctx, view)] : null,
  ].filter(Boolean);
}

export function actions(detail, ctx) {
  const all = possible(detail, ctx);
  if (!all.length) return null;
  return h(
    "div",
    { class: "actions" },
    all.map(([label, key, run, kind]) =>
      h(
        "button",
        { key: label, type: "button", class: `button ${kind || ""}`, title: `${label} (${key})`, onclick: run },
        label,
      ),
    ),
  );
}

export function actionKeys(ctx) {
  if (ctx.query.get("at")) return {};
  return Object.fromEntries(possible(ctx.data.detail, ctx).map(([label, key, run]) => [key, [label, run]]));
}

async function act(ctx, what, body, said) {
  if (await ctx.act(post(path(["runs", ctx.params.run, what]), body))) toast(said);
}

async function cancel(ctx) {
  const said = await confirm({
    title: "Cancel this run?",
    action: "Cancel the run",
    danger: true,
    body: "Agents stop, and the run ends for good. What was merged stays on its branch, and the log stays complete.",
    fields: [{ name: "reason", label: "Reason (optional)" }],
  });
  if (said) act(ctx, "cancel", { reason: said.reason || "cancelled on the page" }, "Cancelled");
}

async function accept(ctx, view) {
  const said = await confirm({
    title: "Accept this result?",
    action: "Accept",
    body: [
      `The commits of ${view.branch} (at ${short(view.head)}) go onto your own branch in ${view.repository}.`,
      view.status === "done"
        ? ""
        : `The run ended as ${view.status.replaceAll("_", " ")}: this takes what was merged so far.`,
    ].filter(Boolean),
    fields: [
      {
        name: "author",
        label: "Author of the commits",
        options: [
          ["bosun", "Bosun"],
          ["me", "Me, with task and evidence in the messages"],
        ],
        value: "bosun",
      },
      { name: "merge", label: "Make a merge commit if the branch has moved", type: "checkbox" },
    ],
  });
  if (said) act(ctx, "accept", { author: said.author, merge: said.merge, force: view.status !== "done" }, "Accepted");
}

/** The tests by another author that a result passed, a line for each task: its files, and what they cost. */
export function passedTests(view) {
  const passed = (task) =>
    task.stage === "finished" && task.evidence && task.evidence.level === "proven_by_others" && task.tests;
  const tested = view.tasks.filter((task) => passed(task) && task.tests.files.length);
  return tested.map(({ id, tests: { files, spent } }) => ({ task: id, files, cost: cost(spent.money, spent.tokens) }));
}

/** Whether there are tests to add, and somebody who may. */
export function mayAddTests(ctx, view) {
  const viewer = ctx.app.me && ctx.app.me.role === "viewer";
  return !viewer && view.settled && view.settled.how === "accepted" && passedTests(view).length > 0;
}

export async function addTests(ctx, view) {
  const tests = passedTests(view);
  const said = await confirm({
    title: "Add the tests by another author?",
    action: "Add the tests",
    body: [
      `They go onto your own branch in ${view.repository}, as a commit of their own.`,
      ...tests.map((one) => `${one.files.join(", ")}${one.cost ? ` (${one.cost})` : ""}`),
    ],
  });
  if (!said) return;
  const added = await ctx.act(post(path(["runs", ctx.params.run, "tests"]), {}));
  if (added) toast(`${plural(added.files.length, "test file")} on your branch, at ${short(added.commit)}`);
}

async function discard(ctx, view) {
  const said = await confirm({
    title: "Discard this result?",
    action: "Discard the result",
    danger: true,
    body: `The branch ${view.branch} and its worktrees are deleted. The log stays.`,
  });
  if (said) act(ctx, "discard", {}, "Discarded");
}
