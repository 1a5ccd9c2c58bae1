"""Agents of Kaggle's ConnectX as bots of Connect Four."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bot_arena
import grpc
import pytest
from bot_arena import connect_four
from bot_arena._proto.arena.v1 import envelope_pb2 as envelope
from bot_arena._proto.games.connect_four.v1 import connect_four_pb2
from bot_arena.kaggle import Struct, kaggle_bot

from harness import Stream, serving


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


def test_an_agent_plays_from_here_on_kaggles_board(
    arena: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_ARENA", arena)
    file = tmp_path / "submission.py"
    file.write_text("def agent(observation):\n  return observation.board.index(0)\n")
    agents: list[Any] = [f"kaggle:{file}", kaggle_bot(of_observation)]
    # Who serves one, or names a file: the board is Kaggle's where nothing is said.
    for bots in [agents, [kaggle_bot(of_observation), "house:random"]]:
        result = bot_arena.play(*bots, game="connect-four", deals=2)
        assert result.fouls == ()
        assert len(result.games) == 4
