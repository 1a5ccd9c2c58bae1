"""Agents of Kaggle's ConnectX as bots of Connect Four."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bot_arena.kaggle
import grpc
import pytest
from bot_arena import connect_four
from bot_arena._proto.arena.v1 import envelope_pb2 as envelope
from bot_arena._proto.games.connect_four.v1 import connect_four_pb2
from bot_arena.kaggle import Struct, kaggle_bot

from harness import Stream, serving
from test_arena import match, standing

USUAL = "6x7"
# As they are written there: helpers first, the agent last; it keeps what it likes.
AGENT = """
import random
from dataclasses import dataclass

@dataclass
class Memory:
    asked: int = 0

memory = Memory()

def valid(board, columns):
    return [c for c in range(columns) if board[c] == 0]

def my_agent(observation, configuration):
    memory.asked += 1
    assert memory.asked <= configuration["rows"] * configuration.columns // 2, "not run anew"
    assert observation.step % 2 == observation.mark - 1
    assert observation.board.count(observation.mark) == observation["step"] // 2
    assert configuration.inarow == 4 and configuration.timeout == configuration.actTimeout
    return random.choice(valid(observation.board, configuration.columns))
"""


def question(**fields: Any) -> connect_four_pb2.GetPoint:
    """A board of 2 rows and 3 columns with one stone each."""
    return connect_four_pb2.GetPoint(
        **{
            "m": 2,
            "n": 3,
            "top": bytes([1, 1, 2]),
            "board": bytes([0, 0, 0, 1, 2, 0]),
            "last_x": 1,
            "last_y": 0,
            "no_x": -1,
            "no_y": -1,
            **fields,
        }
    )


def asked(agent: Any, folder: Path, seat: int = 0, **fields: Any) -> Any:
    """What it answers: a point, or how it ends its stream."""
    with serving(kaggle_bot(agent), folder) as channel:
        stream = Stream(channel, connect_four.GAME)
        stream.send(
            number=0,
            start=envelope.GameStart(seat=seat, seats=2),
            board=connect_four_pb2.Board(m=2, n=3, no_x=-1, no_y=-1),
        )
        assert stream.answer().ready.bot == "agent"
        limit = {"seconds": 2, "nanos": 500_000_000}
        stream.send(number=1, get_point=question(**fields), limit=limit)
        try:
            answer = stream.answer()
        except grpc.RpcError:
            return stream.status()
        return answer.point.x, answer.point.y


@pytest.mark.parametrize(("seat", "board"), [(0, [0, 0, 0, 2, 1, 0]), (1, [0, 0, 0, 1, 2, 0])])
def test_it_is_told_what_kaggle_tells(tmp_path: Path, seat: int, board: list[int]) -> None:
    told: list[Any] = []

    def agent(observation: Struct, configuration: Struct) -> int:
        told.extend([observation, configuration])
        return 2

    assert asked(agent, tmp_path, seat) == (1, 2)
    observation, configuration = told
    assert observation == {
        "board": board,
        "mark": seat + 1,
        "step": 2,
        "remainingOverageTime": 0,
    }
    assert configuration == {
        "rows": 2,
        "columns": 3,
        "inarow": 4,
        "timeout": 2.5,
        "actTimeout": 2.5,
        "episodeSteps": 1000,
        "runTimeout": 1200,
        "agentTimeout": 60,
    }
    assert configuration.rows == 2 and observation.get("none") is None
    observation.own = 3
    assert observation["own"] == 3
    with pytest.raises(AttributeError, match="nothing"):
        observation.nothing  # noqa: B018


def of_observation(observation: Struct) -> int:
    return int(observation.board.index(0))


class OfBoth:
    def __call__(self, observation: Struct, configuration: Struct) -> int:
        return int(configuration.columns - 2)


@pytest.mark.parametrize("agent", [of_observation, OfBoth()])
def test_agents_take_what_they_like(tmp_path: Path, agent: Callable[..., int]) -> None:
    agent.__name__ = "agent"
    assert asked(agent, tmp_path)[1] in (0, 1)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "the agent returned None: expected a column"),
        (1.5, "the agent returned 1.5: expected a column"),
        (3, "get_point returned 3: expected a Point, or a column that is not full: 0, 1, 2"),
        (-1, "get_point returned -1: expected a Point, or a column that is not full: 0, 1, 2"),
    ],
)
def test_what_is_no_column_is_told(tmp_path: Path, answer: Any, words: str) -> None:
    def agent(observation: Struct, configuration: Struct) -> Any:
        return answer

    assert asked(agent, tmp_path) == (grpc.StatusCode.INTERNAL, words)


def test_a_full_column_is_told(tmp_path: Path) -> None:
    def agent(observation: Struct, configuration: Struct) -> int:
        return 0

    code, words = asked(agent, tmp_path, top=bytes([0, 1, 2]))
    assert words == "get_point returned 0: expected a Point, or a column that is not full: 1, 2"


def test_a_game_with_a_forbidden_cell_is_refused(tmp_path: Path) -> None:
    def agent(observation: Struct, configuration: Struct) -> int:
        return 0

    with serving(kaggle_bot(agent), tmp_path) as channel:
        stream = Stream(channel, connect_four.GAME)
        board = connect_four_pb2.Board(m=9, n=10, no_x=3, no_y=4)
        stream.send(number=0, start=envelope.GameStart(seats=2), board=board)
        code, words = stream.status()
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    assert words.startswith("a Kaggle agent can't know the forbidden cell (3, 4): expected")


def spec(file: Path, *words: str) -> str:
    command = " ".join([sys.executable, "-m", "bot_arena.kaggle", str(file), *words])
    return f"exec:{command}"


def test_a_file_plays_as_it_is(arena: str, tmp_path: Path) -> None:
    file = tmp_path / "submission.py"
    file.write_text(AGENT)
    bots = [spec(file), spec(file)]
    lines = match(arena, tmp_path, "connect-four", bots, f"--setup={USUAL}", "--rounds=4")
    assert standing(lines, "a")["games"] == 8


def test_the_function_that_is_named_plays(arena: str, tmp_path: Path) -> None:
    file = tmp_path / "many.py"
    file.write_text(
        "def leftmost(o):\n  return o.board.index(0)\ndef last(o):\n  raise Exception\n"
    )
    bots = [spec(file, "--function", "leftmost"), "house:random"]
    lines = match(arena, tmp_path, "connect-four", bots, f"--setup={USUAL}", "--rounds=1")
    assert standing(lines, "a")["games"] == 2


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("import nothing_of_this_name\n", [], "No module named 'nothing_of_this_name'"),
        ("x = 3\n", [], "has nothing that can be called"),
        ("def f(o): return 0\n", ["--function", "g"], "has no function g"),
    ],
)
def test_what_is_wrong_in_a_file_is_the_evidence_of_the_foul(
    arena: str, tmp_path: Path, text: str, options: list[str], words: str
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(text)
    told = fouls(arena, tmp_path, spec(file, *options), f"--setup={USUAL}")
    assert all(words in foul["detail"] for foul in told), told


def test_arena_starts_an_agent_by_its_file(arena: str, tmp_path: Path) -> None:
    (tmp_path / "submission.py").write_text(AGENT)
    bots = ["kaggle:submission.py", "house:random"]
    lines = ['game = "connect-four"', 'shape = "round-robin"', "deals = 1"]
    lines += [f"bots = {json.dumps([{'bot': bot} for bot in bots])}".replace('": "', '" = "')]
    (tmp_path / "cup.toml").write_text("\n".join(lines) + "\n")
    folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    match = ["match", "connect-four", *(f"--bot={bot}" for bot in bots), "--deals=1"]
    cup = ["tournament", "run", "cup.toml", "--store=cup.sqlite"]
    for words in [[*match, "--no-records"], cup]:
        done = subprocess.run(
            [arena, *words, "--format=json"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        events = [json.loads(line) for line in done.stdout.splitlines()]
        games = [event for event in events if event["type"] == "game"]
        assert len(games) == 2 and not any(game["fouls"] for game in games)
        # The board of Kaggle, where nothing is said.
        assert all(len(game["places"]) == 2 and game["plies"] <= 42 for game in games)


def test_a_forbidden_cell_is_a_foul_that_says_what_to_do(arena: str, tmp_path: Path) -> None:
    file = tmp_path / "submission.py"
    file.write_text(AGENT)
    told = fouls(arena, tmp_path, spec(file))
    assert [foul["kind"] for foul in told] == ["no-start"] * 2
    detail = told[0]["detail"]
    assert "can't know the forbidden cell" in detail and "--setup 6x7" in detail


def fouls(arena: str, folder: Path, bot: str, *options: str) -> list[dict[str, Any]]:
    """The fouls of a deal, in which this bot starts no game."""
    bots = [f"--bot=a={bot}", "--bot=b=house:random", "--deals=1", "--no-records"]
    done = subprocess.run(
        [arena, "match", "connect-four", *bots, *options, "--format=json"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = map(json.loads, done.stdout.splitlines())
    found = [foul for line in lines if line["type"] == "game" for foul in line["fouls"]]
    assert len(found) == 2
    return found


@pytest.mark.parametrize(
    ("text", "words"), [(None, "No such file"), ("def\n", "invalid syntax")]
)
def test_a_file_that_can_not_be_read_ends_the_program(
    tmp_path: Path, text: str | None, words: str
) -> None:
    file = tmp_path / "agent.py"
    if text is not None:
        file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "bot_arena.kaggle", file],
        env={**os.environ, "BOT_LISTEN": f"unix:{tmp_path}/s"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"could not read {file}: ") and words in done.stderr


def test_an_agent_plays_from_here(
    arena: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_ARENA", arena)
    file = tmp_path / "submission.py"
    file.write_text(AGENT)
    agents = [kaggle_bot(file), kaggle_bot(of_observation)]
    result = bot_arena.play(*agents, game="connect-four", deals=2, setup=USUAL)
    assert result.fouls == ()
    assert len(result.games) == 4
