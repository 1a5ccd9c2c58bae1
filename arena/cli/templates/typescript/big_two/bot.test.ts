import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Card } from 'bot-arena';
import { choose } from './bot.js';

test('the lowest card that beats is played', () => {
  const hand = [Card.S2, Card.H9, Card.C5];
  assert.deepEqual(choose(hand, [Card.D7], false), [Card.H9]);
});
