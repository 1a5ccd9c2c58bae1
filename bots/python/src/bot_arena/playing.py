"""`play`: agents of this interpreter and other bots against each other. It arranges
nothing and counts nothing itself: `arena` does, and tells it by its events.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from bot_arena.participants import SEATS, Agent, Participant, game_named, read_participants
from bot_arena.progress import new_progress
from bot_arena.records import Folder, Record
from bot_arena.results import Collector, Event, Result
from bot_arena.run import Run

if TYPE_CHECKING:
    from typing_extensions import Unpack

# What a tournament of this module is called in its store.
_NAME = "play"
# The most deals of a test that are played where nothing is said: it ends when it decides.
_MOST_DEALS = 100_000
# How long somebody waits for an event before it is seen whether any can come, in seconds.
_PATIENCE = 0.2
# How long agents of this interpreter may be away: they are gone where it was killed.
_AWAY = "10s"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while games were played. `result` is what came of the games before it."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"stopped after {len(result.games)} games: see .result of this")
        self.result = result


class Options(TypedDict, total=False):
    """What `play` may be told; its text says what each of them is."""

    deals: int | None
    sprt: Mapping[str, float | str] | str | None
    seed: int | str | None
    setup: Mapping[str, Any] | str | None
    openings: str | os.PathLike[str] | Sequence[Mapping[str, Any] | str] | None
    seatings: str | None
    shape: str | None
    rounds: int | None
    challengers: int | None
    move_limit: float | None
    start_limit: float | None
    concurrency: int | None
    sandbox: str | None
    records: str | os.PathLike[str] | None
    progress: bool


def play(
    *agents: Agent | Mapping[str, Agent],
    game: str,
    deals: int | None = None,
    sprt: Mapping[str, float | str] | str | None = None,
    seed: int | str | None = None,
    setup: Mapping[str, Any] | str | None = None,
    openings: str | os.PathLike[str] | Sequence[Mapping[str, Any] | str] | None = None,
    seatings: str | None = None,
    shape: str | None = None,
    rounds: int | None = None,
    challengers: int | None = None,
    move_limit: float | None = None,
    start_limit: float | None = None,
    concurrency: int | None = None,
    sandbox: str | None = None,
    records: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> Result:
    """Plays a match between as many agents as the game has seats, or a tournament between
    more of them, and returns what came of it.

    An agent is a class of the kit (`OthelloBot`, …), a `Bot`, a SPEC of the arena
    (`"house:edge"`, `"exec:./my_bot"`, `"me=exec:./my_bot"`), or in Connect Four and
    Othello a function that gets the question (`GetPoint`, `RequestMove`) and returns the
    point or its column, or the square or its name. A dict gives names: `{"mine": MyBot}`.
    Agents of this interpreter are called in threads of it.

    - `deals`: how many deals each two play, each from every seating.
    - `sprt`: stop when the test decides, as in `{"elo0": 0, "elo1": 10}`, at the latest
      after `deals`.
    - `seed`: the same deals again: a number, a word, or the `seed` of a result.
    - `setup`: what each game begins with; `openings`: a list of set-ups, or the file of
      one, of which each deal takes the next. docs/notation.md says how they are written.
    - `seatings`: `"rotations"`, or with four seats `"all"`.
    - `shape`: that of a tournament, `"round-robin"` where nothing is said; `rounds` and
      `challengers` belong to some shapes. With it few agents are a tournament, too.
    - `move_limit`, `start_limit`: in seconds.
    - `concurrency`: how many games are played at once. Where nothing is said it is 1 with
      an agent of this interpreter, whose threads take turns while all clocks run; else it
      is the number of cores.
    - `sandbox`: `"best"`, `"require"` or `"off"`, for programs that the arena starts.
    - `records`: a new folder for records and logs. Where nothing is said, they are there
      as long as the result is.
    - `progress`: whether to show how far it is.

    Raises `ArenaError` where `arena` is not there or refuses what it is told; TypeError
    and ValueError where something is no agent, or no game; `Interrupted` on Ctrl-C, when
    nothing runs any more.
    """
    options = Options(
        deals=deals,
        sprt=sprt,
        seed=seed,
        setup=setup,
        openings=openings,
        seatings=seatings,
        shape=shape,
        rounds=rounds,
        challengers=challengers,
        move_limit=move_limit,
        start_limit=start_limit,
        concurrency=concurrency,
        sandbox=sandbox,
        records=records,
    )
    match = _Match(agents, game, options)
    events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
    interrupted = False

    def tell(event: Event | None) -> None:
        # Ctrl-C interrupts the main thread alone, so that no event is lost.
        if event is not None:
            match.collector.hear(event)
        events.put(event)

    with new_progress(progress, match.collector) as shown, match.run(tell) as run:
        while True:
            try:
                if events.get(timeout=_PATIENCE) is None:
                    break
                shown.update()
            except queue.Empty:
                if not run.is_alive():
                    break
            except KeyboardInterrupt:
                interrupted = True
                run.stop()
    if interrupted:
        raise Interrupted(match.collector.result(run.words))
    run.check()
    return match.collector.result(run.words)


async def play_async(
    *agents: Agent | Mapping[str, Agent], game: str, **options: Unpack[Options]
) -> Result:
    """The same as `play`, with the same options, for an event loop, which goes on
    meanwhile. Where its task is cancelled, it ends when nothing runs any more.
    """
    progress = options.pop("progress", True)
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        raise TypeError(f"play_async has no option {', '.join(sorted(unknown))}")
    loop = asyncio.get_running_loop()
    match = _Match(agents, game, options)
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    def tell(event: Event | None) -> None:
        try:
            loop.call_soon_threadsafe(events.put_nowait, event)
        except RuntimeError:
            # The loop has ended, and nobody waits for the rest.
            run.stop()

    run = match.run(tell)
    cancelled: asyncio.CancelledError | None = None
    with new_progress(progress, match.collector) as shown, run:
        while True:
            try:
                event = await events.get()
            except asyncio.CancelledError as error:
                cancelled = error
                run.stop()
                continue
            if event is None:
                break
            match.collector.hear(event)
            shown.update()
    if cancelled is not None:
        raise cancelled
    run.check()
    return match.collector.result(run.words)


class _Match:
    """A match or a tournament: what `arena` is told, and what it tells."""

    def __init__(
        self, agents: Sequence[Agent | Mapping[str, Agent]], game: str, options: Options
    ) -> None:
        self._game = game_named(game)
        self._options = options
        at_once = options.get("concurrency")
        self._participants = read_participants(agents, self._game, at_once or 1)
        self._bots = [one.bot for one in self._participants if one.bot is not None]
        if not self._participants:
            raise ValueError(
                "nobody plays: expected agents, such as play(mine, 'house:random')"
            )
        shaped = any(options.get(key) for key in ("shape", "rounds", "challengers"))
        self._is_tournament = shaped or len(self._participants) > SEATS[self._game]
        named = options.get("records")
        # Words for `arena`, and files that it reads.
        self._folder = Folder()
        own = self._folder.path / "records"
        self._records = Path(os.path.abspath(named)) if named else own
        kept = None if named else self._folder
        store = self._store if self._is_tournament else None
        self.collector = Collector(self._game, _Finder(store, kept))

    def run(self, tell: Callable[[Event | None], None]) -> Run:
        """A run of it, which begins with its block."""
        return Run(self._bots, self._words, tell)

    @property
    def _store(self) -> Path:
        return self._records / "arena.sqlite"

    @property
    def _deals(self) -> int | None:
        deals = self._options.get("deals")
        return _MOST_DEALS if deals is None and self._options.get("sprt") else deals

    def _words(self, addresses: list[str]) -> list[str]:
        """What `arena` is told where its bots are at these addresses."""
        places = iter(addresses)
        specs = [(one, one.spec or next(places)) for one in self._participants]
        return self._of_tournament(specs) if self._is_tournament else self._of_match(specs)

    def _of_match(self, specs: list[tuple[Participant, str]]) -> list[str]:
        options = self._options
        words = ["match", self._game, f"--records={self._records}"]
        for one, spec in specs:
            words.append(f"--bot={spec}" if one.name is None else f"--bot={one.name}={spec}")
        openings = self._openings()
        said = {
            "deals": self._deals,
            "seatings": options.get("seatings"),
            "openings": openings,
            "move-limit": _seconds(options.get("move_limit")),
            "start-limit": _seconds(options.get("start_limit")),
        }
        words += _options(said) + self._common()
        sprt = options.get("sprt")
        if sprt:
            words += ["--sprt", *_test(sprt)]
        return words

    def _of_tournament(self, specs: list[tuple[Participant, str]]) -> list[str]:
        options = self._options
        self._records.mkdir(parents=True, exist_ok=True)
        lines = [
            f"name = {_text(_NAME)}",
            f"game = {_text(self._game)}",
            f"shape = {_text(options.get('shape') or 'round-robin')}",
        ]
        for key, value in [
            ("deals", self._deals),
            ("rounds", options.get("rounds")),
            ("challengers", options.get("challengers")),
            ("seatings", options.get("seatings")),
            ("openings", self._openings()),
        ]:
            if value is not None:
                lines.append(f"{key} = {value if isinstance(value, int) else _text(value)}")
        lines.append("[limits]")
        for key, value in [
            ("move", _seconds(options.get("move_limit"))),
            ("start", _seconds(options.get("start_limit"))),
        ]:
            if value is not None:
                lines.append(f"{key} = {_text(value)}")
        lines += ["[set_aside]", f"away = {_text(_AWAY)}"]
        sprt = options.get("sprt")
        if sprt:
            pairs = (part.split("=", 1) for part in _test(sprt))
            table = ", ".join(f"{key} = {_value(value)}" for key, value in pairs)
            lines += ["[stop]", f"sprt = {{ {table} }}"]
        for one, spec in specs:
            lines += ["[[bots]]", f"bot = {_text(spec)}"]
            if one.name is not None:
                lines.append(f"name = {_text(one.name)}")
        file = self._folder.path / f"{_NAME}.toml"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        words = ["tournament", "run", str(file), f"--store={self._store}"]
        return [*words, f"--logs={self._records / 'logs'}", *self._common()]

    def _common(self) -> list[str]:
        """What every run is told."""
        options = self._options
        at_once = options.get("concurrency") or (1 if self._bots else None)
        said = {
            "seed": options.get("seed"),
            "concurrency": at_once,
            "sandbox": options.get("sandbox"),
        }
        return [*_options(said), "--format=json"]

    def _openings(self) -> str | None:
        """The file of the set-ups, where some are said."""
        setup, openings = self._options.get("setup"), self._options.get("openings")
        if setup is not None and openings is not None:
            raise ValueError("expected setup or openings, found both")
        if isinstance(openings, (str, os.PathLike)):
            return os.path.abspath(openings)
        if setup is None and openings is None:
            usual = (bot._usual_setup for bot in self._bots if bot._usual_setup is not None)
            setup = next(usual, None)
        setups = [setup] if setup is not None else openings
        if setups is None:
            return None
        file = self._folder.path / "openings.txt"
        lines = [one if isinstance(one, str) else json.dumps(one) for one in setups]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(file)


@dataclass(frozen=True)
class _Finder:
    """Says where the record of a game is, by its event."""

    store: Path | None
    """The store of a tournament, which has its records."""
    folder: Folder | None
    """The temporary folder in which all of it is."""

    def __call__(self, event: Event) -> Record | None:
        if self.store is not None:
            game = f"{event['group']}.{event['seating']}"
            return Record((_NAME, game, f"--store={self.store}"), self.folder)
        return Record((event["record"],), self.folder) if "record" in event else None


def _options(said: Mapping[str, object]) -> list[str]:
    """Words of a command line; nothing for what is not said."""
    return [f"--{name}={value}" for name, value in said.items() if value is not None]


def _seconds(time: float | None) -> str | None:
    """A length of time as `arena` reads it."""
    return None if time is None else f"{round(time * 1e6)}us"


def _test(sprt: Mapping[str, float | str] | str) -> list[str]:
    """A test as `KEY=VALUE`s."""
    if isinstance(sprt, str):
        return sprt.split()
    return [f"{key}={value}" for key, value in sprt.items()]


def _value(text: str) -> str:
    """A value of TOML: a number, or a text."""
    with suppress(ValueError):
        return repr(float(text))
    return _text(text)


def _text(text: str) -> str:
    """A text of TOML, whose escapes are those of JSON, but for this sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
