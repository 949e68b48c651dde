// Games with a person in a seat, in the browser: Connect Four and tic-tac-toe from the first move to the end by mouse, by
// touch and with keys, and a particle world in which held keys steer.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PHONE, closeBrowsers, open } from './harness.mjs';

after(closeBrowsers);

const CONNECT_FOUR = '#v=1&env=connect_four&algo=ippo&seats=human,one_ply&seed=7';
const TIC_TAC_TOE = '#v=1&env=tictactoe&algo=ippo&seats=uniform,human&seed=7';
const SPREAD = '#v=1&env=spread&limit=400&algo=ippo&seats=human,idle,idle&seed=7&view=observation';

/** Moves that the person may make now, in the order of the actions; none while the other one thinks or the game is over. */
const moves = async (tab, agent) => (await tab.widgets())
  .filter(({ role, name, disabled }) => role === 'Button' && name.startsWith(`agent ${agent}: `) && !disabled);

/** Plays the `pick`-th legal move, turn by turn, until the game is over; how many moves the person made. */
async function playToTheEnd(tab, agent, press, pick) {
  let made = 0;
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await tab.widgets()).some(({ name }) => name === 'Play again')) return made;
    const open = await moves(tab, agent);
    if (open.length === 0) {
      await new Promise((resolve) => { setTimeout(resolve, 50); });
      continue;
    }
    const { stageStep } = await tab.status();
    await press(open[pick % open.length]);
    made += 1;
    await tab.until('the move is made', (status) => status.stageStep > stageStep);
  }
  return assert.fail('the game does not end');
}

const middle = ({ rect: [x, y, w, h] }) => [x + w / 2, y + h / 2];

test('a game of Connect Four by mouse, and another begun', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: CONNECT_FOUR });
  await tab.started();
  await tab.widget(/agent 1 waits for you/);
  assert.equal((await moves(tab, 1)).length, 7, 'every column is open');
  await tab.press('4');
  await tab.until('key 4 plays the fourth column, and the other one answers', ({ stageStep }) => stageStep === 2);
  const made = await playToTheEnd(tab, 1, (move) => tab.page.mouse.click(...middle(move), { delay: 20 }), 0);
  assert.ok(made >= 3, `${made} moves`);
  const { stageStep, envSteps } = await tab.status();
  assert.ok(stageStep >= 7 && envSteps === 0, 'nobody wins before the seventh ply, and nothing was trained');
  await tab.widget(/has won|a draw/);
  await tab.click('Play again');
  await tab.until('another game', (status) => status.stageStep === 0);
  await tab.close();
});

test('a game of tic-tac-toe by touch, as the second player', { timeout: 200_000 }, async () => {
  const tab = await open({ hash: TIC_TAC_TOE, context: PHONE });
  await tab.started();
  await tab.until('the first player has moved', ({ stageStep }) => stageStep === 1);
  await tab.widget(/agent 2 waits for you/);
  const cells = await moves(tab, 2);
  assert.equal(cells.length, 8, 'one cell is taken');
  for (const { name, rect } of cells) assert.ok(rect[2] >= 44 && rect[3] >= 44, `${name}: ${rect[2]} × ${rect[3]} px`);
  const made = await playToTheEnd(tab, 2, (move) => tab.page.touchscreen.tap(...middle(move)), 1);
  assert.ok(made >= 2 && made <= 4, `${made} moves`);
  await tab.widget(/has won|a draw/);
  await tab.click('Play again', { tap: true });
  await tab.until('another game', (status) => status.stageStep <= 1);
  await tab.close();
});

test('held keys steer an agent of a particle world', { timeout: 120_000 }, async () => {
  const tab = await open({ hash: SPREAD });
  await tab.started();
  const velocity = async () => Number((await tab.widget(/Index 0 of agent 1.*own v/)).name.split(': ').at(-1));
  await tab.page.focus('#tandem');
  await tab.page.keyboard.down('ArrowRight');
  for (let tries = 0; (await velocity()) < 0.5; tries += 1) {
    assert.ok(tries < 100, 'it does not move to the right');
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  await tab.page.keyboard.up('ArrowRight');
  for (let tries = 0; (await velocity()) > 0.2; tries += 1) {
    assert.ok(tries < 100, 'it does not come to rest');
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  await tab.close();
});
