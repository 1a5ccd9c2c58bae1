import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tile } from 'bot-arena';
import { choose } from './bot.js';

test('a tile alone is discarded', () => {
  const hand = [Tile.C1, Tile.C2, Tile.C3, Tile.B5, Tile.D7, Tile.D7];
  assert.equal(choose(hand), Tile.B5);
});
