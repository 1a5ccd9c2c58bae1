"""Arcade Mahjong."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from bot_arena._proto.games.mahjong.v1 import mahjong_pb2 as proto
from bot_arena.game import Game, GameBot, Invoke, seconds, wrong


class Tile(IntEnum):
    """A kind of tile, of which there are four: 10 * suit + rank, with the suits
    characters (c) 0, bamboos (b) 1, dots (d) 2.
    """

    C1, C2, C3, C4, C5, C6, C7, C8, C9 = 1, 2, 3, 4, 5, 6, 7, 8, 9
    B1, B2, B3, B4, B5, B6, B7, B8, B9 = 11, 12, 13, 14, 15, 16, 17, 18, 19
    D1, D2, D3, D4, D5, D6, D7, D8, D9 = 21, 22, 23, 24, 25, 26, 27, 28, 29

    @property
    def suit(self) -> int:
        """0 characters, 1 bamboos, 2 dots."""
        return self // 10

    @property
    def rank(self) -> int:
        """1 to 9."""
        return self % 10

    def __str__(self) -> str:
        return f"{self.rank}{'cbd'[self.suit]}"


@dataclass(frozen=True)
class Round:
    """What a round is played by."""

    missing_suit_required: bool
    """Whether a hand of all three suits can't win."""
    wall: int
    """How many tiles the wall holds when both hands have been dealt."""


class MahjongBot(GameBot, ABC):
    """A bot in one round of Mahjong. Limits are in seconds."""

    def get_round(self, round: Round) -> Awaitable[None] | None:
        """What the round is played by; before everything else."""

    @abstractmethod
    def get_draw(self, tile: Tile) -> Awaitable[None] | None:
        """A tile is in your hand now: one call for each of the 13 at the start, then
        for each that you draw.
        """

    @abstractmethod
    def request_discard(self, limit: float) -> Tile | Awaitable[Tile]:
        """Which tile of your hand do you discard? It is out of the hand then."""

    @abstractmethod
    def get_opp_discard(self, tile: Tile) -> Awaitable[None] | None:
        """The other seat has discarded a tile."""

    @abstractmethod
    def request_win(
        self, tile: Tile, is_self_draw: bool, limit: float
    ) -> bool | Awaitable[bool]:
        """Do you win on this tile, which completes the hand? Of a tile that you could
        have won on you are told as of any other when you don't.
        """

    def resumed_discard(self, tile: Tile) -> Awaitable[None] | None:
        """The stream was opened in the middle of a game: you discarded this."""

    def resumed_win(self, tile: Tile, is_self_draw: bool, win: bool) -> Awaitable[None] | None:
        """The same for a claim."""


async def _begin(call: proto.MahjongCall, invoke: Invoke) -> None:
    if call.HasField("round"):
        it = call.round
        await invoke("get_round", Round(it.missing_suit_required, it.wall))


async def _hear(call: proto.MahjongCall, invoke: Invoke) -> proto.MahjongAnswer | None:
    resumed = call.HasField("past_answer")
    past = call.past_answer
    match call.WhichOneof("call"):
        case "get_draw":
            for drawn in call.get_draw.tiles:
                await invoke("get_draw", Tile(drawn))
        case "get_opp_discard":
            await invoke("get_opp_discard", Tile(call.get_opp_discard.tile))
        case "request_discard" if resumed:
            await invoke("resumed_discard", Tile(past.discard))
        case "request_discard":
            limit = seconds(call.limit)
            answer: proto.MahjongAnswer
            answer = await invoke("request_discard", limit, read=_discard)
            return answer
        case "request_win":
            ask = call.request_win
            tile, own = Tile(ask.winning_tile), ask.is_self_draw
            if resumed:
                await invoke("resumed_win", tile, own, past.win == proto.CLAIM_WIN)
                return None
            answer = await invoke("request_win", tile, own, seconds(call.limit), read=_win)
            return answer
    return None


def _discard(value: Any) -> proto.MahjongAnswer:
    try:
        return proto.MahjongAnswer(discard=proto.Tile.Name(Tile(value)))
    except ValueError:
        raise wrong("request_discard", value, "a Tile of the hand") from None


def _win(value: object) -> proto.MahjongAnswer:
    if not isinstance(value, bool):
        raise wrong("request_win", value, "True or False")
    return proto.MahjongAnswer(win=proto.CLAIM_WIN if value else proto.CLAIM_PASS)


GAME = Game(
    "games.mahjong.v1.MahjongBot",
    MahjongBot,
    proto.MahjongCall,
    proto.MahjongAnswer,
    _begin,
    _hear,
)
