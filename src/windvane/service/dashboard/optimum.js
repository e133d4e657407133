// Where the optimum is believed to be, as it moves: a row for each parameter.

import { get, pathOf } from "./api.js";
import { axis, draw, layout, leftOf, literal, logTicks, marginOf, narrow, optionTicks, palette, pictureButton, wholeSteps } from "./charts.js";
import { field, h, key, setText } from "./dom.js";
import { heading } from "./help.js";
import { titleOf, valueOn, valuesOf } from "./space.js";

const ROWS = 4;
const KEPT = 1000;
const LAST = 100; // tells that are followed once more

/** The panel; `add(best, step)` after each poll, `update` draws. */
export class Optimum {
  constructor(name, axes, history) {
    Object.assign(this, { name, axes, history, track: [] });
    this.chart = h("div", { class: "chart optimum", role: "img", "aria-label": "The believed optimum over time" });
    this.caption = h("p", { class: "caption" }, "What was believed best before is being worked out from the journal …");
    const pages = Array.from({ length: Math.ceil(axes.length / ROWS) }, (_, page) => axes.slice(page * ROWS, (page + 1) * ROWS));
    this.page = h("select", { onchange: () => this.update() }, pages.map((some, index) => h("option", { value: index }, some.length > 1 ? `${some[0].name} … ${some.at(-1).name}` : some[0].name)));
    this.node = h("section", { class: "panel optimum-panel", "aria-labelledby": "optimum-title" },
      h("div", { class: "panel-head" },
        heading("optimum", "Optimum, moving"),
        key(["line", "believed best"], ["pale", "tried"], ["reset", "reset"]),
        h("div", { class: "panel-tools" }, pages.length > 1 ? field("Parameters", this.page) : null, pictureButton(this.chart, name, "Optimum, moving"))),
      this.chart,
      this.caption);
  }

  /** What was believed best before this page was opened: the service follows the journal once more. */
  async load() {
    const { track } = await get(pathOf(this.name, `/track?last=${LAST}&points=25`));
    const first = this.track[0]?.step ?? Infinity;
    const before = track.filter((each) => each.step < first).map((each) => ({ step: each.step, values: valuesOf(each.x, this.axes) }));
    this.track = [...before, ...this.track];
    setText(this.caption, before.length ? `What was believed best at the time, from step ${before[0].step} on: worked out again from the journal.` : "");
  }

  /** A poll's answer, at the step it was made. */
  add(best, step) {
    if (this.track.at(-1)?.step === step) this.track.pop();
    this.track.push({ step, values: valuesOf(best.x, this.axes) });
    if (this.track.length > KEPT) this.track.shift();
  }

  async update() {
    const rows = this.history.counted().slice(-300).filter((row) => row.event);
    if (!rows.length) return;
    const colours = palette();
    const first = ROWS * Number(this.page.value || 0);
    const shown = this.axes.slice(first, first + ROWS);
    const gap = shown.length > 1 ? 0.09 : 0;
    const tall = (1 - gap * (shown.length - 1)) / shown.length;
    const more = { annotations: [] };
    const traces = [];
    const from = rows[0].step;
    const dated = this.history.dated;
    const told = new Map(rows.map((row) => [row.step, 1000 * row.event.time]));
    const along = (step) => (dated ? told.get(step) : step);
    const since = this.track.filter((each) => each.step >= from && along(each.step) !== undefined);
    const height = Math.max(narrow() ? 240 : 340, 92 * shown.length + 60);
    const room = (each) => Math.max(1, Math.floor(((height - 64) * tall) / each.options.length / 14)); // lines of a name
    const named = shown.map((each) => (each.kind === "choice" ? optionTicks(each.options, narrow() ? 13 : 22, room(each)) : null));
    const plain = (value) => (typeof value === "string" ? literal(value) : value);
    shown.forEach((each, index) => {
      const suffix = index ? String(index + 1) : "";
      const top = 1 - index * (tall + gap);
      const category = each.kind === "choice" ? { type: "category", categoryorder: "array", categoryarray: each.options.map(plain), range: [-0.5, each.options.length - 0.5], ...named[index].ticks } : {};
      const air = (each.hi - each.lo) * 0.04;
      const range = each.kind === "choice" ? {} : each.log ? { ...logTicks(each.lo, each.hi), range: [Math.log10(each.lo) - 0.03, Math.log10(each.hi) + 0.03] } : { range: [each.lo - air, each.hi + air] };
      more[`yaxis${suffix}`] = axis(colours, { domain: [Math.max(0, top - tall), top], fixedrange: true, nticks: 5, ...category, ...range });
      more.annotations.push({ text: literal(titleOf(each)), xref: "paper", yref: "paper", x: 0, y: top, xanchor: "left", yanchor: "bottom", showarrow: false, font: { size: 12, color: colours.muted } });
      traces.push(
        { x: rows.map((row) => along(row.step)), y: rows.map((row) => plain(valuesOf(row.x, this.axes)[first + index])), yaxis: `y${suffix}`, mode: "markers",
          marker: { size: 4, color: colours.muted, opacity: 0.55 }, text: rows.map((row) => literal(`step ${row.step}: tried ${valueOn(each, valuesOf(row.x, this.axes)[first + index])}`)), hovertemplate: "%{text}<extra></extra>" },
        { x: since.map((at) => along(at.step)), y: since.map((at) => plain(at.values[first + index])), yaxis: `y${suffix}`, mode: "lines+markers",
          line: { shape: "hv", width: 2.4, color: colours.data }, marker: { size: since.map((_, i) => (i === since.length - 1 ? 9 : 3)), color: colours.data },
          text: since.map((at) => literal(`step ${at.step}: believed best ${valueOn(each, at.values[first + index])}`)), hovertemplate: "%{text}<extra></extra>" },
      );
    });
    await draw(this.chart, traces, layout(colours, {
      ...more,
      height,
      margin: { l: Math.max(...shown.map((each, index) => (named[index] ? marginOf(named[index].characters) : leftOf([each.lo, each.hi])))), r: 14, t: 22, b: dated ? 56 : 42 },
      xaxis: axis(colours, { anchor: shown.length > 1 ? `y${shown.length}` : "y", ...(dated ? { type: "date" } : wholeSteps(rows)), showgrid: false, title: { text: dated ? "caller’s time (UTC)" : "step" } }),
      shapes: [...rows.filter((row) => row.reset), ...this.history.asked().filter((each) => each.seq > rows[0].seq)].map((row) => {
        const asked = row.kind === "reset"; // after the observation before it, as in the course
        const x = dated ? 1000 * row.event.time : asked ? row.step + 0.5 : row.step;
        return { type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", layer: "below", line: { color: colours.reset, width: 1.2, dash: asked ? "solid" : "3px,2px" } };
      }),
    }));
    const now = since.at(-1);
    if (now) this.chart.setAttribute("aria-label", `Believed best at step ${now.step}: ${this.axes.map((each, i) => `${each.name} ${valueOn(each, now.values[i])}`).join(", ")}`);
  }
}
