/** Othello. */

import { wrong } from './fault.js';
import {
  OthelloAnswerSchema,
  OthelloBot as Service,
  OthelloCallSchema,
  Side,
  type Previous,
} from './gen/games/othello/v1/othello_pb.js';
import {
  InvalidCall,
  bytes,
  defineGame,
  type Awaitable,
  type GameBot,
  type Question,
} from './game.js';

/** A square: its index on the board is `8 * row + column`. */
export interface Square {
  /** 0 (row 1, at the top) to 7. */
  readonly row: number;
  /** 0 (column a, at the left) to 7. */
  readonly column: number;
}

/** A square in the notation of the arena: `f5`. */
export function squareText({ row, column }: Square): string {
  return `${'abcdefgh'[column]}${row + 1}`;
}

/** The position that the game begins with. */
export interface Beginning {
  /** One for each square, row by row from a1: 0 empty, 1 the opponent's disc, 2 your own. */
  readonly board: Uint8Array;
  /** The seat that moves first: 0 is black, 1 white. */
  readonly turn: number;
  /** What was done last: a square, a pass, or `null` where nothing was done yet. */
  readonly previous: Square | 'pass' | null;
}

/** A question, with the whole position. */
export interface RequestMove extends Question {
  /** One for each square, row by row from a1: 0 empty, 1 the opponent's disc, 2 your own. */
  readonly board: Uint8Array;
  /** What the opponent did last: a square, a pass, or `null` where nothing was done yet. */
  readonly previous: Square | 'pass' | null;
}

/** A bot in one game of Othello. Seat 0 has the black discs and begins. */
export interface OthelloBot extends GameBot {
  /** The position that the game begins with. */
  getBeginning?(beginning: Beginning): Awaitable<void>;
  /** Where do you place a disc? You are asked only where there is a move. */
  requestMove(ask: RequestMove): Awaitable<Square>;
  /** The stream was opened in the middle of a game: this was asked before, and answered so. */
  resumedMove?(ask: RequestMove, square: Square): Awaitable<void>;
}

function readAnswer(value: unknown): { answer: { case: 'square'; value: Square } } {
  const { row, column } = (value ?? {}) as Square;
  const isOnBoard = (part: unknown): boolean =>
    Number.isInteger(part) && (part as number) >= 0 && (part as number) < 8;
  if (!isOnBoard(row) || !isOnBoard(column)) {
    throw wrong('requestMove', value, 'a square { row, column }, both of 0 to 7');
  }
  return { answer: { case: 'square', value: { row, column } } };
}

function readBoard(board: Uint8Array): Uint8Array {
  if (board.length !== 64) throw new InvalidCall(`${board.length} squares on a board`);
  return bytes(board);
}

function readPrevious(message: Previous | undefined): Square | 'pass' | null {
  switch (message?.previous.case) {
    case 'square':
      return readSquare(message.previous.value);
    case 'pass':
      return 'pass';
    default:
      return null;
  }
}

function readSquare({ row = 0, column = 0 }: { row?: number; column?: number }): Square {
  return { row, column };
}

export const OTHELLO = defineGame({
  service: Service,
  bot: 'OthelloBot',
  callbacks: ['requestMove'],
  call: OthelloCallSchema,
  answer: OthelloAnswerSchema,
  begin: async ({ beginning }, invoke) => {
    if (!beginning) return;
    const told: Beginning = {
      board: readBoard(beginning.board),
      turn: beginning.sideToMove === Side.BLACK ? 0 : 1,
      previous: readPrevious(beginning.previous),
    };
    await invoke('getBeginning', [told]);
  },
  hear: async ({ call, pastAnswer }, question, invoke) => {
    if (call.case !== 'requestMove') return null;
    const { board, previous } = call.value;
    const ask: RequestMove = {
      board: readBoard(board),
      previous: readPrevious(previous),
      ...question,
    };
    if (!pastAnswer) return invoke('requestMove', [ask], readAnswer);
    const { answer } = pastAnswer;
    await invoke('resumedMove', [ask, readSquare(answer.case === 'square' ? answer.value : {})]);
    return null;
  },
});
