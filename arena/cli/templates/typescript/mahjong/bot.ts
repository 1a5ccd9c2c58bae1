// {{name}}: a bot for Mahjong.
import { Bot, tileText, type MahjongBot, type RequestDiscard, type Tile } from 'bot-arena';

// The tile to discard. Your idea goes here: this takes the one with the fewest neighbours in the
// hand. A tile is the number 10 * suit + rank.
export function choose(hand: Tile[]): Tile {
  const neighbours = (tile: Tile): number =>
    hand.filter((other) => Math.abs(tile - other) <= 1).length;
  return hand.reduce((best, tile) => (neighbours(tile) < neighbours(best) ? tile : best));
}

// One object for each game.
class MyBot implements MahjongBot {
  private readonly hand: Tile[] = [];

  getDraw(tile: Tile): void {
    this.hand.push(tile);
  }

  requestDiscard(_ask: RequestDiscard): Tile {
    const tile = choose(this.hand);
    this.hand.splice(this.hand.indexOf(tile), 1);
    console.log('I discard', tileText(tile)); // goes into the bot's log
    return tile;
  }

  getOppDiscard(_tile: Tile): void {}

  requestWin(): boolean {
    return true;
  }
}

export const bot = (): Bot => new Bot('{{name}}', '1').mahjong(MyBot);
