// The last values of a study in the size of a word, resets as ticks.

import { get, pathOf } from "./api.js";
import { h, s } from "./dom.js";

const LAST = 80;
const EVERY = 6000;
const [WIDTH, HEIGHT] = [220, 40];

/** Fetches only while it is on the screen, and only when something happened. */
export class Spark {
  constructor(name) {
    this.name = name;
    this.drawn = 0;
    this.at = -Infinity;
    this.visible = false;
    this.svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    this.node = h("div", { class: "spark" }, this.svg);
    new IntersectionObserver((entries) => {
      this.visible = entries.at(-1).isIntersecting;
      this.update(this.head);
    }).observe(this.node);
  }

  async update(head) {
    this.head = head;
    if (!this.visible || !head || head === this.drawn || performance.now() - this.at < EVERY) return;
    this.at = performance.now();
    try {
      const { events } = await get(pathOf(this.name, `/events?newest=true&limit=${LAST}&kind=told`));
      this.drawn = head;
      this.draw(events);
    } catch {
      // decoration: the list itself says what is wrong
    }
  }

  draw(events) {
    const ys = events.map((record) => record.y);
    const low = Math.min(...ys);
    const span = Math.max(...ys) - low || 1;
    const x = (index) => (events.length > 1 ? (index / (events.length - 1)) * (WIDTH - 4) + 2 : WIDTH / 2);
    const y = (value) => HEIGHT - 4 - ((value - low) / span) * (HEIGHT - 8);
    const fixed = { fill: "none", "vector-effect": "non-scaling-stroke" };
    const ticks = events.flatMap((record, index) => (record.reset ? [s("line", { ...fixed, class: "spark-reset", x1: x(index), x2: x(index), y1: 0, y2: HEIGHT })] : []));
    const points = ys.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    this.svg.replaceChildren(...ticks, s("polyline", { ...fixed, class: "spark-line", points }));
  }
}
