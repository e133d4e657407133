// Plotly, loaded once and only where there is something to draw, in the page's colours.

import { h } from "./dom.js";
import { isSmall, labelLength, number } from "./format.js";

let loading = null;

const LIBRARY = "/static/plotly.min.js"; // 5 MB

/** Have the chart library fetched, but not run yet: that would keep the page from being painted. */
export function fetchPlotly() {
  const link = document.createElement("link");
  Object.assign(link, { rel: "preload", as: "script", href: LIBRARY });
  document.head.append(link);
}

/** The chart library, from the service itself. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = LIBRARY;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("The chart library could not be loaded from the service."));
    document.head.append(script);
  });
  return loading;
}

/** The colours in force, from the style sheet. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: read("ink"),
    muted: read("muted"),
    line: read("line"),
    panel: read("panel"),
    data: read("data"),
    soft: read("data-soft"),
    grey: read("grey"),
    reset: read("reset"),
    warn: read("warn"),
    warnSoft: read("warn-soft"),
    ramp: ["ramp-low", "ramp-middle", "ramp-high"].map(read),
    font: read("font"),
  };
}

/** From low to high; one direction in lightness, so that it reads without colour as well. */
export const SCALE = [
  [0, "#15284b"],
  [0.25, "#31507a"],
  [0.5, "#6d7f8c"],
  [0.75, "#b5a97c"],
  [1, "#f6e08a"],
];

/** A colour between three, for what Plotly does not draw: "rgb(r, g, b)" of a fraction. */
export function shade(fraction, [low, middle, high]) {
  const at = Math.min(1, Math.max(0, fraction));
  const [from, to, share] = at < 0.5 ? [low, middle, 2 * at] : [middle, high, 2 * at - 1];
  const channel = (i) => {
    const [a, b] = [from, to].map((colour) => parseInt(colour.slice(i, i + 2), 16));
    return Math.round(a + share * (b - a));
  };
  return `rgb(${[1, 3, 5].map(channel).join(", ")})`;
}

/** Text that Plotly shows as it is: it would read tags and entities. */
export function literal(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Whether fingers scroll here, so that a chart must not catch them. */
export function narrow() {
  return window.matchMedia("(max-width: 700px), (pointer: coarse)").matches;
}

/** Ticks of a log axis in plain numbers: 1, 2, 5 of each decade, or the decades alone if there are many. */
export function logTicks(low, high) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const steps = last - first > 3 ? [1] : last - first > 2 ? [1, 3] : [1, 2, 5];
  const values = [];
  for (let decade = first; decade <= last; decade += 1) values.push(...steps.map((step) => step * 10 ** decade));
  const inside = values.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  return { type: "log", tickmode: "array", tickvals: inside, ticktext: inside.map((value) => number(Number(value.toPrecision(2)))) };
}

/** An axis in the house style. */
export function axis(colours, more = {}) {
  return {
    gridcolor: colours.line,
    linecolor: colours.line,
    zeroline: false,
    ticks: "outside",
    ticklen: 4,
    tickcolor: colours.line,
    tickfont: { size: 11, color: colours.muted },
    automargin: false,
    fixedrange: narrow(),
    exponentformat: "power",
    minexponent: 8, // as the formatter of the page, which writes out what is below a thousand million
    separatethousands: true,
    ...more,
    title: more.title ? { font: { size: 12, color: colours.muted }, standoff: 8, ...more.title } : undefined,
  };
}

/** What an axis that counts steps needs so that its few ticks are whole numbers. */
export const wholeSteps = (rows) => (rows.length < 8 ? { tick0: 0, dtick: 1 } : {});

const LETTER = 6.3; // px of a character of a label, about

/** A name on lines of so many characters, broken between words where it can be; what has no room ends in an ellipsis. */
export function wrapped(text, width, most) {
  const lines = [""];
  for (const word of String(text).split(/\s+/).filter(Boolean)) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (longer.length <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const shown = lines.slice(0, most).map((line) => (line.length > width ? `${line.slice(0, width - 1)}…` : line));
  if (lines.length > most && !shown.at(-1).endsWith("…")) shown[most - 1] = `${shown[most - 1].slice(0, width - 1)}…`;
  return shown;
}

/**
 * The ticks of an axis of options, whose names may be long: `ticks` for the axis, `characters` and `lines` that they take.
 * The whole name is in what is shown when a point is pointed at, and in words below the chart.
 */
export function optionTicks(options, width, most) {
  const names = options.map((each) => wrapped(each, width, most));
  return {
    ticks: { tickmode: "array", tickvals: options.map((each) => (typeof each === "string" ? literal(each) : each)), ticktext: names.map((lines) => lines.map(literal).join("<br>")) },
    characters: Math.max(...names.flat().map((line) => line.length)),
    lines: Math.max(...names.map((lines) => lines.length)),
  };
}

/** The margin that labels of so many characters need, in pixels. */
export function marginOf(characters) {
  return Math.max(52, 16 + LETTER * characters);
}

/** The margin that the labels of vertical axes need, in pixels; `ranges` are [low, high] each. */
export function leftOf(...ranges) {
  return Math.max(...[[0, 0], ...ranges.filter(Boolean)].map(([low, high]) => marginOf(labelLength(low, high))));
}

/** A layout in the house style. `uirevision` keeps a zoom while data arrive. */
export function layout(colours, more) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: colours.font, size: 12, color: colours.ink },
    margin: { l: 52, r: 14, t: 10, b: 40 },
    showlegend: false,
    separators: ".\u202f",
    hovermode: "closest",
    hoverlabel: { bgcolor: colours.panel, bordercolor: colours.muted, font: { color: colours.ink, size: 12, family: colours.font }, align: "left" },
    dragmode: narrow() ? false : "zoom",
    uirevision: "kept",
    ...more,
  };
}

const CONFIG = { displayModeBar: false, responsive: true, displaylogo: false, showTips: false };

/** Draw, or draw again. */
export async function draw(node, traces, how) {
  const library = await plotly();
  if (!node.isConnected || !node.clientWidth) return;
  for (const [name, each] of Object.entries(how)) {
    // Small numbers with a power of ten, as the formatter of the page has them.
    if (name.includes("axis") && each.range && !each.type && isSmall(...each.range)) each.minexponent = 3;
  }
  await library.react(node, traces, how, CONFIG);
}

/** A button that saves a chart as a picture; as SVG, which is sharp at every size. */
export function pictureButton(chart, name, title) {
  return h("button", { type: "button", class: "quiet picture", "aria-label": `Save “${title}” as a picture`, title: "Save as a picture (SVG)", onclick: async () => {
    if (!chart.data) return; // nothing is drawn yet
    const library = await plotly();
    const ground = { paper_bgcolor: palette().panel }; // on its own a picture needs a ground to stand on
    const drawn = { data: chart.data, layout: { ...chart.layout, ...ground } };
    const href = await library.toImage(drawn, { format: "svg", width: chart.clientWidth, height: chart.clientHeight });
    h("a", { href, download: `${name} - ${title}.svg` }).click();
  } }, "Picture");
}

/** A band between two lines. */
export function band(x, low, high, colours, more = {}) {
  const edge = { x, mode: "lines", line: { width: 0 }, hoverinfo: "skip", ...more };
  return [
    { ...edge, y: low },
    { ...edge, y: high, fill: "tonexty", fillcolor: colours.soft },
  ];
}

/** The value below which a share of the others is. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))];
}

/** The range that shows the data, with some air. */
export function padded(values, share = 0.06) {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return undefined;
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  const air = (high - low || Math.abs(high) || 1) * share;
  return [low - air, high + air];
}
