import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choose } from './bot.js';

test('the middle comes first', () => {
  const points = [{ x: 8, y: 0 }, { x: 7, y: 4 }, { x: 8, y: 8 }];
  assert.deepEqual(choose(points, 9), { x: 7, y: 4 });
});
