// The shell: which view an address means, loading it, keeping it up to date, and the navigation around it.
// A view is a module with {title, load, render} and optionally {wants, filter, keys, leave}; it is fetched when it is
// first needed. The shell knows nothing about what a view shows.

import { h, patch, throttled, $ } from "./dom.js";
import { get } from "./api.js";
import * as live from "./live.js";
import * as keyboard from "./keys.js";
import { icon } from "./icons.js";
import { grouped } from "./question.js";
import { complain, empty, failure, skeleton } from "./parts.js";

const ROUTES = [
  [/^\/(?:inbox)?$/, "inbox"],
  [/^\/runs$/, "runs"],
  [/^\/new$/, "new"],
  [/^\/runs\/([^/]+)$/, "run", ["run"]],
  [/^\/runs\/([^/]+)\/tasks\/([^/]+)$/, "task", ["run", "task"]],
  [/^\/runs\/([^/]+)\/why\/([^/]+)$/, "why", ["run", "place"]],
  [/^\/runs\/([^/]+)\/(timeline|review|gate|why|money|replay|spec|proof)$/, null, ["run"]],
  [/^\/(projects|stats|policies|models|users|chat)$/, null],
  [/^\/policies\/([^/]+)$/, "policies", ["name"]],
  [/^\/chat\/([^/]+)$/, "chat", ["session"]],
];
const PLACES = [
  ["inbox", "/", "Inbox", "g i"], ["runs", "/runs", "Runs", "g r"], ["new", "/new", "New run", "g n"],
  ["chat", "/chat", "Chat", "g c"], ["projects", "/projects", "Projects", "g p"], ["stats", "/stats", "Stats", "g s"],
  ["policies", "/policies", "Policies", "g o"], ["models", "/models", "Models", "g m"], ["users", "/users", "Users", "g u"],
];
const COUNTED = ["question.asked", "question.answered", "run.finished", "run.requested", "run.refused"];

const app = { me: null, questions: 0, counted: false, connection: "off", setQuestions };
let current = null;

/** The address without the parts that only belong to the browser. */
function route() {
  let path = location.pathname.replace(/(.)\/+$/, "$1");
  try { path = path.split("/").map(decodeURIComponent).join("/"); } catch { /* shown as it is */ }
  for (const [pattern, name, params = []] of ROUTES) {
    const found = pattern.exec(path);
    if (!found) continue;
    const values = Object.fromEntries(params.map((key, i) => [key, found[i + 1]]));
    return { view: name || found[found.length - 1], params: values, query: new URLSearchParams(location.search) };
  }
  return { view: "missing", params: {}, query: new URLSearchParams() };
}

/** Goes to an address inside the page. `replace` leaves no entry in the history. */
function go(href, { replace = false } = {}) {
  if (href === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"]({}, "", href);
  show();
}

async function show() {
  const to = route();
  const key = `${to.view} ${JSON.stringify(to.params)}`;
  if (current && current.key === key) {
    current.query = to.query;
    shell();
    return current.refresh();
  }
  if (current) leave(current);
  const before = current;
  const ctx = current = context(key, to);
  shell();
  if (!before || before.params.run !== to.params.run || !to.params.run) {
    setTimeout(() => { if (current === ctx && !ctx.view) patch($("#main"), skeleton()); }, before ? 150 : 0);
  }
  if (to.view === "missing") {
    ctx.view = { title: () => "Not found", load: async () => null, render: () => [h("h1", { class: "hidden" }, "Not found"), empty("There is nothing at this address", h("a", { href: "/runs" }, "All runs"))] };
  } else {
    try {
      ctx.view = (await import(`./views/${to.view}.js`)).default;
    } catch (error) {
      ctx.view = { title: () => "Error", load: async () => { throw error; }, render: () => null };
    }
  }
  if (current !== ctx) return;
  await ctx.refresh();
  if (current !== ctx) return;
  if (before) { scrollTo(0, 0); $("#main").focus({ preventScroll: true }); }
  $("#announce").textContent = document.title;
  listen(ctx);
}

function leave(ctx) {
  ctx.abort.abort();
  ctx.gone = true;
  if (ctx.view && ctx.view.leave) ctx.view.leave(ctx);
}

/** What a view is given: where it is, its own state, and ways to load and draw again. */
function context(key, to) {
  const ctx = { key, name: to.view, params: to.params, query: to.query, app, state: {}, data: undefined, error: null, abort: new AbortController(), go };
  let busy = false;
  let more = false;
  ctx.get = (where) => get(where, { signal: ctx.abort.signal });
  ctx.draw = () => { if (current === ctx && ctx.view) draw(ctx); };
  ctx.refresh = async () => {
    if (busy) { more = true; return; }
    busy = true;
    try {
      do {
        more = false;
        ctx.data = await ctx.view.load(ctx);
        ctx.error = null;
      } while (more && !ctx.gone);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!error.status && error.status !== 0) console.error(error);
      ctx.error = error;
    } finally {
      busy = false;
    }
    ctx.draw();
  };
  ctx.soon = throttled(() => { if (!ctx.gone) ctx.refresh(); }, 300);
  ctx.redraw = throttled(() => ctx.draw(), 60);
  /** Does something on the server; tells the person if it fails. */
  ctx.act = async (promise) => {
    try {
      const answer = await promise;
      await ctx.refresh();
      return answer ?? true;
    } catch (error) {
      complain(error);
      return null;
    }
  };
  return ctx;
}

function draw(ctx) {
  const title = ctx.data === undefined ? "" : ctx.view.title(ctx);
  const waiting = app.questions ? `(${app.questions}) ` : "";
  document.title = `${waiting}${title ? `${title} · ` : ""}Bosun`;
  const main = $("#main");
  main.className = `view-${ctx.name}`;
  if (ctx.data === undefined) {
    patch(main, ctx.error ? failure(ctx.error, () => { ctx.refresh(); }) : skeleton());
    return;
  }
  const stale = ctx.error ? h("div", { class: "stale", key: "stale", role: "alert" }, "This may be out of date: ",
    ctx.error.title || String(ctx.error.message), " ", h("button", { class: "link", type: "button", onclick: () => ctx.refresh() }, "Try again")) : null;
  try {
    patch(main, stale, ctx.view.render(ctx.data, ctx));
  } catch (error) {
    console.error(error);
    patch(main, failure(error));
  }
}

function listen(ctx) {
  const { filter, wants, delta } = ctx.view;
  live.follow(filter ? filter(ctx) : { kinds: COUNTED }, {
    resync: () => { if (current === ctx) { ctx.soon(); counted(); } },
    line: (line) => {
      if (line.event.startsWith("question.") || line.event === "run.finished") counted();
      if (current === ctx && wants && wants(line, ctx)) ctx.soon();
    },
    delta: (one) => { if (current === ctx && delta) delta(one, ctx); },
  });
}

const counted = throttled(async () => {
  try {
    const questions = await get("/questions");
    setQuestions(grouped(questions.items).length);
  } catch { /* the view says what is wrong */ }
}, 1000);

/** How many questions are open, for the navigation and the title. */
function setQuestions(number) {
  if (number > app.questions && app.counted) $("#announce").textContent = "A question came up";
  app.counted = true;
  if (app.questions === number) return;
  app.questions = number;
  shell();
  if (current) current.draw();
}

function shell() {
  const here = current ? current.name : "";
  const within = { run: "runs", task: "runs", timeline: "runs", review: "runs", gate: "runs", why: "runs", money: "runs", replay: "runs", spec: "runs", proof: "runs" };
  const at = within[here] || here;
  const admin = app.me && app.me.role === "admin";
  const viewer = app.me && app.me.role === "viewer";
  const shown = PLACES.filter(([name]) => (name !== "users" || admin) && (name !== "new" || !viewer));
  const item = ([name, href, label, keys]) => h("a", { key: name, href, class: "place", "aria-current": at === name ? "page" : undefined, title: `${label} (${keys})` },
    icon(name), h("span", {}, label), name === "inbox" && app.questions ? h("span", { class: "count", "aria-label": `${app.questions} open` }, app.questions) : null);
  patch($("#side"),
    h("a", { class: "brand", href: "/" }, h("img", { src: "/page/icon.svg", alt: "", width: 22, height: 22 }), h("span", {}, "Bosun")),
    h("nav", { class: "places", "aria-label": "Places" }, shown.map(item)),
    h("div", { class: "side-foot" },
      h("span", { class: `connection ${app.connection}`, role: "status", title: CONNECTION[app.connection] }, h("span", { class: "dot" }), h("span", {}, CONNECTION[app.connection])),
      h("div", { class: "side-tools" },
        app.me ? h("span", { class: "who", title: `${app.me.name}, ${app.me.role}` }, app.me.name, h("span", { class: "faint" }, ` ${app.me.role}`)) : null,
        h("button", { class: "icon-button", type: "button", "aria-label": "Light or dark", title: "Light or dark (t)", onclick: switchTheme }, icon("theme")),
        h("button", { class: "icon-button", type: "button", "aria-label": "Keys", title: "Keys (?)", onclick: keyboard.help }, icon("help")))));
  const bottom = shown.filter(([name]) => ["inbox", "runs", "new", "chat"].includes(name));
  patch($("#tabbar"), bottom.map(item), h("details", { class: "more" }, h("summary", { class: "place" }, icon("more"), h("span", {}, "More")),
    h("div", { class: "sheet" }, shown.filter((one) => !bottom.includes(one)).map(item),
      h("button", { class: "place", type: "button", onclick: switchTheme }, icon("theme"), h("span", {}, "Light or dark")))));
}

const CONNECTION = { live: "Live", waiting: "Reconnecting", off: "Connecting" };

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* chosen for this page only */ }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.defaultPrevented) return;
  if (link.dataset.external !== undefined || link.target || link.origin !== location.origin || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  document.querySelector("details.more[open]")?.removeAttribute("open");
  go(link.pathname + link.search + link.hash);
});
addEventListener("popstate", show);
setInterval(() => { if (!document.hidden && current && current.view && current.view.ticks && current.data !== undefined && current.view.ticks(current)) current.draw(); }, 1000);
setInterval(() => { if (document.hidden || (current && current.params.run)) counted(); }, 30_000);
live.onState((state) => { app.connection = state; if (current) shell(); });
keyboard.start({
  ...Object.fromEntries(PLACES.map(([, href, label, keys]) => [keys, [label, () => go(href)]])),
  t: ["Light or dark", switchTheme],
}, () => (current && current.view && current.data !== undefined && current.view.keys ? current.view.keys(current) : {}));

get("/me").then((me) => { app.me = me; shell(); if (current) current.draw(); }, () => {});
counted();
show();
