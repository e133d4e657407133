// A controller in Node (18 or newer, no packages): asks and tells in a loop, and hears of resets as they happen.
// Needs a running `windvane serve`. The plant jumps half-way; the study notices and starts afresh.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const url = process.env.WINDVANE_URL ?? "http://127.0.0.1:8000";
const token = process.env.WINDVANE_TOKEN;
const steps = Number(process.argv[2] ?? 60);
const name = `node-example-${process.pid}`;

// One call: an idempotency key is made once, so that a retry never doubles a measurement.
async function call(method, path, body) {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
  if (token) headers.Authorization = `Bearer ${token}`;
  for (let attempt = 1; ; attempt++) {
    let failure;
    try {
      const answer = await fetch(`${url}/v1${path}`, {
        method, headers, body: body && JSON.stringify(body), redirect: "error", signal: AbortSignal.timeout(10_000),
      });
      const text = await answer.text();
      if (answer.ok) return text && JSON.parse(text);
      failure = new Error(`${answer.status}: ${text}`);
      if (![429, 502, 503, 504].includes(answer.status)) attempt = Infinity;
    } catch (error) {
      failure = error;
    }
    if (attempt > 3) throw failure;
    await sleep(100 * 2 ** attempt);
  }
}

// The records of a study as they are written: server-sent events, read line by line.
async function* stream(signal) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(`${url}/v1/studies/${name}/stream`, { headers, signal });
  let rest = "";
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data: ")) yield JSON.parse(line.slice(6));
    }
  }
}

async function alarm(signal) {
  try {
    for await (const record of stream(signal)) {
      if (record.reset) console.log(`reset at step ${record.step}: ${record.reason}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const plant = (x, step) => Math.exp(-30 * (x - (step <= steps / 2 ? 0.3 : 0.7)) ** 2);

await call("POST", "/studies", {
  name,
  space: { parameters: { gain: { real: [0, 1] } } },
  algorithm: "et-gp-ucb",
  seed: 1,
  options: { kernel: { type: "RBF", lengthscale: [0.2] }, noise_variance: 0.001 },
});
const listening = new AbortController();
const resets = alarm(listening.signal);
try {
  for (let step = 1; step <= steps; step++) {
    const trial = await call("POST", `/studies/${name}/ask`, {});
    await call("POST", `/studies/${name}/tell`, { trial: trial.number, y: plant(trial.x.gain, step) });
  }
  const best = await call("GET", `/studies/${name}/best`);
  console.log(`believed best: gain = ${best.x.gain.toFixed(3)}, mean ${best.mean.toFixed(3)}`);
  await sleep(500); // the last records may still be on their way
} finally {
  listening.abort();
  await resets;
  await call("DELETE", `/studies/${name}`);
}
