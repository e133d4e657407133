// What a panel shows, a press of its question mark away, with a link to more: the page that every installation has, or
// into the documentation where the service has it.

import { h } from "./dom.js";

const MANUAL = "/static/reading-events.html"; // part of the package

/** By panel: what it is, the page of the documentation, and the part of the manual, where that has one. */
const TEXTS = {
  timeline: ["Every value that was told, with what was predicted for it before it was seen. Below, the test that decides about a reset: above the dashed threshold, older values that no longer hold are dropped, or moved to a new level. Where it is grey, too little is known for a test. At the bottom, how many values the model still uses.", "explanation/idea/", "the-fields"],
  posterior: ["What the model believes of the objective now, noise excluded. With more than two parameters it is a slice through the point believed best.", "explanation/ask-and-tell/"],
  optimum: ["The settings that were tried, and those believed best at the time, one row per parameter.", "explanation/idea/"],
  parallel: ["One line per point in use: where it crosses an axis is its value there. Strong lines are the good ones.", "how-to/service/"],
  beliefs: ["Explanations of how the objective behaves over time, with how much the data speak for each. They add up to 100 %. Point at a name to read what it means.", "how-to/reading-events/", "hypotheses-about-time"],
  explain: ["The last reset and why it happened, what is believed best now, and how far predictions could be relied on lately.", "how-to/reading-events/", "a-change"],
  outcomes: ["What is measured beside the objective and must stay within a limit: what is believed of it at the point believed best, and how often the limit was broken.", "how-to/keep-a-limit/", "constraints"],
  trials: ["Ask for a point, try it on your system, and enter what you measured. A comma may be a decimal comma; a number that could mean two things is refused.", "how-to/studies/"],
  log: ["Everything that happened, newest first. Nothing is ever rewritten: a correction is an entry of its own.", "how-to/hand-on-the-wheel/", "other-words"],
  alarms: ["Resets and violations of all studies, newest first. What you have acknowledged is a note of your own: this browser remembers it, others do not see it, and no webhook waits for it. The journal of a study has only what happened to the study.", "how-to/service/", "other-words"],
};

/** Where the documentation is, if the service has it. */
function documentation() {
  return document.querySelector("meta[name=documentation]")?.content ?? null;
}

/** A question mark that says what something is. */
export function help(what, name) {
  const [text, page, part] = TEXTS[what];
  const site = documentation();
  const more = site ? [`${site}${page}index.html`, "More in the documentation"] : part ? [`${MANUAL}#${part}`, "More in “Reading events”"] : null;
  const node = h("details", { class: "help", onkeydown: (event) => {
    if (event.key !== "Escape" || !node.open) return;
    node.open = false;
    node.querySelector("summary").focus();
  } }, h("summary", { "aria-label": `What is “${name}”?`, title: text }, "?"),
  h("p", {}, text, more ? " " : null, more ? h("a", { href: more[0] }, more[1]) : null));
  node.addEventListener("focusout", (event) => { if (!node.contains(event.relatedTarget)) node.open = false; });
  return node;
}

/** The heading of a panel, with its question mark. */
export function heading(what, name) {
  return h("div", { class: "heading" }, h("h2", { id: `${what}-title` }, name), help(what, name));
}
