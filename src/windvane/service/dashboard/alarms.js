// What changed when, in all studies: resets and violations, newest first, acknowledged or not.

import { get, pathOf } from "./api.js";
import { announce, arrange, complaint, h, segmented, setText } from "./dom.js";
import { clock, clockOf, place, plural } from "./format.js";
import { heading } from "./help.js";
import { constraintsOf, violationsOf } from "./limits.js";

const EACH = 50; // records of a study
const SHOWN = 200;
const EVERY = 5000;
const KEY = "windvane-acknowledged";

/** What this browser remembers as acknowledged. The service is told nothing: a journal has what happened to a study. */
class Acknowledged {
  constructor() {
    try {
      this.known = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
    } catch {
      this.known = new Set(); // storage may be forbidden, or somebody else's
    }
  }

  has(id) {
    return this.known.has(id);
  }

  /** Remember, or forget, and keep only what still exists. */
  set(id, yes, existing) {
    if (yes) this.known.add(id);
    else this.known.delete(id);
    this.known = new Set([...this.known].filter((each) => existing.has(each)));
    try {
      localStorage.setItem(KEY, JSON.stringify([...this.known]));
    } catch {
      // then it holds for this page only
    }
  }
}

/** The alarms of one study. A study that is made anew under an old name has alarms of its own. */
async function alarmsOf(summary) {
  const path = pathOf(summary.name, `/events?newest=true&limit=${EACH}&beliefs=false`);
  const [resets, violations] = await Promise.all([
    summary.resets ? get(`${path}&resets=true`) : { events: [] },
    summary.violations ? get(`${path}&violations=true`) : { events: [] },
  ]);
  const constraints = constraintsOf(summary);
  const make = (kind, record, reason) => ({ id: `${summary.name} ${summary.created} ${record.seq} ${kind}`, study: summary.name, kind, record, reason });
  return [
    ...resets.events.map((record) => make("reset", record, record.reason)),
    ...violations.events.map((record) => make("violation", record, violationsOf(record, constraints))),
  ];
}

/** Fill `main` with the alarms of all studies and keep them up to date. */
export async function showAlarms(main) {
  const acknowledged = new Acknowledged();
  const [rows, fetched] = [new Map(), new Map()]; // by alarm; by study: what was fetched for which head
  const trouble = complaint();
  const list = h("ol", { class: "alarms" });
  const empty = h("p", { class: "hint" });
  const tally = h("p", { class: "tally", role: "status" });
  let filter = "open";
  let alarms = [];

  function row(alarm) {
    const { record } = alarm;
    const tick = h("input", { type: "checkbox", onchange: () => {
      acknowledged.set(alarm.id, tick.checked, new Set(alarms.map((each) => each.id)));
      announce(`${alarm.kind} of ${alarm.study} ${tick.checked ? "acknowledged" : "open again"}`);
      show();
    } });
    const when = `${record.kind === "reset" ? "after " : ""}${place(record.step, clockOf(record))}`;
    const node = h("li", { class: `alarm is-${alarm.kind}` },
      h("span", { class: "alarm-kind" }, alarm.kind),
      h("a", { href: `/studies/${encodeURIComponent(alarm.study)}` }, alarm.study),
      h("time", { class: "figure", datetime: new Date(record.at * 1000).toISOString() }, clock(record.at)),
      h("span", { class: "alarm-reason" }, `${alarm.kind === "violation" ? "" : `${when}: `}${alarm.reason || "no reason was given"}`),
      h("label", { class: "check" }, tick, "acknowledged", h("span", { class: "unseen" }, ` ${alarm.kind} of ${alarm.study}, ${when}`)));
    return { node, tick };
  }

  function show() {
    const open = alarms.filter((each) => !acknowledged.has(each.id));
    const shown = (filter === "open" ? open : alarms).slice(0, SHOWN);
    arrange(list, shown.map((alarm) => {
      if (!rows.has(alarm.id)) rows.set(alarm.id, row(alarm));
      const { node, tick } = rows.get(alarm.id);
      tick.checked = acknowledged.has(alarm.id);
      node.classList.toggle("is-known", tick.checked);
      return node;
    }));
    list.hidden = !shown.length;
    empty.hidden = shown.length > 0;
    setText(empty, alarms.length ? "Everything has been acknowledged." : "Nothing has changed so far: no study has a reset or a violation.");
    setText(tally, alarms.length ? `${plural(open.length, "open alarm")} of ${alarms.length}` : "");
  }

  async function refresh() {
    try {
      const { studies } = await get("/v1/studies");
      for (const summary of studies) {
        const sign = `${summary.created} ${summary.resets} ${summary.violations}`;
        if (fetched.get(summary.name)?.sign !== sign) fetched.set(summary.name, { sign, alarms: await alarmsOf(summary) });
      }
      const names = new Set(studies.map((each) => each.name));
      for (const name of fetched.keys()) if (!names.has(name)) fetched.delete(name);
      alarms = [...fetched.values()].flatMap((each) => each.alarms).sort((a, b) => b.record.at - a.record.at);
      trouble.show(null);
      show();
    } catch (error) {
      trouble.show(error);
    }
  }

  main.replaceChildren(
    h("div", { class: "home-head" }, h("h1", {}, "Alarms"), heading("alarms", "What changed when"), tally,
      segmented("Show", [["open", "open"], ["all", "all"]], filter, (value) => { filter = value; show(); })),
    trouble.node, h("p", { class: "hint" }, "Acknowledgements are notes of your own, kept in this browser only: the journal of a study has what happened to the study, not who has seen it."), empty, list);
  await refresh();
  setInterval(() => document.hidden || refresh(), EVERY);
}
