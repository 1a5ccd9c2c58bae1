"""The vocabulary of the tests: a bot that is being served, and a referee's side of a
stream. It waits for things to happen, at most `TIMEOUT`, and never for time to pass.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import grpc
from bot_arena import AsyncBot, Bot, big_two, connect_four, mahjong, othello
from bot_arena._proto.arena.v1 import envelope_pb2 as envelope
from bot_arena._proto.games.connect_four.v1 import connect_four_pb2
from bot_arena.game import Game, GameBot

TIMEOUT = 30.0
GAMES: list[Game[Any, Any]] = [
    connect_four.GAME,
    mahjong.GAME,
    big_two.GAME,
    othello.GAME,
]
BotT = TypeVar("BotT", bound=GameBot)


@dataclass(frozen=True)
class Flavour:
    """Plain callbacks, or those of asyncio."""

    name: str
    bot: type[Bot]

    def of(self, plain: type[BotT]) -> type[BotT]:
        """This class with its callbacks in this flavour."""
        if self.bot is Bot:
            return plain

        def asynced(callback: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(callback)
            async def call(*args: Any) -> Any:
                await asyncio.sleep(0)
                return callback(*args)

            return call

        own = {
            name: asynced(callback)
            for name, callback in inspect.getmembers(plain, inspect.isfunction)
            if not name.startswith("_")
        }
        return type(plain.__name__, (plain,), own)


FLAVOURS = [Flavour("plain", Bot), Flavour("asyncio", AsyncBot)]

# One loop for all tests: that of a process that has one.
_loop = asyncio.new_event_loop()
threading.Thread(target=_loop.run_forever, daemon=True).start()


@contextmanager
def serving(bot: Bot, folder: Path) -> Iterator[grpc.Channel]:
    """A channel to this bot, in this process."""
    path = folder / "bot.sock"
    stop = asyncio.Event()
    served = asyncio.run_coroutine_threadsafe(bot.serve(f"unix:{path}", stop), _loop)
    until(lambda: served.done() or _listens(path))
    with grpc.insecure_channel(
        f"unix:{path}", [("grpc.use_local_subchannel_pool", 1)]
    ) as channel:
        try:
            yield channel
        finally:
            # What is still open does not keep the bot.
            channel.close()
            _loop.call_soon_threadsafe(stop.set)
            served.result(TIMEOUT)
    assert not path.exists()


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def until(so: Callable[[], bool]) -> None:
    """Waits until it is so."""
    end = time.monotonic() + TIMEOUT
    while not so():
        assert time.monotonic() < end, "it never came to be so"
        time.sleep(0.002)


class Stream:
    """The referee's side of one game's stream."""

    def __init__(self, channel: grpc.Channel, game: Game[Any, Any] = connect_four.GAME):
        self.game = game
        self._calls: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        method: Any = channel.stream_stream(
            f"/{game.service}/Play", None, game.answer.FromString
        )
        self._answers = method(iter(self._calls.get, None), timeout=TIMEOUT)

    def send(self, **fields: Any) -> None:
        self._calls.put(self.game.call(**fields).SerializeToString())

    def send_bytes(self, message: bytes) -> None:
        self._calls.put(message)

    def start(self, **fields: Any) -> None:
        """Sends question 0."""
        self.send(number=0, start=envelope.GameStart(seats=2), **fields)

    def answer(self) -> Any:
        return next(self._answers)

    def ready(self, **fields: Any) -> Any:
        """Begins the game."""
        self.start(**fields)
        return self.answer().ready

    def close(self) -> list[Any]:
        """Ends our side. What the bot still had to say."""
        self._calls.put(None)
        return list(self._answers)

    def cancel(self) -> None:
        self._answers.cancel()
        self._calls.put(None)

    def status(self) -> tuple[grpc.StatusCode, str]:
        """How the bot has ended it; it must not answer any more."""
        try:
            answer = next(self._answers)
        except grpc.RpcError:
            pass
        except StopIteration:
            pass
        else:
            raise AssertionError(f"it answered {answer}")
        finally:
            self._calls.put(None)
        return self._answers.code(), self._answers.details()


def get_point() -> connect_four_pb2.GetPoint:
    """An empty board of 4 rows and 5 columns."""
    return connect_four_pb2.GetPoint(
        m=4, n=5, top=bytes([4] * 5), board=bytes(20), last_x=-1, last_y=-1, no_x=-1, no_y=-1
    )
