// Models that can be named, with prices, context windows, and whether they can be asked from here. Keys themselves are
// never sent to a page.

import { h } from "../dom.js";
import { sign } from "../icons.js";
import { empty, searchBox, table } from "../parts.js";
import { count } from "../format.js";

const HEADS = [
  ["Model", "wide"],
  ["Usable", "nowrap"],
  ["Window", "num"],
  ["Longest reply", "num"],
  ["In, per million", "num"],
  ["Out, per million", "num"],
];

const load = (ctx) => ctx.get("/models");

const perMillion = (amount) => {
  if (amount === null || amount === undefined) return "";
  return Number(amount) === 0 ? "free" : `$${Number(amount).toFixed(2)}`;
};

function render({ items }, ctx) {
  const asked = (ctx.state.search || "").toLowerCase();
  const search = (text) => {
    ctx.state.search = text;
    ctx.redraw();
  };
  const rows = items.filter((one) => one.model.toLowerCase().includes(asked)).map(row);
  const ready = items.filter((one) => one.usable).length;
  return [
    h(
      "header",
      { class: "page-head" },
      h("h1", {}, "Models"),
      h("span", { class: "faint" }, `${ready} of ${items.length} usable from here`),
      h("span", { class: "grow" }),
      searchBox("Search models", ctx.state.search, search),
    ),
    rows.length ? table("Models", HEADS, rows, ctx.go) : empty("No matching models"),
  ];
}

function row(one) {
  const usable = one.usable ? "yes" : "no key";
  return {
    key: one.model,
    cells: [
      h("span", { class: "mono" }, one.model),
      h("span", { class: "badge" }, sign(one.usable ? "passed" : "waiting", 14), usable),
      count(one.window),
      count(one.max_output),
      perMillion(one.input_price),
      perMillion(one.output_price),
    ],
  };
}

export default { title: () => "Models", load, render, wants: () => false };
