// What a study's points are made of: one axis per parameter, whatever the kind of space.

import { chosen, number, onScale, withUnit } from "./format.js";

/** The axes of a space as the service writes it: {name, kind, lo, hi, log, unit, options, context}. */
export function axesOf(space) {
  if (space.type === "Arms") return [{ name: "arm", kind: "arm", lo: 0, hi: space.n - 1, log: false }];
  if (space.type === "Candidates") return [{ name: "candidate", kind: "arm", lo: 0, hi: settings(space) - 1, log: false }];
  if (space.type === "Box") {
    return space.bounds.map(([lo, hi], index) => ({ name: `x${index + 1}`, kind: "real", lo, hi, log: false }));
  }
  return space.parameters.map(([name, given]) => {
    const context = given.type === "Context";
    const parameter = context ? given.parameter : given;
    if (parameter.type === "Choice") return { name, kind: "choice", options: parameter.options, context };
    const kind = parameter.type === "Integer" ? "integer" : "real";
    return { name, kind, lo: parameter.lo, hi: parameter.hi, log: parameter.log, unit: parameter.unit ?? "", context };
  });
}

/** What of a point is observed, not chosen, as an object; null if nothing is. */
export function contextOf(x, axes) {
  const seen = axes.filter((axis) => axis.context);
  return seen.length ? Object.fromEntries(seen.map((axis) => [axis.name, x[axis.name]])) : null;
}

/** The range of an axis in words. */
export function rangeOf(axis) {
  if (axis.kind === "choice") return undefined;
  return `${chosen(axis.lo)} to ${withUnit(chosen(axis.hi), axis.unit)}${axis.kind === "real" ? "" : ", whole"}`;
}

/** A value on an axis with its unit; the smaller the range, the more decimals. */
export function valueOn(axis, value) {
  if (typeof value !== "number") return String(value);
  return withUnit(axis.log || axis.kind !== "real" ? number(value) : onScale(value, axis.hi - axis.lo), axis.unit);
}

/** What an axis is called in a picture: `pressure (bar)`. */
export function titleOf(axis) {
  return axis.unit ? `${axis.name} (${axis.unit})` : axis.name;
}

/** How many settings a list of candidates has: an array of rows, or columns with their names. */
function settings(space) {
  return space.rows.array ? space.rows.array.length : space.rows[0][1].length;
}

/** The setting of a candidate by name, or null if points are no candidates. */
export function settingOf(space, x) {
  if (space.type !== "Candidates" || !Number.isInteger(x) || x < 0 || x >= settings(space)) return null;
  if (space.rows.array) return Object.fromEntries(space.rows.array[x].map((value, index) => [`x${index + 1}`, value]));
  return Object.fromEntries(space.rows.map(([name, column]) => [name, column[x]]));
}

/** A point of a space in one line, with units: `(0.31, 4.2)`, `arm 3`, `gain 0.31 dB · mode fast`; a candidate with its setting. */
export function spoken(space, x) {
  if (x === null || x === undefined) return "–";
  const setting = settingOf(space, x);
  if (setting) return [`candidate ${x}`, ...Object.entries(setting).map(([name, value]) => `${name} ${number(value)}`)].join(" · ");
  if (typeof x !== "object") return `arm ${x}`;
  const axes = axesOf(space);
  const values = valuesOf(x, axes).map((value, index) => (axes[index] ? valueOn(axes[index], value) : number(value)));
  if (Array.isArray(x)) return values.length === 1 ? values[0] : `(${values.join(", ")})`;
  return values.map((text, index) => `${axes[index].name} ${text}`).join(" · ");
}

/** Whether a value can be taken on an axis. */
export function within(axis, value) {
  return axis.kind === "choice" ? axis.options.includes(value) : value >= axis.lo && value <= axis.hi;
}

/** A point's values in the order of the axes. */
export function valuesOf(x, axes) {
  if (Array.isArray(x)) return x;
  if (x !== null && typeof x === "object") return axes.map((axis) => x[axis.name]);
  return [x];
}

/** A point in the caller's terms from values in the order of the axes. */
export function pointFrom(values, space, axes) {
  if (space.type === "Box") return values;
  if (space.type === "Arms" || space.type === "Candidates") return values[0];
  return Object.fromEntries(axes.map((axis, index) => [axis.name, values[index]]));
}

/** Where a value lies on its axis, from 0 to 1. */
export function position(axis, value) {
  if (axis.kind === "choice") {
    const index = axis.options.indexOf(value);
    return axis.options.length > 1 ? index / (axis.options.length - 1) : 0.5;
  }
  if (axis.hi === axis.lo) return 0.5;
  if (axis.log) return Math.log(value / axis.lo) / Math.log(axis.hi / axis.lo);
  return (value - axis.lo) / (axis.hi - axis.lo);
}

/** The middle of an axis: where a form starts. */
export function middle(axis) {
  if (axis.kind === "choice") return axis.options[0];
  const value = axis.log ? Math.sqrt(axis.lo * axis.hi) : (axis.lo + axis.hi) / 2;
  return axis.kind === "real" ? Number(value.toPrecision(4)) : Math.round(value);
}

/** A space in a few words. */
export function describe(space) {
  if (space.type === "Arms") return `${space.n} arms`;
  if (space.type === "Candidates") return `${settings(space)} candidates`;
  const size = space.type === "Box" ? space.bounds.length : space.parameters.length;
  const noun = space.type === "Box" ? "dimension" : "parameter";
  const seen = space.type === "Space" ? space.parameters.filter(([, parameter]) => parameter.type === "Context").length : 0;
  const observed = seen ? `, ${seen} of them observed` : "";
  return `${size} ${noun}${size === 1 ? "" : "s"}${observed}`;
}
