// {{name}}: a bot for Connect Four.
import { Bot, type ConnectFourBot, type GetPoint, type Point } from 'bot-arena';

// One of the points that can be played. Your idea goes here: this takes the one nearest to the
// middle.
export function choose(points: Point[], columns: number): Point {
  const fromMiddle = ({ y }: Point): number => Math.abs(2 * y - (columns - 1));
  return points.reduce((best, point) => (fromMiddle(point) < fromMiddle(best) ? point : best));
}

// One object for each game.
class MyBot implements ConnectFourBot {
  getPoint(ask: GetPoint): Point {
    // `ask` has the whole position, as in ask.cell(x, y), and the time limit.
    const point = choose(ask.points(), ask.n);
    console.log('I play', point); // goes into the bot's log
    return point;
  }
}

export const bot = (): Bot => new Bot('{{name}}', '1').connectFour(MyBot);
