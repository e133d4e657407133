// What the model believes now: a curve, a map, a slice, or bars.

import { get, pathOf } from "./api.js";
import { axis, band, draw, layout, leftOf, literal, logTicks, marginOf, narrow, optionTicks, padded, palette, pictureButton, SCALE } from "./charts.js";
import { complaint, field, h, segmented, setText } from "./dom.js";
import { isSmall, number, percent, plusMinus, withUnit } from "./format.js";
import { heading } from "./help.js";
import { allowed, hatching, limitOf, stretches } from "./limits.js";
import { spoken, titleOf, valueOn, valuesOf } from "./space.js";

/** The range that a map fills to its edges; cells of integers reach half a step further. */
function extent(axis) {
  if (axis.kind === "choice") return {};
  if (axis.log && axis.kind === "real") return { range: [Math.log10(axis.lo), Math.log10(axis.hi)] };
  return axis.log ? {} : { range: axis.kind === "integer" ? [axis.lo - 0.5, axis.hi + 0.5] : [axis.lo, axis.hi] };
}

/** The panel; `refresh` fetches and draws. */
export class Posterior {
  constructor(name, space, axes, history, constraints = [], safe = null) {
    Object.assign(this, { name, space, axes, history, constraints, safe, shows: "mean", trouble: complaint() });
    this.of = constraints.length ? h("select", { onchange: () => this.refresh() }, h("option", { value: "" }, "objective"), constraints.map((each) => h("option", { value: each.name }, each.name))) : null;
    const views = [["mean", "mean"], ["std", "uncertainty"], ...(constraints.length ? [["chance", "probability"]] : [])];
    this.flat = axes.length === 1;
    this.chart = h("div", { class: "chart posterior", role: "img", "aria-label": "Posterior" });
    this.caption = h("p", { class: "caption" });
    const order = axes.map((_, index) => index).sort((a, b) => Number(axes[a].context ?? false) - Number(axes[b].context ?? false));
    this.selects = axes.length > 2 ? [0, 1].map((which) => this.selector(which, order[which])) : [];
    this.held = {}; // contexts that somebody has set; the others are what they were last
    this.sliders = axes.filter((each) => each.context).map((each) => this.slider(each));
    this.node = h("section", { class: "panel posterior-panel", "aria-labelledby": "posterior-title" },
      h("div", { class: "panel-head" },
        heading("posterior", "Belief now"),
        h("div", { class: "panel-tools" },
          this.of ? field("Of", this.of) : null,
          this.selects.map((select, which) => field(which ? "Up" : "Across", select)),
          this.sliders.map(({ axis, input }) => field(axis.name, input)),
          this.flat ? null : segmented("Show", views, "mean", (value) => { this.shows = value; this.redraw(); }), pictureButton(this.chart, name, "Belief now"))),
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
      input.title = valueOn(axis, value);
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
    if (this.of) query.set("feasibility", "true");
    if (this.of?.value) query.set("of", this.of.value);
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
    this.shown = this.constraints.find((each) => each.name === this.surface.of) ?? null;
    this.region = this.constraints.length ? allowed(this.surface, this.safe) : null;
    if (this.flat && (kind === "arm" || kind === "choice")) await this.bars(colours);
    else if (this.flat) await this.curve(colours);
    else await this.map(colours);
  }

  /** The names of the options of an axis as they fit, or null if it has none. */
  options(which) {
    const own = this.axes.find((each) => each.name === this.surface.axes[which].name);
    if (own?.kind !== "choice") return null;
    if (which) return optionTicks(own.options, narrow() ? 12 : 18, own.options.length > 6 ? 1 : 3);
    const room = (this.chart.clientWidth - (this.flat ? 70 : 160)) / own.options.length / 7; // characters side by side
    if (room >= 7) return optionTicks(own.options, Math.floor(room), 4);
    const steep = optionTicks(own.options, 18, 1); // there are too many: they stand
    return { ...steep, ticks: { ...steep.ticks, tickangle: -90 }, lines: steep.characters * 0.45 };
  }

  /** The room below a chart, in pixels. */
  below() {
    return 28 + 14 * (this.options(0)?.lines ?? 1);
  }

  scale(colours, which, more = {}) {
    const found = this.surface.axes[which];
    const own = this.axes.find((each) => each.name === found.name);
    const type = own?.kind === "choice" ? { type: "category", tickangle: 0, ...this.options(which).ticks } : own?.log ? logTicks(own.lo, own.hi) : {};
    return axis(colours, { ...type, ...(this.flat ? {} : extent(own)), title: { text: literal(own ? titleOf(own) : found.name) }, showgrid: false, nticks: 7, ...more });
  }

  /** The tells in use of what is shown, and the value of each that counts. */
  used() {
    const rows = this.history.inUse(this.shown?.name ?? null);
    return { rows, values: rows.map((row) => (this.shown ? row.event.outcomes[this.shown.name].value : row.y)) };
  }

  /** A line at the limit of the constraint that is shown, with what it is. */
  limit(colours) {
    if (!this.shown) return { shapes: [], annotations: [] };
    const { limit, most, name } = this.shown;
    return {
      shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: limit, y1: limit, line: { color: colours.ink, width: 1.4, dash: "dash" } }],
      annotations: [{ text: literal(`${name} ${limitOf(this.shown)}`), xref: "paper", x: 1, y: limit, xanchor: "right", yanchor: most ? "bottom" : "top", showarrow: false, bgcolor: colours.panel, borderpad: 2, font: { size: 11, color: colours.ink } }],
    };
  }

  /** What is ruled out by the constraints, in words. */
  ruled(crossed = false) {
    if (!this.region) return "";
    return ` ${crossed ? this.region.words.replace("Hatched", "Crossed out") : this.region.words}`;
  }

  /** Of what, in words. */
  what() {
    return this.shown ? ` of ${withUnit(this.shown.name, this.shown.unit && `(${this.shown.unit})`)}` : this.of ? " of the objective" : "";
  }

  values(which) {
    return this.surface.axes[which].values.map((value) => (typeof value === "string" ? literal(value) : value));
  }

  /** What a place on a single axis says when it is pointed at. */
  hover(value, text) {
    const axis = this.axes[0];
    return literal(`${axis.kind === "arm" || axis.kind === "choice" ? "" : `${axis.name} `}${axis.kind === "arm" ? `${axis.name} ${value}` : valueOn(axis, value)}: ${text}`);
  }

  async curve(colours) {
    const { mean, std, at } = this.surface;
    const x = this.values(0);
    const low = mean.map((each, i) => each - 2 * std[i]);
    const high = mean.map((each, i) => each + 2 * std[i]);
    const used = this.used();
    const unit = this.shown?.unit;
    const best = valuesOf(at, this.axes)[0];
    const range = padded([...low, ...high, ...used.values, ...(this.shown ? [this.shown.limit] : [])]);
    const limit = this.limit(colours);
    await draw(this.chart, [
      ...this.hatched(x, range, colours),
      ...band(x, low, high, colours),
      { x, y: mean, mode: "lines", line: { color: colours.data, width: 2 }, text: mean.map((each, i) => this.hover(x[i], plusMinus(each, std[i], unit))), hovertemplate: "%{text}<extra></extra>" },
      { x: used.rows.map((row) => valuesOf(row.x, this.axes)[0]), y: used.values, mode: "markers",
        marker: { color: colours.ink, size: 5, opacity: used.rows.map((_, i) => 0.25 + (0.75 * (i + 1)) / used.rows.length) }, text: used.rows.map((row, i) => this.hover(valuesOf(row.x, this.axes)[0], `observed ${withUnit(number(used.values[i]), unit)}`)), hovertemplate: "%{text}<extra></extra>" },
    ], layout(colours, {
      height: narrow() ? 280 : 340,
      margin: { l: leftOf(range), r: 14, t: 10, b: 40 },
      xaxis: this.scale(colours, 0),
      yaxis: axis(colours, { range, fixedrange: true, nticks: 6 }),
      annotations: limit.annotations,
      shapes: [...limit.shapes, { type: "line", x0: best, x1: best, y0: 0, y1: 1, yref: "paper", line: { color: colours.ink, width: 1, dash: "dot" } }],
    }));
    this.say(`Mean ± 2σ${this.what()}; dots are the ${used.rows.length} points in use, older ones paler; the dotted line is the believed best, ${spoken(this.space, at)}.${this.ruled()}`);
  }

  /** Stretches of a curve that are ruled out, hatched from the bottom of the picture to its top. */
  hatched(x, [low, high], colours) {
    const found = this.region ? stretches(this.region.outside) : [];
    if (!found.length) return [];
    const middle = (a, b) => (this.axes[0].log ? Math.sqrt(x[a] * x[b]) : (x[a] + x[b]) / 2);
    const [xs, ys] = [[], []];
    for (const [first, last] of found) {
      const left = first ? middle(first - 1, first) : x[first];
      const right = last < x.length - 1 ? middle(last, last + 1) : x[last];
      xs.push(left, left, right, right, left, null);
      ys.push(low, high, high, low, low, null);
    }
    return [{ x: xs, y: ys, mode: "lines", fill: "toself", fillcolor: "rgba(0,0,0,0)", fillpattern: { shape: "/", size: 9, solidity: 0.14, fgcolor: colours.muted, bgcolor: "rgba(0,0,0,0)" },
      line: { color: colours.muted, width: 1 }, hoverinfo: "skip", meta: "ruled out" }];
  }

  async bars(colours) {
    const { mean, std, at } = this.surface;
    const best = valuesOf(at, this.axes)[0];
    const x = this.values(0);
    const limit = this.limit(colours);
    const strong = this.surface.axes[0].values.map((value) => value === best);
    await draw(this.chart, [{
      type: "bar", x, y: mean, marker: { color: strong.map((yes) => (yes ? colours.data : colours.soft)), line: { color: colours.data, width: 1.2 },
        ...(this.region ? { pattern: { shape: x.map((_, i) => (this.region.outside[i] ? "/" : "")), fgcolor: colours.ink, bgcolor: colours.panel, size: 7, solidity: 0.2 } } : {}) },
      error_y: { type: "data", array: std.map((each) => 2 * each), color: colours.ink, thickness: 1.3, width: x.length > 30 ? 0 : 4 },
      text: mean.map((each, i) => this.hover(this.surface.axes[0].values[i], plusMinus(each, std[i], this.shown?.unit))), hovertemplate: "%{text}<extra></extra>", textposition: "none",
    }], layout(colours, {
      height: narrow() ? 280 : 340,
      bargap: 0.35,
      margin: { l: leftOf(padded([0, ...mean, ...mean.map((each, i) => each + 2 * std[i])])), r: 14, t: 10, b: this.below() },
      ...limit,
      xaxis: this.scale(colours, 0, x.length <= 20 && this.axes[0].kind !== "choice" ? { dtick: 1 } : {}),
      yaxis: axis(colours, { fixedrange: true, nticks: 6, zeroline: true, zerolinecolor: colours.muted }),
    }));
    this.say(`Mean ± 2σ${this.what()} for each; the filled bar, ${spoken(this.space, at)}, is believed best.${this.ruled()}`);
  }

  async map(colours) {
    const { at } = this.surface;
    const names = this.surface.axes.map((each) => each.name);
    const along = names.map((name) => this.axes.find((each) => each.name === name));
    const smooth = along.every((each) => each.kind === "real");
    const where = (x) => names.map((name) => valuesOf(x, this.axes)[this.axes.findIndex((each) => each.name === name)]);
    const used = this.used().rows.map((row) => where(row.x));
    const [x, y] = [this.values(0), this.values(1)];
    const chance = this.shows === "chance";
    const grid = chance ? (this.shown ? this.surface.feasibility[this.shown.name] : this.surface.feasible) : this.surface[this.shows];
    const text = (value) => (typeof value === "string" ? literal(value) : value);
    const best = where(at).map(text);
    await draw(this.chart, [
      {
        type: smooth ? "contour" : "heatmap", x, y, z: grid, colorscale: SCALE, ...(chance ? { zmin: 0, zmax: 1 } : {}),
        contours: { coloring: "heatmap" }, line: { width: 0.6, color: "rgba(255,255,255,.45)" }, ncontours: 12,
        colorbar: { exponentformat: "power", minexponent: isSmall(Math.min(...grid.flat()), Math.max(...grid.flat())) ? 3 : 8, separatethousands: true, thickness: 10, outlinewidth: 0, tickfont: { size: 11, color: colours.muted }, nticks: 6, len: 1, lenmode: "fraction", xpad: 6 },
        text: grid.map((row, j) => row.map((value, i) => [
          ...along.map((each, which) => literal(`${each.name} ${valueOn(each, this.surface.axes[which].values[which ? j : i])}`)),
          chance ? percent(value) : withUnit(number(value, this.shows === "mean" ? this.surface.std[j][i] : null), this.shown?.unit)].join("<br>"))),
        hovertemplate: "%{text}<extra></extra>",
      },
      ...this.outside(x, y, smooth),
      { x: used.map((each) => text(each[0])), y: used.map((each) => text(each[1])), mode: "markers", hoverinfo: "skip", cliponaxis: false,
        marker: { size: 5, color: "#fff", line: { color: "#10181f", width: 1 }, opacity: used.map((_, i) => 0.3 + (0.7 * (i + 1)) / used.length) } },
      { x: [best[0]], y: [best[1]], mode: "markers", hovertemplate: "believed best<extra></extra>", cliponaxis: false,
        marker: { size: 15, symbol: "cross-thin", line: { color: "#10181f", width: 5 } } },
      { x: [best[0]], y: [best[1]], mode: "markers", hoverinfo: "skip", cliponaxis: false, marker: { size: 13, symbol: "cross-thin", line: { color: "#fff", width: 2 } } },
    ], layout(colours, {
      height: narrow() ? 320 : 340,
      margin: { l: 6 + (along[1].kind === "choice" ? marginOf(this.options(1).characters + 1) : leftOf([along[1].lo, along[1].hi])), r: 8, t: 10, b: this.below() },
      xaxis: this.scale(colours, 0, { ticks: "outside" }),
      yaxis: this.scale(colours, 1),
    }));
    const seen = this.sliders.length ? " under the contexts that are set, or were last" : "";
    const slice = this.axes.length > 2 ? ` A slice: the other parameters are held at the believed best${seen}, ${spoken(this.space, at)}.` : "";
    const shown = chance ? (this.shown ? `Probability that ${this.shown.name} ${limitOf(this.shown)} holds` : "Probability that all constraints hold") :
      `${this.shows === "mean" ? "Mean" : "Standard deviation"}${this.what() || " of the objective"}`;
    this.say(`${shown}; dots are points in use, the cross is the believed best.${this.ruled(!smooth)}${slice}`);
  }

  /** What is ruled out on a map: hatched with an edge, or a cross in each cell; and the limit of what is shown. */
  outside(x, y, smooth) {
    if (!this.region) return [];
    const plain = { hoverinfo: "skip", showscale: false };
    const [dark, light] = ["#10181f", "#ffffff"];
    const edge = (z, at, more) => ({ ...plain, type: "contour", x, y, z, autocontour: false, contours: { start: at, end: at, size: 1, coloring: "none", ...more.contours }, line: more.line });
    if (!smooth) {
      const thin = (all, index) => all.length < 25 || index % 2 === 0; // a mark in every other cell where there are many
      const cells = this.region.outside.flatMap((row, j) => row.flatMap((yes, i) => (yes && thin(x, i) && thin(y, j) ? [[x[i], y[j]]] : [])));
      const marks = { ...plain, x: cells.map((each) => each[0]), y: cells.map((each) => each[1]), mode: "markers" };
      return [[dark, 4], [light, 1.6]].map(([color, width]) => ({ ...marks, marker: { symbol: "x-thin", size: 9, line: { color, width } }, meta: "ruled out" }));
    }
    const lines = { ...hatching(x, y, this.region.outside), ...plain, mode: "lines", connectgaps: false, meta: "ruled out" };
    const limit = this.shown && this.shows === "mean" ? [edge(this.surface.mean, this.shown.limit, { line: { color: light, width: 2, dash: "dash" }, contours: { showlabels: true, labelfont: { size: 12, color: light } } })] : [];
    return [
      { ...lines, line: { color: dark, width: 2.4 }, opacity: 0.55 },
      { ...lines, line: { color: light, width: 1 }, opacity: 0.85 },
      edge(this.region.chance, this.region.level, { line: { color: dark, width: 4 } }),
      edge(this.region.chance, this.region.level, { line: { color: light, width: 2 } }),
      ...limit,
    ];
  }

  say(text) {
    setText(this.caption, text);
    this.chart.setAttribute("aria-label", text);
  }
}
