// The page beside the command line, a run that diverges, and links that nobody means well.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { closeBrowsers, open } from './harness.mjs';

after(closeBrowsers);

/** A learning rate at which networks explode with the first gradient steps. */
const WILD = '#v=1&env=pellet&algo=qmix&lr=1&seed=7';

test('the command line repeats the page over its shared link', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: '#v=1&env=pellet&algo=qmix&seed=7&eval_every=1000&step=120' });
  const page = await tab.until('paused at update 120', ({ state, update }) => state === 'paused' && update === 120);
  const words = ['train', page.link, '--steps', String(page.envSteps), '--json'];
  const lines = execFileSync(process.env.TANDEM_PROGRAM, words, { encoding: 'utf8' }).trim().split('\n').map((line) => JSON.parse(line));
  const summary = lines.at(-1);
  assert.equal(summary.kind, 'summary');
  assert.deepEqual([summary.env_steps, summary.updates], [page.envSteps, page.update]);
  assert.equal(summary.trace_hash, page.traceHash);
  assert.equal(summary.weights_hash, page.weightsHash);
  await tab.close();
});

test('p43 a run that diverges stops, says where, and goes on from its last good weights', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: WILD });
  await tab.started();
  await tab.press('Space');
  const stopped = await tab.until('it has diverged', ({ state }) => state === 'diverged');
  const { tensor, update } = stopped.diverged;
  assert.match(tensor, /^(agents|mixer)\./);
  assert.equal(update, stopped.update);
  const { name } = await tab.widget(/^Training stopped at update/);
  assert.ok(name.includes(tensor) && name.includes(String(update)), name);
  await tab.widget(/^Best weights, update \d+$/);
  await tab.click(/^Last good weights, update \d+$/);
  const back = await tab.until('the weights are back', ({ state, weightsOf }) => state === 'paused' && weightsOf !== null);
  assert.deepEqual([back.weightsOf, back.update, back.changedAt], [update - 1, update, update]);
  assert.match(back.weightsHash, /^[0-9a-f]{16}$/);
  await tab.widget(`weights of update ${update - 1}, changed`);
  await tab.click('Share');
  await tab.widget(/will not repeat this run/);
  await tab.click('Close');
  await tab.gone('Close');
  // A smaller learning rate, and the run goes on.
  await tab.click('Learning rate', { role: 'Button' });
  await tab.widget('Learning rate', 10_000, 'TextInput');
  await tab.page.keyboard.press('Control+A');
  await tab.page.keyboard.type('1e-4');
  await tab.page.keyboard.press('Enter');
  await tab.until('the learning rate is small', ({ link }) => link.includes('lr=1e-4'));
  await tab.run();
  const on = await tab.until('it has gone on', ({ update: now }) => now > update + 50);
  assert.ok(on.state !== 'diverged' && Number.isFinite(on.loss) && on.weightsOf === null, JSON.stringify(on));
  await tab.close();
});

test('two hundred hostile links one after the other leave the page alive', { timeout: 600_000 }, async () => {
  const links = readFileSync(process.env.TANDEM_HOSTILE, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(links.length, 200);
  const tab = await open({ hash: '#v=1&env=pellet&algo=qmix&seed=7' });
  let { run } = await tab.started();
  for (const link of links) {
    const before = await tab.page.evaluate((hash) => {
      const old = location.hash;
      location.hash = hash;
      return location.hash === old;
    }, link);
    if (before) continue; // the same address opens nothing
    const status = await tab.until(`the page has opened ${link.slice(0, 200)}`, ({ run: now, ready, failure }) => failure !== null || (now > run && ready), 60_000);
    assert.equal(status.failure, null, link);
    run = status.run;
  }
  await tab.page.evaluate(() => { location.hash = '#v=1&env=pellet&algo=qmix&seed=7'; });
  await tab.until('a good link', ({ run: now, ready }) => now > run && ready);
  await tab.run();
  await tab.until('it trains', ({ update }) => update > 0);
  await tab.close();
});
