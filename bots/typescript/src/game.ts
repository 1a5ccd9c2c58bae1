/** What all games share: how a game begins and ends, and how a callback is called. Names no game. */

import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { Duration } from '@bufbuild/protobuf/wkt';

import type * as proto from './gen/arena/v1/envelope_pb.js';

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** What a seat can do wrong. */
export enum FoulKind {
  /** A kind that this kit does not know: the referee is newer. */
  Unknown = 0,
  Unreachable = 1,
  NoStart = 2,
  Unsupported = 3,
  Crashed = 4,
  HungUp = 5,
  ErrorStatus = 6,
  Malformed = 7,
  WrongNumber = 8,
  Unsolicited = 9,
  Oversized = 10,
  MemoryExceeded = 11,
  Illegal = 12,
  Late = 13,
  Flooded = 14,
  Interfered = 15,
  Resigned = 16,
}

/** What ended a game. */
export enum Ending {
  /** Something that this kit does not know: the referee is newer. */
  Unknown = 0,
  Played = 1,
  Foul = 2,
  Resigned = 3,
  Void = 4,
}

/** A game begins. */
export interface GameStart {
  readonly gameId: string;
  /** Its name, for example `connect_four`. */
  readonly game: string;
  /** Your place, from 0. */
  readonly seat: number;
  readonly seats: number;
  /** The longest that one question may take, in milliseconds. */
  readonly moveLimitMs: number;
  /** What is left of a time budget over several games, in milliseconds; `null` without one. */
  readonly budgetMs: number | null;
  /**
   * A seed for the bot's own random numbers, so that games can be repeated; independent of the
   * deal. It has 64 bits, so it is a BigInt.
   */
  readonly botSeed: bigint;
  readonly rulesVersion: number;
  readonly behaviorVersion: number;
}

/** How one seat came out. */
export interface SeatResult {
  /** From 1, the best; seats that share a place have the same number. */
  readonly place: number;
  /** In the game's own unit. */
  readonly score: number;
  /** What the seat did wrong; `null` where it did nothing wrong. */
  readonly foul: FoulKind | null;
}

/** A game has ended. */
export interface GameOver {
  /** One for each seat, in order of the seats. */
  readonly results: readonly SeatResult[];
  readonly ending: Ending;
  /** In words, for example `four in a row`. */
  readonly reason: string;
}

/** The callbacks of every game. */
export interface GameBot {
  /** The game is over. It is not called if you have committed a foul. */
  gameOver?(over: GameOver): Awaitable<void>;
}

/** What every question has. */
export interface Question {
  /** The time that the answer may take, in milliseconds. An answer at exactly this time is late. */
  readonly limitMs: number;
  /** Aborted at the limit, and when the game is cut off. */
  readonly signal: AbortSignal;
}

/**
 * Calls the callback of this name, if the bot has it, and gives what `read` makes of its result.
 * `read` may run the author's code too, for an answer can be a generator. Rejects with a `Fault`.
 */
export interface Invoke {
  (name: string, args: readonly unknown[]): Promise<void>;
  <T>(name: string, args: readonly unknown[], read: (value: unknown) => T): Promise<T>;
}

/** What every game's calls have. */
interface AnyCall {
  number?: number;
  limit?: Duration;
  pastAnswer?: unknown;
  call: { case?: string | undefined; value?: unknown };
}

/** How a game's messages become callbacks. */
export interface GameDefinition<CallDesc extends DescMessage, AnswerDesc extends DescMessage> {
  service: DescService;
  /** The name of its interface. */
  bot: string;
  /** The callbacks that every bot of it has. */
  callbacks: readonly string[];
  call: CallDesc;
  answer: AnswerDesc;
  /** What comes with the start of the game. */
  begin(call: MessageShape<CallDesc>, invoke: Invoke): Promise<void>;
  /** A call of the game's own; what it answers has no number yet. */
  hear(
    call: MessageShape<CallDesc>,
    question: Question,
    invoke: Invoke,
  ): Promise<MessageInitShape<AnswerDesc> | null>;
}

/** The same without the types of its messages. */
export interface Game {
  readonly service: DescService;
  readonly bot: string;
  readonly callbacks: readonly string[];
  /** Throws where these bytes are not a call of this game. */
  parse(message: Uint8Array): AnyCall;
  serialize(answer: unknown, number: number): Uint8Array;
  begin(call: AnyCall, invoke: Invoke): Promise<void>;
  hear(call: AnyCall, question: Question, invoke: Invoke): Promise<object | null>;
}

export function defineGame<CallDesc extends DescMessage, AnswerDesc extends DescMessage>(
  game: GameDefinition<CallDesc, AnswerDesc>,
): Game {
  type Call = MessageShape<CallDesc>;
  return {
    service: game.service,
    bot: game.bot,
    callbacks: game.callbacks,
    parse: (message) => fromBinary(game.call, message) as Call & AnyCall,
    serialize: (answer, number) => {
      const body: unknown = { ...(answer as object), number };
      return toBinary(game.answer, create(game.answer, body as MessageInitShape<AnswerDesc>));
    },
    begin: (call, invoke) => game.begin(call as unknown as Call, invoke),
    hear: (call, question, invoke) => game.hear(call as unknown as Call, question, invoke),
  };
}

/** A call has a value that the game does not have. */
export class InvalidCall extends Error {}

/** A time of the protocol in milliseconds; 0 where there is none. */
export function milliseconds(duration: Duration | undefined): number {
  return duration ? Number(duration.seconds) * 1000 + duration.nanos / 1e6 : 0;
}

/** A copy that is the author's: he may change it, and it is no Buffer, whose slices share memory. */
export function bytes(from: Uint8Array): Uint8Array {
  return Uint8Array.from(from);
}

export function readStart(start: proto.GameStart): GameStart {
  return {
    gameId: start.gameId,
    game: start.game,
    seat: start.seat,
    seats: start.seats,
    moveLimitMs: milliseconds(start.moveLimit),
    budgetMs: start.budget ? milliseconds(start.budget) : null,
    botSeed: start.botSeed,
    rulesVersion: start.rulesVersion,
    behaviorVersion: start.behaviorVersion,
  };
}

export function readOver(over: proto.GameOver): GameOver {
  const known = <T extends number>(names: Record<number, string>, value: number): T =>
    (value in names ? value : 0) as T;
  return {
    results: over.results.map(({ place, score, foul }) => ({
      place,
      score: Number(score),
      foul: foul === undefined ? null : known<FoulKind>(FoulKind, foul),
    })),
    ending: known<Ending>(Ending, over.ending),
    reason: over.reason,
  };
}
