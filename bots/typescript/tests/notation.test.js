// Texts are in the notation of the arena (docs/notation.md).
import {
  Card,
  Tile,
  cardRank,
  cardSuit,
  cardText,
  isJoker,
  squareText,
  tileRank,
  tileSuit,
  tileText,
} from 'bot-arena';
import assert from 'node:assert/strict';
import { test } from 'node:test';

test('texts are in the notation of the arena', () => {
  const cards = [Card.C3, Card.H10, Card.SA, Card.Joker1, Card.Joker2];
  assert.deepEqual(cards.map(cardText), ['3C', '10H', 'AS', 'JK1', 'JK2']);
  assert.deepEqual([Tile.C1, Tile.B5, Tile.D9].map(tileText), ['1c', '5b', '9d']);
  assert.equal(squareText({ row: 4, column: 5 }), 'f5');
});

test('ranks and suits are numbers', () => {
  assert.deepEqual(
    [Tile.C1, Tile.B5, Tile.D9].map((tile) => [tileSuit(tile), tileRank(tile)]),
    [
      [0, 1],
      [1, 5],
      [2, 9],
    ],
  );
  const of = (card) => [cardRank(card), cardSuit(card), isJoker(card)];
  assert.deepEqual([Card.C3, Card.S2, Card.Joker2].map(of), [
    [0, 0, false],
    [12, 3, false],
    [13, null, true],
  ]);
});
