// The built folder on hosts that know nothing of it: any path, no compression, no MIME type, no special headers.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowsers, open } from './harness.mjs';

after(closeBrowsers);

const PATH = '/courses/marl/week 3/';

/** Serves the folder below PATH; `headers(name)` and `has(name)` make it the host one has. Tells what was asked for. */
async function host({ headers = () => ({}), has = () => true }) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://host').pathname);
    const name = path.slice(PATH.length) || 'index.html';
    if (!path.startsWith(PATH) || name.includes('..') || !has(name)) return response.writeHead(404).end();
    try {
      const bytes = await readFile(join(process.env.TANDEM_DIST, name));
      asked.push(name);
      return response.writeHead(200, { 'content-length': bytes.length, ...type(name), ...headers(name) }).end(bytes);
    } catch {
      return response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { asked, url: `http://127.0.0.1:${server.address().port}${encodeURI(PATH)}`, close: () => server.close() };
}

/** Scripts need their type everywhere; the module, which hosts often do not know, gets none. */
function type(name) {
  const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };
  return { 'content-type': types[name.split('.').pop()] ?? 'application/octet-stream' };
}

const HOSTS = {
  'compresses nothing: the page asks for the packed module': [{}, 'tandem_bg.wasm.gz'],
  'has no packed files': [{ has: (name) => !/\.(gz|br)$/.test(name) }, 'tandem_bg.wasm'],
  'unpacks .gz on its way': [{ headers: (name) => (name.endsWith('.gz') ? { 'content-encoding': 'gzip' } : {}) }, 'tandem_bg.wasm.gz'],
};

for (const [name, [kind, module]] of Object.entries(HOSTS)) {
  test(`runs on a plain host under any path that ${name}`, { timeout: 120_000 }, async () => {
    const { asked, url, close } = await host(kind);
    const parts = [];
    const tab = await open({
      path: url,
      hash: '#v=1&env=two_step&algo=vdn&seed=1',
      before: async (page) => {
        await page.exposeFunction('sawProgress', (part) => parts.push(Number(part)));
        await page.addInitScript(() => {
          addEventListener('DOMContentLoaded', () => {
            const bar = document.getElementById('boot-bar');
            new MutationObserver(() => globalThis.sawProgress(bar.style.getPropertyValue('--part'))).observe(bar, { attributes: true });
          });
        });
      },
    });
    await tab.started();
    await tab.run();
    await tab.until('it trains', ({ update }) => update > 0);
    assert.equal(asked.filter((file) => file.startsWith('tandem_bg')).at(-1), module);
    assert.equal(parts.at(-1), 1, 'progress ends at exactly all bytes');
    assert.equal(await tab.page.evaluate(() => globalThis.crossOriginIsolated), false, 'no special headers');
    // Missing packed files are looked for once.
    await tab.close([/Failed to load resource.*404/]);
    close();
  });
}
