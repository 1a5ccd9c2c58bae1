"""One seat in one game: the calls of its stream, in order, to one object of the
author's; and how that object is called.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from inspect import isawaitable, iscoroutine
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from bot_arena._proto.arena.v1.envelope_pb2 import Ready
from bot_arena.game import Fault, Game, GameBot, GameStart, read_over, read_start, wrong

# A status is sent among the headers, of which there may be 8 KiB.
_LONGEST_WORDS = 500
_HERE = os.path.dirname(__file__)
# Folders of other people's code: Python's own and of what was installed.
_LIBRARIES = tuple(
    os.path.join(path, "")
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_path(name))
)


@dataclass(frozen=True)
class ServedGame:
    """A game that a bot plays, and what makes its object for one game."""

    game: Game[Any, Any]
    new: Callable[[GameStart], GameBot]


def _unchanged(value: object) -> object:
    return value


@dataclass(frozen=True)
class Callback:
    """A callback of the author's, with what it is called with."""

    name: str
    function: Callable[..., object]
    arguments: tuple[object, ...]
    read: Callable[[Any], object]
    """What makes an answer of what it returns. It may run the author's code too."""


class Session:
    """The stream of one game."""

    def __init__(self, served: ServedGame, ready: Ready, caller: OwnThread | OnLoop) -> None:
        self._game = served.game
        self._new = served.new
        self._ready = ready
        self._caller = caller
        self._bot: GameBot | None = None

    async def hear(self, message: bytes) -> bytes | None:
        """The answer to a call, if there is one. Raises `Fault`."""
        try:
            call = self._game.call.FromString(message)
            answer = await self._hear(call)
        except (DecodeError, ValueError) as error:
            words = f"not a call of this game: {error}"
            raise Fault(grpc.StatusCode.INVALID_ARGUMENT, words) from error
        if answer is None:
            return None
        if call.HasField("number"):
            answer.number = call.number
        return bytes(answer.SerializeToString())

    async def _hear(self, call: Any) -> Any:
        kind = call.WhichOneof("call")
        if kind == "start":
            return await self._begin(call)
        if self._bot is None:
            raise Fault(grpc.StatusCode.FAILED_PRECONDITION, "the game has not begun")
        if kind == "over":
            await self._invoke("game_over", read_over(call.over))
            self._bot = None
            return None
        return await self._game.hear(call, self._invoke)

    async def _begin(self, call: Any) -> Any:
        if not call.HasField("number"):
            raise ValueError("a question without a number")
        start = read_start(call.start)
        make = Callback("the constructor", self._new, (start,), self._made)
        self._bot = await self._caller.call(make)
        await self._game.begin(call, self._invoke)
        # A start that was answered before the stream was opened is not answered again.
        return None if call.HasField("past_answer") else self._game.answer(ready=self._ready)

    async def _invoke(
        self, name: str, *args: object, read: Callable[[Any], object] = _unchanged
    ) -> Any:
        return await self._caller.call(Callback(name, getattr(self._bot, name), args, read))

    def _made(self, bot: object) -> object:
        if isinstance(bot, self._game.bot):
            return bot
        raise wrong("the constructor", bot, f"a {self._game.bot.__name__}")


class OwnThread:
    """Calls the callbacks of one game, one after another, on a thread of its own. It
    is a daemon: a game that never stops thinking does not keep the process.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="game", daemon=True)
        self._thread.start()

    async def call(self, callback: Callback) -> Any:
        called: asyncio.Future[object] = self._loop.create_future()

        def tell(value: object) -> None:
            # A cancelled stream has stopped waiting.
            if not called.done():
                called.set_result(value)

        def job() -> None:
            value = _outcome(callback)
            with suppress(RuntimeError):  # The loop has ended.
                self._loop.call_soon_threadsafe(tell, value)

        self._jobs.put(job)
        value = await called
        if isinstance(value, Fault):
            # A new one: the traceback has this frame, and the two would keep each other,
            # and the server.
            raise Fault(value.code, value.words)
        return value

    def close(self) -> None:
        """The thread ends when it has nothing to do any more."""
        self._jobs.put(None)

    def _work(self) -> None:
        while job := self._jobs.get():
            job()


class Abandoned(BaseException):
    """Raised in a callback that still runs when its game is over."""


class EndedThread(OwnThread):
    """The same where the process goes on after its games: a callback that still runs when
    its game is over is ended by an exception, so that it holds up nothing that comes
    after it. What waits in C, as `time.sleep` does, ends when it is back in Python.
    """

    # How long a callback may go on after its game, and how long it is given to end
    # after each exception, in seconds.
    PATIENCE = 0.2

    @property
    def thread(self) -> threading.Thread:
        return self._thread

    def close(self) -> None:
        super().close()
        self._loop.call_later(self.PATIENCE, self._end)

    def _end(self) -> None:
        if self._thread.is_alive():
            end_thread(self._thread)
            self._loop.call_later(self.PATIENCE, self._end)

    def _work(self) -> None:
        # It may be raised just after the callback.
        with suppress(Abandoned):
            super()._work()


def end_thread(thread: threading.Thread) -> None:
    """Raises `Abandoned` in a thread, when it runs code in Python."""
    # Only who plays from an interpreter that goes on needs it.
    import ctypes

    number = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(Abandoned))


class OnLoop:
    """Calls callbacks where the server runs, and waits for those that are `async`."""

    def __init__(self) -> None:
        self._closed = False

    async def call(self, callback: Callback) -> Any:
        try:
            value = callback.function(*callback.arguments)
            return callback.read(await value if isawaitable(value) else value)
        except Fault:
            raise
        except BaseException as error:
            # The author's code may raise these two itself.
            if self._closed and isinstance(error, (asyncio.CancelledError, GeneratorExit)):
                raise
            raise _raised(callback.name, error) from error

    def close(self) -> None:
        """From here on a callback that is cancelled is so because its stream is."""
        self._closed = True


def _outcome(callback: Callback) -> object:
    """What a callback returned, or the `Fault` that came of it."""
    try:
        value = callback.function(*callback.arguments)
        if not iscoroutine(value):
            return callback.read(value)
    except Fault as fault:
        # A new one: the traceback would keep the author's objects until it is dropped,
        # which is on another thread.
        return Fault(fault.code, fault.words)
    except BaseException as error:
        return _raised(callback.name, error)
    value.close()
    words = f"{callback.name} is async: serve it with AsyncBot, or make it a plain method"
    return Fault(grpc.StatusCode.INTERNAL, words)


def _raised(name: str, error: BaseException) -> Fault:
    """What the callback of this name raised, as the status that ends its stream."""
    if isinstance(error, Abandoned):
        return Fault(grpc.StatusCode.CANCELLED, "the game is over")
    at = error.__traceback__
    while at and _is_ours(at.tb_frame.f_code.co_filename):
        at = at.tb_next
    # The author may have closed or replaced standard error.
    with suppress(Exception):
        traceback.print_exception(type(error), error, at, file=sys.stderr)
    words = "".join(traceback.format_exception_only(type(error), error)).strip()
    words = f"exception in {name}: {words}"[:_LONGEST_WORDS]
    frames = traceback.extract_tb(error.__traceback__)
    others = [frame for frame in frames if not _is_ours(frame.filename)]
    # A bot that was installed has nothing but code that was.
    own = [frame for frame in others if not _is_library(frame.filename)] or others
    if own:
        words += f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})"
    return Fault(grpc.StatusCode.INTERNAL, words)


def _is_ours(file: str) -> bool:
    return os.path.dirname(file) == _HERE


def _is_library(file: str) -> bool:
    return file.startswith(("<", *_LIBRARIES))
