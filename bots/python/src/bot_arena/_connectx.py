"""What an agent of Kaggle's ConnectX is told, and how it is called. The script of `arena` that
plays the agent of a file begins with this text (bots/adapters/lines), so it needs Python's
own library alone.
"""

from __future__ import annotations

import types
from typing import Any, Callable, Dict, Sequence

# How many stones in a line win.
IN_A_ROW = 4
# What else Kaggle's configuration has, with its values there; nothing here goes by it.
OTHERS = {"episodeSteps": 1000, "runTimeout": 1200, "agentTimeout": 60}


class Struct(Dict[str, Any]):
    """What an agent is told: `observation.board` is `observation["board"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def ask(
    agent: Callable[..., Any],
    seat: int,
    size: tuple[int, int],
    cells: Sequence[int],
    limit: float,
) -> Any:
    """What the agent of this seat answers in a position: `size` is rows and columns, a cell
    is 0 where it is free, 1 with a stone of the opponent, 2 with one's own; `limit` is in
    seconds.
    """
    mark = seat + 1
    marks = (0, 3 - mark, mark)
    board = [marks[cell] for cell in cells]
    observation = Struct(
        board=board,
        mark=mark,
        step=len(board) - board.count(0),
        # A question has its limit, and no more time besides.
        remainingOverageTime=0,
    )
    rows, columns = size
    configuration = Struct(
        rows=rows,
        columns=columns,
        inarow=IN_A_ROW,
        timeout=limit,
        actTimeout=limit,
        **OTHERS,
    )
    arguments: tuple[Struct, ...] = (observation, configuration)
    code = getattr(agent, "__code__", None)
    if isinstance(code, types.CodeType):
        # Some take no configuration.
        arguments = arguments[: code.co_argcount]
    return agent(*arguments)
