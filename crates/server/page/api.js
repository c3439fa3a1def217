// Requests to the API. Answers are parsed JSON; whatever goes wrong is a `Problem` with words for a person.
// It keeps nothing and retries nothing.

const ROOT = "/api/v1";

/** A problem document, or the same made up for a connection that failed. */
export class Problem extends Error {
  constructor(status, title, detail, request) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail || "";
    this.request = request || "";
  }
}

/** `/runs/r_1?at=3` from parts and a query; empty values are left out. */
export function path(parts, query = {}) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") asked.set(name, value);
  }
  const end = asked.toString();
  return `/${parts.map(encodeURIComponent).join("/")}${end ? `?${end}` : ""}`;
}

async function ask(method, where, body, options = {}) {
  const headers = { accept: "application/json" };
  if (method !== "GET") headers["x-bosun"] = "1";
  if (body !== undefined) headers["content-type"] = "application/json";
  if (options.once) headers["idempotency-key"] = options.once;
  let answer;
  try {
    answer = await fetch(ROOT + where, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      signal: options.signal,
      redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server cannot be reached", "It was stopped, or the connection is gone.");
  }
  const text = await answer.text();
  if (!answer.ok) throw problem(answer, text);
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(answer.status, "The answer cannot be read", "It is not JSON.");
  }
}

function problem(answer, text) {
  try {
    const said = JSON.parse(text);
    return new Problem(answer.status, said.title || answer.statusText, said.detail, said.request_id);
  } catch {
    return new Problem(answer.status, answer.statusText || `Status ${answer.status}`, "");
  }
}

export const get = (where, options) => ask("GET", where, undefined, options);
export const post = (where, body, options) => ask("POST", where, body ?? {}, options);
export const del = (where, options) => ask("DELETE", where, undefined, options);

/** All pages of a list, up to `most` items. */
export async function all(parts, query = {}, most = 2000, options) {
  const items = [];
  let cursor;
  do {
    const page = await get(path(parts, { ...query, cursor }), options);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor && items.length < most);
  return items;
}

/** A key under which a repeated request is answered, not repeated. */
export function onceKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}
