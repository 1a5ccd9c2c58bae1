"""`play`: agents of this interpreter against others, by the program `arena`."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bot_arena
import pytest
from bot_arena import (
    Agent,
    ArenaError,
    AsyncBot,
    Bot,
    ConnectFourBot,
    GameOver,
    GetPoint,
    OthelloBot,
    Point,
    RequestMove,
    Result,
    Square,
    play,
    play_async,
)

import thinking
from harness import TIMEOUT, until
from random_bot import RandomBigTwo, RandomMahjong, RandomOthello

SCRIPT = Path(__file__).parent / "bots" / "plays.py"
SMALL = {"rows": 6, "columns": 7, "forbidden": "none"}


@pytest.fixture(autouse=True)
def _alone(arena: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The arena of these tests, and afterwards nothing that was left behind."""
    temporary = tmp_path / "t"
    temporary.mkdir()
    monkeypatch.setenv("BOT_ARENA", arena)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.chdir(tmp_path)
    before = set(threading.enumerate())
    yield
    until(lambda: set(threading.enumerate()) <= before)
    assert [path.name for path in tmp_path.iterdir() if path.name == "arena-runs"] == []


def leftmost(ask: GetPoint) -> Point:
    return ask.points()[0]


def last_square(ask: RequestMove) -> Square:
    return thinking.squares(ask.board)[-1]


class Centre(ConnectFourBot):
    def get_point(self, ask: GetPoint) -> Point:
        return min(ask.points(), key=lambda point: abs(2 * point.y - (ask.n - 1)))


def test_a_class_plays_a_built_in_bot() -> None:
    result = play(Centre, "house:random", game="connect-four", deals=12, seed=1)
    assert (result.game, result.end, len(result.games)) == ("connect-four", "completed", 24)
    assert [one.bot for one in result.standings] == ["Centre", "random"]
    centre = result["Centre"]
    assert (centre.rank, centre.games, centre.fouls) == (1, 24, 0)
    assert centre.wins + centre.draws + centre.losses == 24
    assert centre.score is not None and centre.score > 0.6
    assert centre.elo.value is not None and centre.elo.value > 0
    assert centre.elo.error is not None or centre.elo.missing is not None
    assert {game.players for game in result.games} == {
        ("Centre", "random"),
        ("random", "Centre"),
    }
    first = result.games[0]
    assert first.winner in first.players and first.reason and first.plies > 6
    assert len(first.thought) == 2 and sum(first.thought) < 60
    with pytest.raises(KeyError):
        result["nobody"]


@pytest.mark.parametrize(
    ("game", "agent"),
    [("othello", RandomOthello), ("mahjong", RandomMahjong), ("big_two", RandomBigTwo)],
)
def test_every_game_is_played(game: str, agent: Any) -> None:
    others = (
        ["house:random"] if game != "big_two" else ["house:random", "house:ai1", "house:ai2"]
    )
    result = play({"mine": agent}, *others, game=game, deals=2)
    assert result.fouls == ()
    assert result["mine"].games == 2 * (len(others) + 1)


def test_functions_answer_questions_in_any_form() -> None:
    def column(ask: GetPoint) -> int:
        return ask.points()[-1].y

    async def later(ask: GetPoint) -> Point:
        await asyncio.sleep(0.001)
        return ask.points()[0]

    result = play(column, later, game="connect four", deals=2)
    assert result.fouls == ()
    assert {one.bot for one in result.standings} == {"column", "later"}

    def named(ask: RequestMove) -> str:
        return str(last_square(ask))

    async def named_later(ask: RequestMove) -> str:
        return named(ask)

    result = play(named, named_later, game="othello", deals=2)
    assert result.fouls == ()
    assert len(result.games) == 4


def test_bots_as_they_are_and_the_same_agent_twice() -> None:
    class Waiting(Centre):
        async def get_point(self, ask: GetPoint) -> Point:  # type: ignore[override]
            await asyncio.sleep(0)
            return super().get_point(ask)

    bots = [Bot("a", "1").connect_four(Centre), AsyncBot("a", "1").connect_four(Waiting)]
    result = play(*bots, game="connect-four", deals=1)
    assert result.fouls == ()
    assert {one.bot for one in result.standings} == {"a", "a-2"}
    result = play(Waiting, Waiting, game="connect-four", deals=1)
    assert {one.bot for one in result.standings} == {"Waiting", "Waiting-2"}
    result = play(bots[0], bots[0], game="connect-four", deals=1)
    assert result.fouls == ()


def test_an_exception_is_a_foul_with_its_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(ask: GetPoint) -> Point:
        print("my last words")
        raise ZeroDivisionError("no such number")

    result = play(broken, "house:random", game="connect-four", deals=1)
    assert [foul.kind for foul in result.fouls] == ["error-status"] * 2
    foul = result.fouls[0]
    assert (foul.bot, foul.seat) == (
        "broken",
        0 if result.games[0].players[0] == "broken" else 1,
    )
    words = r"exception in get_point: ZeroDivisionError: no such number \(test_playing.py:\d+\)"
    assert re.fullmatch(words, foul.words), foul.words
    assert result["broken"].fouls == 2
    assert f"first foul of broken: error-status: {foul.words}" in repr(result)
    printed = capsys.readouterr()
    assert printed.out == "my last words\n" * 2
    assert "ZeroDivisionError: no such number" in printed.err


WRONG = [
    ("connect-four", lambda ask: 99, "get_point returned 99: expected a Point, or a column"),
    ("connect-four", lambda ask: "3", "get_point returned '3': expected Point(x, y)"),
    ("othello", lambda ask: "z9", "request_move returned 'z9': expected Square(row, column)"),
    ("othello", lambda ask: None, "request_move returned None: expected Square(row, column)"),
]


@pytest.mark.parametrize(("game", "agent", "words"), WRONG)
def test_a_wrong_answer_is_told_what_was_expected(game: str, agent: Any, words: str) -> None:
    result = play({"mine": agent}, "house:random", game=game, deals=1)
    assert [foul.bot for foul in result.fouls] == ["mine", "mine"]
    assert result.fouls[0].words.startswith(words), result.fouls[0].words


def test_who_thinks_for_ever_is_late_and_holds_up_nothing() -> None:
    games = []

    class Endless(ConnectFourBot):
        def get_point(self, ask: GetPoint) -> Point:
            games.append(self.start.game_id)
            while True:
                pass

    class AsyncEndless(ConnectFourBot):
        async def get_point(self, ask: GetPoint) -> Point:
            games.append(self.start.game_id)
            while True:
                time.sleep(0)

    for agent in (Endless, AsyncEndless):
        games.clear()
        options: Any = {"deals": 1, "game": "connect-four", "move_limit": 0.3, "start_limit": 1}
        result = play(agent, "house:random", **options)
        assert [foul.kind for foul in result.fouls][:1] == ["late"]
        assert result.fouls[0].words == "no answer within 0.3 s"
    # The fixture sees that their threads have ended.


def test_a_slow_agent_does_not_hold_up_its_other_games() -> None:
    inside, most = [0], [0]
    lock = threading.Lock()

    class Slow(Centre):
        def get_point(self, ask: GetPoint) -> Point:
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.02)
            with lock:
                inside[0] -= 1
            return super().get_point(ask)

    result = play(Slow, "house:random", game="connect-four", deals=4, concurrency=4)
    assert result.fouls == ()
    assert most[0] > 1
    most[0] = 0
    play(Slow, "house:random", game="connect-four", deals=2)
    assert most[0] == 1


def test_more_agents_than_seats_are_a_tournament(capsys: pytest.CaptureFixture[str]) -> None:
    agents: list[Agent] = [Centre, leftmost, "house:random", "named=house:random"]
    result = play(*agents, game="connect-four", deals=1, setup=SMALL, seed="word")
    assert len(result.games) == 6 * 2
    assert {one.bot for one in result.standings} == {"Centre", "leftmost", "random", "named"}
    assert len(result.pairs) == 6
    assert result.fouls == ()
    game = result.games[0]
    assert game.record is not None and game.record.path is None
    bot_arena.show(game)
    shown = capsys.readouterr().out
    assert game.players[0] in shown and game.reason in shown
    result = play(*agents, game="connect-four", shape="gauntlet", challengers=1, deals=1)
    assert len(result.games) == 3 * 2


def test_a_test_stops_the_match_and_says_its_verdict() -> None:
    options: Any = {"game": "connect-four", "sprt": {"elo0": 0, "elo1": 400}, "deals": 400}
    result = play("house:ladder?level=40", "house:random", **options)
    assert result.end == "decided"
    assert result.sprt is not None and result.sprt.decision == "h1"
    assert result.sprt.llr >= result.sprt.upper > 0 > result.sprt.lower
    assert "H1 accepted: stronger by 400 normalised Elo rather than 0" in repr(result)
    assert len(result.games) < 800
    shape: Any = {"shape": "round-robin", **options}
    result = play("house:ladder?level=40", "house:random", **shape)
    assert result.sprt is not None and result.sprt.decision == "h1"
    result = play("house:random", leftmost, game="connect-four", sprt="elo0=0 elo1=9", deals=1)
    assert result.sprt is not None and result.sprt.verdict == "undecided"


@pytest.mark.parametrize("seed", [2**64 - 1, -1, "a word"])
def test_a_seed_is_the_same_deals_again(seed: int | str) -> None:
    results = [play(Centre, leftmost, game="connect-four", deals=3, seed=seed) for _ in "ab"]
    plies = [[(game.game_id, game.plies) for game in result.games] for result in results]
    assert plies[0] == plies[1]
    again = play(Centre, leftmost, game="connect-four", deals=3, seed=results[0].seed)
    assert [(game.game_id, game.plies) for game in again.games] == plies[0]


def test_set_ups_are_objects_lines_and_files(tmp_path: Path) -> None:
    sizes = []

    def seen(ask: GetPoint) -> Point:
        sizes.append((ask.m, ask.n))
        return ask.points()[0]

    options: Any = {"game": "connect-four", "deals": 2}
    play(seen, leftmost, setup=SMALL, **options)
    assert set(sizes) == {(6, 7)}
    sizes.clear()
    play(seen, leftmost, openings=[SMALL, "..../..../..../XO.. 2 3"], **options)
    assert set(sizes) == {(6, 7), (4, 4)}
    (tmp_path / "openings.txt").write_text('{"rows":5,"columns":5}\n')
    sizes.clear()
    play(seen, leftmost, openings="openings.txt", **options)
    assert set(sizes) == {(5, 5)}
    with pytest.raises(ValueError, match="expected setup or openings, found both"):
        play(seen, leftmost, setup=SMALL, openings="openings.txt", **options)


def test_records_are_kept_where_it_is_said(tmp_path: Path) -> None:
    result = play(leftmost, "house:random", game="connect-four", deals=1, records="mine")
    paths = sorted((tmp_path / "mine").glob("*.jsonl.zst"))
    assert [game.record.path for game in result.games if game.record] == paths
    assert list(Path(tempfile.gettempdir()).iterdir()) == []


def test_without_that_they_are_there_as_long_as_the_result() -> None:
    result = play(leftmost, "house:random", game="connect-four", deals=1)
    game = result.games[0]
    assert game.record is not None and game.record.path is not None
    assert game.record.path.is_file()
    del result
    assert game.record.path.is_file()
    del game
    assert list(Path(tempfile.gettempdir()).iterdir()) == []


def test_the_result_is_a_table_and_in_a_notebook_a_page() -> None:
    result = play(leftmost, "house:random", game="connect-four")
    lines = repr(result).splitlines()
    assert lines[0] == "connect-four: 20 games, completed"
    assert lines[1].split() == ["rank", "bot", "games", "score", "Elo", "±", "95", "%"] + [
        "W-D-L",
        "fouls",
    ]
    assert len(lines) == 4
    drawn = result._repr_html_()
    assert drawn.count("<tr>") == 3
    assert drawn.count("<iframe") == 1 and "srcdoc=" in drawn
    assert result.games[1]._repr_html_().startswith("<div><iframe")


def test_show_prints_a_game(capsys: pytest.CaptureFixture[str], arena: str) -> None:
    result = play(leftmost, "house:random", game="connect-four", deals=1, records="mine")
    game = result.games[0]
    assert game.record is not None
    path = game.record.path
    event = {"type": "game", "record": str(path)}
    shown = []
    for it in (game, game.record, path, str(path), event, json.dumps(event)):
        bot_arena.show(it)  # type: ignore[arg-type]
        shown.append(capsys.readouterr().out)
    assert len(set(shown)) == 1
    assert "leftmost" in shown[0] and game.reason in shown[0]
    with pytest.raises(ArenaError, match="nowhere.jsonl"):
        bot_arena.show("nowhere.jsonl")
    with pytest.raises(TypeError, match="has no record"):
        bot_arena.show({"type": "game"})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    play(leftmost, "house:random", game="connect-four", deals=2)
    assert re.search(r"\r4/4 games  leftmost \+\d =\d -\d\x1b\[K\r\x1b\[K$", seen.getvalue())
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    play(leftmost, "house:random", game="connect-four", deals=2, progress=False)
    assert seen.getvalue() == ""


def test_progress_is_a_bar_where_there_is_tqdm(capsys: pytest.CaptureFixture[str]) -> None:
    # A bar is drawn ten times a second at most.
    play(leftmost, "house:random", game="connect-four", deals=100)
    assert re.search(r"/200 \[.*leftmost \+\d", capsys.readouterr().err)


def test_who_can_not_play_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    def function(ask: Any) -> Any:
        return None

    for agents, game, error, words in [
        (
            (function, "house:random"),
            "mahjong",
            TypeError,
            "expected a class that is a Mahjong",
        ),
        ((Centre, "house:random"), "othello", TypeError, "Centre is no OthelloBot"),
        ((OthelloBot, "house:random"), "othello", TypeError, "OthelloBot lacks request_move"),
        ((3, "house:random"), "othello", TypeError, "3 can't play: expected a SPEC"),
        ((), "othello", ValueError, "nobody plays"),
        (
            (function, function),
            "chess",
            ValueError,
            'there is no game "chess": expected big-two',
        ),
        ((leftmost,), "connect-four", ArenaError, "has 2 seats"),
        (("house:nobody", leftmost), "connect-four", ArenaError, "nobody"),
        (("house:edge", leftmost), "connect-four", ArenaError, "edge"),
        (
            ({"bad name": leftmost}, "house:random"),
            "connect-four",
            ArenaError,
            "a name is 1 to",
        ),
    ]:
        with pytest.raises(error, match=words):
            play(*agents, game=game)  # type: ignore[arg-type]
    with pytest.raises(ArenaError, match="openings"):
        play(leftmost, "house:random", game="connect-four", setup="nonsense")
    with pytest.raises(ArenaError, match="rounds: a round-robin has no rounds"):
        play(leftmost, "house:random", game="connect-four", rounds=3)
    # Nothing of them is kept.
    assert list(Path(tempfile.gettempdir()).iterdir()) == []
    with pytest.raises(TypeError, match="play_async has no option deal"):
        asyncio.run(play_async("house:random", "house:random", game="othello", deal=1))  # type: ignore[call-arg]


def test_the_arena_is_found_or_it_is_said_what_to_do(
    arena: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game: Any = {"game": "connect-four", "deals": 1}
    monkeypatch.setenv("BOT_ARENA", "nowhere")
    with pytest.raises(ArenaError, match='BOT_ARENA is "nowhere": expected the path'):
        play(leftmost, "house:random", **game)
    for other, words in [
        ("#!/bin/sh\necho hello\n", 'printed "hello": expected an event as JSON'),
        ('#!/bin/sh\necho \'{"version":2,"type":"x"}\'\n', "prints events of version 2"),
        ("#!/bin/sh\necho 'error: no room' >&2; exit 3\n", "^no room$"),
        ("#!/bin/sh\nexit 5\n", "ended with exit code 5 and said nothing"),
        ("#!/bin/sh\nkill -9 $$\n", "ended with signal 9 and said nothing"),
    ]:
        program = tmp_path / "other"
        program.write_text(other)
        program.chmod(0o755)
        monkeypatch.setenv("BOT_ARENA", str(program))
        with pytest.raises(ArenaError, match=words):
            play(leftmost, "house:random", **game)
    monkeypatch.delenv("BOT_ARENA")
    monkeypatch.setattr(bot_arena.program, "_beside", lambda: iter([Path("/nowhere/arena")]))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArenaError, match="found no program arena: neither /nowhere/arena nor"):
        play(leftmost, "house:random", **game)
    (tmp_path / "arena").symlink_to(arena)
    assert bot_arena.program.find_arena() == str(tmp_path / "arena")
    beside = tmp_path / "beside"
    beside.write_text("#!/bin/sh\nexit 5\n")
    beside.chmod(0o755)
    monkeypatch.setattr(bot_arena.program, "_beside", lambda: iter([beside]))
    assert bot_arena.program.find_arena() == str(beside)


def test_a_long_folder_for_temporary_files_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("long" * 30)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    assert play(leftmost, "house:random", game="connect-four", deals=1).fouls == ()


def test_async_play_leaves_the_loop_running() -> None:
    async def both() -> tuple[Result, Result, int]:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        counting = asyncio.ensure_future(count())
        game: Any = {"game": "connect-four", "deals": 3}
        one, other = await asyncio.gather(
            play_async(leftmost, "house:random", **game),
            play_async(Centre, "house:random", **game),
        )
        counting.cancel()
        return one, other, turns

    one, other, turns = asyncio.run(both())
    assert one.fouls == other.fouls == ()
    assert (len(one.games), len(other.games)) == (6, 6)
    assert turns > 20


def test_a_cancelled_play_ends_when_nothing_runs_any_more() -> None:
    began = threading.Event()

    class Slow(Centre):
        def get_point(self, ask: GetPoint) -> Point:
            began.set()
            time.sleep(0.05)
            return super().get_point(ask)

    async def cancelled() -> None:
        playing = asyncio.ensure_future(
            play_async(Slow, "house:random", game="connect-four", deals=1000)
        )
        await asyncio.to_thread(began.wait, TIMEOUT)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing

    asyncio.run(cancelled())
    assert children(os.getpid()) == []


def children(parent: int) -> list[int]:
    """The processes of this one, and theirs."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(after[1]) == parent:
            child = int(stat.parent.name)
            found += [child, *children(child)]
    return found


class Script:
    """A process that plays without an end: `plays.py HOW`."""

    def __init__(self, popen: subprocess.Popen[str], temporary: Path) -> None:
        self.popen = popen
        self.temporary = temporary

    def line(self) -> str:
        assert self.popen.stdout is not None
        return self.popen.stdout.readline().rstrip("\n")


@contextmanager
def script(how: str, folder: Path) -> Iterator[Script]:
    temporary = folder / "temporary"
    temporary.mkdir()
    popen = subprocess.Popen(
        [sys.executable, SCRIPT, how],
        env={**os.environ, "TMPDIR": str(temporary)},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # A line that never comes ends with the process.
    watchdog = threading.Timer(TIMEOUT, popen.kill)
    watchdog.start()
    with popen:
        try:
            yield Script(popen, temporary)
        finally:
            watchdog.cancel()
            watchdog.join()
            popen.kill()


@pytest.mark.parametrize("how", ["match", "endless", "async", "tournament"])
def test_ctrl_c_stops_it_and_leaves_nothing(tmp_path: Path, how: str) -> None:
    with script(how, tmp_path) as running:
        assert running.line() == "begun"
        processes = children(running.popen.pid)
        assert processes
        running.popen.send_signal(signal.SIGINT)
        told = running.line()
        assert re.fullmatch(r"interrupted after \d+ games, threads: MainThread", told), told
        assert running.popen.wait(TIMEOUT) == 0
    assert [number for number in processes if Path(f"/proc/{number}").exists()] == []
    assert list(running.temporary.iterdir()) == []


@pytest.mark.parametrize("how", ["match", "tournament"])
def test_the_arena_does_not_outlive_a_killed_interpreter(tmp_path: Path, how: str) -> None:
    with script(how, tmp_path) as running:
        assert running.line() == "begun"
        processes = children(running.popen.pid)
        assert processes
        running.popen.kill()
    until(lambda: not any(Path(f"/proc/{number}").exists() for number in processes))


def test_a_killed_arena_is_an_error(tmp_path: Path) -> None:
    class Kills(Centre):
        def get_point(self, ask: GetPoint) -> Point:
            for child in children(os.getpid()):
                os.kill(child, signal.SIGKILL)
            return super().get_point(ask)

    with pytest.raises(ArenaError, match="signal 9"):
        play(Kills, "house:random", game="connect-four", deals=1)


def test_over_is_told_to_agents() -> None:
    overs = []

    class Ends(Centre):
        def game_over(self, over: GameOver) -> None:
            overs.append(over.reason)

    play(Ends, "house:random", game="connect-four", deals=2)
    assert len(overs) == 4
