"""What the samples think, apart from how they are called: the same for plain and for
`async` callbacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, groupby

from bot_arena import Card, GetPoint, Point, RequestPlay, Square

THEIRS, MINE = 1, 2


def careful(ask: GetPoint) -> Point:
    """A point of Connect Four: wins at once, else keeps the opponent from it, else
    plays near the centre where that does not help the opponent to win on top of it.
    """
    points = ask.points()
    for whose in (MINE, THEIRS):
        for point in points:
            if makes_four(ask, point, whose):
                return point
    safe = [point for point in points if not helps(ask, point)]
    return min(safe or points, key=lambda point: abs(2 * point.y - (ask.n - 1)))


def makes_four(ask: GetPoint, point: Point, whose: int) -> bool:
    """Whether this side's stone there would make a line of four or more."""

    def run(dx: int, dy: int) -> int:
        x, y, length = point.x + dx, point.y + dy, 0
        while 0 <= x < ask.m and 0 <= y < ask.n and ask.cell(x, y) == whose:
            x, y, length = x + dx, y + dy, length + 1
        return length

    lines = ((0, 1), (1, 0), (1, 1), (1, -1))
    return any(1 + run(dx, dy) + run(-dx, -dy) >= 4 for dx, dy in lines)


def helps(ask: GetPoint, point: Point) -> bool:
    """Whether the opponent could win on top of a stone there."""
    above = Point(point.x - 1, point.y)
    if above == ask.forbidden:
        above = Point(point.x - 2, point.y)
    return above.x >= 0 and makes_four(ask, above, THEIRS)


def squares(board: bytes) -> list[Square]:
    """Every legal move of Othello."""
    lines = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if dr or dc]

    def turns(row: int, column: int, dr: int, dc: int) -> bool:
        row, column, theirs = row + dr, column + dc, 0
        while 0 <= row < 8 and 0 <= column < 8:
            if board[8 * row + column] != THEIRS:
                return theirs > 0 and board[8 * row + column] == MINE
            row, column, theirs = row + dr, column + dc, theirs + 1
        return False

    return [
        Square(row, column)
        for row in range(8)
        for column in range(8)
        if board[8 * row + column] == 0 and any(turns(row, column, *line) for line in lines)
    ]


def plays(hand: Iterable[Card], ask: RequestPlay) -> list[list[Card] | None]:
    """Legal plays of Big Two: singles, pairs, threes and fours, without jokers that
    stand in for other cards and without straight flushes; a pass is None.
    """

    def key(card: Card) -> int:
        return 12 - card.rank if ask.reversed and not card.is_joker else card.rank

    counts: Sequence[int] = (1, 2, 3, 4)
    least = 0
    if ask.to_beat is not None:
        naturals = [card for card in ask.to_beat if not card.is_joker]
        straight_flush = len({card.rank for card in naturals}) > 1
        counts = () if straight_flush else (len(ask.to_beat),)
        least = key((naturals or ask.to_beat)[0]) + 1
    found: list[list[Card] | None] = []
    for _, alike in groupby(sorted(hand), key=lambda card: card.rank):
        cards = list(alike)
        if key(cards[0]) >= least:
            found += [list(some) for count in counts for some in combinations(cards, count)]
    if ask.must_include_three_of_clubs:
        return [play for play in found if play and Card.C3 in play]
    return found if ask.to_beat is None else [*found, None]
