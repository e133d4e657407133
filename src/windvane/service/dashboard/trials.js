// Ask and tell by hand, and the trials that wait for an answer.

import { get, intention, pathOf, post } from "./api.js";
import { narrow } from "./charts.js";
import { askReason } from "./dialogs.js";
import { arrange, announce, busily, complaint, field, figure, h, setText } from "./dom.js";
import { ago, duration, number, plural } from "./format.js";
import { heading } from "./help.js";
import { limitOf } from "./limits.js";
import { middle, pointFrom, rangeOf, settingOf, valueOn, valuesOf } from "./space.js";
import { attempt, numberFrom, numberIn } from "./typed.js";

const SHOWN = 20;

/** A point, one value per row. */
function coordinates(x, space, axes) {
  const own = valuesOf(x, axes).map((value, index) => [axes[index].name, valueOn(axes[index], value)]);
  const named = [...own, ...Object.entries(settingOf(space, x) ?? {}).map(([name, value]) => [name, number(value)])];
  return h("dl", { class: "point" }, named.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text))));
}

/** A field for each constraint; empty if it was not measured. */
function outcomeFields(constraints, ending) {
  return constraints.map((constraint) => {
    const input = figure({ "aria-label": `${constraint.name}${ending}`, placeholder: "not measured" });
    return { constraint, input, node: field(`${constraint.name} ${limitOf(constraint)}`, input) };
  });
}

/** What was measured of the constraints, for a tell; or an error in words. */
export function outcomesFrom(fields) {
  const told = fields.filter(({ input }) => input.value.trim() !== "").map(({ constraint, input }) =>
    [constraint.name, numberIn(input, constraint.name, "enter what was measured, a finite number, or nothing if it was not.")]);
  return told.length ? { outcomes: Object.fromEntries(told) } : {};
}

/** What was measured: a number or several, with its noise if that is known; or an error in words. */
function measured(input, noise) {
  const wanted = "enter the measured value, a finite number, or several with ; between; if there is none, record a failure.";
  const y = attempt(input, () => {
    const values = input.value.split(";").map((text) => numberFrom(text, "y", wanted));
    return values.length > 1 ? values : values[0];
  });
  if (noise.value.trim() === "") return { y };
  const positive = "enter the standard deviation of the noise, a number above 0, or nothing.";
  const std = attempt(noise, () => {
    const value = numberFrom(noise.value, "±", positive);
    if (value > 0) return value;
    throw new Error(`±: ${positive}`);
  });
  return { y, std };
}

const valueInput = (label) => figure({ "aria-label": label, placeholder: "measured y" });

const noiseInput = (label) => figure({ "aria-label": label, title: "standard deviation of its noise, if you know it", placeholder: "±", class: "figure noise" });

/** The panel; `refresh` fetches the outstanding trials, `tick` moves their ages. */
export class Trials {
  constructor(name, space, axes, writable, roomy, constraints = []) {
    Object.assign(this, { name, space, axes, writable, roomy, constraints, rows: new Map(), trouble: complaint() });
    this.list = h("ul", { class: "trials" });
    this.empty = h("p", { class: "hint" });
    this.more = h("p", { class: "hint", hidden: true });
    this.button = h("button", { type: "button", class: "primary", onclick: () => this.ask() }, "Ask for a point");
    this.observed = axes.filter((axis) => axis.context).map((axis) => ({ axis, input: this.entry(axis, true) }));
    const now = this.observed.length && writable ? h("form", { class: "own context", "aria-label": "What is observed now", onsubmit: (event) => { event.preventDefault(); this.ask(); } },
      this.observed.map(({ axis, input }) => field(`${axis.name} now`, input, rangeOf(axis))), h("button", { type: "submit", hidden: true })) : null;
    this.node = h("section", { class: "panel trials-panel", "aria-labelledby": "trials-title" },
      h("div", { class: "panel-head" }, heading("trials", writable ? "Ask and tell" : "Outstanding trials"), writable ? this.button : null),
      this.trouble.node, now, this.empty, this.list, this.more, writable ? this.own() : null);
    this.show([]);
  }

  async ask() {
    const trial = await busily(this.button, this.trouble, () => {
      const seen = this.observed.map(({ axis, input }) => [axis.name, this.value(input, axis)]);
      return post(pathOf(this.name, "/ask"), seen.length ? { context: Object.fromEntries(seen) } : {}, intention());
    });
    if (!trial) return;
    if (!this.rows.has(trial.number)) await this.refresh(); // the stream may have been quicker
    this.rows.get(trial.number)?.input?.focus();
    announce(`Trial ${trial.number} is to be evaluated`);
  }

  async refresh() {
    try {
      const { trials } = await get(pathOf(this.name, "/trials?status=pending"));
      this.show(trials);
    } catch (error) {
      this.trouble.show(error);
    }
  }

  show(trials) {
    const newest = [...trials].sort((a, b) => b.number - a.number);
    // A row that somebody is typing in stays, however many are newer.
    const shown = newest.filter((trial, index) => index < SHOWN || this.rows.get(trial.number)?.typed?.());
    const numbers = new Set(shown.map((trial) => trial.number));
    const held = this.list.contains(document.activeElement) && ![...this.rows].some(([n, row]) => numbers.has(n) && row.node.contains(document.activeElement));
    for (const number of this.rows.keys()) if (!numbers.has(number)) this.rows.delete(number);
    arrange(this.list, shown.map((trial) => this.row(trial).node));
    if (held && this.writable) this.button.focus(); // the focused row is gone: answered here or elsewhere
    this.empty.hidden = shown.length > 0;
    setText(this.empty, this.writable ? "Nothing is outstanding. Ask for a point, try it on your system, and tell what you measured." : "Nothing is outstanding.");
    this.more.hidden = shown.length === newest.length;
    setText(this.more, `and ${plural(newest.length - shown.length, "older trial")}`);
    this.tick();
  }

  row(trial) {
    if (!this.rows.has(trial.number)) this.rows.set(trial.number, this.make(trial));
    return this.rows.get(trial.number);
  }

  make(trial) {
    const age = h("span", { class: "age" });
    const title = h("p", { class: "trial-title" }, h("strong", {}, `Trial ${trial.number}`), age);
    const node = h("li", { data: { trial: trial.number } }, title, coordinates(trial.x, this.space, this.axes));
    if (!this.writable) return { node, age, trial };
    const input = valueInput(`Value of trial ${trial.number}`);
    const noise = noiseInput(`Noise of trial ${trial.number}, a standard deviation, if known`);
    const outcomes = outcomeFields(this.constraints, ` of trial ${trial.number}`);
    const trouble = complaint();
    const go = h("button", { type: "submit" }, "Tell");
    const key = intention();
    node.append(h("form", { class: outcomes.length ? "answer constrained" : "answer", onsubmit: async (event) => {
      event.preventDefault();
      await busily(go, trouble, async () => {
        const record = await post(pathOf(this.name, "/tell"), { trial: trial.number, ...measured(input, noise), ...outcomesFrom(outcomes) }, key);
        if (!record.reset) announce(`Trial ${trial.number} told`); // a reset is announced by the stream
        await this.refresh();
      });
    } }, h("div", { class: "answer-value" }, input, noise), outcomes.length ? h("div", { class: "answer-outcomes" }, outcomes.map((each) => each.node)) : null, go,
    h("button", { type: "button", class: "quiet", "aria-label": `Trial ${trial.number} failed`, onclick: () => this.fail(trial) }, "Failed")), trouble.node);
    return { node, age, trial, input, typed: () => [input, ...outcomes.map((each) => each.input)].some((each) => each.value) };
  }

  async fail(trial) {
    const key = intention();
    const done = await askReason(`Trial ${trial.number} failed`, "It is kept in the log, and the model is told no number.", "Record the failure", (reason) => post(pathOf(this.name, "/fail"), { trial: trial.number, reason }, key));
    if (done) await this.refresh();
  }

  tick() {
    const now = Date.now() / 1000;
    for (const { age, trial } of this.rows.values()) {
      const left = trial.expires_at === null ? "" : trial.expires_at > now ? `, expires in ${duration(trial.expires_at - now)}` : ", expired; an answer still counts";
      setText(age, `asked ${ago(trial.asked_at, now)}${left}`);
    }
  }

  /** A value for a point that nobody asked for. */
  own() {
    const inputs = this.axes.map((axis) => this.entry(axis));
    const [y, noise] = [valueInput(null), noiseInput(null)]; // which have labels of their own
    const outcomes = outcomeFields(this.constraints, " of this point");
    const trouble = complaint();
    const go = h("button", { type: "submit" }, "Tell this point");
    let key = intention();
    const form = h("form", { class: "own", onsubmit: async (event) => {
      event.preventDefault();
      await busily(go, trouble, async () => {
        const values = inputs.map((input, index) => this.value(input, this.axes[index]));
        const record = await post(pathOf(this.name, "/tell"), { x: pointFrom(values, this.space, this.axes), ...measured(y, noise), ...outcomesFrom(outcomes) }, key);
        key = intention();
        for (const input of [y, noise, ...outcomes.map((each) => each.input)]) input.value = "";
        if (!record.reset) announce(`Step ${record.step} told`);
      });
    }, onchange: () => { key = intention(); } },
    inputs.map((input, index) => field(this.axes[index].name, input, rangeOf(this.axes[index]))),
    field("Measured y", y), field("± (if known)", noise), outcomes.map((each) => each.node), trouble.node, go);
    return h("details", { class: "own-point", open: this.roomy && this.axes.length <= 3 && !narrow() }, h("summary", {}, "Tell a point of your own"), form);
  }

  /** A field for a value on an axis; empty for one that is observed, since nobody but the caller knows it. */
  entry(axis, empty = false) {
    if (axis.kind === "choice") {
      return h("select", {}, empty ? h("option", { value: "" }, "–") : null, axis.options.map((option, index) => h("option", { value: index }, String(option))));
    }
    return figure({ value: empty ? "" : middle(axis) });
  }

  value(input, axis) {
    if (axis.kind === "choice") {
      if (input.value !== "") return axis.options[Number(input.value)];
      input.focus();
      throw new Error(`${axis.name}: choose what is observed now.`);
    }
    return numberIn(input, axis.name, `enter a number, ${rangeOf(axis)}.`);
  }
}
