// The service, spoken to over HTTP. Errors carry the service's own sentence.

const KEY = "windvane-token";

/** What the service refused, in its words. */
export class ServiceError extends Error {
  constructor(status, kind, detail) {
    super(detail);
    this.status = status;
    this.kind = kind;
  }
}

let prompt = null; // asks the person for a token; set by the page
let asking = null; // one question at a time, however many requests wait for it

function stored() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

let token = stored();

/** Whether a token is in use. */
export function hasToken() {
  return Boolean(token);
}

/** Take a token for this tab, or forget it with null. */
export function setToken(value) {
  token = value;
  try {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  } catch {
    // kept in memory only
  }
}

/** How to ask for a token when the service wants one: a function of its complaint, to a promise. */
export function onUnauthorised(ask) {
  prompt = ask;
}

/** The address of a study's part. */
export function pathOf(name, part = "") {
  return `/v1/studies/${encodeURIComponent(name)}${part}`;
}

/** A name for one intention, so that sending it twice does it once. */
export function intention() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function failure(response) {
  let kind = "Error";
  let detail = `the service answered ${response.status}`;
  try {
    const body = await response.json();
    kind = body.error ?? kind;
    if (typeof body.detail === "string") detail = body.detail;
  } catch {
    // not JSON: a proxy between us and the service, perhaps
  }
  return new ServiceError(response.status, kind, detail);
}

/** A response with status 2xx, or a ServiceError; asks for a token on 401 and tries again. */
export async function send(path, options = {}) {
  for (;;) {
    const headers = { ...options.headers };
    const used = token;
    if (used) headers.Authorization = `Bearer ${used}`;
    let response;
    try {
      response = await fetch(path, { ...options, headers, cache: "no-store" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServiceError(0, "Unreachable", "The service cannot be reached. Is windvane serve still running?");
    }
    if (response.ok) return response;
    const error = await failure(response);
    if (response.status !== 401 || !prompt) throw error;
    if (used === token) {
      asking ??= prompt(used ? error.message : null).finally(() => {
        asking = null;
      });
      await asking;
    }
  }
}

/** The JSON at a path. */
export async function get(path, signal) {
  return (await send(path, { signal })).json();
}

/** Post JSON; `key` makes a repetition harmless, so that a lost connection is tried once more. */
export async function post(path, body, key) {
  const headers = { "Content-Type": "application/json" };
  if (key) headers["Idempotency-Key"] = key;
  const request = { method: "POST", headers, body: JSON.stringify(body) };
  try {
    return await (await send(path, request)).json();
  } catch (error) {
    if (!key || error.status !== 0) throw error;
    return (await send(path, request)).json();
  }
}

/** Delete what is at a path. */
export async function remove(path) {
  await send(path, { method: "DELETE" });
}

/** Save what is at a path as a file; a plain link could not carry the token. */
export async function download(path, filename) {
  const blob = await (await send(path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
