// Bots as processes: where they listen, what they print, how they stop.
import { status } from '@grpc/grpc-js';
import { service as health } from 'grpc-health-check';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { readAddress } from '../dist/address.js';
import { Process, Stream, dial, folder, getPoint } from './harness.js';

const KIT = new URL('../dist/index.js', import.meta.url).href;
const GRACE_MS = 5000;

const over = { ending: 1, reason: 'four in a row' };

// A client that watches the health of a bot: gives the next status.
function watch(client) {
  const { path: method, requestSerialize, responseDeserialize } = health.Watch;
  const call = client.makeServerStreamRequest(method, requestSerialize, responseDeserialize, {});
  call.on('error', () => {});
  return async () => (await once(call, 'data'))[0].status;
}

for (const prefix of ['unix:', 'unix://']) {
  test(`it listens on a socket at ${prefix}PATH`, async (t) => {
    const socket = path.join(folder(t), 'a b%41.sock');
    const bot = new Process(t, { BOT_LISTEN: `${prefix}${socket}` });
    assert.equal(await bot.line(), `listening on unix:${socket}`);
    assert.ok(existsSync(socket));
    bot.child.kill('SIGTERM');
    assert.equal((await bot.end()).code, 0);
    assert.ok(!existsSync(socket));
    assert.equal(await bot.line(), 'after main');
    assert.equal(await bot.line(), undefined);
    assert.equal(bot.error, '');
  });
}

test('a path may be relative', async (t) => {
  const cwd = folder(t);
  const bot = new Process(t, { BOT_LISTEN: 'unix:bot.sock' }, cwd);
  assert.equal(await bot.line(), 'listening on unix:bot.sock');
  const ready = await new Stream(dial(t, `unix:${cwd}/bot.sock`)).ready();
  assert.equal(ready.bot, 'process');
});

test('a stale socket is removed', async (t) => {
  const socket = path.join(folder(t), 'bot.sock');
  const killed = new Process(t, { BOT_LISTEN: `unix:${socket}` });
  await killed.line();
  killed.child.kill('SIGKILL');
  await killed.exited;
  assert.ok(existsSync(socket));
  const bot = new Process(t, { BOT_LISTEN: `unix:${socket}` });
  assert.equal(await bot.line(), `listening on unix:${socket}`);
  assert.equal((await new Stream(dial(t, `unix:${socket}`)).ready()).bot, 'process');
});

test('what is no socket is left alone', async (t) => {
  const file = path.join(folder(t), 'precious');
  writeFileSync(file, 'text');
  const bot = new Process(t, { BOT_LISTEN: `unix:${file}` });
  assert.equal((await bot.end()).code, 1);
  assert.equal(
    bot.error,
    `could not listen on unix:${file}: listen EADDRINUSE: address already in use ${file}\n`,
  );
  assert.equal(readFileSync(file, 'utf8'), 'text');
});

test('it says which port the system has chosen, and shares it with nobody', async (t) => {
  const bot = new Process(t, { BOT_LISTEN: 'tcp:127.0.0.1:0' });
  const [, port] = /^listening on tcp:127\.0\.0\.1:([1-9][0-9]*)$/.exec(await bot.line());
  assert.equal((await new Stream(dial(t, `127.0.0.1:${port}`)).ready()).bot, 'process');
  const other = new Process(t, { BOT_LISTEN: `tcp:127.0.0.1:${port}` });
  assert.equal((await other.end()).code, 1);
  assert.equal(
    other.error,
    `could not listen on tcp:127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
  );
});

test('a wrong address is told what was expected', async (t) => {
  const wrong = [
    '',
    'unix:',
    'unix',
    '127.0.0.1:50051',
    'tcp:127.0.0.1',
    'tcp::50051',
    'tcp:h:',
    'tcp:h:x',
  ];
  wrong.push('tcp:h:65536', 'tcp:::1:50051', 'udp:h:1', ' tcp:h:1', 'tcp:h:1\n', 'grpc://h:1');
  for (const listen of wrong) {
    const message = `BOT_LISTEN is "${listen}": expected unix:PATH or tcp:HOST:PORT`;
    assert.throws(() => readAddress(listen), { message });
  }
  assert.deepEqual(readAddress('tcp:[::1]:50051'), { target: '[::1]:50051', path: null });
  const bot = new Process(t, { BOT_LISTEN: 'localhost' });
  assert.equal((await bot.end()).code, 1);
  assert.equal(bot.error, 'BOT_LISTEN is "localhost": expected unix:PATH or tcp:HOST:PORT\n');
});

test('a bot whose main is never called says so', () => {
  const program = (code) => {
    const script = `import { Bot } from '${KIT}'; ${code}`;
    return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  };
  const silent = program("new Bot('mine', '1')");
  assert.equal(silent.status, 0);
  assert.equal(silent.stderr, "Bot('mine', …) was never served: call its main()\n");
  // What an exception says is not hidden by it.
  const thrown = program("new Bot('mine', '1'); throw new Error('mine')");
  assert.equal(thrown.status, 1);
  assert.doesNotMatch(thrown.stderr, /never served/);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`an idle bot ends at once on ${signal}, whoever watches it`, async (t) => {
    const socket = path.join(folder(t), 'bot.sock');
    const bot = new Process(t, { BOT_LISTEN: `unix:${socket}` });
    await bot.line();
    const client = dial(t, `unix:${socket}`);
    assert.equal(await watch(client)(), 'SERVING');
    // A game that is over does not keep it either.
    const stream = new Stream(client);
    await stream.ready();
    stream.ask('over', over);
    assert.deepEqual(await stream.close(), []);
    bot.child.kill(signal);
    const { code, ms } = await bot.end();
    assert.equal(code, 0);
    assert.ok(ms < GRACE_MS - 1000, `${ms}`);
    assert.ok(!existsSync(socket));
    assert.equal(bot.error, '');
  });
}

test('a game goes on after SIGTERM and none begins', async (t) => {
  const socket = path.join(folder(t), 'bot.sock');
  const bot = new Process(t, { BOT_LISTEN: `unix:${socket}` });
  await bot.line();
  const [client, second] = [dial(t, `unix:${socket}`), dial(t, `unix:${socket}`)];
  const next = watch(client);
  await next();
  const stream = new Stream(client);
  await stream.ready();
  bot.child.kill('SIGTERM');
  assert.equal(await next(), 'NOT_SERVING');
  const other = new Stream(second);
  other.start();
  assert.equal((await other.status())[0], status.UNAVAILABLE);
  stream.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await stream.answer()).number, 1);
  stream.ask('over', over);
  assert.deepEqual(await stream.close(), []);
  const { code, ms } = await bot.end();
  assert.equal(code, 0);
  assert.ok(ms < GRACE_MS - 1000, `${ms}`);
  assert.equal(await bot.line(), 'game  begins');
  assert.equal(await bot.line(), 'over: four in a row');
  assert.ok(!existsSync(socket));
});

test('a game that goes on for ever is cut off', async (t) => {
  const socket = path.join(folder(t), 'bot.sock');
  const bot = new Process(t, { BOT_LISTEN: `unix:${socket}` });
  await bot.line();
  const stream = new Stream(dial(t, `unix:${socket}`));
  await stream.ready();
  const one = { m: 4, n: 1, top: Uint8Array.of(4), board: new Uint8Array(4) };
  stream.ask('getPoint', getPoint(one), { number: 1, limit: { seconds: 60n } });
  assert.deepEqual([await bot.line(), await bot.line()], ['game  begins', 'thinking for ever']);
  bot.child.kill('SIGTERM');
  const { code, ms } = await bot.end();
  assert.equal(code, 0);
  assert.ok(ms > GRACE_MS - 1000 && ms < GRACE_MS + 5000, `${ms}`);
  assert.ok(!existsSync(socket));
  assert.equal(bot.error, '');
});
