// What the rules say about a request before anything is spent: admission, route, forecast, model, limits, baseline,
// documents. It shows the server's answer and asks for none itself.

import { h } from "./dom.js";
import { sign } from "./icons.js";
import { chip, sentences } from "./parts.js";
import { count, model, money, plural, short, took, words } from "./format.js";

const VERDICTS = {
  accept: ["passed", "Admitted"],
  ask: ["asking", "Would ask first"],
  refuse: ["failed", "Refused"],
};
const NOTHING_YET =
  "Say what you want, and see here how the rules treat it, what it is likely to cost, and which checks will decide.";

/** Whether the rules refuse the request or would ask about it, and give way to a reason. */
export const refused = (said) => Boolean(said && said.admission.verdict !== "accept" && said.admission.may_insist);

/** The preview, or what was wrong with the request for it. */
export function previewOf(said, wrong) {
  if (wrong)
    return h("p", { class: "notice bad small" }, [wrong.title || "Error", wrong.detail].filter(Boolean).join(": "));
  if (!said) return h("p", { class: "faint" }, NOTHING_YET);
  return h(
    "div",
    { class: "preview-parts" },
    admission(said.admission),
    said.route ? route(said.route) : null,
    said.forecast ? forecast(said.forecast) : null,
    said.model ? part("Model", h("p", { class: "mono" }, model(said.model))) : null,
    said.budget ? part("Limits", h("p", {}, limits(said.budget) || "none")) : null,
    said.baseline ? baseline(said.baseline, said.checks || []) : null,
    said.documents ? documents(said.documents) : null,
  );
}

const part = (title, ...children) =>
  h("section", { class: "preview-part", key: title }, h("h3", {}, title), ...children);
const rule = ({ decision: of }) => [h("p", { class: "muted" }, of.reason), h("p", { class: "mono faint" }, of.rule)];

function admission(of) {
  const [state, word] = VERDICTS[of.verdict] || ["waiting", words(of.verdict)];
  const questions = of.questions || [];
  return part(
    "Admission",
    h("p", {}, sign(state), " ", h("strong", {}, word)),
    rule(of),
    questions.length ? sentences(questions) : null,
  );
}

function route(of) {
  const sure = of.confidence ? h("span", { class: "faint" }, ` ${words(of.confidence)}`) : null;
  return part(
    "Route",
    h(
      "p",
      {},
      h("strong", {}, of.role ? words(of.role) : "a person decides"),
      " ",
      of.category ? chip(words(of.category)) : null,
      sure,
    ),
    rule(of),
  );
}

function forecast(of) {
  const tokens = `${count(of.tokens)} tokens`;
  const more = [of.money ? ` ${tokens}` : "", of.time_ms ? `, about ${took(of.time_ms)}` : ""].join("");
  const tests = of.tests_tokens ? ` and ${count(of.tests_tokens)} tokens for tests by another author` : "";
  return part(
    "Forecast",
    h("p", {}, h("strong", {}, of.money ? money(of.money) : tokens), h("span", { class: "muted" }, more)),
    h("p", { class: "faint" }, `A forecast, not a limit, with ${of.reserve_percent} % in reserve${tests}.`),
  );
}

function limits(of) {
  const parts = [
    of.money && money(of.money),
    of.tokens && `${count(of.tokens)} tokens`,
    of.calls && `${of.calls} calls`,
  ];
  return [...parts, of.time_ms && took(of.time_ms)].filter(Boolean).join(", ");
}

function baseline(of, checks) {
  const check = (name) => h("li", { key: name }, sign("waiting", 14), h("span", { class: "mono clip" }, name));
  const where = [
    of.branch ? h("span", { class: "mono" }, `${of.branch} `) : null,
    `at ${short(of.commit)}, ${plural(of.files, "file")}`,
  ];
  return [
    part("Baseline", h("p", {}, where)),
    part(
      "Checks",
      checks.length
        ? [
            h("ul", { class: "plain" }, checks.map(check)),
            h("p", { class: "faint" }, "Tried on the untouched tree first."),
          ]
        : h("p", { class: "t-warn" }, "No check was found: nothing could show that the result works."),
    ),
  ];
}

function documents({ given = [], withheld = [] }) {
  const line = (one, is) =>
    h(
      "li",
      { key: one.path },
      sign(is ? "passed" : "skipped", 14),
      h("span", { class: "mono clip" }, one.path),
      h("span", { class: "faint" }, is ? one.rule : `withheld, ${one.rule}`),
    );
  const lines = [...given.map((one) => line(one, true)), ...withheld.map((one) => line(one, false))];
  return part("Documents", lines.length ? h("ul", { class: "plain" }, lines) : h("p", { class: "faint" }, "none"));
}
