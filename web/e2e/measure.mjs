// Opens a page that measures (`?bench=W1,W5`) and prints what it came to, a line of JSON for each work; `cargo xtask bench`
// asks Tandem's page and those of xtask/peers/web with it. TANDEM_PAGE is the page's path with the works.

import { closeBrowsers, open } from './harness.mjs';

const MINUTES = 10;

const { page } = await open({ path: process.env.TANDEM_PAGE });
const failed = new Promise((_, reject) => { page.on('pageerror', reject); });
const done = page.waitForFunction(() => globalThis.tandemMeasured, null, { timeout: MINUTES * 60_000 });
const measured = await Promise.race([done, failed]);
for (const line of await measured.jsonValue()) console.log(JSON.stringify(line));
await closeBrowsers();
