"""A bot that joins an arena, whose lobby is the test."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from bot_arena import connect_four
from bot_arena._proto.arena.v1 import envelope_pb2 as envelope
from bot_arena._proto.arena.v1.lobby_pb2 import (
    FromBot,
    FromSeat,
    Greeting,
    Invitation,
    Ping,
    Superseded,
    Take,
    ToBot,
    ToSeat,
)
from bot_arena.joining import join
from bot_arena.server import ListenError

from harness import TIMEOUT, Flavour, _loop, get_point
from test_session import Leftmost

GAME = connect_four.GAME
KEY = b"0123456789abcdef"
TOKEN = "arena_" + "5" * 64


class Seat:
    """The arena's side of a stream of one seat."""

    def __init__(self, requests: Iterator[FromSeat]) -> None:
        self._requests = requests
        self.take: Take = next(requests).take
        self.down: queue.SimpleQueue[ToSeat | grpc.StatusCode | None] = queue.SimpleQueue()

    def send(self, **fields: Any) -> None:
        self.down.put(ToSeat(call=GAME.call(**fields).SerializeToString()))

    def message(self) -> FromSeat:
        return next(self._requests)

    def answer(self) -> Any:
        return GAME.answer.FromString(self.message().answer)


class Lobby:
    """The lobby of an arena."""

    def __init__(self) -> None:
        self.bots: queue.SimpleQueue[tuple[FromBot, str]] = queue.SimpleQueue()
        # What a bot sends on its control stream, once it has answered a ping.
        self.requests: Iterator[FromBot] = iter(())
        self.pongs: queue.SimpleQueue[FromBot] = queue.SimpleQueue()
        self.down: queue.SimpleQueue[ToBot | grpc.StatusCode | None] = queue.SimpleQueue()
        self.seats: queue.SimpleQueue[Seat] = queue.SimpleQueue()
        # Asks the bot to stop.
        self.stop = asyncio.Event()

    def attend(self, requests: Iterator[FromBot], context: Any) -> Iterator[ToBot]:
        metadata = dict(context.invocation_metadata())
        self.bots.put((next(requests), metadata["authorization"]))
        yield ToBot(greeting=Greeting(name="me"))
        yield ToBot(ping=Ping(number=7))
        pong = next(requests)
        self.requests = requests
        self.pongs.put(pong)
        yield from _told(self.down, context)

    def play(self, requests: Iterator[FromSeat], context: Any) -> Iterator[ToSeat]:
        seat = Seat(requests)
        self.seats.put(seat)
        yield from _told(seat.down, context)

    def invite(self) -> None:
        self.down.put(ToBot(invitation=Invitation(key=KEY, service=GAME.service)))

    def seat(self) -> Seat:
        return self.seats.get(timeout=TIMEOUT)


def _told(messages: queue.SimpleQueue[Any], context: Any) -> Iterator[Any]:
    while (message := messages.get(timeout=TIMEOUT)) is not None:
        if isinstance(message, grpc.StatusCode):
            context.abort(message, "as the test wants it")
        yield message



@contextmanager
def joining(
    flavour: Flavour, folder: Path, monkeypatch: pytest.MonkeyPatch, bot: Any = Leftmost
) -> Iterator[tuple[Lobby, concurrent.futures.Future[None]]]:
    """A lobby, and what becomes of the bot that joins it."""
    lobby = Lobby()
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
    handlers: dict[str, Any] = {
        "Attend": grpc.stream_stream_rpc_method_handler(
            lobby.attend, FromBot.FromString, ToBot.SerializeToString
        ),
        "Play": grpc.stream_stream_rpc_method_handler(
            lobby.play, FromSeat.FromString, ToSeat.SerializeToString
        ),
    }
    service = grpc.method_handlers_generic_handler("arena.v1.Lobby", handlers)
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    token = folder / "token"
    token.write_text(TOKEN + "\n")
    monkeypatch.setenv("BOT_JOIN", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("BOT_TOKEN_FILE", str(token))
    made = flavour.bot("left", "1").connect_four(flavour.of(bot))
    atexit.unregister(made._never_served)
    joined = asyncio.run_coroutine_threadsafe(
        join(made._games.values(), made._ready, made._new_caller, lobby.stop, lambda _: None), _loop
    )
    try:
        yield lobby, joined
    finally:
        lobby.down.put(None)
        _loop.call_soon_threadsafe(lobby.stop.set)
        concurrent.futures.wait([joined], TIMEOUT)
        server.stop(None).wait(TIMEOUT)


def test_a_bot_joins_and_plays(
    flavour: Flavour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with joining(flavour, tmp_path, monkeypatch) as (lobby, joined):
        first, authorization = lobby.bots.get(timeout=TIMEOUT)
        assert list(first.hello.services) == [GAME.service]
        assert authorization == f"Bearer {TOKEN}"
        assert lobby.pongs.get(timeout=TIMEOUT).pong.number == 7
        lobby.invite()
        seat = lobby.seat()
        assert (seat.take.key, seat.take.calls) == (KEY, 0)
        seat.send(number=0, start=envelope.GameStart(seats=2))
        assert seat.answer().ready.bot == "left"
        # It only keeps the stream open.
        seat.down.put(ToSeat())
        assert seat.message() == FromSeat()
        seat.send(number=1, get_point=get_point())
        assert seat.answer().point.y == 0
        seat.send(over=envelope.GameOver())
        seat.down.put(None)
        _loop.call_soon_threadsafe(lobby.stop.set)
        assert next(lobby.requests).HasField("drain")
        # It has ended its side, and waits for the end of ours.
        assert next(lobby.requests, None) is None
        assert not joined.done()
        lobby.down.put(None)
        joined.result(TIMEOUT)


def test_a_bot_that_was_cut_off_comes_back_to_its_game(
    flavour: Flavour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with joining(flavour, tmp_path, monkeypatch) as (lobby, _):
        lobby.invite()
        seat = lobby.seat()
        seat.send(number=0, start=envelope.GameStart(seats=2))
        ready = seat.message().answer
        seat.down.put(grpc.StatusCode.UNAVAILABLE)
        # It waits for the bot, which knows that already.
        lobby.invite()
        back = lobby.seat()
        assert back.take == Take(key=KEY, calls=1, answer=ready)
        back.send(number=1, get_point=get_point())
        assert back.answer().point.y == 0
        back.down.put(None)


def test_what_a_bot_raises_ends_its_game(
    flavour: Flavour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Leftmost):
        def get_point(self, ask: connect_four.GetPoint) -> connect_four.Point:
            raise RuntimeError("no idea")

    with joining(flavour, tmp_path, monkeypatch, Broken) as (lobby, _):
        lobby.invite()
        seat = lobby.seat()
        seat.send(number=0, start=envelope.GameStart(seats=2))
        seat.answer()
        seat.send(number=1, get_point=get_point())
        failure = seat.message().failure
        assert failure.code == grpc.StatusCode.INTERNAL.value[0]
        assert "no idea" in failure.message
        seat.down.put(None)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (ToBot(superseded=Superseded()), "another process has joined"),
        (grpc.StatusCode.UNAUTHENTICATED, "as the test wants it"),
        (grpc.StatusCode.UNIMPLEMENTED, "no lobby"),
    ],
)
def test_a_bot_that_is_not_let_in_says_why(
    flavour: Flavour,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    message: Any,
    words: str,
) -> None:
    with joining(flavour, tmp_path, monkeypatch) as (lobby, joined):
        lobby.down.put(message)
        with pytest.raises(ListenError, match=words):
            joined.result(TIMEOUT)


@pytest.mark.parametrize(
    ("address", "token", "words"),
    [
        ("arena.example:5", TOKEN, "expected https://HOST:PORT"),
        ("http://arena.example:5", TOKEN, "it has no TLS"),
        ("http://127.arena.example:5", TOKEN, "it has no TLS"),
        ("https://arena.example:5", "secret", "expected one token"),
        ("https://arena.example:5", None, "BOT_TOKEN_FILE must name"),
    ],
)
def test_what_can_not_be_joined_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    token: str | None,
    words: str,
) -> None:
    monkeypatch.setenv("BOT_JOIN", address)
    monkeypatch.delenv("BOT_TOKEN_FILE", raising=False)
    if token is not None:
        file = tmp_path / "token"
        file.write_text(token)
        monkeypatch.setenv("BOT_TOKEN_FILE", str(file))
    ready = envelope.Ready()
    with pytest.raises(ListenError, match=words) as raised:
        asyncio.run(join([], ready, lambda: None, asyncio.Event(), print))  # type: ignore[arg-type,return-value]
    assert "secret" not in str(raised.value)
