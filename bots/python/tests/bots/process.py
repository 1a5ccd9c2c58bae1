"""A bot for the tests of processes: `process.py FLAVOUR`. It thinks for ever about a
board of one column, and says in which game it is.
"""

from __future__ import annotations

import asyncio
import sys
import threading

from bot_arena import AsyncBot, Bot, ConnectFourBot, GameOver, GameStart, GetPoint, Point


class Plain(ConnectFourBot):
    def __init__(self, start: GameStart) -> None:
        print(f"game {start.game_id} begins")

    def get_point(self, ask: GetPoint) -> Point:
        if ask.n == 1:
            print("thinking for ever")
            threading.Event().wait()
        return ask.points()[0]

    def game_over(self, over: GameOver) -> None:
        print(f"over: {over.reason}")


class Async(Plain):
    async def get_point(self, ask: GetPoint) -> Point:  # type: ignore[override]
        if ask.n == 1:
            print("thinking for ever")
            await asyncio.Event().wait()
        return ask.points()[0]


if __name__ == "__main__":
    if sys.argv[1] == "plain":
        Bot("process", "1", max_games=4).connect_four(Plain).main()
    else:
        AsyncBot("process", "1", max_games=4).connect_four(Async).main()
