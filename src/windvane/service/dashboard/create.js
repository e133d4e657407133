// The form for a new study.

import { get, post } from "./api.js";
import { openDialog } from "./dialogs.js";
import { busily, complaint, field, figure, fresh, h, segmented } from "./dom.js";
import { numberFrom, numberIn } from "./typed.js";

const NONE = Symbol("nothing given");

function optional(input, what) {
  return input.value.trim() === "" ? NONE : numberIn(input, what);
}

const text = (label, more) => h("input", { type: "text", autocomplete: "off", "aria-label": label, ...more });

/** Names with what they stand for, as an object; an error if one is there twice. */
function named(pairs, what) {
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index);
  if (twice) throw new Error(`${what}: “${twice[0]}” is there twice.`);
  return Object.fromEntries(pairs);
}

/** Rows that can be added and taken away, at least `least`. */
class Rows {
  constructor(noun, make, least = 1, changed = () => {}) {
    Object.assign(this, { rows: [], least, changed });
    this.list = h("div", { class: "rows" });
    this.make = make;
    this.noun = noun;
    this.node = h("div", {}, this.list, h("button", { type: "button", onclick: () => this.add().first.focus() }, `Add ${noun}`));
    if (least) this.add();
  }

  add() {
    const row = this.make(this.rows.length);
    const end = h("button", { type: "button", class: "quiet", "aria-label": `Remove this ${this.noun}`, onclick: () => {
      if (this.rows.length === this.least) return;
      this.rows = this.rows.filter((each) => each !== row);
      row.node.remove();
      (this.rows.at(-1)?.first ?? this.node.querySelector(":scope > button")).focus();
      this.changed();
    } }, "Remove");
    row.node.append(end);
    this.rows.push(row);
    this.list.append(row.node);
    this.changed();
    return row;
  }

  read() {
    return this.rows.map((row) => row.read());
  }
}

const ends = (of = "") => [figure({ value: "0", "aria-label": `Lower bound${of}` }), figure({ value: "1", "aria-label": `Upper bound${of}` })];

function bounds(index) {
  const [low, high] = ends(` of dimension ${index + 1}`);
  return {
    first: low,
    node: h("div", { class: "row-fields" }, h("span", { class: "row-label" }, "from"), low, h("span", { class: "row-label" }, "to"), high),
    read: () => [numberIn(low, "lower bound"), numberIn(high, "upper bound")],
  };
}

function parameter(index) {
  const name = text("Name of the parameter", { spellcheck: "false", value: index ? "" : "gain", placeholder: "name" });
  const [low, high] = ends();
  const log = h("input", { type: "checkbox" });
  const observed = h("input", { type: "checkbox", onchange: () => { around.hidden = !observed.checked; } });
  const period = h("input", { type: "checkbox" });
  const around = h("label", { class: "check", hidden: true }, period, "periodic");
  const options = text("Options, separated by commas", { placeholder: "slow, fast" });
  const unit = text("Unit of the parameter (optional)", { class: "unit", maxlength: 40, placeholder: "unit" });
  const numeric = h("span", { class: "row-part" }, low, h("span", { class: "row-label" }, "to"), high, unit, h("label", { class: "check" }, log, "log"), around);
  const chosen = h("span", { class: "row-part", hidden: true }, options);
  const kind = h("select", { "aria-label": "Kind of the parameter", onchange: () => {
    numeric.hidden = kind.value === "choice";
    chosen.hidden = !numeric.hidden;
  } }, ["real", "integer", "choice"].map((each) => h("option", {}, each)));
  return {
    first: name,
    node: h("div", { class: "row-fields parameter" }, name, kind, numeric, chosen, h("label", { class: "check" }, observed, "observed")),
    read: () => {
      if (!name.value.trim()) {
        name.focus();
        throw new Error("name: every parameter needs one.");
      }
      if (kind.value === "choice") {
        return [name.value.trim(), { ...(observed.checked ? { context: true } : {}), choice: options.value.split(",").map((each) => each.trim()).filter(Boolean) }];
      }
      const range = { [kind.value]: [numberIn(low, `${name.value}: lower bound`), numberIn(high, `${name.value}: upper bound`)] };
      const more = { ...(unit.value.trim() ? { unit: unit.value.trim() } : {}), ...(log.checked ? { log: true } : {}), ...(observed.checked ? { context: true } : {}), ...(observed.checked && period.checked ? { period: true } : {}) };
      return [name.value.trim(), { ...range, ...more }];
    },
  };
}

function constraint() {
  const name = text("Name of the constraint", { spellcheck: "false", placeholder: "heat" });
  const side = h("select", { "aria-label": "Side of the limit" }, h("option", { value: "at_most" }, "at most"), h("option", { value: "at_least" }, "at least"));
  const limit = figure({ placeholder: "90", "aria-label": "Limit" });
  const unit = text("Unit (optional)", { class: "unit", maxlength: 40, placeholder: "unit" });
  return {
    first: name,
    node: h("div", { class: "row-fields constraint" }, name, h("span", { class: "row-part" }, side, limit, unit)),
    read: () => {
      const called = name.value.trim();
      if (!called) {
        name.focus();
        throw new Error("constraint: every one needs a name, to be told by it.");
      }
      return [called, { [side.value]: numberIn(limit, `${called}: limit`), ...(unit.value.trim() ? { unit: unit.value.trim() } : {}) }];
    },
  };
}

/** A setting that is known to be safe, from a line of text: `2, 1`, `power=2, speed=1` or JSON; in the terms of the space. */
export function settingFrom(line, space) {
  const refuse = (why) => new Error(`start “${line}”: ${why}`);
  if (/^[[{]/.test(line)) {
    try {
      return JSON.parse(line);
    } catch (error) {
      throw refuse(`not JSON (${error.message})`);
    }
  }
  // A semicolon parts values that have decimal commas.
  const words = line.split(line.includes(";") ? ";" : ",").map((each) => each.trim()).filter((each, index, all) => each || index < all.length - 1);
  const figures = (texts) => texts.map((text) => numberFrom(text, `start “${line}”`, `“${text}” is not a number.`));
  if (space.arms !== undefined) {
    if (words.length > 1) throw refuse("enter the number of one arm on each line.");
    return figures(words)[0];
  }
  if (space.box) {
    if (words.length !== space.box.length) throw refuse(`has ${words.length} numbers; a point has ${space.box.length}.`);
    return figures(words);
  }
  const settable = Object.entries(space.parameters).filter(([, given]) => !given.context);
  const named = words.map((word) => word.match(/^([^=]+)=(.*)$/)).filter(Boolean).map(([, name, value]) => [name.trim(), value.trim()]);
  if (named.length && named.length !== words.length) throw refuse("name every parameter, or none of them.");
  const pairs = named.length ? named : words.map((word, index) => [settable[index]?.[0], word]);
  const missing = settable.filter(([name]) => !pairs.some(([other]) => other === name)).map(([name]) => name);
  if (missing.length) throw refuse(`has no ${missing.join(", ")}.`);
  if (pairs.length > settable.length) throw refuse(`has ${pairs.length} values; ${settable.length} can be set: ${settable.map(([name]) => name).join(", ")}.`);
  return Object.fromEntries(pairs.map(([name, value]) => [name, settable.find(([other]) => other === name)[1].choice ? value : figures([value])[0]]));
}

/** Constraints, how strictly they are to be kept, and where it is safe to begin. */
function limits() {
  let strict = "soft";
  const level = figure({ value: "0.95" });
  const start = h("textarea", { rows: 2, spellcheck: "false", class: "figure", placeholder: "0.5, 0.2" });
  const safely = h("div", { class: "more", hidden: true },
    field("Safe level", level, "The probability with which each constraint must hold at every point that is asked for."),
    field("Start settings", start, "Settings that are known to be safe, one per line: values in order, as in 0.5, 0.2 (or 0,5; 0,2), or by name, as in power=2, speed=1. Without what is observed."));
  const more = h("div", { class: "more", hidden: true },
    h("div", { class: "field" }, h("span", { class: "label" }, "How strictly"),
      segmented("How strictly", [["soft", "likely to hold"], ["safe", "only what is safe"]], strict, (value) => { strict = value; safely.hidden = value !== "safe"; })),
    safely);
  const rows = new Rows("constraint", constraint, 0, () => { more.hidden = !rows.rows.length; });
  return {
    node: h("div", { class: "limit-fields" }, h("p", { class: "hint" }, "What is measured beside the objective and must stay within a limit: told with each value, by its name."), rows.node, more),
    /** Options of the study; none if there are no constraints. */
    read: (space) => {
      const pairs = rows.read();
      if (!pairs.length) return {};
      const constraints = named(pairs, "constraint");
      if (strict === "soft") return { constraints };
      const safe = numberIn(level, "safe level");
      if (!(safe >= 0.5 && safe < 1)) {
        level.focus();
        throw new Error("safe level: enter a probability of at least 0.5 and below 1, such as 0.95.");
      }
      const lines = start.value.split("\n").map((line) => line.trim()).filter(Boolean);
      if (!lines.length) {
        start.focus();
        throw new Error("start settings: enter one at least that is known to be safe; Windvane begins there.");
      }
      return { constraints, safe, start: lines.map((line) => settingFrom(line, space)) };
    },
  };
}

/** The three kinds of spaces, each with a way to read itself. */
function spaces() {
  const box = new Rows("dimension", bounds);
  const parameters = new Rows("parameter", parameter);
  const arms = figure({ value: "5" });
  return {
    box: { node: h("div", {}, h("p", { class: "hint" }, "Real numbers, each between two bounds."), box.node), read: () => ({ box: box.read() }) },
    parameters: {
      node: h("div", {}, h("p", { class: "hint" }, "Named parameters: real, integer, or a choice between words. What is observed is measured, not chosen: every ask says what it is."), parameters.node),
      read: () => ({ parameters: named(parameters.read(), "name") }),
    },
    arms: { node: h("div", {}, field("How many", arms, "Alternatives without an order, known by their number from 0. A list of settings with coordinates (candidates) is created from a shell or over HTTP.")), read: () => ({ arms: numberIn(arms, "arms") }) },
  };
}

function algorithmField(algorithms) {
  const help = h("span", { class: "hint", id: fresh("help") });
  const select = h("select", { "aria-describedby": help.id }, algorithms.map((each) => h("option", { value: each.name }, each.name)));
  const show = () => {
    const chosen = algorithms.find((each) => each.name === select.value);
    help.textContent = chosen ? `${chosen.help}. Options: ${chosen.options.map((each) => each.name ?? each).join(", ")}.` : "";
  };
  select.addEventListener("change", show);
  select.value = "auto";
  show();
  select.id = fresh("field");
  return { select, node: h("div", { class: "field" }, h("label", { for: select.id }, "Algorithm"), select, help) };
}

/** Resolves to the summary of the study that was made, or undefined. */
export async function createStudy() {
  const { algorithms } = await get("/v1/algorithms");
  return openDialog("New study", (close) => {
    const kinds = spaces();
    let kind = "box";
    let goal = "maximize";
    const pick = (value) => {
      kind = value;
      for (const [name, each] of Object.entries(kinds)) each.node.hidden = name !== value;
    };
    pick(kind);
    const name = h("input", { type: "text", autocomplete: "off", spellcheck: "false", maxlength: 100, required: true, autofocus: true });
    const algorithm = algorithmField(algorithms);
    const [seed, expires] = [figure(), figure({ value: "86400" })];
    const within = limits();
    const options = h("textarea", { rows: 3, spellcheck: "false", class: "figure", placeholder: '{"noise_variance": 0.01}' });
    const trouble = complaint();
    const go = h("button", { type: "submit", class: "primary" }, "Create");
    const submit = async (event) => {
      event.preventDefault();
      const made = await busily(go, trouble, () => {
        const body = { name: name.value.trim(), space: kinds[kind].read(), algorithm: algorithm.select.value, goal };
        const given = { seed: optional(seed, "seed"), expires_after: optional(expires, "expires after") };
        for (const [key, value] of Object.entries(given)) if (value !== NONE) body[key] = value;
        const constrained = within.read(body.space);
        if (options.value.trim()) body.options = parsed(options.value);
        const twice = Object.keys(constrained).find((key) => Object.hasOwn(body.options ?? {}, key));
        if (twice) throw new Error(`options: “${twice}” is set above already.`);
        if (constrained.constraints) body.options = { ...body.options, ...constrained };
        return post("/v1/studies", body);
      });
      if (made) close(made);
      else trouble.node.scrollIntoView({ block: "nearest" });
    };
    return [h("form", { onsubmit: submit },
      field("Name", name, "Letters, digits, spaces and . _ -"),
      h("div", { class: "field" }, h("span", { class: "label" }, "What can be set"),
        segmented("What can be set", [["box", "a box"], ["parameters", "named parameters"], ["arms", "arms"]], kind, pick)),
      h("div", { class: "space-fields" }, Object.values(kinds).map((each) => each.node)),
      h("div", { class: "field" }, h("span", { class: "label" }, "Goal"),
        segmented("Goal", [["maximize", "maximise"], ["minimize", "minimise"]], goal, (value) => { goal = value; })),
      h("div", { class: "field" }, h("span", { class: "label" }, "Constraints"), within.node),
      algorithm.node,
      h("details", {}, h("summary", {}, "More"),
        h("div", { class: "more" },
          field("Seed", seed, "For the same questions on every run; drawn if left out."),
          field("A question expires after", expires, "Seconds; a late answer still counts."),
          field("Options", options, "JSON; which ones there are depends on the algorithm."))),
      trouble.node,
      h("div", { class: "actions" }, h("button", { type: "button", onclick: () => close() }, "Cancel"), go))];
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`options: not JSON (${error.message})`);
  }
}
