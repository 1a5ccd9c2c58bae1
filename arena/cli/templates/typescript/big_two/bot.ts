// {{name}}: a bot for Reversal Big Two.
import {
  Bot,
  cardRank,
  cardText,
  type BigTwoBot,
  type Card,
  type GetPlay,
  type RequestPlay,
} from 'bot-arena';

// What to play; nothing is a pass. Your idea goes here: this plays the lowest single card that it
// can, and passes where several cards are to be beaten or the order is reversed.
export function choose(hand: Card[], toBeat: readonly Card[], reversed: boolean): Card[] {
  const sorted = [...hand].sort((a, b) => a - b);
  // With the three of clubs, where that must be played.
  if (toBeat.length === 0) return sorted.slice(0, 1);
  if (toBeat.length > 1 || reversed) return [];
  return sorted.filter((card) => cardRank(card) > cardRank(toBeat[0]!)).slice(0, 1);
}

// One object for each game.
class MyBot implements BigTwoBot {
  private hand: Card[] = [];

  getDeal(cards: readonly Card[]): void {
    this.hand = [...cards];
  }

  getPlay(_play: GetPlay): void {}

  requestPlay(ask: RequestPlay): Card[] | null {
    const cards = choose(this.hand, ask.toBeat ?? [], ask.reversed);
    this.hand = this.hand.filter((card) => !cards.includes(card));
    console.log('I play', ...cards.map(cardText)); // goes into the bot's log
    return cards.length > 0 ? cards : null;
  }
}

export const bot = (): Bot => new Bot('{{name}}', '1').bigTwo(MyBot);
