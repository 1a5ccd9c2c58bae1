"""A program for the tests of `play`: `plays.py HOW` plays without an end, and says how it
was stopped.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

from bot_arena import Agent, ConnectFourBot, GetPoint, Interrupted, Point, play, play_async


class Slow(ConnectFourBot):
    def get_point(self, ask: GetPoint) -> Point:
        begun()
        threading.Event().wait(0.01)
        return ask.points()[0]


class Endless(ConnectFourBot):
    def get_point(self, ask: GetPoint) -> Point:
        begun()
        while True:
            pass


def begun() -> None:
    if not announced:
        announced.append(True)
        print("begun", flush=True)


announced: list[bool] = []


def main(how: str) -> None:
    options: Any = {"game": "connect-four", "deals": 100_000, "progress": False}
    some: dict[str, list[Agent]] = {
        "match": [Slow, "house:random"],
        "endless": [Endless, "house:random"],
        "async": [Slow, "house:random"],
        # The first match is between the last two, and never ends.
        "tournament": [Slow, "a=house:random", "b=house:random"],
    }
    agents = some[how]
    games = 0
    if how == "tournament":
        threading.Timer(1, begun).start()
    try:
        if how == "async":
            asyncio.run(play_async(*agents, **options))
        else:
            play(*agents, **options)
    except Interrupted as stopped:
        games = len(stopped.result.games)
    except KeyboardInterrupt:
        assert how == "async"
    threads = ", ".join(thread.name for thread in threading.enumerate())
    print(f"interrupted after {games} games, threads: {threads}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
