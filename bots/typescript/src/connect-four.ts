/** Connect Four with a forbidden cell. */

import { wrong } from './fault.js';
import {
  ConnectFourAnswerSchema,
  ConnectFourBot as Service,
  ConnectFourCallSchema,
  type ConnectFourAnswer,
  type GetPoint as Message,
} from './gen/games/connect_four/v1/connect_four_pb.js';
import {
  InvalidCall,
  bytes,
  defineGame,
  type Awaitable,
  type GameBot,
  type Question,
} from './game.js';

/** A cell. */
export interface Point {
  /** The row, from 0 at the top. */
  readonly x: number;
  /** The column, from 0 at the left. */
  readonly y: number;
}

/** A question, with the whole position. */
export class GetPoint implements Question {
  /** Rows. */
  readonly m: number;
  /** Columns. */
  readonly n: number;
  /** One for each column: the next stone lands in row `top[y] - 1`; 0 is full. */
  readonly top: Uint8Array;
  /**
   * One for each cell, row by row: 0 empty, 1 the opponent's stone, 2 your own; the forbidden
   * cell is 0.
   */
  readonly board: Uint8Array;
  /** Where the opponent played last; `null` where it has not. */
  readonly last: Point | null;
  /** The forbidden cell; `null` where there is none. */
  readonly forbidden: Point | null;
  readonly limitMs: number;
  readonly signal: AbortSignal;

  /** @internal */
  constructor(message: Message, { limitMs, signal }: Question) {
    const { m, n, top, board } = message;
    if (top.length !== n || board.length !== m * n) {
      throw new InvalidCall(`${board.length} cells on a board of ${m} rows, ${n} columns`);
    }
    this.m = m;
    this.n = n;
    this.top = bytes(top);
    this.board = bytes(board);
    this.last = point(message.lastX, message.lastY);
    this.forbidden = point(message.noX, message.noY);
    this.limitMs = limitMs;
    this.signal = signal;
  }

  /** What is at row `x` and column `y`, as in `board`. Throws a RangeError outside of the board. */
  cell(x: number, y: number): number {
    if (!(x >= 0 && x < this.m && y >= 0 && y < this.n)) {
      throw new RangeError(`(${x}, ${y}) is not on a board of ${this.m} rows, ${this.n} columns`);
    }
    return this.board[x * this.n + y] as number;
  }

  /** Where a stone dropped into this column lands; `null` if it is full. */
  landing(column: number): Point | null {
    const top = this.top[column];
    if (top === undefined) throw new RangeError(`${column} is not one of ${this.n} columns`);
    return top > 0 ? { x: top - 1, y: column } : null;
  }

  /** Every point that can be played, from the left. */
  points(): Point[] {
    return [...this.top].flatMap((top, y) => (top > 0 ? [{ x: top - 1, y }] : []));
  }
}

/** A bot in one game of Connect Four. */
export interface ConnectFourBot extends GameBot {
  /** Where do you play? The stone must land exactly there, on one of `ask.points()`. */
  getPoint(ask: GetPoint): Awaitable<Point>;
  /** The stream was opened in the middle of a game: this was asked before, and answered so. */
  resumedPoint?(ask: GetPoint, point: Point): Awaitable<void>;
}

function point(x: number, y: number): Point | null {
  return x < 0 || y < 0 ? null : { x, y };
}

function readAnswer(value: unknown): { answer: { case: 'point'; value: Point } } {
  const { x, y } = (value ?? {}) as Point;
  // What a message can hold; the referee says whether it is on the board.
  const isCoordinate = (part: number): boolean => Number.isInteger(part) && part === (part | 0);
  if (!isCoordinate(x) || !isCoordinate(y)) {
    throw wrong('getPoint', value, 'a point { x, y }: row and column');
  }
  return { answer: { case: 'point', value: { x, y } } };
}

function pastPoint({ answer }: ConnectFourAnswer): Point {
  const { x = 0, y = 0 } = answer.case === 'point' ? answer.value : {};
  return { x, y };
}

export const CONNECT_FOUR = defineGame({
  service: Service,
  bot: 'ConnectFourBot',
  callbacks: ['getPoint'],
  call: ConnectFourCallSchema,
  answer: ConnectFourAnswerSchema,
  begin: async () => {},
  hear: async ({ call, pastAnswer }, question, invoke) => {
    if (call.case !== 'getPoint') return null;
    const ask = new GetPoint(call.value, question);
    if (!pastAnswer) return invoke('getPoint', [ask], readAnswer);
    await invoke('resumedPoint', [ask, pastPoint(pastAnswer)]);
    return null;
  },
});
