"""What came of a run: everything here is read off the events of `arena`."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot_arena.participants import SEATS
from bot_arena.records import Record, page

Event = dict[str, Any]


@dataclass(frozen=True)
class Estimate:
    """A figure and its error bar."""

    value: float | None
    """Nothing where none can be given."""
    error: float | None
    """Half the width of the 95 % interval; nothing where none can be given."""
    missing: str | None
    """Why the figure or its error is not there."""

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        return f"{self.value:+.0f} ± {'?' if self.error is None else f'{self.error:.0f}'}"


@dataclass(frozen=True)
class Standing:
    """What one bot has done."""

    rank: int | None
    """From 1; nothing before its first game, and where its games are annulled."""
    bot: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    """1 for a win and 0.5 for a draw; at a table of four 3, 2, 1 and 0 by place."""
    score: float | None
    """The share of the points, from 0 to 1."""
    elo: Estimate
    """Its rating, 0 on average over all bots."""
    margin: Estimate | None
    """How much it was ahead of the mean of the others a game, in the game's own unit."""
    fouls: int


@dataclass(frozen=True)
class Pair:
    """Two that have met, seen from the first."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int
    score: float | None
    """The share of the points of the first, from 0 to 1."""
    elo: Estimate | None
    """By how much the first is stronger."""
    los: float | None
    """How likely it is that the first is the stronger one, from 0 to 1."""
    sprt: Sprt | None
    """The test of the first, where there is one and a deal has been played."""


@dataclass(frozen=True)
class Sprt:
    """How far a sequential test (SPRT) of the first of two bots has come."""

    llr: float
    """The log-likelihood ratio of H1 to H0."""
    lower: float
    """H0 is accepted where the ratio is not above this."""
    upper: float
    """H1 is accepted where the ratio is not below this."""
    decision: str | None
    """`h0`, `h1`, or nothing while it is undecided."""
    elo0: float
    elo1: float
    model: str
    """The unit of `elo0` and `elo1`: `normalized` or `logistic`."""

    @property
    def verdict(self) -> str:
        """The decision in words."""
        unit = "Elo" if self.model == "logistic" else "normalised Elo"
        match self.decision:
            case "h1":
                return f"H1 accepted: stronger by {self.elo1:g} {unit} rather than {self.elo0:g}"
            case "h0":
                return f"H0 accepted: stronger by {self.elo0:g} {unit} rather than {self.elo1:g}"
            case _:
                return "undecided"


@dataclass(frozen=True)
class Foul:
    """What a bot did wrong in a game."""

    game_id: str
    bot: str
    seat: int
    kind: str
    """As in `FoulKind`, for example `error-status` or `late`."""
    words: str
    """What happened; of an exception in a callback its last line."""

    def __str__(self) -> str:
        return f"{self.bot}: {self.kind}: {self.words} ({self.game_id})"


@dataclass(frozen=True)
class PlayedGame:
    """A game that is over."""

    game_id: str
    deal: int
    """All games of one deal are one sample; from 0."""
    players: tuple[str, ...]
    """One name a seat."""
    places: tuple[int, ...] | None
    """One a seat, from 1; nothing where the game is void."""
    scores: tuple[int, ...] | None
    """One a seat, in the game's own unit; nothing where nothing was counted."""
    reason: str
    """What ended it."""
    fouls: tuple[Foul, ...]
    plies: int
    thought: tuple[float, ...]
    """What each seat thought in all, in seconds."""
    record: Record | None
    """Nothing where none is kept."""

    @property
    def winner(self) -> str | None:
        """Who was first alone."""
        if self.places is None or self.places.count(1) != 1:
            return None
        return self.players[self.places.index(1)]

    def _repr_html_(self) -> str:
        if self.record is None:
            return f"<pre>{html.escape(repr(self))}</pre>"
        return page(self.record)


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    game: str
    end: str
    """`completed`, `decided` by the test, `stopped`, `timed_out`, or `not_started`: a bot
    did not start."""
    standings: tuple[Standing, ...]
    """Best first."""
    pairs: tuple[Pair, ...]
    games: tuple[PlayedGame, ...]
    seed: str | None
    """Play the same deals again by `seed=`; nothing while games are missing."""
    warnings: tuple[Event, ...]
    """What makes the results less sure than they look, as in the event `standings`."""
    messages: str = field(repr=False)
    """What `arena` said to people."""

    @property
    def sprt(self) -> Sprt | None:
        """The test, where two play; of more each of `pairs` has its own."""
        return self.pairs[0].sprt if len(self.pairs) == 1 else None

    @property
    def fouls(self) -> tuple[Foul, ...]:
        """Every foul, in order of the games."""
        return tuple(foul for game in self.games for foul in game.fouls)

    def __getitem__(self, bot: str) -> Standing:
        """The standing of the bot of this name."""
        for standing in self.standings:
            if standing.bot == bot:
                return standing
        raise KeyError(bot)

    def __repr__(self) -> str:
        header, rows = self._table()
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

        def line(cells: Sequence[str]) -> str:
            padded = (
                cell.ljust(width) if number == 1 else cell.rjust(width)
                for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
            )
            return "  ".join(padded).rstrip()

        return "\n".join([self._heading(), line(header), *map(line, rows), *self._notes()])

    def _repr_html_(self) -> str:
        header, rows = self._table()

        def cells(tag: str, row: Iterable[str]) -> str:
            return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)

        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
        notes = "".join(f"<div>{html.escape(note)}</div>" for note in self._notes())
        shown = next((game for game in self.games if game.fouls), None)
        shown = shown or next(iter(self.games), None)
        drawn = shown._repr_html_() if shown and shown.record else ""
        return (
            f"<div>{html.escape(self._heading())}</div>"
            f"<table><thead><tr>{cells('th', header)}</tr></thead><tbody>{body}</tbody></table>"
            f"{notes}{drawn}"
        )

    def _heading(self) -> str:
        heading = f"{self.game}: {len(self.games)} games, {self.end.replace('_', ' ')}"
        # Of deals that were begun when a test decided, or a run was stopped.
        counted = sum(one.games for one in self.standings) // SEATS[self.game]
        extra = len(self.games) - counted
        return f"{heading}; {extra} of them not counted" if extra else heading

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["rank", "bot", "games", "score", "Elo ± 95 %", "W-D-L", "fouls"]
        rows = [
            [
                "-" if one.rank is None else str(one.rank),
                one.bot,
                str(one.games),
                "-" if one.score is None else f"{one.score:.1%}",
                str(one.elo),
                f"{one.wins}-{one.draws}-{one.losses}",
                str(one.fouls),
            ]
            for one in self.standings
        ]
        return header, rows

    def _notes(self) -> list[str]:
        notes = []
        for pair in self.pairs:
            test = pair.sprt
            if test is not None:
                notes.append(
                    f"SPRT of {pair.first} against {pair.second}: LLR {test.llr:+.2f} in "
                    f"({test.lower:.2f}, {test.upper:.2f}), {test.verdict}"
                )
        first: dict[str, Foul] = {}
        for foul in self.fouls:
            first.setdefault(foul.bot, foul)
        notes += [f"first foul of {foul}" for foul in first.values()]
        return notes


class Collector:
    """Makes a result of the events of a run of this game, one after another. `record` says
    where the record of a game is.
    """

    def __init__(self, game: str, record: Callable[[Event], Record | None]) -> None:
        self._game_name = game
        self._record = record
        self._started: Event = {}
        self._ended: Event = {}
        self._standings: Event = {}
        self._games: list[PlayedGame] = []
        self._order: dict[str, tuple[int, ...]] = {}

    @property
    def planned(self) -> int | None:
        """How many games are to be played, where that is known."""
        return self._started.get("planned_games")

    @property
    def games(self) -> list[PlayedGame]:
        """The games that are over."""
        return self._games

    @property
    def first(self) -> str:
        """The name of the first bot."""
        bots = self._started.get("bots") or [{"name": ""}]
        return str(bots[0]["name"])

    def hear(self, event: Event) -> None:
        match event["type"]:
            case "run_started":
                self._started = event
            case "game":
                key = (event["match"], event["group"], event["seating"])
                self._order[event["game_id"]] = key
                self._games.append(self._game(event))
            case "run_ended":
                self._ended = event
            case "standings":
                self._standings = event

    def result(self, messages: str) -> Result:
        games = sorted(self._games, key=lambda game: self._order[game.game_id])
        fouls = [foul.bot for game in games for foul in game.fouls]
        standings = self._standings
        pairs = standings.get("pairs", [])
        return Result(
            game=self._game_name,
            end=str(self._ended.get("end", "stopped")),
            standings=tuple(
                _standing(row, fouls.count(row["bot"])) for row in standings.get("rows", [])
            ),
            pairs=tuple(_pair(row, self._started.get("sprt")) for row in pairs),
            games=tuple(games),
            seed=self._ended.get("root"),
            warnings=tuple(standings.get("warnings", [])),
            messages=messages,
        )

    def _game(self, event: Event) -> PlayedGame:
        players = tuple(event["players"])
        fouls = (
            Foul(event["game_id"], players[it["seat"]], it["seat"], it["kind"], _words(it))
            for it in event["fouls"]
        )
        return PlayedGame(
            game_id=event["game_id"],
            deal=event["group"],
            players=players,
            places=tuple(event["places"]) if "places" in event else None,
            scores=tuple(event["scores"]) if "scores" in event else None,
            reason=event["reason"],
            fouls=tuple(fouls),
            plies=event["plies"],
            thought=tuple(time / 1e6 for time in event["thought_us"]),
            record=self._record(event),
        )


def _standing(row: Event, fouls: int) -> Standing:
    return Standing(
        rank=row.get("rank"),
        bot=row["bot"],
        games=row["games"],
        wins=row["wins"],
        draws=row["draws"],
        losses=row["losses"],
        points=row["points"],
        score=row.get("score"),
        elo=_estimate(row["elo"]),
        margin=_estimate(row["margin"]) if "margin" in row else None,
        fouls=fouls,
    )


def _sprt(row: Event, asked: Event | None) -> Sprt | None:
    if asked is None or "test" not in row:
        return None
    test = row["test"]
    return Sprt(
        llr=test["llr"],
        lower=test["lower"],
        upper=test["upper"],
        decision=test.get("decision"),
        elo0=asked["elo0"],
        elo1=asked["elo1"],
        model=asked["model"],
    )


def _pair(row: Event, asked: Event | None) -> Pair:
    comparison = row.get("comparison", {})
    return Pair(
        first=row["first"],
        second=row["second"],
        wins=row["wins"],
        draws=row["draws"],
        losses=row["losses"],
        score=comparison.get("score"),
        elo=_estimate(comparison["elo"]) if "elo" in comparison else None,
        los=comparison.get("los"),
        sprt=_sprt(row, asked),
    )


def _estimate(figure: Event) -> Estimate:
    missing = figure.get("missing")
    words = None
    if missing is not None:
        words = missing["kind"].replace("_", " ")
        if "needs" in missing:
            words += f": {missing['has']} of {missing['needs']}"
    return Estimate(figure.get("value"), figure.get("error"), words)


def _words(foul: Event) -> str:
    """What happened, by the evidence of a foul."""
    if "detail" in foul:
        return str(foul["detail"])
    match foul["kind"]:
        case "late":
            return f"no answer within {foul['limit_us'] / 1e6:g} s"
        case "hung-up":
            return "it closed the stream before the game was over"
        case "resigned":
            return "it gave up"
        case "wrong-number":
            return f"expected an answer to question {foul['expected']}, found {foul['got']}"
        case "unsolicited":
            return f"{foul['answer_bytes']} bytes that nobody asked for"
        case "oversized":
            return f"an answer of more than {foul['limit_bytes']} bytes"
        case "memory-exceeded":
            return f"{foul['peak_bytes']} bytes of memory, {foul['limit_bytes']} are allowed"
        case kind:
            return str(kind)
