// A bot for the tests of processes: it says what happens, and thinks for ever on a board of one
// column.
import { Bot } from 'bot-arena';

await new Bot('process', '1', { maxGames: 2 })
  .connectFour(({ gameId }) => {
    console.log(`game ${gameId} begins`);
    return {
      getPoint(ask) {
        if (ask.n > 1) return ask.points()[0];
        console.log('thinking for ever');
        return new Promise(() => setInterval(() => {}, 1000));
      },
      gameOver: ({ reason }) => console.log(`over: ${reason}`),
    };
  })
  .main();
console.log('after main');
