// The event log: newest first, with reasons; resets stand out.

import { narrow } from "./charts.js";
import { arrange, h, segmented, setText } from "./dom.js";
import { clock, number, plusMinus, point } from "./format.js";

const STEP = narrow() ? 16 : 60; // on a phone the log is as long as the page
const EMPTY = { all: "Nothing has happened yet.", resets: "No reset so far: nothing has contradicted the model.", failures: "No evaluation has failed or expired." };

function kindOf(record) {
  if (record.reset) return "reset";
  if (record.kind !== "told") return record.kind;
  if (record.event?.set_aside) return "set aside";
  return record.event?.outlier === record.step && record.step !== null ? "outlier" : "told";
}

function row(record) {
  const kind = kindOf(record);
  const predicted = record.event ? plusMinus(record.event.mean, Math.sqrt(record.event.std ** 2 + record.event.noise_variance)) : "";
  const number_ = record.step ? `step ${record.step}` : record.trial ? `trial ${record.trial}` : "";
  return h("li", { class: `entry is-${kind.replace(" ", "-")}` },
    h("span", { class: "entry-kind" }, kind),
    h("span", { class: "entry-step figure" }, number_),
    h("time", { class: "entry-time figure", datetime: new Date(record.at * 1000).toISOString() }, clock(record.at)),
    h("span", { class: "entry-point figure" }, point(record.x, 4)),
    h("span", { class: "entry-value figure" }, record.y === null ? "" : `y ${number(record.y)}`),
    h("span", { class: "entry-predicted figure" }, predicted ? `predicted ${predicted}` : ""),
    record.reason ? h("span", { class: "entry-reason" }, record.reason) : null);
}

/** The panel; `update` shows what is new and leaves the rest of the rows alone. */
export class Log {
  constructor(history) {
    Object.assign(this, { history, filter: "all", limit: STEP, rows: new Map() });
    this.list = h("ol", { class: "log", reversed: true });
    this.empty = h("p", { class: "hint" });
    this.more = h("button", { type: "button", class: "quiet", onclick: () => { this.limit += 4 * STEP; this.update(); } }, "Show more");
    this.node = h("section", { class: "panel log-panel", "aria-labelledby": "log-title" },
      h("div", { class: "panel-head" }, h("h2", { id: "log-title" }, "Log"),
        h("div", { class: "panel-tools" }, segmented("Show", [["all", "all"], ["resets", "resets"], ["failures", "failures"]], "all", (value) => { this.filter = value; this.limit = STEP; this.update(); }))),
      this.empty, this.list, this.more);
  }

  update() {
    const records = this.history.newest(this.filter, this.limit + 1);
    const shown = records.slice(0, this.limit);
    const wanted = new Set(shown.map((record) => record.seq));
    for (const seq of this.rows.keys()) if (!wanted.has(seq)) this.rows.delete(seq);
    arrange(this.list, shown.map((record) => {
      if (!this.rows.has(record.seq)) this.rows.set(record.seq, row(record));
      return this.rows.get(record.seq);
    }));
    this.empty.hidden = shown.length > 0;
    setText(this.empty, EMPTY[this.filter]);
    this.more.hidden = records.length <= this.limit;
  }
}
