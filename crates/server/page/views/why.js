// Why: every decision of a run, and for one of them its rule, what it saw, and the rules before it that did not match.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to } from "../runpage.js";
import { icon, sign } from "../icons.js";
import { chip, empty, failure } from "../parts.js";
import { clock, full, words } from "../format.js";

async function load(ctx, at) {
  const list = await ctx.get(path(["runs", ctx.params.run, "why"], { at }));
  const place = ctx.params.place;
  if (place && ctx.state.place !== place) {
    ctx.state.one = await ctx.get(path(["runs", ctx.params.run, "why", place])).catch((error) => ({ failed: error }));
    ctx.state.place = place;
  }
  return { items: list.items, one: place ? ctx.state.one : null };
}

function render({ items, one }, ctx) {
  if (!items.length) return empty("Nothing was decided yet");
  const asked = (ctx.state.search || "").toLowerCase();
  const shown = items.filter(
    (item) =>
      !asked ||
      `${item.place} ${item.event} ${item.rule} ${item.reason} ${item.summary}`.toLowerCase().includes(asked),
  );
  return h(
    "div",
    { class: `split ${ctx.params.place ? "has-one" : ""}` },
    h(
      "div",
      { class: "split-list" },
      h(
        "div",
        { class: "search" },
        icon("search"),
        h("input", {
          type: "search",
          "data-search": true,
          "aria-label": "Search decisions",
          placeholder: `Search ${items.length} decisions`,
          value: ctx.state.search || "",
          oninput: (event) => {
            ctx.state.search = event.target.value;
            ctx.redraw();
          },
        }),
        h("kbd", {}, "/"),
      ),
      shown.length
        ? h(
            "ul",
            { class: "decisions" },
            shown.map((item) =>
              h(
                "li",
                { key: item.place },
                h(
                  "a",
                  {
                    href: to(ctx, "why", item.place),
                    "data-row": true,
                    "aria-current": item.place === ctx.params.place ? "true" : undefined,
                  },
                  h(
                    "span",
                    { class: "decision-top" },
                    h("span", { class: "mono clip" }, item.rule || item.event),
                    h("span", { class: "faint" }, item.place),
                  ),
                  h("span", { class: "muted decision-reason" }, item.reason || item.summary),
                ),
              ),
            ),
          )
        : h("p", { class: "faint pad" }, "No decision has these words."),
    ),
    h(
      "div",
      { class: "split-one", tabindex: 0, role: "region", "aria-label": "Decision" },
      one
        ? one.failed
          ? failure(one.failed)
          : explained(one, ctx)
        : empty(
            "Choose a decision",
            "Its rule is evaluated again, with what it saw, and every rule before it that did not match.",
          ),
    ),
  );
}

function explained(one) {
  const { decision } = one;
  return h(
    "article",
    { class: "why-one" },
    h(
      "div",
      { class: "crumbs" },
      h("span", {}, one.event),
      h("span", { class: "faint" }, `line ${one.place}`),
      h("time", { class: "faint", title: full(one.at) }, clock(one.at, true)),
    ),
    h("h2", { class: "why-rule mono" }, decision ? decision.rule : one.event),
    h("p", { class: "why-reason" }, decision ? decision.reason : one.summary),
    one.again === true
      ? chip("decided again: the same", "good")
      : one.again === false
        ? chip("decided again: differently", "bad")
        : chip("a fact from outside"),
    decision && (decision.seen || []).length
      ? h(
          "div",
          { class: "why-part" },
          h("h3", {}, "What counted"),
          h(
            "ul",
            { class: "seen" },
            decision.seen.map((text, i) => h("li", { key: i }, text)),
          ),
        )
      : null,
    one.inputs.length
      ? h(
          "div",
          { class: "why-part" },
          h("h3", {}, "What it saw"),
          h(
            "dl",
            { class: "inputs" },
            one.inputs
              .filter((input) => input.name !== "seen")
              .map((input, i) => h("div", { key: i }, h("dt", {}, input.name), h("dd", {}, input.value))),
          ),
        )
      : null,
    h(
      "div",
      { class: "why-part" },
      h("h3", {}, "Rules, in order"),
      one.rules.length
        ? h(
            "ol",
            { class: "rules" },
            one.rules.map((rule, i) =>
              h(
                "li",
                { key: i, class: rule.matched ? "matched" : "" },
                sign(rule.matched ? "passed" : "skipped", 14),
                h(
                  "div",
                  {},
                  h("span", { class: "mono" }, rule.rule),
                  rule.says ? chip(words(rule.says)) : null,
                  h(
                    "p",
                    { class: "muted" },
                    rule.matched ? "matched" : "did not match",
                    (rule.because || []).length ? `: ${rule.because.join("; ")}` : "",
                  ),
                ),
              ),
            ),
          )
        : h("p", { class: "faint" }, "A built-in rule; there is no table of rules behind it."),
    ),
  );
}

export default runView("why", {
  name: () => "Why",
  load,
  render,
  wants: (line) => !line.attempt,
  keys: (ctx) => (ctx.params.place ? { Escape: ["Back to the list", () => ctx.go(to(ctx, "why"))] } : {}),
});
