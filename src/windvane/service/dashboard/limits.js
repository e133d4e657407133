// Constraints: what must hold beside the objective, in words and on a grid.

import { chosen, clockOf, number, place, withUnit } from "./format.js";

const LIKELY = 0.5; // without a safe level, points are asked for where all constraints more likely hold than not

/** The constraints of a study as the service writes them: {name, most, limit, unit} each. */
export function constraintsOf(summary) {
  return Object.entries(summary.constraints ?? {}).map(([name, given]) => ({
    name, most: given.at_most !== undefined, limit: given.at_most ?? given.at_least, unit: given.unit ?? "",
  }));
}

/** `≤ 90 °C` */
export function limitOf(constraint) {
  return `${constraint.most ? "≤" : "≥"}\u00a0${withUnit(chosen(constraint.limit), constraint.unit)}`;
}

/** `at most 90 °C` */
export function limitInWords(constraint) {
  return `at ${constraint.most ? "most" : "least"} ${withUnit(chosen(constraint.limit), constraint.unit)}`;
}

/** What was told of a constraint: `heat 84.20 °C`, and that it is beyond its limit. */
export function told(constraint, outcome) {
  const value = `${constraint.name} ${withUnit(number(outcome.value, outcome.std), constraint.unit)}`;
  return outcome.violated ? `${value}, ${constraint.most ? "above" : "below"} the limit of ${withUnit(chosen(constraint.limit), constraint.unit)}` : value;
}

/** The violations of a record, in one sentence; empty if there are none. */
export function violationsOf(record, constraints) {
  const beyond = constraints.filter((each) => record.event?.outcomes?.[each.name]?.violated);
  return beyond.length ? `Violation at ${place(record.step, clockOf(record))}: ${beyond.map((each) => told(each, record.event.outcomes[each.name])).join("; ")}.` : "";
}

/** Constraints, and how strictly they are kept, in a few words; empty if there are none. */
export function describeConstraints(summary) {
  const names = constraintsOf(summary).map((each) => `${each.name} ${limitOf(each)}`);
  if (!names.length) return "";
  const shown = names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} other constraints`] : names;
  return `${shown.join(", ")}${summary.safe === null ? "" : `, ${safeAt(summary.safe)}`}`;
}

/** A probability that somebody chose: `95 %`. */
export function share(level) {
  return `${chosen(Number((100 * level).toPrecision(6)))}\u00a0%`;
}

/** `safe at 95 %` */
export function safeAt(level) {
  return `safe at ${share(level)}`;
}

/** Numbers of nested lists, place by place. */
function over(lists, combine) {
  return Array.isArray(lists[0]) ? lists[0].map((_, i) => over(lists.map((list) => list[i]), combine)) : combine(lists);
}

/**
 * Where on a surface points are asked for: how probably the constraints hold, and what that must reach.
 *
 * With a safe level each constraint must reach it by itself; without, all of them together must hold more likely than not.
 */
export function allowed(surface, safe) {
  const grids = Object.values(surface.feasibility ?? {});
  if (!grids.length) return null;
  const chance = safe === null ? surface.feasible : over(grids, (values) => Math.min(...values));
  const level = safe ?? LIKELY;
  const inside = chance.flat().filter((each) => each >= level).length;
  const what = safe === null ? "a constraint is more likely broken than not" : `a constraint holds with less than ${share(safe)}: not believed safe`;
  const all = chance.flat().length;
  const words = inside === all ? `Nothing of it is ruled out by the constraints${safe === null ? "" : `: all of it is believed ${safeAt(safe)}`}.` :
    `Hatched: ${what}${inside ? "" : ", which is so everywhere here"}.`;
  return { chance, level, words, outside: over([chance], ([value]) => value < level) };
}

/** Stretches of true in a list, as [first, last] each. */
export function stretches(flags) {
  const found = [];
  flags.forEach((flag, index) => {
    if (!flag) return;
    if (index && flags[index - 1]) found.at(-1)[1] = index;
    else found.push([index, index]);
  });
  return found;
}

/** Hatching of the cells of a grid that are marked, as diagonal lines between its points: rows are y. */
export function hatching(x, y, marked, gap = 4) {
  const lines = { x: [], y: [] };
  for (let sum = gap - 1; sum < x.length + y.length - 1; sum += gap) {
    for (let i = Math.max(0, sum - y.length + 1); i <= Math.min(sum, x.length - 1); i += 1) {
      const yes = marked[sum - i][i];
      lines.x.push(yes ? x[i] : null);
      lines.y.push(yes ? y[sum - i] : null);
    }
    lines.x.push(null);
    lines.y.push(null);
  }
  return lines;
}
