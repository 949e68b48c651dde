// `?bench=…` measures instead of showing the app: the numbers must be those of other implementations here, too.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowsers, open } from './harness.mjs';

after(closeBrowsers);

test('works have the losses of other frameworks, and an unknown one is told', async () => {
  const tab = await open({ path: '?bench=w1,w2,w5,w6' });
  await tab.page.waitForFunction(() => globalThis.tandemMeasured, null, { timeout: 120_000 });
  const measured = await tab.page.evaluate(() => globalThis.tandemMeasured);
  assert.deepEqual(measured.map((work) => work?.work), ['W1', 'W2', 'W5', undefined]);
  for (const { work, rate, checks, holds } of measured.slice(0, 3)) {
    assert.ok(holds && checks.length === 2 && rate > 0, `${work}: ${JSON.stringify(checks)}`);
  }
  const shown = await tab.page.locator('#boot-detail').textContent();
  assert.match(shown, /"work":"W1".*\n.*"work":"W2".*\n.*"work":"W5".*\nThere is no work “w6”/);
  assert.equal(await tab.page.locator('#boot-status').textContent(), 'Measured; all check values hold:');
  await tab.close();
});

test('a work whose check values are off is called no measurement', async () => {
  // The same page, but for what its works come to.
  const spoil = (page) => page.route(/tandem\.js/, async (route) => {
    const response = await route.fetch();
    const spoilt = `export function bench(work) {
      return benchRightly(work)?.replaceAll('"holds":true', '"holds":false');
    }
    function benchRightly(`;
    const body = (await response.text()).replace('export function bench(', spoilt);
    await route.fulfill({ response, body });
  });
  const tab = await open({ path: '?bench= w5 ,w6', before: spoil });
  await tab.page.waitForFunction(() => globalThis.tandemMeasured, null, { timeout: 120_000 });
  const told = await tab.page.locator('#boot-status').textContent();
  assert.equal(told, 'Check values are off in W5: what is below is no measurement.');
  await tab.close();
});

test('works that are none measure nothing', async () => {
  const tab = await open({ path: '?bench=' });
  await tab.page.waitForFunction(() => globalThis.tandemMeasured, null, { timeout: 60_000 });
  assert.equal(await tab.page.locator('#boot-status').textContent(), 'Nothing was measured:');
  await tab.close();
});
