// Chat: conversations with one agent about the files of a project. Enter sends, also while the agent works, to steer it;
// a question of the agent is answered in place.

import { h } from "../dom.js";
import { del, path, post } from "../api.js";
import { Conversation, transcript } from "../transcript.js";
import { card, choose, forget, grouped } from "../question.js";
import { badge, chip, complain, confirm, empty, when } from "../parts.js";
import { count, model, money, words } from "../format.js";

const STATES = { idle: "done", processing: "running", awaiting_input: "asking", closed: "cancelled" };
const idOf = (one) => one.run;
/** A conversation with the parts of its list entry beside its own. */
const flat = (one) => ({
  ...one.session,
  state: one.session.state.toLowerCase(),
  run: one.run,
  project: one.project,
  updated: one.updated,
});

async function load(ctx) {
  const id = ctx.params.session;
  const [sessions, one, questions, projects] = await Promise.all([
    ctx.get("/sessions"),
    id ? ctx.get(path(["sessions", id])) : null,
    id ? ctx.get("/questions").catch(() => ({ items: [] })) : { items: [] },
    id ? { items: [] } : ctx.get("/projects"),
  ]);
  if (id) {
    const talk = (ctx.state.talk ||= new Conversation((page) => path(["sessions", id, "transcript"], page), ctx));
    await talk.more(true);
    if (ctx.state.fresh) {
      talk.recorded();
      ctx.state.fresh = false;
    }
    forget(questions.items);
    queueMicrotask(() => toEnd(ctx));
  }
  return {
    sessions: sessions.items.map(flat),
    one: one ? flat(one) : null,
    questions: questions.items.filter((entry) => entry.run === id),
    projects: projects.items,
  };
}

/** Keeps the end in view, unless the person scrolled up. */
function toEnd(ctx) {
  const box = document.querySelector(".chat-talk");
  if (!box || ctx.state.away) return;
  requestAnimationFrame(() => {
    box.scrollTop = box.scrollHeight;
  });
}

async function say(ctx) {
  const text = (ctx.state.text || "").trim();
  if (!text) return;
  ctx.state.text = "";
  ctx.state.away = false;
  ctx.draw();
  try {
    if (ctx.params.session) {
      await post(path(["sessions", ctx.params.session, "input"]), { text });
      ctx.soon();
    } else {
      const box = document.querySelector("#f-project");
      const wanted = document.querySelector("#f-model");
      const made = await post("/sessions", {
        project: box.value,
        text,
        ...(wanted && wanted.value.trim() ? { model: wanted.value.trim() } : {}),
      });
      ctx.go(path(["chat", idOf(made)]));
    }
  } catch (error) {
    ctx.state.text = text;
    ctx.draw();
    complain(error);
  }
}

async function close(ctx) {
  const said = await confirm({
    title: "Close this conversation?",
    action: "Close it",
    danger: true,
    body: "Nothing more can be said in it. Its log and the files stay.",
  });
  if (said && (await ctx.act(del(path(["sessions", ctx.params.session]))))) ctx.go("/chat");
}

function render(data, ctx) {
  return h(
    "div",
    { class: `split chat ${ctx.params.session ? "has-one" : ""}` },
    h(
      "div",
      { class: "split-list" },
      h(
        "header",
        { class: "page-head" },
        h("h1", {}, "Chat"),
        h("span", { class: "grow" }),
        ctx.params.session ? h("a", { class: "button", href: "/chat" }, "New") : null,
      ),
      data.sessions.length
        ? h(
            "ul",
            { class: "decisions" },
            data.sessions.map((one) =>
              h(
                "li",
                { key: idOf(one) },
                h(
                  "a",
                  {
                    href: path(["chat", idOf(one)]),
                    "data-row": true,
                    "aria-current": idOf(one) === ctx.params.session ? "true" : undefined,
                  },
                  h(
                    "span",
                    { class: "decision-top" },
                    h("span", { class: "clip" }, one.about || idOf(one)),
                    h("span", { class: "faint nowrap" }, when(one.started)),
                  ),
                  h(
                    "span",
                    { class: "muted" },
                    [one.project, words(one.state), money(one.cost)].filter(Boolean).join(" · "),
                  ),
                ),
              ),
            ),
          )
        : h("p", { class: "faint" }, "No conversations yet."),
    ),
    h("div", { class: "split-one chat-one" }, data.one ? conversation(data, ctx) : begin(data, ctx)),
  );
}

function begin(data, ctx) {
  if (!data.projects.length)
    return empty("No projects yet", h("a", { href: "/projects" }, "Add a repository"), " first.");
  return h(
    "div",
    { class: "chat-begin" },
    h("h2", {}, "A new conversation"),
    h(
      "p",
      { class: "muted" },
      "One agent, working in the project's folder itself. Calls that the policy marks wait for your approval.",
    ),
    h(
      "div",
      { class: "field-row" },
      h(
        "div",
        { class: "field" },
        h("label", { for: "f-project" }, "Project"),
        h(
          "select",
          { id: "f-project" },
          data.projects.map((one) => h("option", { key: one.name, value: one.name }, one.name)),
        ),
      ),
      h(
        "div",
        { class: "field" },
        h("label", { for: "f-model" }, "Model"),
        h("input", { id: "f-model", type: "text", placeholder: "the project's own" }),
      ),
    ),
    input(ctx, "What is it about?"),
  );
}

function conversation({ one, questions }, ctx) {
  const groups = grouped(questions);
  const busy = one.state === "processing";
  return [
    h("h1", { class: "hidden", key: "name" }, one.about || "Conversation"),
    h(
      "header",
      { class: "chat-head", key: "head" },
      badge(STATES[one.state] || "waiting", words(one.state)),
      chip(model(one.model)),
      one.window
        ? h("span", { class: "faint" }, `${count(one.context)} of ${count(one.window)} tokens of context`)
        : null,
      h("span", { class: "faint" }, money(one.cost)),
      h("span", { class: "grow" }),
      busy
        ? h(
            "button",
            {
              class: "button",
              type: "button",
              title: "Stop (Esc)",
              onclick: () => ctx.act(post(path(["sessions", ctx.params.session, "stop"]))),
            },
            "Stop",
          )
        : null,
      one.state === "closed"
        ? null
        : h("button", { class: "button quiet", type: "button", onclick: () => close(ctx) }, "Close"),
    ),
    h(
      "div",
      {
        class: "chat-talk",
        key: "talk",
        tabindex: 0,
        role: "log",
        "aria-label": "Conversation",
        onscroll: (event) => {
          const box = event.target;
          ctx.state.away = box.scrollHeight - box.scrollTop - box.clientHeight > 80;
        },
      },
      transcript(ctx.state.talk),
      groups.map((group, i) => card(group, ctx, { current: i === 0, within: true })),
    ),
    one.state === "closed"
      ? h("p", { class: "faint", key: "closed" }, "This conversation is closed.")
      : input(ctx, busy ? "Steer it while it works" : "Say something"),
  ];
}

function input(ctx, label) {
  return h(
    "form",
    {
      class: "answer",
      key: "say",
      onsubmit: (event) => {
        event.preventDefault();
        say(ctx);
      },
    },
    h("textarea", {
      rows: 2,
      "aria-label": label,
      placeholder: `${label} …`,
      value: ctx.state.text || "",
      oninput: (event) => {
        ctx.state.text = event.target.value;
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
          event.preventDefault();
          say(ctx);
        }
      },
    }),
    h("button", { class: "button primary", type: "submit" }, "Send"),
  );
}

export default {
  title: (ctx) => (ctx.data.one ? ctx.data.one.about || "Chat" : "Chat"),
  load,
  render,
  filter: (ctx) =>
    ctx.params.session
      ? { run: ctx.params.session, deltas: true }
      : { kinds: ["session.started", "session.ended", "session.paused", "question.asked", "question.answered"] },
  wants: (line, ctx) => {
    if (/^(model|tool)\./.test(line.event)) ctx.state.fresh = true;
    return true;
  },
  delta: (one, ctx) => {
    if (ctx.state.talk) {
      ctx.state.talk.delta(one);
      toEnd(ctx);
    }
  },
  keys: (ctx) => {
    const [first] = grouped(ctx.data.questions || []);
    const answers = first
      ? Object.fromEntries(
          Array.from({ length: 9 }, (_, n) => [
            String(n + 1),
            [n ? "" : "Answer with choice 1, 2, …", () => choose(first, n, ctx), true],
          ]),
        )
      : {};
    const busy = ctx.data.one && ctx.data.one.state === "processing";
    return {
      ...answers,
      i: ["Write", () => document.querySelector(".chat-one textarea")?.focus()],
      n: ["New conversation", () => ctx.go("/chat")],
      ...(busy
        ? { Escape: ["Stop what it does", () => ctx.act(post(path(["sessions", ctx.params.session, "stop"])))] }
        : {}),
    };
  },
};
