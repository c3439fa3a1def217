// The navigation around a view: places with the number of open questions, the state of the connection, who is signed in,
// light and dark. On a phone it is a bar at the bottom.

import { h, patch, $ } from "./dom.js";
import { icon } from "./icons.js";
import { help } from "./keys.js";

/** The places: name, address, label, keys. */
export const PLACES = [
  ["inbox", "/", "Inbox", "g i"],
  ["runs", "/runs", "Runs", "g r"],
  ["new", "/new", "New run", "g n"],
  ["chat", "/chat", "Chat", "g c"],
  ["projects", "/projects", "Projects", "g p"],
  ["stats", "/stats", "Stats", "g s"],
  ["policies", "/policies", "Policies", "g o"],
  ["models", "/models", "Models", "g m"],
  ["users", "/users", "Users", "g u"],
];
const OF_A_RUN = ["run", "task", "timeline", "review", "gate", "why", "money", "replay", "spec", "proof"];
const CONNECTION = { live: "Live", waiting: "Reconnecting", off: "Connecting" };

/** Draws both navigations. `here` is the name of the view on the screen. */
export function drawShell(app, here) {
  const at = OF_A_RUN.includes(here) ? "runs" : here;
  const admin = app.me && app.me.role === "admin";
  const viewer = app.me && app.me.role === "viewer";
  const shown = PLACES.filter(([name]) => (name !== "users" || admin) && (name !== "new" || !viewer));
  const item = ([name, href, label, keys]) =>
    h(
      "a",
      {
        key: name,
        href,
        class: "place",
        "aria-current": at === name ? "page" : undefined,
        title: `${label} (${keys})`,
      },
      icon(name),
      h("span", {}, label),
      name === "inbox" && app.questions
        ? h("span", { class: "count", "aria-label": `${app.questions} open` }, app.questions)
        : null,
    );
  patch(
    $("#side"),
    h(
      "a",
      { class: "brand", href: "/" },
      h("img", { src: "/page/icon.svg", alt: "", width: 22, height: 22 }),
      h("span", {}, "Bosun"),
    ),
    h("nav", { class: "places", "aria-label": "Places" }, shown.map(item)),
    h(
      "div",
      { class: "side-foot" },
      h(
        "span",
        { class: `connection ${app.connection}`, role: "status", title: CONNECTION[app.connection] },
        h("span", { class: "dot" }),
        h("span", {}, CONNECTION[app.connection]),
      ),
      h(
        "div",
        { class: "side-tools" },
        app.me
          ? h(
              "span",
              { class: "who", title: `${app.me.name}, ${app.me.role}` },
              app.me.name,
              h("span", { class: "faint" }, ` ${app.me.role}`),
            )
          : null,
        h(
          "button",
          {
            class: "icon-button",
            type: "button",
            "aria-label": "Light or dark",
            title: "Light or dark (t)",
            onclick: switchTheme,
          },
          icon("theme"),
        ),
        h(
          "button",
          { class: "icon-button", type: "button", "aria-label": "Keys", title: "Keys (?)", onclick: help },
          icon("help"),
        ),
      ),
    ),
  );
  const bottom = shown.filter(([name]) => ["inbox", "runs", "new", "chat"].includes(name));
  patch(
    $("#tabbar"),
    bottom.map(item),
    h(
      "details",
      { class: "more" },
      h("summary", { class: "place" }, icon("more"), h("span", {}, "More")),
      h(
        "div",
        { class: "sheet" },
        shown.filter((one) => !bottom.includes(one)).map(item),
        h(
          "button",
          { class: "place", type: "button", onclick: switchTheme },
          icon("theme"),
          h("span", {}, "Light or dark"),
        ),
      ),
    ),
  );
}

/** Light becomes dark, and stays so in this browser. */
export function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    /* chosen for this page only */
  }
}
