"""A bot: its name, what it says of itself, the games that it plays."""

from __future__ import annotations

import asyncio
import atexit
import gc
import inspect
import io
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bot_arena import big_two, connect_four, mahjong, othello
from bot_arena._proto.arena.v1.envelope_pb2 import Ready
from bot_arena.game import Game, GameBot, GameStart
from bot_arena.server import ListenError, serve
from bot_arena.session import OnLoop, OwnThread, ServedGame

if TYPE_CHECKING:
    from typing_extensions import Self

# Where a bot listens when BOT_LISTEN is not set.
_STANDARD = "tcp:127.0.0.1:50051"


def _check(name: str, value: object, wanted: type, expected: str) -> None:
    """Raises TypeError where an argument is of another type. True is no number."""
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise TypeError(f"{name} is {value!r}: expected {expected}")


def _say(address: str) -> None:
    print(f"listening on {address}", flush=True)


def _attend(place: str) -> None:
    print(f"attending at {place}", flush=True)


class Bot:
    """A bot whose callbacks are plain methods. Each game has a thread of its own, so
    one that thinks does not hold up another.

    `name` and `version` are shown to people. `max_games` is how many games one process
    plays at once. `can_resume` says that it can be resumed mid-game: it fills in
    the callbacks `resumed_…`, or remembers nothing between the others.
    """

    _new_caller: type[OwnThread] | type[OnLoop] = OwnThread
    # The set-up of its games where `play` is told none; nothing where that is the game's own.
    _usual_setup: str | None = None

    def __init__(
        self, name: str, version: str, *, max_games: int = 1, can_resume: bool = False
    ) -> None:
        _check("name", name, str, "a text")
        _check("version", version, str, "a text")
        _check("max_games", max_games, int, "a whole number")
        _check("can_resume", can_resume, bool, "True or False")
        if max_games < 1:
            raise ValueError(f"max_games is {max_games}: expected 1 or more")
        self._ready = Ready(
            bot=name, version=version, max_games=max_games, can_resume=can_resume
        )
        self._games: dict[str, ServedGame] = {}
        atexit.register(self._never_served)

    def connect_four(self, new: Callable[[GameStart], connect_four.ConnectFourBot]) -> Self:
        """Plays Connect Four: `new`, a class or a function, makes the object for one
        game.
        """
        return self._plays(connect_four.GAME, new)

    def mahjong(self, new: Callable[[GameStart], mahjong.MahjongBot]) -> Self:
        """Plays Mahjong: `new` makes the object for one round."""
        return self._plays(mahjong.GAME, new)

    def big_two(self, new: Callable[[GameStart], big_two.BigTwoBot]) -> Self:
        """Plays Reversal Big Two: `new` makes the object for one game."""
        return self._plays(big_two.GAME, new)

    def othello(self, new: Callable[[GameStart], othello.OthelloBot]) -> Self:
        """Plays Othello: `new` makes the object for one game."""
        return self._plays(othello.GAME, new)

    def main(self) -> None:
        """Serves until SIGTERM or SIGINT. It listens at the address in the environment
        variable `BOT_LISTEN`: `unix:PATH` or `tcp:HOST:PORT`. Where `BOT_JOIN` names an arena
        (`https://HOST:PORT`) it joins that instead, with the token in the file
        `BOT_TOKEN_FILE`. Exits with 1 and a line on standard error where it can't.
        """
        if isinstance(sys.stdout, io.TextIOWrapper):
            # What a bot prints is seen at once, also where it goes to a file.
            sys.stdout.reconfigure(line_buffering=True)
        # What is there now stays: no collection of garbage has to look through it, nor does the
        # one at the end of the program.
        gc.freeze()
        try:
            asyncio.run(self._until_signalled())
        except ListenError as error:
            sys.exit(str(error))

    async def serve(self, address: str, stop: asyncio.Event) -> None:
        """The same within a loop that runs already, until `stop` is set. Raises
        `ListenError`.
        """
        await self._serve(address, stop, self._new_caller, _say)

    async def _serve(
        self,
        address: str,
        stop: asyncio.Event,
        new_caller: Callable[[], OwnThread | OnLoop],
        listening: Callable[[str], None],
    ) -> None:
        atexit.unregister(self._never_served)
        await serve(address, self._games.values(), self._ready, new_caller, stop, listening)

    def _never_served(self) -> None:
        """Says at the end of the program that main() is missing, unless an exception
        ended it.
        """
        if not hasattr(sys, "last_value"):
            name = f"{type(self).__name__}({self._ready.bot!r}, …)"
            print(f"{name} was never served: call its main()", file=sys.stderr)

    async def _until_signalled(self) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        if "BOT_JOIN" in os.environ:
            atexit.unregister(self._never_served)
            # A bot that listens has no use for it, and starts sooner without.
            from bot_arena.joining import join

            await join(self._games.values(), self._ready, self._new_caller, stop, _attend)
        else:
            await self.serve(os.environ.get("BOT_LISTEN", _STANDARD), stop)

    def _plays(self, game: Game[Any, Any], new: Callable[[GameStart], GameBot]) -> Self:
        if inspect.isabstract(new):
            missing = sorted(getattr(new, "__abstractmethods__", ()))
            raise TypeError(f"{new.__name__} lacks {', '.join(missing)}")
        self._games[game.service] = ServedGame(game, new)
        return self


class AsyncBot(Bot):
    """A bot whose callbacks may be `async def`. All of its games share one event loop
    and no thread is started. A callback that computes for long without an `await` holds
    up all games: such a bot is better a `Bot`.
    """

    _new_caller = OnLoop
