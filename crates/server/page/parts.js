// Pieces that several views are made of: states, meters, tables, notices, dialogs, toasts. They show what they are given.

import { h, patch, $ } from "./dom.js";
import { icon, sign, tone } from "./icons.js";
import { ago, full, words } from "./format.js";
import { Problem } from "./api.js";

/** A link inside the page. */
export const link = (href, props, ...children) => h("a", { ...props, href }, ...children);

/** A state with its sign. */
export function badge(state, word) {
  return h("span", { class: `badge t-${tone(state)}` }, sign(state, 14), h("span", {}, words(word || state)));
}

/** A small label. */
export const chip = (text, kind = "", title) => h("span", { class: `chip ${kind}`, title }, text);

/** A time as its distance, with the whole time as its title. */
export const when = (at) => (at ? h("time", { datetime: at, title: full(at) }, ago(at)) : null);

/** A key cap. */
export const cap = (key) => h("kbd", { "aria-hidden": "true" }, key);

/** Nothing to show, and what that means. */
export function empty(title, ...more) {
  return h(
    "div",
    { class: "notice" },
    h("p", { class: "notice-title" }, title),
    more.length ? h("p", {}, ...more) : null,
  );
}

/** Lines in place of what is on its way. */
export function skeleton(rows = 6) {
  return h(
    "div",
    { class: "skeleton", role: "status", "aria-label": "Loading" },
    Array.from({ length: rows }, (_, i) => h("div", { class: "bone", style: { width: `${92 - ((i * 37) % 45)}%` } })),
  );
}

/** What went wrong, with the request's id, and a way to try again. */
export function failure(error, again) {
  const known = error instanceof Problem;
  if (known && error.status === 401) {
    return h(
      "div",
      { class: "notice bad", role: "alert" },
      h("h1", { class: "notice-title" }, "You are signed out"),
      h("p", {}, "The token of this browser is not valid any more. "),
      h("p", {}, h("a", { href: "/", "data-external": true, class: "button" }, "Enter a token")),
    );
  }
  const title = known ? error.title : "Something went wrong in the page";
  const detail = known ? error.detail : String((error && error.message) || error);
  return h(
    "div",
    { class: "notice bad", role: "alert" },
    h("h1", { class: "notice-title" }, title),
    detail ? h("p", {}, detail) : null,
    known && error.request ? h("p", { class: "faint mono" }, `request ${error.request}`) : null,
    again ? h("p", {}, h("button", { class: "button", type: "button", onclick: again }, "Try again")) : null,
  );
}

/** A bar with parts: [{share, kind, title}], shares of 1; `mark` is a line on it. */
export function meter(parts, label, mark) {
  return h(
    "div",
    { class: "meter", role: "img", "aria-label": label, title: label },
    parts.map((part) =>
      h("span", {
        class: `meter-part ${part.kind}`,
        title: part.title,
        style: { width: `${Math.max(0, Math.min(1, part.share || 0)) * 100}%` },
      }),
    ),
    mark !== undefined && mark !== null
      ? h("span", { class: "meter-mark", style: { left: `${Math.min(1, mark) * 100}%` } })
      : null,
  );
}

/** A figure with its name. */
export function figure(name, value, more) {
  return h(
    "div",
    { class: "figure" },
    h("dt", {}, name),
    h("dd", {}, value, more ? h("span", { class: "faint" }, " ", more) : null),
  );
}

/** A section with a heading. */
export function section(title, props, ...children) {
  const { aside, ...rest } = props || {};
  return h(
    "section",
    { ...rest, class: `section ${rest.class || ""}` },
    h(
      "div",
      { class: "section-head" },
      h("h2", {}, title),
      aside ? h("div", { class: "section-aside" }, aside) : null,
    ),
    ...children,
  );
}

/** A table: heads are [name, class, name that is not shown]; rows are {key, href, cells}. A row with an address is one link. */
export function table(caption, heads, rows, open) {
  return h(
    "div",
    {
      class: "table-wrap",
      ...(rows.some((row) => row.href) ? {} : { tabindex: 0, role: "region", "aria-label": caption }),
    },
    h(
      "table",
      {},
      h("caption", { class: "hidden" }, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map(([name, kind, unseen]) =>
            h("th", { scope: "col", class: kind }, name || h("span", { class: "hidden" }, unseen)),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {
              key: row.key,
              class: row.class,
              ...(row.href
                ? {
                    "data-row": true,
                    tabindex: 0,
                    onclick: (event) => {
                      if (!event.target.closest("a,button,input")) open(row.href);
                    },
                  }
                : {}),
            },
            row.cells.map((cell, i) => h("td", { class: heads[i][1], "data-head": heads[i][0] }, cell)),
          ),
        ),
      ),
    ),
  );
}

/** Says something for a moment, also to a screen reader. */
export function toast(text, kind = "") {
  const place = $("#toasts");
  const item = document.createElement("div");
  item.className = `toast ${kind}`;
  item.textContent = text;
  place.append(item);
  setTimeout(() => item.remove(), kind === "bad" ? 9000 : 4000);
}

/** Says what failed. */
export function complain(error) {
  toast(
    error instanceof Problem
      ? [error.title, error.detail].filter(Boolean).join(": ")
      : String(error.message || error),
    "bad",
  );
}

/** Asks before something that cannot be taken back. Resolves to the form's values, or to null. */
export function confirm({ title, body, action, danger, fields = [] }) {
  return new Promise((resolve) => {
    const box = document.createElement("dialog");
    box.setAttribute("aria-labelledby", "dialog-title");
    document.body.append(box);
    const done = (value) => {
      box.close();
      box.remove();
      resolve(value);
    };
    patch(
      box,
      h(
        "form",
        {
          method: "dialog",
          onsubmit: (event) => {
            event.preventDefault();
            const values = {};
            for (const field of fields) {
              const el = event.target.elements[field.name];
              values[field.name] = field.type === "checkbox" ? el.checked : el.value;
            }
            done(values);
          },
        },
        h("h2", { id: "dialog-title" }, title),
        [].concat(body || []).map((one) => h("p", {}, one)),
        fields.map(fieldRow),
        h(
          "div",
          { class: "dialog-foot" },
          h("button", { type: "button", class: "button quiet", onclick: () => done(null) }, "Back"),
          h("button", { type: "submit", class: `button ${danger ? "danger" : "primary"}` }, action),
        ),
      ),
    );
    box.addEventListener("cancel", (event) => {
      event.preventDefault();
      done(null);
    });
    box.showModal();
  });
}

/** One labelled field of a form. */
export function fieldRow(field) {
  const id = `f-${field.name}`;
  const common = {
    id,
    name: field.name,
    required: field.required,
    placeholder: field.placeholder,
    oninput: field.oninput,
    onchange: field.onchange,
    autocomplete: "off",
    "aria-describedby": field.hint ? `${id}-hint` : undefined,
  };
  let control;
  if (field.options) {
    control = h(
      "select",
      { ...common },
      field.options.map(([value, text]) => h("option", { value, selected: value === field.value }, text)),
    );
  } else if (field.type === "area") {
    control = h("textarea", { ...common, rows: field.rows || 4, value: field.value, autofocus: field.autofocus });
  } else {
    control = h("input", {
      ...common,
      type: field.type || "text",
      value: field.type === "checkbox" ? undefined : field.value,
      checked: field.checked,
      inputmode: field.inputmode,
      list: field.list,
      autofocus: field.autofocus,
    });
  }
  return h(
    "div",
    { class: `field ${field.type === "checkbox" ? "field-check" : ""} ${field.class || ""}`, key: field.name },
    h("label", { for: id }, field.label),
    control,
    field.hint ? h("p", { class: "hint", id: `${id}-hint` }, field.hint) : null,
  );
}

/** A button with a sign only. */
export const iconButton = (name, label, onclick, more) =>
  h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...more },
    icon(name),
  );

/** A field to search with; `/` goes there. */
export function searchBox(label, value, oninput) {
  const field = { type: "search", "data-search": true, "aria-label": label, placeholder: label, value };
  return h(
    "div",
    { class: "search" },
    icon("search"),
    h("input", { ...field, oninput: (event) => oninput(event.target.value) }),
    h("kbd", {}, "/"),
  );
}

/** Links of which one is where the person is: [address, label, whether it is]. */
export function segments(label, items) {
  const one = ([href, text, on]) => h("a", { key: href, href, "aria-current": on ? "true" : undefined }, text);
  return h("nav", { class: "segments", "aria-label": label }, items.map(one));
}

/** A list of lines in a box. */
export const boxed = (items) => h("ul", { class: "checks panel" }, items);

/** Sentences with a dot each. */
export const sentences = (texts) =>
  h(
    "ul",
    { class: "seen" },
    texts.map((text, i) => h("li", { key: i }, text)),
  );
