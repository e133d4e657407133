// The constraints of a study: what is believed of each, how often it was broken, and its course beside its limit.

import { axis, band, draw, layout, literal, narrow, padded, palette, pictureButton, quantile } from "./charts.js";
import { arrange, h, key, setText } from "./dom.js";
import { count, number, plural, plusMinus, probability, withUnit } from "./format.js";
import { heading } from "./help.js";
import { limitInWords, limitOf, share, told } from "./limits.js";

const RUNG = 158; // px of each constraint
const HEAD = 30; // px of them above its chart, for its name
const FOOT = 44;
const EARLY = 3; // values after which the model of a constraint has an idea of its scale

/** Of what was corrected to be beyond its limit, only the record is known. */
const placeIn = ({ step, seq }) => (step === null ? `record ${seq}` : `step ${step}`);

/** A constraint in figures: a row of cells. */
class Row {
  constructor(constraint) {
    this.constraint = constraint;
    const cell = (label) => {
      const value = h("span", { class: "figure" }, "–");
      const note = h("span", { class: "hint" });
      return { value, note, node: h("div", { class: "cell" }, h("span", { class: "cell-label" }, label), value, note) };
    };
    this.cells = { last: cell("last value"), believed: cell("at the believed best"), holds: cell("holds there with"), violations: cell("violations"), resets: cell("resets of its model") };
    this.node = h("li", { data: { constraint: constraint.name, side: constraint.most ? "above" : "below" } },
      h("p", { class: "limit-name" }, h("strong", {}, constraint.name), " ", h("span", { class: "figure" }, limitOf(constraint))),
      Object.values(this.cells).map((each) => each.node));
  }

  told(rows, size) {
    const last = rows.at(-1);
    if (!last) return;
    const outcome = last.event.outcomes[this.constraint.name];
    setText(this.cells.last.value, withUnit(number(outcome.value, outcome.std), this.constraint.unit));
    setText(this.cells.last.note, outcome.violated ? `${this.constraint.most ? "above" : "below"} the limit, step ${last.step}` : `step ${last.step}, ${count(size)} in use`);
    this.cells.last.node.classList.toggle("is-beyond", outcome.violated);
  }

  best(belief) {
    if (!belief) return;
    setText(this.cells.believed.value, plusMinus(belief.mean, belief.std, this.constraint.unit));
    setText(this.cells.holds.value, probability(belief.probability));
  }

  explained(report) {
    const { violations, resets } = this.cells;
    setText(violations.value, count(report.violations));
    setText(violations.note, report.last_violation ? `last at ${placeIn(report.last_violation)}` : "none so far");
    violations.node.classList.toggle("is-beyond", report.violations > 0);
    setText(resets.value, count(report.resets));
    setText(resets.note, report.last_reset ? `last at ${placeIn(report.last_reset)}` : "none so far");
  }
}

/** The panel; `update` draws, `best` and `explained` take what the service answers. It shows the window of the timeline. */
export class Outcomes {
  constructor(name, constraints, safe, history, timeline) {
    Object.assign(this, { constraints, safe, history, timeline });
    this.rows = constraints.map((each) => new Row(each));
    this.chart = h("div", { class: "chart outcomes", role: "img", "aria-label": "Constraints over time" });
    this.chart.style.minHeight = `${this.height()}px`;
    const list = h("ul", { class: "limits" });
    arrange(list, this.rows.map((row) => row.node));
    const rule = safe === null ? "Points are asked for where all of them are more likely to hold than not." :
      `Points are asked for only where each of them is believed to hold with ${share(safe)} or more.`;
    this.node = h("section", { class: "panel outcomes-panel", "aria-labelledby": "outcomes-title" },
      h("div", { class: "panel-head" }, heading("outcomes", "Constraints"),
        key(["dot", "observed"], ["beyond", "beyond the limit"], ["band", "believed ± 2σ, without noise"], ["dash", "limit"], ["reset", "reset of its model"]), h("div", { class: "panel-tools" }, pictureButton(this.chart, name, "Constraints"))),
      h("p", { class: "caption rule" }, rule), list, this.chart);
  }

  best(found) {
    for (const row of this.rows) row.best(found.outcomes?.[row.constraint.name]);
  }

  explained(explanation) {
    for (const report of explanation.constraints ?? []) this.rows.find((row) => row.constraint.name === report.name)?.explained(report);
  }

  height() {
    return RUNG * this.constraints.length + FOOT;
  }

  async update() {
    for (const row of this.rows) row.told(this.history.told(row.constraint.name), this.history.inUse(row.constraint.name).length);
    const shown = this.timeline.window();
    if (!shown.length) return;
    const colours = palette();
    const more = { annotations: [], shapes: [] };
    const traces = [];
    const parts = this.constraints.map((constraint, index) => this.rung(constraint, index, shown.filter((row) => row.event.outcomes?.[constraint.name]), colours, more, traces));
    const x = shown.map((row) => this.timeline.along(row));
    const title = this.timeline.title();
    // All rungs and the course above span the same steps, also where a constraint was not measured.
    traces.push({ x: [x[0], x.at(-1)], y: [0, 1].map(() => this.constraints[0].limit), mode: "markers", marker: { opacity: 0 }, hoverinfo: "skip" });
    await draw(this.chart, traces, layout(colours, {
      ...more,
      height: this.height(),
      margin: { l: this.timeline.left(shown), r: 12, t: 0, b: FOOT },
      uirevision: `${this.timeline.span.value} ${this.timeline.against.value}`,
      xaxis: axis(colours, { anchor: this.constraints.length > 1 ? `y${this.constraints.length}` : "y", ...this.timeline.type(), title: title ? { text: title } : undefined, showgrid: false }),
    }));
    this.chart.setAttribute("aria-label", `${parts.join(" ")} The log below has the same in words.`);
  }

  /** One constraint: band, values and limit; returns what is seen in words. */
  rung(constraint, index, rows, colours, more, traces) {
    const suffix = index ? String(index + 1) : "";
    const total = RUNG * this.constraints.length;
    const [top, bottom] = [1 - (index * RUNG + HEAD) / total, 1 - ((index + 1) * RUNG - 8) / total];
    const outcome = (row) => row.event.outcomes[constraint.name];
    const believed = rows.filter((row) => Number.isFinite(outcome(row).mean));
    const [low, high] = [-2, 2].map((width) => believed.map((row) => outcome(row).mean + width * outcome(row).std));
    const calm = believed.length > 10 + EARLY ? EARLY : 0;
    const values = rows.map((row) => outcome(row).value);
    const bands = believed.length ? [quantile(low.slice(calm), 0.04), quantile(high.slice(calm), 0.96)] : [];
    const range = padded([constraint.limit, ...values, ...bands], 0.12);
    more[`yaxis${suffix}`] = axis(colours, { domain: [Math.max(0, bottom), top], range, fixedrange: true, nticks: 4 });
    const yref = `y${suffix}`;
    const paper = { xref: "paper", x0: 0, x1: 1, yref };
    more.shapes.push(
      { ...paper, type: "rect", y0: constraint.limit, y1: constraint.most ? range[1] : range[0], fillcolor: colours.warnSoft, line: { width: 0 }, layer: "below" },
      { ...paper, type: "line", y0: constraint.limit, y1: constraint.limit, line: { color: colours.ink, width: 1.4, dash: "dash" } },
    );
    const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
    const shown = { ...constraint, name: cut(constraint.name, narrow() ? 14 : 24), unit: cut(constraint.unit, narrow() ? 10 : 24) };
    more.annotations.push(
      { text: literal(withUnit(shown.name, shown.unit && `(${shown.unit})`)), xref: "paper", yref: "paper", x: 0, y: top, xanchor: "left", yanchor: "bottom", showarrow: false, font: { size: 12, color: colours.muted } },
      // On the forbidden side of the line, where few values are.
      { text: literal(`${shown.name} ${limitOf(shown)}`), xref: "paper", yref, x: 1, y: constraint.limit, xanchor: "right", yanchor: constraint.most ? "bottom" : "top", showarrow: false, bgcolor: colours.warnSoft, borderpad: 2, font: { size: 11, color: colours.ink } },
    );
    const x = (row) => this.timeline.along(row);
    const vertical = (at, dash) => ({ type: "line", x0: at, x1: at, yref: "paper", y0: Math.max(0, bottom), y1: top, layer: "below", line: { color: colours.reset, width: 1.2, dash } });
    const resets = rows.filter((row) => outcome(row).reset);
    more.shapes.push(...resets.map((row) => vertical(x(row), "3px,2px")), ...(this.timeline.asked ?? []).map((each) => vertical(this.timeline.between(each), "solid")));
    const hover = rows.map((row) => [
      `step ${row.step}`, told(constraint, outcome(row)),
      Number.isFinite(outcome(row).mean) ? `believed ${plusMinus(outcome(row).mean, outcome(row).std, constraint.unit)}; within the limit with ${probability(outcome(row).probability)}` : "",
      outcome(row).reset ? outcome(row).reason : "",
    ].filter(Boolean).map((text) => literal(text).replace(/(.{44}\S*) /g, "$1<br>")).join("<br>"));
    const size = rows.length > 400 ? 3 : 5;
    const kind = (row) => (outcome(row).violated ? 2 : outcome(row).reset ? 1 : 0);
    const pick = (...options) => rows.map((row) => options[kind(row)]);
    traces.push(
      ...band(believed.map(x), low, high, colours, { yaxis: yref }),
      { x: believed.map(x), y: believed.map((row) => outcome(row).mean), yaxis: yref, mode: "lines", line: { color: colours.data, width: 1 }, opacity: 0.7, hoverinfo: "skip" },
      { x: rows.map(x), y: values, yaxis: yref, mode: "markers", text: hover, hovertemplate: "%{text}<extra></extra>", meta: constraint.name,
        marker: { symbol: pick("circle", "diamond", constraint.most ? "triangle-up" : "triangle-down"), size: pick(size, size + 4, size + 5),
          color: rows.map((row) => (outcome(row).reset ? colours.reset : outcome(row).violated ? colours.warn : colours.data)), line: { width: pick(0, 0, 1), color: colours.panel } } },
    );
    const beyond = rows.filter((row) => outcome(row).violated).length;
    return `${constraint.name}, ${limitInWords(constraint)}: ${plural(rows.length, "value")} shown, ${beyond} beyond the limit, ${plural(resets.length, "reset")}.`;
  }
}
