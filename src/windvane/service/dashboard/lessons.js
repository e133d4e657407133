// Empty states that teach: the same thing from a shell.

import { h } from "./dom.js";

/** The shell's single quotes around any text. */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command for each [title, method, path, body]. */
export function curl(session, requests) {
  return h("dl", { class: "lessons" }, requests.flatMap(([title, method, path, body]) => {
    const token = session.authentication ? ` \\\n  -H "Authorization: Bearer $WINDVANE_TOKEN"` : "";
    const command = `curl -X ${method} ${quoted(location.origin + path)}${token} \\\n  -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
    return [h("dt", {}, title), h("dd", {}, h("pre", { tabindex: 0, "aria-label": `${title}, as a command` }, h("code", {}, command)))];
  }));
}
