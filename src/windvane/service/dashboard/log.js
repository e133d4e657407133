// The event log: newest first, with reasons; resets stand out.

import { intention, pathOf, post } from "./api.js";
import { narrow } from "./charts.js";
import { askReason } from "./dialogs.js";
import { arrange, h, segmented, setText } from "./dom.js";
import { clock, clockOf, deviation, number, plusMinus, timeText, withUnit } from "./format.js";
import { heading } from "./help.js";
import { limitOf, told } from "./limits.js";
import { spoken } from "./space.js";
import { numberFrom } from "./typed.js";

const STEP = narrow() ? 16 : 60; // on a phone the log is as long as the page
const EMPTY = { all: "Nothing has happened yet.", resets: "No reset so far: nothing has contradicted the model.", violations: "No violation so far: every value told was within its limit.", failures: "No evaluation has failed or expired." };

function kindOf(record) {
  if (record.reset) return "reset";
  if (record.kind !== "told") return record.kind;
  if (record.violated?.length) return "violation";
  if (record.outcome_resets?.length) return "reset of";
  if (record.event?.set_aside) return "set aside";
  return record.event?.outlier === record.step && record.step !== null ? "outlier" : "told";
}

/** What was told of the noise of a value, and of how many it is the mean. */
function noise(event) {
  const told = event?.told_variance ? ` ± ${number(Math.sqrt(event.told_variance))}` : "";
  const repeats = event?.values?.length ?? 0;
  return repeats > 1 ? `${told}, mean of ${repeats}` : told;
}

/** What was told of the constraints, or is right instead; what is beyond its limit says so. */
function outcomes(record, constraints) {
  const known = constraints.flatMap((constraint) => {
    const outcome = record.event?.outcomes?.[constraint.name];
    if (!outcome || (record.kind !== "told" && outcome.value === outcome.was)) return [];
    const was = record.kind === "told" ? "" : `, was ${withUnit(number(outcome.was), constraint.unit)}`;
    const text = outcome.value === null ? `${constraint.name} not measured` : told(constraint, outcome);
    return [h("span", { class: outcome.violated ? "beyond" : "" }, `${text}${was}`)];
  });
  return known.length ? h("span", { class: "entry-outcomes figure" }, known.flatMap((each, index) => (index ? [" · ", each] : [each]))) : null;
}

/** Why: what the record says, the resets of the models of constraints, and that nothing is believed safe. */
function reasons(record, space) {
  const resets = (record.outcome_resets ?? []).map((name) => `Reset of the model of ${name}: ${record.event.outcomes[name].reason}`);
  const retreat = record.event?.retreat ? [`Nothing is believed safe: back to ${spoken(space, record.event.retreat)}`] : [];
  return [...(record.reason ? [record.reason] : []), ...resets, ...retreat];
}

function row(record, space, tools, constraints) {
  const kind = kindOf(record);
  const predicted = record.kind === "told" && record.event ? plusMinus(record.event.mean, Math.sqrt(record.event.std ** 2 + record.event.noise_variance)) : "";
  const number_ = record.trial && record.kind !== "told" ? `trial ${record.trial}` : record.step ? `step ${record.step}` : "";
  const about = { retracted: "taken back", corrected: record.event?.was === record.y ? "y stays" : `was ${number(record.event?.was)}`, redefined: `another space, ${record.event?.left_out} outside` }[record.kind];
  return h("li", { class: `entry is-${kind.replace(" ", "-")}` },
    h("span", { class: "entry-kind" }, kind === "reset of" ? `reset of ${record.outcome_resets.join(", ")}` : kind),
    h("span", { class: "entry-step figure" }, number_),
    h("time", { class: "entry-time figure", datetime: new Date(record.at * 1000).toISOString() }, clock(record.at)),
    h("span", { class: "entry-point figure" }, record.x === null ? "" : spoken(space, record.x)),
    h("span", { class: "entry-value figure" }, record.y === null ? "" : `y ${number(record.y, deviation(record.event))}${noise(record.event)}`),
    h("span", { class: "entry-predicted figure" }, about ?? (predicted ? `predicted ${predicted}` : "")),
    record.kind === "told" && (clockOf(record) ?? record.step) !== record.step ? h("span", { class: "entry-when figure" }, `at ${timeText(clockOf(record))}`) : null,
    outcomes(record, constraints),
    reasons(record, space).map((text) => h("span", { class: "entry-reason" }, text)),
    tools);
}

/** The panel; `update` shows what is new and leaves the rest of the rows alone. */
export class Log {
  constructor(history, space, writable = false, constraints = []) {
    const violations = constraints.length ? [["violations", "violations"]] : [];
    Object.assign(this, { history, space, writable, constraints, filter: "all", limit: STEP, rows: new Map() });
    this.list = h("ol", { class: "log", reversed: true });
    this.empty = h("p", { class: "hint" });
    this.more = h("button", { type: "button", class: "quiet", onclick: () => { this.limit += 4 * STEP; this.update(); } }, "Show more");
    this.node = h("section", { class: "panel log-panel", "aria-labelledby": "log-title" },
      h("div", { class: "panel-head" }, heading("log", "Log"),
        h("div", { class: "panel-tools" }, segmented("Show", [["all", "all"], ["resets", "resets"], ...violations, ["failures", "failures"]], "all", (value) => { this.filter = value; this.limit = STEP; this.update(); }))),
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
        const now = this.history.counted().find((each) => each.seq === record.seq) ?? record;
        const before = this.constraints.map((each) => now.event?.outcomes?.[each.name]?.value ?? null);
        return askReason(`The value of ${what} was wrong`, text, "Correct it", (reason, value, others) => {
          const y = numberFrom(value, "y", "enter the right value, a finite number.");
          const right = this.constraints.flatMap(({ name }, index) => {
            const given = others[index].trim() === "" ? null : numberFrom(others[index], name, "enter the right value, a finite number, or nothing if it was not measured.");
            return given === before[index] ? [] : [[name, given]];
          });
          // A y that stays is left out, for it may be the mean of several.
          const outcomes = right.length ? { outcomes: Object.fromEntries(right) } : {};
          return send("correct", { ...(right.length && y === now.y ? {} : { y }), ...outcomes, reason }, key);
        }, String(now.y), this.constraints.map((each, index) => ({ label: `${each.name} ${limitOf(each)}`, value: before[index] === null ? "" : String(before[index]) })));
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
      if (!this.rows.has(record.seq)) this.rows.set(record.seq, row(record, this.space, this.tools(record), this.constraints));
      const node = this.rows.get(record.seq);
      const word = this.history.amended.get(record.seq);
      if (word) {
        node.classList.add(`was-${word.kind}`);
        node.classList.toggle("outcomes-corrected", Object.values(word.event.outcomes ?? {}).some((each) => each.value !== each.was));
        node.classList.toggle("value-kept", word.kind === "corrected" && word.y === record.y);
        if (word.kind === "retracted") node.querySelector(".entry-tools")?.remove();
      }
      return node;
    }));
    this.empty.hidden = shown.length > 0;
    setText(this.empty, EMPTY[this.filter]);
    this.more.hidden = records.length <= this.limit;
  }
}
