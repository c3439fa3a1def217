// A new run: what is wanted and the limits, beside what the rules say about it before anything is spent: admission, route,
// documents, forecast and baseline. The preview asks no model.

import { h, settled } from "../dom.js";
import { onceKey, path, post, Problem } from "../api.js";
import { icon, sign } from "../icons.js";
import { chip, complain, empty, fieldRow, toast } from "../parts.js";
import { count, model, money, short, took, words } from "../format.js";

const KINDS = [
  ["goal", "Goal"],
  ["issue", "Issue"],
  ["spec", "Spec"],
  ["plan", "Plan"],
];
const HINTS = {
  goal: "What should be different afterwards, and how one will see it.",
  issue: "The first line is the goal; the rest is handed on as material by somebody else.",
  spec: "A spec as YAML or Markdown. Only an approved one is worked on.",
  plan: "A plan as JSON or TOML, made with bosun plan; with a goal in its first line or in the plan.",
};
const WORDS = { accept: ["passed", "Admitted"], ask: ["asking", "Would ask first"], refuse: ["failed", "Refused"] };

async function load(ctx) {
  const [projects, models, policies] = await Promise.all([
    ctx.get("/projects"),
    ctx.get("/models").catch(() => ({ items: [] })),
    ctx.get("/policies").catch(() => ({ items: [] })),
  ]);
  const form = (ctx.state.form ||= {
    kind: "goal",
    text: ctx.query.get("text") || "",
    project: ctx.query.get("project") || (projects.items[0] || {}).name || "",
    model: "",
    preset: "",
    script: "",
    tokens: "",
    money: "",
    calls: "",
    minutes: "",
    checks: "",
    insist: "",
    headless: false,
  });
  ctx.state.once ||= onceKey();
  if (form.text && !ctx.state.preview) look(ctx);
  return { projects: projects.items, models: models.items, policies: policies.items };
}

/** The models of providers for which there is a key; all of them where none has one. */
function usable(items) {
  const keys = new Set(items.filter((one) => one.provider && one.usable).map((one) => one.provider));
  const names = items.filter((one) => one.model && !one.model.includes("*")).map((one) => one.model);
  return keys.size ? names.filter((name) => keys.has(name.split("/")[0])) : names;
}

function request(form) {
  const budget = {};
  if (form.tokens) budget.tokens = Math.round(Number(form.tokens));
  if (form.money) budget.money = String(form.money).replace(/^\$/, "");
  if (form.calls) budget.calls = Math.round(Number(form.calls));
  if (form.minutes) budget.time_ms = Math.round(Number(form.minutes) * 60_000);
  const body = { project: form.project, [form.kind]: form.text };
  if (Object.keys(budget).length) body.budget = budget;
  for (const name of ["model", "preset", "script", "insist"]) if (form[name].trim()) body[name] = form[name].trim();
  const checks = form.checks
    .split("\n")
    .map((one) => one.trim())
    .filter(Boolean);
  if (checks.length) body.checks = checks;
  if (form.headless) body.headless = true;
  return body;
}

/** Asks for the preview of what is in the form; an answer to an earlier form is dropped. */
async function look(ctx) {
  const { form } = ctx.state;
  const asked = (ctx.state.asked = JSON.stringify(request(form)));
  if (!form.text.trim() || !form.project) {
    Object.assign(ctx.state, { preview: null, wrong: null });
    return ctx.draw();
  }
  ctx.state.looking = true;
  ctx.draw();
  let [preview, wrong] = [null, null];
  try {
    preview = await post("/runs/preview", request(form), { signal: ctx.abort.signal });
  } catch (error) {
    wrong = error;
  }
  if (ctx.state.asked !== asked || (wrong && wrong.name === "AbortError")) return;
  Object.assign(ctx.state, { preview, wrong, looking: false });
  ctx.draw();
}
const lookSoon = settled(look, 350);

async function start(ctx) {
  const { form } = ctx.state;
  if (!form.text.trim() || ctx.state.starting) return;
  ctx.state.starting = true;
  ctx.draw();
  try {
    const made = await post("/runs", request(form), { once: ctx.state.once });
    ctx.state.once = onceKey();
    toast("Started");
    ctx.go(path(["runs", made.run]));
  } catch (error) {
    ctx.state.starting = false;
    if (error instanceof Problem && error.status >= 400 && error.status < 500) ctx.state.once = onceKey();
    complain(error);
    ctx.draw();
  }
}

function render(data, ctx) {
  if (!data.projects.length)
    return [
      h("header", { class: "page-head" }, h("h1", {}, "New run")),
      empty("There is no project yet", h("a", { href: "/projects" }, "Add a repository"), " first."),
    ];
  const { form } = ctx.state;
  const set = (name, value) => {
    form[name] = value;
    ctx.draw();
    lookSoon(ctx);
  };
  const field = (name, label, more = {}) =>
    fieldRow({ name, label, value: form[name], oninput: (event) => set(name, event.target.value), ...more });
  return [
    h("header", { class: "page-head" }, h("h1", {}, "New run")),
    h(
      "div",
      { class: "new" },
      h(
        "form",
        {
          class: "new-form",
          onsubmit: (event) => {
            event.preventDefault();
            start(ctx);
          },
        },
        h(
          "div",
          { class: "segments kinds", role: "group", "aria-label": "What you have" },
          KINDS.map(([kind, label]) =>
            h(
              "button",
              {
                key: kind,
                type: "button",
                "aria-pressed": String(form.kind === kind),
                onclick: () => set("kind", kind),
              },
              label,
            ),
          ),
        ),
        fieldRow({
          name: "text",
          type: "area",
          rows: form.kind === "goal" ? 5 : 12,
          label: KINDS.find(([kind]) => kind === form.kind)[1],
          value: form.text,
          hint: HINTS[form.kind],
          class: form.kind === "goal" ? "" : "mono-area",
          oninput: (event) => set("text", event.target.value),
        }),
        fieldRow({
          name: "project",
          label: "Project",
          options: data.projects.map((one) => [one.name, `${one.name}  ${one.path}`]),
          value: form.project,
          onchange: (event) => set("project", event.target.value),
        }),
        h(
          "div",
          { class: "field-row" },
          field("model", "Model", { placeholder: "the project's own", list: "models" }),
          h(
            "datalist",
            { id: "models" },
            usable(data.models).map((name) => h("option", { key: name, value: name })),
          ),
          fieldRow({
            name: "preset",
            label: "Policy",
            options: [["", "the project's own"], ...data.policies.map((one) => [one.name || one, one.name || one])],
            value: form.preset,
            onchange: (event) => set("preset", event.target.value),
          }),
        ),
        h(
          "fieldset",
          {},
          h("legend", {}, "Limits"),
          h(
            "div",
            { class: "field-row" },
            field("money", "Dollars", { inputmode: "decimal", placeholder: "none" }),
            field("tokens", "Tokens", { inputmode: "numeric", placeholder: "none" }),
            field("calls", "Calls", { inputmode: "numeric", placeholder: "none" }),
            field("minutes", "Minutes", { inputmode: "decimal", placeholder: "none" }),
          ),
        ),
        h(
          "details",
          { class: "new-more" },
          h("summary", {}, icon("next", 12), "Checks, script, unattended"),
          fieldRow({
            name: "checks",
            type: "area",
            rows: 3,
            label: "Commands that must pass in the end, one in each line",
            value: form.checks,
            hint: "Without any: those found in the repository.",
            class: "mono-area",
            oninput: (event) => set("checks", event.target.value),
          }),
          field("script", "Script instead of a model", { placeholder: "path of a TOML file on the server" }),
          fieldRow({
            name: "headless",
            type: "checkbox",
            label: "Nobody can be asked: what a person would have to allow is denied",
            checked: form.headless,
            onchange: (event) => set("headless", event.target.checked),
          }),
        ),
        refusal(ctx)
          ? field("insist", "Why it should be done all the same", {
              hint: "The rules stand against it; your reason is recorded.",
            })
          : null,
        h(
          "div",
          { class: "new-foot" },
          h(
            "button",
            { class: "button primary", type: "submit", disabled: !form.text.trim() || ctx.state.starting },
            ctx.state.starting ? "Starting …" : "Start the run",
          ),
        ),
      ),
      h(
        "aside",
        { class: "preview", "aria-live": "polite", "aria-busy": String(Boolean(ctx.state.looking)) },
        h("h2", {}, "Before anything is spent", ctx.state.looking ? h("span", { class: "pulse" }) : null),
        preview(ctx),
      ),
    ),
  ];
}

const refusal = (ctx) =>
  ctx.state.preview && ctx.state.preview.admission && ctx.state.preview.admission.verdict !== "accept";

function preview(ctx) {
  const { preview: said, wrong } = ctx.state;
  if (wrong)
    return h("p", { class: "notice bad small" }, wrong.title || "Error", wrong.detail ? `: ${wrong.detail}` : "");
  if (!said)
    return h(
      "p",
      { class: "faint" },
      "Say what you want, and see here how the rules treat it, what it is likely to cost, and whether the checks pass today.",
    );
  const { admission, route, forecast, baseline, documents } = said;
  const [state, word] = WORDS[admission.verdict] || ["waiting", words(admission.verdict)];
  return h(
    "div",
    { class: "preview-parts" },
    part(
      "Admission",
      h("p", {}, sign(state), " ", h("strong", {}, word)),
      h("p", { class: "muted" }, admission.reason),
      h("p", { class: "mono faint" }, admission.rule),
      (admission.questions || []).length
        ? h(
            "ul",
            { class: "seen" },
            admission.questions.map((text, i) => h("li", { key: i }, text)),
          )
        : null,
    ),
    route
      ? part(
          "Route",
          h(
            "p",
            {},
            h("strong", {}, words(route.role)),
            " ",
            chip(words(route.category)),
            route.confidence ? h("span", { class: "faint" }, ` ${words(route.confidence)}`) : null,
          ),
          h("p", { class: "muted" }, route.reason),
          h("p", { class: "mono faint" }, route.rule),
        )
      : null,
    forecast
      ? part(
          "Forecast",
          h(
            "p",
            {},
            h("strong", {}, forecast.money ? money(forecast.money) : `${count(forecast.tokens)} tokens`),
            h(
              "span",
              { class: "muted" },
              forecast.money ? ` ${count(forecast.tokens)} tokens` : "",
              forecast.time_ms ? `, about ${took(forecast.time_ms)}` : "",
            ),
          ),
          h("p", { class: "faint" }, `A forecast, not a limit, with ${forecast.reserve_percent} % in reserve.`),
        )
      : null,
    said.model ? part("Model", h("p", { class: "mono" }, model(said.model))) : null,
    said.budget ? part("Limits", h("p", {}, limits(said.budget) || "none")) : null,
    baseline
      ? part(
          "Baseline",
          h(
            "p",
            {},
            h("span", { class: "mono" }, baseline.branch),
            h("span", { class: "faint" }, ` at ${short(baseline.commit)}`),
            " ",
            baseline.clean ? chip("clean", "good") : chip("uncommitted changes", "warn"),
          ),
          h(
            "ul",
            { class: "plain" },
            (baseline.checks || []).map((one) =>
              h(
                "li",
                { key: one.name },
                sign(one.status === "passed" ? "passed" : one.status === "failed" ? "failed" : "waiting", 14),
                h("span", { class: "mono clip" }, one.name),
                h("span", { class: "faint" }, words(one.status)),
              ),
            ),
          ),
        )
      : null,
    documents
      ? part(
          "Documents",
          h(
            "ul",
            { class: "plain" },
            (documents.given || []).map((one) => doc(one, true)),
            (documents.withheld || []).map((one) => doc(one, false)),
          ),
          (documents.given || []).length + (documents.withheld || []).length
            ? null
            : h("p", { class: "faint" }, "none"),
        )
      : null,
  );
}

const doc = (one, given) =>
  h(
    "li",
    { key: one.path },
    sign(given ? "passed" : "skipped", 14),
    h("span", { class: "mono clip" }, one.path),
    h("span", { class: "faint" }, given ? one.rule : `withheld, ${one.rule}`),
  );
const part = (title, ...children) =>
  h("section", { class: "preview-part", key: title }, h("h3", {}, title), ...children);
const limits = (of) =>
  [
    of.money ? money(of.money) : "",
    of.tokens ? `${count(of.tokens)} tokens` : "",
    of.calls ? `${of.calls} calls` : "",
    of.time_ms ? took(of.time_ms) : "",
  ]
    .filter(Boolean)
    .join(", ");

export default { title: () => "New run", load, render, wants: () => false };
