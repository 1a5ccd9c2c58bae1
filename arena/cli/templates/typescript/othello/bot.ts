// {{name}}: a bot for Othello.
import { Bot, squareText, type OthelloBot, type RequestMove, type Square } from 'bot-arena';

const OPPONENT = 1;
const OWN = 2;

// How many discs a move there turns; 0 where it is not legal.
function turned(board: Uint8Array, { row, column }: Square): number {
  const at = (row: number, column: number): number | undefined =>
    row >= 0 && row < 8 && column >= 0 && column < 8 ? board[8 * row + column] : 0;
  if (at(row, column) !== 0) return 0;
  let count = 0;
  for (const down of [-1, 0, 1]) {
    for (const right of [-1, 0, 1]) {
      let steps = 1;
      while (at(row + steps * down, column + steps * right) === OPPONENT) steps += 1;
      if (at(row + steps * down, column + steps * right) === OWN) count += steps - 1;
    }
  }
  return count;
}

// A legal move. Your idea goes here: this takes one that turns the most discs.
export function choose(board: Uint8Array): Square {
  const squares = [...board.keys()].map((at) => ({ row: Math.floor(at / 8), column: at % 8 }));
  return squares.reduce((best, next) => (turned(board, next) > turned(board, best) ? next : best));
}

// One object for each game.
class MyBot implements OthelloBot {
  requestMove(ask: RequestMove): Square {
    const square = choose(ask.board);
    console.log('I play', squareText(square)); // goes into the bot's log
    return square;
  }
}

export const bot = (): Bot => new Bot('{{name}}', '1').othello(MyBot);
