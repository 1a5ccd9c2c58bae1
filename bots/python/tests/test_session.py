"""What a bot says on its stream, in both flavours, and which callbacks are called."""

from __future__ import annotations

import asyncio
import inspect
import io
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from bot_arena import (
    AsyncBot,
    BigTwoBot,
    Bot,
    Card,
    ConnectFourBot,
    Ending,
    FoulKind,
    GameOver,
    GameStart,
    GetPlay,
    GetPoint,
    MahjongBot,
    OthelloBot,
    Point,
    RequestMove,
    RequestPlay,
    Scoring,
    SeatResult,
    Square,
    Tile,
    big_two,
    connect_four,
    mahjong,
    othello,
)
from bot_arena._proto.arena.v1 import envelope_pb2 as envelope
from bot_arena._proto.games.big_two.v1 import big_two_pb2
from bot_arena._proto.games.connect_four.v1 import connect_four_pb2
from bot_arena._proto.games.mahjong.v1 import mahjong_pb2
from bot_arena._proto.games.othello.v1 import othello_pb2
from bot_arena.game import Game
from google.protobuf.duration_pb2 import Duration

from harness import TIMEOUT, Flavour, Stream, get_point, serving, until

INTERNAL = grpc.StatusCode.INTERNAL
LIMIT = Duration(seconds=1, nanos=500_000_000)


class Leftmost(ConnectFourBot):
    def get_point(self, ask: GetPoint) -> Point:
        return ask.points()[0]


def returning(value: object) -> type[ConnectFourBot]:
    """A bot that answers so."""

    class Returning(ConnectFourBot):
        def get_point(self, ask: GetPoint) -> Any:
            return value

    return Returning


def raising(error: BaseException) -> type[ConnectFourBot]:
    class Raising(ConnectFourBot):
        def get_point(self, ask: GetPoint) -> Point:
            raise error

    return Raising


class Holding:
    """Bots that think until they are released."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.released = threading.Event()
        self.overs: list[GameOver] = []

    def bot(self, flavour: Flavour) -> type[ConnectFourBot]:
        holding = self

        class Plain(ConnectFourBot):
            def get_point(self, ask: GetPoint) -> Point:
                holding.entered.release()
                assert holding.released.wait(TIMEOUT)
                return ask.points()[0]

            def game_over(self, over: GameOver) -> None:
                holding.overs.append(over)

        class Async(Plain):
            async def get_point(self, ask: GetPoint) -> Point:  # type: ignore[override]
                holding.entered.release()
                while not holding.released.is_set():
                    await asyncio.sleep(0.002)
                return ask.points()[0]

        return Plain if flavour.bot is Bot else Async

    def ask(self, stream: Stream) -> None:
        """Begins a game in which the bot then thinks."""
        stream.ready()
        stream.send(number=1, get_point=get_point())
        assert self.entered.acquire(timeout=TIMEOUT)


def test_question_0_is_answered_by_what_the_bot_says_of_itself(
    flavour: Flavour, tmp_path: Path
) -> None:
    bot = flavour.bot("left", "1.5", max_games=3, can_resume=True)
    with serving(bot.connect_four(flavour.of(Leftmost)), tmp_path) as channel:
        stream = Stream(channel)
        stream.start()
        answer = stream.answer()
        assert answer.HasField("number") and answer.number == 0
        ready = answer.ready
        assert (ready.bot, ready.version, ready.max_games, ready.can_resume) == (
            "left",
            "1.5",
            3,
            True,
        )
        assert stream.close() == []


def test_one_game_at_once_and_no_catching_up_unless_it_is_said(tmp_path: Path) -> None:
    with serving(Bot("left", "1").connect_four(Leftmost), tmp_path) as channel:
        ready = Stream(channel).ready()
        assert ready.HasField("max_games") and ready.max_games == 1
        assert not ready.can_resume


def test_an_answer_repeats_its_questions_number(flavour: Flavour, tmp_path: Path) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        for number in (7, 3, 4_000_000_000):
            stream.send(number=number, get_point=get_point())
            answer = stream.answer()
            assert answer.number == number
            assert answer.point.HasField("x") and answer.point.HasField("y")
            assert (answer.point.x, answer.point.y) == (3, 0)
        assert stream.close() == []


def test_a_game_gets_its_start_and_its_end(flavour: Flavour, tmp_path: Path) -> None:
    told: list[object] = []

    class Listening(Leftmost):
        def __init__(self, start: GameStart) -> None:
            told.append(start)

        def game_over(self, over: GameOver) -> None:
            told.append(over)

    start = envelope.GameStart(
        game_id="g1",
        game="connect_four",
        seat=1,
        seats=2,
        move_limit=LIMIT,
        bot_seed=2**64 - 1,
        rules_version=3,
        behavior_version=4,
    )
    over = envelope.GameOver(
        results=[
            envelope.SeatResult(place=1, score=1),
            envelope.SeatResult(place=2, score=-1, foul=envelope.FOUL_KIND_LATE),
        ],
        ending=envelope.ENDING_FOUL,
        reason="too late",
    )
    bot = flavour.bot("left", "1").connect_four(flavour.of(Listening))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.send(number=0, start=start)
        stream.answer()
        stream.send(over=over)
        assert stream.close() == []
    assert told == [
        GameStart("g1", "connect_four", 1, 2, 1.5, None, 2**64 - 1, 3, 4),
        GameOver(
            (SeatResult(1, 1, None), SeatResult(2, -1, FoulKind.LATE)), Ending.FOUL, "too late"
        ),
    ]


def test_every_kind_of_foul_and_ending_of_the_protocol_has_a_name() -> None:
    for ours, theirs, prefix in [
        (FoulKind, envelope.FoulKind, "FOUL_KIND_"),
        (Ending, envelope.Ending, "ENDING_"),
    ]:
        names = {name.removeprefix(prefix): number for name, number in theirs.items()}
        names["UNKNOWN"] = names.pop("UNSPECIFIED")
        assert names == {kind.name: kind.value for kind in ours}


def test_what_a_newer_referee_says_of_an_end_is_unknown(flavour: Flavour, tmp_path: Path) -> None:
    told: list[GameOver] = []

    class Listening(Leftmost):
        def game_over(self, over: GameOver) -> None:
            told.append(over)

    over = envelope.GameOver(
        results=[envelope.SeatResult(place=1, score=1), envelope.SeatResult(place=2, score=-1)],
        reason="something new",
    )
    # As the bytes of a newer protocol have it.
    over.MergeFromString(b"\x0a\x02\x18\x63\x10\x63")
    bot = flavour.bot("left", "1").connect_four(flavour.of(Listening))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        stream.send(over=over)
        assert stream.close() == []
    assert told[0].results[2].foul is FoulKind.UNKNOWN
    assert told[0].ending is Ending.UNKNOWN


def test_every_game_has_an_object_of_its_own(flavour: Flavour, tmp_path: Path) -> None:
    class Counting(ConnectFourBot):
        def __init__(self, start: GameStart) -> None:
            self.asked = 0

        def get_point(self, ask: GetPoint) -> Point:
            self.asked += 1
            return Point(self.asked, 0)

    bot = flavour.bot("count", "1", max_games=2).connect_four(flavour.of(Counting))
    with serving(bot, tmp_path) as channel:
        streams = [Stream(channel), Stream(channel)]
        for stream in streams:
            stream.ready()
        for number in (1, 2):
            for stream in streams:
                stream.send(number=number, get_point=get_point())
                assert stream.answer().point.x == number


def test_a_function_may_make_the_object(flavour: Flavour, tmp_path: Path) -> None:
    bot = flavour.bot("left", "1").connect_four(lambda start: flavour.of(Leftmost)(start))
    with serving(bot, tmp_path) as channel:
        assert Stream(channel).ready().bot == "left"


def test_a_point_is_asked_for_with_all_there_is_to_know(
    flavour: Flavour, tmp_path: Path
) -> None:
    asked: list[GetPoint] = []

    class Listening(ConnectFourBot):
        def get_point(self, ask: GetPoint) -> Point:
            asked.append(ask)
            assert ask.landing(0) is None
            assert ask.landing(1) == Point(0, 1)
            assert ask.points() == [Point(0, 1), Point(1, 2)]
            assert ask.cell(1, 0) == 1
            with pytest.raises(IndexError):
                ask.cell(0, -1)
            return ask.points()[1]

        def resumed_point(self, ask: GetPoint, point: Point) -> None:
            asked.append(ask)
            assert point == (0, 2)

    message = connect_four_pb2.GetPoint(
        m=2,
        n=3,
        top=bytes([0, 1, 2]),
        board=bytes([2, 0, 0, 1, 0, 0]),
        last_x=1,
        last_y=0,
        no_x=1,
        no_y=1,
    )
    bot = flavour.bot("listen", "1").connect_four(flavour.of(Listening))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        past = connect_four_pb2.ConnectFourAnswer(point=connect_four_pb2.Point(x=0, y=2))
        stream.send(number=1, limit=LIMIT, get_point=message, past_answer=past)
        stream.send(number=2, limit=LIMIT, get_point=message)
        answer = stream.answer()
        assert (answer.number, answer.point.x, answer.point.y) == (2, 1, 2)
        assert stream.close() == []
    top, board = bytes([0, 1, 2]), bytes([2, 0, 0, 1, 0, 0])
    assert asked == 2 * [GetPoint(2, 3, top, board, Point(1, 0), Point(1, 1), 1.5)]


def test_mahjong_by_its_callbacks(flavour: Flavour, tmp_path: Path) -> None:
    told: list[object] = []

    class Listening(MahjongBot):
        def get_round(self, round: mahjong.Round) -> None:
            told.append((round.missing_suit_required, round.wall))

        def get_draw(self, tile: Tile) -> None:
            told.append(("draw", str(tile)))

        def request_discard(self, limit: float) -> Tile:
            told.append(("discard", limit))
            return Tile.D9

        def get_opp_discard(self, tile: Tile) -> None:
            told.append(("opponent", tile))

        def request_win(self, tile: Tile, is_self_draw: bool, limit: float) -> bool:
            told.append(("win", tile, is_self_draw, limit))
            return is_self_draw

        def resumed_discard(self, tile: Tile) -> None:
            told.append(("resumed", tile))

        def resumed_win(self, tile: Tile, is_self_draw: bool, win: bool) -> None:
            told.append(("resumed", tile, is_self_draw, win))

    bot = flavour.bot("listen", "1").mahjong(flavour.of(Listening))
    pb = mahjong_pb2
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel, mahjong.GAME)
        stream.ready(round=pb.Round(missing_suit_required=True, wall=82))
        stream.send(get_draw=pb.GetDraw(tiles=[pb.TILE_C1, pb.TILE_C1, pb.TILE_B7]))
        discarded = pb.MahjongAnswer(discard=pb.TILE_B7)
        ask = pb.RequestDiscard()
        stream.send(number=1, limit=LIMIT, request_discard=ask, past_answer=discarded)
        stream.send(get_opp_discard=pb.GetOppDiscard(tile=pb.TILE_D1))
        for number, own in ((2, True), (3, False)):
            ask_win = pb.RequestWin(winning_tile=pb.TILE_C1, is_self_draw=own)
            passed = pb.MahjongAnswer(win=pb.CLAIM_PASS)
            stream.send(number=1, limit=LIMIT, request_win=ask_win, past_answer=passed)
            stream.send(number=number, limit=LIMIT, request_win=ask_win)
            answer = stream.answer()
            assert answer.number == number
            assert answer.win == (pb.CLAIM_WIN if own else pb.CLAIM_PASS)
        stream.send(number=4, limit=LIMIT, request_discard=ask)
        assert stream.answer().discard == pb.TILE_D9
        assert stream.close() == []
    assert told == [
        (True, 82),
        ("draw", "1c"),
        ("draw", "1c"),
        ("draw", "7b"),
        ("resumed", Tile.B7),
        ("opponent", Tile.D1),
        ("resumed", Tile.C1, True, False),
        ("win", Tile.C1, True, 1.5),
        ("resumed", Tile.C1, False, False),
        ("win", Tile.C1, False, 1.5),
        ("discard", 1.5),
    ]


def test_big_two_by_its_callbacks(flavour: Flavour, tmp_path: Path) -> None:
    told: list[object] = []

    class Listening(BigTwoBot):
        def get_table(self, table: big_two.Table) -> None:
            told.append(table)

        def get_deal(self, cards: tuple[Card, ...]) -> None:
            told.append(" ".join(map(str, cards)))

        def get_play(self, play: GetPlay) -> None:
            told.append(play)

        def get_forfeit(self, seat: int, place: int) -> None:
            told.append((seat, place))

        def request_play(self, ask: RequestPlay, limit: float) -> set[Card] | None:
            told.append((ask, limit))
            return None if ask.to_beat else {Card.C3}

        def resumed_play(self, ask: RequestPlay, cards: tuple[Card, ...] | None) -> None:
            told.append((ask, cards))

    bot = flavour.bot("listen", "1").big_two(flavour.of(Listening))
    pb = big_two_pb2
    three, joker = pb.CARD_THREE_OF_CLUBS, pb.CARD_JOKER_1
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel, big_two.GAME)
        stream.ready(
            table=pb.Table(
                scoring=pb.SCORING_PAYOUT, reversal=True, cards_left=[14, 14, 13, 13]
            ),
            get_deal=pb.GetDeal(cards=[three, pb.CARD_TEN_OF_HEARTS, joker]),
        )
        lead = pb.RequestPlay(must_include_three_of_clubs=True)
        follow = pb.RequestPlay(to_beat=pb.Play(cards=[joker]), reversed=True)
        played = pb.BigTwoAnswer(play=pb.Play(cards=[three]))
        passed = pb.BigTwoAnswer(**{"pass": pb.Pass()})  # type: ignore[arg-type]
        stream.send(number=1, request_play=lead, past_answer=played)
        stream.send(number=2, request_play=follow, past_answer=passed)
        stream.send(
            get_play=pb.GetPlay(
                seat=3, play=pb.Play(cards=[joker]), reversed_after=True, place=1
            )
        )
        stream.send(
            get_play=pb.GetPlay(
                seat=2,
                cards_left=5,
                **{"pass": pb.Pass()},  # type: ignore[arg-type]
            )
        )
        stream.send(forfeit=envelope.Forfeit(seat=2, place=4))
        stream.send(number=3, limit=LIMIT, request_play=lead)
        answer = stream.answer()
        assert (answer.number, list(answer.play.cards)) == (3, [three])
        stream.send(number=4, limit=LIMIT, request_play=follow)
        answer = stream.answer()
        assert answer.number == 4 and answer.HasField("pass")
        assert stream.close() == []
    leads, follows = RequestPlay(None, False, True), RequestPlay((Card.JOKER_1,), True, False)
    assert told == [
        big_two.Table(Scoring.PAYOUT, True, (14, 14, 13, 13)),
        "3C 10H JK1",
        (leads, (Card.C3,)),
        (follows, None),
        GetPlay(3, (Card.JOKER_1,), 0, True, 1),
        GetPlay(2, None, 5, False, None),
        (2, 4),
        (leads, 1.5),
        (follows, 1.5),
    ]


def test_othello_by_its_callbacks(flavour: Flavour, tmp_path: Path) -> None:
    told: list[object] = []

    class Listening(OthelloBot):
        def get_beginning(self, beginning: othello.Beginning) -> None:
            told.append(beginning)

        def request_move(self, ask: RequestMove, limit: float) -> Square:
            told.append((ask, limit))
            return Square(2, 3)

        def resumed_move(self, ask: RequestMove, square: Square) -> None:
            told.append((ask, str(square)))

    bot = flavour.bot("listen", "1").othello(flavour.of(Listening))
    pb = othello_pb2
    board = bytes(range(64))
    passed = pb.Previous(**{"pass": pb.Pass()})  # type: ignore[arg-type]
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel, othello.GAME)
        none = pb.Previous(none=pb.NoMove())
        stream.ready(
            beginning=pb.Beginning(board=board, side_to_move=pb.SIDE_WHITE, previous=none)
        )
        there = pb.Square(row=0, column=7)
        ask = pb.RequestMove(board=board, previous=pb.Previous(square=there))
        stream.send(number=1, request_move=ask, past_answer=pb.OthelloAnswer(square=there))
        stream.send(
            number=2, limit=LIMIT, request_move=pb.RequestMove(board=board, previous=passed)
        )
        answer = stream.answer()
        assert (answer.number, answer.square.row, answer.square.column) == (2, 2, 3)
        assert stream.close() == []
    assert told == [
        othello.Beginning(board, 1, None),
        (RequestMove(board, Square(0, 7)), "h1"),
        (RequestMove(board, othello.PASS), 1.5),
    ]


def test_a_start_that_was_answered_before_is_not_answered_again(
    flavour: Flavour, tmp_path: Path
) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        ready = connect_four_pb2.ConnectFourAnswer(number=0, ready=envelope.Ready(bot="left"))
        stream.start(past_answer=ready)
        stream.send(number=1, get_point=get_point())
        assert stream.answer().number == 1


def test_what_is_unknown_is_not_answered(flavour: Flavour, tmp_path: Path) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        number_5 = b"\x08\x05"
        field_99 = b"\x9a\x06\x02hi"
        stream.send_bytes(b"")
        stream.send_bytes(field_99)
        stream.send_bytes(number_5 + field_99)
        stream.send(forfeit=envelope.Forfeit(seat=1))
        known = connect_four_pb2.ConnectFourCall(number=6, get_point=get_point())
        stream.send_bytes(known.SerializeToString() + field_99)
        assert stream.answer().number == 6
        assert stream.close() == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no room in column 3"), "ValueError: no room in column 3"),
        (StopIteration(), ("StopIteration", "RuntimeError: coroutine raised StopIteration")),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (AssertionError("x" * 100_000), "AssertionError: xxx"),
        (KeyError("\u5217 \U0001f3b2\n"), "KeyError: '\u5217 \U0001f3b2\\n'"),
        (ValueError("\udcff"), "ValueError: \\udcff ("),
        (asyncio.CancelledError("mine"), "asyncio.exceptions.CancelledError: mine"),
        (GeneratorExit(), "GeneratorExit"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_what_a_callback_raises_ends_its_game_and_no_other(
    flavour: Flavour,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    words: str | tuple[str, ...],
) -> None:
    class Sometimes(Leftmost):
        def get_point(self, ask: GetPoint) -> Point:
            if ask.last is None:
                return Point(0, 0)
            raise error

    bot = flavour.bot("raise", "1", max_games=2).connect_four(flavour.of(Sometimes))
    with serving(bot, tmp_path) as channel:
        other, stream = Stream(channel), Stream(channel)
        other.ready()
        stream.ready()
        bad = get_point()
        bad.last_x, bad.last_y = 3, 3
        stream.send(number=1, get_point=bad)
        code, details = stream.status()
        assert code == INTERNAL
        assert details.startswith("exception in get_point: "), details
        assert details.removeprefix("exception in get_point: ").startswith(words), details
        # Python hides where a StopIteration came from.
        assert isinstance(error, StopIteration) or "(test_session.py:" in details
        assert len(details) < 600
        other.send(number=1, get_point=get_point())
        assert other.answer().number == 1
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "in get_point" in shown


GAMES: dict[str, Game[Any, Any]] = {
    "connect_four": connect_four.GAME,
    "mahjong": mahjong.GAME,
    "big_two": big_two.GAME,
    "othello": othello.GAME,
}
ASKED: dict[str, Any] = {
    "get_point": get_point(),
    "request_discard": mahjong_pb2.RequestDiscard(),
    "request_win": mahjong_pb2.RequestWin(winning_tile=mahjong_pb2.TILE_C1),
    "request_play": big_two_pb2.RequestPlay(),
    "request_move": othello_pb2.RequestMove(board=bytes(64)),
}


def answering(
    flavour: Flavour, name: str, callback: str, answers: Callable[..., object]
) -> Bot:
    """A bot of this game, one of whose callbacks is this function."""

    def hears(self: object, *_: object) -> None:
        pass

    game = GAMES[name]
    told = dict.fromkeys(game.bot.__abstractmethods__, hears)
    new = type("Answering", (game.bot,), {**told, callback: answers})
    bot: Bot = getattr(flavour.bot("answer", "1"), name)(flavour.of(new))
    return bot


# What leads to a callback, of those that come with the start and of the others.
STARTS: dict[str, Any] = {
    "get_round": {"round": {}},
    "get_table": {"table": {"scoring": big_two_pb2.SCORING_PLACES}},
    "get_deal": {"get_deal": {}},
    "get_beginning": {"beginning": {"board": bytes(64)}},
}
CALLS: dict[str, Any] = {
    **{callback: {"number": 1, callback: asked} for callback, asked in ASKED.items()},
    "get_draw": {"get_draw": {"tiles": [mahjong_pb2.TILE_C1]}},
    "get_opp_discard": {"get_opp_discard": {"tile": mahjong_pb2.TILE_C1}},
    "get_play": {"get_play": {}},
    "get_forfeit": {"forfeit": {}},
    "game_over": {"over": {"ending": envelope.ENDING_PLAYED}},
    "resumed_point": {"get_point": get_point(), "past_answer": {}},
    "resumed_discard": {
        "request_discard": {},
        "past_answer": {"discard": mahjong_pb2.TILE_C1},
    },
    "resumed_win": {"request_win": ASKED["request_win"], "past_answer": {}},
    "resumed_play": {"request_play": {}, "past_answer": {}},
    "resumed_move": {"request_move": ASKED["request_move"], "past_answer": {}},
}


def callbacks(game: Game[Any, Any]) -> list[str]:
    return [
        name
        for name, _ in inspect.getmembers(game.bot, inspect.isfunction)
        if not name.startswith("_")
    ]


@pytest.mark.parametrize(
    ("game", "callback"),
    [(name, callback) for name, game in GAMES.items() for callback in callbacks(game)],
)
def test_what_is_raised_is_told_with_the_callback_that_raised_it(
    flavour: Flavour, tmp_path: Path, game: str, callback: str
) -> None:
    def wrapper(self: object, *_: object) -> object:
        raise ValueError("no such tile")

    with serving(answering(flavour, game, callback, wrapper), tmp_path) as channel:
        stream = Stream(channel, GAMES[game])
        stream.start(**STARTS.get(callback, {}))
        if callback not in STARTS:
            stream.answer()
            stream.send(**CALLS[callback])
        code, words = stream.status()
        assert code == INTERNAL
        told = f"exception in {callback}: ValueError: no such tile (test_session.py:"
        assert words.startswith(told), words


def test_an_error_is_told_where_it_can_not_be_printed(
    flavour: Flavour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = io.StringIO()
    closed.close()
    for stderr in (closed, None, object()):
        bot = flavour.bot("raise", "1").connect_four(flavour.of(raising(ValueError("oh"))))
        with serving(bot, tmp_path) as channel, monkeypatch.context() as patched:
            stream = Stream(channel)
            # It has printed where it listens by then.
            stream.ready()
            patched.setattr("sys.stdout", closed)
            patched.setattr("sys.stderr", stderr)
            stream.send(number=1, get_point=get_point())
            code, words = stream.status()
            assert code == INTERNAL
            assert words.startswith("exception in get_point: ValueError: oh (test_session.py:")


def test_the_traceback_begins_with_the_authors_own_code(
    flavour: Flavour, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bot = flavour.bot("raise", "1").connect_four(raising(ValueError("oh")))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        stream.send(number=1, get_point=get_point())
        assert stream.status()[0] == INTERNAL
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].startswith("Traceback")
    assert "test_session.py" in shown[1]


def test_the_place_of_an_error_is_the_authors_own(flavour: Flavour, tmp_path: Path) -> None:
    class Asks(Leftmost):
        def get_point(self, ask: GetPoint) -> Point:
            json.loads("no JSON")
            return super().get_point(ask)

    bot = flavour.bot("ask", "1").connect_four(Asks)
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        stream.send(number=1, get_point=get_point())
        code, words = stream.status()
        assert code == INTERNAL
        assert "JSONDecodeError" in words and "(test_session.py:" in words, words


def test_a_constructor_may_fail_too(flavour: Flavour, tmp_path: Path) -> None:
    class Fails(Leftmost):
        def __init__(self, start: GameStart) -> None:
            raise OSError("no weights.bin")

    bot = flavour.bot("fail", "1").connect_four(Fails)
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.start()
        code, words = stream.status()
        assert code == INTERNAL and words.startswith(
            "exception in the constructor: OSError: no weights.bin"
        )


def test_a_function_must_make_a_bot_of_the_game(flavour: Flavour, tmp_path: Path) -> None:
    make: Callable[..., Any] = lambda start: None  # noqa: E731
    with serving(flavour.bot("none", "1").connect_four(make), tmp_path) as channel:
        stream = Stream(channel)
        stream.start()
        assert stream.status() == (
            INTERNAL,
            "the constructor returned None: expected a ConnectFourBot",
        )


@pytest.mark.parametrize(
    "value", [None, 3, (1.0, 2.0), (1,), (1, 2, 3), "ab", (2**40, 0), object]
)
def test_a_wrong_point_is_told_what_was_expected(
    flavour: Flavour, tmp_path: Path, value: object
) -> None:
    bot = flavour.bot("wrong", "1").connect_four(flavour.of(returning(value)))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        stream.send(number=1, get_point=get_point())
        words = f"get_point returned {value!r}: expected Point(x, y)"
        assert stream.status() == (INTERNAL, words)


def test_any_pair_of_integers_is_a_point(flavour: Flavour, tmp_path: Path) -> None:
    bot = flavour.bot("pair", "1").connect_four(flavour.of(returning([-1, 2])))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        stream.send(number=1, get_point=get_point())
        point = stream.answer().point
        assert (point.x, point.y) == (-1, 2)


TILE = "a Tile of the hand"
CARDS = "a list of Cards, each once, or None to pass"
SQUARE = "Square(row, column), both of 0 to 7"
WRONG = [
    ("mahjong", "request_discard", 0, TILE),
    ("mahjong", "request_discard", -1, TILE),
    ("mahjong", "request_discard", 30, TILE),
    ("big_two", "request_play", [0], CARDS),
    ("big_two", "request_play", [-1], CARDS),
    ("big_two", "request_play", [Card.C3, Card.S9, Card.C3], CARDS),
    ("othello", "request_move", Square(9, 9), SQUARE),
    ("othello", "request_move", (8, 0), SQUARE),
    ("othello", "request_move", (0, 8), SQUARE),
    ("othello", "request_move", (0, -1), SQUARE),
    ("othello", "request_move", (2**40, 0), SQUARE),
    ("mahjong", "request_discard", 10, TILE),
    ("mahjong", "request_discard", None, TILE),
    ("mahjong", "request_discard", "1c", TILE),
    ("mahjong", "request_discard", [1], TILE),
    ("mahjong", "request_win", None, "True or False"),
    ("mahjong", "request_win", 1, "True or False"),
    ("big_two", "request_play", [], CARDS),
    ("big_two", "request_play", [55], CARDS),
    ("big_two", "request_play", 3, CARDS),
    ("big_two", "request_play", "3C", CARDS),
    ("othello", "request_move", None, SQUARE),
    ("othello", "request_move", 19, SQUARE),
    ("othello", "request_move", (-1, 0), SQUARE),
    ("othello", "request_move", (0.0, 0.0), SQUARE),
]


@pytest.mark.parametrize(("name", "callback", "value", "expected"), WRONG)
def test_any_wrong_answer_is_told_what_was_expected(
    flavour: Flavour,
    tmp_path: Path,
    name: str,
    callback: str,
    value: object,
    expected: str,
) -> None:
    def answers(self: object, *_: object) -> object:
        return value

    with serving(answering(flavour, name, callback, answers), tmp_path) as channel:
        stream = Stream(channel, GAMES[name])
        stream.ready()
        stream.send(number=1, **{callback: ASKED[callback]})
        words = f"{callback} returned {value!r}: expected {expected}"
        assert stream.status() == (INTERNAL, words)


def test_an_answer_is_read_on_the_thread_of_its_game(tmp_path: Path) -> None:
    entered, released = threading.Event(), threading.Event()

    class Yielding(ConnectFourBot):
        def get_point(self, ask: GetPoint) -> Any:
            if ask.last is None:
                return ask.points()[0]

            def point() -> Iterator[int]:
                yield 3
                entered.set()
                assert released.wait(TIMEOUT)
                yield 1

            return point()

    with serving(Bot("yield", "1", max_games=2).connect_four(Yielding), tmp_path) as channel:
        stream, other = Stream(channel), Stream(channel)
        stream.ready()
        second = get_point()
        second.last_x, second.last_y = 3, 3
        stream.send(number=1, get_point=second)
        assert entered.wait(TIMEOUT)
        try:
            other.ready()
            for number in (1, 2):
                other.send(number=number, get_point=get_point())
                assert other.answer().number == number
        finally:
            released.set()
        point = stream.answer().point
        assert (point.x, point.y) == (3, 1)


GENERATED = [
    ("connect_four", "get_point"),
    ("big_two", "request_play"),
    ("othello", "request_move"),
]


@pytest.mark.parametrize(("name", "callback"), GENERATED)
@pytest.mark.parametrize("error", [TypeError, ValueError, KeyError, SystemExit])
def test_what_a_generator_raises_ends_its_game_in_its_own_words(
    flavour: Flavour,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    callback: str,
    error: type[BaseException],
) -> None:
    def generates(self: object, *_: object) -> Iterator[int]:
        yield 3
        raise error(77)

    with serving(answering(flavour, name, callback, generates), tmp_path) as channel:
        stream = Stream(channel, GAMES[name])
        stream.ready()
        stream.send(number=1, **{callback: ASKED[callback]})
        code, words = stream.status()
        assert code == INTERNAL
        begins = f"exception in {callback}: {error.__name__}: 77 (test_session.py:"
        assert words.startswith(begins), words
    shown = capsys.readouterr().err.splitlines()
    assert shown[0].startswith("Traceback")
    assert "test_session.py" in shown[1]


@pytest.mark.parametrize(("name", "callback"), GENERATED)
def test_a_generator_without_an_end_is_a_wrong_answer(
    flavour: Flavour, tmp_path: Path, name: str, callback: str
) -> None:
    def generates(self: object, *_: object) -> Iterator[int]:
        return itertools.repeat(3)

    with serving(answering(flavour, name, callback, generates), tmp_path) as channel:
        stream = Stream(channel, GAMES[name])
        stream.ready()
        stream.send(number=1, **{callback: ASKED[callback]})
        code, words = stream.status()
        assert code == INTERNAL
        assert words.startswith(f"{callback} returned repeat(3): expected ")


def test_an_answer_that_can_not_be_shown_is_told_what_was_expected(
    flavour: Flavour, tmp_path: Path
) -> None:
    class Shy:
        def __repr__(self) -> str:
            raise ValueError("no")

    made: Callable[..., Any] = lambda start: Shy()  # noqa: E731
    for new in (flavour.of(returning(Shy())), made):
        with serving(flavour.bot("shy", "1").connect_four(new), tmp_path) as channel:
            stream = Stream(channel)
            stream.start()
            if new is not made:
                stream.answer()
                stream.send(number=1, get_point=get_point())
            code, words = stream.status()
            assert code == INTERNAL
            assert "<Shy instance at " in words and ": expected " in words


def test_an_async_callback_needs_a_bot_of_asyncio(tmp_path: Path) -> None:
    class Async(ConnectFourBot):
        async def get_point(self, ask: GetPoint) -> Point:
            return ask.points()[0]

    with serving(Bot("async", "1").connect_four(Async), tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        stream.send(number=1, get_point=get_point())
        words = "get_point is async: serve it with AsyncBot, or make it a plain method"
        assert stream.status() == (INTERNAL, words)


INVALID = [
    (b"\xff", "not a call of this game: "),
    (connect_four_pb2.ConnectFourCall(start=envelope.GameStart()), "not a call of this game: "),
    (
        connect_four_pb2.ConnectFourCall(number=0, get_point=get_point()),
        "the game has not begun",
    ),
]


@pytest.mark.parametrize(("call", "words"), INVALID, ids=["bytes", "number", "start"])
def test_a_stream_that_begins_wrong_is_refused(
    flavour: Flavour, tmp_path: Path, call: Any, words: str
) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.send_bytes(call if isinstance(call, bytes) else call.SerializeToString())
        code, details = stream.status()
        assert code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION)
        assert details.startswith(words)


def test_a_board_that_does_not_fit_its_size_is_refused(
    flavour: Flavour, tmp_path: Path
) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        small = get_point()
        small.board = bytes(3)
        stream.send(number=1, get_point=small)
        assert stream.status()[0] == grpc.StatusCode.INVALID_ARGUMENT


def test_a_cancelled_game_gives_its_place_to_the_next(flavour: Flavour, tmp_path: Path) -> None:
    holding = Holding()
    bot = flavour.bot("hold", "1").connect_four(holding.bot(flavour))
    with serving(bot, tmp_path) as channel:
        first = Stream(channel)
        holding.ask(first)
        first.cancel()
        second = Stream(channel)
        holding.ask(second)
        holding.released.set()
        assert second.answer().number == 1
        second.send(over=envelope.GameOver(ending=envelope.ENDING_PLAYED, reason="four"))
        assert second.close() == []
        # The thread of the first ends as soon as its callback does.
        until(lambda: not any(thread.name == "game" for thread in threading.enumerate()))
    assert [over.reason for over in holding.overs] == ["four"]


@pytest.mark.parametrize("then", ["waits", "answers"])
def test_a_bot_that_cancels_its_own_task_is_told_so(tmp_path: Path, then: str) -> None:
    class Cancelling(ConnectFourBot):
        async def get_point(self, ask: GetPoint) -> Point:
            task = asyncio.current_task()
            assert task
            task.cancel()
            if then == "waits":
                await asyncio.sleep(TIMEOUT)
            return ask.points()[0]

    with serving(AsyncBot("cancel", "1").connect_four(Cancelling), tmp_path) as channel:
        for _ in range(2):
            stream = Stream(channel)
            stream.ready()
            stream.send(number=1, get_point=get_point())
            if then == "answers":
                assert stream.answer().number == 1
            code, words = stream.status()
            assert code == INTERNAL
            raised = "exception in get_point: asyncio.exceptions.CancelledError"
            told = raised if then == "waits" else "the bot cancelled the task of its game"
            assert words.startswith(told), words


def test_a_callback_is_cancelled_with_its_stream_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entered, left = threading.Event(), threading.Event()

    class Waiting(Leftmost):
        async def get_point(self, ask: GetPoint) -> Point:  # type: ignore[override]
            entered.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                left.set()
            return ask.points()[0]

    with serving(AsyncBot("wait", "1").connect_four(Waiting), tmp_path) as channel:
        stream = Stream(channel)
        stream.ready()
        stream.send(number=1, get_point=get_point())
        assert entered.wait(TIMEOUT)
        stream.cancel()
        assert left.wait(TIMEOUT)
        assert Stream(channel).ready().bot == "wait"
    assert capsys.readouterr().err == ""


def test_more_games_than_max_games_are_refused_in_words(
    flavour: Flavour, tmp_path: Path
) -> None:
    holding = Holding()
    bot = flavour.bot("hold", "1", max_games=16).connect_four(holding.bot(flavour))
    with serving(bot, tmp_path) as channel:
        streams = [Stream(channel) for _ in range(16)]
        for stream in streams:
            holding.ask(stream)
        more = [Stream(channel) for _ in range(20)]
        for stream in more:
            stream.start()
        for stream in more:
            assert stream.status() == (
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "max_games is 16, and as many games are running",
            )
        holding.released.set()
        for stream in streams:
            assert stream.answer().number == 1


def test_a_new_game_waits_for_one_that_ends(flavour: Flavour, tmp_path: Path) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        for _ in range(20):
            stream = Stream(channel)
            stream.ready()
            following = Stream(channel)
            following.start()
            assert stream.close() == []
            assert following.answer().ready.bot == "left"
            following.cancel()


def test_what_can_not_play_is_told_so_at_once() -> None:
    class Unfinished(MahjongBot):
        def get_draw(self, tile: Tile) -> None:
            pass

    words = "Unfinished lacks get_opp_discard, request_discard, request_win"
    with pytest.raises(TypeError, match=words):
        Bot("unfinished", "1").mahjong(Unfinished)
    with pytest.raises(ValueError, match="max_games is 0: expected 1 or more"):
        Bot("none", "1", max_games=0)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("name", None, "a text"),
        ("name", b"mj", "a text"),
        ("version", 1.0, "a text"),
        ("max_games", True, "a whole number"),
        ("max_games", 2.0, "a whole number"),
        ("max_games", "2", "a whole number"),
        ("can_resume", "yes", "True or False"),
    ],
)
def test_what_a_bot_says_of_itself_has_its_types(
    name: str, value: object, expected: str
) -> None:
    said: dict[str, Any] = {"name": "mj", "version": "1", name: value}
    with pytest.raises(TypeError) as raised:
        Bot(**said)
    assert str(raised.value) == f"{name} is {value!r}: expected {expected}"
