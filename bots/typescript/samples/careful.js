// Connect Four: wins where it can, denies a win where it must, and else stays near the centre
// without giving a win away. It remembers nothing, so it plays the same in every language.
import { Bot } from 'bot-arena';

const THEIRS = 1;
const MINE = 2;
const LINES = [
  [0, 1],
  [1, 0],
  [1, 1],
  [1, -1],
];

class Careful {
  getPoint(ask) {
    const points = ask.points();
    for (const side of [MINE, THEIRS]) {
      const found = points.find((point) => makesFour(ask, point, side));
      if (found) return found;
    }
    const safe = points.filter((point) => !helps(ask, point));
    const off = ({ y }) => Math.abs(2 * y - (ask.n - 1));
    // The leftmost of those that are nearest to the centre.
    return (safe.length > 0 ? safe : points).reduce((best, point) =>
      off(point) < off(best) ? point : best,
    );
  }
}

// Whether this side's stone there would make a line of four or more. The forbidden cell is empty
// on the board, so it breaks lines.
function makesFour(ask, point, side) {
  const run = (dx, dy) => {
    let [x, y, length] = [point.x + dx, point.y + dy, 0];
    while (x >= 0 && x < ask.m && y >= 0 && y < ask.n && ask.cell(x, y) === side) {
      [x, y, length] = [x + dx, y + dy, length + 1];
    }
    return length;
  };
  return LINES.some(([dx, dy]) => 1 + run(dx, dy) + run(-dx, -dy) >= 4);
}

// Whether the opponent could win on top of a stone there.
function helps(ask, { x, y }) {
  const isForbidden = ask.forbidden?.x === x - 1 && ask.forbidden.y === y;
  const above = { x: isForbidden ? x - 2 : x - 1, y };
  return above.x >= 0 && makesFour(ask, above, THEIRS);
}

await new Bot('careful', '1.0', { maxGames: 16, canResume: true }).connectFour(Careful).main();
