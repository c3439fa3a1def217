// The live stream: one EventSource, from a cursor, opened again wherever it broke off. A hidden tab holds no connection,
// since browsers allow only a few for each server; it goes on from its cursor when it is looked at again.
// What a line means for a view is the view's own business.

const ROOT = "/api/v1/events";
const LONGEST_WAIT = 10_000;
/** After this long out of sight, a view fetches what it shows instead of reading every line that it missed. */
const LONG_AWAY = 60_000;

let source = null;
let cursor = null;
let wanted = null;
let timer = 0;
let failures = 0;
let state = "off";
let left = 0;
const watchers = new Set();

/**
 * Follows what `filter` says ({run, kinds, deltas}); one at a time, the last one counts. Without a cursor the stream
 * begins at its end, and `resync` is called once it is open: what happened before is to be fetched.
 */
export function follow(filter, { line, delta, resync }) {
  const same = wanted && JSON.stringify(wanted.filter) === JSON.stringify(filter);
  wanted = { filter, line, delta, resync };
  if (same && source) return;
  if (!same) cursor = null;
  connect();
}

/** Calls with `live`, `waiting` or `off` whenever that changes. */
export function onState(call) {
  watchers.add(call);
  call(state);
}

function say(next) {
  if (state === next) return;
  state = next;
  for (const call of watchers) call(state);
}

function connect() {
  disconnect();
  if (document.hidden || !wanted) return;
  const { run, kinds, deltas } = wanted.filter;
  const query = new URLSearchParams();
  if (cursor !== null) query.set("after", cursor);
  if (run) query.set("run", run);
  if (kinds) query.set("kind", kinds.join(","));
  if (deltas) query.set("deltas", "1");
  const opened = new EventSource(`${ROOT}?${query}`);
  source = opened;
  const only = (handler) => (event) => {
    if (source !== opened) return;
    try {
      handler(JSON.parse(event.data), event);
    } catch (error) {
      console.error("stream", error);
    }
  };
  opened.addEventListener(
    "hello",
    only((data) => {
      failures = 0;
      say("live");
      if (cursor !== null) return;
      cursor = data.position;
      wanted.resync();
    }),
  );
  opened.addEventListener(
    "line",
    only((data) => {
      if (cursor !== null && data.position <= cursor) return;
      cursor = data.position;
      wanted.line(data);
    }),
  );
  opened.addEventListener(
    "delta",
    only((data) => wanted.delta && wanted.delta(data)),
  );
  opened.addEventListener(
    "lagged",
    only((data) => {
      if (Number.isInteger(data.after)) cursor = data.after;
      again(100);
    }),
  );
  opened.onerror = () => {
    if (source !== opened) return;
    failures += 1;
    say("waiting");
    again(Math.min(LONGEST_WAIT, 400 * 2 ** Math.min(failures, 6)) * (0.7 + Math.random() * 0.6));
  };
}

function again(wait) {
  disconnect();
  timer = setTimeout(connect, wait);
}

function disconnect() {
  clearTimeout(timer);
  if (source) source.close();
  source = null;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    left = Date.now();
    disconnect();
  } else if (wanted && !source) {
    if (Date.now() - left > LONG_AWAY) cursor = null;
    connect();
  }
});
addEventListener("online", () => {
  if (!source) connect();
});
addEventListener("pagehide", disconnect);
