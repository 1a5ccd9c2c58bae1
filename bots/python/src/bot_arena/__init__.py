"""Writing a bot: fill in the callbacks of a game, and one line of main.

    from bot_arena import Bot, ConnectFourBot, GetPoint, Point

    class Leftmost(ConnectFourBot):
        def get_point(self, ask: GetPoint) -> Point:
            return ask.points()[0]

    if __name__ == "__main__":
        Bot("leftmost", "1.0").connect_four(Leftmost).main()

`bot_arena.play(Leftmost, "house:random", game="connect-four")` plays it from here, and
returns standings, games and fouls.

The package does the rest: the server, where to listen, Ready, health, reflection, one
object of yours for each game, stopping in order. What a callback raises loses the game
that it happened in and no other.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import google.protobuf
    import grpc
    import grpc_health.v1
    import grpc_reflection.v1alpha
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{sys.executable} lacks {error.name}: start the bot with the python that has "
        "bot_arena (exec:venv/bin/python FILE), or install ./bots/python with pip",
        name=error.name,
    ) from None

from bot_arena.big_two import BigTwoBot, Card, GetPlay, RequestPlay, Scoring, Table
from bot_arena.bot import AsyncBot, Bot
from bot_arena.connect_four import ConnectFourBot, GetPoint, Point
from bot_arena.environment import env
from bot_arena.game import Ending, FoulKind, GameOver, GameStart, SeatResult
from bot_arena.mahjong import MahjongBot, Round, Tile
from bot_arena.othello import PASS, Beginning, OthelloBot, RequestMove, Square
from bot_arena.server import ListenError

if TYPE_CHECKING:
    from bot_arena.participants import Agent
    from bot_arena.playing import Interrupted, play, play_async
    from bot_arena.program import ArenaError
    from bot_arena.records import show
    from bot_arena.results import Estimate, Foul, Pair, PlayedGame, Result, Sprt, Standing

__all__ = [
    "PASS",
    "Agent",
    "ArenaError",
    "AsyncBot",
    "Beginning",
    "BigTwoBot",
    "Bot",
    "Card",
    "ConnectFourBot",
    "Ending",
    "Estimate",
    "Foul",
    "FoulKind",
    "GameOver",
    "GameStart",
    "GetPlay",
    "GetPoint",
    "Interrupted",
    "ListenError",
    "MahjongBot",
    "OthelloBot",
    "Pair",
    "PlayedGame",
    "Point",
    "RequestMove",
    "RequestPlay",
    "Result",
    "Round",
    "Scoring",
    "SeatResult",
    "Sprt",
    "Square",
    "Standing",
    "Table",
    "Tile",
    "env",
    "play",
    "play_async",
    "show",
]

# What plays games and shows them is loaded when somebody asks for it: a bot, of which a tournament
# starts a process for each seating, has no use for it.
_LATER = {
    "Agent": "participants",
    "ArenaError": "program",
    "Estimate": "results",
    "Foul": "results",
    "Interrupted": "playing",
    "Pair": "results",
    "PlayedGame": "results",
    "Result": "results",
    "Sprt": "results",
    "Standing": "results",
    "play": "playing",
    "play_async": "playing",
    "show": "records",
}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
