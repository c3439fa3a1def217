// Users: who may look, act or administer, and in which projects. A token is shown once, when it is made; only its hash is kept.

import { h } from "../dom.js";
import { del, path, post } from "../api.js";
import { chip, confirm, empty, fieldRow, table, toast } from "../parts.js";

const ROLES = [
  ["viewer", "viewer: looks"],
  ["operator", "operator: also answers, starts, accepts"],
  ["admin", "admin: also users and projects"],
];

async function load(ctx) {
  const [users, projects] = await Promise.all([ctx.get("/users"), ctx.get("/projects").catch(() => ({ items: [] }))]);
  return { users: users.items, projects: projects.items };
}

async function add(event, ctx) {
  event.preventDefault();
  const { name, role } = event.target.elements;
  const chosen = [...event.target.querySelectorAll("[name=projects]:checked")].map((one) => one.value);
  const made = await ctx.act(
    post("/users", { name: name.value.trim(), role: role.value, projects: chosen.length ? chosen : null }),
  );
  if (!made) return;
  event.target.reset();
  ctx.state.made = made;
  ctx.draw();
}

async function remove(user, ctx) {
  const said = await confirm({
    title: `Revoke the token of ${user.name}?`,
    action: "Revoke",
    danger: true,
    body: "It stops working at once. What was done with it stays on record.",
  });
  if (said && (await ctx.act(del(path(["users", user.name]))))) toast("Revoked");
}

function token(made, ctx) {
  return h(
    "div",
    { class: "notice small token", role: "status" },
    h("p", { class: "notice-title" }, `The token of ${made.name}`),
    h("p", {}, "Copy it now: it is not shown again."),
    h("p", {}, h("code", { class: "token-text" }, made.token)),
    h(
      "p",
      {},
      h(
        "button",
        {
          class: "button",
          type: "button",
          onclick: () =>
            navigator.clipboard.writeText(made.token).then(
              () => toast("Copied"),
              () => toast("Select it and copy it by hand", "bad"),
            ),
        },
        "Copy",
      ),
      " ",
      h(
        "button",
        {
          class: "button quiet",
          type: "button",
          onclick: () => {
            ctx.state.made = null;
            ctx.draw();
          },
        },
        "Done",
      ),
    ),
  );
}

function render({ users, projects }, ctx) {
  const mine = ctx.app.me && ctx.app.me.name;
  return [
    h("header", { class: "page-head" }, h("h1", {}, "Users")),
    ctx.state.made ? token(ctx.state.made, ctx) : null,
    users.length
      ? table(
          "Users",
          [
            ["Name", "wide"],
            ["Role", ""],
            ["Projects", "wide"],
            ["", "num", "Actions"],
          ],
          users.map((user) => ({
            key: user.name,
            cells: [
              h("strong", {}, user.name),
              chip(user.role, user.role === "admin" ? "active" : ""),
              user.projects ? user.projects.join(", ") : h("span", { class: "muted" }, "all"),
              user.name === mine
                ? h("span", { class: "faint" }, "you")
                : h("button", { class: "link", type: "button", onclick: () => remove(user, ctx) }, "Revoke"),
            ],
          })),
          ctx.go,
        )
      : empty("No other users", "The token that bosun serve printed is the only one."),
    h(
      "form",
      { class: "inline-form", onsubmit: (event) => add(event, ctx) },
      h("h2", {}, "Add a user"),
      h(
        "div",
        { class: "field-row" },
        fieldRow({ name: "name", label: "Name", required: true }),
        fieldRow({ name: "role", label: "Role", options: ROLES, value: "operator" }),
        h(
          "fieldset",
          {},
          h("legend", {}, "Projects (none chosen: all)"),
          projects.map((one) =>
            h(
              "label",
              { key: one.name, class: "tick-box" },
              h("input", { type: "checkbox", name: "projects", value: one.name }),
              one.name,
            ),
          ),
        ),
      ),
      h("button", { class: "button", type: "submit" }, "Make a token"),
    ),
  ];
}

export default { title: () => "Users", load, render, wants: () => false };
