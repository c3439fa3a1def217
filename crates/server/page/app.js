// Which view an address means, loading it, drawing it and keeping it up to date. A view is a module with
// {title, load, render} and optionally {wants, filter, delta, ticks, keys, leave, keeps}; it is fetched when it is first needed.
// Nothing here knows what a view shows.

import { h, patch, throttled, $ } from "./dom.js";
import { get, Problem } from "./api.js";
import * as live from "./live.js";
import { notify } from "./notify.js";
import * as keyboard from "./keys.js";
import { PLACES, drawShell, switchTheme } from "./shell.js";
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
const COUNTED = ["question.asked", "question.answered", "run.finished", "run.requested", "run.refused"];

const app = { me: null, questions: 0, counted: false, connection: "off", setQuestions };
let current = null;

/** The address without the parts that only belong to the browser. */
function route() {
  let path = location.pathname.replace(/(.)\/+$/, "$1");
  try {
    path = path.split("/").map(decodeURIComponent).join("/");
  } catch {
    /* shown as it is */
  }
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
  const ctx = (current = context(key, to));
  shell();
  if (!before || before.params.run !== to.params.run || !to.params.run) {
    setTimeout(
      () => {
        if (current === ctx && ctx.data === undefined && !ctx.error) patch($("#main"), skeleton());
      },
      before ? 150 : 0,
    );
  }
  if (to.view === "missing") {
    ctx.view = {
      title: () => "Not found",
      load: async () => null,
      render: () => [
        h("h1", { class: "hidden" }, "Not found"),
        empty("Page not found", h("a", { href: "/runs" }, "All runs")),
      ],
    };
  } else {
    try {
      const [module] = await Promise.all([import(`./views/${to.view}.js`), to.view === "inbox" ? null : styles()]);
      ctx.view = module.default;
    } catch (error) {
      ctx.view = unreachable(error);
    }
  }
  if (current !== ctx) return;
  const stays = before && before.view === ctx.view && ctx.view.keeps && before.params.run === to.params.run;
  if (stays) ctx.state = before.state;
  await ctx.refresh();
  if (current !== ctx) return;
  if (before && !stays) {
    scrollTo(0, 0);
    $("#main").focus({ preventScroll: true });
  }
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  $("#announce").textContent = document.title;
  listen(ctx);
  styles();
}

/** In place of a view whose module could not be fetched. Trying again loads the page anew. */
function unreachable(error) {
  console.error(error);
  let tried = false;
  const load = async () => {
    if (tried) location.reload();
    tried = true;
    throw new Problem(0, "The server cannot be reached", "This part of the page could not be fetched.");
  };
  return { title: () => "Error", load, render: () => null };
}

function leave(ctx) {
  ctx.abort.abort();
  ctx.gone = true;
  if (ctx.view && ctx.view.leave) ctx.view.leave(ctx);
}

/** What a view is given: where it is, its own state, and ways to load and draw again. */
function context(key, to) {
  const ctx = {
    key,
    name: to.view,
    params: to.params,
    query: to.query,
    app,
    state: {},
    data: undefined,
    error: null,
    abort: new AbortController(),
    go,
  };
  let busy = false;
  let more = false;
  ctx.get = (where) => get(where, { signal: ctx.abort.signal });
  ctx.draw = () => {
    if (current === ctx && ctx.view) draw(ctx);
  };
  ctx.refresh = async () => {
    if (busy) {
      more = true;
      return;
    }
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
  ctx.soon = throttled(() => {
    if (!ctx.gone) ctx.refresh();
  }, 300);
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
    patch(
      main,
      ctx.error
        ? failure(ctx.error, () => {
            ctx.refresh();
          })
        : skeleton(),
    );
    return;
  }
  const stale = ctx.error
    ? h(
        "div",
        { class: "stale", key: "stale", role: "alert" },
        "This may be out of date: ",
        ctx.error.title || String(ctx.error.message),
        " ",
        h("button", { class: "link", type: "button", onclick: () => ctx.refresh() }, "Try again"),
      )
    : null;
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
    resync: () => {
      if (current === ctx) {
        ctx.soon();
        counted();
      }
    },
    line: (line) => {
      if (line.event.startsWith("question.") || line.event === "run.finished") counted();
      if (line.event === "run.finished") notify(line.run, `Run ${line.run} ended: ${line.summary}`, `/runs/${line.run}`);
      if (current === ctx && wants && wants(line, ctx)) ctx.soon();
    },
    delta: (one) => {
      if (current === ctx && delta) delta(one, ctx);
    },
  });
}

const counted = throttled(async () => {
  try {
    const questions = await get("/questions");
    setQuestions(grouped(questions.items).length);
  } catch {
    /* the view says what is wrong */
  }
}, 1000);

/** How many questions are open, for the navigation and the title. */
function setQuestions(number) {
  if (number > app.questions && app.counted) {
    $("#announce").textContent = "New question";
    notify("questions", number === 1 ? "A question waits for you" : `${number} questions wait for you`, "/");
  }
  app.counted = true;
  if (app.questions === number) return;
  app.questions = number;
  shell();
  if (current) current.draw();
}

/** The stylesheet of everything but the first view; fetched once, before it is needed. */
let sheet = null;
function styles() {
  sheet ||= new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("views.css", import.meta.url).href;
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
  return sheet;
}

const shell = () => drawShell(app, current ? current.name : "");

/** A click on a link inside the page that the browser need not follow itself. */
function ours(event, link) {
  if (!link || event.button || event.defaultPrevented) return false;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  if (link.dataset.external !== undefined || link.target || link.origin !== location.origin) return false;
  return !link.getAttribute("href").startsWith("#");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!ours(event, link)) return;
  event.preventDefault();
  document.querySelector("details.more[open]")?.removeAttribute("open");
  go(link.pathname + link.search + link.hash);
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("details.more")) $("details.more[open]")?.removeAttribute("open");
});
addEventListener("popstate", show);
setInterval(() => {
  const ready = !document.hidden && current && current.data !== undefined;
  if (ready && current.view.ticks && current.view.ticks(current)) current.draw();
}, 1000);
// Without a stream, what is shown is fetched now and then.
setInterval(() => {
  const alone = app.connection === "waiting" && current && current.data !== undefined;
  if (alone && !document.hidden && !current.query.get("at")) current.soon();
}, 5000);
setInterval(() => {
  if (document.hidden || (current && current.params.run)) counted();
}, 30_000);
live.onState((state) => {
  app.connection = state;
  if (current) shell();
});
keyboard.start(
  {
    ...Object.fromEntries(PLACES.map(([, href, label, keys]) => [keys, [label, () => go(href)]])),
    t: ["Light or dark", switchTheme],
  },
  () =>
    current && current.view && current.data !== undefined && current.view.keys ? current.view.keys(current) : {},
);

get("/me").then(
  (me) => {
    app.me = me;
    shell();
    if (current) current.draw();
  },
  () => {},
);
// The inbox counts them itself.
if (route().view !== "inbox") counted();
show();
