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
    limits = ["--move-limit=20s", "--start-limit=60s", "--records=records", "--report=json"]
    text = run(program, folder, "match", game, *named, *limits, *options)
    return [json.loads(line) for line in text.splitlines()]


def sample(name: str) -> str:
    return f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(SAMPLES / name))}"


def standings(lines: list[dict[str, Any]]) -> dict[str, Any]:
    [found] = [line for line in lines if line.get("event") == "standings"]
    return found


@pytest.mark.parametrize("game", BOTS)
@pytest.mark.parametrize("at_once", ["1", "16"])
def test_random_plays_every_game_without_a_foul(
    arena: str, flavour: Flavour, tmp_path: Path, game: str, at_once: str
) -> None:
    bots = [sample(RANDOM[flavour.name])] + ["house:random"] * (BOTS[game] - 1)
    rounds = ["--rounds=8", f"--concurrency={at_once}"]
    print(match(arena, tmp_path, game, bots, *rounds)[:3])
