// Why: every decision of a run, and for one of them its rule, what it saw, and the rules before it that did not match.

import { h } from "../dom.js";
import { path } from "../api.js";
import { runView, to } from "../runpage.js";
import { sign } from "../icons.js";
import { chip, empty, failure, searchBox, sentences } from "../parts.js";
import { clock, full, words } from "../format.js";

async function load(ctx, at) {
  const list = await ctx.get(path(["runs", ctx.params.run, "why"], { at }));
  const place = ctx.params.place;
  if (place && ctx.state.place !== place) {
    const asked = ctx.get(path(["runs", ctx.params.run, "why", place], { at }));
    ctx.state.one = await asked.then((page) => page.items).catch((error) => ({ failed: error }));
    ctx.state.place = place;
  }
  return { items: list.items, one: place ? ctx.state.one : null };
}

function render({ items, one }, ctx) {
  if (!items.length) return empty("No decisions yet");
  const asked = (ctx.state.search || "").toLowerCase();
  const text = (item) => `${item.place} ${item.event} ${item.rule} ${item.reason} ${item.summary}`.toLowerCase();
  const shown = items.filter((item) => !asked || text(item).includes(asked));
  const search = (typed) => {
    ctx.state.search = typed;
    ctx.redraw();
  };
  const lines = shown.map((item) => h("li", { key: item.place }, decisionLink(item, ctx)));
  return h(
    "div",
    { class: `split ${ctx.params.place ? "has-one" : ""}` },
    h(
      "div",
      { class: "split-list" },
      searchBox(`Search ${items.length} decisions`, ctx.state.search || "", search),
      lines.length
        ? h("ul", { class: "decisions" }, lines)
        : h("p", { class: "faint pad" }, "No matching decisions."),
    ),
    h("div", { class: "split-one", tabindex: 0, role: "region", "aria-label": "Decision" }, chosen(one)),
  );
}

function decisionLink(item, ctx) {
  const on = item.place === ctx.params.place ? "true" : undefined;
  return h(
    "a",
    { href: to(ctx, "why", item.place), "data-row": true, "aria-current": on },
    h(
      "span",
      { class: "decision-top" },
      h("span", { class: "mono clip" }, item.rule || item.event),
      h("span", { class: "faint" }, item.place),
    ),
    h("span", { class: "muted decision-reason" }, item.reason || item.summary),
  );
}

function chosen(one) {
  if (one && one.failed) return failure(one.failed);
  const hint = "Its rule is evaluated again, with what it saw, and every rule before it that did not match.";
  return one ? one.map(explained) : empty("Choose a decision", hint);
}

function explained(one) {
  const { decision } = one;
  const inputs = one.inputs.filter((input) => input.name !== "seen");
  const given = (input, i) => h("div", { key: i }, h("dt", {}, input.name), h("dd", {}, String(input.value)));
  return h(
    "article",
    { class: "why-one", key: one.place },
    h(
      "div",
      { class: "crumbs" },
      h("span", {}, one.event),
      h("span", { class: "faint" }, `line ${one.place}`),
      h("time", { class: "faint", title: full(one.at) }, clock(one.at, true)),
    ),
    h("h2", { class: "why-rule mono" }, decision ? decision.rule : one.event),
    h("p", { class: "why-reason" }, decision ? decision.reason : one.summary),
    again(one.again),
    decision && (decision.seen || []).length ? part("Facts", sentences(decision.seen)) : null,
    inputs.length ? part("Inputs", h("dl", { class: "inputs" }, inputs.map(given))) : null,
    part(
      "Rules, in order",
      one.rules.length
        ? h("ol", { class: "rules" }, one.rules.map(ruleLine))
        : h("p", { class: "faint" }, "A built-in rule; there is no table of rules behind it."),
    ),
  );
}

const part = (title, content) => h("div", { class: "why-part", key: title }, h("h3", {}, title), content);

function again(same) {
  if (same === undefined || same === null) return chip("external fact");
  return same ? chip("re-evaluated: same result", "good") : chip("re-evaluated: different result", "bad");
}

function ruleLine(rule, i) {
  const because = (rule.because || []).length ? `: ${rule.because.join("; ")}` : "";
  return h(
    "li",
    { key: i, class: rule.matched ? "matched" : "" },
    sign(rule.matched ? "passed" : "skipped", 14),
    h(
      "div",
      {},
      h("span", { class: "mono" }, rule.rule),
      rule.says ? chip(words(rule.says)) : null,
      rule.about ? h("span", { class: "faint" }, ` ${rule.about}`) : null,
      h("p", { class: "muted" }, rule.matched ? "matched" : "did not match", because),
    ),
  );
}

export default runView("why", {
  name: () => "Why",
  load,
  render,
  keeps: true,
  wants: (line) => !line.attempt,
  keys: (ctx) => (ctx.params.place ? { Escape: ["Back to the list", () => ctx.go(to(ctx, "why"))] } : {}),
});
