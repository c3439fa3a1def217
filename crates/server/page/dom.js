// A small virtual DOM: `h` describes an element, `patch` makes a place look like a description and keeps every element
// that can stay, with its focus and scroll position. Text only ever becomes a text node: there is no way here to give a
// browser markup, a script or a style as a string.

const SVG = "http://www.w3.org/2000/svg";
const descriptions = new WeakMap();
const listeners = new WeakMap();

/** Describes an element. `props`: attributes, `class`, `style` (an object), `on…` functions, `key`, `ref`. */
export function h(tag, props, ...children) {
  const { key, ref, ...rest } = props || {};
  return { tag, key, ref, props: rest, children: flat(children, []) };
}

function flat(list, into) {
  for (const one of list) {
    if (Array.isArray(one)) flat(one, into);
    else if (one === null || one === undefined || one === false || one === true || one === "") continue;
    else if (typeof one === "object") into.push(one);
    else into.push({ text: String(one) });
  }
  return into;
}

/** Makes the children of an element look like the descriptions. */
export function patch(parent, ...children) {
  const next = flat(children, []);
  if (!descriptions.has(parent)) parent.replaceChildren();
  reconcile(parent, descriptions.get(parent) || [], next, parent.namespaceURI === SVG);
  descriptions.set(parent, next);
}

function reconcile(parent, old, next, svg) {
  const keyed = new Map();
  const plain = [];
  for (const node of old) {
    if (node.key !== undefined && node.key !== null) keyed.set(node.key, node);
    else plain.push(node);
  }
  const kept = new Set();
  let at = 0;
  for (const node of next) {
    const has = node.key !== undefined && node.key !== null;
    const before = has ? keyed.get(node.key) : plain[at++];
    if (before && !kept.has(before) && before.tag === node.tag) {
      kept.add(before);
      update(before, node, svg);
    } else {
      node.el = create(node, svg);
    }
  }
  for (const node of old) if (!kept.has(node)) node.el.remove();
  let cursor = parent.firstChild;
  for (const node of next) {
    if (node.el === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(node.el, cursor);
  }
  for (const node of next) {
    if (node.ref && !node.mounted) node.ref(node.el);
    node.mounted = true;
  }
}

function create(node, svg) {
  if (node.tag === undefined) return document.createTextNode(node.text);
  const inside = svg || node.tag === "svg";
  const el = inside ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  reconcile(el, [], node.children, inside);
  for (const [name, value] of Object.entries(node.props)) set(el, name, value, undefined);
  return el;
}

function update(before, node, svg) {
  const el = before.el;
  node.el = el;
  node.mounted = before.mounted;
  if (node.tag === undefined) {
    if (before.text !== node.text) el.data = node.text;
    return;
  }
  reconcile(el, before.children, node.children, svg || node.tag === "svg");
  for (const name of Object.keys(before.props)) {
    if (!(name in node.props)) set(el, name, undefined, before.props[name]);
  }
  for (const [name, value] of Object.entries(node.props)) {
    if (before.props[name] !== value) set(el, name, value, before.props[name]);
  }
}

function set(el, name, value, before) {
  if (name.startsWith("on")) return listen(el, name.slice(2), value);
  if (name === "style") return setStyle(el, value || {}, before || {});
  if (name === "value" || name === "checked" || (name === "open" && el.tagName === "DETAILS")) {
    if (value !== undefined && el[name] !== value) el[name] = value;
    return;
  }
  if (name === "srcdoc" || name === "innerHTML" || name === "outerHTML") return;
  if (name === "href" && value && !isOurs(value)) return;
  if (value === undefined || value === null || value === false) el.removeAttribute(name);
  else el.setAttribute(name, value === true ? "" : String(value));
}

/** Whether an address stays on this server: a link never leads elsewhere, whatever its text came from. */
function isOurs(address) {
  try {
    return new URL(address, location.href).origin === location.origin;
  } catch {
    return false;
  }
}

function setStyle(el, value, before) {
  for (const name of Object.keys(before)) if (!(name in value)) el.style.removeProperty(name);
  for (const [name, one] of Object.entries(value)) {
    if (before[name] !== one) el.style.setProperty(name, one);
  }
}

function listen(el, type, handler) {
  let all = listeners.get(el);
  if (!all) listeners.set(el, (all = {}));
  if (!(type in all)) el.addEventListener(type, (event) => all[type] && all[type](event));
  all[type] = handler || null;
}

/** An element by its selector, where a shell is known to have it. */
export const $ = (selector) => document.querySelector(selector);

/** Whether a person is typing in this element. */
export function typing(el) {
  return (
    el instanceof HTMLElement &&
    (el.isContentEditable ||
      (/^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName) && !["checkbox", "radio", "range", "button"].includes(el.type)))
  );
}

/** Calls a function at most once in `wait` milliseconds, and once more for what came in between. */
export function throttled(call, wait) {
  let timer = 0;
  let last = -Infinity;
  return () => {
    if (timer) return;
    const due = Math.max(0, last + wait - performance.now());
    timer = setTimeout(() => {
      timer = 0;
      last = performance.now();
      call();
    }, due);
  };
}

/** Calls a function once nothing has asked for it for `wait` milliseconds. */
export function settled(call, wait) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), wait);
  };
}
