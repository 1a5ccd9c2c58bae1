"""`env`: a game as an environment, for evaluation. What it needs is loaded when somebody
asks for one: bots do not need it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pettingzoo import AECEnv


def env(
    game: str = "othello", *, setup: Mapping[str, Any] | str | None = None
) -> AECEnv[str, Any, Any]:
    """A game as an environment of PettingZoo in which each seat is an agent, `player_0` and
    `player_1`. The rules are those of `arena`, which plays each game in a process of its
    own.

    An observation is what that seat has been told by its last question, as a dict (so after
    the end none has the last move): `observation`, an array of
    int8, and `action_mask`, which actions are legal. The reward of the winner is 1, of the
    loser -1, and `infos` then says the `reason` and the `score`.

    | game | observation | actions |
    | --- | --- | --- |
    | `othello` | 8 rows, 8 columns; own discs, the opponent's | 8 * row + column |
    | `connect-four` | rows, columns; own stones, the opponent's, the forbidden cell | columns |
    | `mahjong` | own hand, own discards, the opponent's discards, the tile of a claim, that \
tile again if it was drawn; the 27 kinds of tiles | the 27 discards, win, pass |

    `setup`: what each game begins with. In Connect Four it must say the size; where nothing
    is said the board has 6 rows, 7 columns and no forbidden cell. `reset(seed=…)` deals the
    same again.

    Raises ImportError without PettingZoo, ValueError where there is no such environment,
    and `ArenaError`.
    """
    from bot_arena.petting_zoo import new_environment

    return new_environment(game, setup)
