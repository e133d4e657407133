// The door: who is asking, which page, which theme.

import { showAlarms } from "./alarms.js";
import { get, hasToken, onUnauthorised, setToken } from "./api.js";
import { askToken } from "./dialogs.js";
import { h } from "./dom.js";
import { showHome } from "./home.js";
import { showStudy } from "./study.js";

const ALARMS = "/?view=alarms";
const THEMES = ["auto", "light", "dark"];

function setUpTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const show = () => {
    const current = root.dataset.theme ?? "auto";
    button.textContent = `Theme: ${current}`;
    button.setAttribute("aria-label", `Theme: ${current}. Press to change.`);
  };
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "auto") + 1) % THEMES.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem("windvane-theme", next);
    } catch {
      // then it holds for this page only
    }
    show();
    document.dispatchEvent(new Event("windvane-theme"));
  });
  show();
}

function setUpAccess(session) {
  const access = document.getElementById("access");
  access.hidden = session.scopes.includes("write");
  access.textContent = "read-only token";
  const forget = document.getElementById("forget");
  forget.hidden = !(session.authentication && hasToken());
  forget.addEventListener("click", () => {
    setToken(null);
    location.reload();
  });
}

function trail(name, alarms) {
  document.getElementById("trail").replaceChildren(
    h("a", { href: "/", "aria-current": name === null && !alarms ? "page" : null }, "Studies"),
    h("a", { href: ALARMS, "aria-current": alarms ? "page" : null }, "Alarms"),
    ...(name === null ? [] : [h("span", { "aria-hidden": "true" }, "/"), h("span", { class: "trail-name", "aria-current": "page" }, name)]),
  );
}

/** The study in the address, or null on the page of all. */
function named() {
  const match = location.pathname.match(/^\/studies\/(.+?)\/?$/);
  if (!match) return null;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return match[1]; // a stray % sign: no such study, and the service says so
  }
}

async function start() {
  const main = document.getElementById("main");
  const name = named();
  setUpTheme();
  const alarms = name === null && new URLSearchParams(location.search).get("view") === "alarms";
  trail(name, alarms);
  document.title = `${name ?? (alarms ? "Alarms" : "Studies")} · Windvane`;
  onUnauthorised(async (problem) => setToken(await askToken(problem)));
  try {
    const session = get("/v1/session"); // what the page shows is asked for at the same time
    const shown = alarms ? showAlarms(main) : name === null ? showHome(main, session) : showStudy(main, name, session);
    session.then(setUpAccess, () => {}); // whoever waits for it says what is wrong
    await shown;
  } catch (error) {
    const missing = error.status === 404;
    main.replaceChildren(h("section", { class: "panel lesson" },
      h("h1", {}, missing ? "There is no such study" : "This did not work"),
      h("p", { class: "complaint", role: "alert" }, error.message),
      h("p", {}, h("a", { href: "/" }, "All studies"), missing ? "" : " · ", missing ? "" : h("a", { href: location.href }, "Try again"))));
  }
}

start();
