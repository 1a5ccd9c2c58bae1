"""`env`: games as environments of PettingZoo, whose rules are those of `arena`."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import bot_arena
import numpy as np
import pytest
from bot_arena import ArenaError
from pettingzoo.test import api_test, seed_test

GAMES = ["othello", "connect-four", "mahjong"]


@pytest.fixture(autouse=True)
def _arena(arena: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BOT_ARENA", arena)
    yield
    # A process that was left behind would be seen as a warning, which is an error here.
    gc.collect()


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_own_tests(game: str) -> None:
    with warnings.catch_warnings():
        # Gymnasium's, about shapes that are no pictures.
        warnings.simplefilter("ignore")
        api_test(bot_arena.env(game), num_cycles=200)
        seed_test(lambda: bot_arena.env(game), num_cycles=20)


def played(env: Any, choose: Any) -> list[tuple[str, int]]:
    """A whole game: who played what."""
    moves = []
    for agent in env.agent_iter():
        observation, _, over, cut, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        if over or cut:
            env.step(None)
            continue
        legal = np.flatnonzero(observation["action_mask"])
        action = int(choose(legal))
        moves.append((agent, action))
        env.step(action)
    return moves


@pytest.mark.parametrize("game", GAMES)
def test_a_seed_is_the_same_deal(game: str) -> None:
    env = bot_arena.env(game)
    games = []
    for seed in (2**64 - 1, 2**64 - 1, 7):
        env.reset(seed=seed)
        games.append(played(env, random.Random(1).choice))
    assert games[0] == games[1]
    if game == "mahjong":
        assert games[0] != games[2]
    env.close()


def test_othello_begins_and_ends_by_the_rules() -> None:
    env = bot_arena.env()
    env.reset()
    assert env.agent_selection == "player_0"
    observation = env.observe("player_0")
    assert np.flatnonzero(observation["action_mask"]).tolist() == [19, 26, 37, 44]
    assert np.argwhere(observation["observation"][..., 0]).tolist() == [[3, 4], [4, 3]]
    assert env.observe("player_1")["action_mask"].sum() == 0
    for wrong in (0, 64, -1, None):
        with pytest.raises(ValueError, match="expected one of 19, 26, 37, 44"):
            env.step(wrong)
    env.step(19)
    after = env.observe("player_1")["observation"]
    assert (after[..., 1].sum(), after[..., 0].sum()) == (4, 1)
    # f5d6c3 ends with white to move in a position that was set up.
    env.reset()
    played(env, min)
    assert env.agents == []


def test_the_end_has_a_reward_for_each_and_a_reason() -> None:
    env = bot_arena.env("connect-four")
    env.reset(seed=1)
    for column in (3, 0, 3, 0, 3, 0, 3):
        env.step(column)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": 1, "player_1": -1}
    assert "four" in env.infos["player_0"]["reason"]
    assert env.infos["player_1"]["score"] < 0


def test_a_set_up_is_the_games_own() -> None:
    setup = {"rows": 5, "columns": 4, "forbidden": "(4, 1)"}
    env = bot_arena.env("connect-four", setup=setup)
    env.reset()
    observation = env.observe("player_0")["observation"]
    assert observation.shape == (5, 4, 3)
    assert np.argwhere(observation).tolist() == [[4, 1, 2]]
    env = bot_arena.env("othello", setup="f5d6c3")
    env.reset()
    assert env.agent_selection == "player_1"
    env.close()
    for wrong in ("..../.... 1", {"rows": 5}):
        with pytest.raises(ValueError, match="expected one that says rows and columns"):
            bot_arena.env("connect-four", setup=wrong)
    env = bot_arena.env("othello", setup="z9")
    with pytest.raises(ArenaError, match="--setup"):
        env.reset()


def test_what_there_is_not() -> None:
    with pytest.raises(ValueError, match="there is no environment of big-two"):
        bot_arena.env("big-two")
    with pytest.raises(ValueError, match='there is no game "chess"'):
        bot_arena.env("chess")


@pytest.mark.parametrize("module", ["pettingzoo", "numpy"])
def test_without_pettingzoo_it_says_what_to_install(module: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; import bot_arena; bot_arena.env()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "bot_arena.env needs PettingZoo" in last and "pip install pettingzoo" in last
