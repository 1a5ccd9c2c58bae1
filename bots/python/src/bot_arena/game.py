"""What all games share: how a game begins and ends, and how a callback is called.
Names no game.
"""

from __future__ import annotations

import reprlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from operator import index
from typing import Any, Generic, Protocol, TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from bot_arena._proto.arena.v1 import envelope_pb2 as proto


class FoulKind(IntEnum):
    """What a seat can do wrong."""

    UNKNOWN = 0
    """A kind that this kit does not know: the referee is newer."""
    UNREACHABLE = 1
    NO_START = 2
    UNSUPPORTED = 3
    CRASHED = 4
    HUNG_UP = 5
    ERROR_STATUS = 6
    MALFORMED = 7
    WRONG_NUMBER = 8
    UNSOLICITED = 9
    OVERSIZED = 10
    MEMORY_EXCEEDED = 11
    ILLEGAL = 12
    LATE = 13
    FLOODED = 14
    INTERFERED = 15
    RESIGNED = 16

    @classmethod
    def _missing_(cls, value: object) -> FoulKind:
        return cls.UNKNOWN


class Ending(IntEnum):
    """What ended a game."""

    UNKNOWN = 0
    """Something that this kit does not know: the referee is newer."""
    PLAYED = 1
    FOUL = 2
    RESIGNED = 3
    VOID = 4

    @classmethod
    def _missing_(cls, value: object) -> Ending:
        return cls.UNKNOWN


@dataclass(frozen=True)
class GameStart:
    """A game begins. Times are in seconds."""

    game_id: str
    game: str
    """Its name, for example `connect_four`."""
    seat: int
    """Your place, from 0."""
    seats: int
    move_limit: float
    """The longest that one question may take."""
    budget: float | None
    """What is left of a time budget over several games, where there is one."""
    bot_seed: int
    """A seed for the bot's own random numbers, so that games can be repeated; independent
    of the deal."""
    rules_version: int
    behavior_version: int


@dataclass(frozen=True)
class SeatResult:
    """How one seat came out."""

    place: int
    """From 1, the best; seats that share a place have the same number."""
    score: int
    """In the game's own unit."""
    foul: FoulKind | None
    """What the seat did wrong, where it did."""


@dataclass(frozen=True)
class GameOver:
    """A game has ended."""

    results: tuple[SeatResult, ...]
    """One a seat, in order of the seats."""
    ending: Ending
    reason: str
    """In words, for example `four in a row`."""


class GameBot:
    """A bot in one game; the base of every game's class.

    An object is made for each game by calling the class, or whatever function was
    given instead, with the game's `GameStart`.
    """

    def __init__(self, start: GameStart) -> None:
        self.start = start

    def game_over(self, over: GameOver) -> Awaitable[None] | None:
        """The game is over. You are not told of it if you have committed a foul."""


class Fault(Exception):
    """What ends a stream with an error status."""

    def __init__(self, code: grpc.StatusCode, words: str) -> None:
        # What is not Unicode, such as half of a surrogate pair, can't be sent.
        words = words.encode(errors="backslashreplace").decode()
        super().__init__(words)
        self.code = code
        self.words = words


class Invoke(Protocol):
    """Calls the callback of this name on the right thread, and returns what `read` makes
    of its result. `read` runs on that thread too: a result may be a generator, or run the
    author's code in other ways. Raises `Fault` with the callback's name and the exception.
    """

    def __call__(
        self,
        name: str,
        *args: object,
        read: Callable[[Any], object] = ...,
    ) -> Awaitable[Any]: ...


CallT = TypeVar("CallT", bound=Message)
AnswerT = TypeVar("AnswerT", bound=Message)


@dataclass(frozen=True)
class Game(Generic[CallT, AnswerT]):
    """How a game's messages become callbacks."""

    service: str
    bot: type[Any]
    call: type[CallT]
    answer: type[AnswerT]
    begin: Callable[[CallT, Invoke], Awaitable[None]]
    """What comes with the start of the game."""
    hear: Callable[[CallT, Invoke], Awaitable[AnswerT | None]]
    """A call of the game's own; what it answers has no number yet. Raises ValueError
    where the call has a value that the game does not have."""


def wrong(callback: str, value: object, expected: str) -> Fault:
    """A callback returned what it should not have."""
    words = f"{callback} returned {reprlib.repr(value)}: expected {expected}"
    return Fault(grpc.StatusCode.INTERNAL, words)


def items(value: Any, most: int) -> list[Any]:
    """The first items of an answer, at most `most` + 1; none if it can't be iterated
    over. What the author's code raises is passed on.
    """
    try:
        return list(islice(value, most + 1))
    except TypeError as error:
        if _is_authors(error):
            raise
        return []


def integers(value: Any, most: int) -> list[int]:
    """The same where all of them should be integers; nothing if they are not."""
    try:
        return [index(item) for item in items(value, most)]
    except TypeError as error:
        if _is_authors(error):
            raise
        return []


def _is_authors(error: Exception) -> bool:
    """Whether it was raised by code that was called from here."""
    at = error.__traceback__
    while at and at.tb_frame.f_code.co_filename == __file__:
        at = at.tb_next
    return at is not None


def seconds(duration: Duration) -> float:
    """A time as Python has it."""
    return duration.seconds + duration.nanos / 1e9


def read_start(start: proto.GameStart) -> GameStart:
    return GameStart(
        start.game_id,
        start.game,
        start.seat,
        start.seats,
        seconds(start.move_limit),
        seconds(start.budget) if start.HasField("budget") else None,
        start.bot_seed,
        start.rules_version,
        start.behavior_version,
    )


def read_over(over: proto.GameOver) -> GameOver:
    def result(seat: proto.SeatResult) -> SeatResult:
        foul = FoulKind(seat.foul) if seat.HasField("foul") else None
        return SeatResult(seat.place, seat.score, foul)

    return GameOver(tuple(map(result, over.results)), Ending(over.ending), over.reason)
