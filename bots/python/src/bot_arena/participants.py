"""Who takes part in a run: SPECs of the arena, and agents of this interpreter."""

from __future__ import annotations

import atexit
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bot_arena import big_two, connect_four, mahjong, othello
from bot_arena.bot import AsyncBot, Bot
from bot_arena.functions import is_async, of_function
from bot_arena.game import Game, GameBot, GameStart

Agent = str | Bot | type[GameBot] | Callable[..., Any]
"""A SPEC such as `house:edge`, or `NAME=SPEC`; a bot; a class of the kit; a function that
answers a question."""

GAMES: dict[str, Game[Any, Any]] = {
    "big-two": big_two.GAME,
    "connect-four": connect_four.GAME,
    "mahjong": mahjong.GAME,
    "othello": othello.GAME,
}
SEATS = {"big-two": 4, "connect-four": 2, "mahjong": 2, "othello": 2}
# NAME=SPEC: a SPEC begins with a scheme and a colon.
_NAMED = re.compile(r"([\w.-]+)=(.+)", re.S)
# A bot of the arena, which is called as it is where nothing is said.
_OUR_OWN = re.compile(r"house:([\w.-]+)")
# The longest name of a bot in a run.
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Participant:
    """One who takes part."""

    name: str | None
    """Nothing where the SPEC says it."""
    spec: str | None
    """How to reach it; nothing where it is served from this interpreter."""
    bot: Bot | None


def game_named(name: str) -> str:
    """A game's name as `arena` knows it. Raises ValueError."""
    wanted = name.strip().lower().replace("_", "-").replace(" ", "-")
    if wanted not in GAMES:
        raise ValueError(f'there is no game "{name}": expected {", ".join(GAMES)}')
    return wanted


def read_participants(
    agents: Iterable[Agent | Mapping[str, Agent]], game: str, max_games: int
) -> list[Participant]:
    """All of them, in order. Classes and functions become bots that play at most
    `max_games` at once. Raises TypeError and ValueError.
    """
    given: list[tuple[str | None, Agent]] = []
    taken: set[str] = set()
    for agent in agents:
        for name, one in agent.items() if isinstance(agent, Mapping) else [(None, agent)]:
            if isinstance(one, str) and name is None:
                said = _NAMED.fullmatch(one)
                if said is not None:
                    name, one = said.groups()
                elif (usual := _OUR_OWN.match(one)) is not None:
                    taken.add(usual[1])
            taken.update([name] if name else [])
            given.append((name, one))
    found: list[Participant] = []
    for name, one in given:
        if isinstance(one, str):
            found.append(Participant(name, one, None))
            continue
        bot, own = _bot(one, game, max_games)
        if name is None:
            name = _free(own, taken)
            taken.add(name)
        found.append(Participant(name, None, bot))
    return found


def _bot(agent: object, game: str, max_games: int) -> tuple[Bot, str]:
    """The bot that it is served as, and what it is called."""
    if isinstance(agent, Bot):
        atexit.unregister(agent._never_served)
        return agent, agent._ready.bot
    kit = GAMES[game]
    new: Callable[[GameStart], GameBot]
    if inspect.isclass(agent):
        if not (issubclass(agent, GameBot) and issubclass(agent, kit.bot)):
            raise TypeError(f"{agent.__name__} is no {kit.bot.__name__}, the class of {game}")
        name, new = agent.__name__, agent
        callbacks = [value for _, value in inspect.getmembers(agent, inspect.isfunction)]
        waits = any(map(is_async, callbacks))
    elif callable(agent):
        name = getattr(agent, "__name__", type(agent).__name__)
        new, waits = of_function(kit, agent), is_async(agent)
    else:
        raise TypeError(
            f"{agent!r} can't play: expected a SPEC such as house:random, a Bot, a class that "
            f"is a {kit.bot.__name__}, or a function"
        )
    bot = (AsyncBot if waits else Bot)(name, "1", max_games=max_games)
    # It has no main() that somebody could forget.
    atexit.unregister(bot._never_served)
    return bot._plays(kit, new), name


def _free(name: str, taken: set[str]) -> str:
    """A name like this that is allowed, and that nobody has."""
    allowed = re.sub(r"[^\w.-]", "-", name).strip("_.-")[: _LONGEST_NAME - 4] or "agent"
    number, free = 1, allowed
    while free in taken:
        number += 1
        free = f"{allowed}-{number}"
    return free
