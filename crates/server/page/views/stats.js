// Figures over all runs, as `bosun stats` has them: what was completed, what it took, and where the money went.

import { h } from "../dom.js";
import { path } from "../api.js";
import { empty, figure, meter, section, table } from "../parts.js";
import { base, capital, count, model, money, words } from "../format.js";

const SPANS = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["", "All"],
];
const days = (ctx) => ctx.query.get("days") ?? "30";

const load = (ctx) => ctx.get(path(["stats"], { days: days(ctx) }));
const share = (of) => (of && of.of ? `${Math.round((of.are / of.of) * 100)} %` : "–");
const parts = (of) => (of && of.of ? `${of.are} of ${of.of}` : "none yet");

function render(data, ctx) {
  const { forecast = {} } = data;
  return [
    h(
      "header",
      { class: "page-head" },
      h("h1", {}, "Stats"),
      h("span", { class: "grow" }),
      h(
        "nav",
        { class: "segments", "aria-label": "Period" },
        SPANS.map(([value, label]) =>
          h(
            "a",
            { key: value, href: `/stats?days=${value}`, "aria-current": days(ctx) === value ? "true" : undefined },
            label,
          ),
        ),
      ),
    ),
    data.runs
      ? [
          h(
            "dl",
            { class: "figures panel pad" },
            figure("Runs", data.runs),
            figure("Completed", share(data.completed), parts(data.completed)),
            figure("First attempt accepted", share(data.first_pass), `${parts(data.first_pass)} tasks`),
            figure("Recovered", share(data.recovered), `${parts(data.recovered)} tasks`),
            figure("Questions", data.questions),
            figure(
              "Spent",
              money(data.spent.money) || count(data.spent.tokens),
              `${count(data.spent.tokens)} tokens`,
            ),
            forecast.forecast_tokens
              ? figure(
                  "Spent of forecast",
                  `${Math.round((forecast.spent_tokens / forecast.forecast_tokens) * 100)} %`,
                  `${forecast.within_a_tenth} of ${forecast.runs} within a tenth`,
                )
              : null,
          ),
          statuses(data, ctx),
          shares("By project", data.by_project, ctx, base),
          shares("By model", data.by_model, ctx, model),
          shares("By role", data.by_role, ctx),
        ]
      : empty(
          "No runs in this period",
          days(ctx) ? h("a", { href: "/stats?days=" }, "Show all") : h("a", { href: "/new" }, "Start one"),
        ),
  ];
}

function statuses(data, ctx) {
  const rows = Object.entries(data.by_status || {}).sort((a, b) => b[1] - a[1]);
  return section(
    "By outcome",
    {},
    table(
      "Outcomes",
      [
        ["Outcome", "wide"],
        ["Runs", "num"],
        ["", "num", "Share"],
      ],
      rows.map(([name, n]) => ({
        key: name,
        cells: [
          words(name),
          n,
          h(
            "span",
            { class: "cell-bar" },
            meter(
              [{ share: n / data.runs, kind: name === "done" ? "good" : name === "failed" ? "bad" : "active" }],
              `${n} of ${data.runs}`,
            ),
          ),
        ],
      })),
      ctx.go,
    ),
  );
}

function shares(title, of, ctx, name = String) {
  const rows = Object.entries(of || {}).sort((a, b) => b[1].tokens - a[1].tokens);
  if (!rows.length) return null;
  const most = Math.max(1, ...rows.map(([, one]) => one.tokens));
  return section(
    title,
    {},
    table(
      title,
      [
        [capital(title.slice(3)), "wide"],
        ["Calls", "num"],
        ["Tokens", "num"],
        ["Cost", "num"],
        ["", "num", "Share"],
      ],
      rows.map(([key, one]) => ({
        key,
        cells: [
          h("span", { title: key }, name(key)),
          one.calls,
          count(one.tokens),
          money(one.money),
          h(
            "span",
            { class: "cell-bar" },
            meter([{ share: one.tokens / most, kind: "active" }], `${count(one.tokens)} tokens`),
          ),
        ],
      })),
      ctx.go,
    ),
  );
}

export default { title: () => "Stats", load, render, wants: (line) => line.event === "run.finished" };
