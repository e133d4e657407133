// What the page remembers of a study: bounded, whatever the stream brings.

import { get, pathOf } from "./api.js";
import { clockOf, isDate, sentenceText } from "./format.js";

export const KEPT = 2000; // tells in memory, and points in a drawing
const PAGE = 1000; // the service's largest page
const FIRST = 300; // records of the first look
const LIGHT = "beliefs=false"; // without what is most of a record and never shown of an older one
const OTHERS = 500; // asked, failed and expired records

/** The last tells, the other records of that time, and all resets that the service still lists. */
export class History {
  /** `constrained` may be a promise: whether there are limits, and violations to look for. */
  constructor(name, constrained = false) {
    this.name = name;
    this.constrained = constrained;
    this.violations = [];
    this.tells = [];
    this.others = [];
    this.resets = [];
    this.amended = new Map(); // by the number of a record: the one that says how it counts
    this.outside = new Map(); // by the number of a change of the space: the tells that it left out
    this.left = new Set(); // by the last of these
    this.taken = new Set(); // taken back
    this.gone = null; // the tells that count no longer, in order, once somebody wants to know
    this.counts = []; // how many of them there were right after each amendment
    this.head = 0;
    this.loaded = false;
    this.whole = null; // a sample of all tells, if somebody wanted to see them
  }

  /** What the page shows first; the stream continues from `head`, and `backfill` from the other end. */
  async load() {
    const path = pathOf(this.name, "/events");
    const [last, tells, asked, failed, amended, resets, violations] = await Promise.all([
      get(`${path}?newest=true&limit=1&kind=told&kind=reset`),
      get(`${path}?newest=true&limit=${FIRST}&kind=told&${LIGHT}`),
      get(`${path}?newest=true&limit=100&kind=asked&${LIGHT}`),
      get(`${path}?newest=true&limit=200&kind=failed&kind=expired&${LIGHT}`),
      get(`${path}?newest=true&limit=${PAGE}&kind=reset&kind=retracted&kind=corrected&kind=redefined&${LIGHT}`),
      get(`${path}?newest=true&limit=${PAGE}&resets=true&${LIGHT}`),
      Promise.resolve(this.constrained).then((yes) => (yes ? get(`${path}?newest=true&limit=${PAGE}&violations=true&${LIGHT}`) : { events: [], head: Infinity })),
    ]);
    // The answers were made one after the other: what not all of them can know comes by the stream.
    this.head = Math.min(...[last, tells, asked, failed, amended, resets, violations].map((page) => page.head));
    const known = (record) => record.seq <= this.head;
    this.tells = tells.events.filter(known);
    this.resets = resets.events.filter(known);
    this.violations = violations.events.filter(known);
    this.weighed = last.events.filter(known).at(-1) ?? this.tells.at(-1) ?? null;
    // Questions as far back as the tells, or the log would be full of them.
    const recent = asked.events.filter((record) => record.seq > (this.tells[0]?.seq ?? 0));
    this.others = [...recent, ...failed.events, ...amended.events].filter(known).sort((a, b) => a.seq - b.seq);
    for (const record of this.others.filter((each) => each.kind === "redefined")) this.outside.set(record.seq, await unpacked(record.event?.outside ?? []));
    for (const record of this.others) this.amend(record);
    this.loaded = true;
  }

  /** Whether the times that were told are dates. */
  get dated() {
    return this.tells.length > 0 && isDate(this.tells[0].event?.time) && isDate(this.tells.at(-1).event?.time);
  }

  /** The tells before, a page of records at a time, so that there is never a gap. */
  async backfill() {
    while (this.tells.length && this.tells.length < KEPT && this.tells[0].step > 1) {
      const first = this.tells[0].seq;
      const query = `after=${Math.max(0, first - 1 - PAGE)}&limit=${PAGE}&kind=told&${LIGHT}`;
      const { events } = await get(pathOf(this.name, `/events?${query}`));
      const before = events.filter((record) => record.seq < first);
      if (!before.length) return; // a thousand records without a tell
      this.tells = [...before, ...this.tells];
    }
  }

  /** Fetch a sample of all tells: the service picks the extremes of each stretch, and every reset. */
  async survey() {
    this.whole ??= (await get(pathOf(this.name, `/course?points=${KEPT}`))).events;
  }

  /** The tells of the whole study, as far as a picture can show them, each with the value that counts. */
  all() {
    const first = this.tells[0]?.seq ?? Infinity;
    return this.counted([...(this.whole ?? []).filter((record) => record.seq < first), ...this.tells]);
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
    if (record.event?.beliefs && (record.kind === "told" || record.reset)) this.weighed = record;
    if (record.reset) this.resets.push(record);
    if (this.resets.length > PAGE) this.resets.shift();
    if (record.violated?.length) this.violations.push(record);
    if (this.violations.length > PAGE) this.violations.shift();
    return true;
  }

  /** Remember what a record says of another. */
  amend(record) {
    if (record.event?.record) this.amended.set(record.event.record, record);
    if (record.kind === "retracted") this.taken.add(record.event.record);
    else if (record.kind === "redefined") this.left = new Set(this.outside.get(record.seq));
    else return;
    this.counts.push({ seq: record.seq, count: this.left.size + [...this.taken].filter((seq) => !this.left.has(seq)).length });
    this.gone = null;
  }

  /** How many of the tells before a record count no longer, and whether it is one of them. */
  before(seq) {
    this.gone ??= [...new Set([...this.left, ...this.taken])].sort((a, b) => a - b);
    const count = before(this.gone, seq);
    return { count, gone: this.gone[count] === seq };
  }

  /** The tells of which a value counts, each with the right one. */
  counted(tells = this.tells) {
    if (!this.amended.size && !this.counts.length) return tells;
    return tells.flatMap((tell) => {
      const word = this.amended.get(tell.seq);
      if (this.before(tell.seq).gone) return [];
      return [this.renumbered(word ? corrected(tell, word) : tell)];
    });
  }

  /** The tells that have a value of a constraint which counts. */
  told(constraint) {
    return this.counted().filter((tell) => tell.event?.outcomes?.[constraint]);
  }

  /** The resets that somebody asked for, each with its step as it counts. */
  asked() {
    return this.resets.filter((record) => record.kind === "reset").map((record) => this.renumbered(record));
  }

  /** With the step that it has once what was before it is taken back or left out: as `Numbering` has it. */
  renumbered(record) {
    const then = this.counts.findLast((each) => each.seq < record.seq)?.count ?? 0;
    const earlier = this.before(record.seq).count - then;
    if (!this.counts.length || !record.event) return record;
    const [step, clock, { outlier, sentence }] = [record.step - earlier, clockOf(record), record.event];
    const event = { ...record.event, step, time: clock ?? step, outlier: outlier == null ? null : outlier - earlier };
    const reason = sentence?.length ? sentenceText(sentence, earlier, clock !== null) : record.reason;
    return { ...record, step, reason, event };
  }

  /** The last tell, or undefined. */
  get last() {
    return this.tells.at(-1);
  }

  /** The tells that the model of the objective, or of a constraint, still uses: the last ones, as many as it says. */
  inUse(constraint = null) {
    if (constraint !== null) {
      const told = this.told(constraint);
      const asked = this.resets.findLast((record) => record.kind === "reset")?.seq ?? 0;
      const size = told.length && told.at(-1).seq > asked ? (told.at(-1).event.outcomes[constraint].size ?? 0) : 0;
      return size ? told.slice(-size) : [];
    }
    return this.size ? this.counted().slice(-this.size) : [];
  }

  /** How many observations the model uses: as the last tell, reset or amendment says. */
  get size() {
    const latest = this.others.findLast((record) => record.event?.size !== undefined && record.seq > (this.last?.seq ?? 0));
    return (latest ?? this.last)?.event?.size ?? 0;
  }

  /** The event that has the weights of the hypotheses as they are: of the last tell, or of a reset after it. */
  get believed() {
    return this.weighed?.event;
  }

  /** Whether the statistic is a probability: that of a change, as `auto` tells it. */
  get probabilistic() {
    return Object.keys(this.believed?.beliefs ?? {}).length > 0;
  }

  /** How many tells are beyond a limit once corrections count, of `total` as they were told, and the step of the last. */
  violated(total) {
    const before = new Set(this.violations.map((record) => record.seq));
    let count = total;
    const [cleared, broken] = [new Set(), []];
    for (const [seq, word] of this.amended) {
      const now = word.kind === "corrected" && Object.values(word.event.outcomes ?? {}).some((each) => each.violated);
      count += Number(now) - Number(before.has(seq));
      if (now) broken.push(...this.tells.filter((tell) => tell.seq === seq));
      else cleared.add(seq);
    }
    const all = [...this.violations.filter((record) => !cleared.has(record.seq)), ...broken];
    return { count, last: all.reduce((most, record) => Math.max(most, this.renumbered(record).step), 0) || null };
  }

  /** The setting that is asked for next because nothing is believed safe, or null. */
  get retreat() {
    const later = this.others.findLast((record) => record.kind !== "asked" && record.event && record.seq > (this.last?.seq ?? 0));
    return later ? null : (this.last?.event?.retreat ?? null);
  }

  /** Records newest first: "all", "resets" (also of the model of a constraint), "violations" or "failures". */
  newest(filter, limit) {
    if (filter === "violations") return this.violations.slice(-limit).reverse();
    if (filter === "resets") {
      const watched = this.tells.filter((record) => !record.reset && record.outcome_resets?.length);
      return [...this.resets.slice(-limit), ...watched.slice(-limit)].sort((a, b) => b.seq - a.seq).slice(0, limit);
    }
    const others = filter === "all" ? this.others : this.others.filter((record) => record.kind === "failed" || record.kind === "expired");
    const tells = filter === "all" ? this.tells.slice(-limit) : [];
    return [...others.slice(-limit), ...tells].sort((a, b) => b.seq - a.seq).slice(0, limit);
  }
}

/** How many of some numbers in order are before another. */
function before(ordered, number) {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ordered[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Numbers of records, of which the journal has a bit each: as `windvane.study.numbering` packs them. */
async function unpacked(said) {
  if (typeof said !== "string") return said; // of earlier versions
  const packed = Uint8Array.from(atob(said), (each) => each.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const found = [];
  bytes.forEach((byte, index) => { for (let bit = 0; bit < 8; bit += 1) if (byte & (128 >> bit)) found.push(8 * index + bit); });
  return found;
}

/** A tell with the values that count instead of those that were told. */
function corrected(tell, word) {
  const outcomes = { ...tell.event?.outcomes };
  for (const [name, now] of Object.entries(word.event.outcomes ?? {})) {
    if (now.value === null) delete outcomes[name];
    else outcomes[name] = { ...outcomes[name], value: now.value, violated: now.violated };
  }
  const violated = Object.keys(outcomes).filter((name) => outcomes[name].violated);
  return { ...tell, y: word.y, violated, event: tell.event && { ...tell.event, outcomes } };
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
