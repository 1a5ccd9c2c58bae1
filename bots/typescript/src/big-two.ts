/** Reversal Big Two. */

import { wrong } from './fault.js';
import {
  BigTwoAnswerSchema,
  BigTwoBot as Service,
  BigTwoCallSchema,
  type BigTwoAnswer,
  type Play,
} from './gen/games/big_two/v1/big_two_pb.js';
import { defineGame, type Awaitable, type GameBot, type Question } from './game.js';

/** A card: a letter for its suit (clubs, diamonds, hearts, spades) and its rank. */
// prettier-ignore
export enum Card {
  C3 = 1, D3, H3, S3,
  C4, D4, H4, S4,
  C5, D5, H5, S5,
  C6, D6, H6, S6,
  C7, D7, H7, S7,
  C8, D8, H8, S8,
  C9, D9, H9, S9,
  C10, D10, H10, S10,
  CJ, DJ, HJ, SJ,
  CQ, DQ, HQ, SQ,
  CK, DK, HK, SK,
  CA, DA, HA, SA,
  C2, D2, H2, S2,
  Joker1, Joker2,
}

const CARDS = 54;
const RANKS = ['3', '4', '5', '6', '7', '8', '9', '10', 'J', 'Q', 'K', 'A', '2'];

export function isJoker(card: Card): boolean {
  return card >= Card.Joker1;
}

/** In the normal order, from 0 for the threes to 12 for the twos; 13 for a joker. */
export function cardRank(card: Card): number {
  return Math.floor((card - 1) / 4);
}

/** 0 clubs, 1 diamonds, 2 hearts, 3 spades; a joker has none. */
export function cardSuit(card: Card): number | null {
  return isJoker(card) ? null : (card - 1) % 4;
}

/** A card in the notation of the arena: `3C`, `10D`, `JK1`. */
export function cardText(card: Card): string {
  const suit = cardSuit(card);
  return suit === null ? `JK${card - Card.S2}` : `${RANKS[cardRank(card)]}${'CDHS'[suit]}`;
}

/** How a round counts. */
export enum Scoring {
  /** A way that this kit does not know: the referee is newer. */
  Unknown = 0,
  Places = 1,
  Payout = 2,
}

/** What everybody knows before the first play. */
export interface Table {
  readonly scoring: Scoring;
  /** Whether a four of a kind reverses the order. */
  readonly reversal: boolean;
  /** How many cards each seat holds, in order of the seats. */
  readonly cardsLeft: readonly number[];
}

/** A play or a pass of a seat. */
export interface GetPlay {
  readonly seat: number;
  /** What it played; `null` where it passed. */
  readonly cards: readonly Card[] | null;
  /** How many it holds now. */
  readonly cardsLeft: number;
  /** Whether the order is reversed now, for the next player. */
  readonly reversedAfter: boolean;
  /** Its place, from 1, the best, where it has gone out by this; else `null`. */
  readonly place: number | null;
}

/** A question: what to beat. */
export interface RequestPlay extends Question {
  /** `null` where you lead. */
  readonly toBeat: readonly Card[] | null;
  /** Whether the order is reversed now. */
  readonly reversed: boolean;
  /** Whether the play must contain ♣3, as the first of a game. */
  readonly mustIncludeThreeOfClubs: boolean;
}

/** A bot in one game of Reversal Big Two. */
export interface BigTwoBot extends GameBot {
  /** What everybody knows before the first play. */
  getTable?(table: Table): Awaitable<void>;
  /** Your cards. */
  getDeal(cards: readonly Card[]): Awaitable<void>;
  /** A seat has played or passed; you are told of your own plays too. */
  getPlay(play: GetPlay): Awaitable<void>;
  /** A seat has left by a foul and taken this place. */
  getForfeit?(seat: number, place: number): Awaitable<void>;
  /** Which cards do you play? `null` is a pass, which is not allowed where you lead. */
  requestPlay(ask: RequestPlay): Awaitable<Iterable<Card> | null>;
  /** The stream was opened in the middle of a game: this was asked before, and answered so. */
  resumedPlay?(ask: RequestPlay, cards: readonly Card[] | null): Awaitable<void>;
}

function readAnswer(value: unknown): { answer: BigTwoAnswer['answer'] } {
  // A callback without `return` gives undefined: that is no pass.
  if (value === null) return { answer: { case: 'pass', value: PASS } };
  const cards = readCards(value);
  const isCard = (card: unknown): boolean => typeof card === 'number' && card in Card;
  if (cards.length === 0 || !cards.every(isCard) || new Set(cards).size < cards.length) {
    throw wrong('requestPlay', value, 'an array of Cards, each once, or null to pass');
  }
  return { answer: { case: 'play', value: { cards } as Play } };
}

const PASS = {} as Extract<BigTwoAnswer['answer'], { case: 'pass' }>['value'];

/** The first items of an answer, at most one more than there are cards; none if it has no items. */
function readCards(value: unknown): number[] {
  const found: number[] = [];
  if (typeof (value as Iterable<number> | undefined)?.[Symbol.iterator] !== 'function') return [];
  for (const card of value as Iterable<number>) {
    found.push(card);
    if (found.length > CARDS) break;
  }
  return found;
}

export const BIG_TWO = defineGame({
  service: Service,
  bot: 'BigTwoBot',
  callbacks: ['getDeal', 'getPlay', 'requestPlay'],
  call: BigTwoCallSchema,
  answer: BigTwoAnswerSchema,
  begin: async ({ table, getDeal }, invoke) => {
    if (table) {
      const { scoring, reversal, cardsLeft } = table;
      const known: Scoring = scoring in Scoring ? (scoring as number) : Scoring.Unknown;
      await invoke('getTable', [{ scoring: known, reversal, cardsLeft } satisfies Table]);
    }
    if (getDeal) await invoke('getDeal', [getDeal.cards]);
  },
  hear: async ({ call, pastAnswer }, question, invoke) => {
    switch (call.case) {
      case 'getPlay': {
        const { seat, move, cardsLeft, reversedAfter, place = null } = call.value;
        const cards = move.case === 'play' ? (move.value.cards as number[]) : null;
        const play: GetPlay = { seat, cards, cardsLeft, reversedAfter, place };
        await invoke('getPlay', [play]);
        return null;
      }
      case 'forfeit':
        await invoke('getForfeit', [call.value.seat, call.value.place]);
        return null;
      case 'requestPlay': {
        const { toBeat, reversed, mustIncludeThreeOfClubs } = call.value;
        const cards = toBeat ? (toBeat.cards as number[]) : null;
        const ask: RequestPlay = { toBeat: cards, reversed, mustIncludeThreeOfClubs, ...question };
        if (!pastAnswer) return invoke('requestPlay', [ask], readAnswer);
        const { answer } = pastAnswer;
        await invoke('resumedPlay', [ask, answer.case === 'play' ? answer.value.cards : null]);
        return null;
      }
      default:
        return null;
    }
  },
});
