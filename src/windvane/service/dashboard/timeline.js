// Objective, test statistic and points in use over one common axis, resets drawn through all three.

import { axis, band, draw, layout, leftOf, literal, narrow, padded, palette, pictureButton, quantile, wholeSteps } from "./charts.js";
import { field, h, key } from "./dom.js";
import { count, deviation, moment, number, percent, plusMinus } from "./format.js";
import { heading } from "./help.js";
import { decimate } from "./history.js";
import { stretches } from "./limits.js";

const WINDOWS = [100, 300, 1000, 2000];
const ALL = "all";
const RUNGS = { objective: [0.5, 1], statistic: [0.215, 0.425], size: [0, 0.14] };

/** What the test says of an observation, in words. */
function tested({ step, event }, probable) {
  const write = probable ? percent : number;
  const against = event.threshold === null ? "" : `, threshold ${write(event.threshold)}`;
  return `step ${step}: ${write(event.statistic)}${against}${event.monitored ? "" : ": still learning, not tested"}`;
}

/** Half the width of the prediction for y: two deviations, noise included. */
function reach(event) {
  return 2 * Math.sqrt(event.std ** 2 + event.noise_variance);
}

/** Wide bands of the first steps must not flatten everything else. */
function objectiveRange(rows) {
  const monitored = rows.filter((row) => row.event.elapsed > 2);
  const calm = monitored.length > 10 ? monitored : rows;
  const low = quantile(calm.map((row) => row.event.mean - reach(row.event)), 0.04);
  const high = quantile(calm.map((row) => row.event.mean + reach(row.event)), 0.96);
  return padded([low, high, ...rows.map((row) => row.y)]);
}

/** The same for the threshold, which is high while little is known: it may leave the picture. */
function statisticTop(all) {
  const watched = all.filter((row) => row.event.monitored !== false);
  const rows = watched.some((row) => row.event.threshold !== null) ? watched : all; // what is not tested may leave the picture
  const thresholds = rows.map((row) => row.event.threshold).filter((each) => each !== null);
  const typical = thresholds.length ? 1.7 * quantile(thresholds, 0.75) : 0;
  return rows.reduce((most, row) => Math.max(most, 1.08 * (row.event.statistic ?? 0)), typical) || 1;
}

/** A log axis pays where the statistic leaves its threshold far behind. */
function wantsLog(rows, probable) {
  const tested = rows.filter((row) => row.event.monitored !== false && row.event.threshold > 0 && row.event.statistic !== null);
  if (!tested.length || probable) return false;
  const highest = tested.reduce((most, row) => Math.max(most, row.event.statistic), 0);
  return highest > 12 * quantile(tested.map((row) => row.event.threshold), 0.5);
}

/** Stretches of steps at which nothing was tested, as [from, to] half-way to their neighbours. */
export function untested(rows, x) {
  const places = x.map(Number); // dates too
  const edge = (index) => (index <= 0 ? places[0] : index >= rows.length ? places.at(-1) : (places[index - 1] + places[index]) / 2);
  return stretches(rows.map((row) => row.event.monitored === false)).map(([first, last]) => [edge(first), edge(last + 1)]);
}

/** A line through all rungs. */
function line(x, colours, dash) {
  return { type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, layer: "below", line: { color: colours.reset, width: 1.2, dash } };
}

/** The panel; `update(history)` draws. */
export class Timeline {
  constructor(name) {
    this.chart = h("div", { class: "chart timeline", role: "img", "aria-label": "Objective, statistic and points in use over time" });
    this.span = h("select", { onchange: () => this.looked() }, 
      WINDOWS.map((size) => h("option", { value: size, selected: size === 300 }, `last ${count(size)}`)), h("option", { value: ALL }, "all"));
    this.against = h("select", { onchange: () => { this.chosen = true; this.looked(true); } }, [["step", "step"], ["time", "caller’s time"], ["at", "clock"]].map(([value, text]) => h("option", { value }, text)));
    this.log = h("input", { type: "checkbox", onchange: () => { this.touched = true; this.update(); } });
    this.node = h("section", { class: "panel timeline-panel", "aria-labelledby": "timeline-title" },
      h("div", { class: "panel-head" },
        heading("timeline", "Course"),
        key(["dot", "observed"], ["band", "predicted ± 2σ"], ["dash", "threshold"], ["learning", "not tested yet"], ["reset", "reset"]),
        h("div", { class: "panel-tools" }, field("Show", this.span), field("Against", this.against),
          h("label", { class: "check" }, this.log, "log statistic"), pictureButton(this.chart, name, "Course"))),
      this.chart);
  }

  /** Another window was chosen; `onview` is for charts that show the same one. */
  async looked(moved = false) {
    if (this.span.value === ALL) await this.history.survey();
    await this.update(moved);
    await this.onview?.();
  }

  /** The tells that are shown. */
  window() {
    const rows = this.span.value === ALL ? this.history.all() : this.history.counted().slice(-Number(this.span.value));
    return rows.filter((row) => row.event);
  }

  async update(moved = false) {
    if (this.history === undefined || !this.history.tells.length) return;
    if (!this.chosen && this.history.dated) this.against.value = "time"; // the caller thinks in dates
    const shown = this.window();
    if (!shown.length) return;
    this.asked = this.history.asked().filter((each) => each.seq > shown[0].seq);
    const rows = decimate(shown);
    if (!this.touched) this.log.checked = wantsLog(rows, this.history.probabilistic);
    const colours = palette();
    this.revision = (this.revision ?? 0) + (moved ? 1 : 0);
    const x = rows.map((row) => this.along(row));
    await draw(this.chart, this.traces(rows, x, colours), this.frame(rows, x, colours));
    const resets = rows.filter((row) => row.reset).length;
    const last = rows.at(-1);
    this.chart.setAttribute("aria-label", `Steps ${rows[0].step} to ${last.step}: last value ${number(last.y, deviation(last.event))}, ` +
      `${resets} resets shown, ${this.history.size} points in use. The log below has the same in words.`);
  }

  along(row) {
    if (this.against.value === "at") return new Date(row.at * 1000);
    return this.against.value === "time" ? this.told(row.event.time) : row.step;
  }

  /** A time that the caller told: a date if all of them are. */
  told(time) {
    return this.history.dated ? 1000 * time : time;
  }

  /** Milliseconds since 1970 are dates to Plotly, in UTC, if it is told so. */
  type() {
    return this.against.value === "time" && this.history.dated ? { type: "date" } : {};
  }

  /** What the horizontal axis is called. */
  title() {
    return { step: "step", time: this.history.dated ? "caller’s time (UTC)" : "caller’s time", at: "" }[this.against.value];
  }

  /** Evaluations that failed, as crosses at the foot of the objective: between the tells before and after them. */
  failures(rows, colours) {
    const failed = this.history.others.filter((record) => record.kind === "failed" && record.seq > rows[0].seq);
    if (!failed.length) return [];
    const low = objectiveRange(rows)[0];
    const x = failed.map((record) => {
      if (this.against.value === "at") return new Date(record.at * 1000);
      const before = rows.findLast((row) => row.seq < record.seq);
      return this.against.value === "time" ? this.told(before.event.time) : before.step + 0.5;
    });
    const text = failed.map((record) => literal(`trial ${record.trial} failed${record.reason ? `: ${record.reason}` : ""}`));
    return [{ x, y: x.map(() => low), mode: "markers", text, hovertemplate: "%{text}<extra></extra>", cliponaxis: false,
      marker: { color: colours.ink, symbol: "x-thin", size: 7, line: { width: 1.6, color: colours.ink } } }];
  }

  /** Where a reset that was asked for is drawn: after the observation before it. */
  between(record) {
    if (this.against.value === "step") return record.step + 0.5;
    return this.along(record);
  }

  /** Points in use at each observation, and after each reset that was asked for. */
  sizes(rows) {
    const all = [...rows, ...this.asked].sort((a, b) => a.seq - b.seq);
    return { x: all.map((each) => (each.kind === "reset" ? this.between(each) : this.along(each))), y: all.map((each) => each.event.size) };
  }

  traces(rows, x, colours) {
    const mean = rows.map((row) => row.event.mean);
    const hover = rows.map((row) => {
      const event = row.event;
      const lines = [`step ${row.step}${this.history.dated ? `, ${moment(event.time)} UTC` : ""}`, `y ${number(row.y, deviation(event))}`, `predicted ${plusMinus(event.mean, reach(event) / 2)}`];
      if (row.violated?.length) lines.push(`beyond the limit: ${literal(row.violated.join(", "))}`);
      return [...lines, row.reason ? literal(row.reason).replace(/(.{44}\S*) /g, "$1<br>") : ""].filter(Boolean).join("<br>");
    });
    const marks = rows.map((row) => (row.reset ? "diamond" : row.event.set_aside || row.event.outlier === row.step ? "circle-open" : "circle"));
    const colour = rows.map((row) => (row.reset ? colours.reset : colours.data));
    const size = rows.length > 400 ? 3 : 5;
    const statistic = { x, yaxis: "y2", hoverinfo: "skip" };
    return [
      ...band(x, rows.map((row) => row.event.mean - reach(row.event)), rows.map((row) => row.event.mean + reach(row.event)), colours),
      { x, y: mean, mode: "lines", line: { color: colours.data, width: 1 }, opacity: 0.7, hoverinfo: "skip" },
      { x, y: rows.map((row) => row.y), mode: "markers", text: hover, hovertemplate: "%{text}<extra></extra>",
        marker: { color: colour, symbol: marks, size: rows.map((row) => (row.reset ? size + 4 : size)), line: { width: 1, color: colour } } },
      { ...statistic, y: rows.map((row) => row.event.statistic), mode: "lines", line: { color: colours.data, width: 1.3 },
        hoverinfo: undefined, text: rows.map((row) => tested(row, this.history.probabilistic)), hovertemplate: "%{text}<extra></extra>" },
      { ...statistic, y: rows.map((row) => row.event.threshold), mode: "lines", line: { color: colours.ink, width: 1.3, dash: "dash" } },
      { ...statistic, x: x.filter((_, i) => rows[i].reset), y: rows.filter((row) => row.reset).map((row) => row.event.statistic), mode: "markers", marker: { color: colours.reset, symbol: "diamond", size: size + 4 } },
      { ...this.sizes(rows), yaxis: "y3", mode: "lines", fill: "tozeroy", fillcolor: colours.soft,
        line: { color: colours.data, width: 1.3, shape: "hv" }, hovertemplate: "%{y} in use<extra></extra>" },
      ...this.failures(rows, colours),
    ];
  }

  /** The margin of the charts over one axis. */
  left(rows) {
    return leftOf(objectiveRange(rows));
  }

  frame(rows, x, colours) {
    const tested = rows.some((row) => row.event.statistic !== null && row.event.threshold !== null);
    const learning = tested ? untested(rows, x) : [];
    const names = {
      objective: "objective",
      statistic: `${tested && this.history.probabilistic ? "probability of a change" : "test statistic"}${!tested ? ": this algorithm tests nothing here" : learning.length ? narrow() ? " (grey: untested)" : " (grey: still learning, nothing is tested)" : ""}`,
      size: "points in use",
    };
    const title = this.title();
    const top = this.history.probabilistic ? 1.08 : statisticTop(rows);
    const scale = this.log.checked ? { type: "log", dtick: 1, minor: { showgrid: false } } : { range: [0, top] };
    return layout(colours, {
      height: narrow() ? 470 : 540,
      margin: { l: this.left(rows), r: 12, t: 22, b: title ? (this.history.dated ? 56 : 42) : 30 },
      uirevision: `${this.span.value} ${this.against.value} ${this.revision} ${this.log.checked}`,
      xaxis: axis(colours, { anchor: "y3", ...this.type(), ...(this.against.value === "step" ? wholeSteps(rows) : {}), title: title ? { text: title } : undefined, showgrid: false }),
      yaxis: axis(colours, { domain: RUNGS.objective, range: objectiveRange(rows), fixedrange: true, nticks: 6 }),
      yaxis2: axis(colours, { domain: RUNGS.statistic, fixedrange: true, nticks: 4, ...scale }),
      yaxis3: axis(colours, { domain: RUNGS.size, rangemode: "tozero", fixedrange: true, nticks: 3 }),
      annotations: Object.entries(names).map(([rung, text]) => ({
        text, xref: "paper", yref: "paper", x: 0, y: RUNGS[rung][1], xanchor: "left", yanchor: "bottom",
        showarrow: false, font: { size: 12, color: colours.muted }, yshift: 1,
      })),
      shapes: [
        ...learning.map(([from, to]) => ({ type: "rect", name: "learning", x0: from, x1: to, yref: "paper", y0: RUNGS.statistic[0], y1: RUNGS.statistic[1], layer: "below", line: { width: 0 }, fillcolor: colours.grey })),
        ...rows.flatMap((row, i) => (row.reset ? [line(x[i], colours, "3px,2px")] : [])),
        ...this.asked.map((each) => line(this.between(each), colours, "solid")),
      ],
    });
  }
}
