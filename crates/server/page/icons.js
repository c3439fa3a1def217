// The page's own signs: states of tasks and runs, and the places of the navigation. Each is decoration beside a word.

import { h } from "./dom.js";

const draw = (body, name, size = 16) =>
  h(
    "svg",
    {
      class: `icon ${name || ""}`,
      viewBox: "0 0 16 16",
      width: size,
      height: size,
      "aria-hidden": "true",
      focusable: "false",
    },
    body,
  );
const line = (d) =>
  h("path", {
    d,
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 1.5,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  });
const disc = (r = 7) => h("circle", { cx: 8, cy: 8, r, fill: "currentColor" });
const ring = (more = {}) =>
  h("circle", { cx: 8, cy: 8, r: 6.25, fill: "none", stroke: "currentColor", "stroke-width": 1.5, ...more });
const cut = (d) =>
  h("path", {
    d,
    fill: "none",
    class: "cut",
    "stroke-width": 1.6,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  });

const SIGNS = {
  done: () => [disc(), cut("M5 8.2l2.1 2.1L11 6.2")],
  failed: () => [disc(), cut("M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4")],
  asking: () => [disc(), cut("M6.2 6.4a1.9 1.9 0 1 1 2.7 1.7c-.6.3-.9.6-.9 1.2M8 11.4v.1")],
  running: () => [
    ring({ class: "track" }),
    h("path", {
      class: "turning",
      d: "M8 1.75A6.25 6.25 0 0 1 14.25 8",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.8,
      "stroke-linecap": "round",
    }),
  ],
  waiting: () => ring({ "stroke-dasharray": "2.4 2.5" }),
  retrying: () => line("M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8"),
  skipped: () => [ring(), line("M5.5 8h5")],
  stopped: () => [ring(), line("M6.3 6.3h3.4v3.4H6.3z")],
};

const STAGES = {
  waiting: ["waiting", "quiet"],
  running: ["running", "active"],
  checking: ["running", "active"],
  verified: ["running", "active"],
  merging: ["running", "active"],
  retrying: ["retrying", "warn"],
  asking: ["asking", "warn"],
  finished: ["done", "good"],
  failed: ["failed", "bad"],
  skipped: ["skipped", "quiet"],
};
const STATES = {
  done: ["done", "good"],
  escalated: ["asking", "bad"],
  out_of_budget: ["failed", "bad"],
  refused: ["failed", "bad"],
  no_go: ["failed", "bad"],
  cancelled: ["stopped", "quiet"],
  interrupted: ["stopped", "warn"],
  paused: ["stopped", "warn"],
  passed: ["done", "good"],
};

/** The state of a run as a sign shows it, from its status and what else is known of it. */
export function runState({ status, escalated, interrupted, paused }) {
  if (paused) return "paused";
  if (interrupted) return "interrupted";
  if (escalated) return "escalated";
  return status === "waiting" ? "asking" : status;
}

/** The tone of a run's or task's state: good, bad, warn, active or quiet. */
export const tone = (state) => (STAGES[state] || STATES[state] || ["waiting", "quiet"])[1];

/** The sign of a task's stage or a run's state. */
export function sign(state, size = 16) {
  const [name, of] = STAGES[state] || STATES[state] || ["waiting", "quiet"];
  return draw(SIGNS[name](), `sign t-${of}`, size);
}

const PLACES = {
  inbox: "M2 9.5l2-6.2h8l2 6.2v3.2H2zM2 9.5h3.4l.9 1.6h3.4l.9-1.6H14",
  runs: "M3 3.2h2M3 8h2M3 12.8h2M7.5 3.2H13M7.5 8H13M7.5 12.8H13",
  new: "M8 3v10M3 8h10",
  chat: "M2.5 3.2h11v7.6H7.8L5 13.2v-2.4H2.5z",
  projects: "M2 4h4.2l1.4 1.7H14v7H2z",
  stats: "M3 13V8.5M6.4 13V3M9.7 13V6.4M13 13v-3",
  policies: "M8 2l5 2v4c0 3-2 5-5 6.2C5 13 3 11 3 8V4zM6 8l1.5 1.5L10.3 6.6",
  models:
    "M4.2 4.2h7.6v7.6H4.2zM6.5 2v2.2M9.5 2v2.2M6.5 11.8V14M9.5 11.8V14M2 6.5h2.2M2 9.5h2.2M11.8 6.5H14M11.8 9.5H14",
  users: "M8 7.4a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8zM3.4 13.4c.5-2.4 2.3-3.6 4.6-3.6s4.1 1.2 4.6 3.6",
  more: "M3 8h.6M7.7 8h.6M12.4 8h.6",
  bell: "M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3z M6.8 14h2.4",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11z M8 2.5a5.5 5.5 0 0 1 0 11",
  help: "M6 6.1a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.3M8 11.9v.1",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4L14 14",
  comment: "M2.5 3h11v7.5H8l-3 2.6v-2.6H2.5z",
  play: "M5 3.2l7.5 4.8L5 12.8z",
  pause: "M5.2 3.5v9M10.8 3.5v9",
  prev: "M10 3.5L5.5 8l4.5 4.5",
  next: "M6 3.5L10.5 8 6 12.5",
  close: "M4 4l8 8M12 4l-8 8",
  link: "M6.5 9.5l3-3M7 4.8l1.3-1.3a2.7 2.7 0 0 1 3.8 3.8L10.8 8.6M9 11.2l-1.3 1.3a2.7 2.7 0 0 1-3.8-3.8L5.2 7.4",
};

/** A sign of the navigation or of a control. */
export const icon = (name, size = 16) => draw(line(PLACES[name]), "", size);
