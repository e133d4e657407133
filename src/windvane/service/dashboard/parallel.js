// Parallel coordinates, drawn by hand: Plotly's own need WebGL and eval, which the page forbids itself.

import { narrow, palette, shade } from "./charts.js";
import { h, s } from "./dom.js";
import { number } from "./format.js";
import { position, valuesOf } from "./space.js";

const LINES = 200;
const MARGIN = 26;

function label(axis, end) {
  if (axis.kind === "choice") return String(end ? axis.options.at(-1) : axis.options[0]);
  return number(end ? axis.hi : axis.lo, 3);
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
      h("div", { class: "panel-head" }, h("h2", { id: "parallel-title" }, "All parameters at once"),
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
    const height = lying ? scales.length * 58 + 10 : 300;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    const ends = lying ? [8, width - 8] : [height - MARGIN, 44];
    const across = (index) => (lying ? 34 + index * 58 : 44 + (index * (width - 88)) / (scales.length - 1));
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
      const name = s("text", { x: lying ? x1 : x2, y: lying ? y1 - 10 : 16, "text-anchor": lying ? "start" : "middle", fill: colours.ink, stroke: colours.panel, "stroke-width": 4, "paint-order": "stroke", "font-size": 12, "font-weight": 600 }, short(axis.name, lying ? 30 : Math.max(5, Math.floor(width / scales.length / 7))));
      const most = lying ? 12 : Math.max(4, Math.floor(width / scales.length / 7));
      const ending = (end, x, y) => s("text", { x, y, "text-anchor": lying ? (end ? "end" : "start") : "middle", fill: colours.muted, stroke: colours.panel, "stroke-width": 3, "paint-order": "stroke", "font-size": 11 }, short(label(axis, end), most));
      return s("g", {}, s("line", { x1, y1, x2, y2, stroke: colours.ink, "stroke-width": 1.4 }), name,
        ending(0, lying ? x1 : x1, lying ? y1 + 14 : y1 + 16), ending(1, x2, lying ? y2 + 14 : 34));
    });
    this.svg.replaceChildren(...lines, ...rulers);
    const text = `The last ${rows.length} points in use, a line each, coloured by y from ${number(low)} to ${number(high)}.`;
    this.caption.textContent = text;
    this.svg.setAttribute("aria-label", text);
  }
}
