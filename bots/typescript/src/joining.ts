/**
 * Joining an arena instead of listening: a bot that nobody can dial dials the arena's lobby
 * (`arena.v1.Lobby`), and is invited to games there.
 */

import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import * as grpc from '@grpc/grpc-js';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { ListenError } from './address.js';
import { statusOf } from './fault.js';
import {
  Lobby,
  type FromSeatSchema,
  type Invitation,
  type ToSeatSchema,
} from './gen/arena/v1/lobby_pb.js';
import { GRACE_MS, RunningGames, within } from './server.js';
import type { Ready, ServedGame } from './session.js';

// The arena sends a ping every two seconds. After so many ticks without one its stream is dead. The
// time is counted in ticks, since a bot that thinks for long on the event loop hears nothing then.
const TICK_MS = 1000;
const SILENT_TICKS = 6;
const OPENS_WITHIN_TICKS = 10;
/** The pause before the arena is dialled again: at first, and at most. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 2000;
/** How long to try to come back to a game; the arena waits for less. */
const BACK_WITHIN_MS = 35_000;
/** How long the last messages of a game, and of a control stream, may take. */
const LAST_MESSAGES_MS = 5000;
const LOOPBACK = /^(localhost|\[::1\]|127(\.[0-9]{1,3}){3})$/;
/** Where the arena does not let a bot in, and will not later. */
const REFUSED: readonly grpc.status[] = [
  grpc.status.UNAUTHENTICATED,
  grpc.status.PERMISSION_DENIED,
  grpc.status.INVALID_ARGUMENT,
];
/** Statuses of the arena that end a game; others are those of a connection that broke. */
const LAST = [...REFUSED, grpc.status.NOT_FOUND, grpc.status.ABORTED];

type Call<I extends DescMessage, O extends DescMessage> = grpc.ClientDuplexStream<
  MessageInitShape<I>,
  MessageShape<O>
>;

/**
 * Attends at the arena that BOT_JOIN names until `stop` is aborted, and comes back wherever it is
 * cut off; tells `attending` each time it is let in. Rejects with a `ListenError`.
 */
export async function join(
  games: readonly ServedGame[],
  ready: Ready,
  stop: AbortSignal,
  attending: (place: string) => void,
): Promise<void> {
  const arena = new Arena(games, ready, attending);
  let told = '';
  let pause = FIRST_PAUSE_MS;
  try {
    while (!stop.aborted) {
      const began = performance.now();
      const why = await arena.attend(stop);
      if (performance.now() - began > LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS;
      if (!stop.aborted && why !== told) {
        console.error(`${arena.address}: ${why}; it is tried again`);
        told = why;
      }
      await delay(pause, undefined, { signal: stop }).catch(() => {});
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  } finally {
    await arena.finish();
    arena.close();
  }
}

/** The arena, and the games that it has invited to. */
class Arena {
  readonly address = process.env['BOT_JOIN'] ?? '';
  readonly #games: ReadonlyMap<string, ServedGame>;
  readonly #running: RunningGames;
  readonly #attending: (place: string) => void;
  readonly #target: string;
  readonly #credentials: grpc.ChannelCredentials;
  readonly #metadata = new grpc.Metadata();
  readonly #seats = new Map<string, Seat>();
  /** That of the last control stream that was let in. */
  #client: grpc.Client | null = null;
  /** Whether that control stream is open. */
  #isThere = false;
  /** Whether the arena has ended it in order, and the connection is alive. */
  #isAlive = false;

  constructor(games: readonly ServedGame[], ready: Ready, attending: (place: string) => void) {
    this.#games = new Map(games.map((served) => [served.game.service.typeName, served]));
    this.#running = new RunningGames(ready);
    this.#attending = attending;
    const found = /^(https?):\/\/(\[[^[\]]+\]|[^:/@[\]]+):([0-9]{1,5})\/?$/.exec(this.address);
    if (!found) throw this.#wrong('expected https://HOST:PORT or http://HOST:PORT');
    const [, scheme, host, port] = found as unknown as [string, string, string, string];
    if (scheme === 'http' && !LOOPBACK.test(host)) {
      throw this.#wrong('it has no TLS, and whoever is between could read the token: use https://');
    }
    this.#target = `dns:${host}:${port}`;
    this.#metadata.set('authorization', `Bearer ${this.#token()}`);
    this.#credentials =
      scheme === 'https'
        ? grpc.credentials.createSsl(this.#authorities())
        : grpc.credentials.createInsecure();
  }

  #wrong(why: string): ListenError {
    return new ListenError(`could not join: BOT_JOIN is "${this.address}": ${why}`);
  }

  #token(): string {
    const file = process.env['BOT_TOKEN_FILE'];
    if (file === undefined) {
      throw this.#wrong('BOT_TOKEN_FILE must name the file with the token that you were given');
    }
    const lines = this.#read('the token file', file).toString().split('\n');
    const tokens = lines.map((line) => line.trim()).filter((line) => line && line[0] !== '#');
    const [token] = tokens;
    if (tokens.length !== 1 || !token || !/^arena_[0-9a-fA-F]{64}$/.test(token)) {
      throw this.#wrong(`${file}: expected one token: arena_ and 64 hexadecimal digits`);
    }
    return token;
  }

  #authorities(): Buffer | null {
    const file = process.env['BOT_CA'];
    if (file === undefined) return null;
    return this.#read('BOT_CA', file, (pem) => new X509Certificate(pem));
  }

  #read(what: string, file: string, check: (bytes: Buffer) => unknown = () => {}): Buffer {
    try {
      const bytes = readFileSync(file);
      check(bytes);
      return bytes;
    } catch (error) {
      throw this.#wrong(`could not read ${what} ${file}: ${(error as Error).message}`);
    }
  }

  #connect(): grpc.Client {
    // A connection of its own each time: one that is dead is not found again.
    const options = { 'grpc.use_local_subchannel_pool': 1, 'grpc.enable_channelz': 0 };
    return new grpc.Client(this.#target, this.#credentials, options);
  }

  #open<I extends DescMessage, O extends DescMessage>(
    client: grpc.Client,
    { name, input, output }: { name: string; input: I; output: O },
  ): Call<I, O> {
    const call = client.makeBidiStreamRequest<MessageInitShape<I>, MessageShape<O>>(
      `/${Lobby.typeName}/${name}`,
      (message) => Buffer.from(toBinary(input, create(input, message))),
      (bytes) => fromBinary(output, bytes),
      this.#metadata,
    );
    // Whoever iterates over its messages is told; nobody else needs to be.
    return call.on('error', () => {});
  }

  /** One control stream to its end. Says why it has ended. Rejects with a `ListenError`. */
  async attend(stop: AbortSignal): Promise<string> {
    // Streams of games stay where they are if the connection does: the arena only did not hear us
    // for a while, as when a bot thinks for long on the event loop.
    const client = (this.#isAlive && this.#client) || this.#connect();
    const call = this.#open(client, Lobby.method.attend);
    let isSilent = false;
    let ticks = OPENS_WITHIN_TICKS;
    const timer = setInterval(() => {
      ticks -= 1;
      isSilent = ticks <= 0;
      if (isSilent) call.cancel();
    }, TICK_MS);
    const stopped = async (): Promise<void> => {
      call.write({ message: { case: 'drain', value: {} } });
      await this.finish();
      endOurSide(call);
    };
    stop.addEventListener('abort', stopped);
    this.#isAlive = false;
    try {
      const hello = { services: [...this.#games.keys()], program: 'bot-arena (TypeScript)' };
      call.write({ message: { case: 'hello', value: hello } });
      for await (const { message } of messages(call)) {
        ticks = SILENT_TICKS;
        if (message.case === 'greeting') {
          this.#attending(`${this.address} as ${message.value.name}`);
          this.#move(client);
        } else if (message.case === 'ping' && !call.writableEnded) {
          call.write({ message: { case: 'pong', value: { number: message.value.number } } });
        } else if (message.case === 'invitation' && !stop.aborted) {
          this.#take(message.value);
        } else if (message.case === 'superseded') {
          throw new ListenError(
            `could not join: ${this.address}: another process has joined with the same token, ` +
              'and this one ends; each process needs a token of its own',
          );
        }
      }
      this.#isAlive = true;
      return 'it has ended the stream';
    } catch (error) {
      if (error instanceof ListenError) throw error;
      return isSilent ? 'nothing is heard of it' : this.#ended(error as grpc.ServiceError);
    } finally {
      clearInterval(timer);
      stop.removeEventListener('abort', stopped);
      call.cancel();
      // Games go on by streams that are open; none is opened before it is found again.
      this.#isThere = false;
      if (client !== this.#client) client.close();
    }
  }

  #ended({ code, details }: grpc.ServiceError): string {
    if (code === grpc.status.UNIMPLEMENTED) {
      throw this.#wrong('this arena has no lobby: `arena serve --lobby FILE` opens it');
    }
    if (REFUSED.includes(code))
      throw new ListenError(`could not join: ${this.address}: ${details}`);
    return details || String(grpc.status[code]);
  }

  #move(client: grpc.Client): void {
    const old = this.#client;
    this.#client = client;
    this.#isThere = true;
    for (const seat of this.#seats.values()) {
      if (client !== old) seat.call?.cancel();
      seat.wake();
    }
    if (client !== old) old?.close();
  }

  /** Waits until no game is played; those that still are after a while are cut off. */
  async finish(): Promise<void> {
    const games = [...this.#seats.values()].map((seat) => seat.over);
    await within(Promise.all(games), GRACE_MS);
    for (const seat of this.#seats.values()) seat.cutOff();
  }

  close(): void {
    this.#client?.close();
  }

  /** An invitation to a game that is played already says that it waits for us, which its seat knows. */
  #take({ key, service }: Invitation): void {
    const id = Buffer.from(key).toString('hex');
    const served = this.#games.get(service);
    if (!served || this.#seats.has(id)) return;
    const seat = new Seat(key);
    this.#seats.set(id, seat);
    seat.over = this.#play(served, seat).finally(() => this.#seats.delete(id));
  }

  async #play(served: ServedGame, seat: Seat): Promise<void> {
    const game = this.#running
      .play(served, seat.calls, seat.answer, seat.closed.signal)
      .catch((error) => seat.fail(error));
    let since = performance.now();
    while (!(await this.#sit(seat))) {
      if (seat.wasHeard) since = performance.now();
      seat.wasHeard = false;
      if (seat.closed.signal.aborted || performance.now() - since > BACK_WITHIN_MS) break;
      await within(new Promise<void>((resolve) => (seat.wake = resolve)), FIRST_PAUSE_MS);
    }
    // It hears that there is no further call.
    seat.calls.push(null);
    await within(game, LAST_MESSAGES_MS);
    seat.cutOff();
  }

  /**
   * Plays by one stream. True if the game is over for us; else the stream broke, or the arena was
   * reached in another way meanwhile.
   */
  async #sit(seat: Seat): Promise<boolean> {
    if (!this.#isThere || !this.#client) return false;
    const call = this.#open(this.#client, Lobby.method.play);
    try {
      seat.take(call);
      for await (const message of messages(call)) seat.hear(message.call);
      return true;
    } catch (error) {
      return LAST.includes((error as grpc.ServiceError).code);
    } finally {
      seat.call = null;
      call.cancel();
    }
  }
}

/** A game on the side of the bot: what its session reads from and writes to. */
class Seat {
  /** What the session hears. */
  readonly calls = new Readable({ objectMode: true, read() {} });
  /** The stream to the arena, while there is one. */
  call: Call<typeof FromSeatSchema, typeof ToSeatSchema> | null = null;
  over: Promise<void> = Promise.resolve();
  /** True if the arena was heard by the last stream. */
  wasHeard = false;
  /** The arena can be reached. */
  wake = (): void => {};
  /** Aborted when the game is over for us. */
  readonly closed = new AbortController();
  readonly #key: Uint8Array;
  #heard = 0n;
  #last: Uint8Array = new Uint8Array();
  #failure: { code: number; message: string } | null = null;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  cutOff(): void {
    this.closed.abort();
    this.call?.cancel();
    this.wake();
  }

  /** By a new stream. */
  take(call: NonNullable<Seat['call']>): void {
    const value = { key: this.#key, calls: this.#heard, answer: this.#last };
    this.call = call;
    call.write({ message: { case: 'take', value } });
    this.#sendFailure();
  }

  hear(call: Uint8Array | undefined): void {
    this.wasHeard = true;
    if (call) {
      this.#heard += 1n;
      this.calls.push(call);
    } else if (!this.#failure) {
      this.call?.write({});
    }
  }

  readonly answer = (answer: Uint8Array): void => {
    this.#last = answer;
    this.call?.write({ message: { case: 'answer', value: answer } });
  };

  /** The session has ended with this. */
  fail(error: unknown): void {
    const { code, details } = statusOf(error);
    this.#failure = { code, message: details };
    this.#sendFailure();
  }

  #sendFailure(): void {
    const call = this.call;
    if (!call || !this.#failure) return;
    call.write({ message: { case: 'failure', value: this.#failure } });
    endOurSide(call);
  }
}

/** The arena ends its side then; who cancels a stream before may lose its last message. */
function endOurSide(call: grpc.ClientDuplexStream<never, unknown>): void {
  call.end();
  setTimeout(() => call.cancel(), LAST_MESSAGES_MS).unref();
}

/** The messages of a stream. An iterator of the usual kind would destroy it at the end. */
function messages<T>(call: grpc.ClientReadableStream<T>): AsyncIterable<T> {
  return call.iterator({ destroyOnReturn: false });
}
