// Review: the result as a diff, by task or as a whole, with comments on lines that become the words of a follow-up run.
// The diff and its colours come from the server as plain text in spans.

import { h } from "../dom.js";
import { del, path, post } from "../api.js";
import { runView, isOver } from "../runpage.js";
import { diffFile, fileId } from "../diff.js";
import { icon, sign } from "../icons.js";
import { confirm, empty, when } from "../parts.js";
import { addTests, mayAddTests, passedTests } from "../runactions.js";
import { plural } from "../format.js";
import { move } from "../keys.js";

const taskOf = (ctx) => ctx.query.get("task") || "";

async function load(ctx) {
  const run = ctx.params.run;
  const [diff, comments, artifacts] = await Promise.all([
    ctx.get(path(["runs", run, "diff"], { task: taskOf(ctx) })),
    ctx.get(path(["runs", run, "comments"])),
    ctx.get(path(["runs", run, "artifacts"])).catch(() => ({ items: [] })),
  ]);
  return { diff, comments: comments.items.map((one, i) => ({ n: i, ...one })), artifacts: artifacts.items };
}

function render(data, ctx, detail) {
  const { files } = data.diff;
  const none = taskOf(ctx) ? "This task changed nothing" : "No changes";
  const later = isOver(detail.view) ? null : "They appear here as tasks are merged.";
  return h(
    "div",
    { class: "review" },
    side(data, ctx, detail),
    h(
      "div",
      { class: "review-diff" },
      files.length ? files.map((file, i) => fileDiff(file, i, data, ctx, detail)) : empty(none, later),
    ),
  );
}

function side(data, ctx, detail) {
  const { files } = data.diff;
  const sum = (name) => files.reduce((total, file) => total + (file[name] || 0), 0);
  const link = (file) =>
    h(
      "a",
      { href: `#${fileId(file.path)}`, title: file.path },
      h("span", { class: "clip" }, file.path),
      commentCount(data.comments, file.path),
    );
  return h(
    "aside",
    { class: "review-side", "aria-label": "Tasks and files" },
    h(
      "nav",
      { class: "review-tasks", "aria-label": "Changes by task" },
      taskLink(ctx, "", "All changes"),
      detail.view.tasks.map((task) => taskLink(ctx, task.id, task.title, task.stage)),
    ),
    h(
      "h2",
      {},
      `${plural(files.length, "file")} `,
      h("span", { class: "t-good" }, `+${sum("added")} `),
      h("span", { class: "t-bad" }, `−${sum("removed")}`),
    ),
    h(
      "ul",
      { class: "review-files" },
      files.map((file) => h("li", { key: file.path }, link(file))),
    ),
    testsByOthers(ctx, detail.view),
    commentList(data, ctx, detail),
  );
}

/** The tests by another author that the result passed. They are not part of it. */
function testsByOthers(ctx, view) {
  const tests = passedTests(view);
  if (!tests.length) return null;
  return h(
    "section",
    { class: "comments" },
    h("h2", {}, "Tests by another author"),
    h("p", { class: "faint" }, "The result passes them. Their author had not seen it, and they are not part of it."),
    h(
      "ul",
      {},
      tests.map((one) =>
        h(
          "li",
          { key: one.task },
          h("span", { class: "faint clip" }, one.task, one.cost ? ` ${one.cost}` : ""),
          one.files.map((file) => h("p", { key: file, class: "mono" }, file)),
        ),
      ),
    ),
    mayAddTests(ctx, view)
      ? h("button", { class: "button", type: "button", onclick: () => addTests(ctx, view) }, "Add them to your branch")
      : h("p", { class: "faint" }, "They can be added once the result is accepted."),
  );
}

function fileDiff(file, index, data, ctx, detail) {
  return diffFile(file, {
    index,
    ctx,
    comments: data.comments.filter((one) => one.path === file.path && concerns(one, ctx)),
    may: may(ctx),
    open: (line) => write(ctx, data, detail, file.path, line),
    send: () => send(ctx),
    remove: (one) => remove(ctx, one),
  });
}

const may = (ctx) => !ctx.query.get("at") && !(ctx.app.me && ctx.app.me.role === "viewer");
const concerns = (comment, ctx) => !taskOf(ctx) || comment.task === taskOf(ctx);

function taskLink(ctx, id, title, stage) {
  return h(
    "a",
    {
      key: id || "all",
      href: path(["runs", ctx.params.run, "review"], { task: id, at: ctx.query.get("at") }),
      "aria-current": taskOf(ctx) === id ? "true" : undefined,
    },
    stage ? sign(stage, 14) : icon("runs", 14),
    id ? h("span", { class: "faint" }, id) : null,
    h("span", { class: "clip" }, title),
  );
}

function commentCount(comments, file) {
  const n = comments.filter((one) => one.path === file).length;
  return n ? h("span", { class: "file-comments", "aria-label": plural(n, "comment") }, icon("comment", 12), n) : null;
}

/** The task that a comment on a file goes to: the one on the screen, or the one whose plan names the file. */
function owner(data, detail, file, ctx) {
  if (taskOf(ctx)) return taskOf(ctx);
  const planned = data.artifacts.find((one) => one.path === file && one.task);
  const tasks = detail.view.tasks;
  return planned ? planned.task : (tasks[tasks.length - 1] || {}).id;
}

function write(ctx, data, detail, file, line) {
  ctx.state.draft = { task: owner(data, detail, file, ctx), path: file, line, text: "" };
  ctx.draw();
  document.querySelector(".comment-form textarea")?.focus();
}

async function send(ctx) {
  const { draft } = ctx.state;
  if (!draft || !draft.text.trim()) return;
  const body = { task: draft.task, text: draft.text.trim() };
  if (draft.path) body.path = draft.path;
  if (draft.line) body.line = draft.line;
  if (await ctx.act(post(path(["runs", ctx.params.run, "comments"]), body))) {
    ctx.state.draft = null;
    ctx.draw();
  }
}

async function remove(ctx, one) {
  await ctx.act(del(path(["runs", ctx.params.run, "comments", one.n])));
}

function commentList(data, ctx, detail) {
  const { comments } = data;
  return h(
    "section",
    { class: "comments" },
    h("h2", {}, comments.length ? plural(comments.length, "comment") : "No comments"),
    comments.length
      ? h(
          "ul",
          {},
          comments.map((one) =>
            h(
              "li",
              { key: one.n },
              h(
                "a",
                { href: one.path ? `#${fileId(one.path)}` : "#main", class: "faint clip" },
                [one.task, one.path, one.line].filter(Boolean).join(":"),
              ),
              h("p", {}, one.text),
              h("span", { class: "faint" }, one.by, " ", when(one.at)),
            ),
          ),
        )
      : h(
          "p",
          { class: "faint" },
          may(ctx) ? "Choose a line number, or press c on a line, to say what should be different." : "",
        ),
    comments.length && may(ctx)
      ? h(
          "button",
          { class: "button primary", type: "button", onclick: () => followUp(ctx, data, detail) },
          "Send as a follow-up run",
        )
      : null,
  );
}

async function followUp(ctx, data) {
  const said = await confirm({
    title: "Start a follow-up run?",
    action: "Start it",
    body: `It begins with this result, and works on ${plural(data.comments.length, "comment")}. The comments leave this review.`,
  });
  if (!said) return;
  const made = await ctx.act(post(path(["runs", ctx.params.run, "review"])));
  if (made && made.run) ctx.go(path(["runs", made.run]));
}

export default runView("review", {
  name: () => "Review",
  load,
  render,
  wants: (line) => /^(task|merge|run)\./.test(line.event),
  keys: (ctx) => ({
    j: ["Next line", () => move(1, ".diff-line")],
    k: ["Previous line", () => move(-1, ".diff-line")],
    n: ["Next file", () => move(1, ".diff-head")],
    N: ["Previous file", () => move(-1, ".diff-head")],
    c: [
      "Comment on the line",
      () => {
        const on = document.activeElement?.closest(".diff-line,.diff-head");
        on?.querySelector(".line-comment")?.click();
      },
    ],
    s: [
      "Send the comments as a follow-up run",
      () => {
        if (ctx.data.body.comments.length && may(ctx)) followUp(ctx, ctx.data.body);
      },
    ],
    Escape: [
      "Close the comment",
      () => {
        if (ctx.state.draft) {
          ctx.state.draft = null;
          ctx.draw();
        } else document.activeElement?.blur();
      },
    ],
  }),
});
