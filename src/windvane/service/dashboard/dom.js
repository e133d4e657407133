// Elements, made from text only: nothing that came from elsewhere is ever parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An element: h("button", {class: "quiet", onclick: act}, "Text", child). Strings become text nodes. */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function s(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Set the text only if it differs, so that selections and screen readers are left in peace. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Make `parent` hold exactly these children in this order, moving as few of them as possible. */
export function arrange(parent, children) {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}

let count = 0;

/** An id that no other element has. */
export function fresh(prefix) {
  count += 1;
  return `${prefix}-${count}`;
}

/** Say something to those who listen rather than look. */
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

/** What the marks of a chart mean: [class of the swatch, text] each. */
export function key(...marks) {
  return h("p", { class: "key", "aria-hidden": "true" }, marks.map(([mark, text]) => h("span", {}, h("span", { class: `swatch ${mark}` }), text)));
}

/** A field for a number: text, so that people may type it as they are used to. */
export function figure(more) {
  return h("input", { type: "text", inputmode: "text", autocomplete: "off", class: "figure", ...more });
}

/** A label above a control; `hint` below it. Returns the wrapper, the control is the caller's. */
export function field(label, control, hint) {
  control.id ||= fresh("field");
  const described = hint ? h("span", { class: "hint", id: `${control.id}-hint` }, hint) : null;
  if (described) control.setAttribute("aria-describedby", described.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, described);
}

/** A few exclusive options side by side; `onpick` is called with the value. */
export function segmented(legend, options, picked, onpick) {
  const name = fresh("choice");
  return h(
    "fieldset",
    { class: "segmented" },
    h("legend", { class: "unseen" }, legend),
    options.map(([value, text]) => {
      const input = h("input", { type: "radio", name, value, checked: value === picked, onchange: () => onpick(value) });
      return h("label", {}, input, h("span", {}, text));
    }),
  );
}

/** A readable error in place; empty text hides it. */
export function complaint() {
  const node = h("p", { class: "complaint", role: "alert", hidden: true });
  return {
    node,
    show(error) {
      node.textContent = error ? (error.message ?? String(error)) : "";
      node.hidden = !error;
    },
  };
}

/** Run `act` on submit with the button busy; errors appear in `place`. */
export async function busily(button, place, act) {
  if (button.getAttribute("aria-disabled") === "true") return undefined;
  button.setAttribute("aria-disabled", "true"); // not `disabled`, which would lose the focus
  place.show(null);
  try {
    return await act();
  } catch (error) {
    place.show(error);
    return undefined;
  } finally {
    button.removeAttribute("aria-disabled");
  }
}
