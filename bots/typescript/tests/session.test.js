// What a bot says on its stream, and which callbacks are called.
import { create } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { Bot, Card, Ending, FoulKind, Scoring, Tile } from 'bot-arena';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import * as envelope from '../dist/gen/arena/v1/envelope_pb.js';
import {
  GAMES,
  Stream,
  bigTwo,
  connectFour,
  event,
  getPoint,
  mahjong,
  othello,
  serving,
} from './harness.js';

const LIMIT = { seconds: 1n, nanos: 500_000_000 };

class Leftmost {
  getPoint(ask) {
    return ask.points()[0];
  }
}

// A bot for Connect Four that answers by this function.
const answering = (getPoint) => new Bot('mine', '1').connectFour(() => ({ getPoint }));

// A stream on which this bot has been asked for a point.
async function asked(t, bot, fields = {}) {
  const stream = new Stream(await serving(t, bot));
  await stream.ready();
  stream.ask('getPoint', getPoint(), { number: 1, ...fields });
  return stream;
}

// What is written to standard error until the test is over.
function standardError(t) {
  let text = '';
  t.mock.method(process.stderr, 'write', (part) => {
    text += part;
    return true;
  });
  return () => text;
}

test('question 0 is answered by what the bot says of itself', async (t) => {
  const bot = new Bot('left', '1.5', { maxGames: 3, canResume: true }).connectFour(Leftmost);
  const stream = new Stream(await serving(t, bot));
  stream.start();
  const { number, answer } = await stream.answer();
  assert.equal(number, 0);
  const { bot: name, version, maxGames, canResume } = answer.value;
  assert.deepEqual([name, version, maxGames, canResume], ['left', '1.5', 3, true]);
  assert.deepEqual(await stream.close(), []);
});

test('one game at once, and it can not be resumed unless it says so', async (t) => {
  const stream = new Stream(await serving(t, new Bot('left', '1').connectFour(Leftmost)));
  const ready = await stream.ready();
  assert.equal(ready.maxGames, 1);
  assert.equal(ready.canResume, false);
});

test("an answer repeats its question's number, and a zero is present", async (t) => {
  const bot = answering(() => ({ x: 0, y: 0 }));
  const stream = new Stream(await serving(t, bot));
  await stream.ready();
  for (const number of [7, 0, 4_000_000_000]) {
    stream.ask('getPoint', getPoint(), { number });
    const answer = await stream.answer();
    assert.equal(answer.number, number);
    assert.equal(answer.answer.case, 'point');
    assert.deepEqual([answer.answer.value.x, answer.answer.value.y], [0, 0]);
  }
  assert.deepEqual(await stream.close(), []);
});

test('a game gets its start and its end', async (t) => {
  const told = [];
  class Listening extends Leftmost {
    constructor(start) {
      super();
      told.push(start);
    }
    gameOver(over) {
      told.push(over);
    }
  }
  const stream = new Stream(await serving(t, new Bot('left', '1').connectFour(Listening)));
  const start = {
    gameId: 'g1',
    game: 'connect_four',
    seat: 1,
    seats: 2,
    moveLimit: LIMIT,
    botSeed: 2n ** 64n - 1n,
    rulesVersion: 3,
    behaviorVersion: 4,
  };
  await stream.ready({}, start);
  const results = [
    { place: 1, score: 1n },
    { place: 2, score: -1n, foul: envelope.FoulKind.LATE },
    { place: 2, score: -1n, foul: 99 },
  ];
  stream.ask('over', { results, ending: 99, reason: 'too late' });
  assert.deepEqual(await stream.close(), []);
  const { moveLimit, ...others } = start;
  assert.deepEqual(told, [
    { ...others, moveLimitMs: 1500, budgetMs: null },
    {
      results: [
        { place: 1, score: 1, foul: null },
        { place: 2, score: -1, foul: FoulKind.Late },
        { place: 2, score: -1, foul: FoulKind.Unknown },
      ],
      ending: Ending.Unknown,
      reason: 'too late',
    },
  ]);
});

test('every value of an enum of the protocol has a name', () => {
  const names = (of) => Object.entries(of).filter(([, value]) => typeof value === 'number');
  for (const [ours, theirs] of [
    [FoulKind, envelope.FoulKind],
    [Ending, envelope.Ending],
    [Scoring, bigTwo.Scoring],
  ]) {
    const words = names(theirs).map(([name, value]) => [
      name.replaceAll('_', '').toLowerCase(),
      value,
    ]);
    words[0][0] = 'unknown';
    assert.deepEqual(
      names(ours).map(([name, value]) => [name.toLowerCase(), value]),
      words,
    );
  }
  for (const [ours, theirs] of [
    [Tile, mahjong.Tile],
    [Card, bigTwo.Card],
  ]) {
    const values = (of) => names(of).map(([, value]) => value);
    assert.deepEqual([0, ...values(ours)], values(theirs));
  }
});

test('every game has an object of its own', async (t) => {
  class Counting {
    asked = 0;
    getPoint() {
      this.asked += 1;
      return { x: this.asked, y: 0 };
    }
  }
  const client = await serving(t, new Bot('count', '1', { maxGames: 2 }).connectFour(Counting));
  const streams = [new Stream(client), new Stream(client)];
  for (const stream of streams) await stream.ready();
  for (const number of [1, 2]) {
    for (const stream of streams) {
      stream.ask('getPoint', getPoint(), { number });
      assert.equal((await stream.answer()).answer.value.x, number);
    }
  }
});

test('a class or a function of any kind makes the object', async (t) => {
  const object = { getPoint: (ask) => ask.points()[0] };
  const makers = [
    Leftmost,
    () => object,
    async () => object,
    function () {
      return object;
    },
  ];
  for (const make of makers) {
    const stream = await asked(t, new Bot('left', '1').connectFour(make));
    assert.equal((await stream.answer()).answer.value.x, 3, String(make));
  }
});

test('a point is asked for with all that the game says', async (t) => {
  const told = [];
  const bot = new Bot('listen', '1').connectFour(() => ({
    getPoint(ask) {
      told.push(ask);
      assert.equal(ask.landing(0), null);
      assert.deepEqual(ask.landing(1), { x: 0, y: 1 });
      assert.deepEqual(ask.points(), [
        { x: 0, y: 1 },
        { x: 1, y: 2 },
      ]);
      assert.equal(ask.cell(1, 0), 1);
      assert.throws(() => ask.cell(0, -1), RangeError);
      assert.throws(() => ask.landing(3), RangeError);
      // A copy of the author's, which shares no memory.
      ask.board.slice().fill(9);
      ask.top.fill(9);
      return { x: 1, y: 2 };
    },
    resumedPoint(ask, point) {
      told.push(ask);
      assert.deepEqual(point, { x: 0, y: 2 });
    },
  }));
  const stream = new Stream(await serving(t, bot));
  await stream.ready();
  const board = Uint8Array.of(2, 0, 0, 1, 0, 0);
  const message = {
    m: 2,
    n: 3,
    top: Uint8Array.of(0, 1, 2),
    board,
    lastX: 1,
    lastY: 0,
    noX: 1,
    noY: 1,
  };
  const pastAnswer = { answer: { case: 'point', value: { x: 0, y: 2 } } };
  stream.ask('getPoint', message, { number: 1, limit: LIMIT, pastAnswer });
  stream.ask('getPoint', message, { number: 2, limit: LIMIT });
  const { number, answer } = await stream.answer();
  assert.deepEqual([number, answer.value.x, answer.value.y], [2, 1, 2]);
  assert.deepEqual(await stream.close(), []);
  assert.equal(told.length, 2);
  for (const ask of told) {
    assert.deepEqual([ask.m, ask.n, ask.limitMs], [2, 3, 1500]);
    assert.deepEqual(ask.board, board);
    assert.deepEqual(
      [ask.last, ask.forbidden],
      [
        { x: 1, y: 0 },
        { x: 1, y: 1 },
      ],
    );
  }
});

test('mahjong by its callbacks', async (t) => {
  const told = [];
  const tell =
    (name) =>
    (...args) =>
      void told.push([name, ...args.map(plain)]);
  const bot = new Bot('listen', '1').mahjong(() => ({
    getRound: tell('round'),
    getDraw: tell('draw'),
    getOppDiscard: tell('opponent'),
    requestDiscard: (ask) => (tell('discard')(ask), Tile.D9),
    requestWin: (ask) => (tell('win')(ask), ask.isSelfDraw),
    resumedDiscard: tell('resumed discard'),
    resumedWin: tell('resumed win'),
    gameOver: tell('over'),
  }));
  const stream = new Stream(await serving(t, bot), GAMES.mahjong);
  await stream.ready({ round: { missingSuitRequired: true, wall: 82 } });
  const past = (kind, value) => ({ answer: { case: kind, value } });
  const win = { winningTile: Tile.C2, isSelfDraw: true };
  stream.ask('getDraw', { tiles: [Tile.C1, Tile.B7] });
  stream.ask('requestDiscard', {}, { number: 1, pastAnswer: past('discard', Tile.B7) });
  stream.ask('getOppDiscard', { tile: Tile.D1 });
  stream.ask('requestWin', win, { number: 2, pastAnswer: past('win', mahjong.Claim.PASS) });
  stream.ask('forfeit', { seat: 1 });
  stream.ask('requestDiscard', {}, { number: 3, limit: LIMIT });
  const discarded = await stream.answer();
  assert.deepEqual(
    [discarded.number, discarded.answer.case, discarded.answer.value],
    [3, 'discard', 29],
  );
  stream.ask('requestWin', win, { number: 4, limit: LIMIT });
  assert.equal((await stream.answer()).answer.value, mahjong.Claim.WIN);
  stream.ask('requestWin', { ...win, isSelfDraw: false }, { number: 5 });
  assert.equal((await stream.answer()).answer.value, mahjong.Claim.PASS);
  stream.ask('over', { ending: 1, reason: 'won' });
  assert.deepEqual(await stream.close(), []);
  assert.deepEqual(told, [
    ['round', { missingSuitRequired: true, wall: 82 }],
    ['draw', Tile.C1],
    ['draw', Tile.B7],
    ['resumed discard', { limitMs: 0 }, Tile.B7],
    ['opponent', Tile.D1],
    ['resumed win', { tile: Tile.C2, isSelfDraw: true, limitMs: 0 }, false],
    ['discard', { limitMs: 1500 }],
    ['win', { tile: Tile.C2, isSelfDraw: true, limitMs: 1500 }],
    ['win', { tile: Tile.C2, isSelfDraw: false, limitMs: 0 }],
    ['over', { results: [], ending: Ending.Played, reason: 'won' }],
  ]);
});

// A question without its signal.
function plain(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { signal, ...others } = value;
  return others;
}

test('big two by its callbacks', async (t) => {
  const told = [];
  const tell =
    (name) =>
    (...args) =>
      void told.push([name, ...args.map(plain)]);
  const answers = [[Card.C3, Card.D3], null, new Set([Card.Joker2])];
  const bot = new Bot('listen', '1').bigTwo(() => ({
    getTable: tell('table'),
    getDeal: (cards) => told.push(['deal', [...cards]]),
    getPlay: tell('play'),
    getForfeit: tell('forfeit'),
    requestPlay: (ask) => (tell('request')(ask), answers.shift()),
    resumedPlay: tell('resumed'),
  }));
  const stream = new Stream(await serving(t, bot), GAMES.bigTwo);
  const table = { scoring: 2, reversal: true, cardsLeft: [14, 13, 14, 13] };
  await stream.ready({ table, getDeal: { cards: [Card.C3, Card.Joker1] } });
  const left = { seat: 2, cardsLeft: 11, reversedAfter: true };
  // A newer referee may have cards that this kit does not know.
  stream.ask('getPlay', { ...left, move: { case: 'play', value: { cards: [Card.S2, 99] } } });
  stream.ask('getPlay', { ...left, move: { case: 'pass', value: {} }, place: 1 });
  stream.ask('forfeit', { seat: 3, place: 4 });
  const toBeat = { cards: [Card.H10] };
  for (const pastAnswer of [
    { answer: { case: 'play', value: { cards: [Card.CA] } } },
    { answer: { case: 'pass', value: {} } },
  ]) {
    stream.ask('requestPlay', { toBeat }, { number: 1, pastAnswer });
  }
  const found = [];
  for (const number of [1, 2, 3]) {
    stream.ask('requestPlay', { reversed: true, mustIncludeThreeOfClubs: true }, { number });
    const { answer } = await stream.answer();
    found.push([answer.case, answer.value.cards]);
  }
  assert.deepEqual(found, [
    ['play', [Card.C3, Card.D3]],
    ['pass', undefined],
    ['play', [Card.Joker2]],
  ]);
  assert.deepEqual(await stream.close(), []);
  const leads = { toBeat: null, reversed: true, mustIncludeThreeOfClubs: true, limitMs: 0 };
  const beats = { ...leads, toBeat: [Card.H10], reversed: false, mustIncludeThreeOfClubs: false };
  assert.deepEqual(told, [
    ['table', { ...table, scoring: Scoring.Payout }],
    ['deal', [Card.C3, Card.Joker1]],
    ['play', { ...left, cards: [Card.S2, 99], place: null }],
    ['play', { ...left, cards: null, place: 1 }],
    ['forfeit', 3, 4],
    ['resumed', beats, [Card.CA]],
    ['resumed', beats, null],
    ['request', leads],
    ['request', leads],
    ['request', leads],
  ]);
});

test('othello by its callbacks', async (t) => {
  const told = [];
  const tell =
    (name) =>
    (...args) =>
      void told.push([name, ...args.map(plain)]);
  const bot = new Bot('listen', '1').othello(() => ({
    getBeginning: tell('beginning'),
    requestMove: (ask) => (tell('request')(ask), { row: 0, column: 7 }),
    resumedMove: tell('resumed'),
  }));
  const board = new Uint8Array(64).fill(1);
  const stream = new Stream(await serving(t, bot), GAMES.othello);
  const previous = (kind, value) => ({ previous: { case: kind, value } });
  const sideToMove = othello.Side.WHITE;
  await stream.ready({ beginning: { board, sideToMove, previous: previous('none', {}) } });
  const pastAnswer = { answer: { case: 'square', value: { row: 2, column: 0 } } };
  const passed = { board, previous: previous('pass', {}) };
  stream.ask('requestMove', passed, { number: 1, limit: LIMIT, pastAnswer });
  const moved = { board, previous: previous('square', { row: 4, column: 5 }) };
  stream.ask('requestMove', moved, { number: 2, limit: LIMIT });
  const { answer } = await stream.answer();
  assert.deepEqual([answer.value.row, answer.value.column], [0, 7]);
  assert.deepEqual(await stream.close(), []);
  assert.deepEqual(told, [
    ['beginning', { board, turn: 1, previous: null }],
    ['resumed', { board, previous: 'pass', limitMs: 1500 }, { row: 2, column: 0 }],
    ['request', { board, previous: { row: 4, column: 5 }, limitMs: 1500 }],
  ]);
});

test('a start that was answered before is not answered again', async (t) => {
  const bot = new Bot('left', '1', { canResume: true }).connectFour(Leftmost);
  const stream = new Stream(await serving(t, bot));
  stream.start({ pastAnswer: { answer: { case: 'ready', value: { bot: 'left' } } } });
  stream.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await stream.answer()).number, 1);
});

test('calls that are not known are notices', async (t) => {
  const stream = new Stream(await serving(t, new Bot('left', '1').connectFour(Leftmost)));
  await stream.ready();
  // Field 99, which is in no version yet.
  stream.sendBytes(Uint8Array.of(0x9a, 0x06, 0x02, 0x08, 0x01));
  stream.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await stream.answer()).number, 1);
});

test('a callback is called when the promise of the one before is settled', async (t) => {
  const told = [];
  const bot = new Bot('slow', '1').mahjong(() => ({
    async getDraw(tile) {
      await delay(told.length === 0 ? 20 : 0);
      told.push(tile);
    },
    getOppDiscard() {},
    async requestDiscard() {
      return told[0];
    },
    requestWin: () => true,
  }));
  const stream = new Stream(await serving(t, bot), GAMES.mahjong);
  await stream.ready();
  stream.ask('getDraw', { tiles: [3, 1] });
  stream.ask('getDraw', { tiles: [2] });
  stream.ask('requestDiscard', {}, { number: 1 });
  assert.equal((await stream.answer()).answer.value, 3);
  assert.deepEqual(told, [3, 1, 2]);
});

test('the signal of a question is aborted at its limit', async (t) => {
  const began = Date.now();
  const bot = answering(
    (ask) =>
      new Promise((resolve) => {
        ask.signal.addEventListener('abort', () => {
          assert.equal(ask.signal.reason.name, 'TimeoutError');
          resolve(ask.points()[0]);
        });
      }),
  );
  const stream = await asked(t, bot, { limit: { nanos: 100_000_000 } });
  assert.equal((await stream.answer()).number, 1);
  assert.ok(Date.now() - began >= 99);
});

test('a limit of a year is no limit of a millisecond', async (t) => {
  const bot = answering(async (ask) => {
    await delay(20);
    assert.equal(ask.signal.aborted, false);
    return ask.points()[0];
  });
  const stream = await asked(t, bot, { limit: { seconds: 365n * 86_400n } });
  assert.equal((await stream.answer()).number, 1);
});

test('the signal of a question is aborted when the game is cut off, without a word', async (t) => {
  const words = standardError(t);
  const [entered, left] = [event(), event()];
  const bot = answering(async (ask) => {
    entered.happen();
    try {
      await delay(60_000, undefined, { signal: ask.signal });
    } finally {
      left.happen();
    }
  });
  const stream = await asked(t, bot, { limit: { seconds: 60n } });
  await entered.happened;
  stream.cancel();
  await left.happened;
  assert.equal(words(), '');
});

test('what a callback throws ends its game, with the line of the author first', async (t) => {
  const words = standardError(t);
  const fails = () => JSON.parse('{');
  const client = await serving(
    t,
    new Bot('mine', '1', { maxGames: 2 }).connectFour(() => ({
      getPoint: (ask) => (ask.last ? fails() : ask.points()[0]),
    })),
  );
  const [stream, other] = [new Stream(client), new Stream(client)];
  await stream.ready();
  await other.ready();
  stream.ask('getPoint', getPoint({ lastX: 3, lastY: 3 }), { number: 1 });
  const [code, said] = await stream.status();
  assert.equal(code, status.INTERNAL);
  assert.match(said, /^session\.test\.js:\d+: exception in getPoint: SyntaxError: /);
  // The stack is on standard error, without frames of Node and of the kit.
  assert.match(words(), /^SyntaxError: .*\n {4}at .*session\.test\.js/s);
  assert.doesNotMatch(words(), /dist\/|node:/);
  // No other game ends.
  other.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await other.answer()).number, 1);
});

test('a promise that is rejected and anything else that is thrown end the game too', async (t) => {
  standardError(t);
  const cyclic = {};
  cyclic.self = cyclic;
  const unshown = new Error('hidden');
  unshown.toString = () => {
    throw unshown;
  };
  for (const [thrown, expected] of [
    [
      new RangeError('too far'),
      /^session\.test\.js:\d+: exception in getPoint: RangeError: too far$/,
    ],
    ['a text', /^exception in getPoint: 'a text'$/],
    [undefined, /^exception in getPoint: undefined$/],
    [cyclic, /^exception in getPoint: <ref \*1> \{ self: \[Circular \*1\] \}$/],
    [unshown, /exception in getPoint: an error that can not be shown$/],
    [new Error('\ud800 half'), /exception in getPoint: Error: \ufffd half$/],
    [new Error('long '.repeat(1000)), /^.{500}$/],
  ]) {
    for (const bot of [
      answering(() => {
        throw thrown;
      }),
      answering(() => Promise.reject(thrown)),
    ]) {
      const stream = await asked(t, bot);
      const [code, said] = await stream.status();
      assert.equal(code, status.INTERNAL);
      assert.match(said, expected);
    }
  }
});

test('what a constructor throws ends its game', async (t) => {
  standardError(t);
  class Failing {
    constructor() {
      throw new Error('no weights.bin');
    }
  }
  const stream = new Stream(await serving(t, new Bot('mine', '1').connectFour(Failing)));
  stream.start();
  const [code, said] = await stream.status();
  assert.equal(code, status.INTERNAL);
  assert.match(
    said,
    /^session\.test\.js:\d+: exception in the constructor: Error: no weights\.bin$/,
  );
});

test('an object that is not a bot is told what it lacks', async (t) => {
  standardError(t);
  class Mine {
    get_point() {}
  }
  for (const [make, expected] of [
    [Mine, 'exception in the constructor: TypeError: Mine lacks getPoint'],
    [
      () => 3,
      'the constructor returned 3: expected an object with the callbacks of a ConnectFourBot',
    ],
  ]) {
    const stream = new Stream(await serving(t, new Bot('mine', '1').connectFour(make)));
    stream.start();
    assert.deepEqual(await stream.status(), [status.INTERNAL, expected]);
  }
});

const ENDLESS = {
  *[Symbol.iterator]() {
    for (;;) yield Card.C3;
  },
};
const POINT = 'a point { x, y }: row and column';
const SQUARE = 'a square { row, column }, both of 0 to 7';
const CARDS = 'an array of Cards, each once, or null to pass';
const WRONG = [
  ['connectFour', 'getPoint', undefined, 'undefined', POINT],
  ['connectFour', 'getPoint', 3, '3', POINT],
  ['connectFour', 'getPoint', { x: 1 }, '{ x: 1 }', POINT],
  ['connectFour', 'getPoint', { x: 1, y: 0.5 }, '{ x: 1, y: 0.5 }', POINT],
  ['connectFour', 'getPoint', { x: '1', y: '2' }, "{ x: '1', y: '2' }", POINT],
  ['connectFour', 'getPoint', { x: 2 ** 40, y: 0 }, '{ x: 1099511627776, y: 0 }', POINT],
  ['mahjong', 'requestDiscard', 0, '0', 'a Tile of the hand'],
  ['mahjong', 'requestDiscard', 10, '10', 'a Tile of the hand'],
  ['mahjong', 'requestDiscard', 'C1', "'C1'", 'a Tile of the hand'],
  ['mahjong', 'requestDiscard', undefined, 'undefined', 'a Tile of the hand'],
  ['mahjong', 'requestWin', undefined, 'undefined', 'true or false'],
  ['mahjong', 'requestWin', 1, '1', 'true or false'],
  ['bigTwo', 'requestPlay', undefined, 'undefined', CARDS],
  ['bigTwo', 'requestPlay', [], '[]', CARDS],
  ['bigTwo', 'requestPlay', [0], '[ 0 ]', CARDS],
  ['bigTwo', 'requestPlay', [55], '[ 55 ]', CARDS],
  ['bigTwo', 'requestPlay', [1, 2, 1], '[ 1, 2, 1 ]', CARDS],
  ['bigTwo', 'requestPlay', 'C3', "'C3'", CARDS],
  ['bigTwo', 'requestPlay', 3, '3', CARDS],
  [
    'bigTwo',
    'requestPlay',
    ENDLESS,
    '{ [Symbol(Symbol.iterator)]: [GeneratorFunction: [Symbol.iterator]] }',
    CARDS,
  ],
  ['othello', 'requestMove', undefined, 'undefined', SQUARE],
  ['othello', 'requestMove', 'd3', "'d3'", SQUARE],
  ['othello', 'requestMove', { row: 8, column: 0 }, '{ row: 8, column: 0 }', SQUARE],
  ['othello', 'requestMove', { row: 0, column: -1 }, '{ row: 0, column: -1 }', SQUARE],
];
const ASKED = {
  getPoint: getPoint(),
  requestDiscard: {},
  requestWin: { winningTile: 1 },
  requestPlay: {},
  requestMove: { board: new Uint8Array(64) },
};
const NOTICES = { getDraw() {}, getOppDiscard() {}, getDeal() {}, getPlay() {} };
const QUESTIONS = { requestDiscard() {}, requestWin() {}, requestPlay() {} };

test('a wrong answer is told what was expected', async (t) => {
  const words = standardError(t);
  for (const [game, callback, value, shown, expected] of WRONG) {
    const object = { ...NOTICES, ...QUESTIONS, [callback]: () => value };
    const client = await serving(
      t,
      new Bot('wrong', '1')[game](() => object),
    );
    const stream = new Stream(client, GAMES[game]);
    await stream.ready();
    stream.ask(callback, ASKED[callback], { number: 1 });
    const said = `${callback} returned ${shown}: expected ${expected}`;
    assert.deepEqual(await stream.status(), [status.INTERNAL, said]);
  }
  assert.equal(words(), '');
});

test('a point outside of the board is for the referee to judge', async (t) => {
  const stream = await asked(
    t,
    answering(() => ({ x: -1, y: 9, why: 'lost' })),
  );
  const { value } = (await stream.answer()).answer;
  assert.deepEqual([value.x, value.y], [-1, 9]);
});

test('a stream that begins wrong is refused', async (t) => {
  const client = await serving(t, new Bot('left', '1').connectFour(Leftmost));
  for (const [begin, code, said] of [
    [
      (stream) => stream.sendBytes(Uint8Array.of(0xff)),
      status.INVALID_ARGUMENT,
      /^not a call of this game: /,
    ],
    [
      (stream) => stream.ask('start', {}),
      status.INVALID_ARGUMENT,
      /: a question without a number$/,
    ],
    [
      (stream) => stream.ask('getPoint', getPoint(), { number: 0 }),
      status.FAILED_PRECONDITION,
      /^the game has not begun$/,
    ],
    [
      (stream) => {
        stream.start({ pastAnswer: {} });
        stream.ask('getPoint', getPoint({ board: new Uint8Array(3) }), { number: 1 });
      },
      status.INVALID_ARGUMENT,
      /^not a call of this game: 3 cells on a board of 4 rows, 5 columns$/,
    ],
  ]) {
    const stream = new Stream(client);
    begin(stream);
    const [came, words] = await stream.status();
    assert.equal(came, code);
    assert.match(words, said);
  }
});

test('a game that is cut off gives its place to the next, also where its callback never ends', async (t) => {
  const entered = event();
  let games = 0;
  const bot = answering((ask) => {
    games += 1;
    entered.happen();
    return games === 1 ? new Promise(() => {}) : ask.points()[0];
  });
  const client = await serving(t, bot);
  const first = new Stream(client);
  await first.ready();
  first.ask('getPoint', getPoint(), { number: 1 });
  await entered.happened;
  first.cancel();
  const second = new Stream(client);
  await second.ready();
  second.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await second.answer()).number, 1);
});

test('more games than maxGames are refused in words', async (t) => {
  const bot = new Bot('hold', '1', { maxGames: 2 }).connectFour(Leftmost);
  const client = await serving(t, bot);
  const streams = [new Stream(client), new Stream(client)];
  for (const stream of streams) await stream.ready();
  const more = [new Stream(client), new Stream(client)];
  for (const stream of more) stream.start();
  for (const stream of more) {
    const words = 'max_games is 2, and as many games are running';
    assert.deepEqual(await stream.status(), [status.RESOURCE_EXHAUSTED, words]);
  }
  for (const stream of streams) assert.deepEqual(await stream.close(), []);
});

test('a new game waits for one that ends', async (t) => {
  const client = await serving(t, new Bot('left', '1').connectFour(Leftmost));
  for (let game = 0; game < 20; game += 1) {
    const stream = new Stream(client);
    await stream.ready();
    const following = new Stream(client);
    following.start();
    assert.deepEqual(await stream.close(), []);
    await following.answer();
    assert.deepEqual(await following.close(), []);
  }
});

test('a game that waits is not refused because the event loop stood still', async (t) => {
  const bot = answering((ask) => {
    const until = performance.now() + 1500;
    while (performance.now() < until);
    return ask.points()[0];
  });
  const client = await serving(t, bot);
  const stream = new Stream(client);
  await stream.ready();
  const following = new Stream(client);
  following.start();
  stream.ask('getPoint', getPoint(), { number: 1 });
  assert.equal((await stream.answer()).number, 1);
  assert.deepEqual(await stream.close(), []);
  assert.equal((await following.answer()).number, 0);
});

test('what a bot says of itself has its types', () => {
  for (const [args, type, words] of [
    [[undefined, '1'], TypeError, 'name is undefined: expected a string'],
    [['mine', 1], TypeError, 'version is 1: expected a string'],
    [['mine', '1', { maxGames: 1.5 }], TypeError, 'maxGames is 1.5: expected a whole number'],
    [['mine', '1', { maxGames: 0 }], RangeError, 'maxGames is 0: expected 1 or more'],
    [['mine', '1', { canResume: 'yes' }], TypeError, "canResume is 'yes': expected true or false"],
    [
      ['mine', '1', { max_games: 2 }],
      TypeError,
      'there is no option max_games: expected maxGames or canResume',
    ],
  ]) {
    assert.throws(() => new Bot(...args), { name: type.name, message: words });
  }
});

test('what makes no object is refused at once', async (t) => {
  const bot = new Bot('mine', '1');
  const message =
    '{} is no ConnectFourBot: expected a class, or a function that makes the object for one game';
  assert.throws(() => bot.connectFour({}), { name: 'TypeError', message });
  await serving(t, bot.connectFour(Leftmost));
});

test('messages of the tests are those of the protocol', () => {
  assert.equal(create(connectFour.GetPointSchema, getPoint()).lastX, -1);
});
