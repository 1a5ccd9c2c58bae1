"""Brains in whole rounds: the examples play without a foul and within the memory of an exam, each
fault has its own verdict, and no process is left behind."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

arena, folder = sys.argv[1:]
if not arena:
    sys.exit("these tests play games: say where arena is, cmake -DARENA=…/target/debug/arena")


def spec(brain):
    return "exec:" + shlex.quote(f"{folder}/{brain}")


def play(brain, *options, rounds=5, opponent="house:simple"):
    command = [arena, "match", "mahjong", "--rounds", str(rounds), "--seed", "7", "--no-records"]
    command += ["--report", "json", "--bot", f"me={spec(brain)}", "--bot", f"opp={opponent}"]
    run = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True, timeout=300)
    # 1 is said of a bot that never starts.
    assert run.returncode in (0, 1), run.returncode
    assert not left(brain), f"{brain} has left processes behind: {left(brain)}"
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    games = [line for line in lines if line["type"] == "game"]
    assert len(games) == 2 * rounds, run.stdout
    return games


def left(brain):
    """The processes of a brain that are running."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if os.readlink(process / "exe") == os.path.realpath(f"{folder}/{brain}"):
                found.append(process.name)
        except OSError:
            pass
    return found


for brain in ["first", "counting", "distance", "own", "lab", "globals", "lingers", "daemon", "claims"]:
    games = play(brain, rounds=25 if brain == "distance" else 5)
    fouls = [foul for game in games for foul in game["fouls"]]
    assert not fouls, (brain, fouls)
    print(f"{brain}: {len(games)} rounds, no foul")
    # Who wins at all against a bot that never does shows that claims arrive.
    if brain == "distance":
        won = sum(game["scores"][game["players"].index("me")] > 0 for game in games)
        assert won >= 25, f"{brain} won {won} of {len(games)}"

for brain in ["first", "counting", "distance"]:
    command = [arena, "exam", "mahjong", "--enforce", "--no-records", "--format", "json"]
    # All cases for the one that has the most to remember.
    number = 10 if brain == "distance" else 2
    command += [f"--case=practice {case + 1}" for case in range(number)]
    run = subprocess.run(
        [*command, "--bot", f"me={spec(brain)}"],
        stdout=subprocess.PIPE, text=True, timeout=300,
    )
    # 1 is said of too few points.
    assert run.returncode in (0, 1), run.returncode
    assert not left(brain), f"{brain} has left processes behind: {left(brain)}"
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    rounds = [line for line in lines if line["type"] == "exam_game"]
    cases = [line for line in lines if "memory_bytes" in line]
    assert len(rounds) == 8 * number and len(cases) == number, run.stdout
    for line in rounds:
        # On a busy machine the time of an exam may not do; its memory always does.
        assert line.get("foul", {"kind": "late"})["kind"] == "late", (brain, line)
    for line in cases:
        assert line["memory_bytes"] <= line["memory_limit_bytes"], (brain, line)
    most = max(line["memory_bytes"] for line in cases)
    print(f"{brain}: an exam, at most {most / 2**20:.1f} MiB more")

command = [arena, "check", spec("first"), "--game", "mahjong", "--strict"]
run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300)
assert run.returncode == 0 and "fit to enter" in run.stdout, run.stdout
print("first: fit to enter")

faults = {
    "segfault": ("error-status", "the brain was killed by SIGSEGV (Segmentation fault)"),
    "exception": ("error-status", "exception in requestDiscard: std::out_of_range: no such tile"),
    "chinese": ("error-status", "exception in requestDiscard: std::runtime_error: 12 " + 100 * "\ufffd"),
    "hasty": ("error-status", "exception in getDraw: std::runtime_error: too many tiles"),
    "text": ("error-status", "exception in getOppDiscard: no such tile"),
    "number": ("error-status", "exception in requestDiscard: int"),
    "leaves": ("error-status", "the brain exited with code 7"),
    "forks": ("error-status", "the brain exited with code 7"),
    "garbage": ("error-status", 'answered what is no number: "12 or so"'),
    "closes": ("error-status", "the brain closed its connection"),
    "unborn": ("no-start", "exited with code 1 before it listened; its last words: exception in the constructor of MyBrain: std::runtime_error: no luck today"),
    "stillborn": ("no-start", "no such table"),
    "foreign": ("illegal", ""),
    "no_tile": ("error-status", "request_discard returned 10: expected a Tile of the hand"),
    "loop": ("late", ""),
}
for brain, (kind, words) in faults.items():
    for game in play(brain, "--move-limit", "500ms", rounds=2):
        seat = game["players"].index("me")
        (foul,) = game["fouls"]
        assert foul["seat"] == seat, (brain, foul)
        if kind:
            assert foul["kind"] == kind, (brain, foul)
        assert words in str(foul), (brain, foul)
    print(f"{brain}: {foul}")
