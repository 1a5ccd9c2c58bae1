// A bot as its author writes it in TypeScript: its types are checked, it is never run.
import {
  Bot,
  Card,
  type BigTwoBot,
  type ConnectFourBot,
  type GetPoint,
  type Point,
  type RequestPlay,
} from 'bot-arena';

class Leftmost implements ConnectFourBot {
  getPoint(ask: GetPoint): Point {
    const [first] = ask.points();
    if (!first) throw new Error('the board is full');
    return first;
  }
}

class Lowest implements BigTwoBot {
  #hand: readonly Card[] = [];

  getDeal(cards: readonly Card[]): void {
    this.#hand = cards;
  }

  getPlay(): void {}

  async requestPlay(ask: RequestPlay): Promise<Card[] | null> {
    return ask.toBeat ? null : this.#hand.slice(0, 1);
  }
}

void new Bot('author', '1.0', { maxGames: 2 })
  .connectFour(Leftmost)
  .connectFour(() => ({ getPoint: (ask) => ask.landing(0) ?? { x: 0, y: ask.n } }))
  .bigTwo((start) => (start.seat === 0 ? new Lowest() : new Lowest()))
  // @ts-expect-error: a text is no square.
  .othello(() => ({ requestMove: () => 'd3' }))
  // @ts-expect-error: a class that lacks a callback.
  .mahjong(Leftmost)
  .main();
