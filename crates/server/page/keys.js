// The keyboard: sequences such as `g i`, moving through rows with j and k, and the help overlay that lists what works here.
// What a key does in a view is declared by that view.

import { h, patch, typing } from "./dom.js";

const WAIT_FOR_SECOND = 1200;
let places = {};
let ofView = () => ({});
let first = "";
let timer = 0;

/** `toPlaces`: {"g i": ["Inbox", fn]}; `viewKeys` returns the same for what is on the screen. */
export function start(toPlaces, viewKeys) {
  places = toPlaces;
  ofView = viewKeys;
  addEventListener("keydown", pressed);
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape") return escape(event);
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  const known = { ...common(), ...places, ...ofView() };
  const pair = first ? `${first} ${event.key}` : "";
  clearTimeout(timer);
  first = "";
  const found = known[pair] || known[event.key];
  if (found && found[1]) {
    if (onControl(event) && !found[2]) return;
    event.preventDefault();
    found[1](event);
  } else if (Object.keys(known).some((key) => key.startsWith(`${event.key} `))) {
    first = event.key;
    timer = setTimeout(() => {
      first = "";
    }, WAIT_FOR_SECOND);
  } else if (event.key === "Enter" && event.target.matches("[data-row]")) {
    event.preventDefault();
    event.target.click();
  }
}

/** A focused control keeps the keys that belong to it. */
function onControl(event) {
  const on = event.target.closest("button,a,summary,input,[role=tab]");
  if (on && (event.key === "Enter" || event.key === " ")) return true;
  return event.target.matches("input[type=range],input[type=radio]") && event.key.startsWith("Arrow");
}

function common() {
  return {
    j: ["Next row", () => move(1)],
    k: ["Previous row", () => move(-1)],
    "/": ["Search", () => document.querySelector("[data-search]")?.focus()],
    "?": ["These keys", help],
  };
}

/** Moves the focus to the next or previous row of the view. */
export function move(by, selector = "[data-row]") {
  const rows = [...document.querySelectorAll(`#main ${selector}`)].filter((el) => el.offsetParent !== null);
  if (!rows.length) return;
  const now = rows.findIndex((el) => el === document.activeElement || el.contains(document.activeElement));
  const next = rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, now + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function escape(event) {
  if (document.querySelector("dialog[open]")) return;
  const found = ofView().Escape;
  if (found) {
    found[1](event);
    return;
  }
  if (typing(event.target)) event.target.blur();
}

/** Shows the keys that work here. */
export function help() {
  const box = document.createElement("dialog");
  box.className = "help";
  box.setAttribute("aria-labelledby", "help-title");
  const close = (event) => {
    event.preventDefault();
    box.close();
    box.remove();
  };
  document.body.append(box);
  patch(
    box,
    h("h2", { id: "help-title" }, "Keys"),
    h(
      "div",
      { class: "help-lists" },
      keyList("On this page", ofView()),
      keyList("Everywhere", { ...common(), Enter: ["Open the row"], Escape: ["Close, leave a field"] }),
      keyList("Go to", places),
    ),
    h("div", { class: "dialog-foot" }, h("button", { class: "button", type: "button", onclick: close }, "Close")),
  );
  box.addEventListener("cancel", close);
  box.addEventListener("keydown", (event) => event.key === "?" && close(event));
  box.showModal();
}

function keyList(title, keys) {
  const caps = (key) => (key === " " ? ["Space"] : key.split(" ")).map((one) => h("kbd", {}, NAMES[one] || one));
  const line = ([key, [label]]) => h("div", {}, h("dt", {}, caps(key)), h("dd", {}, label));
  const shown = Object.entries(keys).filter(([, [label]]) => label);
  return h("section", {}, h("h3", {}, title), h("dl", {}, shown.map(line)));
}

const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };
