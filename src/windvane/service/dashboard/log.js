// The event log: newest first, with reasons; resets stand out.

import { intention, pathOf, post } from "./api.js";
import { narrow } from "./charts.js";
import { askReason } from "./dialogs.js";
import { arrange, h, segmented, setText } from "./dom.js";
import { clock, number, plusMinus } from "./format.js";
import { spoken } from "./space.js";

const STEP = narrow() ? 16 : 60; // on a phone the log is as long as the page
const EMPTY = { all: "Nothing has happened yet.", resets: "No reset so far: nothing has contradicted the model.", failures: "No evaluation has failed or expired." };

function kindOf(record) {
  if (record.reset) return "reset";
  if (record.kind !== "told") return record.kind;
  if (record.event?.set_aside) return "set aside";
  return record.event?.outlier === record.step && record.step !== null ? "outlier" : "told";
}

/** What was told of the noise of a value, and of how many it is the mean. */
function noise(event) {
  const told = event?.told_variance ? ` ± ${number(Math.sqrt(event.told_variance), 3)}` : "";
  const repeats = event?.values?.length ?? 0;
  return repeats > 1 ? `${told}, mean of ${repeats}` : told;
}

function row(record, space, tools) {
  const kind = kindOf(record);
  const predicted = record.kind === "told" && record.event ? plusMinus(record.event.mean, Math.sqrt(record.event.std ** 2 + record.event.noise_variance)) : "";
  const number_ = record.trial && record.kind !== "told" ? `trial ${record.trial}` : record.step ? `step ${record.step}` : "";
  const about = { retracted: "taken back", corrected: `was ${number(record.event?.was)}`, redefined: `another space, ${record.event?.left_out} outside` }[record.kind];
  return h("li", { class: `entry is-${kind.replace(" ", "-")}` },
    h("span", { class: "entry-kind" }, kind),
    h("span", { class: "entry-step figure" }, number_),
    h("time", { class: "entry-time figure", datetime: new Date(record.at * 1000).toISOString() }, clock(record.at)),
    h("span", { class: "entry-point figure" }, record.x === null ? "" : spoken(space, record.x)),
    h("span", { class: "entry-value figure" }, record.y === null ? "" : `y ${number(record.y)}${noise(record.event)}`),
    h("span", { class: "entry-predicted figure" }, about ?? (predicted ? `predicted ${predicted}` : "")),
    record.reason ? h("span", { class: "entry-reason" }, record.reason) : null,
    tools);
}

/** The panel; `update` shows what is new and leaves the rest of the rows alone. */
export class Log {
  constructor(history, space, writable = false) {
    Object.assign(this, { history, space, writable, filter: "all", limit: STEP, rows: new Map() });
    this.list = h("ol", { class: "log", reversed: true });
    this.empty = h("p", { class: "hint" });
    this.more = h("button", { type: "button", class: "quiet", onclick: () => { this.limit += 4 * STEP; this.update(); } }, "Show more");
    this.node = h("section", { class: "panel log-panel", "aria-labelledby": "log-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "log-title" }, "Log"),
        h("div", { class: "panel-tools" }, segmented("Show", [["all", "all"], ["resets", "resets"], ["failures", "failures"]], "all", (value) => { this.filter = value; this.limit = STEP; this.update(); }))),
      this.empty, this.list, this.more);
  }

  /** To take a value back, or to put it right. */
  tools(record) {
    if (!this.writable || record.kind !== "told" || this.history.amended.get(record.seq)?.kind === "retracted") return null;
    const send = (verb, more, key) => post(pathOf(this.history.name, `/${verb}`), { record: record.seq, ...more }, key);
    const what = record.trial ? `trial ${record.trial}` : `step ${record.step}`;
    const text = "The log keeps it and says what counts. The model is then as if it had been told right, which takes as long as what was told since.";
    return h("span", { class: "entry-tools" },
      h("button", { type: "button", class: "quiet", "aria-label": `Correct the value of ${what}`, onclick: () => {
        const key = intention();
        return askReason(`The value of ${what} was wrong`, text, "Correct it", (reason, value) => {
          const y = Number(value.replace("−", "-").replace(",", "."));
          if (value.trim() === "" || !Number.isFinite(y)) throw new Error("y: enter the right value, a finite number.");
          return send("correct", { y, reason }, key);
        }, String(this.history.amended.get(record.seq)?.y ?? record.y));
      } }, "Correct …"),
      h("button", { type: "button", class: "quiet", "aria-label": `Take back the value of ${what}`, onclick: () => {
        const key = intention();
        return askReason(`Take back the value of ${what}`, text, "Take it back", (reason) => send("retract", { reason }, key));
      } }, "Take back …"));
  }

  update() {
    const records = this.history.newest(this.filter, this.limit + 1);
    const shown = records.slice(0, this.limit);
    const wanted = new Set(shown.map((record) => record.seq));
    for (const seq of this.rows.keys()) if (!wanted.has(seq)) this.rows.delete(seq);
    arrange(this.list, shown.map((record) => {
      if (!this.rows.has(record.seq)) this.rows.set(record.seq, row(record, this.space, this.tools(record)));
      const node = this.rows.get(record.seq);
      const word = this.history.amended.get(record.seq);
      if (word) {
        node.classList.add(`was-${word.kind}`);
        if (word.kind === "retracted") node.querySelector(".entry-tools")?.remove();
      }
      return node;
    }));
    this.empty.hidden = shown.length > 0;
    setText(this.empty, EMPTY[this.filter]);
    this.more.hidden = records.length <= this.limit;
  }
}
