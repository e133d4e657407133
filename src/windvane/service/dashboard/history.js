// What the page remembers of a study: bounded, whatever the stream brings.

import { get, pathOf } from "./api.js";

export const KEPT = 2000; // tells in memory, and points in a drawing
const PAGE = 1000; // the service's largest page
const FIRST = 300; // records of the first look
const OTHERS = 500; // asked, failed and expired records

/** The last tells, the other records of that time, and all resets that the service still lists. */
export class History {
  constructor(name) {
    this.name = name;
    this.tells = [];
    this.others = [];
    this.resets = [];
    this.amended = new Map(); // by the number of a record: the one that says how it counts
    this.head = 0;
  }

  /** What the page shows first; the stream continues from `head`, and `backfill` from the other end. */
  async load() {
    const path = pathOf(this.name, "/events");
    const [recent, tells, resets, failed, expired, amended] = await Promise.all([
      get(`${path}?newest=true&limit=${FIRST}`),
      get(`${path}?newest=true&limit=${FIRST}&kind=told`),
      get(`${path}?newest=true&limit=${PAGE}&resets=true`),
      get(`${path}?newest=true&limit=100&kind=failed`),
      get(`${path}?newest=true&limit=100&kind=expired`),
      get(`${path}?newest=true&limit=${PAGE}&kind=reset&kind=retracted&kind=corrected&kind=redefined`),
    ]);
    // The answers were made one after the other: what not all of them can know comes by the stream.
    this.head = Math.min(...[recent, tells, resets, failed, expired, amended].map((page) => page.head));
    const known = (record) => record.seq <= this.head;
    this.tells = tells.events.filter(known);
    this.resets = resets.events.filter(known);
    const others = [...recent.events.filter((record) => record.kind === "asked"), ...failed.events, ...expired.events, ...amended.events];
    this.others = others.filter(known).sort((a, b) => a.seq - b.seq);
    for (const record of this.others) this.amend(record);
  }

  /** The tells before, a page of records at a time, so that there is never a gap. */
  async backfill() {
    while (this.tells.length && this.tells.length < KEPT && this.tells[0].step > 1) {
      const first = this.tells[0].seq;
      const query = `after=${Math.max(0, first - 1 - PAGE)}&limit=${PAGE}&kind=told`;
      const { events } = await get(pathOf(this.name, `/events?${query}`));
      const before = events.filter((record) => record.seq < first);
      if (!before.length) return; // a thousand records without a tell
      this.tells = [...before, ...this.tells];
    }
  }

  /** Take a record of the stream. */
  add(record) {
    if (record.seq <= this.head) return false;
    this.head = record.seq;
    this.amend(record);
    const list = record.kind === "told" ? this.tells : this.others;
    list.push(record);
    // In batches, for removing at the front moves everything.
    if (this.tells.length > KEPT * 1.1) this.tells.splice(0, this.tells.length - KEPT);
    if (this.others.length > OTHERS * 1.2) this.others.splice(0, this.others.length - OTHERS);
    if (record.reset) this.resets.push(record);
    if (this.resets.length > PAGE) this.resets.shift();
    return true;
  }

  /** Remember what a record says of another. */
  amend(record) {
    if (record.event?.record) this.amended.set(record.event.record, record);
  }

  /** The tells of which a value counts, each with the right one. */
  counted() {
    if (!this.amended.size) return this.tells;
    return this.tells.flatMap((tell) => {
      const word = this.amended.get(tell.seq);
      if (word?.kind === "retracted") return [];
      return [this.renumbered(word ? { ...tell, y: word.y } : tell)];
    });
  }

  /** The resets that somebody asked for, each with its step as it counts. */
  asked() {
    return this.resets.filter((record) => record.kind === "reset").map((record) => this.renumbered(record));
  }

  /** With the step that it has once what was before it is taken back. */
  renumbered(record) {
    let gone = 0;
    for (const [seq, word] of this.amended) if (word.kind === "retracted" && seq < record.seq && record.seq < word.seq) gone += 1;
    if (!gone || !record.event) return record;
    const outlier = record.event.outlier === null ? null : record.event.outlier - gone;
    return { ...record, step: record.step - gone, event: { ...record.event, step: record.step - gone, outlier } };
  }

  /** The last tell, or undefined. */
  get last() {
    return this.tells.at(-1);
  }

  /** The tells that the model still uses: the last ones, as many as it says. */
  inUse() {
    return this.size ? this.counted().slice(-this.size) : [];
  }

  /** How many observations the model uses: as the last tell, reset or amendment says. */
  get size() {
    const latest = this.others.findLast((record) => record.event?.size !== undefined && record.seq > (this.last?.seq ?? 0));
    return (latest ?? this.last)?.event?.size ?? 0;
  }

  /** The event that has the weights of the hypotheses as they are: of the last tell, or of a reset after it. */
  get believed() {
    const reset = this.resets.at(-1);
    return (reset && reset.seq > (this.last?.seq ?? 0) ? reset : this.last)?.event;
  }

  /** Records newest first: "all", "resets" or "failures". */
  newest(filter, limit) {
    if (filter === "resets") return this.resets.slice(-limit).reverse();
    const others = filter === "all" ? this.others : this.others.filter((record) => record.kind === "failed" || record.kind === "expired");
    const tells = filter === "all" ? this.tells.slice(-limit) : [];
    return [...others.slice(-limit), ...tells].sort((a, b) => b.seq - a.seq).slice(0, limit);
  }
}

/**
 * At most about `limit` of the tells, in order: of each stretch the lowest and the highest y stay, and every reset.
 */
export function decimate(tells, limit = KEPT) {
  if (tells.length <= limit) return tells;
  const stretches = Math.max(1, Math.floor(limit / 2));
  const kept = [];
  for (let index = 0; index < stretches; index += 1) {
    const stretch = tells.slice(
      Math.floor((index * tells.length) / stretches),
      Math.floor(((index + 1) * tells.length) / stretches),
    );
    const low = stretch.reduce((a, b) => (b.y < a.y ? b : a));
    const high = stretch.reduce((a, b) => (b.y > a.y ? b : a));
    kept.push(...stretch.filter((record) => record === low || record === high || record.reset));
  }
  return kept;
}
