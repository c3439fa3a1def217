// The gates: go or no-go at the end of each phase, with the score, the evidence behind it, tests before and after, what
// was proven and how, and findings.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to } from "../runpage.js";
import { sign } from "../icons.js";
import { chip, empty, meter, section, table } from "../parts.js";
import { LEVELS, levelName, took, words } from "../format.js";

async function load(ctx, at) {
  const [gates, checks] = await Promise.all([
    ctx.get(path(["runs", ctx.params.run, "gates"], { at })),
    ctx.get(path(["runs", ctx.params.run, "checks"], { at })).catch(() => ({ items: [] })),
  ]);
  return { gates: gates.items, checks: checks.items };
}

function render({ gates, checks }, ctx) {
  if (!gates.length) return empty("No gate reached yet", "One stands at the end of each phase.");
  const last = gates[gates.length - 1];
  return [
    h(
      "div",
      { class: "gate-row" },
      gates.map((gate, i) =>
        h(
          "a",
          { key: `${i} ${gate.phase}`, class: "gate-mini panel", href: `#${gate.phase}` },
          sign(gate.go ? "passed" : "failed"),
          h("span", {}, words(gate.phase)),
          h("strong", {}, gate.score ?? ""),
        ),
      ),
    ),
    gates
      .slice()
      .reverse()
      .map((gate, i) => gateCard(gate, i, gate === last, ctx)),
    checks.length ? checkList(checks, ctx) : null,
  ];
}

function gateCard(gate, i, open, ctx) {
  const shown = open || !gate.go || location.hash === `#${gate.phase}`;
  return h(
    "details",
    { class: "gate panel", id: gate.phase, key: `${gate.phase} ${i}`, open: shown || undefined },
    gateHead(gate),
    h("div", { class: "gate-body" }, verdict(gate, ctx), h("div", { class: "gate-columns" }, columns(gate, ctx))),
  );
}

const scored = (gate) => gate.score !== null && gate.score !== undefined;
const threshold = (gate) => gate.threshold ?? 70;

function gateHead(gate) {
  const said = gate.verdict ? words(gate.verdict) : gate.go ? "go" : "no go";
  const score = [h("strong", {}, gate.score), h("span", { class: "faint" }, ` of 100, minimum ${threshold(gate)}`)];
  return h(
    "summary",
    { "data-row": true, tabindex: 0 },
    sign(gate.go ? "passed" : "failed", 18),
    h("h2", {}, words(gate.phase)),
    chip(said, gate.go ? "good" : "bad"),
    gate.reopened ? chip("reopened", "warn") : null,
    h("span", { class: "grow" }),
    scored(gate) ? h("span", { class: "gate-score" }, score) : null,
  );
}

function verdict(gate, ctx) {
  const { issues = [], actions = [] } = gate;
  const share = { share: gate.score / 100, kind: gate.go ? "good" : "bad" };
  return [
    h(
      "p",
      { class: "muted" },
      gate.decision.reason,
      " ",
      gate.place
        ? h("a", { class: "mono", href: to(ctx, "why", gate.place) }, gate.decision.rule)
        : gate.decision.rule,
    ),
    scored(gate) ? tall(meter([share], `score ${gate.score} of 100`, threshold(gate) / 100)) : null,
    issues.length ? list("What is missing", issues, "bad") : null,
    actions.length ? list("To pass this gate", actions, "") : null,
  ];
}

function columns(gate, ctx) {
  const { evidence = [], proven = [], findings = [] } = gate;
  const met = (one) => [
    sign(one.met ? "passed" : "failed", 14),
    h("span", {}, words(one.name), one.what ? h("span", { class: "faint" }, ` ${one.what}`) : null),
  ];
  const how = (one) => [
    h("a", { href: to(ctx, "tasks", one.task) }, one.task),
    chip(levelName(one.level), LEVELS[one.level]),
    h("span", { class: "muted" }, [].concat(one.how || []).join("; ")),
  ];
  const found = (one) => [
    sign("asking", 14),
    h("span", {}, `${one.says} `, h("code", { title: one.line }, one.path)),
  ];
  return [
    column("Evidence", evidence, met),
    (gate.measures || []).length ? measures(gate.measures) : null,
    tests(gate),
    column("Proven", proven, how),
    column("Findings", findings, found),
  ];
}

function column(title, items, line) {
  if (!items.length) return null;
  const lines = items.map((one, i) => h("li", { key: i }, line(one)));
  return h("div", { key: title }, h("h3", {}, title), h("ul", { class: "plain" }, lines));
}

const tall = (vnode) => ({ ...vnode, props: { ...vnode.props, class: "meter tall" } });

function list(title, items, kind) {
  return h(
    "div",
    { class: "gate-list" },
    h("h3", { class: kind ? `t-${kind}` : "" }, title),
    h(
      "ul",
      {},
      items.map((one, i) => h("li", { key: i }, one)),
    ),
  );
}

function measures(all) {
  return h(
    "div",
    {},
    h("h3", {}, "Score"),
    h(
      "ul",
      { class: "measures" },
      all.map((one) =>
        h(
          "li",
          { key: one.name },
          h("span", { class: "measure-name" }, words(one.name)),
          meter(
            [{ share: one.value / 100, kind: one.value >= 70 ? "good" : one.value >= 40 ? "warn" : "bad" }],
            `${words(one.name)}: ${one.value} of 100`,
          ),
          h("span", { class: "num" }, one.value),
          h("span", { class: "faint num" }, `×${one.weight}`),
          one.seen ? h("span", { class: "faint measure-seen" }, one.seen) : null,
        ),
      ),
    ),
  );
}

function tests(gate) {
  const { tests_before: before, tests_after: after } = gate;
  if (!before && !after) return null;
  const row = (name, one) => (one ? [name, one.passed, one.failed, one.skipped] : [name, "", "", ""]);
  return h(
    "div",
    {},
    h("h3", {}, "Tests"),
    h(
      "table",
      { class: "small-table" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["when", "passed", "failed", "skipped"].map((one, i) =>
            h("th", { key: i, scope: "col", class: i ? "num" : "" }, i ? one : h("span", { class: "hidden" }, one)),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        [row("before", before), row("after", after)].map((cells) =>
          h(
            "tr",
            { key: cells[0] },
            cells.map((cell, i) => h("td", { key: i, class: i ? "num" : "" }, cell)),
          ),
        ),
      ),
    ),
    after && (after.won || []).length ? h("p", { class: "muted" }, `pass now: ${after.won.join(", ")}`) : null,
    after && (after.lost || []).length ? h("p", { class: "t-bad" }, `lost: ${after.lost.join(", ")}`) : null,
  );
}

function checkList(checks, ctx) {
  return section(
    "All checks",
    {},
    table(
      "Checks",
      [
        ["Check", "wide"],
        ["On", "nowrap"],
        ["Result", "nowrap"],
        ["Tests", "nowrap"],
        ["Time", "num"],
      ],
      checks.map((one) => ({
        key: String(one.check),
        cells: [
          h(
            "details",
            { class: "check-output" },
            h("summary", {}, one.name, " ", h("code", { class: "faint" }, one.command)),
            h("pre", { tabindex: 0 }, one.output_tail || "no output"),
          ),
          one.on,
          h(
            "span",
            { class: "badge" },
            sign(
              one.status === "passed"
                ? "passed"
                : one.status === "running"
                  ? "running"
                  : one.status === "failed"
                    ? "failed"
                    : "skipped",
              14,
            ),
            words(one.status),
          ),
          one.tests ? `${one.tests.passed} passed${one.tests.failed ? `, ${one.tests.failed} failed` : ""}` : "",
          took(one.duration_ms),
        ],
      })),
      ctx.go,
    ),
  );
}

export default runView("gate", {
  name: () => "Gates",
  load,
  render,
  wants: (line) => /^(gate|check|task)\./.test(line.event),
});
