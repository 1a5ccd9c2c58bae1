/** One seat in one game: the calls of its stream, in order, to one object of the author's. */

import { status } from '@grpc/grpc-js';

import { Fault, raised, wrong } from './fault.js';
import {
  InvalidCall,
  milliseconds,
  readOver,
  readStart,
  type Awaitable,
  type Game,
  type GameStart,
  type Invoke,
  type Question,
} from './game.js';
import type * as proto from './gen/arena/v1/envelope_pb.js';

// A timer of Node can't be longer: it would fire at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A game that a bot plays, and what makes its object for one game. */
export interface ServedGame {
  readonly game: Game;
  readonly make: (start: GameStart) => unknown;
}

/** What a bot says of itself. */
export interface Ready {
  readonly bot: string;
  readonly version: string;
  readonly maxGames: number;
  readonly canResume: boolean;
}

type Callbacks = Record<string, ((...args: readonly unknown[]) => unknown) | undefined>;

export class Session {
  readonly #game: Game;
  readonly #make: (start: GameStart) => unknown;
  readonly #ready: Ready;
  readonly #closed: AbortSignal;
  #bot: Callbacks | null = null;

  /** `closed` is aborted when the stream is closed, also in the middle of the game. */
  constructor({ game, make }: ServedGame, ready: Ready, closed: AbortSignal) {
    this.#game = game;
    this.#make = make;
    this.#ready = ready;
    this.#closed = closed;
  }

  /** The answer to a call, if there is one. Rejects with a `Fault`. */
  async hear(message: Uint8Array): Promise<Uint8Array | null> {
    try {
      const call = this.#parse(message);
      const answer = await this.#hear(call);
      if (answer === null) return null;
      return this.#game.serialize(answer, numberOf(call));
    } catch (error) {
      if (!(error instanceof InvalidCall)) throw error;
      throw new Fault(status.INVALID_ARGUMENT, `not a call of this game: ${error.message}`);
    }
  }

  #parse(message: Uint8Array): ReturnType<Game['parse']> {
    try {
      return this.#game.parse(message);
    } catch (error) {
      throw new InvalidCall(error instanceof Error ? error.message : String(error));
    }
  }

  async #hear(call: ReturnType<Game['parse']>): Promise<object | null> {
    const { case: kind, value } = call.call;
    if (kind === 'start') return this.#begin(call, readStart(value as proto.GameStart));
    if (this.#bot === null) {
      throw new Fault(status.FAILED_PRECONDITION, 'the game has not begun');
    }
    if (kind === 'over') {
      await this.#invoke('gameOver', [readOver(value as proto.GameOver)]);
      this.#bot = null;
      return null;
    }
    const limitMs = milliseconds(call.limit);
    if (call.number === undefined || call.pastAnswer) {
      return this.#game.hear(call, { limitMs, signal: this.#closed }, this.#invoke);
    }
    const asked = new Asked(limitMs, this.#closed);
    try {
      return await this.#game.hear(call, asked.question, this.#invoke);
    } finally {
      asked.close();
    }
  }

  async #begin(call: ReturnType<Game['parse']>, start: GameStart): Promise<object | null> {
    numberOf(call);
    this.#bot = await this.#call('the constructor', () => this.#make(start), this.#made);
    await this.#game.begin(call, this.#invoke);
    // A start that was answered before the stream was opened is not answered again.
    return call.pastAnswer ? null : { answer: { case: 'ready', value: this.#ready } };
  }

  readonly #made = (bot: unknown): Callbacks => {
    const { bot: name, callbacks } = this.#game;
    if (typeof bot !== 'object' || bot === null) {
      throw wrong('the constructor', bot, `an object with the callbacks of a ${name}`);
    }
    const made = bot as Callbacks;
    const absent = callbacks.filter((callback) => typeof made[callback] !== 'function');
    if (absent.length > 0) {
      const of = bot.constructor?.name ?? 'Object';
      throw new TypeError(`${of} lacks ${absent.join(', ')}`);
    }
    return made;
  };

  readonly #invoke = (async <T>(
    name: string,
    args: readonly unknown[],
    read?: (value: unknown) => T,
  ): Promise<T | void> => {
    const bot = this.#bot as Callbacks;
    if (bot[name] === undefined) return;
    return this.#call(name, () => bot[name]?.(...args), read ?? (() => undefined as T));
  }) as Invoke;

  async #call<T>(
    name: string,
    callback: () => Awaitable<unknown>,
    read: (value: unknown) => T,
  ): Promise<T> {
    try {
      return read(await callback());
    } catch (error) {
      // Nobody hears of a game that was cut off, which may be why it has thrown.
      if (this.#closed.aborted) throw new Fault(status.CANCELLED, 'the game was cut off');
      throw error instanceof Fault ? error : raised(name, error);
    }
  }
}

/** A question while it is being answered. */
class Asked {
  readonly question: Question;
  readonly #abort = new AbortController();
  readonly #closed: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(limitMs: number, closed: AbortSignal) {
    this.question = { limitMs, signal: this.#abort.signal };
    this.#closed = closed;
    closed.addEventListener('abort', this.#cutOff);
    this.#timer = setTimeout(
      () => this.#abort.abort(new DOMException('the limit is over', 'TimeoutError')),
      Math.min(limitMs, LONGEST_TIMER_MS),
    );
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closed.removeEventListener('abort', this.#cutOff);
  }

  readonly #cutOff = (): void => this.#abort.abort(this.#closed.reason);
}

function numberOf({ number }: { number?: number }): number {
  if (number === undefined) throw new InvalidCall('a question without a number');
  return number;
}
