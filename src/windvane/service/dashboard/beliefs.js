// The hypotheses that `auto` weighs, heaviest first.

import { get } from "./api.js";
import { arrange, h, setText } from "./dom.js";
import { percent } from "./format.js";
import { heading } from "./help.js";

const SHOWN = 7;

let meanings;  // of all names, asked for once

/** What names mean: [regular expression, text with {} for its number] each; none where that cannot be had. */
async function known() {
  meanings ??= get("/v1/hypotheses").then(({ hypotheses }) => Object.entries(hypotheses).map(([name, text]) => {
    const literal = name.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace("{}", "(\\d[\\d.e+]*)");
    return [new RegExp(`^${literal}$`), text];
  }), () => []);
  return meanings;
}

/** What one name means; nothing for a name that somebody made up. */
export async function meaning(name) {
  for (const [pattern, text] of await known()) {
    const found = pattern.exec(name);
    if (found) return text.replace("{}", found[1] ?? "");
  }
  return "";
}

/** The panel; hidden for algorithms without hypotheses. */
export class Beliefs {
  constructor() {
    this.rows = new Map();
    this.list = h("ul", { class: "beliefs" });
    this.node = h("section", { class: "panel beliefs-panel", "aria-labelledby": "beliefs-title", hidden: true },
      h("div", { class: "panel-head" }, heading("beliefs", "Hypotheses about time")), this.list);
  }

  update(event) {
    const weights = Object.entries(event?.beliefs ?? {}).sort((a, b) => b[1] - a[1]);
    this.node.hidden = !weights.length;
    const top = weights.slice(0, SHOWN);
    const rest = weights.slice(SHOWN).reduce((sum, each) => sum + each[1], 0);
    if (weights.length > SHOWN) top.push([`${weights.length - SHOWN} others`, rest]);
    arrange(this.list, top.map(([name, weight], index) => {
      const row = this.row(index);
      setText(row.name, name);
      this.explain(row.name, name);
      setText(row.share, percent(weight));
      row.bar.style.width = `${(100 * weight).toFixed(1)}%`;
      return row.node;
    }));
  }

  async explain(node, name) {
    const text = await meaning(name);
    if (node.textContent === name) node.title = text;
  }

  row(index) {
    if (!this.rows.has(index)) {
      const parts = { name: h("span", { class: "belief-name" }), share: h("span", { class: "figure" }), bar: h("span", { class: "belief-bar" }) };
      parts.node = h("li", {}, parts.name, parts.share, h("span", { class: "belief-track", "aria-hidden": "true" }, parts.bar));
      this.rows.set(index, parts);
    }
    return this.rows.get(index);
  }
}
