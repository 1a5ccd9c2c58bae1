"""Connect Four with a forbidden cell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import NamedTuple

from bot_arena._proto.games.connect_four.v1 import connect_four_pb2 as proto
from bot_arena.game import Game, GameBot, Invoke, integers, seconds, wrong


class Point(NamedTuple):
    """A cell."""

    x: int
    """The row, from 0 at the top."""
    y: int
    """The column, from 0 at the left."""

    def __str__(self) -> str:
        return f"({self.x}, {self.y})"


@dataclass(frozen=True)
class GetPoint:
    """A question, with the whole position."""

    m: int
    """Rows."""
    n: int
    """Columns."""
    top: bytes
    """One a column: the next stone lands in row `top[y] - 1`; 0 is full."""
    board: bytes
    """One a cell, row by row: 0 empty, 1 the opponent's stone, 2 your own; the
    forbidden cell is 0."""
    last: Point | None
    """Where the opponent played last."""
    forbidden: Point | None
    limit: float
    """The time that the answer may take, in seconds."""

    def cell(self, x: int, y: int) -> int:
        """What is at row `x` and column `y`, as in `board`."""
        if not (0 <= x < self.m and 0 <= y < self.n):
            raise IndexError(f"({x}, {y}) is not on a board of {self.m} rows, {self.n} columns")
        return self.board[x * self.n + y]

    def landing(self, column: int) -> Point | None:
        """Where a stone dropped into this column lands; nowhere if it is full."""
        top = self.top[column]
        return Point(top - 1, column) if top else None

    def points(self) -> list[Point]:
        """Every point that can be played, from the left."""
        return [Point(top - 1, column) for column, top in enumerate(self.top) if top]


class ConnectFourBot(GameBot, ABC):
    """A bot in one game of Connect Four."""

    @abstractmethod
    def get_point(self, ask: GetPoint) -> Point | Awaitable[Point]:
        """Where do you play? The stone must land exactly there, on one of
        `ask.points()`.
        """

    def resumed_point(self, ask: GetPoint, point: Point) -> Awaitable[None] | None:
        """The stream was opened in the middle of a game: this was asked before, and
        answered so.
        """


async def _begin(call: proto.ConnectFourCall, invoke: Invoke) -> None:
    pass


async def _hear(call: proto.ConnectFourCall, invoke: Invoke) -> proto.ConnectFourAnswer | None:
    if call.WhichOneof("call") != "get_point":
        return None
    it = call.get_point
    if len(it.top) != it.n or len(it.board) != it.m * it.n:
        raise ValueError(f"{len(it.board)} cells on a board of {it.m} rows, {it.n} columns")
    ask = GetPoint(
        m=it.m,
        n=it.n,
        top=it.top,
        board=it.board,
        last=_point(it.last_x, it.last_y),
        forbidden=_point(it.no_x, it.no_y),
        limit=seconds(call.limit),
    )
    if call.HasField("past_answer"):
        past = call.past_answer.point
        await invoke("resumed_point", ask, Point(past.x, past.y))
        return None
    answer: proto.ConnectFourAnswer = await invoke("get_point", ask, read=_answer)
    return answer


def _answer(value: object) -> proto.ConnectFourAnswer:
    point = integers(value, 2)
    try:
        x, y = point
        return proto.ConnectFourAnswer(point=proto.Point(x=x, y=y))
    except ValueError:
        raise wrong("get_point", value, "Point(x, y)") from None


def _point(x: int, y: int) -> Point | None:
    return None if x < 0 or y < 0 else Point(x, y)


GAME = Game(
    "games.connect_four.v1.ConnectFourBot",
    ConnectFourBot,
    proto.ConnectFourCall,
    proto.ConnectFourAnswer,
    _begin,
    _hear,
)
