// Plays all four games at random, without a kit; docs/protocol.md explains each step.
//
//     npm ci
//     arena match othello --bot 'me=exec:node random.js ../../proto' --bot house:random
//
// Its argument is the folder of the .proto files; an image has them beside this file.
// What it draws follows from the game's bot_seed, so it repeats itself, also where it is
// resumed mid-game.
'use strict';

const fs = require('fs');
const path = require('path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');
const { ReflectionService } = require('@grpc/reflection');
const { HealthImplementation } = require('grpc-health-check');

const MAX_GAMES = 16;
// What running games have after SIGTERM.
const GRACE_MS = 5000;

const THEIRS = 1;
const MINE = 2;
const WIN = 1;
const JOKER_RANK = 13;
const THREE_OF_CLUBS = 1;

const proto = process.argv[2] || path.join(__dirname, 'proto');
if (!fs.existsSync(path.join(proto, 'arena'))) {
  console.error(`no .proto files in ${proto}: expected the folder proto/ of the repository as argument`);
  process.exit(1);
}

const GAMES = [
  { name: 'connect_four', service: 'ConnectFourBot', seat: connectFour },
  { name: 'mahjong', service: 'MahjongBot', seat: mahjong },
  { name: 'big_two', service: 'BigTwoBot', seat: bigTwo },
  { name: 'othello', service: 'OthelloBot', seat: othello },
];

const definition = protoLoader.loadSync(
  GAMES.map(({ name }) => `games/${name}/v1/${name}.proto`),
  {
    includeDirs: [proto],
    keepCase: true, // Fields keep their names: get_point, not getPoint.
    defaults: true, // A zero that is not sent is 0, not undefined.
    oneofs: true, // call.call is the name of the field that is set.
    longs: String, // bot_seed has 64 bits, a number of JavaScript 53.
  },
);
const { games } = grpc.loadPackageDefinition(definition);

// Draws from a list, by the generator splitmix64.
function dice(seed) {
  let state = BigInt(seed);
  const next = () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let mixed = state;
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return mixed ^ (mixed >> 31n);
  };
  return (list) => list[Number(next() % BigInt(list.length))];
}

// A seat of a game is an object with a function for each call that matters to it. It is
// handed what the call says and, where the question was answered before, that answer.
// What it returns is the answer.

function connectFour(pick) {
  return {
    get_point: ({ top }) => {
      const columns = [...top.keys()].filter((y) => top[y] > 0);
      const y = pick(columns);
      return { point: { x: top[y] - 1, y } };
    },
  };
}

function mahjong(pick) {
  const hand = [];
  return {
    get_draw: ({ tiles }) => void hand.push(...tiles),
    request_discard: (_, past) => {
      const drawn = pick(hand);
      const discard = past ? past.discard : drawn;
      hand.splice(hand.indexOf(discard), 1);
      return { discard };
    },
    request_win: () => ({ win: WIN }),
  };
}

function bigTwo(pick, start) {
  let hand = [...start.get_deal.cards].sort((a, b) => a - b);
  return {
    // It is told of its own plays too, also when it is resumed.
    get_play: ({ seat, play }) => {
      if (seat === start.start.seat && play) hand = hand.filter((card) => !play.cards.includes(card));
    },
    request_play: (ask) => {
      const cards = pick(plays(hand, ask));
      return cards ? { play: { cards } } : { pass: {} };
    },
  };
}

// Legal plays of Big Two: some cards of one rank, without jokers that stand in for other
// cards and without straight flushes; a pass is null.
function plays(hand, ask) {
  const rank = (card) => Math.floor((card - 1) / 4);
  const key = (card) => (ask.reversed && rank(card) !== JOKER_RANK ? 12 - rank(card) : rank(card));
  let counts = [1, 2, 3, 4];
  let least = 0;
  if (ask.to_beat) {
    const { cards } = ask.to_beat;
    const naturals = cards.filter((card) => rank(card) !== JOKER_RANK);
    const straightFlush = new Set(naturals.map(rank)).size > 1;
    counts = straightFlush ? [] : [cards.length];
    least = key(naturals.length ? naturals[0] : cards[0]) + 1;
  }
  const found = [];
  hand.forEach((first, at) => {
    const alike = hand.slice(at).filter((card) => rank(card) === rank(first));
    const most = rank(first) === JOKER_RANK ? 1 : alike.length;
    for (const count of counts) {
      if (count <= most && key(first) >= least) found.push(alike.slice(0, count));
    }
  });
  if (ask.must_include_three_of_clubs) return found.filter((cards) => cards.includes(THREE_OF_CLUBS));
  return ask.to_beat ? [...found, null] : found;
}

function othello(pick) {
  return {
    request_move: ({ board }) => {
      const squares = [...board.keys()].filter((at) => turns(board, Math.floor(at / 8), at % 8));
      const at = pick(squares);
      return { square: { row: Math.floor(at / 8), column: at % 8 } };
    },
  };
}

// Whether a disc of one's own there encloses some of the opponent's.
function turns(board, row, column) {
  const cell = (r, c) => (r < 0 || r > 7 || c < 0 || c > 7 ? 0 : board[8 * r + c]);
  if (cell(row, column) !== 0) return false;
  for (const down of [-1, 0, 1]) {
    for (const right of [-1, 0, 1]) {
      if (down === 0 && right === 0) continue;
      let steps = 1;
      while (cell(row + steps * down, column + steps * right) === THEIRS) steps += 1;
      if (steps > 1 && cell(row + steps * down, column + steps * right) === MINE) return true;
    }
  }
  return false;
}

// One stream is one seat in one game: what belongs to the game is in `seat`.
function play(newSeat, stream) {
  let seat = {};
  stream.on('data', (call) => {
    try {
      const past = call.past_answer;
      let answer;
      if (call.call === 'start') {
        seat = newSeat(dice(call.start.bot_seed), call);
        answer = { ready: { bot: 'random', version: '1.0', max_games: MAX_GAMES, can_resume: true } };
      } else {
        const callback = seat[call.call];
        answer = callback && callback(call[call.call], past);
      }
      // A notice has no number; what was answered on an earlier stream is not answered again.
      if (answer && call._number !== undefined && !past) stream.write({ number: call.number, ...answer });
    } catch (error) {
      console.error(error);
      const details = `exception in ${call.call}: ${error}`;
      stream.emit('error', { code: grpc.status.UNKNOWN, details });
    }
  });
  // The referee has closed its side: close ours, with status OK.
  stream.on('end', () => stream.end());
  // The game was cut off: nothing to do, but without a listener it would end the process.
  stream.on('error', () => {});
}

const server = new grpc.Server();
const healthy = { '': 'SERVING' };
for (const { name, service, seat } of GAMES) {
  const { service: methods } = games[name].v1[service];
  server.addService(methods, { Play: (stream) => play(seat, stream) });
  healthy[`games.${name}.v1.${service}`] = 'SERVING';
}
const health = new HealthImplementation(healthy);
health.addToServer(server);
new ReflectionService(definition).addToServer(server);

const listen = process.env.BOT_LISTEN || 'tcp:127.0.0.1:50051';
if (!/^(unix|tcp):/.test(listen)) {
  console.error(`BOT_LISTEN is "${listen}": expected unix:PATH or tcp:HOST:PORT`);
  process.exit(1);
}
// gRPC writes "unix:PATH" and "HOST:PORT", and says which port it chose for port 0.
const target = listen.replace(/^tcp:/, '');
server.bindAsync(target, grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) {
    console.error(`could not listen on ${listen}: ${error.message}`);
    process.exit(1);
  }
  const shown = listen.startsWith('unix:') ? listen : listen.replace(/:[0-9]+$/, `:${port}`);
  console.log(`listening on ${shown}`);
});

function stop() {
  // No new games; those that run have five seconds more. Whoever watches health would
  // keep the server open, so it is told.
  for (const name of Object.keys(healthy)) health.setStatus(name, 'NOT_SERVING');
  server.tryShutdown(() => process.exit(0));
  setTimeout(() => process.exit(0), GRACE_MS).unref();
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
