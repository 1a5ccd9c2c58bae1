"""Reversal Big Two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from enum import IntEnum

from bot_arena._proto.games.big_two.v1 import big_two_pb2 as proto
from bot_arena.game import Game, GameBot, Invoke, items, seconds, wrong

_RANKS = ("3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2")


class Card(IntEnum):
    """A card: a letter for its suit (clubs, diamonds, hearts, spades) and its rank."""

    C3, D3, H3, S3 = 1, 2, 3, 4
    C4, D4, H4, S4 = 5, 6, 7, 8
    C5, D5, H5, S5 = 9, 10, 11, 12
    C6, D6, H6, S6 = 13, 14, 15, 16
    C7, D7, H7, S7 = 17, 18, 19, 20
    C8, D8, H8, S8 = 21, 22, 23, 24
    C9, D9, H9, S9 = 25, 26, 27, 28
    C10, D10, H10, S10 = 29, 30, 31, 32
    CJ, DJ, HJ, SJ = 33, 34, 35, 36
    CQ, DQ, HQ, SQ = 37, 38, 39, 40
    CK, DK, HK, SK = 41, 42, 43, 44
    CA, DA, HA, SA = 45, 46, 47, 48
    C2, D2, H2, S2 = 49, 50, 51, 52
    JOKER_1, JOKER_2 = 53, 54

    @property
    def is_joker(self) -> bool:
        return self >= Card.JOKER_1

    @property
    def rank(self) -> int:
        """In the normal order, from 0 for the threes to 12 for the twos; 13 for a
        joker.
        """
        return (self - 1) // 4

    @property
    def suit(self) -> int | None:
        """0 clubs, 1 diamonds, 2 hearts, 3 spades; a joker has none."""
        return None if self.is_joker else (self - 1) % 4

    def __str__(self) -> str:
        """In the notation of the arena: `3C`, `10D`, `JK1`."""
        if self.suit is None:
            return f"JK{self - Card.S2}"
        return f"{_RANKS[self.rank]}{'CDHS'[self.suit]}"


class Scoring(IntEnum):
    """How a round counts."""

    PLACES = 1
    PAYOUT = 2


@dataclass(frozen=True)
class Table:
    """What everybody knows before the first play."""

    scoring: Scoring
    reversal: bool
    """Whether a four of a kind reverses the order."""
    cards_left: tuple[int, ...]
    """How many cards each seat holds, in order of the seats."""


@dataclass(frozen=True)
class GetPlay:
    """A play or a pass of a seat."""

    seat: int
    cards: tuple[Card, ...] | None
    """What it played; nothing where it passed."""
    cards_left: int
    """How many it holds now."""
    reversed_after: bool
    """Whether the order is reversed now, for the next player."""
    place: int | None
    """Its place, from 1, the best, where it has gone out by this."""


@dataclass(frozen=True)
class RequestPlay:
    """A question: what to beat."""

    to_beat: tuple[Card, ...] | None
    """Nothing where you lead."""
    reversed: bool
    """Whether the order is reversed now."""
    must_include_three_of_clubs: bool
    """Whether the play must contain ♣3, as the first of a game."""


class BigTwoBot(GameBot, ABC):
    """A bot in one game of Reversal Big Two."""

    def get_table(self, table: Table) -> Awaitable[None] | None:
        """What everybody knows before the first play."""

    @abstractmethod
    def get_deal(self, cards: tuple[Card, ...]) -> Awaitable[None] | None:
        """Your cards."""

    @abstractmethod
    def get_play(self, play: GetPlay) -> Awaitable[None] | None:
        """A seat has played or passed; you are told of your own plays too."""

    def get_forfeit(self, seat: int, place: int) -> Awaitable[None] | None:
        """A seat has left by a foul and taken this place."""

    @abstractmethod
    def request_play(
        self, ask: RequestPlay, limit: float
    ) -> Iterable[Card] | Awaitable[Iterable[Card] | None] | None:
        """Which cards do you play, within `limit` seconds? None is a pass, which is
        not allowed where you lead.
        """

    def resumed_play(
        self, ask: RequestPlay, cards: tuple[Card, ...] | None
    ) -> Awaitable[None] | None:
        """The stream was opened in the middle of a game: this was asked before, and
        answered so.
        """


async def _begin(call: proto.BigTwoCall, invoke: Invoke) -> None:
    if call.HasField("table"):
        it = call.table
        table = Table(Scoring(it.scoring), it.reversal, tuple(it.cards_left))
        await invoke("get_table", table)
    if call.HasField("get_deal"):
        await invoke("get_deal", tuple(map(Card, call.get_deal.cards)))


async def _hear(call: proto.BigTwoCall, invoke: Invoke) -> proto.BigTwoAnswer | None:
    match call.WhichOneof("call"):
        case "get_play":
            it = call.get_play
            cards = _cards(it.play) if it.HasField("play") else None
            place = it.place if it.HasField("place") else None
            play = GetPlay(it.seat, cards, it.cards_left, it.reversed_after, place)
            await invoke("get_play", play)
            return None
        case "forfeit":
            await invoke("get_forfeit", call.forfeit.seat, call.forfeit.place)
            return None
        case "request_play":
            request = call.request_play
        case _:
            return None
    ask = RequestPlay(
        to_beat=_cards(request.to_beat) if request.HasField("to_beat") else None,
        reversed=request.reversed,
        must_include_three_of_clubs=request.must_include_three_of_clubs,
    )
    if call.HasField("past_answer"):
        past = call.past_answer
        await invoke("resumed_play", ask, _cards(past.play) if past.HasField("play") else None)
        return None
    limit = seconds(call.limit)
    answer: proto.BigTwoAnswer = await invoke("request_play", ask, limit, read=_answer)
    return answer


def _answer(value: object) -> proto.BigTwoAnswer:
    if value is None:
        return proto.BigTwoAnswer(**{"pass": proto.Pass()})  # type: ignore[arg-type]
    cards = items(value, len(Card))
    try:
        names = [proto.Card.Name(Card(card)) for card in cards]
    except (TypeError, ValueError):
        names = []
    if not names or len(set(names)) < len(names):
        raise wrong("request_play", value, "a list of Cards, each once, or None to pass")
    return proto.BigTwoAnswer(play=proto.Play(cards=names))


def _cards(play: proto.Play) -> tuple[Card, ...]:
    return tuple(map(Card, play.cards))


GAME = Game(
    "games.big_two.v1.BigTwoBot",
    BigTwoBot,
    proto.BigTwoCall,
    proto.BigTwoAnswer,
    _begin,
    _hear,
)
