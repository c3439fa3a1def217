// Projects: the repositories that this server works in. An administrator adds and removes them; removing one deletes nothing.

import { h } from "../dom.js";
import { del, path, post } from "../api.js";
import { chip, confirm, empty, fieldRow, table, toast } from "../parts.js";
import { plural } from "../format.js";

const load = (ctx) => ctx.get("/projects");
const admin = (ctx) => ctx.app.me && ctx.app.me.role === "admin";

async function add(event, ctx) {
  event.preventDefault();
  const { name, path: place } = event.target.elements;
  if (await ctx.act(post("/projects", { name: name.value.trim(), path: place.value.trim() }))) {
    event.target.reset();
    toast("Added");
  }
}

async function remove(one, ctx) {
  const said = await confirm({
    title: `Remove ${one.name}?`,
    action: "Remove the project",
    danger: true,
    body: "The repository and its runs stay; they are not shown here any more.",
  });
  if (said && (await ctx.act(del(path(["projects", one.name]))))) toast("Removed");
}

function render(data, ctx) {
  return [
    h("header", { class: "page-head" }, h("h1", {}, "Projects")),
    data.items.length
      ? table(
          "Projects",
          [
            ["Project", ""],
            ["Path", "wide"],
            ["Runs", "num"],
            ["Open", "num"],
            ["Questions", "num"],
            ["", "num", "Actions"],
          ],
          data.items.map((one) => ({
            key: one.name,
            href: path(["runs"], { project: one.name }),
            cells: [
              h("a", { href: path(["runs"], { project: one.name }) }, h("strong", {}, one.name)),
              h("span", { class: "mono muted" }, one.path),
              one.runs ?? "",
              one.open || "",
              one.questions ? chip(plural(one.questions, "question"), "warn") : "",
              admin(ctx)
                ? h("button", { class: "link", type: "button", onclick: () => remove(one, ctx) }, "Remove")
                : "",
            ],
          })),
          ctx.go,
        )
      : empty(
          "No projects yet",
          admin(ctx) ? "Add a repository of this machine below." : "An administrator adds them.",
        ),
    admin(ctx)
      ? h(
          "form",
          { class: "inline-form", onsubmit: (event) => add(event, ctx) },
          h("h2", {}, "Add a project"),
          h(
            "div",
            { class: "field-row" },
            fieldRow({ name: "name", label: "Name", required: true, placeholder: "harbor" }),
            fieldRow({
              name: "path",
              label: "Path on the server",
              required: true,
              placeholder: "/srv/harbor",
            }),
          ),
          h("button", { class: "button", type: "submit" }, "Add"),
        )
      : null,
  ];
}

export default { title: () => "Projects", load, render, wants: () => true };
