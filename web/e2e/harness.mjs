// Opens the built page in Chromium and watches it.
//
// A test says in which surroundings it wants the page (`MODES`) and gets a `Tab`: a page of its own browser context whose
// console errors are collected; `close` fails the test if there were any that it did not expect. `cargo xtask test` serves
// the page and tells its address in TANDEM_URL, the browser's path in TANDEM_CHROMIUM, the native programs in
// TANDEM_NATIVE (one run and its hashes) and TANDEM_PROGRAM (the command line), and hostile links in TANDEM_HOSTILE.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

export const BASE = new URL(process.env.TANDEM_URL ?? 'http://127.0.0.1:8080/');

const ALWAYS = [
  '--no-sandbox', '--use-angle=gl-egl', '--ignore-gpu-blocklist', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];
const WEBGPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

/** Flags for a browser that is not started here, with a WebGPU adapter. */
export const FLAGS = [...ALWAYS, ...WEBGPU];

/** Surroundings: flags of the browser and the address at which it sees the page. */
export const MODES = {
  webgpu: { flags: WEBGPU, base: BASE },
  // `navigator.gpu` exists, `requestAdapter()` gives null.
  noAdapter: { flags: [], base: BASE },
  // A name on plain http, as on a classroom's network: no `navigator.gpu`, no clipboard, no `crypto.subtle`.
  insecure: { flags: [...WEBGPU, '--host-resolver-rules=MAP classroom.test 127.0.0.1'], base: new URL(`http://classroom.test:${BASE.port}/`) },
};

export const WIDE = { viewport: { width: 1366, height: 768 } };
// One pixel a point: an emulated density does not reach `devicePixelContentBoxSize`, so the canvas would be half as large.
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 1 };

const browsers = new Map();

/** The browser of a mode, started once per test file. */
export async function browser(mode = 'webgpu', more = []) {
  const key = [mode, ...more].join(' ');
  if (!browsers.has(key)) {
    browsers.set(key, chromium.launch({
      executablePath: process.env.TANDEM_CHROMIUM ?? '/usr/bin/chromium',
      ignoreDefaultArgs: ['--disable-gpu'],
      args: [...ALWAYS, ...MODES[mode].flags, ...more],
    }));
  }
  return browsers.get(key);
}

/** To be called in the `after` of every test file. */
export async function closeBrowsers() {
  for (const started of browsers.values()) await (await started).close();
  browsers.clear();
}

/**
 * Opens the page.
 * @param {object} options `mode`, `hash` (with #), `path` (or a whole address), context options of Playwright in `context`
 *   (`colorScheme`, `locale`, …), `before(page)` to prepare routes and scripts
 */
export async function open({ mode = 'webgpu', hash = '', path = '', context = {}, before } = {}) {
  const owner = await (await browser(mode)).newContext({ ...WIDE, locale: 'en-GB', colorScheme: 'dark', ...context });
  const page = await owner.newPage();
  const tab = new Tab(owner, page);
  await before?.(page);
  await page.goto(new URL(path + hash, MODES[mode].base).href);
  return tab;
}

export class Tab {
  errors = [];

  constructor(context, page) {
    this.context = context;
    this.page = page;
    page.on('console', (message) => message.type() === 'error' && this.errors.push(message.text()));
    page.on('pageerror', (error) => this.errors.push(String(error.stack ?? error)));
  }

  /** The app's own report, or null before it runs. */
  async status() {
    return this.page.evaluate(() => JSON.parse(globalThis.tandem?.status?.() ?? 'null'));
  }

  /** Waits until the app has drawn its first picture and its session has answered. */
  async started(timeout = 60_000) {
    await this.page.waitForFunction(() => document.getElementById('boot')?.hidden, null, { timeout });
    return this.until('the session has begun', ({ ready }) => ready);
  }

  /** Waits until `holds(status)`; a failure shows the last status. */
  async until(what, holds, timeout = 120_000) {
    const end = Date.now() + timeout;
    let status;
    do {
      status = await this.status();
      if (status && holds(status)) return status;
      await sleep(100);
    } while (Date.now() < end);
    assert.fail(`waited ${timeout / 1000} s for: ${what}; status ${JSON.stringify(status)}; console ${JSON.stringify(this.errors)}`);
  }

  /** What can be seen of the app, as screen readers would be told: `{ role, name, value, rect: [x, y, w, h], disabled }`. */
  async widgets() {
    return this.page.evaluate(() => JSON.parse(globalThis.tandem.widgets() ?? '[]'));
  }

  /** Whether a rectangle lies wholly in the window. */
  shows([x, y, w, h]) {
    const { width, height } = this.page.viewportSize();
    return x >= 0 && y >= 0 && x + w <= width && y + h <= height;
  }

  /** A widget with this name (a string for the whole name, or a regular expression), one in the window if there is. */
  async widget(name, timeout = 10_000, role = undefined) {
    const isCalled = (widget) => (name instanceof RegExp ? name.test(widget.name) : widget.name === name);
    const matches = (widget) => isCalled(widget) && (role === undefined || widget.role === role);
    const end = Date.now() + timeout;
    let seen;
    do {
      seen = await this.widgets();
      const found = seen.filter(matches);
      if (found.length > 0) return found.find(({ rect }) => this.shows(rect)) ?? found[0];
      await sleep(100);
    } while (Date.now() < end);
    assert.fail(`no widget ${name}; there are: ${seen.map((widget) => widget.name).filter(Boolean).join(' | ')}`);
  }

  /** Waits until no widget has this name: a dialog that is closing still takes clicks. */
  async gone(name) {
    for (let tries = 0; tries < 100; tries += 1) {
      if (!(await this.widgets()).some((widget) => widget.name === name)) return;
      await sleep(100);
    }
    assert.fail(`${name} is still there`);
  }

  /** Clicks (or taps) the middle of a widget; `role` tells a field from the label that has its name. */
  async click(name, { tap = false, role } = {}) {
    const { rect: [x, y, w, h] } = await this.widget(name, 10_000, role);
    if (tap) await this.page.touchscreen.tap(x + w / 2, y + h / 2);
    else await this.page.mouse.click(x + w / 2, y + h / 2, { delay: 30 });
  }

  /** Clicks something that can be on, and waits until it is: what it changes about the page is then to be seen. */
  async choose(name) {
    await this.click(name);
    for (let tries = 0; tries < 100; tries += 1) {
      if ((await this.widget(name)).on) return;
      await sleep(100);
    }
    assert.fail(`${name} is not on`);
  }

  /** Presses a key while nothing else has the keyboard. */
  async press(key) {
    await this.page.focus('#tandem');
    await this.page.keyboard.press(key);
  }

  /** Starts training, as Space does for a person. */
  async run() {
    await this.press('Space');
    return this.until('training runs or has ended', ({ state }) => state !== 'paused');
  }

  /** Picture of the page or of a part of it, as `{ width, height, data }` with RGBA bytes. */
  async pixels(rect) {
    const clip = rect && { x: rect[0], y: rect[1], width: rect[2], height: rect[3] };
    const png = (await this.page.screenshot({ clip })).toString('base64');
    const reader = await this.context.newPage();
    try {
      const { width, height, data } = await reader.evaluate(async (png) => {
        const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
        const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
        canvas.drawImage(image, 0, 0);
        const { data } = canvas.getImageData(0, 0, image.width, image.height);
        let text = '';
        for (const byte of data) text += String.fromCharCode(byte);
        return { width: image.width, height: image.height, data: btoa(text) };
      }, png);
      return { width, height, data: Buffer.from(data, 'base64') };
    } finally {
      await reader.close();
    }
  }

  /** A part of a picture, in CSS pixels; all parts of one size have pictures of one size. */
  crop({ width, data }, [x, y, w, h]) {
    const scale = width / this.page.viewportSize().width;
    const [left, top, columns, rows] = [x, y, w, h].map((length) => Math.round(length * scale));
    const part = Buffer.alloc(columns * rows * 4);
    for (let row = 0; row < rows; row += 1) {
      const from = ((top + row) * width + left) * 4;
      data.copy(part, row * columns * 4, from, from + columns * 4);
    }
    return { width: columns, height: rows, data: part };
  }

  async screenshot(path) {
    await this.page.screenshot({ path });
  }

  /** Closes the tab; console errors that no pattern in `expected` allows fail the test. */
  async close(expected = []) {
    await this.context.close();
    const unexpected = this.errors.filter((text) => !expected.some((pattern) => pattern.test(text)));
    assert.deepEqual(unexpected, [], 'console errors');
  }
}

/** Number of pixels that differ between two pictures of one size. */
export function difference(a, b) {
  assert.equal(a.data.length, b.data.length, 'pictures of one size');
  let count = 0;
  for (let i = 0; i < a.data.length; i += 4) {
    if (Math.abs(a.data[i] - b.data[i]) + Math.abs(a.data[i + 1] - b.data[i + 1]) + Math.abs(a.data[i + 2] - b.data[i + 2]) > 24) count += 1;
  }
  return count;
}

/** Number of distinct colours, 4 bits a channel: 1 for an empty rectangle, dozens for a drawn surface. */
export function colours({ data }) {
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add(((data[i] >> 4) << 8) | ((data[i + 1] >> 4) << 4) | (data[i + 2] >> 4));
  return seen.size;
}
