import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choose } from './bot.js';

test('three discs are more than one', () => {
  const board = new Uint8Array(64);
  board[0] = 2;
  for (const index of [1, 2, 3, 8]) board[index] = 1;
  assert.deepEqual(choose(board), { row: 0, column: 4 });
});
