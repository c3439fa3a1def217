// The replay bar: a slider over the lines of a run's log. Moving it only changes `at` in the address; every view of the run
// then shows the state after that line.

import { h } from "./dom.js";
import { clock, words } from "./format.js";
import { iconButton } from "./parts.js";

const TICK = 450;
const WHOLE_PLAY = 120;

function lastLine(ctx) {
  return ctx.data.detail.last || 1;
}

/** Shows the state after a line; without one, the present. */
export function seek(ctx, line) {
  const url = new URL(location.href);
  if (line === null) url.searchParams.delete("at");
  else url.searchParams.set("at", Math.max(1, Math.min(lastLine(ctx), line)));
  ctx.go(url.pathname + url.search, { replace: Boolean(ctx.query.get("at")) && line !== null });
}

function here(ctx) {
  return Number(ctx.query.get("at")) || lastLine(ctx);
}

function step(ctx, by) {
  stop(ctx);
  seek(ctx, here(ctx) + by);
}

/** Starts or stops moving forward by itself. */
export function play(ctx) {
  if (ctx.state.playing) return stop(ctx);
  if (here(ctx) >= lastLine(ctx)) seek(ctx, 1);
  const by = Math.max(1, Math.round(lastLine(ctx) / WHOLE_PLAY));
  ctx.state.playing = setInterval(() => {
    if (here(ctx) >= lastLine(ctx)) {
      stop(ctx);
      ctx.draw();
    } else seek(ctx, here(ctx) + by);
  }, TICK);
  ctx.draw();
}

export function stop(ctx) {
  clearInterval(ctx.state.playing);
  ctx.state.playing = 0;
}

/** The bar, while an earlier line is shown or on the replay tab. */
export function bar(data, ctx) {
  if (!ctx.query.get("at") && ctx.name !== "replay") return null;
  const { line } = data;
  const at = here(ctx);
  const live = !ctx.query.get("at");
  return h(
    "div",
    { class: `replay-bar ${live ? "at-end" : ""}`, key: "replay-bar", role: "group", "aria-label": "Replay" },
    h(
      "div",
      { class: "replay-tools" },
      iconButton("prev", "Line before (←)", () => step(ctx, -1)),
      iconButton(ctx.state.playing ? "pause" : "play", ctx.state.playing ? "Pause (Space)" : "Play (Space)", () =>
        play(ctx),
      ),
      iconButton("next", "Line after (→)", () => step(ctx, 1)),
    ),
    h("input", {
      type: "range",
      min: 1,
      max: lastLine(ctx),
      value: String(at),
      "aria-label": "Line of the log",
      "aria-valuetext": `line ${at} of ${lastLine(ctx)}`,
      oninput: (event) => {
        stop(ctx);
        seek(ctx, Number(event.target.value));
      },
    }),
    h(
      "div",
      { class: "replay-text" },
      h("span", { class: "mono" }, `${at}/${lastLine(ctx)}`),
      line
        ? h(
            "span",
            { class: "clip", title: line.summary },
            h("span", { class: "faint" }, clock(line.at, true)),
            " ",
            line.event,
            " ",
            h("span", { class: "muted" }, words(line.summary)),
          )
        : h("span", { class: "faint" }, live ? "as it is now" : ""),
    ),
    h(
      "button",
      {
        type: "button",
        class: `button ${live ? "" : "primary"}`,
        disabled: live,
        onclick: () => {
          stop(ctx);
          seek(ctx, null);
        },
      },
      "Live",
    ),
  );
}

export function replayKeys(ctx) {
  if (!ctx.query.get("at") && ctx.name !== "replay")
    return { r: ["Replay from here", () => seek(ctx, lastLine(ctx))] };
  return {
    ArrowLeft: ["Line before", () => step(ctx, -1)],
    ArrowRight: ["Line after", () => step(ctx, 1)],
    " ": ["Play or pause", () => play(ctx)],
    l: [
      "Back to the present",
      () => {
        stop(ctx);
        seek(ctx, null);
      },
    ],
    Home: ["First line", () => seek(ctx, 1)],
    End: ["Last line", () => seek(ctx, lastLine(ctx))],
  };
}
