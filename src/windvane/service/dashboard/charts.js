// Plotly, loaded once and only where there is something to draw, in the page's colours.

let loading = null;

/** The chart library, from the service itself. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/static/plotly.min.js";
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
    reset: read("reset"),
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
  return { type: "log", tickmode: "array", tickvals: inside, ticktext: inside.map((value) => Number(value.toPrecision(2)).toString()) };
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
    ...more,
    title: more.title ? { font: { size: 12, color: colours.muted }, standoff: 8, ...more.title } : undefined,
  };
}

/** A layout in the house style. `uirevision` keeps a zoom while data arrive. */
export function layout(colours, more) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: colours.font, size: 12, color: colours.ink },
    margin: { l: 52, r: 14, t: 10, b: 40 },
    showlegend: false,
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
  await library.react(node, traces, how, CONFIG);
}

/** A band between two lines. */
export function band(x, low, high, colours, more = {}) {
  const edge = { x, mode: "lines", line: { width: 0 }, hoverinfo: "skip", ...more };
  return [
    { ...edge, y: low },
    { ...edge, y: high, fill: "tonexty", fillcolor: colours.soft },
  ];
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
