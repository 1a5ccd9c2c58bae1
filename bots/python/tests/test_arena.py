"""The samples against the arena's own bots. The environment variable ARENA is the
program that plays the matches.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import Flavour

SAMPLES = Path(__file__).parent.parent / "samples"
RANDOM = {"plain": "random_bot.py", "asyncio": "random_async.py"}
CAREFUL = {"plain": "careful.py", "asyncio": "careful_async.py"}
BOTS = {"connect-four": 2, "othello": 2, "mahjong": 2, "big-two": 4}
# As many games as the samples say that they play at once.
AT_ONCE = 16


def run(program: str, folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [program, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def match(
    program: str, folder: Path, game: str, bots: list[str], *options: str
) -> list[dict[str, Any]]:
    """The lines of a match's report."""
    named = [f"--bot={name}={bot}" for name, bot in zip("abcd", bots, strict=False)]
    limits = ["--move-limit=20s", "--start-limit=60s", "--report=json", "--records=records"]
    text = run(program, folder, "match", game, *named, *limits, *options)
    return [json.loads(line) for line in text.splitlines()]


def sample(name: str) -> str:
    return f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(SAMPLES / name))}"


def standing(lines: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """How this bot came out, once nobody has committed a foul."""
    games = [line for line in lines if line["type"] == "game"]
    assert games and all(game["fouls"] == [] for game in games)
    [end] = [line for line in lines if line["type"] == "standings"]
    [found] = [row for row in end["rows"] if row["bot"] == name]
    return dict(found)


# That the samples play one game at a time is tested with those of all languages: in
# arena/cli/tests/arena/languages.rs.
@pytest.mark.parametrize("game", BOTS)
def test_random_plays_every_game_many_times_at_once(
    arena: str, flavour: Flavour, tmp_path: Path, game: str
) -> None:
    bots = [sample(RANDOM[flavour.name])] + ["house:random"] * (BOTS[game] - 1)
    options = [f"--rounds={AT_ONCE // BOTS[game]}", f"--concurrency={AT_ONCE}"]
    lines = match(arena, tmp_path, game, bots, *options)
    assert standing(lines, "a")["games"] == AT_ONCE


# That both flavours play the same moves is tested where every language's do.
def test_careful_beats_random(arena: str, flavour: Flavour, tmp_path: Path) -> None:
    bots = [sample(CAREFUL[flavour.name]), "house:random"]
    options = [f"--rounds={AT_ONCE // 2}", f"--concurrency={AT_ONCE}", "--seed=careful"]
    row = standing(match(arena, tmp_path, "connect-four", bots, *options), "a")
    assert row["games"] == AT_ONCE
    assert row["wins"] >= 13


@pytest.mark.parametrize("game", BOTS)
def test_random_can_be_caught_up_at_any_question(
    arena: str, flavour: Flavour, tmp_path: Path, game: str
) -> None:
    """It answers each question of a record anew, caught up to there."""
    lines = match(arena, tmp_path, game, ["house:random"] * BOTS[game], "--rounds=1")
    record = next(line["record"] for line in lines if line["type"] == "game")
    bot = sample(RANDOM[flavour.name])
    seat = ["--seat=0", f"--bot={bot}", "--format=json", "--move-limit=20s"]
    again = run(arena, tmp_path, "replay", "rerun", record, *seat)
    told = [json.loads(line) for line in again.splitlines()]
    answers = [line for line in told if line["type"] == "rerun_answer"]
    assert len(answers) > 3
    assert [answer for answer in answers if "foul" in answer] == []
