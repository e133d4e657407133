// The form for a new study.

import { get, post } from "./api.js";
import { openDialog } from "./dialogs.js";
import { busily, complaint, field, fresh, h, segmented } from "./dom.js";

const NONE = Symbol("nothing given");

function real(input, what) {
  const value = Number(input.value.replace("−", "-").replace(",", "."));
  if (input.value.trim() === "" || !Number.isFinite(value)) {
    input.focus();
    throw new Error(`${what}: enter a number.`);
  }
  return value;
}

function optional(input, what) {
  return input.value.trim() === "" ? NONE : real(input, what);
}

const figure = (value, label) => h("input", { type: "text", inputmode: "text", autocomplete: "off", class: "figure", value, "aria-label": label });

/** Rows that can be added and taken away, at least one. */
class Rows {
  constructor(noun, make) {
    this.rows = [];
    this.list = h("div", { class: "rows" });
    this.make = make;
    this.noun = noun;
    this.node = h("div", {}, this.list, h("button", { type: "button", onclick: () => this.add().first.focus() }, `Add ${noun}`));
    this.add();
  }

  add() {
    const row = this.make(this.rows.length);
    const end = h("button", { type: "button", class: "quiet", "aria-label": `Remove this ${this.noun}`, onclick: () => {
      if (this.rows.length === 1) return;
      this.rows = this.rows.filter((each) => each !== row);
      row.node.remove();
      this.rows.at(-1).first.focus();
    } }, "Remove");
    row.node.append(end);
    this.rows.push(row);
    this.list.append(row.node);
    return row;
  }

  read() {
    return this.rows.map((row) => row.read());
  }
}

function bounds(index) {
  const [low, high] = [figure("0", `Lower bound of dimension ${index + 1}`), figure("1", `Upper bound of dimension ${index + 1}`)];
  return {
    first: low,
    node: h("div", { class: "row-fields" }, h("span", { class: "row-label" }, "from"), low, h("span", { class: "row-label" }, "to"), high),
    read: () => [real(low, "lower bound"), real(high, "upper bound")],
  };
}

function parameter(index) {
  const name = h("input", { type: "text", autocomplete: "off", spellcheck: "false", value: index ? "" : "gain", placeholder: "name", "aria-label": "Name of the parameter" });
  const [low, high] = [figure("0", "Lower bound"), figure("1", "Upper bound")];
  const log = h("input", { type: "checkbox" });
  const observed = h("input", { type: "checkbox", onchange: () => { around.hidden = !observed.checked; } });
  const period = h("input", { type: "checkbox" });
  const around = h("label", { class: "check", hidden: true }, period, "periodic");
  const options = h("input", { type: "text", autocomplete: "off", placeholder: "slow, fast", "aria-label": "Options, separated by commas" });
  const numeric = h("span", { class: "row-part" }, low, h("span", { class: "row-label" }, "to"), high, h("label", { class: "check" }, log, "log"), around);
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
      const range = { [kind.value]: [real(low, `${name.value}: lower bound`), real(high, `${name.value}: upper bound`)] };
      const more = { ...(log.checked ? { log: true } : {}), ...(observed.checked ? { context: true } : {}), ...(observed.checked && period.checked ? { period: true } : {}) };
      return [name.value.trim(), { ...range, ...more }];
    },
  };
}

/** The three kinds of spaces, each with a way to read itself. */
function spaces() {
  const box = new Rows("dimension", bounds);
  const named = new Rows("parameter", parameter);
  const arms = figure("5");
  return {
    box: { node: h("div", {}, h("p", { class: "hint" }, "Real numbers, each between two bounds."), box.node), read: () => ({ box: box.read() }) },
    parameters: {
      node: h("div", {}, h("p", { class: "hint" }, "Named parameters: real, integer, or a choice between words. What is observed is measured, not chosen: every ask says what it is."), named.node),
      read: () => {
        const pairs = named.read();
        const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index);
        if (twice) throw new Error(`name: “${twice[0]}” is there twice.`);
        return { parameters: Object.fromEntries(pairs) };
      },
    },
    arms: { node: h("div", {}, field("How many", arms, "Alternatives without an order, known by their number from 0. A list of settings with coordinates (candidates) is created from a shell or over HTTP.")), read: () => ({ arms: real(arms, "arms") }) },
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
    const [seed, expires] = [figure(""), figure("86400")];
    const options = h("textarea", { rows: 3, spellcheck: "false", class: "figure", placeholder: '{"noise_variance": 0.01}' });
    const trouble = complaint();
    const go = h("button", { type: "submit", class: "primary" }, "Create");
    const submit = async (event) => {
      event.preventDefault();
      const made = await busily(go, trouble, () => {
        const body = { name: name.value.trim(), space: kinds[kind].read(), algorithm: algorithm.select.value, goal };
        const given = { seed: optional(seed, "seed"), expires_after: optional(expires, "expires after") };
        for (const [key, value] of Object.entries(given)) if (value !== NONE) body[key] = value;
        if (options.value.trim()) body.options = parsed(options.value);
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
