"""Plain functions as bots, in the games in which one question has all that there is to
know.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from bot_arena import connect_four, othello
from bot_arena.connect_four import ConnectFourBot, GetPoint, Point
from bot_arena.game import Game, GameBot, GameStart, wrong
from bot_arena.othello import OthelloBot, RequestMove, Square

Function = Callable[[Any], Any]


def of_function(game: Game[Any, Any], function: Function) -> Callable[[GameStart], GameBot]:
    """What makes the object for one game, which answers each question by this function.
    Raises TypeError where the game has questions that one answer can't be found to alone.
    """
    makers = _ASYNC if is_async(function) else _PLAIN
    make = makers.get(game.service)
    if make is None:
        raise TypeError(
            f"{function!r}: in this game a bot must remember what it was told; expected a "
            f"class that is a {game.bot.__name__}"
        )
    return lambda start: make(start, function)


def is_async(function: object) -> bool:
    """Whether calling it gives something to wait for."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)
    )


class _ConnectFour(ConnectFourBot):
    def __init__(self, start: GameStart, function: Function) -> None:
        super().__init__(start)
        self._function = function

    def get_point(self, ask: GetPoint) -> Point:
        return _point(ask, self._function(ask))


class _AsyncConnectFour(_ConnectFour):
    async def get_point(self, ask: GetPoint) -> Point:  # type: ignore[override]
        return _point(ask, await self._function(ask))


class _Othello(OthelloBot):
    def __init__(self, start: GameStart, function: Function) -> None:
        super().__init__(start)
        self._function = function

    def request_move(self, ask: RequestMove, limit: float) -> Square:
        return _square(self._function(ask))


class _AsyncOthello(_Othello):
    async def request_move(  # type: ignore[override]
        self, ask: RequestMove, limit: float
    ) -> Square:
        return _square(await self._function(ask))


_PLAIN: dict[str, Callable[[GameStart, Function], GameBot]] = {
    connect_four.GAME.service: _ConnectFour,
    othello.GAME.service: _Othello,
}
_ASYNC: dict[str, Callable[[GameStart, Function], GameBot]] = {
    connect_four.GAME.service: _AsyncConnectFour,
    othello.GAME.service: _AsyncOthello,
}


def _point(ask: GetPoint, answer: Any) -> Point:
    """A point as it is, or where a stone of a column lands."""
    try:
        column = answer.__index__()
    except AttributeError:
        return answer  # type: ignore[no-any-return]
    return dropped(ask, column, answer)


def dropped(ask: GetPoint, column: int, answer: object) -> Point:
    """Where a stone of this column lands. Raises `Fault` where it can't be played."""
    landing = ask.landing(column) if 0 <= column < ask.n else None
    if landing is None:
        open_columns = ", ".join(str(point.y) for point in ask.points())
        raise wrong(
            "get_point", answer, f"a Point, or a column that is not full: {open_columns}"
        )
    return landing


def _square(answer: Any) -> Square:
    """A square as it is, or of its name."""
    if not isinstance(answer, str):
        return answer  # type: ignore[no-any-return]
    name = answer.strip().lower()
    if len(name) == 2 and name[0] in "abcdefgh" and name[1] in "12345678":
        return Square(int(name[1]) - 1, "abcdefgh".index(name[0]))
    raise wrong("request_move", answer, 'Square(row, column), or its name such as "d3"')
