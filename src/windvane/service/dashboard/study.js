// The page of one study: panels around one history, fed by the stream.

import { download, get, intention, pathOf, post, remove } from "./api.js";
import { Beliefs } from "./beliefs.js";
import { fetchPlotly, plotly } from "./charts.js";
import { askReason, confirmed } from "./dialogs.js";
import { announce, busily, complaint, h, setText } from "./dom.js";
import { date, plural, unbroken } from "./format.js";
import { heading } from "./help.js";
import { History } from "./history.js";
import { curl } from "./lessons.js";
import { constraintsOf, describeConstraints, safeAt, violationsOf } from "./limits.js";
import { Log } from "./log.js";
import { Optimum } from "./optimum.js";
import { Outcomes } from "./outcomes.js";
import { paced } from "./pace.js";
import { Parallel } from "./parallel.js";
import { Posterior } from "./posterior.js";
import { Readouts } from "./readouts.js";
import { axesOf, contextOf, describe, middle, pointFrom, spoken, within } from "./space.js";
import { follow } from "./stream.js";
import { Timeline } from "./timeline.js";
import { Trials } from "./trials.js";

const STATES = {
  connecting: ["connecting", "Connecting to the live stream"],
  live: ["live", "New events appear as they happen"],
  reconnecting: ["reconnecting", "The connection was lost; trying again"],
  gone: ["deleted", "This study no longer exists"],
};

function actions(summary, writable, trouble) {
  const save = (format, text, ending) => {
    const button = h("button", { type: "button", onclick: () => busily(button, trouble, () => download(pathOf(summary.name, `/export?format=${format}`), `${summary.name}.${ending}`)) }, text);
    return button;
  };
  const end = h("button", { type: "button", class: "quiet", onclick: async () => {
    const text = `“${summary.name}” and its ${plural(summary.tells, "observation")} will be gone for good. Download them first if they matter.`;
    if (await confirmed("Delete this study?", text, "Delete for good", () => remove(pathOf(summary.name)))) location.assign("/");
  } }, "Delete …");
  const reset = h("button", { type: "button", onclick: () => {
    const key = intention();
    const text = "Nothing told before will be used any more. It stays in the log, with your reason, and webhooks are called.";
    return askReason("The system has changed", text, "Reset", (reason) => post(pathOf(summary.name, "/reset"), { reason }, key));
  } }, "The system has changed …");
  return h("div", { class: "study-actions" }, writable ? reset : null, save("csv", "CSV", "csv"), save("jsonl", "JSON lines", "jsonl"), writable ? end : null);
}

function lesson(summary, axes, session) {
  const x = pointFrom(axes.map(middle), summary.definition.space, axes);
  const path = pathOf(summary.name);
  const seen = contextOf(x, axes);
  const limits = constraintsOf(summary);
  const measured = limits.length ? { y: 0.7, outcomes: Object.fromEntries(limits.map((each) => [each.name, each.limit])) } : { y: 0.7 };
  return h("section", { class: "panel lesson" },
    h("h2", {}, "Nothing measured yet"),
    h("p", {}, "Ask for a point, try it on your system, and tell what you measured: by hand on this page, or from any language over HTTP. The charts appear with the first value."),
    curl(session, [["Ask for a point", "POST", `${path}/ask`, seen ? { context: seen } : {}], ["Tell what you measured there", "POST", `${path}/tell`, { trial: 1, ...measured }], ["Or tell a point that nobody asked for", "POST", `${path}/tell`, { x, ...measured }]]));
}

/** A text, one paragraph per line; those that did not change stay as they are. */
function paragraphs(node, text) {
  const lines = text.split("\n").filter(Boolean);
  while (node.children.length > lines.length) node.lastChild.remove();
  while (node.children.length < lines.length) node.append(h("p", {}));
  lines.forEach((line, index) => setText(node.children[index], unbroken(line)));
}

/** Fill `main` with the study and keep it up to date. */
export async function showStudy(main, name, asked) {
  // All that is needed is asked for at once; the page is there as soon as the summary is.
  fetchPlotly();
  const found = get(pathOf(name));
  const history = new History(name, found.then((each) => Object.keys(each.constraints ?? {}).length > 0));
  const loading = history.load();
  loading.catch(() => {}); // reported below
  const [session, summary] = await Promise.all([asked, found]);
  const writable = session.scopes.includes("write");
  const space = summary.definition.space;
  const axes = axesOf(space);
  const constraints = constraintsOf(summary);
  const totals = { tells: summary.tells, resets: summary.resets, failed: summary.failed, lastReset: summary.last_reset, violations: summary.violations };
  const trouble = complaint();
  const badge = h("span", { class: "badge", role: "status" });
  const state = (which) => {
    badge.dataset.state = which;
    badge.title = STATES[which][1];
    setText(badge, STATES[which][0]);
  };

  const safety = summary.safe === null ? null : h("span", { class: "note safety", title: "Each constraint must hold with this probability where a point is asked for" }, safeAt(summary.safe));
  const retreat = h("p", { class: "complaint retreat", role: "status", hidden: true });

  const panels = {
    readouts: new Readouts(space, constraints.length > 0),
    timeline: new Timeline(name),
    posterior: new Posterior(name, space, axes, history, constraints, summary.safe),
    optimum: new Optimum(name, axes, history),
    parallel: axes.length > 2 ? new Parallel(axes, history, summary.goal) : null,
    beliefs: new Beliefs(),
    trials: new Trials(name, space, axes, writable, summary.algorithm !== "auto", constraints),
    log: new Log(history, space, writable, constraints),
  };
  panels.timeline.history = history;
  panels.outcomes = constraints.length ? new Outcomes(name, constraints, summary.safe, history, panels.timeline) : null;
  panels.timeline.onview = () => panels.outcomes?.update();
  const words = h("div", { class: "words" });
  const explain = h("section", { class: "panel explain-panel", "aria-labelledby": "explain-title" }, h("div", { class: "panel-head" }, heading("explain", "In words")), words);
  const start = lesson(summary, axes, session);
  const waiting = h("p", { class: "loading", role: "status" }, `Loading what was measured: ${plural(summary.tells, "value")} …`);
  const charts = h("div", { class: "charts" }, h("div", { class: "pair" }, panels.posterior.node, panels.optimum.node), panels.parallel?.node);
  const side = h("div", { class: "side" }, panels.trials.node, panels.beliefs.node);
  const courses = h("div", { class: "courses" }, panels.timeline.node, panels.outcomes?.node);
  const goal = summary.goal === "minimize" ? "minimise" : "maximise";

  main.replaceChildren(
    h("div", { class: "study-head" },
      h("div", { class: "study-name" }, h("h1", {}, summary.name), badge, safety),
      h("p", { class: "about" }, [summary.algorithm, goal, describe(space), describeConstraints(summary), `since ${date(summary.created)}`].filter(Boolean).join(" · ")),
      actions(summary, writable, trouble)),
    trouble.node, retreat, panels.readouts.node,
    h("div", { class: "bench" }, start, waiting, courses, side), explain, charts, panels.log.node);
  state("connecting");

  const drawing = paced(async () => {
    await panels.timeline.update();
    await panels.outcomes?.update();
    await panels.optimum.update();
    panels.parallel?.update();
  }, 400);
  const listing = paced(async () => panels.log.update(), 150);
  const surface = paced(() => panels.posterior.refresh(), 2000);
  const pending = paced(() => panels.trials.refresh(), 700);
  const best = paced(async () => {
    const step = history.last?.step;
    if (!step) return;
    try {
      // A context that was observed before the space became narrower is none any more.
      const last = history.tells.findLast((tell) => axes.every((axis) => !axis.context || within(axis, tell.x[axis.name])));
      const seen = contextOf(last?.x ?? pointFrom(axes.map(middle), space, axes), axes);
      const query = seen ? `?${new URLSearchParams({ context: JSON.stringify(seen) })}` : "";
      const found = await get(pathOf(name, `/best${query}`));
      panels.readouts.best(found);
      panels.outcomes?.best(found);
      panels.optimum.add(found, step);
      drawing();
    } catch (error) {
      if (error.status !== 409) trouble.show(error); // 409: nothing is known yet
    }
  }, 1000);
  const explaining = paced(async () => {
    try {
      const explanation = await get(pathOf(name, "/explain"));
      paragraphs(words, explanation.text);
      panels.outcomes?.explained(explanation);
    } catch (error) {
      paragraphs(words, error.message);
    }
  }, 4000);

  /** What is asked for while nothing is believed safe, in words. */
  const retreated = () => {
    const back = history.retreat;
    retreat.hidden = back === null;
    setText(retreat, back === null ? "" : `Nothing is believed safe: back to ${spoken(space, back)}. That is the next point asked for, until the constraints are believed to hold again.`);
    if (!safety) return;
    safety.classList.toggle("lost", back !== null);
    setText(safety, back === null ? safeAt(summary.safe) : `nothing believed ${safeAt(summary.safe)}`);
  };

  const everything = () => {
    // Until the values are here, what the summary says is shown, and never that nothing was measured.
    waiting.hidden = history.loaded || totals.tells === 0;
    start.hidden = !waiting.hidden || totals.tells > 0;
    charts.hidden = history.tells.length === 0;
    courses.hidden = charts.hidden;
    retreated();
    panels.readouts.node.hidden = totals.tells === 0;
    explain.hidden = charts.hidden;
    panels.readouts.update(totals, history);
    panels.beliefs.update(history.believed);
    panels.log.node.hidden = !history.loaded;
    listing();
    if (charts.hidden) return;
    for (const refresh of [drawing, surface, best, explaining]) refresh();
  };

  function take(record) {
    if (!history.add(record)) return;
    if (record.kind === "told") {
      totals.tells += 1;
      const news = [];
      if (record.reset) {
        totals.resets += 1;
        totals.lastReset = record.step;
        news.push(`Reset at step ${record.step}: ${record.reason}`);
      }
      if (record.violated?.length) {
        totals.violations += 1;
        news.push(violationsOf(record, constraints));
      }
      if (record.event?.retreat) news.push(`Nothing is believed safe: back to ${spoken(space, record.event.retreat)}.`);
      if (news.length) announce(news.join(" "));
      everything();
    } else {
      if (record.kind === "failed") {
        totals.failed += 1;
        if (!charts.hidden) drawing();
      }
      if (record.kind === "redefined") location.reload(); // other axes everywhere
      if (record.reset) {
        totals.resets += 1;
        totals.lastReset = record.step;
        announce(`Reset after step ${record.step}: ${record.reason}`);
      }
      if (record.reset || record.event?.record) everything();
      panels.readouts.update(totals, history);
      listing();
    }
    pending();
  }

  everything();
  await new Promise((resolve) => { setTimeout(resolve, 0); }); // paint first
  const library = plotly();
  library.catch(() => {}); // reported below
  await loading;
  panels.trials.refresh();
  // The summary was read a moment before the events: what came in between is counted once.
  for (const record of [...history.tells, ...history.others].filter((each) => each.seq > summary.head)) {
    if (record.kind === "told") totals.tells += 1;
    if (record.kind === "failed") totals.failed += 1;
    if (record.reset) Object.assign(totals, { resets: totals.resets + 1, lastReset: record.step });
    if (record.violated?.length) totals.violations += 1;
  }
  everything();
  follow(pathOf(name, "/stream"), history.head, take, (which) => {
    state(which);
    if (which === "gone") trouble.show("This study has been deleted. What you see is what this page remembers.");
  });
  setInterval(() => {
    panels.readouts.tick();
    panels.trials.tick();
  }, 1000);

  const redraw = () => {
    drawing();
    panels.posterior.redraw();
  };
  document.addEventListener("windvane-theme", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.matchMedia("(max-width: 700px)").addEventListener("change", redraw);
  window.addEventListener("resize", () => drawing());
  await library.catch((error) => trouble.show(error));
  await history.backfill().catch((error) => trouble.show(error));
  drawing();
  if (!history.tells.length) return;
  await panels.optimum.load().catch((error) => trouble.show(error));
  drawing();
}
