// All studies at a glance: a rack of instruments, the liveliest on top.

import { get, pathOf, remove } from "./api.js";
import { createStudy } from "./create.js";
import { confirmed } from "./dialogs.js";
import { arrange, complaint, h, setText } from "./dom.js";
import { ago, count, plural } from "./format.js";
import { curl } from "./lessons.js";
import { describeConstraints } from "./limits.js";
import { describe } from "./space.js";
import { Spark } from "./spark.js";

const EVERY = 3000; // ms between looks at the list

class Row {
  constructor(summary, writable, changed) {
    this.spark = new Spark(summary.name);
    const figure = (label) => {
      const value = h("span", { class: "figure" });
      return { value, node: h("div", { class: "cell" }, h("span", { class: "cell-label" }, label), value) };
    };
    this.figures = { tells: figure("tells"), resets: figure("resets"), size: figure("in use"), pending: figure("waiting"), last: figure("last event") };
    const end = h("button", { type: "button", class: "quiet row-delete", "aria-label": `Delete ${summary.name}`, onclick: async () => {
      const text = `“${summary.name}” and its ${plural(this.summary.tells, "observation")} will be gone for good.`;
      if (await confirmed("Delete this study?", text, "Delete for good", () => remove(pathOf(summary.name)))) changed();
    } }, "Delete …");
    this.about = h("p", { class: "about" });
    this.node = h("li", { class: "study-row" },
      h("div", { class: "row-name" }, h("a", { href: `/studies/${encodeURIComponent(summary.name)}` }, summary.name), this.about),
      this.spark.node, Object.values(this.figures).map((each) => each.node), writable ? end : null);
    this.update(summary);
  }

  update(summary) {
    this.summary = summary;
    const limits = describeConstraints(summary);
    const violations = limits && summary.violations ? plural(summary.violations, "violation") : "";
    setText(this.about, [summary.algorithm, describe(summary.definition.space), summary.goal === "minimize" ? "minimise" : "maximise", limits, violations].filter(Boolean).join(" · "));
    const { tells, resets, size, pending, last } = this.figures;
    setText(tells.value, count(summary.tells));
    setText(resets.value, count(summary.resets));
    resets.value.classList.toggle("some", summary.resets > 0);
    setText(size.value, count(summary.size ?? 0));
    setText(pending.value, count(summary.pending));
    setText(last.value, ago(summary.last_at));
    this.spark.update(summary.head);
  }
}

/** Fill `main` with the list and keep it up to date. */
export async function showHome(main, asked) {
  const [session, first] = await Promise.all([asked, get("/v1/studies")]);
  const writable = session.scopes.includes("write");
  const rows = new Map();
  const trouble = complaint();
  const list = h("ul", { class: "rack" });
  const filter = h("input", { type: "search", placeholder: "Filter by name or algorithm", "aria-label": "Filter studies by name or algorithm" });
  const tally = h("p", { class: "tally", role: "status" });
  const add = h("button", { type: "button", class: "primary" }, "New study …");
  const none = h("p", { class: "hint" }, "No study matches the filter.");
  const lesson = h("section", { class: "panel lesson" },
    h("h2", {}, "No study yet"),
    h("p", {}, "A study is one system to be tuned: the parameters you may set, and every value you measured. Windvane proposes the next setting, and says when the system has changed."),
    curl(session, [["Create one from a shell", "POST", "/v1/studies", { name: "kiln", space: { box: [[0, 1], [0, 1]] } }]]),
    h("p", {}, "Or start the service with ", h("code", {}, "windvane serve --demo"), " to see one at work."));
  let { studies } = first;

  const show = () => {
    const wanted = filter.value.trim().toLowerCase();
    const matching = studies.filter((each) => `${each.name} ${each.algorithm}`.toLowerCase().includes(wanted));
    matching.sort((a, b) => (b.last_at ?? b.created) - (a.last_at ?? a.created));
    const names = new Set(studies.map((each) => each.name));
    for (const name of rows.keys()) if (!names.has(name)) rows.delete(name);
    // Studies that are told all the time would swap places for ever: those of the last minute stay in order of name.
    const now = Date.now() / 1000;
    const busy = matching.filter((each) => now - (each.last_at ?? 0) < 60).sort((a, b) => a.name.localeCompare(b.name));
    const ordered = [...busy, ...matching.filter((each) => !busy.includes(each))];
    arrange(list, ordered.map((summary) => {
      if (!rows.has(summary.name)) rows.set(summary.name, new Row(summary, writable, refresh));
      rows.get(summary.name).update(summary);
      return rows.get(summary.name).node;
    }));
    none.hidden = ordered.length > 0 || !studies.length;
    lesson.hidden = studies.length > 0;
    list.hidden = !ordered.length;
    filter.hidden = !studies.length;
    setText(tally, studies.length ? (ordered.length === studies.length ? plural(studies.length, "study").replace("studys", "studies") : `${ordered.length} of ${studies.length}`) : "");
  };

  async function refresh() {
    try {
      ({ studies } = await get("/v1/studies"));
      trouble.show(null);
      show();
    } catch (error) {
      trouble.show(error);
    }
  }

  filter.addEventListener("input", show);
  add.addEventListener("click", async () => {
    const made = await createStudy();
    if (made) location.assign(`/studies/${encodeURIComponent(made.name)}`);
  });
  main.replaceChildren(
    h("div", { class: "home-head" }, h("h1", {}, "Studies"), tally, filter, writable ? add : null),
    trouble.node, lesson, none, list);
  show();
  setInterval(() => document.hidden || refresh(), EVERY);
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
}
