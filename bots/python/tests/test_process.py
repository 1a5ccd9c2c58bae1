"""Bots as processes: where they listen, what they print, how they stop."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import grpc
import pytest
from bot_arena import ListenError
from bot_arena._proto.arena.v1 import envelope_pb2 as envelope
from bot_arena._proto.games.connect_four.v1 import connect_four_pb2
from bot_arena.server import GRACE, _read
from grpc_health.v1 import health_pb2, health_pb2_grpc

from harness import TIMEOUT, Flavour, Stream, get_point

SCRIPT = Path(__file__).parent / "bots" / "process.py"
ONE_COLUMN = connect_four_pb2.GetPoint(m=4, n=1, top=bytes([4]), board=bytes(4))


class Process:
    def __init__(self, popen: subprocess.Popen[str]) -> None:
        self.popen = popen
        assert popen.stdout is not None
        self.stdout: IO[str] = popen.stdout

    def line(self) -> str:
        return self.stdout.readline().rstrip("\n")

    def terminate(self) -> None:
        self.popen.send_signal(signal.SIGTERM)

    def end(self) -> tuple[int, float]:
        """Its exit code, and how long it took to end."""
        began = time.monotonic()
        return self.popen.wait(TIMEOUT), time.monotonic() - began


@contextmanager
def process(flavour: str, listen: str, folder: Path) -> Iterator[Process]:
    with (folder / "stderr").open("w") as stderr:
        popen = subprocess.Popen(
            [sys.executable, SCRIPT, flavour],
            # Whoever runs the tests may have switched buffering off.
            env={**os.environ, "BOT_LISTEN": listen, "PYTHONUNBUFFERED": ""},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    # A line that never comes ends with the process.
    watchdog = threading.Timer(TIMEOUT, popen.kill)
    watchdog.start()
    with popen:
        try:
            yield Process(popen)
        finally:
            watchdog.cancel()
            popen.kill()


@contextmanager
def dial(target: str) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(target, [("grpc.use_local_subchannel_pool", 1)]) as channel:
        yield channel


def refused(listen: str, folder: Path) -> str:
    """What a bot says that can't listen there."""
    with process("plain", listen, folder) as bot:
        assert bot.end()[0] == 1
        assert bot.stdout.read() == ""
    return (folder / "stderr").read_text()


@pytest.mark.parametrize("prefix", ["unix:", "unix://"])
def test_it_listens_on_a_socket(flavour: Flavour, tmp_path: Path, prefix: str) -> None:
    path = tmp_path / "a b%41.sock"
    with process(flavour.name, f"{prefix}{path}", tmp_path) as bot:
        assert bot.line() == f"listening on unix:{path}"
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(path))
        bot.terminate()
        assert bot.end()[0] == 0
        assert not path.exists()
        assert bot.stdout.read() == ""
    assert (tmp_path / "stderr").read_text() == ""


def test_a_path_may_be_relative(flavour: Flavour, tmp_path: Path) -> None:
    with process(flavour.name, "unix:bot.sock", tmp_path) as bot:
        assert bot.line() == "listening on unix:bot.sock"
        with dial(f"unix:{tmp_path}/bot.sock") as channel:
            assert Stream(channel).ready().bot == "process"


def test_a_stale_socket_is_removed(flavour: Flavour, tmp_path: Path) -> None:
    path = tmp_path / "bot.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    assert path.is_socket()
    with process(flavour.name, f"unix:{path}", tmp_path) as bot:
        assert bot.line() == f"listening on unix:{path}"
        with dial(f"unix:{path}") as channel:
            assert Stream(channel).ready().bot == "process"


def test_what_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("text")
    assert refused(f"unix:{path}", tmp_path).startswith(f"could not listen on unix:{path}: ")
    assert path.read_text() == "text"


def test_it_says_which_port_it_has_chosen(flavour: Flavour, tmp_path: Path) -> None:
    with process(flavour.name, "tcp:127.0.0.1:0", tmp_path) as bot:
        found = re.fullmatch(r"listening on tcp:127\.0\.0\.1:([1-9][0-9]*)", bot.line())
        assert found
        with dial(f"127.0.0.1:{found[1]}") as channel:
            assert Stream(channel).ready().bot == "process"
        words = refused(f"tcp:127.0.0.1:{found[1]}", tmp_path)
        assert words == (
            f"could not listen on tcp:127.0.0.1:{found[1]}: Address already in use\n"
        )


@pytest.mark.parametrize(
    "listen",
    ["", "unix:", "unix", "127.0.0.1:50051", "tcp:127.0.0.1", "tcp::50051", "tcp:h:", "tcp:h:x"]
    + ["tcp:h:65536", "tcp:::1:50051", "udp:h:1", " tcp:h:1", "tcp:h:1\n", "grpc://h:1"],
)
def test_a_wrong_address_is_told_what_was_expected(listen: str) -> None:
    with pytest.raises(ListenError) as raised:
        _read(listen)
    words = f'BOT_LISTEN is "{listen}": expected unix:PATH or tcp:HOST:PORT'
    assert str(raised.value) == words


def test_a_wrong_address_is_exit_code_1_and_a_line(tmp_path: Path) -> None:
    words = 'BOT_LISTEN is "localhost": expected unix:PATH or tcp:HOST:PORT\n'
    assert refused("localhost", tmp_path) == words


def words_of(code: str) -> tuple[int, str]:
    """How a program of these lines ends, and what it says on standard error."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.returncode, done.stderr


def test_a_bot_whose_main_is_never_called_says_so() -> None:
    made = "from bot_arena import AsyncBot, Bot; "
    assert words_of(made + "Bot('mine', '1')") == (
        0,
        "Bot('mine', …) was never served: call its main()\n",
    )
    assert "AsyncBot('mine', …) was never served" in words_of(made + "AsyncBot('mine', '1')")[1]
    # What an exception says is not hidden by it.
    code, words = words_of(made + "Bot('mine', '1'); 1 / 0")
    assert code == 1 and words.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize("module", ["grpc", "google.protobuf", "grpc_health", "grpc_reflection"])
def test_a_missing_package_is_named_with_the_python_that_lacks_it(module: str) -> None:
    code, words = words_of(f"import sys; sys.modules[{module!r}] = None; import bot_arena")
    assert code == 1
    last = words.splitlines()[-1]
    assert f"{sys.executable} lacks {module}" in last and "exec:venv/bin/python FILE" in last


def test_an_address_of_ipv6_is_in_brackets() -> None:
    assert _read("tcp:[::1]:50051") == ("[::1]:50051", None)


def test_what_a_bot_prints_is_seen_at_once(flavour: Flavour, tmp_path: Path) -> None:
    with process(flavour.name, f"unix:{tmp_path}/bot.sock", tmp_path) as bot:
        bot.line()
        with dial(f"unix:{tmp_path}/bot.sock") as channel:
            stream = Stream(channel)
            stream.send(number=0, start=envelope.GameStart(game_id="g7"))
            assert bot.line() == "game g7 begins"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_bot_ends_at_once_whoever_watches_it(
    flavour: Flavour, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "bot.sock"
    with process(flavour.name, f"unix:{path}", tmp_path) as bot:
        bot.line()
        with dial(f"unix:{path}") as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            watched = stub.Watch(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
            assert next(watched).status == health_pb2.HealthCheckResponse.SERVING
            # A game that is over does not keep it either.
            stream = Stream(channel)
            stream.ready()
            stream.send(over=envelope.GameOver(ending=envelope.ENDING_PLAYED))
            assert stream.close() == []
            bot.popen.send_signal(number)
            code, seconds = bot.end()
        assert code == 0
        assert seconds < GRACE - 1
        assert not path.exists()
    assert (tmp_path / "stderr").read_text() == ""


def test_a_game_goes_on_after_sigterm_and_none_begins(flavour: Flavour, tmp_path: Path) -> None:
    path = tmp_path / "bot.sock"
    with process(flavour.name, f"unix:{path}", tmp_path) as bot:
        bot.line()
        with dial(f"unix:{path}") as channel, dial(f"unix:{path}") as second:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            watched = stub.Watch(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
            next(watched)
            stream = Stream(channel)
            stream.ready()
            bot.terminate()
            assert next(watched).status == health_pb2.HealthCheckResponse.NOT_SERVING
            other = Stream(second)
            other.start()
            assert other.status()[0] == grpc.StatusCode.UNAVAILABLE
            stream.send(number=1, get_point=get_point())
            assert stream.answer().number == 1
            over = envelope.GameOver(ending=envelope.ENDING_PLAYED, reason="four in a row")
            stream.send(over=over)
            assert stream.close() == []
            code, seconds = bot.end()
        assert code == 0
        assert seconds < GRACE - 1
        assert bot.stdout.read().splitlines()[-1] == "over: four in a row"
        assert not path.exists()


def test_a_game_that_goes_on_for_ever_is_cut_off(flavour: Flavour, tmp_path: Path) -> None:
    path = tmp_path / "bot.sock"
    with process(flavour.name, f"unix:{path}", tmp_path) as bot:
        bot.line()
        with dial(f"unix:{path}") as channel:
            stream = Stream(channel)
            stream.ready()
            stream.send(number=1, get_point=ONE_COLUMN)
            assert [bot.line(), bot.line()] == ["game  begins", "thinking for ever"]
            bot.terminate()
            code, seconds = bot.end()
        assert code == 0
        assert seconds > GRACE - 1
        assert not path.exists()
        assert bot.stdout.read() == ""
    assert (tmp_path / "stderr").read_text() == ""
