// A new run: what is wanted and the limits, beside what the rules say about it before anything is spent: admission, route,
// documents, forecast and baseline. The preview asks no model.

import { h, settled } from "../dom.js";
import { onceKey, path, post, Problem } from "../api.js";
import { icon } from "../icons.js";
import { previewOf, refused } from "../preview.js";
import { complain, empty, fieldRow, toast } from "../parts.js";

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
const INSIST = "The rules refuse this request or would ask first; your reason is recorded.";

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
    approve_plan: false,
  });
  ctx.state.once ||= onceKey();
  if (form.text && !ctx.state.preview) look(ctx);
  return { projects: projects.items, models: models.items, policies: policies.items };
}

/** The models that can be asked from here; all of them where none can. */
function usable(items) {
  const ready = items.filter((one) => one.usable);
  return (ready.length ? ready : items).map((one) => one.model).filter((name) => !name.includes("*"));
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
  for (const name of ["headless", "approve_plan"]) if (form[name]) body[name] = true;
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
  let [said, wrong] = [null, null];
  try {
    said = await post("/runs/preview", request(form), { signal: ctx.abort.signal });
  } catch (error) {
    wrong = error;
  }
  if (ctx.state.asked !== asked || (wrong && wrong.name === "AbortError")) return;
  Object.assign(ctx.state, { preview: said, wrong, looking: false });
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
  const head = h("header", { class: "page-head" }, h("h1", {}, "New run"));
  if (!data.projects.length) {
    return [head, empty("No projects yet", h("a", { href: "/projects" }, "Add a repository"), " first.")];
  }
  const submit = (event) => {
    event.preventDefault();
    start(ctx);
  };
  const { form, looking, starting } = ctx.state;
  const button = { class: "button primary", type: "submit", disabled: !form.text.trim() || starting };
  return [
    head,
    h(
      "div",
      { class: "new" },
      h(
        "form",
        { class: "new-form", onsubmit: submit },
        fields(data, ctx),
        h("div", { class: "new-foot" }, h("button", button, starting ? "Starting …" : "Start the run")),
      ),
      h(
        "aside",
        { class: "preview", "aria-live": "polite", "aria-busy": String(Boolean(looking)) },
        h("h2", {}, "Before anything is spent", looking ? h("span", { class: "pulse" }) : null),
        previewOf(ctx.state.preview, ctx.state.wrong),
      ),
    ),
  ];
}

/** The fields of the form. Each change is looked at soon after. */
function fields(data, ctx) {
  const { form } = ctx.state;
  const set = (name, value) => {
    form[name] = value;
    ctx.draw();
    lookSoon(ctx);
  };
  const field = (name, label, more = {}) =>
    fieldRow({ name, label, value: form[name], oninput: (event) => set(name, event.target.value), ...more });
  const choice = (name, label, options) =>
    fieldRow({ name, label, options, value: form[name], onchange: (event) => set(name, event.target.value) });
  const projects = data.projects.map((one) => [one.name, `${one.name}  ${one.path}`]);
  const policies = [["", "the project's own"], ...data.policies.map((one) => [one.name || one, one.name || one])];
  const names = usable(data.models).map((name) => h("option", { key: name, value: name }));
  return [
    kinds(form, set),
    what(form, field),
    choice("project", "Project", projects),
    h(
      "div",
      { class: "field-row" },
      field("model", "Model", { placeholder: "the project's own", list: "models" }),
      h("datalist", { id: "models" }, names),
      choice("preset", "Policy", policies),
    ),
    limits(field),
    further(form, field, set),
    refused(ctx.state.preview) ? field("insist", "Reason to proceed anyway", { hint: INSIST }) : null,
  ];
}

function kinds(form, set) {
  const one = ([kind, label]) => {
    const props = { key: kind, type: "button", "aria-pressed": String(form.kind === kind) };
    return h("button", { ...props, onclick: () => set("kind", kind) }, label);
  };
  return h("div", { class: "segments kinds", role: "group", "aria-label": "What you have" }, KINDS.map(one));
}

function what(form, field) {
  const words = form.kind === "goal";
  const label = KINDS.find(([kind]) => kind === form.kind)[1];
  return field("text", label, {
    type: "area",
    rows: words ? 5 : 12,
    hint: HINTS[form.kind],
    class: words ? "" : "mono-area",
  });
}

function limits(field) {
  const number = (name, label, inputmode) => field(name, label, { inputmode, placeholder: "none" });
  return h(
    "fieldset",
    {},
    h("legend", {}, "Limits"),
    h(
      "div",
      { class: "field-row" },
      number("money", "Dollars", "decimal"),
      number("tokens", "Tokens", "numeric"),
      number("calls", "Calls", "numeric"),
      number("minutes", "Minutes", "decimal"),
    ),
  );
}

function further(form, field, set) {
  const box = (name, label) =>
    fieldRow({
      name,
      label,
      type: "checkbox",
      checked: form[name],
      onchange: (event) => set(name, event.target.checked),
    });
  return h(
    "details",
    { class: "new-more" },
    h("summary", {}, icon("next", 12), "Approval, checks, script, unattended"),
    box("approve_plan", "Show me the plan before it is carried out"),
    field("checks", "Commands that must pass in the end, one in each line", {
      type: "area",
      rows: 3,
      hint: "Without any: those found in the repository.",
      class: "mono-area",
    }),
    field("script", "Script that answers instead of a model (TOML)", { type: "area", rows: 3, class: "mono-area" }),
    box("headless", "Unattended: calls that would need your approval are denied"),
  );
}

export default { title: () => "New run", load, render, wants: () => false };
