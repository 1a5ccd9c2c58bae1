"""How far a run is, while it goes on: a bar of tqdm where it is installed, else a line on
standard error where that is a terminal.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from bot_arena.results import Collector


class Progress:
    """Shows nothing."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._counted = 0
        self._wins, self._draws, self._losses = 0, 0, 0

    def update(self) -> None:
        """Something has been told."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        """Removes what it has shown."""

    def _tally(self) -> str:
        """Wins, draws and losses of the first bot so far."""
        first = self._collector.first
        for game in self._collector.games[self._counted :]:
            self._counted += 1
            if game.places is None or first not in game.players:
                continue
            if game.winner == first:
                self._wins += 1
            elif game.places[game.players.index(first)] == 1:
                self._draws += 1
            else:
                self._losses += 1
        return f"{first} +{self._wins} ={self._draws} -{self._losses}"


class _Line(Progress):
    def update(self) -> None:
        planned = self._collector.planned
        played = len(self._collector.games)
        done = f"{played}/{planned}" if planned else f"{played}"
        print(f"\r{done} games  {self._tally()}\x1b[K", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Bar(Progress):
    def __init__(self, collector: Collector, tqdm: Any) -> None:
        super().__init__(collector)
        # Its monitor is a thread that would never end.
        alone = type("Bar", (tqdm,), {"monitor_interval": 0})
        self._bar = alone(unit=" games", leave=False)

    def update(self) -> None:
        planned = self._collector.planned
        if planned != self._bar.total:
            # A bar of a notebook is as wide as its total was when it was made or reset.
            self._bar.reset(total=planned)
        self._bar.set_postfix_str(self._tally(), refresh=False)
        self._bar.update(len(self._collector.games) - self._bar.n)

    def __exit__(self, *_: object) -> None:
        # In a notebook a bar that is not full stays.
        self._bar.total = self._bar.n
        self._bar.close()


def new_progress(shown: bool, collector: Collector) -> Progress:
    """Shows how far the run of this collector is, or nothing."""
    if not shown:
        return Progress(collector)
    try:
        with warnings.catch_warnings():
            # It says where a notebook lacks the widget of a bar; then it draws text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        is_seen = sys.stderr is not None and sys.stderr.isatty()
        return (_Line if is_seen else Progress)(collector)
    return _Bar(collector, tqdm)
