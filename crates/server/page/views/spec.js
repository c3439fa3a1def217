// Spec: each requirement with the tasks that work on it, the checks that show it, and the evidence. Proof: whether the run
// can be proven to somebody who does not have the journal.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to } from "../runpage.js";
import { sign } from "../icons.js";
import { boxed, chip, empty, section, sentences, table } from "../parts.js";
import { plural, short, words } from "../format.js";

const HEADS = [
  ["Requirement", "wide"],
  ["Tasks", "nowrap"],
  ["Checks", ""],
  ["Evidence", ""],
];

async function load(ctx) {
  const [matrix, proof] = await Promise.all([
    ctx.get(path(["runs", ctx.params.run, "spec"])),
    ctx.get(path(["runs", ctx.params.run, "proof"])).catch(() => null),
  ]);
  return { matrix, proof };
}

function render({ matrix, proof }, ctx) {
  const { spec, rows } = matrix;
  const lines = rows.map((row, i) => requirement(row, i, ctx));
  return [
    spec ? specHead(spec) : null,
    rows.length
      ? section(
          spec ? "Requirements" : "What was asked for",
          { aside: covered(rows) },
          table("Requirements", HEADS, lines, ctx.go),
        )
      : empty(
          "This run has no spec",
          "It was started from a goal in words. A spec lists requirements and how each is checked.",
        ),
    (matrix.constraints || []).length
      ? section("Constraints", { key: "constraints" }, sentences(matrix.constraints))
      : null,
    (matrix.out_of_scope || []).length
      ? section("Out of scope", { key: "out" }, sentences(matrix.out_of_scope))
      : null,
    proof ? proofPart(proof) : null,
  ];
}

function specHead(spec) {
  return h(
    "div",
    { class: "spec-head" },
    h(
      "p",
      {},
      h("strong", {}, spec.title || spec.id),
      " ",
      chip(spec.version ? `version ${spec.version}` : spec.id),
      " ",
      chip(words(spec.status), spec.status === "approved" ? "good" : ""),
    ),
    spec.intent ? h("p", { class: "why-reason" }, spec.intent) : null,
  );
}

function requirement(row, i, ctx) {
  const state = (passed) => (passed === null || passed === undefined ? "waiting" : passed ? "passed" : "failed");
  const check = (one) => h("li", { key: one.name }, sign(state(one.passed), 14), h("span", {}, one.name));
  const task = ({ id }) => h("a", { key: id, class: "task-ref", href: to(ctx, "tasks", id) }, id);
  const what = [
    row.id ? h("span", { class: "faint" }, `${row.id} `) : null,
    row.requirement,
    row.verification ? h("p", { class: "faint" }, row.verification) : null,
  ];
  const checks = row.checks.length
    ? h("ul", { class: "plain" }, row.checks.map(check))
    : h("span", { class: "t-warn" }, "no check");
  return {
    key: String(i),
    cells: [h("div", {}, what), h("span", {}, row.tasks.map(task)), checks, evidence(row.evidence)],
  };
}

function covered(rows) {
  const shown = rows.filter((row) => row.checks.length && row.checks.every((one) => one.passed)).length;
  return `${shown} of ${plural(rows.length, "requirement")} shown by checks that pass`;
}

function evidence(lines) {
  if (!lines || !lines.length) return h("span", { class: "faint" }, "none yet");
  return h(
    "ul",
    { class: "plain" },
    lines.map((one, i) => h("li", { key: i }, one)),
  );
}

function proofPart(proof) {
  const line = (good, ...text) => h("p", {}, sign(good ? "passed" : "failed"), " ", text);
  const log = (one) =>
    h(
      "li",
      { key: one.log },
      h("span", { class: "grow" }, one.log),
      plural(one.lines, "line"),
      h("code", { class: "faint" }, short(one.head)),
    );
  const how = proof.provable
    ? ["This run can be proven: ", h("code", {}, "bosun prove RUN --sign KEY")]
    : ["This run cannot be proven: ", proof.why];
  return section(
    "Proof",
    { key: "proof", aside: plural(proof.logs.length, "log") },
    h(
      "div",
      { class: "panel pad" },
      h("p", {}, sign(proof.provable ? "passed" : "skipped"), " ", how),
      line(
        proof.intact,
        proof.intact ? "Every log is as it was written." : "A log was changed after it was written.",
      ),
      proof.flaws.length ? sentences(proof.flaws) : null,
    ),
    h("details", { class: "logs" }, h("summary", {}, "Heads of the logs"), boxed(proof.logs.map(log))),
  );
}

export default runView("spec", {
  name: () => "Spec",
  load,
  render,
  wants: (line) => /^(check|task|gate|spec|run)\./.test(line.event),
});
