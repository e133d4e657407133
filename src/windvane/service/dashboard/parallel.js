// Parallel coordinates, drawn by hand: Plotly's own need WebGL and eval, which the page forbids itself.

import { narrow, palette, shade } from "./charts.js";
import { h, s } from "./dom.js";
import { number } from "./format.js";
import { heading } from "./help.js";
import { position, titleOf, valueOn, valuesOf } from "./space.js";

const LINES = 200;
const MARGIN = 26;
const SIDE = 52; // px beside the first and the last axis
const RANGE = 23; // characters of the ends of an axis that lies
const ROW = 54; // px of an axis that lies
const NAMES = 146; // px beside it

function label(axis, end) {
  if (axis.kind === "choice") return String(end ? axis.options.at(-1) : axis.options[0]);
  return valueOn({ ...axis, unit: "" }, end ? axis.hi : axis.lo);
}

function short(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** The panel, for three parameters or more; on a narrow screen the axes lie down. */
export class Parallel {
  constructor(axes, history, goal) {
    Object.assign(this, { axes, history, goal });
    this.svg = s("svg", { class: "parallel", role: "img" });
    this.caption = h("p", { class: "caption" });
    this.node = h("section", { class: "panel parallel-panel", "aria-labelledby": "parallel-title" },
      h("div", { class: "panel-head" }, heading("parallel", "All parameters at once"),
        h("p", { class: "key", "aria-hidden": "true" }, h("span", {}, goal === "minimize" ? "high y" : "low y", h("span", { class: "swatch ramp" }), goal === "minimize" ? "low y" : "high y"))),
      this.svg, this.caption);
  }

  update() {
    const rows = this.history.inUse().slice(-LINES);
    const width = this.svg.parentElement.clientWidth - 32;
    if (!rows.length || width < 50) return;
    const lying = narrow();
    const ys = rows.map((row) => row.y);
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    const scales = [...this.axes, { name: "y", kind: "real", lo: low, hi: high, log: false }];
    const height = lying ? scales.length * ROW : 300;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    // Lying down, names and ends have a column for themselves: no line of the data crosses them.
    const ends = lying ? [NAMES, width - 8] : [height - MARGIN, 44];
    const across = (index) => (lying ? ROW / 2 + index * ROW : SIDE + (index * (width - 2 * SIDE)) / (scales.length - 1));
    const spot = (index, share) => {
      const along = ends[0] + share * (ends[1] - ends[0]);
      return lying ? [along, across(index)] : [across(index), along];
    };
    const colours = palette();
    // The better, the stronger the colour; the best are drawn last, so that they lie on top.
    const strength = (y) => (this.goal === "minimize" ? high - y : y - low) / (high - low);
    const ordered = [...rows].sort((a, b) => strength(a.y) - strength(b.y));
    const lines = ordered.map((row) => {
      const values = [...valuesOf(row.x, this.axes), row.y];
      const points = values.map((value, index) => spot(index, position(scales[index], value)).map((each) => each.toFixed(1)).join(","));
      return s("polyline", { points: points.join(" "), fill: "none", stroke: shade(high > low ? strength(row.y) : 0.5, colours.ramp), "stroke-width": 1.4, "stroke-opacity": 0.75 },
        s("title", {}, `step ${row.step}: y ${number(row.y)}`));
    });
    const rulers = scales.map((axis, index) => {
      const [[x1, y1], [x2, y2]] = [spot(index, 0), spot(index, 1)];
      const write = (text, x, y, anchor, more = {}) => s("text", { x, y, "text-anchor": anchor, "font-size": 11, fill: colours.muted, ...more }, s("title", {}, text), short(text, lying && !more.fill ? RANGE : most));
      const strong = { "font-size": 12, "font-weight": 600, fill: colours.ink };
      const [between, last] = [(width - 2 * SIDE) / (scales.length - 1), scales.length - 1];
      const most = Math.max(5, Math.floor((lying ? NAMES : index === 0 || index === last ? SIDE + between / 2 - 8 : between - 8) / 7.2));
      const [side, at] = index === 0 ? ["start", Math.max(0, x2 - 3.6 * titleOf(axis).length)] : index === last ? ["end", Math.min(width, x2 + 3.6 * titleOf(axis).length)] : ["middle", x2]; // within the picture
      const labels = lying ?
        [write(titleOf(axis), 0, y1 - 2, "start", strong), write(`${label(axis, 0)} to ${label(axis, 1)}`, 0, y1 + 13, "start")] :
        [write(titleOf(axis), at, 16, side, strong), write(label(axis, 0), x1, y1 + 16, "middle"), write(label(axis, 1), x2, 34, "middle")];
      return s("g", {}, s("line", { x1, y1, x2, y2, stroke: colours.ink, "stroke-width": 1.4 }), labels);
    });
    this.svg.replaceChildren(...lines, ...rulers);
    const text = `The last ${rows.length} points in use, a line each, coloured by y from ${number(low)} to ${number(high)}.`;
    this.caption.textContent = text;
    this.svg.setAttribute("aria-label", text);
  }
}
