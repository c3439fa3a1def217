// Spec: each requirement with the tasks that work on it, the checks that show it, and the evidence. Proof: whether the run
// can be proven to somebody who does not have the journal.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to } from "../runpage.js";
import { sign } from "../icons.js";
import { chip, empty, section, table } from "../parts.js";
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
    proof ? proofPart(proof) : null,
  ];
}

function specHead(spec) {
  return h(
    "div",
    { class: "spec-head" },
    h("p", {}, chip(spec.id), " ", chip(words(spec.status), spec.status === "approved" ? "good" : "")),
    spec.intent ? h("p", { class: "why-reason" }, spec.intent) : null,
  );
}

function requirement(row, i, ctx) {
  const state = (passed) => (passed === null || passed === undefined ? "waiting" : passed ? "passed" : "failed");
  const check = (one) => h("li", { key: one.name }, sign(state(one.passed), 14), h("span", {}, one.name));
  const task = (id) => h("a", { key: id, class: "task-ref", href: to(ctx, "tasks", id) }, id);
  const checks = row.checks.length
    ? h("ul", { class: "plain" }, row.checks.map(check))
    : h("span", { class: "t-warn" }, "no check");
  return {
    key: String(i),
    cells: [row.requirement, h("span", {}, row.tasks.map(task)), checks, evidence(row.evidence)],
  };
}

function covered(rows) {
  const shown = rows.filter((row) => row.checks.length && row.checks.every((one) => one.passed)).length;
  return `${shown} of ${plural(rows.length, "requirement")} shown by checks that pass`;
}

function evidence(value) {
  if (!value) return h("span", { class: "faint" }, "none yet");
  if (Array.isArray(value))
    return h(
      "ul",
      { class: "plain" },
      value.map((one, i) => h("li", { key: i }, String(one))),
    );
  return typeof value === "object" ? `${words(value.level)}: ${(value.because || []).join("; ")}` : String(value);
}

function proofPart(proof) {
  const statements = Array.isArray(proof.statements) ? proof.statements : [];
  return section(
    "Proof",
    {},
    h(
      "div",
      { class: "panel pad" },
      h(
        "p",
        {},
        sign(proof.provable ? "passed" : "skipped"),
        " ",
        proof.provable ? "This run can be proven: " : "This run cannot be proven: ",
        proof.provable ? h("code", {}, "bosun prove RUN --sign KEY") : proof.why,
      ),
      statements.length
        ? h(
            "ul",
            { class: "plain statements" },
            statements.map((one, i) =>
              h(
                "li",
                { key: i },
                h(
                  "details",
                  {},
                  h(
                    "summary",
                    {},
                    typeof one === "string"
                      ? one
                      : one.predicateType || one.predicate_type || one.kind || `statement ${i + 1}`,
                    one.subject
                      ? h(
                          "span",
                          { class: "faint" },
                          ` ${[]
                            .concat(one.subject)
                            .map((s) => s.name || short(s.digest))
                            .join(", ")}`,
                        )
                      : null,
                  ),
                  h("pre", { class: "json", tabindex: 0 }, JSON.stringify(one, null, 2)),
                ),
              ),
            ),
          )
        : null,
    ),
  );
}

export default runView("spec", {
  name: () => "Spec",
  load,
  render,
  wants: (line) => /^(check|task|gate|spec|run)\./.test(line.event),
});
