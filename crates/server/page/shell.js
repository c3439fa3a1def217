// The navigation around a view: places with the number of open questions, the state of the connection, who is signed in,
// light and dark. On a phone it is a bar at the bottom.

import { h, patch, $ } from "./dom.js";
import { icon } from "./icons.js";
import { help } from "./keys.js";
import { notifies, switchNotifications } from "./notify.js";
import { iconButton } from "./parts.js";

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
/** The places in the bar of a phone; the others are behind "More". */
const AT_HAND = ["inbox", "runs", "new", "chat"];
const CONNECTION = { live: "Live", waiting: "Reconnecting", off: "Connecting" };

/** Draws both navigations. `here` is the name of the view on the screen. */
export function drawShell(app, here) {
  const at = OF_A_RUN.includes(here) ? "runs" : here;
  const role = app.me ? app.me.role : "";
  const shown = PLACES.filter(
    ([name]) => (name !== "users" || role === "admin") && (name !== "new" || role !== "viewer"),
  );
  const item = (place) => placeLink(place, at, app.questions);
  const [first, more] = [
    shown.filter(([name]) => AT_HAND.includes(name)),
    shown.filter(([name]) => !AT_HAND.includes(name)),
  ];
  const mark = h("img", { src: "/page/icon.svg", alt: "", width: 22, height: 22 });
  patch(
    $("#side"),
    h("a", { class: "brand", href: "/" }, mark, h("span", {}, "Bosun")),
    h("nav", { class: "places", "aria-label": "Places" }, shown.map(item)),
    h("div", { class: "side-foot" }, connection(app.connection), tools(app.me)),
  );
  patch(
    $("#tabbar"),
    first.map(item),
    h(
      "details",
      { class: "more" },
      h("summary", { class: "place" }, icon("more"), h("span", {}, "More")),
      h(
        "div",
        { class: "sheet" },
        more.map(item),
        notifyButton("place", h("span", {}, "Notifications")),
        themeButton("place", h("span", {}, "Light or dark")),
      ),
    ),
  );
}

function placeLink([name, href, label, keys], at, questions) {
  const props = {
    key: name,
    href,
    class: "place",
    title: `${label} (${keys})`,
    "aria-current": at === name ? "page" : undefined,
  };
  const open = name === "inbox" && questions;
  return h(
    "a",
    props,
    icon(name),
    h("span", {}, label),
    open ? h("span", { class: "count", title: `${questions} open` }, questions) : null,
  );
}

function connection(state) {
  return h(
    "span",
    { class: `connection ${state}`, role: "status" },
    h("span", { class: "dot" }),
    h("span", {}, CONNECTION[state]),
  );
}

const themeButton = (kind, label) =>
  h(
    "button",
    { class: kind, type: "button", "aria-label": "Light or dark", title: "Light or dark (t)", onclick: switchTheme },
    icon("theme"),
    label,
  );

const notifyButton = (kind, label) =>
  h(
    "button",
    {
      class: kind,
      type: "button",
      "aria-label": "Notifications in this browser",
      "aria-pressed": String(notifies()),
      title: "Notifications in this browser",
      onclick: async (event) => {
        const button = event.currentTarget;
        await switchNotifications();
        button.setAttribute("aria-pressed", String(notifies()));
      },
    },
    icon("bell"),
    label,
  );

function tools(me) {
  const who = me ? [me.name, h("span", { class: "faint" }, ` ${me.role}`)] : [];
  return h(
    "div",
    { class: "side-tools" },
    me ? h("span", { class: "who", title: `${me.name}, ${me.role}` }, who) : null,
    notifyButton("icon-button", null),
    themeButton("icon-button", null),
    iconButton("help", "Keys (?)", help),
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
