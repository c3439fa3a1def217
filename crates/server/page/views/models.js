// Models and providers that are known, with prices, context windows, and whether there is a key. Keys themselves are never
// sent to a page.

import { h } from "../dom.js";
import { sign } from "../icons.js";
import { empty, searchBox, section, table } from "../parts.js";
import { count } from "../format.js";

const MODEL_HEADS = [
  ["Model", "wide"],
  ["Window", "num"],
  ["In, per million", "num"],
  ["Out", "num"],
  ["Cached", "num"],
  ["Can", ""],
];
const PROVIDER_HEADS = [
  ["Provider", ""],
  ["Key", ""],
  ["Dialect", ""],
  ["Address", "wide"],
];

async function load(ctx) {
  const { items } = await ctx.get("/models");
  return { providers: items.filter((one) => one.provider && !one.model), models: items.filter((one) => one.model) };
}

const perMillion = (amount) =>
  amount === null || amount === undefined ? "" : Number(amount) === 0 ? "free" : `$${Number(amount).toFixed(2)}`;

function render({ providers, models }, ctx) {
  const asked = (ctx.state.search || "").toLowerCase();
  const shown = models.filter((one) => one.model.toLowerCase().includes(asked));
  const usable = new Set(providers.filter((one) => one.usable).map((one) => one.provider));
  const search = (text) => {
    ctx.state.search = text;
    ctx.redraw();
  };
  const rows = shown.map((one) => modelRow(one, usable));
  return [
    h(
      "header",
      { class: "page-head" },
      h("h1", {}, "Models"),
      h("span", { class: "grow" }),
      searchBox("Search models", ctx.state.search, search),
    ),
    rows.length ? table("Models", MODEL_HEADS, rows, ctx.go) : empty("No model has this name"),
    providers.length
      ? section("Providers", {}, table("Providers", PROVIDER_HEADS, providers.map(providerRow), ctx.go))
      : null,
  ];
}

function modelRow(one, usable) {
  const known = one.known || {};
  const price = (known.price || [])[0] || {};
  const key = usable.size ? sign(usable.has(one.model.split("/")[0]) ? "passed" : "waiting", 14) : null;
  return {
    key: one.model,
    cells: [
      h("span", { class: "badge" }, key, h("span", { class: "mono" }, one.model)),
      count(known.window),
      perMillion(price.input),
      perMillion(price.output),
      perMillion(price.cache_read),
      h("span", { class: "muted" }, (known.abilities || []).join(", ")),
    ],
  };
}

function providerRow(one) {
  const key = one.usable ? "there" : `set ${(one.key_env || []).join(" or ") || "up the server"}`;
  return {
    key: one.provider,
    cells: [
      h("strong", {}, one.provider),
      h("span", { class: "badge" }, sign(one.usable ? "passed" : "waiting", 14), key),
      one.dialect,
      h("span", { class: "mono muted" }, one.base_url),
    ],
  };
}

export default { title: () => "Models", load, render, wants: () => false };
