/**
 * Writing a bot: fill in the callbacks of a game, and one line that serves them.
 *
 *     import { Bot } from 'bot-arena';
 *
 *     class Leftmost {
 *       getPoint(ask) {
 *         return ask.points()[0];
 *       }
 *     }
 *
 *     await new Bot('leftmost', '1.0').connectFour(Leftmost).main();
 *
 * The package does the rest: the server, where to listen, Ready, health, reflection, one object
 * for each game, an orderly stop. What a callback throws loses the game that it happened in and
 * no other.
 */

export { Bot, type BotOptions, type Maker } from './bot.js';
export {
  Ending,
  FoulKind,
  type Awaitable,
  type GameBot,
  type GameOver,
  type GameStart,
  type Question,
  type SeatResult,
} from './game.js';
export { ListenError } from './address.js';
export { GetPoint, type ConnectFourBot, type Point } from './connect-four.js';
export {
  Tile,
  tileRank,
  tileSuit,
  tileText,
  type MahjongBot,
  type RequestDiscard,
  type RequestWin,
  type Round,
} from './mahjong.js';
export {
  Card,
  Scoring,
  cardRank,
  cardSuit,
  cardText,
  isJoker,
  type BigTwoBot,
  type GetPlay,
  type RequestPlay,
  type Table,
} from './big-two.js';
export {
  squareText,
  type Beginning,
  type OthelloBot,
  type RequestMove,
  type Square,
} from './othello.js';
