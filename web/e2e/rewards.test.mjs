// Rewards by part in the browser: both charts are drawn, and another α is reckoned without running anything again.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PHONE, closeBrowsers, colours, difference, open } from './harness.mjs';

after(closeBrowsers);

const FREE_RIDER = '#v=1&env=pellet&algo=iql&reward=first&alpha=0.5&cost=0.05&seed=7&step=300&view=rewards';
const EPISODE = /^reward per env step/;
const TRAINING = /^reward per episode/;

/** Waits until the link's update is reached and both charts stand. */
const there = async (tab) => {
  await tab.until('paused at update 300', ({ state, update }) => state === 'paused' && update === 300);
  return [await tab.widget(EPISODE), await tab.widget(TRAINING)];
};

test('both charts are drawn and follow α without another run', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: FREE_RIDER });
  const [, training] = await there(tab);
  const ground = await tab.pixels(training.rect);
  assert.ok(colours(ground) > 8, 'bars in the agents’ colours, not an empty rectangle');

  const before = await tab.status();
  const { rect: [x, y, w, h] } = await tab.widget('α to recompute rewards for');
  await tab.page.mouse.click(x + w * 0.04, y + h / 2, { delay: 30 });
  await tab.widget(/^recomputed for α = 0(\.0\d)?$/);
  const other = await tab.widget(TRAINING);
  assert.notEqual(other.name, training.name, 'its figures are told anew');
  assert.ok(difference(ground, await tab.pixels(training.rect)) > 100, 'and drawn anew');
  const now = await tab.status();
  for (const key of ['run', 'update', 'envSteps', 'traceHash', 'weightsHash', 'curveLength', 'link']) assert.equal(now[key], before[key], key);

  await tab.click('back to α = 0.5');
  for (let tries = 0; (await tab.widget(TRAINING)).name !== training.name; tries += 1) assert.ok(tries < 50, 'the run’s own figures come back');
  await tab.close();
});

test('an env step by hand adds a bar', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: FREE_RIDER });
  await there(tab);
  const { envSteps } = await tab.status();
  const { name: before } = await tab.widget(EPISODE);
  let after = before;
  for (let step = 1; step <= 6 && after === before; step += 1) {
    await tab.click('Env step');
    await tab.until('the env step is taken', (status) => status.envSteps >= envSteps + 8 * step);
    after = (await tab.widget(EPISODE)).name;
  }
  assert.notEqual(after, before, 'moves cost something');
  await tab.close();
});

test('on a phone both charts and the slider are there', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: FREE_RIDER, context: PHONE });
  await tab.until('paused at update 300', ({ state, update }) => state === 'paused' && update === 300);
  await tab.click('Rewards', { tap: true });
  const { rect } = await tab.widget('α to recompute rewards for');
  assert.ok(rect[3] >= 44, `the slider is ${rect[3]} px high`);
  const [x, y, w] = (await tab.widget(EPISODE)).rect;
  assert.ok(colours(await tab.pixels([x, y, w, 60])) > 4, 'the chart is drawn');
  await tab.close();
});
