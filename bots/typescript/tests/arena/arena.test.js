// The samples against the arena's own bots. The environment variable ARENA is the program that
// plays the matches; `npm run samples` has installed the samples.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Process, folder } from '../harness.js';

const SAMPLES = fileURLToPath(new URL('../../samples', import.meta.url));
const SEATS = { 'connect-four': 2, othello: 2, mahjong: 2, 'big-two': 4 };
// As many games as the samples say that they play at once.
const AT_ONCE = 16;
const arena = path.resolve(process.env.ARENA ?? '');

before(() => {
  const expected = 'expected the path of the program arena, as in ARENA=target/debug/arena';
  assert.ok(
    process.env.ARENA && existsSync(arena),
    `ARENA is "${process.env.ARENA ?? ''}": ${expected}`,
  );
  assert.ok(existsSync(path.join(SAMPLES, 'node_modules')), 'run npm run samples first');
});

const sample = (name) => `exec:'${process.execPath}' '${path.join(SAMPLES, name)}'`;

// The lines of JSON that the arena prints.
function run(cwd, ...args) {
  const options = { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 };
  const { status, stdout, stderr } = spawnSync(arena, args, options);
  assert.equal(status, 0, stdout + stderr);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

// The lines of a match in which nobody has committed a foul.
function match(cwd, game, bots, ...options) {
  const named = bots.map((bot, seat) => `--bot=${'abcd'[seat]}=${bot}`);
  const limits = ['--move-limit=20s', '--start-limit=60s', '--format=json', '--records=records'];
  const lines = run(cwd, 'match', game, ...named, ...limits, ...options);
  const games = lines.filter(({ type }) => type === 'game');
  assert.ok(games.length > 0 && games.every(({ fouls }) => fouls.length === 0));
  return lines;
}

// That the samples are fit to enter, and play one game at a time, is tested with those of all
// languages: in arena/cli/tests/arena/languages.rs.
for (const [game, seats] of Object.entries(SEATS)) {
  test(`random plays ${game} many times at once`, (t) => {
    const bots = [sample('random.js'), ...Array(seats - 1).fill('house:random')];
    match(folder(t), game, bots, `--rounds=${AT_ONCE / seats}`, `--concurrency=${AT_ONCE}`);
  });

  test(`random is resumed at any question of ${game}`, (t) => {
    const cwd = folder(t);
    const lines = match(
      cwd,
      game,
      [sample('random.js'), ...Array(seats - 1).fill('house:random')],
      '--rounds=1',
      '--seed=resume',
    );
    const { record } = lines.find(({ type, players }) => type === 'game' && players[0] === 'a');
    const seat = ['--seat=0', `--bot=${sample('random.js')}`, '--format=json', '--move-limit=20s'];
    const answers = run(cwd, 'replay', 'rerun', record, ...seat).filter(
      ({ type }) => type === 'rerun_answer',
    );
    assert.ok(answers.length > 3);
    // It draws the same again.
    assert.deepEqual(
      answers.filter(({ foul, same }) => foul || !same),
      [],
    );
  });
}

test('careful beats random', (t) => {
  const lines = match(
    folder(t),
    'connect-four',
    [sample('careful.js'), 'house:random'],
    '--rounds=8',
    '--seed=careful',
  );
  const { rows } = lines.find(({ type }) => type === 'standings');
  const { games, wins } = rows.find(({ bot }) => bot === 'a');
  assert.equal(games, 16);
  assert.ok(wins >= 13, `${wins}`);
});

test('random joins an arena and plays a match there', { timeout: 300_000 }, async (t) => {
  const cwd = folder(t);
  assert.equal(spawnSync(arena, ['lobby', 'add', 'me'], { cwd }).status, 0);
  const serve = ['serve', '--listen=127.0.0.1:0', '--lobby=lobby.tokens', '--concurrency=1'];
  const site = new Process(t, {}, cwd, [arena, ...serve, '--no-page']);
  const address = () => /BOT_JOIN=(http:\S+)/.exec(site.error)?.[1];
  while (!address()) {
    await Promise.race([once(site.child.stderr, 'data'), site.exited]);
    assert.equal(site.child.exitCode, null, site.error);
  }
  const more = { BOT_JOIN: address(), BOT_TOKEN_FILE: path.join(cwd, 'me.token') };
  const bot = new Process(t, more, cwd, [process.execPath, path.join(SAMPLES, 'random.js')]);
  assert.equal(await bot.line(), `attending at ${address()} as me`, bot.error);
  match(cwd, 'othello', ['lobby:me', 'house:random'], '--deals=2');
  bot.child.kill('SIGTERM');
  assert.equal((await bot.end()).code, 0);
  assert.equal(bot.error, '');
  site.child.kill('SIGTERM');
  await site.exited;
});
