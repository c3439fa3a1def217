// Policies: the rules by which runs are admitted, routed, permitted and passed, in order; the first that matches wins. A
// policy is shown as its own text, cut into its tables; nothing here interprets it.

import { h } from "../dom.js";
import { path } from "../api.js";
import { chip, empty, searchBox, section, segments } from "../parts.js";
import { capital, plural, words } from "../format.js";

const SAYS = ["verdict", "then", "decision", "action", "permit"];
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

/** The parts of a TOML text: the entries of its lists, its tables, and what stands outside of both. */
function tables(text) {
  const found = [];
  let [lines, title, inList] = [[], "settings", false];
  const close = () => {
    const whole = lines.join("\n").replace(/^\n+|\s+$/g, "");
    if (whole) found.push({ title, text: whole, number: found.filter((one) => one.title === title).length + 1 });
    lines = [];
  };
  const open = (name, list) => {
    close();
    [title, inList] = [name, list];
  };
  for (const line of text.split("\n")) {
    const list = /^([\w-]+)\s*=\s*\[\s*$/.exec(line);
    const table = /^\[\[?([\w.-]+)\]\]?\s*(#.*)?$/.exec(line);
    if (list) open(list[1], true);
    else if (inList && line.startsWith("]")) open("settings", false);
    else if (table) open(table[1], false);
    else if (/^#/.test(line) && !inList) continue;
    else {
      if (inList && /^\s{0,4}\{/.test(line)) close();
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

/** A text value of an entry, by its name; the first there is. */
function valueOf(text, ...names) {
  for (const name of names) {
    const found = new RegExp(`(?:^|[{,\\s])${name}\\s*=\\s*"((?:[^"\\\\]|\\\\.)*)"`).exec(text);
    if (found) return found[1];
  }
  return "";
}

function ruleList(title, rules) {
  return section(
    capital(words(title)),
    { key: title, aside: rules.length > 1 ? plural(rules.length, "rule") : null },
    h("ol", { class: "policy-rules panel" }, rules.map(ruleLine)),
  );
}

function ruleLine(rule) {
  const says = valueOf(rule.text, ...SAYS);
  const name = valueOf(rule.text, "id", "name") || rule.text.split("\n")[0];
  const summary = h(
    "summary",
    { "data-row": true, tabindex: 0 },
    h("span", { class: "faint num" }, rule.number),
    h("span", { class: "mono" }, name),
    says ? chip(words(says), TONES[says]) : null,
    h("span", { class: "muted grow clip" }, valueOf(rule.text, "reason")),
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
