/** A bot: its name, what it says of itself, the games that it plays. */

import { inspect } from 'node:util';

import { ListenError } from './address.js';
import { BIG_TWO, type BigTwoBot } from './big-two.js';
import { CONNECT_FOUR, type ConnectFourBot } from './connect-four.js';
import type { Awaitable, Game, GameStart } from './game.js';
import { join } from './joining.js';
import { MAHJONG, type MahjongBot } from './mahjong.js';
import { OTHELLO, type OthelloBot } from './othello.js';
import { serve } from './server.js';
import type { Ready, ServedGame } from './session.js';

/** Where a bot listens when BOT_LISTEN is not set. */
const STANDARD = 'tcp:127.0.0.1:50051';
/** How long the author's code may go on after `main()`, before the process ends all the same. */
const AFTER_MAIN_MS = 500;

/** A class, or a function that gives the object for one game. */
export type Maker<B> = (new (start: GameStart) => B) | ((start: GameStart) => Awaitable<B>);

export interface BotOptions {
  /**
   * How many games one process plays at once; 1 by default. All of them share the event loop: a
   * bot that computes for long holds up its other games while their clocks run.
   */
  readonly maxGames?: number;
  /**
   * Whether the bot can be resumed in the middle of a game: it has the callbacks `resumed…`, or
   * remembers nothing between the others. By default it can not.
   */
  readonly canResume?: boolean;
}

/** A bot. `name` and `version` are shown to people. */
export class Bot {
  readonly #ready: Ready;
  readonly #games = new Map<string, ServedGame>();

  /** Throws a TypeError or a RangeError where something is not as it should be. */
  constructor(name: string, version: string, options: BotOptions = {}) {
    const { maxGames = 1, canResume = false, ...unknown } = options;
    check('name', name, typeof name === 'string', 'a string');
    check('version', version, typeof version === 'string', 'a string');
    check('maxGames', maxGames, Number.isInteger(maxGames), 'a whole number');
    check('canResume', canResume, typeof canResume === 'boolean', 'true or false');
    for (const option of Object.keys(unknown)) {
      throw new TypeError(`there is no option ${option}: expected maxGames or canResume`);
    }
    if (maxGames < 1) throw new RangeError(`maxGames is ${maxGames}: expected 1 or more`);
    this.#ready = { bot: name, version, maxGames, canResume };
    process.on('exit', this.#neverServed);
  }

  /** Plays Connect Four: `make`, a class or a function, makes the object for one game. */
  connectFour(make: Maker<ConnectFourBot>): this {
    return this.#plays(CONNECT_FOUR, make);
  }

  /** Plays Mahjong: `make` makes the object for one round. */
  mahjong(make: Maker<MahjongBot>): this {
    return this.#plays(MAHJONG, make);
  }

  /** Plays Reversal Big Two: `make` makes the object for one game. */
  bigTwo(make: Maker<BigTwoBot>): this {
    return this.#plays(BIG_TWO, make);
  }

  /** Plays Othello: `make` makes the object for one game. */
  othello(make: Maker<OthelloBot>): this {
    return this.#plays(OTHELLO, make);
  }

  /**
   * Serves until SIGTERM or SIGINT. It listens at the address in the environment variable
   * BOT_LISTEN: `unix:PATH` or `tcp:HOST:PORT`. Where BOT_JOIN names an arena
   * (`https://HOST:PORT`) it joins that instead, with the token in the file BOT_TOKEN_FILE. Ends
   * the process with 1 and a line on standard error where it can't.
   */
  async main(): Promise<void> {
    const stop = new AbortController();
    const signalled = (): void => stop.abort();
    process.on('SIGTERM', signalled).on('SIGINT', signalled);
    try {
      if (process.env['BOT_JOIN'] === undefined) {
        await this.serve(process.env['BOT_LISTEN'] ?? STANDARD, stop.signal);
      } else {
        process.off('exit', this.#neverServed);
        await join([...this.#games.values()], this.#ready, stop.signal, attend);
      }
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      console.error(error.message);
      process.exit(1);
    }
    // Whatever of the author's is still open does not keep the process.
    setTimeout(() => process.exit(), AFTER_MAIN_MS).unref();
  }

  /**
   * The same until `stop` is aborted, without the signals: for a program that does other things
   * too. Rejects with a `ListenError`.
   */
  async serve(
    address: string,
    stop: AbortSignal,
    listening: (address: string) => void = say,
  ): Promise<void> {
    process.off('exit', this.#neverServed);
    await serve(address, [...this.#games.values()], this.#ready, stop, listening);
  }

  #plays(game: Game, make: Maker<unknown>): this {
    if (typeof make !== 'function') {
      const expected = 'expected a class, or a function that makes the object for one game';
      throw new TypeError(`${inspect(make, { depth: 0 })} is no ${game.bot}: ${expected}`);
    }
    this.#games.set(game.service.typeName, { game, make: maker(make) });
    return this;
  }

  readonly #neverServed = (code: number): void => {
    if (code !== 0) return; // What an exception says is not hidden by it.
    console.error(`Bot('${this.#ready.bot}', …) was never served: call its main()`);
  };
}

/** Calls what has no prototype: an arrow function, an async one or a method, which are no classes. */
function maker(make: Maker<unknown>): (start: GameStart) => unknown {
  const isClass = typeof (make as { prototype?: unknown }).prototype === 'object';
  return (start) => (isClass ? Reflect.construct(make, [start]) : (make as Function)(start));
}

function check(name: string, value: unknown, isSo: boolean, expected: string): void {
  if (!isSo) throw new TypeError(`${name} is ${inspect(value)}: expected ${expected}`);
}

function say(address: string): void {
  console.log(`listening on ${address}`);
}

function attend(place: string): void {
  console.log(`attending at ${place}`);
}
