"""Joining an arena instead of listening: a bot that nobody can dial dials the arena's lobby
(`arena.v1.Lobby`), and is invited to games there.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import grpc
import grpc.aio

from bot_arena._proto.arena.v1.envelope_pb2 import Ready
from bot_arena._proto.arena.v1.lobby_pb2 import (
    Drain,
    Failure,
    FromBot,
    FromSeat,
    Hello,
    Invitation,
    Pong,
    Take,
    ToBot,
    ToSeat,
)
from bot_arena.server import GRACE, ListenError, RunningGames
from bot_arena.session import OnLoop, OwnThread, ServedGame

# The arena sends a ping every two seconds. After so many without one its stream is dead.
_SILENT = 6.0
_OPENS_WITHIN = 10.0
# The pause before the arena is dialled again: at first, and at most.
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 2.0
# How long to try to come back to a game; the arena waits for less.
_BACK_WITHIN = 35.0
# How long the last messages of a game, and of a control stream, may take.
_LAST_MESSAGES = 5.0
_LARGEST_CALL = 4 * 1024 * 1024
# Where the arena does not let a bot in, and will not later.
_REFUSED = (
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.INVALID_ARGUMENT,
)
# Statuses of the arena that end a game; others are those of a connection that broke.
_LAST = (*_REFUSED, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.ABORTED)


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


async def join(
    games: Iterable[ServedGame],
    ready: Ready,
    new_caller: Callable[[], OwnThread | OnLoop],
    stop: asyncio.Event,
    attending: Callable[[str], None],
) -> None:
    """Attends at the arena that `BOT_JOIN` names until it is told to stop, and comes back
    wherever it is cut off. Tells `attending` each time it is let in. Raises `ListenError`.
    """
    arena = _Arena(games, RunningGames(ready, new_caller), attending)
    told, pause = "", _FIRST_PAUSE
    loop = asyncio.get_running_loop()
    while not stop.is_set():
        began = loop.time()
        why = await arena.attend(stop)
        if loop.time() - began > _LONGEST_PAUSE:
            pause = _FIRST_PAUSE
        if not stop.is_set() and why != told:
            _say(f"{arena.address}: {why}; it is tried again")
            told = why
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    await arena.finish()


async def _hear_out(call: Any, read: asyncio.Future[Any]) -> None:
    """Waits for the end of a stream whose side that is ours has ended: who drops a stream, or stops
    to read from it, may lose its last message.
    """
    while isinstance(await read, ToBot):
        read = asyncio.ensure_future(call.read())


class _Arena:
    """The arena, and the games that it has invited to."""

    def __init__(
        self,
        games: Iterable[ServedGame],
        running: RunningGames,
        attending: Callable[[str], None],
    ) -> None:
        self.address = os.environ["BOT_JOIN"]
        self._games = {served.game.service: served for served in games}
        self._running = running
        self._attending = attending
        self._target, self._secure = self._read()
        self._metadata = (("authorization", f"Bearer {self._token()}"),)
        self._credentials = self._authorities() if self._secure else None
        # That of the last control stream; and the same while that is open.
        self._last: grpc.aio.Channel | None = None
        self._channel: grpc.aio.Channel | None = None
        # Set, and replaced, when there is another connection.
        self._moved = asyncio.Event()
        self._seats: dict[bytes, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._finished = False

    def _wrong(self, why: str) -> ListenError:
        return ListenError(f'could not join: BOT_JOIN is "{self.address}": {why}')

    def _read(self) -> tuple[str, bool]:
        found = re.fullmatch(r"(https?)://(\[[^\[\]]+\]|[^:/@\[\]]+):([0-9]{1,5})/?", self.address)
        if not found:
            raise self._wrong("expected https://HOST:PORT or http://HOST:PORT")
        secure, host = found[1] == "https", found[2]
        if not secure and not _is_this_machine(host):
            raise self._wrong(
                "it has no TLS, and whoever is between could read the token: use https://"
            )
        return f"{host}:{found[3]}", secure

    def _token(self) -> str:
        file = os.environ.get("BOT_TOKEN_FILE")
        if file is None:
            raise self._wrong("BOT_TOKEN_FILE must name the file with the token that you were given")
        try:
            with open(file, encoding="utf-8") as opened:
                text = opened.read(4096)
        except (OSError, UnicodeDecodeError) as error:
            raise self._wrong(f"could not read the token file {file}: {error}") from error
        lines = [line.strip() for line in text.splitlines()]
        tokens = [line for line in lines if line and not line.startswith("#")]
        if len(tokens) != 1 or not re.fullmatch(r"arena_[0-9a-fA-F]{64}", tokens[0]):
            raise self._wrong(f"{file}: expected one token: arena_ and 64 hexadecimal digits")
        return tokens[0]

    def _authorities(self) -> grpc.ChannelCredentials:
        file = os.environ.get("BOT_CA")
        if file is None:
            return grpc.ssl_channel_credentials()
        try:
            with open(file, "rb") as opened:
                return grpc.ssl_channel_credentials(opened.read())
        except OSError as error:
            raise self._wrong(f"could not read BOT_CA {file}: {error}") from error

    def _connect(self) -> grpc.aio.Channel:
        # A channel of its own each time: a connection that is dead is not found again.
        options = [
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.max_receive_message_length", _LARGEST_CALL),
        ]
        if self._credentials is None:
            return grpc.aio.insecure_channel(self._target, options=options)
        return grpc.aio.secure_channel(self._target, self._credentials, options=options)

    async def attend(self, stop: asyncio.Event) -> str:
        """One control stream to its end. Says why it has ended. Raises `ListenError`."""
        channel = self._connect()
        attend: Any = channel.stream_stream(
            "/arena.v1.Lobby/Attend",
            request_serializer=FromBot.SerializeToString,
            response_deserializer=ToBot.FromString,
        )
        call = attend(metadata=self._metadata)
        stopped = asyncio.ensure_future(stop.wait())
        try:
            return await self._hear(channel, call, stopped)
        except grpc.aio.AioRpcError as error:
            return self._ended(error)
        except asyncio.TimeoutError:
            return "it does not answer"
        finally:
            stopped.cancel()
            call.cancel()
            # Games go on by streams that are open; none is opened before it is found again.
            self._channel = None
            if channel is not self._last:
                await channel.close()

    async def _hear(
        self, channel: grpc.aio.Channel, call: Any, stopped: asyncio.Future[Any]
    ) -> str:
        hello = Hello(services=list(self._games), program="bot_arena (Python)")
        await asyncio.wait_for(call.write(FromBot(hello=hello)), _OPENS_WITHIN)
        patience = _OPENS_WITHIN
        while True:
            read = asyncio.ensure_future(call.read())
            await asyncio.wait(
                {read, stopped}, timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
            if stopped.done() and not read.done():
                await call.write(FromBot(drain=Drain()))
                await self.finish()
                await call.done_writing()
                await asyncio.wait_for(_hear_out(call, read), _LAST_MESSAGES)
                return "it was stopped"
            if not read.done():
                read.cancel()
                return "nothing is heard of it"
            message = read.result()
            if not isinstance(message, ToBot):
                return "it has ended the stream"
            patience = _SILENT
            kind = message.WhichOneof("message")
            if kind == "greeting":
                self._attending(f"{self.address} as {message.greeting.name}")
                await self._move(channel)
            elif kind == "ping":
                await call.write(FromBot(pong=Pong(number=message.ping.number)))
            elif kind == "invitation":
                self._take(message.invitation)
            elif kind == "superseded":
                await self.finish()
                raise ListenError(
                    f"could not join: {self.address}: another process has joined with the same "
                    "token, and this one ends; each process needs a token of its own"
                )

    def _ended(self, error: grpc.aio.AioRpcError) -> str:
        if error.code() == grpc.StatusCode.UNIMPLEMENTED:
            raise self._wrong("this arena has no lobby: `arena serve --lobby FILE` opens it")
        if error.code() in _REFUSED:
            raise ListenError(f"could not join: {self.address}: {error.details()}")
        return error.details() or error.code().name

    async def _move(self, channel: grpc.aio.Channel) -> None:
        old, self._last, self._channel = self._last, channel, channel
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
        if old is not None:
            # Its games go to the new one first: to the arena that is no absence.
            closing = asyncio.ensure_future(old.close(grace=_LAST_MESSAGES))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def finish(self) -> None:
        """Waits once, for a while, until no game is played."""
        if self._seats and not self._finished:
            self._finished = True
            await asyncio.wait(set(self._seats.values()), timeout=GRACE)

    def _take(self, invitation: Invitation) -> None:
        """An invitation to a game that is played already says that it waits for us, which its
        own task knows.
        """
        if invitation.key not in self._seats:
            task = asyncio.ensure_future(self._play(invitation))
            self._seats[invitation.key] = task
            task.add_done_callback(lambda _: self._seats.pop(invitation.key, None))

    async def _play(self, invitation: Invitation) -> None:
        seat = _Seat(invitation.key)
        served = self._games.get(invitation.service)
        if served is None:
            return
        game = asyncio.ensure_future(self._running.play(served, seat))
        game.add_done_callback(lambda _: seat.answers.put_nowait(None))
        loop = asyncio.get_running_loop()
        since = loop.time()
        try:
            while not await self._sit(seat):
                if seat.was_heard:
                    seat.was_heard, since = False, loop.time()
                if loop.time() - since > _BACK_WITHIN:
                    break
                if seat.replaced is None:
                    with suppress(asyncio.TimeoutError):
                        await asyncio.wait_for(self._moved.wait(), _FIRST_PAUSE)
            # It hears that there is no further call.
            seat.calls.put_nowait(None)
            await asyncio.wait({game}, timeout=_LAST_MESSAGES)
        finally:
            game.cancel()
            seat.drop_replaced()

    async def _sit(self, seat: _Seat) -> bool:
        """Plays by one stream. True if the game is over for us; else the stream broke, or the
        arena was reached in another way meanwhile.
        """
        if self._channel is None:
            return False
        play: Any = self._channel.stream_stream(
            "/arena.v1.Lobby/Play",
            request_serializer=FromSeat.SerializeToString,
            response_deserializer=ToSeat.FromString,
        )
        call = play(metadata=self._metadata)
        seat.current = call
        moved = asyncio.ensure_future(self._moved.wait())
        sending: asyncio.Future[Any] = asyncio.ensure_future(seat.send(call))
        hearing: asyncio.Future[Any] = asyncio.ensure_future(seat.hear(call))
        try:
            tasks = {moved, sending, hearing}
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if moved.done():
                seat.drop_replaced()
                seat.replaced = call, hearing
                return False
            seat.drop_replaced()
            if not hearing.done():
                # Our side has ended, and its last message is not to be lost; or it broke.
                await asyncio.wait({hearing}, timeout=_LAST_MESSAGES)
            if not hearing.done() or hearing.cancelled():
                return False
            error = hearing.exception()
            if error is None:
                return True
            return isinstance(error, grpc.aio.AioRpcError) and error.code() in _LAST
        finally:
            # Who stops to read from a call cancels it.
            goes_on = seat.replaced is not None and seat.replaced[0] is call
            over = [moved, sending] if goes_on else [moved, sending, hearing]
            for task in over:
                task.cancel()
            await asyncio.gather(*over, return_exceptions=True)
            if not goes_on:
                call.cancel()


class _Seat:
    """A game on the side of the bot: what its session reads from and writes to."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._heard = 0
        self._last = b""
        self._status: tuple[grpc.StatusCode, str] | None = None
        self.calls: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.answers: asyncio.Queue[bytes | None] = asyncio.Queue()
        # True if the arena was heard by the last stream.
        self.was_heard = False
        # The stream that is heard.
        self.current: Any = None
        # One that it takes the place of, and who reads from that: open until the arena has the
        # new one.
        self.replaced: tuple[Any, asyncio.Future[Any]] | None = None

    def drop_replaced(self) -> None:
        if self.replaced is not None:
            call, hearing = self.replaced
            self.replaced = None
            hearing.cancel()
            call.cancel()

    async def read(self) -> bytes | None:
        return await self.calls.get()

    async def write(self, answer: bytes) -> None:
        self._last = answer
        self.answers.put_nowait(answer)

    def set_code(self, code: grpc.StatusCode) -> None:
        self._status = (code, "")

    def set_details(self, words: str) -> None:
        if self._status is not None:
            self._status = (self._status[0], words)

    async def send(self, call: Any) -> None:
        """Sends to the arena until the session has ended."""
        take = Take(key=self._key, calls=self._heard, answer=self._last)
        # What is still in the queue is the last answer.
        while not self.answers.empty():
            if self.answers.get_nowait() is None:
                self.answers.put_nowait(None)
                break
        await call.write(FromSeat(take=take))
        while (answer := await self.answers.get()) is not None:
            await call.write(FromSeat(answer=answer) if answer else FromSeat())
        self.answers.put_nowait(None)
        # Without a status it has hung up.
        code, words = self._status or (grpc.StatusCode.OK, "")
        failure = Failure(code=code.value[0], message=words)
        await call.write(FromSeat(failure=failure))
        await call.done_writing()

    async def hear(self, call: Any) -> None:
        """Hears the arena until it has no further call."""
        while isinstance(message := await call.read(), ToSeat) and call is self.current:
            self.was_heard = True
            if message.HasField("call"):
                self._heard += 1
                self.calls.put_nowait(message.call)
            else:
                # One side writes: an empty message keeps the stream open.
                self.answers.put_nowait(b"")
