// Plays every game at random, each legal move as likely as the others; of Big Two it knows what is
// played with natural cards of one rank. What it draws follows from the game's botSeed, so it
// repeats itself, also where it is resumed in the middle of a game.
import { Bot, Card, cardRank, isJoker } from 'bot-arena';

const THEIRS = 1;
const MINE = 2;

// Draws from arrays, by the generator splitmix64: https://prng.di.unimi.it/splitmix64.c
class Dice {
  #state;

  constructor({ botSeed }) {
    this.#state = botSeed;
  }

  // One of these.
  pick(from) {
    return from[Number(this.#next() % BigInt(from.length))];
  }

  // A draw that was made before the stream was opened.
  again() {
    this.#next();
  }

  #next() {
    this.#state = BigInt.asUintN(64, this.#state + 0x9e3779b97f4a7c15n);
    let mixed = this.#state;
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return mixed ^ (mixed >> 31n);
  }
}

class RandomConnectFour {
  constructor(start) {
    this.dice = new Dice(start);
  }

  getPoint(ask) {
    return this.dice.pick(ask.points());
  }

  resumedPoint() {
    this.dice.again();
  }
}

class RandomMahjong {
  constructor(start) {
    this.dice = new Dice(start);
    this.hand = [];
  }

  getDraw(tile) {
    this.hand.push(tile);
  }

  getOppDiscard() {}

  requestDiscard() {
    const tile = this.dice.pick(this.hand);
    this.discard(tile);
    return tile;
  }

  resumedDiscard(ask, tile) {
    this.dice.again();
    this.discard(tile);
  }

  requestWin() {
    return true;
  }

  discard(tile) {
    this.hand.splice(this.hand.indexOf(tile), 1);
  }
}

class RandomBigTwo {
  constructor(start) {
    this.dice = new Dice(start);
    this.seat = start.seat;
    this.hand = [];
  }

  getDeal(cards) {
    this.hand = [...cards].sort((a, b) => a - b);
  }

  // It is told of its own plays too, also when it is resumed.
  getPlay({ seat, cards }) {
    if (seat === this.seat && cards) this.hand = this.hand.filter((card) => !cards.includes(card));
  }

  requestPlay(ask) {
    return this.dice.pick(plays(this.hand, ask));
  }

  resumedPlay() {
    this.dice.again();
  }
}

// Legal plays of Big Two: singles, pairs, threes and fours, without jokers that stand in for other
// cards and without straight flushes; a pass is null.
function plays(hand, { toBeat, reversed, mustIncludeThreeOfClubs }) {
  const key = (card) => (reversed && !isJoker(card) ? 12 - cardRank(card) : cardRank(card));
  const found = toBeat ? [null] : [];
  const naturals = toBeat?.filter((card) => !isJoker(card)) ?? [];
  // Cards of several ranks are a straight flush, on which nothing here can go.
  if (new Set(naturals.map(cardRank)).size > 1) return found;
  const least = toBeat ? key(naturals[0] ?? toBeat[0]) + 1 : 0;
  for (const alike of byRank(hand)) {
    if (key(alike[0]) < least) continue;
    for (const cards of subsets(alike)) {
      const fits = !toBeat || cards.length === toBeat.length;
      if (fits && (!mustIncludeThreeOfClubs || cards.includes(Card.C3))) found.push(cards);
    }
  }
  return found;
}

function byRank(hand) {
  const ranks = new Set(hand.map(cardRank));
  return [...ranks].map((rank) => hand.filter((card) => cardRank(card) === rank));
}

// All subsets but the empty one.
function subsets([first, ...others]) {
  if (first === undefined) return [];
  const without = subsets(others);
  return [[first], ...without, ...without.map((cards) => [first, ...cards])];
}

class RandomOthello {
  constructor(start) {
    this.dice = new Dice(start);
  }

  requestMove({ board }) {
    const squares = [...board.keys()].map((at) => ({ row: Math.floor(at / 8), column: at % 8 }));
    return this.dice.pick(squares.filter((square) => turns(board, square)));
  }

  resumedMove() {
    this.dice.again();
  }
}

// Whether a disc of one's own there encloses some of the opponent's.
function turns(board, { row, column }) {
  const cell = (r, c) => (r < 0 || r > 7 || c < 0 || c > 7 ? 0 : board[8 * r + c]);
  if (cell(row, column) !== 0) return false;
  for (const down of [-1, 0, 1]) {
    for (const right of [-1, 0, 1]) {
      let steps = 1;
      while (cell(row + steps * down, column + steps * right) === THEIRS) steps += 1;
      if (steps > 1 && cell(row + steps * down, column + steps * right) === MINE) return true;
    }
  }
  return false;
}

await new Bot('random', '1.0', { maxGames: 16, canResume: true })
  .connectFour(RandomConnectFour)
  .mahjong(RandomMahjong)
  .bigTwo(RandomBigTwo)
  .othello(RandomOthello)
  .main();
