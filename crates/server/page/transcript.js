// A conversation, entry by entry: what was said, called and answered. Entries are text from models and repositories and are
// shown as text. Long conversations come in pages; the browser skips drawing what is out of sight.

import { h } from "./dom.js";
import { get } from "./api.js";
import { icon } from "./icons.js";
import { clock, full, plural } from "./format.js";

const LONG = 1200;
const PAGE = 200;
const NAMES = { system: "system prompt", start: "task" };
const FOLDED = ["system", "thinking"];

/** Keeps the entries of one conversation; `more` fetches what is not there yet. */
export class Conversation {
  constructor(where, ctx) {
    Object.assign(this, {
      where,
      ctx,
      items: [],
      next: null,
      ended: false,
      busy: null,
      error: null,
      live: new Map(),
      open: new Set(),
    });
  }

  /** Fetches until the end of what is recorded, or one page. */
  more(whole = false) {
    this.busy ||= this.read(whole).finally(() => {
      this.busy = null;
    });
    return this.busy;
  }

  async read(whole) {
    try {
      do {
        const after = this.items.length ? this.items[this.items.length - 1].seq : 0;
        const page = await get(this.where({ after, limit: PAGE }), { signal: this.ctx.abort.signal });
        const known = new Set(this.items.slice(-PAGE).map(keyOf));
        this.items.push(...page.items.map(numbered()).filter((one) => one.seq > after && !known.has(keyOf(one))));
        this.next = page.next;
        this.error = null;
        if (!page.items.length) break;
      } while (whole && this.next);
    } catch (error) {
      if (error.name !== "AbortError") this.error = error;
    }
    this.ctx.redraw();
  }

  /** Text on its way; it is replaced by the recorded entry. */
  delta(one) {
    const id = `${one.call ?? ""} ${one.kind}`;
    const before = this.live.get(id) || { kind: one.kind, text: "" };
    this.live.set(id, { kind: one.kind, text: (before.text + one.text).slice(-20_000) });
    this.ctx.redraw();
  }

  recorded() {
    this.live.clear();
  }
}

/** Several entries may come from one line; they are told apart by their place in it. */
function numbered() {
  const seen = new Map();
  return (one) => {
    const n = (seen.get(one.seq) || 0) + 1;
    seen.set(one.seq, n);
    return { ...one, n };
  };
}
const keyOf = (one) => `${one.seq} ${one.n}`;

export function transcript(talk) {
  const { items, live } = talk;
  return h(
    "div",
    { class: "transcript" },
    items.map((one) => entry(one, talk)),
    [...live.entries()].map(([id, one]) =>
      h(
        "div",
        {
          key: `live ${id}`,
          class: `entry e-${one.kind === "output" ? "result" : "model"} streaming`,
          "aria-hidden": "true",
        },
        h("div", { class: "entry-head" }, h("span", { class: "pulse" }), h("strong", {}, one.kind)),
        h("pre", { class: "entry-text" }, one.text),
      ),
    ),
    talk.error
      ? h(
          "p",
          { class: "t-bad" },
          talk.error.message,
          " ",
          h("button", { type: "button", class: "link", onclick: () => talk.more() }, "Try again"),
        )
      : null,
    talk.next
      ? h(
          "button",
          { key: "more", type: "button", class: "button", onclick: () => talk.more() },
          "More of the conversation",
        )
      : null,
    !items.length && !talk.error ? h("p", { class: "faint" }, talk.busy ? "Loading …" : "No messages yet.") : null,
  );
}

function entry(one, talk) {
  const id = keyOf(one);
  const text = one.text || "";
  const open = talk.open.has(id);
  const folds = FOLDED.includes(one.kind);
  const long = text.length > LONG;
  const toggle = () => {
    if (open) talk.open.delete(id);
    else talk.open.add(id);
    talk.ctx.draw();
  };
  const shown = open ? text : folds ? "" : long ? `${text.slice(0, LONG)} …` : text;
  return h(
    "div",
    { key: id, class: `entry e-${one.kind} ${one.failed ? "failed" : ""}` },
    h(
      "div",
      { class: "entry-head" },
      h("strong", {}, NAMES[one.kind] || one.kind),
      h("span", { class: "mono clip" }, one.title || ""),
      one.failed ? h("span", { class: "t-bad" }, "failed") : null,
      h("span", { class: "grow" }),
      folds || long
        ? h(
            "button",
            { type: "button", class: "link", "aria-expanded": String(open), onclick: toggle },
            open ? "show less" : folds ? `${plural(text.split("\n").length, "line")}` : "show all",
          )
        : null,
      h("time", { class: "faint", title: full(one.at) }, clock(one.at, true)),
    ),
    shown ? h("pre", { class: "entry-text" }, shown) : null,
    one.left_out
      ? h("p", { class: "faint" }, icon("more", 12), ` ${one.left_out} more characters are in the log`)
      : null,
  );
}
