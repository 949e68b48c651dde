// The page as people use it: train, look, share, reopen, edit, change language, paste a link, hide the tab.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE, FLAGS, PHONE, closeBrowsers, colours, difference, open } from './harness.mjs';
import * as cdp from './cdp.mjs';

after(closeBrowsers);

const QMIX = '#v=1&env=pellet&algo=qmix&seed=7';

/** Runs the exact engine natively: `{ update, envSteps, traceHash, weightsHash }`. */
const native = (link, updates) => JSON.parse(execFileSync(process.env.TANDEM_NATIVE, [link, String(updates)], { encoding: 'utf8' }));

/** Waits until a link with `step=` has run there and stands still. */
const at = (tab, update) => tab.until(`paused at update ${update}`, (status) => status.state === 'paused' && status.update === update);

for (const mode of ['webgpu', 'noAdapter', 'insecure']) {
  test(`trains 50,000 env steps of pellet QMIX and gets better: ${mode}`, { timeout: 400_000 }, async () => {
    const tab = await open({ mode, hash: QMIX });
    await tab.started();
    const untrained = await tab.until('the untrained world is evaluated', ({ headline }) => headline !== null);
    assert.deepEqual([untrained.state, untrained.update], ['paused', 0]);
    const before = await tab.pixels();

    await tab.run();
    await tab.until('training has begun', ({ envSteps }) => envSteps > 5_000);
    const during = await tab.pixels();
    const late = await tab.until('50,000 env steps', ({ envSteps }) => envSteps >= 50_000, 300_000);
    const end = await tab.pixels();

    assert.ok(late.headline < untrained.headline / 2, `steps to the pellet: ${untrained.headline} → ${late.headline}`);
    assert.ok(late.jointValues, 'the surface has its values');
    assert.ok(colours(end) > 40, 'the surface is drawn in many colours');
    for (const [a, b] of [[before, during], [during, end]]) assert.ok(difference(a, b) > 2_000, 'the picture changes as training goes on');
    await tab.close();
  });
}

test('the page computes the recorded bits of every link of the corpus', { timeout: 600_000 }, async () => {
  const corpus = await readFile(new URL('../../crates/core/tests/fixtures/traces.txt', import.meta.url), 'utf8');
  for (const line of corpus.trim().split('\n')) {
    const [link, updates, recorded] = line.split(' ');
    const tab = await open({ hash: `${link}&step=${updates}` });
    const status = await at(tab, Number(updates));
    for (const [key, value] of Object.entries(JSON.parse(recorded))) assert.equal(status[key], value, `${link}: ${key}`);
    await tab.close();
  }
});

test('the page plays the written-down episodes of every world, bit by bit', { timeout: 100_000 }, async () => {
  const expected = JSON.parse(execFileSync(process.env.TANDEM_NATIVE, ['playthroughs'], { encoding: 'utf8' }));
  const tab = await open({ hash: QMIX });
  await tab.started();
  assert.equal(await tab.page.evaluate(() => globalThis.tandem.playthroughs()), expected.playthroughs);
  await tab.close();
});

test('a shared link repeats the run in a second page', { timeout: 200_000 }, async () => {
  const first = await open({ hash: `${QMIX}&lr=1e-3&step=150` });
  const there = await at(first, 150);
  const second = await open({ hash: `${there.link}&step=150` });
  const here = await at(second, 150);
  for (const key of ['envSteps', 'traceHash', 'weightsHash', 'link']) assert.equal(here[key], there[key], key);
  await first.close();
  await second.close();
});

test('pausing, stepping and running on is the same run', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: `${QMIX}&step=60` });
  await at(tab, 60);
  await tab.click('Update');
  await at(tab, 61);
  for (let step = 0; step < 3; step += 1) await tab.click('Env step');
  await tab.run();
  const { update } = await tab.until('some more updates', ({ update }) => update > 100);
  await tab.press('Space');
  const paused = await tab.until('paused', ({ state, update: now }) => state === 'paused' && now >= update);
  assert.equal(paused.traceHash, native(QMIX, paused.update).traceHash);
  await tab.close();
});

test('edited cells travel in the link', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: QMIX });
  const { link } = await tab.started();
  await tab.click('edit');
  await tab.widget('done');
  const { rect: [x, y, w, h] } = await tab.widget(/^Grid world/);
  // The middle of the picture lies between four cells; half a cell on lies the middle of one.
  await tab.page.mouse.click(x + w / 2 + h / 8, y + h / 2 + h / 8, { delay: 30 });
  const edited = await tab.until('the link has changed', (status) => status.link !== link);
  const copy = await open({ hash: `${edited.link}&step=40` });
  const there = await at(copy, 40);
  assert.equal(there.link, edited.link);
  assert.deepEqual(there.notices, []);
  assert.notEqual(there.traceHash, native(QMIX, 40).traceHash, 'a wall changes the run');
  assert.equal(there.traceHash, native(edited.link, 40).traceHash);
  await tab.close();
  await copy.close();
});

test('a pasted link is opened, Back returns, and the page does not rewrite the address by itself', { timeout: 120_000 }, async () => {
  const tab = await open({ hash: QMIX });
  await tab.started();
  await tab.page.evaluate(() => { location.hash = '#v=1&env=two_step&algo=vdn&seed=4'; });
  await tab.until('the second link', ({ link }) => link.includes('env=two_step') && link.includes('algo=vdn'));
  await tab.run();
  await tab.until('it trains', ({ update }) => update > 0);
  assert.equal(new URL(tab.page.url()).hash, '#v=1&env=two_step&algo=vdn&seed=4');
  await tab.page.goBack();
  await tab.until('the first link', ({ link, update }) => link.includes('env=pellet') && update === 0);
  await tab.close();
});

/** Links that are wrong, and what the strip must name. */
const BAD = {
  'a number out of range': ['#v=1&env=pellet&lr=1e9', /lr|learning rate/i],
  'not a number': ['#v=1&env=pellet&lr=NaN', /lr|learning rate/i],
  'an unknown key': ['#v=1&env=pellet&colour=blue', /colour/],
  'broken packed data': ['#v=1&env=pellet&map=%%%notbase64', /map|world/i],
  'an unknown environment': ['#v=1&env=chess', /env|chess/i],
  'a language that every object has': ['#v=1&env=pellet&lang=constructor', /constructor/],
  'a megabyte of garbage': [`#${'v1&=%zz'.repeat(150_000)}`, /./],
};

for (const [name, [hash, words]] of Object.entries(BAD)) {
  test(`a bad link is told and survived: ${name}`, { timeout: 120_000 }, async () => {
    const tab = await open({ hash });
    const status = await tab.started();
    assert.ok(status.notices.some((sentence) => words.test(sentence)), `the strip says: ${JSON.stringify(status.notices)}`);
    await tab.widget('Close these messages');
    await tab.run();
    await tab.until('it trains nevertheless', ({ update }) => update > 0);
    await tab.close();
  });
}

test('a link to update 10^9 is clamped, and its run can be stopped', { timeout: 120_000 }, async () => {
  const tab = await open({ hash: `${QMIX}&step=1000000000` });
  const status = await tab.started();
  assert.ok(status.notices.some((sentence) => /1,?000,?000/.test(sentence)), JSON.stringify(status.notices));
  await tab.until('it runs', ({ state, update }) => state === 'seeking' && update > 0);
  await tab.press('Space');
  await tab.until('it has stopped', ({ state }) => state === 'paused');
  await tab.close();
});

test('the page is Chinese for a Chinese reader, without a missing glyph', { timeout: 120_000 }, async () => {
  const tab = await open({ hash: QMIX, context: { locale: 'zh-CN' } });
  const status = await tab.started();
  assert.equal(status.lang, 'zh');
  await tab.widget('运行');
  const seen = await tab.widgets();
  // Near the window's foot a column may end in the middle of a line.
  const isWhole = ([x, y, w, h]) => tab.shows([x, y, w, h + 80]);
  const words = seen.filter(({ role, name, rect }) => role === 'Label' && isWhole(rect) && /^\p{Script=Han}{2,}$/u.test(name) && new Set(name).size === [...name].length);
  assert.ok(words.length >= 3, `labels of Chinese characters: ${words.map(({ name }) => name)}`);
  const whole = await tab.pixels();
  // A font without a character draws the same box for each: the characters of a word must look different.
  for (const { name, rect: [x, y, w, h] } of words) {
    const count = [...name].length;
    const slices = [];
    for (let i = 0; i < count; i += 1) slices.push(tab.crop(whole, [x + (w * i) / count, y, w / count, h]));
    for (let i = 1; i < count; i += 1) {
      const ink = difference(slices[i - 1], slices[i]);
      assert.ok(ink > 8, `“${name}”: characters ${i} and ${i + 1} look alike (${ink} pixels differ)`);
    }
  }
  await tab.close();
});

test('a link may choose the language, and the menu changes it without touching the run', { timeout: 120_000 }, async () => {
  const tab = await open({ hash: `${QMIX}&lang=zh&step=30` });
  const before = await at(tab, 30);
  assert.equal(before.lang, 'zh');
  assert.equal(await tab.page.evaluate(() => document.documentElement.lang), 'zh-Hans');
  await tab.click('English'); // offered in its own words
  const after = await tab.until('English', ({ lang }) => lang === 'en');
  assert.equal(await tab.page.evaluate(() => document.documentElement.lang), 'en');
  assert.deepEqual([after.update, after.traceHash], [before.update, before.traceHash]);
  await tab.close();
});

test('light and dark follow the system', { timeout: 120_000 }, async () => {
  for (const [colorScheme, dark] of [['light', false], ['dark', true]]) {
    const tab = await open({ hash: QMIX, context: { colorScheme } });
    const status = await tab.started();
    assert.equal(status.dark, dark);
    const { data } = await tab.pixels([2, 300, 4, 4]);
    assert.equal((data[0] + data[1] + data[2]) / 3 < 128, dark, 'the ground has the theme’s brightness');
    await tab.close();
  }
});

test('a phone has Run, the headline and touch targets for fingers', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: QMIX, context: PHONE });
  await tab.started();
  await tab.click('Run', { tap: true });
  await tab.until('it trains', ({ update }) => update > 20);
  await tab.click('Pause', { tap: true });
  await tab.until('paused', ({ state }) => state === 'paused');
  const buttons = (await tab.widgets()).filter(({ role, rect }) => role === 'Button' && tab.shows(rect));
  assert.ok(buttons.length >= 3);
  // 44 px, of which the gap between two targets may be a part.
  for (const { name, rect } of buttons) assert.ok(rect[3] >= 43.5, `“${name}” is ${rect[3]} px high`);
  await tab.close();
});

test('sharing without a clipboard shows the link, selected', { timeout: 120_000 }, async () => {
  const tab = await open({ mode: 'insecure', hash: QMIX });
  await tab.started();
  await tab.click('Share');
  await tab.click('Copy link');
  await tab.widget(/the link is selected/);
  const { value } = await tab.widget('Link');
  assert.match(value, /^http:\/\/classroom\.test:\d+\/#v=1&env=pellet/);
  await tab.close();
});

test('an insecure page says why it has no WebGPU', { timeout: 120_000 }, async () => {
  const tab = await open({ mode: 'insecure', hash: QMIX });
  const { engine } = await tab.started();
  assert.equal(engine, 'cpu');
  const { rect: [x, y, w, h] } = await tab.widget(/CPU engine/);
  await tab.page.mouse.move(x + w / 2, y + h / 2);
  await tab.widget(/https|localhost/);
  await tab.close();
});

test('the status bar tells state, speed, engine and loss', { timeout: 120_000 }, async () => {
  const tab = await open({ hash: QMIX });
  await tab.started();
  await tab.widget('paused');
  await tab.run();
  for (const words of ['running', /^[\d,]+ env steps\/s$/, /^[\d,.]+ updates\/s$/, /^CPU engine/, /^TD loss \d/]) await tab.widget(words);
  await tab.close();
});

test('choices that cannot be stored are no error', { timeout: 120_000 }, async () => {
  const tab = await open({
    hash: QMIX,
    before: (page) => page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });
    }),
  });
  await tab.started();
  await tab.run();
  await tab.until('it trains', ({ update }) => update > 0);
  await tab.close();
});

test('a stored language does not override the link', { timeout: 120_000 }, async () => {
  const tab = await open({
    hash: `${QMIX}&lang=en`,
    before: (page) => page.addInitScript(() => localStorage.setItem('tandem.lang', 'zh')),
  });
  const { lang } = await tab.started();
  assert.equal(lang, 'en');
  await tab.close();
});

test('a worker that dies is told, and training can start again', { timeout: 120_000 }, async () => {
  const tab = await open({
    hash: QMIX,
    before: (page) => page.addInitScript(() => {
      const Real = globalThis.Worker;
      globalThis.Worker = class extends Real {
        constructor(...args) {
          super(...args);
          globalThis.newestWorker = this;
        }
      };
    }),
  });
  await tab.started();
  await tab.page.evaluate(() => globalThis.newestWorker.dispatchEvent(new ErrorEvent('error', { message: 'out of memory' })));
  await tab.until('the page says so', ({ failure }) => /out of memory/.test(failure ?? ''));
  await tab.click('Start again');
  await tab.until('it is gone', ({ failure, ready }) => failure === null && ready);
  await tab.run();
  await tab.until('it trains', ({ update }) => update > 0);
  await tab.close();
});

/** What keeps a worker from starting. */
const UNSTARTED = {
  'its script is missing': ['**/worker.js*', (route) => route.fulfill({ status: 404 }), /could not be loaded/],
  'the module throws in it': ['**/worker.js*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace('await init(', 'throw new Error("no memory"); await init(') });
  }, /no memory/],
};

for (const [name, [pattern, answer, words]] of Object.entries(UNSTARTED)) {
  test(`a worker that cannot start is told: ${name}`, { timeout: 120_000 }, async () => {
    const tab = await open({ hash: QMIX, before: (page) => page.route(pattern, answer) });
    await tab.until('the page says so', ({ failure }) => words.test(failure ?? ''));
    await tab.page.unroute(pattern);
    await tab.click('Start again');
    await tab.until('it is gone', ({ failure, ready }) => failure === null && ready);
    await tab.run();
    await tab.until('it trains', ({ update }) => update > 0);
    await tab.close([/Failed to load resource|404/]);
  });
}

test('a hidden tab trains on, and shows one state, not a burst, when it is seen again', { timeout: 200_000 }, async () => {
  const browser = await cdp.start(FLAGS);
  try {
    const tab = await browser.tab(`${BASE.href}${QMIX}`);
    const status = async () => JSON.parse(await tab.evaluate('globalThis.tandem?.status?.() ?? "null"').catch(() => 'null'));
    const until = async (what, holds) => {
      for (let tries = 0; tries < 600; tries += 1) {
        const now = await status();
        if (now && holds(now)) return now;
        await sleep(100);
      }
      return assert.fail(`${what}: ${JSON.stringify(await status())}`);
    };
    await until('ready', ({ ready }) => ready);
    // Slow, so that catching up could be told from going on: 10 updates a second.
    await tab.choose('Training speed: 10 updates per second');
    await tab.press(' ', 'Space', 32);
    await until('running', ({ update }) => update >= 5);
    await browser.tab('about:blank');
    await sleep(500);
    assert.equal(await tab.evaluate('document.visibilityState'), 'hidden');
    const from = await until('hidden', () => true);
    await sleep(6000);
    const to = await status();
    assert.ok(to.update > from.update + 20, `goes on while hidden: ${from.update} → ${to.update}`);
    assert.ok(to.update < from.update + 100, `keeps its pace: ${from.update} → ${to.update}`);
    await tab.front();
    await sleep(500);
    const seen = await status();
    assert.ok(seen.update < to.update + 40, `no burst: ${to.update} → ${seen.update}`);
  } finally {
    await browser.close();
  }
});

test('a link opened in a background tab waits there unharmed', { timeout: 120_000 }, async () => {
  const browser = await cdp.start(FLAGS);
  try {
    const tab = await browser.tab(`${BASE.href}${QMIX}`);
    await browser.tab('about:blank');
    await sleep(4000);
    await tab.front();
    for (let tries = 0; ; tries += 1) {
      if (await tab.evaluate('JSON.parse(globalThis.tandem?.status?.() ?? "null")?.ready && document.getElementById("boot").hidden')) break;
      assert.ok(tries < 300, 'it starts when it is looked at');
      await sleep(100);
    }
    assert.equal(await tab.evaluate('document.getElementById("boot").classList.contains("failed")'), false);
  } finally {
    await browser.close();
  }
});
