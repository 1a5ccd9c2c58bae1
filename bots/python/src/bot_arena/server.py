"""Where a bot listens, what it serves, and how it stops."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol
from urllib.parse import quote

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection, reflection_pb2

from bot_arena._proto.arena.v1.envelope_pb2 import Ready
from bot_arena.game import Fault
from bot_arena.session import OnLoop, OwnThread, ServedGame, Session

# How long games may go on after the bot was asked to stop, in seconds.
GRACE = 5.0
# How long a new game waits for one to end, in seconds: a referee that plays one game
# after another may open the next before we have seen the last one end.
SLOT_WAIT = 1.0


class ListenError(Exception):
    """A bot can't listen where it should."""


async def serve(
    address: str,
    games: Iterable[ServedGame],
    ready: Ready,
    new_caller: Callable[[], OwnThread | OnLoop],
    stop: asyncio.Event,
    listening: Callable[[str], None],
) -> None:
    """Serves until it is told to stop; tells `listening` the address once it listens.
    Raises `ListenError`.
    """
    target, path = _read(address)
    running = RunningGames(ready, new_caller)
    # Otherwise two servers could share a port, and each would get some of the games.
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    statuses = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(statuses, server)
    names = []
    for served in games:
        server.add_generic_rpc_handlers((running.handler(served),))
        await statuses.set(served.game.service, health_pb2.HealthCheckResponse.SERVING)
        names.append(served.game.service)
    _reflect(server, [*names, health.SERVICE_NAME, reflection.SERVICE_NAME])

    try:
        _probe(target, path)
        port = server.add_insecure_port(target)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ListenError(f"could not listen on {address}: {why}") from error
    await server.start()
    shown = f"unix:{path}" if path is not None else f"{address.rpartition(':')[0]}:{port}"
    listening(shown)
    try:
        await stop.wait()
        # New streams are refused from here on.
        stopping = asyncio.ensure_future(server.stop(GRACE))
        await statuses.enter_graceful_shutdown()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(running.empty.wait(), GRACE)
        # A client that watches our health must not keep us running.
        await server.stop(None)
        await stopping
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(running.empty.wait(), 1)
    finally:
        await server.stop(None)
        if path is not None:
            remove_socket(path)


class GameStream(Protocol):
    """The stream of one game: calls are read, and something else at its end; answers are
    written.
    """

    async def read(self) -> object: ...

    async def write(self, answer: bytes, /) -> None: ...

    def set_code(self, code: grpc.StatusCode, /) -> None: ...

    def set_details(self, words: str, /) -> None: ...


class RunningGames:
    """The games that run at the same time, at most `max_games`."""

    def __init__(self, ready: Ready, new_caller: Callable[[], OwnThread | OnLoop]) -> None:
        self._ready = ready
        self._new_caller = new_caller
        self._games = 0
        self._room = asyncio.Event()
        self.empty = asyncio.Event()
        self._count(0)

    def handler(self, served: ServedGame) -> grpc.GenericRpcHandler:
        """What serves a game's one call. Messages pass through as bytes."""

        async def play(_: object, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
            await self.play(served, context)

        method: Any = grpc.stream_stream_rpc_method_handler(play)
        return grpc.method_handlers_generic_handler(served.game.service, {"Play": method})

    async def play(self, served: ServedGame, context: GameStream) -> None:
        """One game, by one stream. What is wrong with it is the stream's status."""
        try:
            async with self._slot():
                await self._play(served, context)
        except Fault as fault:
            # An abort would raise an exception that gRPC and its own frames keep.
            context.set_code(fault.code)
            context.set_details(fault.words)

    async def _play(self, served: ServedGame, context: GameStream) -> None:
        caller = self._new_caller()
        session = Session(served, self._ready, caller)
        # In a separate task: here only the stream is cancelled, whatever the author's
        # code may cancel there.
        game = asyncio.ensure_future(_converse(session, context))
        try:
            await asyncio.wait({game})
        finally:
            caller.close()
            if game.cancel():
                await asyncio.gather(game, return_exceptions=True)
        if game.cancelled():
            raise Fault(grpc.StatusCode.INTERNAL, "the bot cancelled the task of its game")
        try:
            await game
        finally:
            # The traceback of what it raised has this frame: they would keep each other.
            del game

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        until = asyncio.get_running_loop().time() + SLOT_WAIT
        while self._games >= self._ready.max_games:
            left = until - asyncio.get_running_loop().time()
            try:
                await asyncio.wait_for(self._room.wait(), left)
            except asyncio.TimeoutError:
                # A place may have come free in the same turn of the loop.
                if self._games < self._ready.max_games:
                    break
                words = f"max_games is {self._games}, and as many games are running"
                raise Fault(grpc.StatusCode.RESOURCE_EXHAUSTED, words) from None
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        self._games += change
        for event, is_so in [
            (self._room, self._games < self._ready.max_games),
            (self.empty, self._games == 0),
        ]:
            if is_so:
                event.set()
            else:
                event.clear()


async def _converse(session: Session, context: GameStream) -> None:
    while isinstance(message := await context.read(), bytes):
        answer = await session.hear(message)
        if answer is not None:
            await context.write(answer)


def _read(address: str) -> tuple[str, str | None]:
    """An address as gRPC has it, and the path if it is a socket's."""
    if unix := re.fullmatch(r"unix:(?://)?(.+)", address, re.S):
        return f"unix:{quote(unix[1])}", unix[1]
    tcp = re.fullmatch(r"tcp:(\[[^\[\]]+\]|[^:\[\]]+):([0-9]{1,5})", address)
    if tcp and int(tcp[2]) < 1 << 16:
        return f"{tcp[1]}:{int(tcp[2])}", None
    raise ListenError(f'BOT_LISTEN is "{address}": expected unix:PATH or tcp:HOST:PORT')


def _probe(target: str, path: str | None) -> None:
    """Raises OSError where the address can't be used: gRPC would not say why."""
    if path is not None:
        remove_socket(path)
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(path)
        remove_socket(path)
        return
    host, _, port = target.rpartition(":")
    for family, kind, _, _, place in socket.getaddrinfo(
        host.strip("[]"), port, type=socket.SOCK_STREAM
    ):
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)


def remove_socket(path: str) -> None:
    """Removes a socket that a dead process left behind; nothing else."""
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            os.unlink(path)


def _reflect(server: grpc.aio.Server, services: list[str]) -> None:
    reflection.enable_server_reflection(services, server)
    # The package knows only v1alpha. The messages of v1 are the same.
    method = grpc.stream_stream_rpc_method_handler(
        reflection.aio.ReflectionServicer(services).ServerReflectionInfo,
        reflection_pb2.ServerReflectionRequest.FromString,
        reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(
                "grpc.reflection.v1.ServerReflection", {"ServerReflectionInfo": method}
            ),
        )
    )
