/** Arcade Mahjong. */

import { wrong } from './fault.js';
import {
  Claim,
  MahjongAnswerSchema,
  MahjongBot as Service,
  MahjongCallSchema,
  type MahjongAnswer,
} from './gen/games/mahjong/v1/mahjong_pb.js';
import { defineGame, type Awaitable, type GameBot, type Question } from './game.js';

/**
 * A kind of tile, of which there are four: 10 * suit + rank, with the suits characters (C) 0,
 * bamboos (B) 1, dots (D) 2.
 */
// prettier-ignore
export enum Tile {
  C1 = 1, C2, C3, C4, C5, C6, C7, C8, C9,
  B1 = 11, B2, B3, B4, B5, B6, B7, B8, B9,
  D1 = 21, D2, D3, D4, D5, D6, D7, D8, D9,
}

/** 0 characters, 1 bamboos, 2 dots. */
export function tileSuit(tile: Tile): number {
  return Math.floor(tile / 10);
}

/** 1 to 9. */
export function tileRank(tile: Tile): number {
  return tile % 10;
}

/** A tile in the notation of the arena: `1c`, `5b`, `9d`. */
export function tileText(tile: Tile): string {
  return `${tileRank(tile)}${'cbd'[tileSuit(tile)]}`;
}

/** What a round is played by. */
export interface Round {
  /** Whether a hand of all three suits can't win. */
  readonly missingSuitRequired: boolean;
  /** How many tiles the wall holds when both hands have been dealt. */
  readonly wall: number;
}

/** Asks which tile you discard. */
export type RequestDiscard = Question;

/** Asks whether you win on a tile, which completes the hand. */
export interface RequestWin extends Question {
  readonly tile: Tile;
  /** Whether you have drawn it; else the other seat has discarded it. */
  readonly isSelfDraw: boolean;
}

/** A bot in one round of Mahjong. */
export interface MahjongBot extends GameBot {
  /** What the round is played by; before everything else. */
  getRound?(round: Round): Awaitable<void>;
  /**
   * A tile is in your hand now: one call for each of the 13 at the start, then for each that you
   * draw.
   */
  getDraw(tile: Tile): Awaitable<void>;
  /** Which tile of your hand do you discard? It is out of the hand then. */
  requestDiscard(ask: RequestDiscard): Awaitable<Tile>;
  /** The other seat has discarded a tile. */
  getOppDiscard(tile: Tile): Awaitable<void>;
  /**
   * Do you win on `ask.tile`? If you do not, you are told of a tile that was discarded as of any
   * other.
   */
  requestWin(ask: RequestWin): Awaitable<boolean>;
  /** The stream was opened in the middle of a game: you discarded this tile. */
  resumedDiscard?(ask: RequestDiscard, tile: Tile): Awaitable<void>;
  /** The same for a win: this was asked before, and answered so. */
  resumedWin?(ask: RequestWin, win: boolean): Awaitable<void>;
}

type Answer = { answer: MahjongAnswer['answer'] };

function readDiscard(value: unknown): Answer {
  if (typeof value !== 'number' || !(value in Tile)) {
    throw wrong('requestDiscard', value, 'a Tile of the hand');
  }
  return { answer: { case: 'discard', value } };
}

function readWin(value: unknown): Answer {
  if (typeof value !== 'boolean') throw wrong('requestWin', value, 'true or false');
  return { answer: { case: 'win', value: value ? Claim.WIN : Claim.PASS } };
}

export const MAHJONG = defineGame({
  service: Service,
  bot: 'MahjongBot',
  callbacks: ['getDraw', 'requestDiscard', 'getOppDiscard', 'requestWin'],
  call: MahjongCallSchema,
  answer: MahjongAnswerSchema,
  begin: async ({ round }, invoke) => {
    if (!round) return;
    const { missingSuitRequired, wall } = round;
    await invoke('getRound', [{ missingSuitRequired, wall } satisfies Round]);
  },
  hear: async ({ call, pastAnswer }, question, invoke) => {
    switch (call.case) {
      case 'getDraw':
        for (const tile of call.value.tiles) await invoke('getDraw', [tile]);
        return null;
      case 'getOppDiscard':
        await invoke('getOppDiscard', [call.value.tile]);
        return null;
      case 'requestDiscard':
        if (!pastAnswer) return invoke('requestDiscard', [question], readDiscard);
        await invoke('resumedDiscard', [question, pastAnswer.answer.value]);
        return null;
      case 'requestWin': {
        const { winningTile, isSelfDraw } = call.value;
        const ask: RequestWin = { tile: winningTile as number, isSelfDraw, ...question };
        if (!pastAnswer) return invoke('requestWin', [ask], readWin);
        await invoke('resumedWin', [ask, pastAnswer.answer.value === Claim.WIN]);
        return null;
      }
      default:
        return null;
    }
  },
});
