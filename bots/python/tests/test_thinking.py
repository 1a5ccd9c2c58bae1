"""What the samples think."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from bot_arena import Card, GetPoint, Point, RequestPlay

sys.path.insert(0, str(Path(__file__).parent.parent / "samples"))

import thinking


def asked(text: str) -> GetPoint:
    """A board: X is mine, O theirs, # the forbidden cell."""
    rows = text.split()
    m, n = len(rows), len(rows[0])
    flat = "".join(rows)
    at = flat.find("#")
    forbidden = None if at < 0 else Point(*divmod(at, n))

    def top(y: int) -> int:
        height = next((x for x in range(m) if rows[x][y] in "XO"), m)
        while height and forbidden == (height - 1, y):
            height -= 1
        return height

    board = bytes({"X": 2, "O": 1}.get(sign, 0) for sign in flat)
    return GetPoint(m, n, bytes(map(top, range(n))), board, None, forbidden, 3.0)


@pytest.mark.parametrize(
    ("board", "point"),
    [
        # Nothing to see: the middle, and of two the left one.
        ("..... ..... ..... .....", (3, 2)),
        ("...... ...... ...... ......", (3, 2)),
        # It wins, the leftmost of two, rather than keep the other from it.
        ("....... O...... O...... O.XXX..", (3, 1)),
        ("...... ...... O..... OOXXX.", (3, 5)),
        (".....  X...O  X...O  X...O", (0, 0)),
        # It wins on a diagonal.
        ("...... ...XO. ..XOX. .XOXO.", (0, 4)),
        # It keeps the opponent from winning.
        (".....  .....  .....  .OOOX", (3, 0)),
        # The forbidden cell breaks a line.
        ("...... ...... ...... .OO#O.", (2, 2)),
        # A stone in the middle would let the opponent win on top of it.
        (".....  .....  OO.OX  XX.XO", (3, 2)),
    ],
)
def test_careful(board: str, point: tuple[int, int]) -> None:
    assert thinking.careful(asked(board)) == point


def ask(to_beat: list[Card] | None, turned: bool = False, first: bool = False) -> RequestPlay:
    return RequestPlay(None if to_beat is None else tuple(to_beat), turned, first)


HAND = [Card.C3, Card.D3, Card.C5, Card.D5, Card.H5, Card.CK, Card.JOKER_1]


@pytest.mark.parametrize(
    ("request_play", "plays"),
    [
        (ask([Card.C4]), ["5C", "5D", "5H", "KC", "JK1", ""]),
        (ask([Card.C6], turned=True), ["3C", "3D", "5C", "5D", "5H", "JK1", ""]),
        (ask([Card.C4, Card.D4]), ["5C 5D", "5C 5H", "5D 5H", ""]),
        (ask([Card.C4, Card.JOKER_2]), ["5C 5D", "5C 5H", "5D 5H", ""]),
        (ask([Card.C4, Card.D4, Card.H4]), ["5C 5D 5H", ""]),
        (ask([Card.C4, Card.C5, Card.C6]), [""]),
        (ask([Card.C4, Card.C6, Card.JOKER_2]), [""]),
        (ask([Card.JOKER_2]), [""]),
        (ask(None, first=True), ["3C", "3C 3D"]),
    ],
)
def test_plays_of_big_two(request_play: RequestPlay, plays: list[str]) -> None:
    found = thinking.plays(HAND, request_play)
    assert [" ".join(map(str, play or [])) for play in found] == plays


def test_who_leads_does_not_pass() -> None:
    found = thinking.plays(HAND, ask(None))
    assert None not in found
    assert len(found) == 2 + 1 + 3 + 3 + 1 + 1 + 1


def test_squares_of_othello() -> None:
    board = bytearray(64)
    board[27] = board[36] = thinking.THEIRS
    board[28] = board[35] = thinking.MINE
    assert [str(square) for square in thinking.squares(bytes(board))] == [
        "d3",
        "c4",
        "f5",
        "e6",
    ]
