"""The program `arena`: where it is, and what it answers to a short question."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

# The environment variable that names the program.
VARIABLE = "BOT_ARENA"


class ArenaError(Exception):
    """The program `arena` is not there, refuses what it is told, or fails."""


def find_arena() -> str:
    """The path of the program `arena`: what the environment variable `BOT_ARENA` names;
    else the one that came with this package; else the first on the `PATH`. Raises
    `ArenaError`.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not _is_program(Path(named)):
            raise ArenaError(f'{VARIABLE} is "{named}": expected the path of the program arena')
        return os.path.abspath(named)
    for place in _beside():
        if _is_program(place):
            return str(place)
    found = shutil.which("arena")
    if found is None:
        tried = ", ".join(str(place) for place in _beside())
        raise ArenaError(
            f"found no program arena: neither {tried} nor one on the PATH; install the wheel "
            "that has it, or build it with `cargo build --release -p arena -p arena-serve` "
            f"and set {VARIABLE} to its path"
        )
    return os.path.abspath(found)


def ask_arena(arguments: list[str]) -> bytes:
    """What it prints for these arguments. Raises `ArenaError` where it fails."""
    program = find_arena()
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise ArenaError(f"could not run {program}: {error}") from None
    if done.returncode != 0:
        raise ArenaError(
            failure(program, done.returncode, done.stderr.decode(errors="replace"))
        )
    return done.stdout


def failure(program: str, code: int, words: str) -> str:
    """Why it ended with this code, where these were its last words."""
    told = words.strip().removeprefix("error: ")
    how = f"exit code {code}" if code >= 0 else f"signal {-code}"
    return told or f"{program} ended with {how} and said nothing"


def _beside() -> Iterator[Path]:
    """Where a wheel puts it."""
    yield Path(__file__).parent / "_bin" / "arena"
    yield Path(sysconfig.get_path("scripts")) / "arena"


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
