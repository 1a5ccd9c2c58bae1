"""Agents of Kaggle's ConnectX, `f(observation, configuration)` that returns a column, as bots
of Connect Four that are served from this interpreter. A file with one plays by itself: its
SPEC is `kaggle:submission.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import index
from typing import Any

import grpc

from bot_arena import _connectx, connect_four
from bot_arena._connectx import Struct as Struct
from bot_arena._proto.games.connect_four.v1 import connect_four_pb2 as proto
from bot_arena.bot import Bot
from bot_arena.connect_four import ConnectFourBot, GetPoint, Point
from bot_arena.functions import dropped
from bot_arena.game import Fault, GameStart, Invoke, wrong

Function = Callable[..., Any]

USUAL_SETUP = "6x7"
"""The board on Kaggle, as a set-up."""


def kaggle_bot(agent: Function) -> Bot:
    """A bot of Connect Four that plays as this agent, such as a function of a notebook. It
    can't know a forbidden cell, so a game with one is refused; where `play` is told no
    set-up, the board is Kaggle's.
    """
    name = getattr(agent, "__name__", type(agent).__name__)
    bot = Bot(name, "kaggle")._plays(_GAME, lambda start: _Kaggle(start, agent))
    bot._usual_setup = USUAL_SETUP
    return bot


class _Kaggle(ConnectFourBot):
    def __init__(self, start: GameStart, agent: Function) -> None:
        super().__init__(start)
        self._agent = agent

    def get_point(self, ask: GetPoint) -> Point:
        size = (ask.m, ask.n)
        answer = _connectx.ask(self._agent, self.start.seat, size, ask.board, ask.limit)
        try:
            column = index(answer)
        except TypeError:
            raise wrong("the agent", answer, "a column") from None
        return dropped(ask, column, answer)


async def _begin(call: proto.ConnectFourCall, invoke: Invoke) -> None:
    if call.board.no_x >= 0 and call.board.no_y >= 0:
        raise Fault(
            grpc.StatusCode.FAILED_PRECONDITION,
            "a Kaggle agent can't know the forbidden cell "
            f"({call.board.no_x}, {call.board.no_y}): expected a set-up without one, such as "
            f"{USUAL_SETUP}",
        )


_GAME = dataclasses.replace(connect_four.GAME, begin=_begin)
