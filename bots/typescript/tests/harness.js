// The vocabulary of the tests: a bot that is being served, and a referee's side of a stream.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import * as grpc from '@grpc/grpc-js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import * as bigTwo from '../dist/gen/games/big_two/v1/big_two_pb.js';
import * as connectFour from '../dist/gen/games/connect_four/v1/connect_four_pb.js';
import * as mahjong from '../dist/gen/games/mahjong/v1/mahjong_pb.js';
import * as othello from '../dist/gen/games/othello/v1/othello_pb.js';

export { bigTwo, connectFour, mahjong, othello };

const TIMEOUT_MS = 30_000;
const SCRIPT = fileURLToPath(new URL('bots/process.js', import.meta.url));

const game = (call, answer, service) => ({ call, answer, service: service.typeName });

export const GAMES = {
  bigTwo: game(bigTwo.BigTwoCallSchema, bigTwo.BigTwoAnswerSchema, bigTwo.BigTwoBot),
  connectFour: game(
    connectFour.ConnectFourCallSchema,
    connectFour.ConnectFourAnswerSchema,
    connectFour.ConnectFourBot,
  ),
  mahjong: game(mahjong.MahjongCallSchema, mahjong.MahjongAnswerSchema, mahjong.MahjongBot),
  othello: game(othello.OthelloCallSchema, othello.OthelloAnswerSchema, othello.OthelloBot),
};

// A new folder, gone when the test is over.
export function folder(t) {
  const made = mkdtempSync(path.join(tmpdir(), 'bot-arena-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

// A client of a bot at this address, as gRPC has it.
export function dial(t, target) {
  const options = { 'grpc.use_local_subchannel_pool': 1 };
  const client = new grpc.Client(target, grpc.credentials.createInsecure(), options);
  client.streams = [];
  t.after(() => {
    for (const stream of client.streams) stream.cancel();
    client.close();
  });
  return client;
}

// A client of this bot, which is served in this process until the test is over.
export async function serving(t, bot) {
  const socket = path.join(folder(t), 'bot.sock');
  const stop = new AbortController();
  let served;
  await new Promise((resolve, reject) => {
    served = bot.serve(`unix:${socket}`, stop.signal, resolve);
    served.catch(reject);
  });
  const client = dial(t, `unix:${socket}`);
  t.after(async () => {
    stop.abort();
    await served;
  });
  return client;
}

// The referee's side of one game's stream.
export class Stream {
  #call;
  #schema;
  #answers = [];
  #waiting = null;
  #status = null;

  constructor(client, { service, call, answer } = GAMES.connectFour) {
    this.#schema = call;
    this.#call = client.makeBidiStreamRequest(
      `/${service}/Play`,
      (message) => Buffer.from(message),
      (message) => fromBinary(answer, message),
      new grpc.Metadata(),
      { deadline: Date.now() + TIMEOUT_MS },
    );
    // What is still open at the end of a test does not keep the bot.
    client.streams.push(this);
    this.#call.on('data', (message) => {
      this.#answers.push(message);
      this.#waiting?.();
    });
    this.#call.on('error', () => {});
    this.#call.on('status', (status) => {
      this.#status = status;
      this.#waiting?.();
    });
  }

  send(fields) {
    this.sendBytes(toBinary(this.#schema, create(this.#schema, fields)));
  }

  sendBytes(message) {
    this.#call.write(message);
  }

  // A call of the game's own.
  ask(kind, value, fields = {}) {
    this.send({ ...fields, call: { case: kind, value } });
  }

  // Sends question 0.
  start(fields = {}, start = {}) {
    this.ask('start', { seats: 2, ...start }, { number: 0, ...fields });
  }

  // Begins the game, and gives what the bot says of itself.
  async ready(fields, start) {
    this.start(fields, start);
    return (await this.answer()).answer.value;
  }

  async answer() {
    await this.#until(() => this.#answers.length > 0);
    if (this.#answers.length === 0) throw new Error(`no answer: ${this.#status.details}`);
    return this.#answers.shift();
  }

  // Ends our side. What the bot still had to say.
  async close() {
    this.#call.end();
    await this.#until(() => this.#status !== null);
    if (this.#status.code !== grpc.status.OK) throw new Error(this.#status.details);
    return this.#answers;
  }

  // How the bot has ended it; it must not answer any more.
  async status() {
    await this.#until(() => this.#status !== null || this.#answers.length > 0);
    if (this.#answers.length > 0) throw new Error('it answered');
    this.#call.end();
    return [this.#status.code, this.#status.details];
  }

  cancel() {
    this.#call.cancel();
  }

  async #until(isSo) {
    while (!isSo() && this.#status === null) {
      await new Promise((resolve) => (this.#waiting = resolve));
    }
  }
}

// A bot, or another program, as a process with these variables of the environment besides ours.
export class Process {
  constructor(t, more, cwd, command = [process.execPath, SCRIPT]) {
    const env = { ...process.env, ...more };
    const [program, ...args] = command;
    this.child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.error = '';
    this.child.stderr.on('data', (part) => (this.error += part));
    this.exited = once(this.child, 'close');
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    t.after(() => this.child.kill('SIGKILL'));
  }

  // The next line that it prints; undefined at the end.
  async line() {
    return (await this.lines.next()).value;
  }

  // Its exit code, and how long it took to end.
  async end() {
    const began = performance.now();
    const [code] = await this.exited;
    return { code, ms: performance.now() - began };
  }
}

// A promise that is settled from outside.
export function event() {
  let happen;
  const happened = new Promise((resolve) => (happen = resolve));
  return { happen, happened };
}

// An empty board of 4 rows and 5 columns.
export function getPoint(fields = {}) {
  const none = { lastX: -1, lastY: -1, noX: -1, noY: -1 };
  return {
    m: 4,
    n: 5,
    top: new Uint8Array(5).fill(4),
    board: new Uint8Array(20),
    ...none,
    ...fields,
  };
}
