// Loading, and the ways in which it can fail (a worker that cannot start: app.test.mjs): what a person reads then, in both languages, with the link kept.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowsers, colours, open } from './harness.mjs';

after(closeBrowsers);

const HASH = '#v=1&env=pellet&seed=7';

for (const mode of ['webgpu', 'noAdapter', 'insecure']) {
  test(`loads without a console error: ${mode}`, async () => {
    const tab = await open({ mode, hash: HASH });
    await tab.started();
    assert.ok(colours(await tab.pixels()) > 8, 'the page shows a picture');
    assert.equal(new URL(tab.page.url()).hash, HASH, 'the link is left alone');
    await tab.close();
  });
}

test('counts the bytes of the module while it loads', async () => {
  const seen = [];
  const tab = await open({
    before: async (page) => {
      await page.exposeFunction('sawProgress', (part, text) => seen.push([Number(part), text]));
      await page.addInitScript(() => {
        addEventListener('DOMContentLoaded', () => {
          const bar = document.getElementById('boot-bar');
          new MutationObserver(() => globalThis.sawProgress(bar.style.getPropertyValue('--part'), document.getElementById('boot-status').textContent))
            .observe(bar, { attributes: true });
        });
      });
    },
  });
  await tab.started();
  const parts = seen.map(([part]) => part);
  assert.ok(parts.length > 2, `several steps: ${parts}`);
  assert.deepEqual(parts, [...parts].sort((a, b) => a - b), 'never backwards');
  assert.equal(parts.at(-1), 1, 'ends at exactly all bytes');
  assert.match(seen[0][1], /^Loading: 0\.0 of \d+\.\d MB$/);
  await tab.close();
});

/** What stands in the way of starting, which words say so, and in Chinese. */
const FAILURES = {
  'no WebAssembly': [{ script: () => delete globalThis.WebAssembly }, /no WebAssembly/, /没有 WebAssembly/],
  'no SIMD': [{ script: () => { WebAssembly.validate = () => false; } }, /SIMD/, /SIMD/],
  'no module workers': [{ script: () => { globalThis.Worker = class { terminate() {} }; } }, /modules in a worker/, /Worker 中运行模块/],
  'no WebGL2': [{ script: () => { HTMLCanvasElement.prototype.getContext = () => null; } }, /WebGL2/, /WebGL2/],
  'module missing on the server': [{ route: ['**/tandem_bg.wasm*', (route) => route.fulfill({ status: 404 })] }, /could not be loaded/, /无法加载/, /HTTP 404/],
  'glue unreachable': [{ route: ['**/tandem.js*', (route) => route.abort()] }, /could not be loaded/, /无法加载/],
  'module damaged': [{ route: ['**/tandem_bg.wasm*', (route) => route.fulfill({ body: 'not a module' })] }, /could not be started/, /无法启动/],
};

for (const [name, [{ script, route }, english, chinese, detail]] of Object.entries(FAILURES)) {
  test(`says what is wrong: ${name}`, async () => {
    for (const [locale, words] of [['en-GB', english], ['zh-CN', chinese]]) {
      const before = async (page) => {
        if (script) await page.addInitScript(script);
        if (route) await page.route(...route);
      };
      const tab = await open({ hash: HASH, context: { locale }, before });
      const { page } = tab;
      await page.waitForSelector('#boot-failure:not([hidden])');
      assert.match(await page.textContent('#boot-status'), words);
      if (detail) assert.match(await page.textContent('#boot-detail'), detail);
      assert.ok((await page.inputValue('#boot-link')).endsWith(HASH), 'the link is kept');
      await page.click('#boot-copy');
      if (route) {
        // Gone is the cause, so trying again works, and still with the link.
        await page.unroute(route[0]);
        await page.click('#boot-retry');
        await tab.started();
        assert.equal(new URL(page.url()).hash, HASH);
      }
      await tab.close([/Failed to load resource/]);
    }
  });
}

test('a mistake in the program stops the page with a message, and the link survives a reload', async () => {
  const tab = await open({ hash: HASH });
  await tab.started();
  await tab.page.evaluate(() => globalThis.tandemPanicked('panicked at src/example.rs:1:1:\nindex out of bounds'));
  assert.match(await tab.page.textContent('#boot-status'), /mistake in its program/);
  assert.match(await tab.page.textContent('#boot-detail'), /index out of bounds/);
  await tab.page.click('#boot-retry');
  await tab.started();
  assert.equal(new URL(tab.page.url()).hash, HASH);
  await tab.close();
});

test('the link of a page that has stopped is that of the experiment as it was edited', async () => {
  const tab = await open({ hash: HASH });
  await tab.started();
  await tab.click('New seed');
  const { link, seed } = await tab.until('the edit', ({ seed }) => seed !== '7');
  assert.equal(new URL(tab.page.url()).hash, HASH, 'the address is left alone');
  await tab.page.evaluate(() => globalThis.tandemPanicked('panicked at src/example.rs:1:1'));
  assert.ok((await tab.page.inputValue('#boot-link')).endsWith(link), 'the edited link');
  await tab.page.click('#boot-retry');
  await tab.started();
  assert.equal((await tab.status()).seed, seed, 'the edited experiment');
  await tab.close();
});

test('an unannounced trap stops the page with a message', async () => {
  const tab = await open();
  await tab.started();
  await tab.page.evaluate(() => {
    // (func (export "f") unreachable)
    const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11];
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(bytes)));
    setTimeout(exports.f);
  });
  await tab.page.waitForSelector('#boot.failed');
  assert.match(await tab.page.textContent('#boot-detail'), /unreachable/);
  await tab.close([/unreachable/]);
});

test('a lost WebGL context is answered by a fresh canvas that is drawn', async () => {
  const tab = await open();
  await tab.started();
  await tab.page.evaluate(() => {
    const old = document.getElementById('tandem');
    globalThis.oldCanvas = old;
    old.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext();
  });
  await tab.page.waitForFunction(() => document.getElementById('tandem') !== globalThis.oldCanvas);
  await tab.page.waitForTimeout(1500);
  assert.ok(colours(await tab.pixels()) > 8, 'the fresh canvas shows the app');
  assert.equal(await tab.page.locator('#boot').isHidden(), true);
  await tab.close();
});

test('a WebGL context lost again and again stops the page with a message', async () => {
  const tab = await open({ hash: HASH });
  await tab.started();
  for (let losses = 0; losses < 4; losses += 1) {
    await tab.page.evaluate(() => {
      globalThis.oldCanvas = document.getElementById('tandem');
      globalThis.oldCanvas.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext();
    });
    await tab.page.waitForFunction(() => document.getElementById('tandem') !== globalThis.oldCanvas || document.getElementById('boot').classList.contains('failed'));
  }
  await tab.page.waitForSelector('#boot.failed');
  assert.match(await tab.page.textContent('#boot-status'), /again and again/);
  assert.ok((await tab.page.inputValue('#boot-link')).endsWith(HASH));
  await tab.close();
});

test('the loading card wears the theme that was chosen last', async () => {
  for (const [stored, colorScheme, dark] of [['light', 'dark', false], ['dark', 'light', true], ['auto', 'dark', true]]) {
    const tab = await open({
      hash: HASH,
      context: { colorScheme },
      before: async (page) => {
        await page.addInitScript((theme) => localStorage.setItem('tandem.theme', theme), stored);
        await page.route('**/tandem_bg.wasm*', (route) => route.fulfill({ status: 503 }));
      },
    });
    await tab.page.waitForSelector('#boot-failure:not([hidden])');
    const ground = await tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const [r, g, b] = ground.match(/\d+/g).map(Number);
    assert.equal((r + g + b) / 3 < 128, dark, `${stored} on a ${colorScheme} system: ${ground}`);
    await tab.close([/Failed to load resource/]);
  }
});

test('light and dark, wide and phone: the loading card fits', async () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const viewport of [{ width: 1366, height: 768 }, { width: 390, height: 844 }]) {
      const tab = await open({
        hash: HASH,
        context: { colorScheme, viewport },
        before: (page) => page.route('**/tandem_bg.wasm*', (route) => route.fulfill({ status: 503 })),
      });
      await tab.page.waitForSelector('#boot-failure:not([hidden])');
      const box = await tab.page.locator('.card').boundingBox();
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= viewport.width && box.y + box.height <= viewport.height);
      await tab.close([/Failed to load resource/]);
    }
  }
});
