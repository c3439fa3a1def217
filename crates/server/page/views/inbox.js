// The inbox: every open question of every run and session, the most severe and oldest first, each answerable in place;
// below them results that nobody accepted or discarded yet, and what is going on. Choices and their order are the API's.

import { h } from "../dom.js";
import { path } from "../api.js";
import { card, choose, forget, grouped } from "../question.js";
import { badge, empty, section, when } from "../parts.js";
import { runState } from "../icons.js";
import { move } from "../keys.js";

const SHOWN = 5;

const groupsOf = (ctx) => {
  const run = ctx.query.get("run");
  return grouped(ctx.data.items.filter((entry) => !run || entry.run === run));
};

/** The marked question. It stays marked when others come in, so that a key never answers what was not looked at. */
function currentOf(ctx, groups) {
  const found = groups.find((group) => group.key === ctx.state.question);
  if (found || !groups.length) return found;
  ctx.state.question = groups[0].key;
  return groups[0];
}

async function load(ctx) {
  const some = (state) => ctx.get(path(["runs"], { state, limit: SHOWN })).catch(() => ({ items: [] }));
  const [questions, running, results] = await Promise.all([
    ctx.get("/questions"),
    some("running"),
    some("unsettled"),
  ]);
  forget(questions.items);
  ctx.app.setQuestions(grouped(questions.items).length);
  return { items: questions.items, running: running.items, results: results.items };
}

function render(data, ctx) {
  const groups = groupsOf(ctx);
  const current = currentOf(ctx, groups);
  const word = groups.length === 1 ? "question" : "questions";
  return h(
    "div",
    { class: "column" },
    h(
      "header",
      { class: "page-head" },
      h("h1", {}, "Inbox"),
      groups.length ? h("span", { class: "faint" }, `${groups.length} ${word} waiting for you`) : null,
    ),
    groups.length ? null : quiet(data),
    h(
      "div",
      { class: "questions", key: "questions" },
      groups.map((group) => card(group, ctx, { current: group === current })),
    ),
    list("Ready for review", "unsettled", data.results),
    list("In progress", "running", data.running),
  );
}

function quiet(data) {
  const start = ["No run is in progress. ", h("a", { href: "/new" }, "Start one"), "."];
  const later = "A question shows up here as soon as a run cannot go on without a person.";
  return empty("No open questions", data.running.length ? later : start);
}

/** Some runs in a line each, with a link to all of their state. */
function list(title, state, runs) {
  if (!runs.length) return null;
  const more = h("a", { href: path(["runs"], { state }) }, "All");
  const row = (run) =>
    h(
      "li",
      { key: run.run },
      h(
        "a",
        { href: path(["runs", run.run]), class: "going-run", "data-row": true },
        badge(runState(run), run.paused ? "paused" : run.interrupted ? "interrupted" : run.state),
        h("span", { class: "grow clip" }, run.goal),
        h("span", { class: "faint" }, run.tasks ? `${run.finished}/${run.tasks}` : ""),
        h("span", { class: "faint going-when" }, when(run.ended || run.started)),
      ),
    );
  return section(title, { key: title, aside: more }, h("ul", { class: "going" }, runs.map(row)));
}

export default {
  title: () => "Inbox",
  load,
  render,
  wants: () => true,
  ticks: (ctx) => ctx.data.items.some((entry) => entry.expires),
  keys: (ctx) => {
    const groups = groupsOf(ctx);
    const current = currentOf(ctx, groups);
    const answers = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [
        String(n + 1),
        [
          n === 0 && groups.length ? "Answer the marked question with choice 1, 2, …" : "",
          () => current && choose(current, n, ctx),
          true,
        ],
      ]),
    );
    const to = (by) => () => (groups.length ? move(by, "[data-question]") : move(by));
    return {
      ...answers,
      j: ["Next question", to(1)],
      k: ["Previous question", to(-1)],
      w: ["Write an answer", () => document.querySelector(".question.current textarea")?.focus()],
      o: ["Open the run of the marked question", () => current && ctx.go(path(["runs", current.entries[0].run]))],
    };
  },
};
