// Policies: the rules by which runs are admitted, routed, permitted and passed, in order; the first that matches wins.

import { h } from "../dom.js";
import { path } from "../api.js";
import { icon } from "../icons.js";
import { chip, empty, section } from "../parts.js";
import { capital, plural, words } from "../format.js";

async function load(ctx) {
  const { items } = await ctx.get("/policies");
  const name = ctx.params.name || nameOf(items[0] || "");
  return { items, name, one: name ? await ctx.get(path(["policies", name])) : null };
}

const nameOf = (one) => (typeof one === "string" ? one : one.name);

function render({ items, name, one }, ctx) {
  if (!items.length) return empty("There are no policies");
  const policy = one.policy || one;
  const asked = (ctx.state.search || "").toLowerCase();
  return [
    h(
      "header",
      { class: "page-head" },
      h("h1", {}, "Policies"),
      h("span", { class: "grow" }),
      h(
        "div",
        { class: "search" },
        icon("search"),
        h("input", {
          type: "search",
          "data-search": true,
          "aria-label": "Search rules",
          placeholder: "Search rules",
          oninput: (event) => {
            ctx.state.search = event.target.value;
            ctx.redraw();
          },
        }),
        h("kbd", {}, "/"),
      ),
    ),
    h(
      "nav",
      { class: "segments", "aria-label": "Policy" },
      items.map((item) =>
        h(
          "a",
          {
            key: nameOf(item),
            href: path(["policies", nameOf(item)]),
            "aria-current": nameOf(item) === name ? "true" : undefined,
          },
          nameOf(item),
        ),
      ),
    ),
    (items.find((item) => nameOf(item) === name) || {}).about
      ? h("p", { class: "page-note" }, items.find((item) => nameOf(item) === name).about)
      : null,
    tables(policy).map(([title, rules]) => ruleTable(title, rules, asked)),
    rest(policy),
  ];
}

/** Every list of rules in a policy, wherever it stands: whatever has items with an id. */
function tables(policy, prefix = "", into = []) {
  for (const [key, value] of Object.entries(policy)) {
    const title = prefix ? `${prefix}, ${words(key)}` : words(key);
    if (
      Array.isArray(value) &&
      value.length &&
      value.every((one) => one && typeof one === "object" && (one.id || one.rule || one.name))
    )
      into.push([title, value]);
    else if (value && typeof value === "object" && !Array.isArray(value) && key !== "words")
      tables(value, title, into);
  }
  return into;
}

function ruleTable(title, rules, asked) {
  const shown = rules.filter((rule) => !asked || JSON.stringify(rule).toLowerCase().includes(asked));
  if (!shown.length) return null;
  return section(
    capital(title),
    { key: title, aside: plural(rules.length, "rule") },
    h(
      "ol",
      { class: "policy-rules panel" },
      shown.map((rule, i) => {
        const { id, rule: ruleId, name, reason, ...more } = rule;
        const says = more.then || more.decision || more.verdict || more.action || more.permit || more.on_no_go;
        return h(
          "li",
          { key: `${id || ruleId || name} ${i}` },
          h(
            "details",
            {},
            h(
              "summary",
              { "data-row": true, tabindex: 0 },
              h("span", { class: "faint num" }, rules.indexOf(rule) + 1),
              h("span", { class: "mono" }, id || ruleId || name),
              typeof says === "string"
                ? chip(words(says), says === "refuse" || says === "deny" ? "bad" : says === "ask" ? "warn" : "")
                : null,
              h("span", { class: "muted grow clip" }, reason || ""),
            ),
            reason ? h("p", { class: "muted" }, reason) : null,
            h("pre", { class: "json", tabindex: 0 }, JSON.stringify(more, null, 2)),
          ),
        );
      }),
    ),
  );
}

function rest(policy) {
  const plain = Object.entries(policy).filter(
    ([key, value]) =>
      key !== "words" &&
      (value === null || typeof value !== "object" || (!Array.isArray(value) && !tables({ [key]: value }).length)),
  );
  if (!plain.length) return null;
  return section(
    "Settings",
    {},
    h("pre", { class: "json panel pad", tabindex: 0 }, JSON.stringify(Object.fromEntries(plain), null, 2)),
  );
}

export default { title: (ctx) => `Policy ${ctx.data.name}`, load, render, wants: () => false, keeps: true };
