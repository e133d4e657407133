// Modal questions. The native element traps the focus and closes on Escape; the focus goes back where it was.

import { busily, complaint, field, figure, fresh, h } from "./dom.js";

/** Show a dialog; resolves to what `close(value)` was given, or undefined if it was dismissed. */
export function openDialog(title, build, { dismissible = true } = {}) {
  const before = document.activeElement;
  const id = fresh("dialog");
  return new Promise((resolve) => {
    let answer;
    const dialog = h("dialog", { "aria-labelledby": id });
    const close = (value) => {
      answer = value;
      dialog.close();
    };
    dialog.append(h("h2", { id }, title), ...build(close, dialog));
    dialog.addEventListener("cancel", (event) => dismissible || event.preventDefault());
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A form with one way forward, which may fail and says so in place; resolves to true if it was taken. */
function question(title, inside, action, act, cautious = false) {
  return openDialog(title, (close) => {
    const trouble = complaint();
    const go = h("button", { type: "submit", class: "primary" }, action);
    const submit = async (event) => {
      event.preventDefault();
      if (await busily(go, trouble, async () => { await act(); return true; })) close(true);
    };
    return [h("form", { onsubmit: submit }, ...inside, trouble.node,
      h("div", { class: "actions" }, h("button", { type: "button", autofocus: cautious, onclick: () => close() }, "Cancel"), go))];
  });
}

/** Whether to go on; the way back is the one that is at hand. */
export function confirmed(title, text, action, act) {
  return question(title, [h("p", {}, text)], action, act, true);
}

/** Ask for a bearer token; resolves to it. */
export function askToken(problem) {
  return openDialog("This service asks for a token", (close) => {
    const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true, placeholder: "wv_…", autofocus: true });
    const trouble = complaint();
    if (problem) trouble.show(problem);
    return [h("form", { onsubmit: (event) => { event.preventDefault(); close(input.value.trim()); } },
      h("p", {}, "Whoever runs the service makes one on its machine: ", h("code", {}, "windvane token add LABEL"), "."),
      field("Token", input, "Kept in this tab only, and gone when it is closed."),
      trouble.node,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Use this token")))];
  }, { dismissible: false });
}

/** Something to say in words, and perhaps numbers first, {label, value} each after the value itself; resolves to true when it has been done. */
export function askReason(title, text, action, act, value = null, others = []) {
  const y = value === null ? null : figure({ value, autofocus: true });
  const inputs = others.map((each) => figure({ value: each.value, placeholder: "not measured" }));
  const reason = h("input", { type: "text", maxlength: 500, autofocus: y === null });
  const inside = [h("p", {}, text), y ? field("Right value", y) : null, inputs.map((input, index) => field(others[index].label, input)), field("Reason (optional)", reason)];
  return question(title, inside, action, () => act(reason.value.trim(), y?.value, inputs.map((input) => input.value)));
}
