// The live stream of a study's records. EventSource cannot send a token, so this reads the stream itself.

import { send } from "./api.js";

const SILENCE = 45_000; // ms without even a heartbeat: the connection is dead
const FIRST = 500;
const LONGEST = 15_000;

/** Cut a text/event-stream into records; returns what is left over. */
export function parse(buffer, take) {
  const blocks = buffer.replaceAll("\r\n", "\n").split("\n\n");
  const rest = blocks.pop();
  for (const block of blocks) {
    const data = block
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).replace(/^ /, ""))
      .join("\n");
    if (data) take(JSON.parse(data));
  }
  return rest;
}

/**
 * Follow a stream from `after` on, for as long as the page lives.
 *
 * `onrecord` gets each record once, in order; `onstate` gets "live", "reconnecting" or "gone".
 */
export function follow(path, after, onrecord, onstate) {
  let last = after;
  let wait = FIRST;
  let wake = () => {};

  async function listen() {
    const control = new AbortController();
    let watchdog = setTimeout(() => control.abort(), SILENCE);
    try {
      const response = await send(`${path}?after=${last}`, {
        signal: control.signal,
        headers: { Accept: "text/event-stream" },
      });
      onstate("live");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let buffer = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        wait = FIRST;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => control.abort(), SILENCE);
        buffer = parse(buffer + value, (record) => {
          if (!(record.seq > last)) return;
          last = record.seq;
          onrecord(record);
        });
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  async function keep() {
    for (;;) {
      try {
        await listen();
      } catch (error) {
        if (error.status === 404) {
          onstate("gone");
          return;
        }
      }
      onstate("reconnecting");
      await new Promise((resolve) => {
        wake = resolve;
        setTimeout(resolve, wait * (0.75 + 0.5 * Math.random()));
      });
      wait = Math.min(LONGEST, wait * 2);
    }
  }

  window.addEventListener("online", () => wake());
  document.addEventListener("visibilitychange", () => document.hidden || wake());
  keep();
}
