// A question as a card: who asks and why, the evidence, the choices by number, words where they are accepted. Sending an
// answer hides the card at once and brings it back if the server does not take it.

import { h } from "./dom.js";
import { path, post } from "./api.js";
import { icon, sign } from "./icons.js";
import { ago, ms, plural, span, words } from "./format.js";
import { cap, chip, complain, toast, when } from "./parts.js";

const SHOWN_LINES = 12;
const drafts = new Map();
const sent = new Set();
/** After an answer the next card takes its place: for so long a second key or click is taken for the first. */
const PAUSE = 500;
let answered = -Infinity;
const opened = new Set();

const idOf = (entry) => `${entry.run}:${entry.ids.join(",")}`;

/** Open questions, equal ones together: same words, rule and choices, and no evidence of their own. */
export function grouped(items) {
  const groups = new Map();
  for (const entry of items) {
    if (sent.has(idOf(entry))) continue;
    const alone = (entry.evidence && entry.evidence.length) || entry.package;
    const same = alone
      ? idOf(entry)
      : JSON.stringify([entry.text, entry.rule, (entry.choices || []).map((c) => c.id), entry.kind]);
    if (!groups.has(same)) groups.set(same, { key: same, entries: [] });
    groups.get(same).entries.push(entry);
  }
  const rank = { critical: 0, high: 1, medium: 2, low: 3 };
  const first = (group) => group.entries[0];
  return [...groups.values()].sort(
    (a, b) =>
      (rank[first(a).severity] ?? 2) - (rank[first(b).severity] ?? 2) || ms(first(a).asked) - ms(first(b).asked),
  );
}

/** Forgets what is not asked any more, so that the same question can be shown when it is asked again. */
export function forget(items) {
  const open = new Set(items.map(idOf));
  for (const id of sent) if (!open.has(id)) sent.delete(id);
  for (const key of drafts.keys())
    if (!items.some((entry) => key.includes(entry.run) || key.includes(entry.text))) drafts.delete(key);
}

async function send(group, text, ctx) {
  const ids = group.entries.map(idOf);
  ids.forEach((id) => sent.add(id));
  ctx.app.setQuestions(Math.max(0, ctx.app.questions - 1));
  ctx.draw();
  try {
    for (const entry of group.entries) {
      for (const id of entry.ids) {
        if (entry.kind === "session") await post(path(["sessions", entry.run, "answer"]), { question: id, text });
        else await post(path(["runs", entry.run, "questions", id, "answer"]), { text });
      }
    }
    drafts.delete(group.key);
    toast(`Answered: ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`);
    ctx.soon();
  } catch (error) {
    answered = -Infinity;
    ids.forEach((id) => sent.delete(id));
    ctx.app.setQuestions(ctx.app.questions + 1);
    ctx.draw();
    complain(error);
  }
}

/** Answers with the nth choice, as the number keys do. */
export function choose(group, n, ctx) {
  const choice = (group.entries[0].choices || [])[n];
  if (!choice || performance.now() - answered < PAUSE) return;
  answered = performance.now();
  const draft = (drafts.get(group.key) || "").trim();
  send(group, draft && choice.words ? `${choice.id} ${draft}` : choice.id, ctx);
}

/** The card of a group. `within` leaves out what the page around it already says. */
export function card(group, ctx, { current = false, within = false } = {}) {
  const entry = group.entries[0];
  const may = !ctx.app.me || ctx.app.me.role !== "viewer";
  const state = entry.severity === "critical" || entry.escalation ? "escalated" : "asking";
  return h(
    "article",
    {
      key: group.key,
      class: `question ${current ? "current" : ""}`,
      "data-question": true,
      tabindex: 0,
      "aria-label": `Question: ${entry.text}`,
      onfocusin: () => {
        if (ctx.state.question !== group.key) {
          ctx.state.question = group.key;
          ctx.draw();
        }
      },
    },
    h(
      "header",
      { class: "question-head" },
      sign(state),
      h(
        "span",
        { class: "question-kind" },
        words(entry.escalation || entry.topic || (entry.kind === "session" ? "chat" : "question")),
      ),
      entry.severity && entry.severity !== "medium"
        ? chip(entry.severity, entry.severity === "low" ? "" : "bad")
        : null,
      entry.task ? chip(entry.attempt || entry.task) : null,
      h("span", { class: "grow" }),
      h("span", { class: "faint" }, when(entry.asked)),
    ),
    within ? null : sources(group),
    h("p", { class: "question-text" }, entry.text),
    evidence(entry, ctx),
    (entry.choices || []).length
      ? h(
          "div",
          { class: "choices" },
          entry.choices.map((choice, n) => choiceButton(group, choice, n, ctx, current, may)),
        )
      : null,
    free(group, ctx, may),
    h(
      "footer",
      { class: "question-foot faint" },
      entry.rule && !entry.escalation ? h("span", { class: "mono" }, entry.rule) : null,
      expiry(entry),
      may ? null : h("span", {}, "Your role is read-only."),
    ),
  );
}

function sources(group) {
  return h(
    "div",
    { class: "question-from" },
    group.entries.map((entry) =>
      h(
        "a",
        { key: idOf(entry), href: entry.kind === "session" ? path(["chat", entry.run]) : path(["runs", entry.run]) },
        entry.project ? h("span", { class: "faint" }, `${entry.project} / `) : null,
        entry.goal || entry.run,
      ),
    ),
    group.entries.length > 1
      ? h("p", { class: "faint" }, `One answer for ${plural(group.entries.length, "run")}.`)
      : null,
  );
}

function expiry(entry) {
  if (!entry.expires) return null;
  const left = ms(entry.expires) - Date.now();
  if (left <= 0) return h("span", {}, "expired");
  return h(
    "span",
    {},
    entry.default ? `${entry.default} in ${span(left)} if nobody answers` : `waits for another ${span(left)}`,
  );
}

function choiceButton(group, choice, n, ctx, current, may) {
  const entry = group.entries[0];
  return h(
    "button",
    { key: choice.id, type: "button", class: "choice", disabled: !may, onclick: () => choose(group, n, ctx) },
    n < 9 ? h("span", { class: `choice-key ${current ? "armed" : ""}` }, cap(n + 1)) : null,
    h(
      "span",
      { class: "choice-text" },
      h("strong", {}, choice.id),
      choice.says && choice.says !== choice.id ? h("span", {}, choice.says) : null,
    ),
    entry.default === choice.id ? chip("default") : null,
  );
}

function free(group, ctx, may) {
  const entry = group.entries[0];
  const withWords = (entry.choices || []).some((choice) => choice.words);
  if (!may || !(entry.free || withWords || !(entry.choices || []).length)) return null;
  const sends = entry.free || !(entry.choices || []).length;
  const label = sends ? "Answer in your own words" : "Add a note to your choice";
  const submit = (event) => {
    event.preventDefault();
    const text = (drafts.get(group.key) || "").trim();
    if (text && sends) send(group, text, ctx);
  };
  return h(
    "form",
    { class: "answer", onsubmit: submit },
    h("textarea", {
      rows: 1,
      "aria-label": label,
      placeholder: `${label} …`,
      value: drafts.get(group.key) || "",
      oninput: (event) => {
        drafts.set(group.key, event.target.value);
        grow(event.target);
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
      },
    }),
    sends ? h("button", { class: "button", type: "submit" }, "Send") : null,
  );
}

function grow(area) {
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, 240)}px`;
}

function evidence(entry, ctx) {
  const lines = entry.evidence || [];
  const id = idOf(entry);
  const whole = opened.has(id);
  const shown = whole ? lines : lines.slice(-SHOWN_LINES);
  return [
    lines.length
      ? h(
          "div",
          { class: "evidence" },
          lines.length > shown.length
            ? h(
                "button",
                {
                  type: "button",
                  class: "link",
                  onclick: () => {
                    opened.add(id);
                    ctx.draw();
                  },
                },
                `${plural(lines.length - shown.length, "earlier line")}`,
              )
            : null,
          h("pre", { tabindex: 0, "aria-label": "Evidence" }, shown.join("\n")),
        )
      : null,
    entry.package ? dossier(entry.package) : null,
  ];
}

/** Everything that the deciding person needs to know about a failure. */
function dossier(pack) {
  const part = (name, text) =>
    text ? h("div", { class: "dossier-part" }, h("h4", {}, name), h("pre", { tabindex: 0 }, text)) : null;
  return h(
    "details",
    { class: "dossier" },
    h("summary", {}, icon("next", 12), "What the agent was told, did and left behind"),
    pack.fault ? h("p", {}, chip(words(pack.fault.class), "bad"), " ", pack.fault.what) : null,
    part("Instructions", pack.input),
    (pack.documents || []).length ? part("Documents", pack.documents.join("\n")) : null,
    part("Submission", pack.output),
    part("Failed checks", pack.evidence),
    (pack.changes || []).length
      ? part("Changes", pack.changes.map((c) => `${c.path}  +${c.added ?? 0} -${c.removed ?? 0}`).join("\n"))
      : null,
  );
}

/** One line about the oldest open question, for a page about something else. */
export function summary(items) {
  const oldest = items[0];
  return `${plural(items.length, "question")} waiting for you, asked ${ago(oldest.asked)}`;
}
