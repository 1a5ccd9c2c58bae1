"""Agents of Kaggle's ConnectX as bots of Connect Four: `f(observation, configuration)`,
which returns a column.

    arena match connect-four --bot kaggle:submission.py --bot house:uct

starts `python3 -m bot_arena.kaggle submission.py`, which serves the agent of a file. As on Kaggle, the file is run anew for each game, and its
agent is the last thing in it that can be called. An agent can't know a forbidden cell, so
a game with one is refused: play with a set-up such as `6x7` or `9x9,forbidden=none`.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import sys
import types
from collections.abc import Callable
from operator import index
from pathlib import Path
from typing import Any

import grpc

from bot_arena import connect_four
from bot_arena._proto.games.connect_four.v1 import connect_four_pb2 as proto
from bot_arena.bot import Bot
from bot_arena.connect_four import ConnectFourBot, GetPoint, Point
from bot_arena.functions import dropped
from bot_arena.game import Fault, GameStart, Invoke, wrong

Function = Callable[..., Any]

# How many stones in a line win.
_IN_A_ROW = 4
# What else Kaggle's configuration has, with its values there; nothing here goes by it.
_OTHERS = {"episodeSteps": 1000, "runTimeout": 1200, "agentTimeout": 60}
_numbers = itertools.count(1)


class Struct(dict[str, Any]):
    """What an agent is told: `observation.board` is `observation["board"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def kaggle_bot(agent: Function | str | os.PathLike[str], function: str | None = None) -> Bot:
    """A bot of Connect Four that plays as this agent, or as that of this file: the function
    of this name, or the last thing in it that can be called. Raises OSError where the
    file can't be read; what is wrong in it costs the bot its game.
    """
    if callable(agent):
        given: Function = agent
        name = getattr(agent, "__name__", type(agent).__name__)
        return Bot(name, "kaggle")._plays(_GAME, lambda start: _Kaggle(start, given))
    path = Path(agent)
    # As if it were run: what this file imports from the future is not for it.
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    module = f"kaggle_agent_{next(_numbers)}"

    def new(start: GameStart) -> _Kaggle:
        return _Kaggle(start, _load(path, code, module, function))

    # An agent may keep what it likes in its file, so a process plays one game at a time.
    return Bot(path.stem, "kaggle")._plays(_GAME, new)


class _Kaggle(ConnectFourBot):
    def __init__(self, start: GameStart, agent: Function) -> None:
        super().__init__(start)
        self._agent = agent

    def get_point(self, ask: GetPoint) -> Point:
        mark = self.start.seat + 1
        marks = (0, 3 - mark, mark)
        board = [marks[cell] for cell in ask.board]
        observation = Struct(
            board=board,
            mark=mark,
            step=len(board) - board.count(0),
            # A question has its limit, and no more time besides.
            remainingOverageTime=0,
        )
        configuration = Struct(
            rows=ask.m,
            columns=ask.n,
            inarow=_IN_A_ROW,
            timeout=ask.limit,
            actTimeout=ask.limit,
            **_OTHERS,
        )
        answer = self._agent(*(observation, configuration)[: _parameters(self._agent)])
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
            f"({call.board.no_x}, {call.board.no_y}): expected a game without one, as with "
            "--setup 6x7",
        )


_GAME = dataclasses.replace(connect_four.GAME, begin=_begin)


def _load(path: Path, code: types.CodeType, name: str, function: str | None) -> Function:
    """Runs a file as a module of this name, and finds its agent. Raises ValueError where
    there is none.
    """
    module = types.ModuleType(name)
    module.__file__ = str(path)
    # Files beside it can be imported, as if it were run.
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # Classes look for their module there.
    sys.modules[name] = module
    exec(code, module.__dict__)
    if function is not None:
        agent = module.__dict__.get(function)
        if not callable(agent):
            raise ValueError(f"{path} has no function {function}")
        return agent  # type: ignore[no-any-return]
    agents: list[Function] = [value for value in module.__dict__.values() if callable(value)]
    if not agents:
        raise ValueError(
            f"{path} has nothing that can be called: expected an agent, a function"
        )
    return agents[-1]


def _parameters(agent: Function) -> int | None:
    """How many arguments it takes, where it says so: some agents want no configuration."""
    code = getattr(agent, "__code__", None)
    return code.co_argcount if isinstance(code, types.CodeType) else None


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python3 -m bot_arena.kaggle",
        description="Serves an agent of Kaggle's ConnectX as a bot of Connect Four, at the "
        "address in BOT_LISTEN.",
    )
    parser.add_argument("file", metavar="FILE.py", type=Path, help="the agent's file")
    parser.add_argument(
        "--function",
        metavar="NAME",
        help="its function [default: the last thing in the file that can be called]",
    )
    given = parser.parse_args()
    try:
        bot = kaggle_bot(given.file, given.function)
    except (OSError, SyntaxError) as error:
        parser.exit(1, f"could not read {given.file}: {error}\n")
    bot.main()


if __name__ == "__main__":
    main()
