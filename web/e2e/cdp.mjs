// Chromium without Playwright, for the one thing Playwright prevents: a tab that is really hidden. It emulates focus on
// every page and keeps renderers in the foreground; here a second tab in front of the first hides it as for a person.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Starts a headless browser that is spoken to through a pipe (no port, no WebSocket). */
export async function start(flags) {
  const profile = await mkdtemp(join(tmpdir(), 'tandem-chromium-'));
  const child = spawn(
    process.env.TANDEM_CHROMIUM ?? '/usr/bin/chromium',
    ['--headless', '--window-size=1366,900', '--remote-debugging-pipe', `--user-data-dir=${profile}`, ...flags, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const [, , , toBrowser, fromBrowser] = child.stdio;
  const waiting = new Map();
  let last = 0;
  let rest = '';
  fromBrowser.setEncoding('utf8').on('data', (chunk) => {
    const messages = (rest + chunk).split('\0');
    rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      const { resolve, reject } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) reject?.(new Error(message.error.message));
      else resolve?.(message.result);
    }
  });
  const send = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
    last += 1;
    waiting.set(last, { resolve, reject });
    toBrowser.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  });

  return {
    /** Opens a tab in front of the others. */
    async tab(url) {
      const { targetId } = await send('Target.createTarget', { url });
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      return {
        async evaluate(expression) {
          const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, sessionId);
          if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
          return result.value;
        },
        async press(key, code, windowsVirtualKeyCode) {
          for (const type of ['keyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, key, code, windowsVirtualKeyCode, text: type === 'keyDown' ? key : undefined }, sessionId);
        },
        /** The first widget with this name; see `Tab.widget` in harness.mjs. */
        async widget(name) {
          for (let tries = 0; tries < 100; tries += 1) {
            const widgets = JSON.parse(await this.evaluate('globalThis.tandem.widgets() ?? "[]"'));
            const found = widgets.find((widget) => widget.name === name);
            if (found) return found;
            await sleep(100);
          }
          throw new Error(`no widget ${name}`);
        },
        async click({ rect: [x, y, w, h] }) {
          const at = { x: x + w / 2, y: y + h / 2, button: 'left', clickCount: 1 };
          for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased']) {
            await send('Input.dispatchMouseEvent', { type, ...at }, sessionId);
            await sleep(50);
          }
        },
        /** Clicks a choice until it is chosen: the page may still be finding its layout. */
        async choose(name) {
          for (let tries = 0; tries < 20; tries += 1) {
            const widget = await this.widget(name);
            if (widget.on) return;
            await this.click(widget);
            await sleep(500);
          }
          throw new Error(`${name} cannot be chosen`);
        },
        front: () => send('Target.activateTarget', { targetId }),
      };
    },
    async close() {
      const ended = new Promise((resolve) => { child.once('exit', resolve); });
      await send('Browser.close').catch(() => child.kill());
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
