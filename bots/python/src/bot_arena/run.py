"""One run of the program `arena`, with the bots that are served for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import IO, Any

from bot_arena.bot import Bot
from bot_arena.program import ArenaError, failure, find_arena
from bot_arena.serving import serving

# The version of the events that this package reads.
_VERSION = 1
# The exit codes of a run whose events are complete: done, the answer is no, stopped.
_PLAYED = (0, 1, 130)
# How it is asked to end, and how long it may take after each, in seconds: it finishes the
# games that are running; it cuts them off; it is killed.
_STOPS = [(signal.SIGINT, 5.0), (signal.SIGINT, 5.0), (signal.SIGKILL, 5.0)]
# Starts a program that is asked to end when this interpreter is gone, however that ended
# (prctl(2): PR_SET_PDEATHSIG).
_TIED = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() == int(sys.argv[1]):
    try:
        os.execv(sys.argv[2], sys.argv[2:])
    except OSError as error:
        sys.exit(f"could not run {sys.argv[2]}: {error}")
"""
# So many of its last lines on standard error are kept.
_MOST_LINES = 200

Event = dict[str, Any]


class Run(threading.Thread):
    """Serves bots and runs `arena` with what `arguments` makes of their addresses, from the
    beginning of its block. `tell` is called on this thread with each event, and at last,
    when nothing is left of the run, with nothing.
    """

    def __init__(
        self,
        bots: Sequence[Bot],
        arguments: Callable[[list[str]], list[str]],
        tell: Callable[[Event | None], None],
    ) -> None:
        super().__init__(name="arena", daemon=True)
        self._bots = bots
        self._arguments = arguments
        self._tell = tell
        self._lock = threading.Lock()
        self._program: subprocess.Popen[bytes] | None = None
        self._stops = 0
        self._timers: list[threading.Timer] = []
        self._words: deque[str] = deque(maxlen=_MOST_LINES)
        self._told = False
        self._error: BaseException | None = None

    def __enter__(self) -> Run:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """What still runs is stopped: nobody waits for it any more."""
        if self.is_alive():
            self.stop()
            self.join()

    @property
    def words(self) -> str:
        """What `arena` said on standard error."""
        return "".join(self._words)

    def stop(self) -> None:
        """Asks it to end: it finishes the games that are running. If it is asked again, or
        takes long, it cuts them off, and is killed after that.
        """
        with self._lock:
            for timer in self._timers:
                timer.cancel()
            if self._stops < len(_STOPS):
                number, patience = _STOPS[self._stops]
                self._stops += 1
                if self._program is not None:
                    self._program.send_signal(number)
                timer = threading.Timer(patience, self.stop)
                timer.daemon = True
                timer.start()
                self._timers.append(timer)

    def check(self) -> None:
        """Raises what went wrong in the run: `ArenaError`, or what was raised here. It is
        kept by nobody else then, so that it keeps nothing.
        """
        error, self._error = self._error, None
        try:
            if error is not None:
                raise error
        finally:
            del error

    def run(self) -> None:
        try:
            with serving(self._bots) as addresses:
                self._play(find_arena(), self._arguments(addresses))
        except BaseException as error:
            self._error = error
        finally:
            with self._lock:
                # No timer is started from here on.
                self._stops = len(_STOPS)
            for timer in self._timers:
                timer.cancel()
                timer.join()
            self._tell(None)

    def _play(self, program: str, arguments: list[str]) -> None:
        with self._lock:
            if self._stops:
                return
            self._program = subprocess.Popen(
                [*_tied(), program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Ctrl-C is ours to pass on.
                start_new_session=True,
            )
        with self._program as running:
            assert running.stdout is not None and running.stderr is not None
            listener = threading.Thread(
                target=self._listen, args=(running.stderr,), name="arena's words", daemon=True
            )
            listener.start()
            try:
                for line in running.stdout:
                    self._tell(_event(program, line))
                    self._told = True
            except BaseException:
                running.kill()
                raise
            finally:
                code = running.wait()
                listener.join()
        with self._lock:
            self._program = None
        # Asked to end before it listens to that, or killed by us.
        ended = code < 0 and self._stops > 0
        played = code in _PLAYED and (self._told or self._stops > 0)
        if not played and not ended:
            raise ArenaError(failure(program, code, self.words))

    def _listen(self, words: IO[bytes]) -> None:
        with suppress(ValueError):  # It is closed.
            for line in words:
                self._words.append(line.decode(errors="replace"))


def _tied() -> list[str]:
    """What is before a program that ends when we are gone, where the system can do that."""
    if sys.platform != "linux" or not sys.executable or find_spec("_ctypes") is None:
        return []
    return [sys.executable, "-ISc", _TIED, str(os.getpid())]


def _event(program: str, line: bytes) -> Event:
    try:
        event = json.loads(line)
        version = event["version"]
    except (ValueError, TypeError, KeyError):
        shown = line[:80].decode(errors="replace").rstrip()
        raise ArenaError(
            f'{program} printed "{shown}": expected an event as JSON; is it the arena of '
            "Bot Arena? BOT_ARENA names another one"
        ) from None
    if version != _VERSION:
        raise ArenaError(
            f"{program} prints events of version {version}, and this package reads version "
            f"{_VERSION}: install the two of one release"
        )
    return dict(event)
