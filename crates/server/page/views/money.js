// Money: what was spent, what is set aside for calls on their way, the forecast, and both over time and by task, role and
// model. Amounts are the server's; here they become shares and a line.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView } from "../runpage.js";
import { empty, figure, meter, section, table } from "../parts.js";
import { capital, clock, count, model, money, ms, plural, took, words } from "../format.js";

const WIDTH = 900;
const HEIGHT = 190;

async function load(ctx, at) {
  return ctx.get(path(["runs", ctx.params.run, "money"], { at }));
}

function render(report, ctx, detail) {
  const { spent, budget } = report;
  const aside = report.set_aside || {};
  const { forecast } = report;
  if (!spent.tokens && !aside.tokens)
    return empty(
      "Nothing spent yet",
      budget && budget.tokens ? `The budget is ${count(budget.tokens)} tokens.` : null,
    );
  return [
    h(
      "dl",
      { class: "figures" },
      figure(
        "Spent",
        Number(spent.money) ? money(spent.money) : `${count(spent.tokens)} tok`,
        Number(spent.money) ? `${count(spent.tokens)} tokens` : null,
      ),
      figure(
        "Set aside",
        Number(aside.money) ? money(aside.money) : count(aside.tokens || 0),
        aside.tokens ? "for attempts in progress" : "no attempt in progress",
      ),
      forecast
        ? figure(
            "Forecast",
            forecast.money ? money(forecast.money) : count(forecast.tokens),
            `${count(forecast.tokens)} tokens, from ${forecast.from === "plan" ? "the plan" : words(forecast.from)}`,
          )
        : null,
      figure("Calls", spent.calls || 0, budget && budget.calls ? `of ${budget.calls}` : null),
      figure("Time", took(detail.view.elapsed_ms), budget && budget.time_ms ? `of ${took(budget.time_ms)}` : null),
    ),
    section("Against the budget", {}, h("div", { class: "panel pad budgets" }, limits(report))),
    (report.series || []).length > 1 ? section("Over time", { aside: legend() }, chart(report)) : null,
    shares("By task", report.by_task, spent, ctx),
    shares("By role", report.by_role, spent, ctx),
    shares("By model", report.by_model, spent, ctx, model),
    variance(detail.view, ctx),
  ];
}

/** One bar for each limit: spent, set aside, what is left, and the forecast as a mark. */
function limits({ budget = {}, spent, set_aside: aside = {}, forecast }) {
  const rows = [
    ["tokens", count],
    ["money", money],
    ["calls", String],
  ].filter(([name]) => budget && budget[name]);
  if (!rows.length) return h("p", { class: "muted" }, "This run has no limit on tokens, money or calls.");
  return rows.map(([name, show]) => {
    const limit = Number(budget[name]);
    const [used, held] = [Number(spent[name] || 0), Number(aside[name] || 0)];
    const mark = forecast && forecast[name] ? Number(forecast[name]) / limit : null;
    const label = `${show(spent[name] || 0)} of ${show(budget[name])} ${name === "money" ? "" : name} spent, ${show(aside[name] || 0)} set aside${mark ? `, forecast ${show(forecast[name])}` : ""}`;
    const bar = meter(
      [
        { share: used / limit, kind: used / limit > 0.9 ? "warn" : "good" },
        { share: held / limit, kind: "reserved" },
      ],
      label,
      mark,
    );
    return h(
      "div",
      { class: "budget", key: name },
      h("span", {}, words(name)),
      { ...bar, props: { ...bar.props, class: "meter tall" } },
      h(
        "span",
        { class: "num" },
        `${show(spent[name] || 0)} of ${show(budget[name])}`,
        h("span", { class: "faint" }, ` ${Math.round((used / limit) * 100)} %`),
      ),
    );
  });
}

const legend = () => [
  h("span", {}, h("i", { class: "swatch line-spent" }), "spent"),
  h("span", {}, h("i", { class: "swatch line-aside" }), "with set aside"),
  h("span", {}, h("i", { class: "swatch line-forecast" }), "forecast"),
];

function chart({ series, forecast, budget }) {
  const from = ms(series[0].at);
  const length = Math.max(1, ms(series[series.length - 1].at) - from);
  const top =
    Math.max(...series.map((one) => one.tokens + (one.set_aside_tokens || 0)), forecast ? forecast.tokens : 0, 1) *
    1.08;
  const x = (at) => ((ms(at) - from) / length) * WIDTH;
  const y = (tokens) => HEIGHT - (tokens / top) * HEIGHT;
  const steps = (value) =>
    series
      .map((one, i) => `${i ? `H${x(one.at).toFixed(1)}V` : `M${x(one.at).toFixed(1)} `}${y(value(one)).toFixed(1)}`)
      .join("");
  const spent = steps((one) => one.tokens);
  const held = steps((one) => one.tokens + (one.set_aside_tokens || 0));
  const rows = [0.25, 0.5, 0.75, 1].map((share) => (share * top) / 1.08);
  return h(
    "figure",
    { class: "chart panel" },
    h(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `Tokens over time, up to ${count(series[series.length - 1].tokens)}`,
      },
      rows.map((value) => h("line", { key: value, class: "rule", x1: 0, x2: WIDTH, y1: y(value), y2: y(value) })),
      h("path", { class: "area-spent", d: `${spent}V${HEIGHT}H0Z` }),
      h("path", { class: "line-aside", d: held }),
      h("path", { class: "line-spent", d: spent }),
      forecast && forecast.tokens <= top
        ? h("line", { class: "line-forecast", x1: 0, x2: WIDTH, y1: y(forecast.tokens), y2: y(forecast.tokens) })
        : null,
    ),
    h(
      "div",
      { class: "chart-scale", "aria-hidden": "true" },
      rows.map((value) =>
        h("span", { key: value, style: { top: `${(y(value) / HEIGHT) * 100}%` } }, count(Math.round(value))),
      ),
    ),
    h(
      "figcaption",
      { class: "faint" },
      h("span", {}, clock(series[0].at, true)),
      h("span", {}, budget && budget.tokens ? `tokens; the budget is ${count(budget.tokens)}` : "tokens"),
      h("span", {}, clock(series[series.length - 1].at, true)),
    ),
  );
}

function shares(title, rows, spent, ctx, name = String) {
  if (!rows || !rows.length) return null;
  const total = Math.max(1, spent.tokens);
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
        ["Share", "num"],
      ],
      rows.map((row) => ({
        key: row.name,
        cells: [
          name(row.name),
          row.calls || "",
          count(row.tokens),
          money(row.money),
          h(
            "span",
            { class: "cell-bar" },
            meter([{ share: row.tokens / total, kind: "active" }], `${Math.round((row.tokens / total) * 100)} %`),
            h("span", {}, `${Math.round((row.tokens / total) * 100)} %`),
          ),
        ],
      })),
      ctx.go,
    ),
  );
}

function variance(view, ctx) {
  const rows = (view.variance || []).filter((one) => one.estimate_tokens);
  if (!rows.length) return null;
  return section(
    "Against the plan's estimates",
    { aside: plural(rows.length, "task") },
    table(
      "Estimates",
      [
        ["Task", ""],
        ["Estimate", "num"],
        ["Spent", "num"],
        ["", "num", "Spent of the estimate"],
      ],
      rows.map((one) => {
        const share = one.spent.tokens / one.estimate_tokens;
        return {
          key: one.task,
          cells: [
            one.task,
            count(one.estimate_tokens),
            count(one.spent.tokens),
            h("span", { class: share > 1.2 ? "t-warn" : "muted" }, `${Math.round(share * 100)} %`),
          ],
        };
      }),
      ctx.go,
    ),
  );
}

export default runView("money", {
  name: () => "Money",
  load,
  render,
  wants: (line) => /^(attempt|budget|run)\./.test(line.event),
});
