// A list that only has the rows on the screen in the document, whatever its length. Rows are of one height; the list's own
// box scrolls, and the pages around what is visible are fetched when they come into view.

import { h } from "./dom.js";

const SPARE = 12;

/**
 * Draws rows `top..bottom` of `total`. `row(i)` returns a description with a key, or null where it is not there yet;
 * `missing(from, to)` is called with what has to be fetched.
 */
export function virtual(state, { total, height, label, row, missing, redraw, active }) {
  const top = Math.max(0, Math.floor((state.scroll || 0) / height) - SPARE);
  const bottom = Math.min(total, top + Math.ceil((state.view || 640) / height) + 2 * SPARE);
  const rows = [];
  let gap = null;
  for (let i = top; i < bottom; i += 1) {
    const one = row(i);
    if (!one && gap === null) gap = i;
    rows.push(
      h(
        "div",
        { key: i, class: "virtual-row", style: { top: `${i * height}px`, height: `${height}px` } },
        one || h("span", { class: "bone" }),
      ),
    );
  }
  if (gap !== null) queueMicrotask(() => missing(gap, bottom));
  return h(
    "div",
    {
      class: "virtual",
      tabindex: 0,
      role: "region",
      "aria-label": label,
      ref: (el) => {
        state.el = el;
        const measure = () => {
          state.view = el.clientHeight;
          redraw();
        };
        new ResizeObserver(measure).observe(el);
        if (active !== undefined && active !== null) reveal(state, active, height);
      },
      onscroll: (event) => {
        state.scroll = event.target.scrollTop;
        redraw();
      },
    },
    h("div", { class: "virtual-space", style: { height: `${total * height}px` } }, rows),
  );
}

/** Scrolls just far enough that a row is in view. */
export function reveal(state, index, height) {
  const { el } = state;
  if (!el) return;
  const at = index * height;
  if (at < el.scrollTop + height) el.scrollTop = Math.max(0, at - 2 * height);
  else if (at > el.scrollTop + el.clientHeight - 2 * height) el.scrollTop = at - el.clientHeight + 3 * height;
}
