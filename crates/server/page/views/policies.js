// Policies: the rules by which runs are admitted, routed, permitted and passed, in order; the first that matches wins. A
// policy is shown as its own text, cut into its tables; nothing here interprets it.

import { h } from "../dom.js";
import { path } from "../api.js";
import { chip, empty, searchBox, section, segments } from "../parts.js";
import { capital, plural, words } from "../format.js";

const SAYS = /^(?:then|decision|verdict|action|permit|on_no_go)\s*=\s*"([^"]*)"/m;
const TONES = { refuse: "bad", deny: "bad", stop: "bad", ask: "warn" };

async function load(ctx) {
  const { items } = await ctx.get("/policies");
  const name = ctx.params.name || (items[0] || {}).name;
  return { items, name, one: name ? await ctx.get(path(["policies", name])) : null };
}

function render({ items, name, one }, ctx) {
  if (!one) return empty("No policies");
  const asked = (ctx.state.search || "").toLowerCase();
  const search = (text) => {
    ctx.state.search = text;
    ctx.redraw();
  };
  const shown = tables(one.text).filter((table) => !asked || table.text.toLowerCase().includes(asked));
  return [
    h(
      "header",
      { class: "page-head" },
      h("h1", {}, "Policies"),
      h("span", { class: "grow" }),
      searchBox("Search rules", ctx.state.search, search),
    ),
    segments(
      "Policy",
      items.map((item) => [path(["policies", item.name]), item.name, item.name === name]),
    ),
    one.description ? h("p", { class: "page-note" }, one.description) : null,
    shown.length ? grouped(shown).map(([title, rules]) => ruleList(title, rules)) : empty("No matching rules"),
  ];
}

/** The tables of a TOML text: `[[admission]]` and what follows up to the next one, with the comments above it. */
function tables(text) {
  const found = [];
  let lines = [];
  let title = "Settings";
  const close = () => {
    const whole = lines.join("\n").trim();
    if (whole) found.push({ title, text: whole, number: found.filter((one) => one.title === title).length + 1 });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const head = /^\[\[?([\w.-]+)\]\]?\s*$/.exec(line);
    if (head) {
      close();
      title = head[1];
    } else {
      lines.push(line);
    }
  }
  close();
  return found;
}

function grouped(all) {
  const groups = new Map();
  for (const one of all) groups.set(one.title, [...(groups.get(one.title) || []), one]);
  return [...groups];
}

const valueOf = (text, name) => (new RegExp(`^${name}\\s*=\\s*"((?:[^"\\\\]|\\\\.)*)"`, "m").exec(text) || [])[1];

function ruleList(title, rules) {
  return section(
    capital(words(title)),
    { key: title, aside: plural(rules.length, "table") },
    h("ol", { class: "policy-rules panel" }, rules.map(ruleLine)),
  );
}

function ruleLine(rule) {
  const says = (SAYS.exec(rule.text) || [])[1];
  const name = valueOf(rule.text, "id") || valueOf(rule.text, "name") || rule.title;
  const summary = h(
    "summary",
    { "data-row": true, tabindex: 0 },
    h("span", { class: "faint num" }, rule.number),
    h("span", { class: "mono" }, name),
    says ? chip(words(says), TONES[says]) : null,
    h("span", { class: "muted grow clip" }, valueOf(rule.text, "reason") || ""),
  );
  const key = `${rule.title} ${rule.number}`;
  return h("li", { key }, h("details", {}, summary, h("pre", { class: "json", tabindex: 0 }, rule.text)));
}

export default {
  title: (ctx) => `Policy ${ctx.data.name || ""}`,
  load,
  render,
  wants: () => false,
  keeps: true,
};
