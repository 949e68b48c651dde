// Who plays, in the browser: a seat chosen in Set-up travels in the link, a person moves an agent by mouse, keyboard and
// touch, and learned teams stand beside the scripted ones.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import { PHONE, closeBrowsers, open } from './harness.mjs';

after(closeBrowsers);

const IPPO = '#v=1&env=pellet&algo=ippo&seed=7';
const WITH_PERSON = '#v=1&env=pellet&algo=qmix&seats=learner,human&seed=7';
// High enough for all of Set-up.
const HIGH = { viewport: { width: 1366, height: 1800 } };

const stepped = (tab, step) => tab.until(`env step ${step} of the stage's episode`, ({ stageStep }) => stageStep === step);

test('a seat chosen in Set-up travels in the link', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: IPPO, context: HIGH });
  await tab.started();
  await tab.click('Agent 2 is played by', { role: 'ComboBox' });
  await tab.click('Idle (script)', { role: 'MenuItem' });
  const { link } = await tab.until('the seat stands in the link', (status) => status.link.includes('seats=learner,idle'));

  const copy = await open({ hash: `${link}&step=20`, context: HIGH });
  const there = await copy.until('paused at update 20', ({ state, update }) => state === 'paused' && update === 20);
  assert.equal(there.link, link);
  assert.deepEqual(there.notices, []);
  assert.equal((await copy.widget('Agent 2 is played by', 10_000, 'ComboBox')).value, 'Idle');
  const expected = (of) => JSON.parse(execFileSync(process.env.TANDEM_NATIVE, [of, '20'], { encoding: 'utf8' }));
  for (const key of ['envSteps', 'traceHash', 'weightsHash']) assert.equal(there[key], expected(link)[key], key);
  assert.notEqual(there.traceHash, expected(IPPO).traceHash, 'an idle agent makes another run');
  await tab.close();
  await copy.close();
});

test('a person moves an agent by mouse and keyboard', { timeout: 120_000 }, async () => {
  const tab = await open({ hash: WITH_PERSON });
  await tab.started();
  await tab.widget(/agent 2 waits for you/);
  await stepped(tab, 0);
  await tab.click('agent 2: stay');
  await stepped(tab, 1);
  await tab.press('ArrowRight');
  const { envSteps, update } = await stepped(tab, 2);
  assert.deepEqual([envSteps, update], [0, 0], 'nothing was trained');
  await tab.close();
});

test('a person moves an agent by touch', { timeout: 120_000 }, async () => {
  const tab = await open({ hash: WITH_PERSON, context: PHONE });
  await tab.started();
  const { rect } = await tab.widget('agent 2: stay');
  assert.ok(rect[2] >= 44 && rect[3] >= 44, `a button of ${rect[2]} × ${rect[3]} px`);
  await tab.click('agent 2: stay', { tap: true });
  await stepped(tab, 1);
  await tab.close();
});

test('learned teams play the episodes of the scripts', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: '#v=1&env=pellet&algo=qmix&seed=7&budget=4000&view=teams' });
  await tab.started();
  await tab.click('Train and compare');
  const means = async () => (await tab.widgets()).filter(({ name }) => /^\d+\.\d\d ± \d+\.\d\d$/.test(name)).length;
  for (let tries = 0; (await means()) < 7; tries += 1) {
    assert.ok(tries < 600, `${await means()} of 7 teams have played`);
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
  const { update, envSteps } = await tab.status();
  assert.deepEqual([update, envSteps], [0, 0], 'the run on the page was not trained');
  await tab.close();
});
