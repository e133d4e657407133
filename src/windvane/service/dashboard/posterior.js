// What the model believes now: a curve, a map, a slice, or bars.

import { get, pathOf } from "./api.js";
import { axis, band, draw, layout, literal, logTicks, narrow, padded, palette, SCALE } from "./charts.js";
import { complaint, field, h, segmented, setText } from "./dom.js";
import { point } from "./format.js";
import { spoken, valuesOf } from "./space.js";

/** The range that a map fills to its edges; cells of integers reach half a step further. */
function extent(axis) {
  if (axis.kind === "choice") return {};
  if (axis.log && axis.kind === "real") return { range: [Math.log10(axis.lo), Math.log10(axis.hi)] };
  return axis.log ? {} : { range: axis.kind === "integer" ? [axis.lo - 0.5, axis.hi + 0.5] : [axis.lo, axis.hi] };
}

/** The panel; `refresh` fetches and draws. */
export class Posterior {
  constructor(name, space, axes, history) {
    Object.assign(this, { name, space, axes, history, shows: "mean", trouble: complaint() });
    this.flat = axes.length === 1;
    this.chart = h("div", { class: "chart posterior", role: "img", "aria-label": "Posterior" });
    this.caption = h("p", { class: "caption" });
    const order = axes.map((_, index) => index).sort((a, b) => Number(axes[a].context ?? false) - Number(axes[b].context ?? false));
    this.selects = axes.length > 2 ? [0, 1].map((which) => this.selector(which, order[which])) : [];
    this.held = {}; // contexts that somebody has set; the others are what they were last
    this.sliders = axes.filter((each) => each.context).map((each) => this.slider(each));
    this.node = h("section", { class: "panel posterior-panel", "aria-labelledby": "posterior-title" },
      h("div", { class: "panel-head" },
        h("h2", { id: "posterior-title" }, "Belief now"),
        h("div", { class: "panel-tools" },
          this.selects.map((select, which) => field(which ? "Up" : "Across", select)),
          this.sliders.map(({ axis, input }) => field(axis.name, input)),
          this.flat ? null : segmented("Show", [["mean", "mean"], ["std", "uncertainty"]], "mean", (value) => { this.shows = value; this.redraw(); }))),
      this.trouble.node, this.chart, this.caption);
  }

  selector(which, first) {
    return h("select", { onchange: () => this.picked(which) },
      this.axes.map((each, index) => h("option", { value: index, selected: index === first }, each.name)));
  }

  /** What a context is to be in the slice: as it was last until somebody moves it. */
  slider(axis) {
    const set = (value) => { this.held[axis.name] = value; this.refresh(); };
    if (axis.kind === "choice") {
      return { axis, input: h("select", { onchange: (event) => set(axis.options[Number(event.target.value)]) }, axis.options.map((option, index) => h("option", { value: index }, String(option)))) };
    }
    const step = axis.kind === "integer" ? 1 : (axis.hi - axis.lo) / 100;
    return { axis, input: h("input", { type: "range", min: axis.lo, max: axis.hi, step, onchange: (event) => set(Math.min(Math.max(Number(event.target.value), axis.lo), axis.hi)) }) };
  }

  /** The sliders show what the slice is for, but for those that are its axes. */
  place() {
    const along = this.surface.axes.map((each) => each.name);
    for (const { axis, input } of this.sliders) {
      const value = this.surface.at[axis.name];
      input.value = axis.kind === "choice" ? axis.options.indexOf(value) : value;
      input.disabled = along.includes(axis.name);
      input.title = String(value);
    }
  }

  /** The two axes must differ: the other one takes what this one had. */
  picked(which) {
    const [own, other] = [this.selects[which], this.selects[1 - which]];
    if (own.value === other.value) other.value = String(this.before[which]);
    this.refresh();
  }

  async refresh() {
    if (!this.history.tells.length) return;
    this.before = this.selects.map((select) => Number(select.value));
    const chosen = this.selects.length ? this.before : this.axes.map((_, index) => index);
    const query = new URLSearchParams({ axes: chosen.map((index) => this.axes[index].name).join(","), resolution: this.flat ? 100 : 41 });
    if (Object.keys(this.held).length) query.set("context", JSON.stringify(this.held));
    try {
      this.surface = await get(pathOf(this.name, `/surface?${query}`));
      this.trouble.show(null);
      this.place();
    } catch (error) {
      this.trouble.show(error);
      return;
    }
    await this.redraw();
  }

  async redraw() {
    if (!this.surface) return;
    const colours = palette();
    const kind = this.axes[0].kind;
    if (this.flat && (kind === "arm" || kind === "choice")) await this.bars(colours);
    else if (this.flat) await this.curve(colours);
    else await this.map(colours);
  }

  scale(colours, which, more = {}) {
    const found = this.surface.axes[which];
    const own = this.axes.find((each) => each.name === found.name);
    const type = own?.kind === "choice" ? { type: "category" } : own?.log ? logTicks(own.lo, own.hi) : {};
    return axis(colours, { ...type, ...(this.flat ? {} : extent(own)), title: { text: literal(found.name) }, showgrid: false, nticks: 7, ...more });
  }

  values(which) {
    return this.surface.axes[which].values.map((value) => (typeof value === "string" ? literal(value) : value));
  }

  async curve(colours) {
    const { mean, std, at } = this.surface;
    const x = this.values(0);
    const low = mean.map((each, i) => each - 2 * std[i]);
    const high = mean.map((each, i) => each + 2 * std[i]);
    const used = this.history.inUse();
    const best = valuesOf(at, this.axes)[0];
    await draw(this.chart, [
      ...band(x, low, high, colours),
      { x, y: mean, mode: "lines", line: { color: colours.data, width: 2 }, hovertemplate: "%{x:.4g}: %{y:.4g}<extra></extra>" },
      { x: used.map((row) => valuesOf(row.x, this.axes)[0]), y: used.map((row) => row.y), mode: "markers",
        marker: { color: colours.ink, size: 5, opacity: used.map((_, i) => 0.25 + (0.75 * (i + 1)) / used.length) }, hovertemplate: "observed %{y:.4g} at %{x:.4g}<extra></extra>" },
    ], layout(colours, {
      height: narrow() ? 280 : 340,
      xaxis: this.scale(colours, 0),
      yaxis: axis(colours, { range: padded([...low, ...high, ...used.map((row) => row.y)]), fixedrange: true, nticks: 6 }),
      shapes: [{ type: "line", x0: best, x1: best, y0: 0, y1: 1, yref: "paper", line: { color: colours.ink, width: 1, dash: "dot" } }],
    }));
    this.say(`Mean ± 2σ; dots are the ${used.length} points in use, older ones paler; the dotted line is the believed best, ${point(at)}.`);
  }

  async bars(colours) {
    const { mean, std, at } = this.surface;
    const best = valuesOf(at, this.axes)[0];
    const x = this.values(0);
    const strong = this.surface.axes[0].values.map((value) => value === best);
    await draw(this.chart, [{
      type: "bar", x, y: mean, marker: { color: strong.map((yes) => (yes ? colours.data : colours.soft)), line: { color: colours.data, width: 1.2 } },
      error_y: { type: "data", array: std.map((each) => 2 * each), color: colours.ink, thickness: 1.3, width: x.length > 30 ? 0 : 4 },
      hovertemplate: `${this.axes[0].kind === "arm" ? `${this.axes[0].name} ` : ""}%{x}: %{y:.4g}<extra></extra>`,
    }], layout(colours, {
      height: narrow() ? 280 : 340,
      bargap: 0.35,
      xaxis: this.scale(colours, 0, x.length <= 20 ? { dtick: 1 } : {}),
      yaxis: axis(colours, { fixedrange: true, nticks: 6, zeroline: true, zerolinecolor: colours.muted }),
    }));
    this.say(`Mean ± 2σ of each; the filled bar, ${spoken(this.space, at)}, is believed best.`);
  }

  async map(colours) {
    const { at } = this.surface;
    const names = this.surface.axes.map((each) => each.name);
    const smooth = names.every((name) => this.axes.find((each) => each.name === name)?.kind === "real");
    const where = (x) => names.map((name) => valuesOf(x, this.axes)[this.axes.findIndex((each) => each.name === name)]);
    const used = this.history.inUse().map((row) => where(row.x));
    const text = (value) => (typeof value === "string" ? literal(value) : value);
    const best = where(at).map(text);
    await draw(this.chart, [
      {
        type: smooth ? "contour" : "heatmap", x: this.values(0), y: this.values(1), z: this.surface[this.shows], colorscale: SCALE,
        contours: { coloring: "heatmap" }, line: { width: 0.6, color: "rgba(255,255,255,.45)" }, ncontours: 12,
        colorbar: { thickness: 10, outlinewidth: 0, tickfont: { size: 11, color: colours.muted }, nticks: 6, len: 1, lenmode: "fraction", xpad: 6 },
        hovertemplate: `${literal(names[0])} %{x}<br>${literal(names[1])} %{y}<br>%{z:.4g}<extra></extra>`,
      },
      { x: used.map((each) => text(each[0])), y: used.map((each) => text(each[1])), mode: "markers", hoverinfo: "skip", cliponaxis: false,
        marker: { size: 5, color: "#fff", line: { color: "#10181f", width: 1 }, opacity: used.map((_, i) => 0.3 + (0.7 * (i + 1)) / used.length) } },
      { x: [best[0]], y: [best[1]], mode: "markers", hovertemplate: "believed best<extra></extra>", cliponaxis: false,
        marker: { size: 15, symbol: "cross-thin", line: { color: "#10181f", width: 5 } } },
      { x: [best[0]], y: [best[1]], mode: "markers", hoverinfo: "skip", cliponaxis: false, marker: { size: 13, symbol: "cross-thin", line: { color: "#fff", width: 2 } } },
    ], layout(colours, {
      height: narrow() ? 320 : 340,
      margin: { l: 58, r: 8, t: 10, b: 44 },
      xaxis: this.scale(colours, 0, { ticks: "outside" }),
      yaxis: this.scale(colours, 1),
    }));
    const seen = this.sliders.length ? " under the contexts that are set, or were last" : "";
    const slice = this.axes.length > 2 ? ` A slice: the other parameters are held at the believed best${seen}, ${point(at, 3)}.` : "";
    this.say(`${this.shows === "mean" ? "Mean" : "Standard deviation"} of the objective; dots are points in use, the cross is the believed best.${slice}`);
  }

  say(text) {
    setText(this.caption, text);
    this.chart.setAttribute("aria-label", text);
  }
}
