"""Othello."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import NamedTuple

from bot_arena._proto.games.othello.v1 import othello_pb2 as proto
from bot_arena.game import Game, GameBot, Invoke, integers, seconds, wrong

PASS = "pass"


class Square(NamedTuple):
    """A square: its index on the board is 8 * row + column."""

    row: int
    """0 (row 1, at the top) to 7."""
    column: int
    """0 (column a, at the left) to 7."""

    def __str__(self) -> str:
        return f"{'abcdefgh'[self.column]}{self.row + 1}"


@dataclass(frozen=True)
class Beginning:
    """The position that the game begins with."""

    board: bytes
    """One a square, row by row from a1: 0 empty, 1 the opponent's disc, 2 your own."""
    turn: int
    """The seat that moves first: 0 is black, 1 white."""
    previous: Square | str | None
    """What was done last: a square, `PASS`, or nothing yet."""


@dataclass(frozen=True)
class RequestMove:
    """A question, with the whole position."""

    board: bytes
    """One a square, row by row from a1: 0 empty, 1 the opponent's disc, 2 your own."""
    previous: Square | str | None
    """What the opponent did last: a square, `PASS`, or nothing yet."""


class OthelloBot(GameBot, ABC):
    """A bot in one game of Othello. Seat 0 has the black discs and begins."""

    def get_beginning(self, beginning: Beginning) -> Awaitable[None] | None:
        """The position that the game begins with."""

    @abstractmethod
    def request_move(self, ask: RequestMove, limit: float) -> Square | Awaitable[Square]:
        """Where do you place a disc, within `limit` seconds? You are asked only where
        there is a move.
        """

    def resumed_move(self, ask: RequestMove, square: Square) -> Awaitable[None] | None:
        """The stream was opened in the middle of a game: this was asked before, and
        answered so.
        """


async def _begin(call: proto.OthelloCall, invoke: Invoke) -> None:
    if call.HasField("beginning"):
        it = call.beginning
        turn = 0 if it.side_to_move == proto.SIDE_BLACK else 1
        await invoke("get_beginning", Beginning(_board(it.board), turn, _previous(it.previous)))


async def _hear(call: proto.OthelloCall, invoke: Invoke) -> proto.OthelloAnswer | None:
    if call.WhichOneof("call") != "request_move":
        return None
    it = call.request_move
    ask = RequestMove(_board(it.board), _previous(it.previous))
    if call.HasField("past_answer"):
        past = call.past_answer.square
        await invoke("resumed_move", ask, Square(past.row, past.column))
        return None
    limit = seconds(call.limit)
    answer: proto.OthelloAnswer = await invoke("request_move", ask, limit, read=_answer)
    return answer


def _answer(value: object) -> proto.OthelloAnswer:
    square = integers(value, 2)
    if len(square) != 2 or not all(0 <= part < 8 for part in square):
        raise wrong("request_move", value, "Square(row, column), both of 0 to 7")
    row, column = square
    return proto.OthelloAnswer(square=proto.Square(row=row, column=column))


def _board(board: bytes) -> bytes:
    if len(board) != 64:
        raise ValueError(f"{len(board)} squares on a board")
    return board


def _previous(previous: proto.Previous) -> Square | str | None:
    match previous.WhichOneof("previous"):
        case "square":
            return Square(previous.square.row, previous.square.column)
        case "pass":
            return PASS
        case _:
            return None


GAME = Game(
    "games.othello.v1.OthelloBot",
    OthelloBot,
    proto.OthelloCall,
    proto.OthelloAnswer,
    _begin,
    _hear,
)
