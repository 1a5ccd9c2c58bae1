// Bots that join an arena, whose lobby is the test.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import * as grpc from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { EventEmitter, on } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { Lobby } from '../dist/gen/arena/v1/lobby_pb.js';
import { GAMES, Process, folder, getPoint } from './harness.js';

const { call: CALL, answer: ANSWER, service: SERVICE } = GAMES.connectFour;
const KEY = Buffer.from('0123456789abcdef');
const TOKEN = `arena_${'5'.repeat(64)}`;
const OPTIONS = { timeout: 120_000 };
const SAID = 'as the test wants it';

// The arena's side of one stream.
class Peer {
  #call;
  #messages;

  constructor(call) {
    this.#call = call;
    this.#messages = call.iterator({ destroyOnReturn: false });
    call.on('error', () => {});
    this.authorization = call.metadata.get('authorization')[0];
    this.closed = new Promise((resolve) => call.on('cancelled', resolve));
  }

  // Its next message that does not answer our own pings; undefined at the end.
  async message() {
    const message = (await this.#messages.next()).value?.message;
    return message?.case === 'pong' && message.value.number === 0n ? this.message() : message;
  }

  // Pings it, so that it knows that we are there, however slow the test is.
  keep() {
    const timer = setInterval(() => this.say('ping'), 1000);
    this.closed.then(() => clearInterval(timer));
  }

  send(message) {
    this.#call.write(message);
  }

  say(kind, value = {}) {
    this.send({ message: { case: kind, value } });
  }

  invite() {
    this.say('invitation', { key: KEY, service: SERVICE });
  }

  // A call of the game, on the stream of a seat.
  ask(kind, value, fields = {}) {
    const call = create(CALL, { ...fields, call: { case: kind, value } });
    this.send({ call: toBinary(CALL, call) });
  }

  async answer() {
    const { case: kind, value } = await this.message();
    assert.equal(kind, 'answer');
    return fromBinary(ANSWER, value);
  }

  end() {
    this.#call.end();
  }

  fail(code) {
    this.#call.emit('error', { code, details: SAID });
  }
}

// A lobby, and a bot that joins it.
class Joining {
  #arriving = new EventEmitter();
  #attending = on(this.#arriving, 'attend');
  #playing = on(this.#arriving, 'play');

  static async start(t) {
    const joining = new Joining();
    const server = new grpc.Server();
    const method = ({ name, input, output }) => ({
      path: `/${Lobby.typeName}/${name}`,
      requestStream: true,
      responseStream: true,
      requestSerialize: (message) => Buffer.from(toBinary(input, message)),
      requestDeserialize: (bytes) => fromBinary(input, bytes),
      responseSerialize: (message) => Buffer.from(toBinary(output, create(output, message))),
      responseDeserialize: (bytes) => fromBinary(output, bytes),
    });
    const arrives = (kind) => (call) => joining.#arriving.emit(kind, new Peer(call));
    server.addService(
      { attend: method(Lobby.method.attend), play: method(Lobby.method.play) },
      { attend: arrives('attend'), play: arrives('play') },
    );
    const port = await new Promise((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      const bound = (error, port) => (error ? reject(error) : resolve(port));
      server.bindAsync('127.0.0.1:0', credentials, bound);
    });
    t.after(() => server.forceShutdown());
    joining.url = `http://127.0.0.1:${port}`;
    joining.bot = new Process(t, { BOT_JOIN: joining.url, BOT_TOKEN_FILE: token(t) });
    return joining;
  }

  // The next control stream, which is let in.
  async control(isKept = true) {
    const control = (await this.#attending.next()).value[0];
    const hello = await control.message();
    assert.equal(hello.case, 'hello');
    assert.deepEqual(hello.value.services, [SERVICE]);
    assert.equal(control.authorization, `Bearer ${TOKEN}`);
    control.say('greeting', { name: 'me' });
    if (isKept) control.keep();
    return control;
  }

  // The next stream of a seat, with its Take.
  async seat() {
    const seat = (await this.#playing.next()).value[0];
    const take = await seat.message();
    assert.equal(take.case, 'take');
    assert.deepEqual(Buffer.from(take.value.key), KEY);
    return { seat, take: take.value };
  }

  // A control stream, and the stream of a seat in a game that has begun.
  async game() {
    const control = await this.control();
    control.invite();
    const { seat, take } = await this.seat();
    assert.equal(take.calls, 0n);
    seat.ask('start', { seats: 2 }, { number: 0 });
    const ready = await seat.message();
    assert.equal(fromBinary(ANSWER, ready.value).answer.value.bot, 'process');
    return { control, seat, ready: ready.value };
  }
}

function token(t, text = `# from the arena\n${TOKEN}\n`) {
  const file = path.join(folder(t), 'token');
  writeFileSync(file, text);
  return file;
}

test('a bot joins, plays and stops', OPTIONS, async (t) => {
  const joining = await Joining.start(t);
  const { control, seat } = await joining.game();
  assert.equal(await joining.bot.line(), `attending at ${joining.url} as me`);
  control.say('ping', { number: 7n });
  const pong = await control.message();
  assert.deepEqual([pong.case, pong.value.number], ['pong', 7n]);
  // It only keeps the stream open.
  seat.send({});
  assert.equal((await seat.message()).case, undefined);
  joining.bot.child.kill('SIGTERM');
  assert.equal((await control.message()).case, 'drain');
  // The game goes on.
  seat.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await seat.answer()).answer.value.y, 0);
  seat.ask('over', { ending: 1, reason: 'four in a row' });
  seat.end();
  // It ends its side, and waits for the end of ours.
  assert.equal(await control.message(), undefined);
  assert.equal(joining.bot.child.exitCode, null);
  control.end();
  assert.equal((await joining.bot.end()).code, 0);
  assert.equal(await joining.bot.line(), 'game  begins');
  assert.equal(await joining.bot.line(), 'over: four in a row');
  assert.equal(await joining.bot.line(), 'after main');
  assert.equal(joining.bot.error, '');
});

test('a bot whose stream breaks comes back to its game', OPTIONS, async (t) => {
  const joining = await Joining.start(t);
  const { control, seat, ready } = await joining.game();
  seat.fail(grpc.status.UNAVAILABLE);
  // It waits for the bot, which knows that already.
  control.invite();
  const back = await joining.seat();
  assert.equal(back.take.calls, 1n);
  assert.deepEqual(back.take.answer, ready);
  back.seat.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await back.seat.answer()).number, 1);
});

test('a bot that was cut off comes back by another connection', OPTIONS, async (t) => {
  const joining = await Joining.start(t);
  const { control, seat, ready } = await joining.game();
  control.fail(grpc.status.UNAVAILABLE);
  await joining.control();
  await seat.closed;
  const back = await joining.seat();
  assert.equal(back.take.calls, 1n);
  assert.deepEqual(back.take.answer, ready);
  assert.match(joining.bot.error, /^http:.*: as the test wants it; it is tried again\n$/);
});

test('a bot of which nothing is heard takes the stream for dead', OPTIONS, async (t) => {
  const joining = await Joining.start(t);
  const control = await joining.control(false);
  await control.closed;
  await joining.control();
  assert.match(joining.bot.error, /: nothing is heard of it; it is tried again\n$/);
});

test('a game goes on where the arena has only ended the control stream', OPTIONS, async (t) => {
  const joining = await Joining.start(t);
  const { control, seat } = await joining.game();
  control.end();
  const again = await joining.control();
  again.say('ping', { number: 1n });
  assert.equal((await again.message()).case, 'pong');
  seat.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await seat.answer()).number, 1);
});

test('a game that can not go on ends with the status', OPTIONS, async (t) => {
  const joining = await Joining.start(t);
  const control = await joining.control();
  control.invite();
  const { seat } = await joining.seat();
  seat.ask('getPoint', getPoint(), { number: 1 });
  const failure = await seat.message();
  assert.deepEqual(
    [failure.case, failure.value.code],
    ['failure', grpc.status.FAILED_PRECONDITION],
  );
  assert.equal(failure.value.message, 'the game has not begun');
  assert.equal(await seat.message(), undefined);
});

const REFUSALS = {
  'another process has joined': (control) => {
    control.say('superseded');
    control.end();
  },
  [SAID]: (control) => control.fail(grpc.status.UNAUTHENTICATED),
  'this arena has no lobby': (control) => control.fail(grpc.status.UNIMPLEMENTED),
};

for (const [words, refuse] of Object.entries(REFUSALS)) {
  test(`a bot that is not let in ends and says why: ${words}`, OPTIONS, async (t) => {
    const joining = await Joining.start(t);
    refuse(await joining.control());
    assert.equal((await joining.bot.end()).code, 1);
    assert.match(joining.bot.error, new RegExp(`^could not join: .*${words}.*\n$`));
  });
}

test('what can not be joined is named', OPTIONS, async (t) => {
  const wrong = [
    ['arena.example:5', TOKEN, 'expected https://HOST:PORT'],
    ['http://arena.example:5', TOKEN, 'it has no TLS'],
    ['http://127.arena.example:5', TOKEN, 'it has no TLS'],
    ['https://arena.example:5', 'secret', 'expected one token'],
    ['https://arena.example:5', null, 'could not read the token file'],
    ['https://arena.example:5', TOKEN, 'could not read BOT_CA'],
  ];
  for (const [address, text, words] of wrong) {
    const file = text === null ? '/nowhere' : token(t, text);
    const more = { BOT_JOIN: address, BOT_TOKEN_FILE: file, BOT_CA: token(t, 'no certificate') };
    const bot = new Process(t, more);
    assert.equal((await bot.end()).code, 1);
    assert.ok(bot.error.startsWith(`could not join: BOT_JOIN is "${address}": `), bot.error);
    assert.ok(bot.error.includes(words) && !bot.error.includes('secret'), bot.error);
  }
});
