// The inbox: every open question of every run and session, the most severe and oldest first, each answerable in place.
// It decides nothing: choices and their order come from the API.

import { h } from "../dom.js";
import { path } from "../api.js";
import { card, choose, forget, grouped } from "../question.js";
import { badge, empty } from "../parts.js";
import { runState } from "../icons.js";
import { plural } from "../format.js";
import { move } from "../keys.js";

const groupsOf = (ctx) => {
  const run = ctx.query.get("run");
  return grouped(ctx.data.items.filter((entry) => !run || entry.run === run));
};

const currentOf = (ctx, groups) => groups.find((group) => group.key === ctx.state.question) || groups[0];

async function load(ctx) {
  const [questions, running] = await Promise.all([
    ctx.get("/questions"),
    ctx.get(path(["runs"], { state: "running", limit: 5 })).catch(() => ({ items: [] })),
  ]);
  forget(questions.items);
  ctx.app.setQuestions(grouped(questions.items).length);
  return { items: questions.items, running: running.items };
}

function render(data, ctx) {
  const groups = groupsOf(ctx);
  const current = currentOf(ctx, groups);
  return h(
    "div",
    { class: "column" },
    h(
      "header",
      { class: "page-head" },
      h("h1", {}, "Inbox"),
      groups.length
        ? h(
            "span",
            { class: "faint" },
            `${plural(groups.length, "question")} ${groups.length === 1 ? "waits" : "wait"} for you`,
          )
        : null,
    ),
    groups.length ? null : quiet(data),
    h(
      "div",
      { class: "questions" },
      groups.map((group) => card(group, ctx, { current: group === current })),
    ),
  );
}

function quiet(data) {
  return [
    empty(
      "Nothing waits for you",
      data.running.length
        ? "A question shows up here as soon as a run cannot go on without a person."
        : [
            "No run is going on. ",
            h("a", { href: "/new" }, "Start one"),
            ", or look at the ",
            h("a", { href: "/runs" }, "results"),
            ".",
          ],
    ),
    data.running.length
      ? h(
          "ul",
          { class: "going" },
          data.running.map((run) =>
            h(
              "li",
              { key: run.run },
              h(
                "a",
                { href: path(["runs", run.run]), class: "going-run", "data-row": true },
                badge(runState(run), run.interrupted ? "interrupted" : run.state),
                h("span", { class: "grow clip" }, run.goal),
                h("span", { class: "faint" }, run.tasks ? `${run.finished}/${run.tasks}` : ""),
              ),
            ),
          ),
        )
      : null,
  ];
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
