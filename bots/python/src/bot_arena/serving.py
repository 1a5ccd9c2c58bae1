"""Bots that are served from this interpreter for as long as a run lasts: a thread with an
event loop, and a socket for each bot in a folder that nobody else can read.
"""

from __future__ import annotations

import asyncio
import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from bot_arena.bot import AsyncBot, Bot
from bot_arena.session import EndedThread, OnLoop, OwnThread, end_thread

# The most bytes of a socket's path (unix(7)).
_LONGEST_PATH = 107
# How long each thread is given to end when it is told to, in seconds.
_PATIENCE = 0.1
# How long threads may take to end by themselves, and then how long they are told to, in
# seconds.
_LONGEST = 2.0


@contextmanager
def serving(bots: Sequence[Bot]) -> Iterator[list[str]]:
    """Serves bots while its block runs, which gets a SPEC of each. After it there is no
    thread, socket or folder of them any more, except for a thread that waits in C. Raises
    `ListenError`.
    """
    if not bots:
        yield []
        return
    folder = _short_folder()
    try:
        addresses = [f"unix:{folder}/{number}" for number in range(len(bots))]
        server = _Server(bots, addresses)
        server.start()
        try:
            server.listen()
            yield addresses
        finally:
            server.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Server(threading.Thread):
    """A thread that serves bots at these addresses."""

    def __init__(self, bots: Sequence[Bot], addresses: Sequence[str]) -> None:
        super().__init__(name="bots", daemon=True)
        self._bots = bots
        self._addresses = addresses
        self._games: list[threading.Thread] = []
        self._loop = asyncio.SelectorEventLoop()
        self._ended = asyncio.Event()
        self._told: queue.SimpleQueue[BaseException | str] = queue.SimpleQueue()

    def listen(self) -> None:
        """Waits until all of them listen. Raises `ListenError`."""
        for _ in self._bots:
            told = self._told.get()
            if isinstance(told, BaseException):
                raise told

    def close(self) -> None:
        """Ends it, and what its bots still think."""
        with suppress(RuntimeError):  # The loop has ended.
            self._loop.call_soon_threadsafe(self._ended.set)
        self.join(_LONGEST)
        # A callback that never awaits holds the loop; one that never returns its thread.
        end = time.monotonic() + _LONGEST
        for thread in [self, *self._games]:
            while thread.is_alive() and time.monotonic() < end:
                end_thread(thread)
                thread.join(_PATIENCE)

    def run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:
            self._told.put(error)
        finally:
            with suppress(BaseException):  # Also what this thread is ended by.
                self._loop.run_until_complete(_end_tasks())
            self._loop.close()

    async def _serve(self) -> None:
        served = [
            asyncio.ensure_future(
                bot._serve(address, self._ended, self._caller(bot), self._told.put)
            )
            for bot, address in zip(self._bots, self._addresses, strict=True)
        ]
        try:
            await asyncio.gather(*served)
        finally:
            for one in served:
                one.cancel()
            await asyncio.gather(*served, return_exceptions=True)

    def _caller(self, bot: Bot) -> type[OnLoop] | _Callers:
        return OnLoop if isinstance(bot, AsyncBot) else _Callers(self._games)


async def _end_tasks() -> None:
    """Cancels what bots have left on the loop, and waits for it for a while."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_LONGEST)
    await asyncio.get_running_loop().shutdown_asyncgens()


class _Callers:
    """Makes what calls the callbacks of a game, and keeps its threads in a list."""

    def __init__(self, threads: list[threading.Thread]) -> None:
        self._threads = threads

    def __call__(self) -> OwnThread:
        caller = EndedThread()
        self._threads[:] = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(caller.thread)
        return caller


def _short_folder() -> str:
    """A new folder for sockets, in which their paths are short enough."""
    folder = tempfile.mkdtemp(prefix="bot-arena-")
    if len(os.fsencode(folder)) + len("/1000") <= _LONGEST_PATH:
        return folder
    os.rmdir(folder)
    return tempfile.mkdtemp(prefix="bot-arena-", dir="/tmp")
