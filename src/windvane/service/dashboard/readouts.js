// The row of figures at the top of a study, and the gauge: how close the last observation came to a reset.

import { h, setText } from "./dom.js";
import { ago, chosen, count, deviation, number, percent, plural, plusMinus, probability } from "./format.js";
import { spoken } from "./space.js";

const BEYOND = 1.25; // the gauge reaches a quarter past its threshold

class Figure {
  constructor(label, wide) {
    this.value = h("dd", { class: "readout-value figure" }, "–");
    this.note = h("dd", { class: "readout-note" });
    this.node = h("div", { class: wide ? "readout wide" : "readout" }, h("dt", {}, label), this.value, this.note);
  }

  show(value, note) {
    setText(this.value, value);
    setText(this.note, note);
  }
}

class Gauge {
  constructor() {
    this.needle = h("span", { class: "gauge-needle" });
    this.bar = h("span", { class: "gauge-bar" });
    this.scale = h("div", { class: "gauge", role: "meter", "aria-label": "Test statistic as a share of its threshold", "aria-valuemin": 0, "aria-valuemax": BEYOND, "aria-valuenow": 0 },
      this.bar, h("span", { class: "gauge-mark", "aria-hidden": "true" }), this.needle);
    this.value = h("dd", { class: "readout-value figure" }, "–");
    this.note = h("dd", { class: "readout-note" });
    this.label = h("dt", {}, "Test");
    this.node = h("div", { class: "readout gauge-readout" }, this.label, this.value, h("dd", { class: "gauge-cell" }, this.scale), this.note);
  }

  show(record, probable) {
    const { statistic, threshold, monitored } = record.event;
    const testing = statistic !== null && threshold !== null && threshold > 0;
    this.scale.hidden = !testing;
    setText(this.label, probable ? "Probability of a change" : "Test statistic");
    if (!testing) {
      setText(this.value, "–");
      setText(this.note, "no test at this step");
      return;
    }
    const share = Math.min(BEYOND, statistic / threshold);
    const place = `${((100 * share) / BEYOND).toFixed(1)}%`;
    this.bar.style.width = place;
    this.needle.style.left = place;
    this.scale.classList.toggle("over", statistic > threshold && record.reset);
    this.scale.setAttribute("aria-valuenow", share.toFixed(3));
    this.scale.setAttribute("aria-valuetext", `${number(statistic)} of ${number(threshold)}`);
    setText(this.value, probable ? percent(statistic) : number(statistic));
    setText(this.note, monitored ? `resets above ${probable ? `${chosen(100 * threshold)} %` : number(threshold)}` : "still learning: not tested yet");
  }
}

/** The row; `update(summary, history)` after each record, `best` after each poll, `tick` every second. */
export class Readouts {
  constructor(space, constrained = false) {
    this.space = space;
    this.gauge = new Gauge();
    this.figures = { y: new Figure("Last value"), best: new Figure("Believed best", true), steps: new Figure("Steps"), resets: new Figure("Resets"), size: new Figure("In use") };
    const { y, best, steps, resets, size } = this.figures;
    this.violations = constrained ? new Figure("Violations") : null;
    const row = [y, best, steps, resets, ...(constrained ? [this.violations] : []), size];
    this.node = h("dl", { class: constrained ? "readouts constrained" : "readouts" }, row.map((each) => each.node), this.gauge.node);
  }

  update(totals, history) {
    const last = history.last;
    this.at = last?.at;
    this.figures.steps.show(count(totals.tells), totals.failed ? `${count(totals.failed)} failed` : "none failed");
    const since = last && totals.lastReset ? last.step - totals.lastReset : null;
    this.figures.resets.show(count(totals.resets), since === null ? "none so far" : since === 0 ? "at this step" : `${plural(since, "step")} ago`);
    const beyond = history.violated(totals.violations);
    this.violations?.show(count(beyond.count), beyond.last ? `last at step ${beyond.last}` : beyond.count ? "" : "none so far");
    this.violations?.node.classList.toggle("is-beyond", beyond.count > 0);
    if (!last?.event) return;
    this.figures.size.show(count(history.size), history.size === 1 ? "point" : "points");
    this.gauge.show(last, history.probabilistic);
    this.last = last;
    this.tick();
  }

  best(best) {
    const parts = spoken(this.space, best.x).split(" · ").map((part) => h("span", { class: "part" }, part));
    this.figures.best.value.replaceChildren(...parts);
    this.figures.best.value.classList.toggle("many", parts.length > 2);
    const holds = best.feasible === null || best.feasible === undefined ? "" : `; all constraints hold with ${probability(best.feasible)}`;
    setText(this.figures.best.note, `there ${plusMinus(best.mean, best.std)}${holds}`);
  }

  tick() {
    if (this.last) this.figures.y.show(number(this.last.y, deviation(this.last.event)), ago(this.at));
  }
}
