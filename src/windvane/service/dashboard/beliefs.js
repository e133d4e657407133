// The hypotheses that `auto` weighs, heaviest first.

import { arrange, h, setText } from "./dom.js";
import { percent } from "./format.js";

const SHOWN = 7;

/** The panel; hidden for algorithms without hypotheses. */
export class Beliefs {
  constructor() {
    this.rows = new Map();
    this.list = h("ul", { class: "beliefs" });
    this.node = h("section", { class: "panel beliefs-panel", "aria-labelledby": "beliefs-title", hidden: true },
      h("div", { class: "panel-head" }, h("h2", { id: "beliefs-title" }, "What it takes the world for")), this.list);
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
      setText(row.share, percent(weight));
      row.bar.style.width = `${(100 * weight).toFixed(1)}%`;
      return row.node;
    }));
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
