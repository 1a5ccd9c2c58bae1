"""Games as environments of PettingZoo. The rules are those of `arena play --format json`,
a process for each game: it says what each seat is told and which moves are legal, and
takes the moves.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

try:
    import numpy as np
    from gymnasium import spaces
    from numpy.typing import NDArray
    from pettingzoo import AECEnv
except ImportError as error:
    raise ImportError(
        f"bot_arena.env needs PettingZoo ({error}): pip install pettingzoo", name=error.name
    ) from None

from bot_arena import connect_four, mahjong, othello
from bot_arena.game import Game
from bot_arena.participants import game_named
from bot_arena.program import ArenaError, failure, find_arena

Planes = NDArray[np.int8]
Event = dict[str, Any]

# The set-up of Connect Four where nothing is said: an observation has one shape.
_USUAL_BOARD = "6x7"
_TILES = tuple(mahjong.Tile)


def new_environment(
    game: str, setup: Mapping[str, Any] | str | None = None
) -> AECEnv[str, Any, Any]:
    """See `bot_arena.env`."""
    name = game_named(game)
    if name not in _VIEWS:
        raise ValueError(
            f"there is no environment of {name}, whose plays are sets of cards: expected "
            f"{', '.join(_VIEWS)}"
        )
    if name == "connect-four" and setup is None:
        setup = _USUAL_BOARD
    return _Environment(name, _VIEWS[name](setup), setup)


class _View(ABC):
    """What a seat of a game has been told, as numbers."""

    game: Game[Any, Any]
    shape: tuple[int, ...]
    """The shape of an observation."""
    most: int = 1
    """The largest number of an observation."""
    actions: int
    """How many actions there are, legal or not."""

    def __init__(self, setup: Mapping[str, Any] | str | None) -> None:
        """For games with this set-up. Raises ValueError where their shape is not known."""

    @abstractmethod
    def new(self) -> Planes:
        """What a seat knows before it has been told anything."""

    @abstractmethod
    def hear(self, seen: Planes, call: Any) -> None:
        """The seat is sent a call."""

    def played(self, seen: Planes, action: int) -> None:
        """The seat has played this, which is legal."""

    @abstractmethod
    def action(self, notation: str) -> int:
        """The action that is this move."""


class _Othello(_View):
    """Two planes of 8 rows and 8 columns: own discs, the opponent's. Action 8 * row +
    column.
    """

    game = othello.GAME
    shape = (8, 8, 2)
    actions = 64

    def new(self) -> Planes:
        return np.zeros(self.shape, np.int8)

    def hear(self, seen: Planes, call: Any) -> None:
        match call.WhichOneof("call"):
            case "start":
                _stones(seen, call.beginning.board)
            case "request_move":
                _stones(seen, call.request_move.board)

    def action(self, notation: str) -> int:
        return 8 * (int(notation[1]) - 1) + "abcdefgh".index(notation[0])


class _ConnectFour(_View):
    """Three planes of the board's rows and columns: own stones, the opponent's, the
    forbidden cell. An action is a column.
    """

    game = connect_four.GAME

    def __init__(self, setup: Mapping[str, Any] | str | None) -> None:
        size = None
        if isinstance(setup, str):
            named = re.match(r"\s*(\d+)\s*[xX×]\s*(\d+)\s*(,|$)", setup)
            if named is not None:
                size = (named[1], named[2])
            elif setup.lstrip().startswith("{"):
                setup = json.loads(setup)
        if isinstance(setup, Mapping) and {"rows", "columns"} <= setup.keys():
            size = (setup["rows"], setup["columns"])
        if size is None:
            raise ValueError(
                f"the set-up is {setup!r}: expected one that says rows and columns, such as "
                f"{_USUAL_BOARD}, since all observations have one shape"
            )
        self.shape = (int(size[0]), int(size[1]), 3)
        self.actions = self.shape[1]

    def new(self) -> Planes:
        return np.zeros(self.shape, np.int8)

    def hear(self, seen: Planes, call: Any) -> None:
        match call.WhichOneof("call"):
            case "start":
                board = call.board
                if board.HasField("board"):
                    _stones(seen, board.board)
                if board.no_x >= 0 and board.no_y >= 0:
                    seen[board.no_x, board.no_y, 2] = 1
            case "get_point":
                _stones(seen, call.get_point.board)

    def action(self, notation: str) -> int:
        return int(notation.strip("()").split(",")[1])


class _Mahjong(_View):
    """Five rows of the 27 kinds of tiles: own hand, own discards, the opponent's discards,
    the tile of a claim, and that tile again where it was drawn. Actions 0 to 26 discard a
    tile, 27 is win, 28 pass.
    """

    game = mahjong.GAME
    shape = (5, len(_TILES))
    most = 4
    actions = len(_TILES) + 2

    def new(self) -> Planes:
        return np.zeros(self.shape, np.int8)

    def hear(self, seen: Planes, call: Any) -> None:
        seen[3:] = 0
        match call.WhichOneof("call"):
            case "get_draw":
                for tile in call.get_draw.tiles:
                    seen[0, _TILES.index(tile)] += 1
            case "get_opp_discard":
                seen[2, _TILES.index(call.get_opp_discard.tile)] += 1
            case "request_win":
                tile = _TILES.index(call.request_win.winning_tile)
                seen[3, tile] = 1
                seen[4, tile] = call.request_win.is_self_draw

    def played(self, seen: Planes, action: int) -> None:
        if action < len(_TILES):
            seen[0, action] -= 1
            seen[1, action] += 1

    def action(self, notation: str) -> int:
        words = [*map(str, _TILES), "win", "pass"]
        return words.index(notation)


_VIEWS: dict[str, type[_View]] = {
    "connect-four": _ConnectFour,
    "mahjong": _Mahjong,
    "othello": _Othello,
}


def _stones(seen: Planes, board: bytes) -> None:
    """The first two planes: own stones or discs, and the opponent's."""
    cells = np.frombuffer(board, np.uint8).reshape(seen.shape[:2])
    seen[..., 0] = cells == 2
    seen[..., 1] = cells == 1


class _Environment(AECEnv[str, Any, Any]):  # type: ignore[misc]
    def __init__(self, name: str, view: _View, setup: Mapping[str, Any] | str | None) -> None:
        super().__init__()
        self._name = name
        self._view = view
        self._setup = setup
        self.metadata = {"name": f"{name}_v0", "render_modes": [], "is_parallelizable": False}
        self.render_mode = None
        self.possible_agents = ["player_0", "player_1"]
        observed = spaces.Dict(
            {
                "observation": spaces.Box(0, view.most, view.shape, np.int8),
                "action_mask": spaces.Box(0, 1, (view.actions,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, observed)
        self.action_spaces = {
            agent: spaces.Discrete(view.actions) for agent in self.possible_agents
        }
        self.agents: list[str] = []
        self._game: _Game | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game; with the same seed it is the same deal."""
        self.close()
        self._game = _Game(self._name, self._setup, seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._seen = {agent: self._view.new() for agent in self.agents}
        self._legal: dict[int, str] = {}
        self.agent_selection = self.agents[0]
        self._go_on(self._game.next())

    def step(self, action: int | None) -> None:
        """The agent whose turn it is plays. Raises ValueError where it may not."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        notation = self._legal.get(-1 if action is None else int(action))
        if action is None or notation is None:
            legal = ", ".join(map(str, sorted(self._legal)))
            raise ValueError(f"{agent} plays {action}: expected one of {legal}")
        assert self._game is not None
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self._view.played(self._seen[agent], int(action))
        self._go_on(self._game.play(notation))
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        """What this seat has been told: `observation`, and with `action_mask` what it may
        play where it is its turn.
        """
        mask = np.zeros(self._view.actions, np.int8)
        if agent == self.agent_selection:
            mask[list(self._legal)] = 1
        return {"observation": self._seen[agent].copy(), "action_mask": mask}

    def render(self) -> None:
        """Nothing is drawn."""

    def close(self) -> None:
        if self._game is not None:
            self._game.close()
            self._game = None

    def _go_on(self, event: Event) -> None:
        """Takes what comes next: a turn, or the end."""
        self._legal = {}
        if event["type"] == "turn":
            self.agent_selection = agent = f"player_{event['seat']}"
            for call in event["calls"]:
                read = self._view.game.call.FromString(base64.b64decode(call))
                self._view.hear(self._seen[agent], read)
            self._legal = {self._view.action(notation): notation for notation in event["legal"]}
            return
        places = event.get("places", [1, 1])
        for seat, agent in enumerate(self.possible_agents):
            self.terminations[agent] = True
            self.rewards[agent] = places[1 - seat] - places[seat]
            self.infos[agent]["reason"] = event["reason"]
            if "scores" in event:
                self.infos[agent]["score"] = event["scores"][seat]
        self.close()


class _Game:
    """A process that plays one game by its rules."""

    def __init__(
        self, name: str, setup: Mapping[str, Any] | str | None, seed: int | None
    ) -> None:
        self._arena = find_arena()
        words = [self._arena, "play", name, "--hot-seat", "--format=json"]
        if setup is not None:
            line = setup if isinstance(setup, str) else json.dumps(setup)
            words.append(f"--setup={line}")
        if seed is not None:
            words.append(f"--seed={seed}")
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                # Ctrl-C in a terminal or a cell is for whoever steps through the game.
                start_new_session=True,
            )
        except OSError as error:
            raise ArenaError(f"could not run {self._arena}: {error}") from None
        self.close = weakref.finalize(self, _end, self._process)

    def next(self) -> Event:
        """The next event. Raises `ArenaError` where there is none."""
        process = self._process
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        if not line:
            words = process.stderr.read()
            raise ArenaError(failure(self._arena, process.wait(), words))
        event: Event = json.loads(line)
        if event["type"] not in ("turn", "game"):
            raise ArenaError(f"expected a turn or the end of the game, found {line.strip()}")
        return event

    def play(self, notation: str) -> Event:
        """Plays a move; what comes next."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # Then there is no next event, which says why.
            self._process.stdin.write(f"{notation}\n")
            self._process.stdin.flush()
        return self.next()


def _end(process: subprocess.Popen[str]) -> None:
    """Whoever closes its input has left the game."""
    # What it was not sent can't be sent any more.
    with suppress(BrokenPipeError), process:
        process.kill()
