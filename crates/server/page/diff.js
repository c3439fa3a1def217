// One file of a diff: hunks, rows with their line numbers and syntax classes, and the comments under their lines.
// What a comment means and where it is sent is up to the view.

import { h } from "./dom.js";
import { plural } from "./format.js";
import { chip, iconButton, when } from "./parts.js";

const CLASSES = { k: "syn-k", s: "syn-s", c: "syn-c", n: "syn-n" };
const KINDS = { "+": "add", "-": "cut", " ": "same" };
/** Longer files, and files after so many, are folded until somebody unfolds them. */
const MOST_ROWS = 1500;
const MOST_OPEN = 30;
const rowsOf = (file) => (file.hunks || []).reduce((sum, hunk) => sum + hunk.rows.length, 0);

/** The place of a file in the page, for links. */
export const fileId = (path) => `f-${encodeURIComponent(path).replaceAll("%", "_")}`;

export function diffFile(file, review) {
  const { state } = review.ctx;
  const folded = (state.folded ||= {});
  const closed = folded[file.path] ?? (review.index >= MOST_OPEN || rowsOf(file) > MOST_ROWS);
  return h(
    "section",
    { class: "diff-file panel", key: file.path, id: fileId(file.path), "aria-label": file.path },
    h(
      "header",
      { class: "diff-head", tabindex: 0 },
      iconButton(
        closed ? "next" : "prev",
        closed ? "Unfold" : "Fold",
        () => {
          folded[file.path] = !closed;
          review.ctx.draw();
        },
        { class: `icon-button fold ${closed ? "" : "down"}`, "aria-expanded": String(!closed) },
      ),
      h("span", { class: "mono clip grow" }, file.old_path ? `${file.old_path} → ${file.path}` : file.path),
      file.status && file.status !== "modified"
        ? chip(file.status, file.status === "added" ? "good" : file.status === "deleted" ? "bad" : "")
        : null,
      h("span", { class: "t-good" }, `+${file.added || 0}`),
      h("span", { class: "t-bad" }, `−${file.removed || 0}`),
      review.may
        ? iconButton("comment", "Comment on the file", () => review.open(null), { class: "icon-button line-comment" })
        : null,
    ),
    closed
      ? null
      : [
          notes(file, null, review),
          file.binary ? h("p", { class: "faint pad" }, "A binary file.") : body(file, review),
        ],
  );
}

function body(file, review) {
  const out = [];
  for (const hunk of file.hunks || []) {
    out.push(h("div", { class: "hunk", key: hunk.header }, hunk.header));
    hunk.rows.forEach((row, i) => {
      out.push(lineRow(file, row, `${hunk.header} ${i}`, review));
      if (row.new) out.push(...notes(file, row.new, review));
    });
  }
  if (file.left_out)
    out.push(h("p", { class: "faint pad", key: "left" }, `${plural(file.left_out, "more row")}; see git.`));
  return h("div", { class: "diff-body" }, out);
}

function lineRow(file, row, key, review) {
  const said = row.kind === "+" ? "added" : row.kind === "-" ? "removed" : "unchanged";
  return h(
    "div",
    {
      key,
      class: `diff-line ${KINDS[row.kind] || "same"}`,
      tabindex: -1,
      "aria-label": `${said} line ${row.new ?? row.old}`,
    },
    h("span", { class: "ln" }, row.old ?? ""),
    row.new && review.may
      ? h(
          "button",
          {
            type: "button",
            tabindex: -1,
            class: "ln line-comment",
            title: "Comment on this line",
            "aria-label": `Comment on line ${row.new}`,
            onclick: () => review.open(row.new),
          },
          row.new,
        )
      : h("span", { class: "ln" }, row.new ?? ""),
    h("span", { class: "mark", "aria-hidden": "true" }, row.kind === " " ? "" : row.kind === "-" ? "−" : "+"),
    h(
      "code",
      {},
      (row.spans || []).map((span, i) =>
        CLASSES[span.class] ? h("span", { key: i, class: CLASSES[span.class] }, span.text) : { text: span.text },
      ),
    ),
  );
}

/** Comments under a line, and the form of the one that is being written. */
function notes(file, line, review) {
  const here = review.comments
    .filter((one) => (one.line || null) === line)
    .map((one) =>
      h(
        "div",
        { class: "comment", key: `n${one.n}` },
        h(
          "div",
          { class: "comment-head" },
          h("strong", {}, one.by || "you"),
          h("span", { class: "faint" }, one.task, " ", when(one.at)),
          h("span", { class: "grow" }),
          review.may ? iconButton("close", "Delete the comment", () => review.remove(one)) : null,
        ),
        h("p", {}, one.text),
      ),
    );
  const { draft } = review.ctx.state;
  if (draft && draft.path === file.path && (draft.line || null) === line) here.push(form(draft, review));
  return here;
}

function form(draft, review) {
  const close = () => {
    review.ctx.state.draft = null;
    review.ctx.draw();
  };
  return h(
    "form",
    {
      class: "comment comment-form",
      key: "draft",
      onsubmit: (event) => {
        event.preventDefault();
        review.send();
      },
    },
    h("textarea", {
      rows: 3,
      autofocus: true,
      "aria-label": "Comment",
      placeholder: "What should be different?",
      value: draft.text,
      oninput: (event) => {
        draft.text = event.target.value;
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          review.send();
        }
        if (event.key === "Escape") {
          event.preventDefault();
          event.stopPropagation();
          close();
        }
      },
    }),
    h(
      "div",
      { class: "comment-foot" },
      h("span", { class: "faint" }, `for ${draft.task}`),
      h("span", { class: "grow" }),
      h("button", { class: "button quiet", type: "button", onclick: close }, "Back"),
      h("button", { class: "button primary", type: "submit", title: "Ctrl+Enter" }, "Comment"),
    ),
  );
}
