"""The samples play whole games against the built-in bots: no foul, and the same games again."""

import json
import shlex
import subprocess
import sys

arena, random, careful = sys.argv[1:]
if not arena:
    sys.exit("these tests play games: say where arena is, cmake -DARENA=…/target/debug/arena")


def spec(program):
    return f"exec:{shlex.quote(program)}"


def games(game, bots, rounds):
    command = [arena, "match", game, "--rounds", str(rounds), "--seed", "7", "--no-records"]
    command += ["--report", "json"]
    for bot in bots:
        command += ["--bot", bot]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    played = [line for line in lines if line["type"] == "game"]
    assert played, run.stdout
    for line in played:
        assert not line["fouls"], line
    print(f"{game}: {len(played)} games, no foul")
    return played


def hashes(played):
    return sorted((line["game_id"], line["play_hash"]) for line in played)


me = f"me={spec(random)}"
for game in ["connect-four", "mahjong", "othello"]:
    bots = [me, "house=house:random"]
    assert hashes(games(game, bots, 3)) == hashes(games(game, bots, 3)), game
bots = [me, "ai1=house:ai1", "ai2=house:ai2", f"again={spec(random)}"]
assert hashes(games("big-two", bots, 3)) == hashes(games("big-two", bots, 3))

# It wins what can be won: a bot at random makes no plan.
played = games("connect-four", [f"me={spec(careful)}", "house=house:random"], 10)
won = sum(line["places"][line["players"].index("me")] == 1 for line in played)
assert won >= 15, f"careful won {won} of {len(played)}"
