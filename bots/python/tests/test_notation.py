"""Texts of moves are in the notation of the arena (docs/notation.md)."""

from bot_arena.big_two import Card
from bot_arena.connect_four import Point
from bot_arena.mahjong import Tile
from bot_arena.othello import Square


def test_texts_are_in_the_notation_of_the_arena() -> None:
    cards = [Card.C3, Card.H10, Card.SA, Card.JOKER_1, Card.JOKER_2]
    assert [str(card) for card in cards] == ["3C", "10H", "AS", "JK1", "JK2"]
    assert [str(tile) for tile in (Tile.C1, Tile.B5, Tile.D9)] == ["1c", "5b", "9d"]
    assert [str(square) for square in (Square(0, 0), Square(4, 5))] == ["a1", "f5"]
    assert str(Point(8, 3)) == "(8, 3)"
