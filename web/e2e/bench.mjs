// Measures the built page and prints one JSON object a line; `cargo xtask bench-page` runs it and lays out the numbers.
// Nothing is asserted: times say more about this machine than about the page.

import { setTimeout as sleep } from 'node:timers/promises';
import { closeBrowsers, open } from './harness.mjs';

const LINKS = JSON.parse(process.env.TANDEM_LINKS);
const LOADS = 5;
const SECONDS = 10;

const say = (kind, facts) => console.log(JSON.stringify({ kind, ...facts }));
const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))];

/** In the page: script time per frame, the handlers of the worker's messages counted to the frame after them. */
function watchFrames() {
  globalThis.scriptTimes = [];
  let messages = 0;
  const timed = (run) => {
    const start = performance.now();
    run();
    return performance.now() - start;
  };
  const request = globalThis.requestAnimationFrame.bind(globalThis);
  globalThis.requestAnimationFrame = (frame) => request((time) => {
    globalThis.scriptTimes.push(timed(() => frame(time)) + messages);
    messages = 0;
  });
  const { set } = Object.getOwnPropertyDescriptor(Worker.prototype, 'onmessage');
  Object.defineProperty(Worker.prototype, 'onmessage', {
    set(handler) {
      set.call(this, handler && ((event) => { messages += timed(() => handler.call(this, event)); }));
    },
  });
}

async function loading() {
  const times = [];
  for (let load = 0; load < LOADS; load += 1) {
    const tab = await open();
    await tab.started();
    times.push(await tab.page.evaluate(() => {
      const at = (name) => performance.getEntriesByName(name)[0].startTime;
      return at('tandem-picture') - at('tandem-bytes');
    }));
    await tab.context.close();
  }
  say('picture', { median: quantile(times, 0.5), worst: quantile(times, 1) });
}

async function training(name, hash) {
  const tab = await open({ hash, before: (page) => page.addInitScript(watchFrames) });
  await tab.started();
  await tab.run();
  await sleep(1000);
  await tab.page.evaluate(() => { globalThis.scriptTimes.length = 0; });
  const before = await tab.status();
  const start = performance.now();
  // A run that finishes early is measured until it does.
  while (performance.now() - start < SECONDS * 1000 && (await tab.status()).state === 'running') await sleep(100);
  const seconds = (performance.now() - start) / 1000;
  const after = await tab.status();
  const frames = await tab.page.evaluate(() => globalThis.scriptTimes);
  say('training', {
    name,
    seconds,
    envSteps: (after.envSteps - before.envSteps) / seconds,
    updates: (after.update - before.update) / seconds,
    frames: frames.length / seconds,
    median: frames.length ? quantile(frames, 0.5) : null,
    p95: frames.length ? quantile(frames, 0.95) : null,
  });
  await tab.context.close();
}

await loading();
for (const [name, hash] of Object.entries(LINKS)) await training(name, hash);
await closeBrowsers();
