// Models and providers that are known, with prices, context windows, and whether there is a key. Keys themselves are never
// sent to a page.

import { h } from "../dom.js";
import { icon, sign } from "../icons.js";
import { empty, section, table } from "../parts.js";
import { count } from "../format.js";

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
  return [
    h(
      "header",
      { class: "page-head" },
      h("h1", {}, "Models"),
      h("span", { class: "grow" }),
      h(
        "div",
        { class: "search" },
        icon("search"),
        h("input", {
          type: "search",
          "data-search": true,
          "aria-label": "Search models",
          placeholder: "Search models",
          oninput: (event) => {
            ctx.state.search = event.target.value;
            ctx.redraw();
          },
        }),
        h("kbd", {}, "/"),
      ),
    ),
    shown.length
      ? table(
          "Models",
          [
            ["Model", "wide"],
            ["Window", "num"],
            ["In, per million", "num"],
            ["Out", "num"],
            ["Cached", "num"],
            ["Can", ""],
          ],
          shown.map((one) => {
            const known = one.known || {};
            const price = (known.price || [])[0] || {};
            const provider = one.model.split("/")[0];
            return {
              key: one.model,
              cells: [
                h(
                  "span",
                  { class: "badge" },
                  usable.size ? sign(usable.has(provider) ? "passed" : "waiting", 14) : null,
                  h("span", { class: "mono" }, one.model),
                ),
                count(known.window),
                perMillion(price.input),
                perMillion(price.output),
                perMillion(price.cache_read),
                h("span", { class: "muted" }, (known.abilities || []).join(", ")),
              ],
            };
          }),
          ctx.go,
        )
      : empty("No model has this name"),
    providers.length
      ? section(
          "Providers",
          {},
          table(
            "Providers",
            [
              ["Provider", ""],
              ["Key", ""],
              ["Dialect", ""],
              ["Address", "wide"],
            ],
            providers.map((one) => ({
              key: one.provider,
              cells: [
                h("strong", {}, one.provider),
                h(
                  "span",
                  { class: "badge" },
                  sign(one.usable ? "passed" : "waiting", 14),
                  one.usable ? "there" : `set ${(one.key_env || []).join(" or ") || "up the server"}`,
                ),
                one.dialect,
                h("span", { class: "mono muted" }, one.base_url),
              ],
            })),
            ctx.go,
          ),
        )
      : null,
  ];
}

export default { title: () => "Models", load, render, wants: () => false };
