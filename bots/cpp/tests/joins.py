"""A sample joins an arena that it can't be dialled from, and plays there without a foul."""

import os
import re
import signal
import subprocess
import sys
import tempfile

arena, random = sys.argv[1:]
if not arena:
    sys.exit("this test plays games: say where arena is, cmake -DARENA=…/target/debug/arena")


# What was started is ended below in any case.
signal.signal(signal.SIGALRM, lambda *_: sys.exit("it took longer than 300 s"))
signal.alarm(300)


def until(program, output, pattern):
    """What a program's output has at this place."""
    seen = ""
    for line in output:
        seen += line
        if found := re.search(pattern, seen):
            return found[1]
    sys.exit(f"{program.args}: expected {pattern}, found:\n{seen}")


with tempfile.TemporaryDirectory() as folder:
    there = {"cwd": folder, "text": True, "env": {**os.environ, "ARENA_LOBBY": f"{folder}/lobby"}}
    started = []
    try:
        subprocess.run([arena, "lobby", "add", "me"], check=True, **there)
        serve = [arena, "serve", "--lobby", "lobby.tokens", "--store", "store.sqlite", "--no-page"]
        server = subprocess.Popen(
            [*serve, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, **there
        )
        started.append(server)
        # Its last lines fit into the pipe.
        url = until(server, server.stderr, r"BOT_JOIN=(http://\S+)\s")
        there["env"].update(BOT_JOIN=url, BOT_TOKEN_FILE="me.token")
        bot = subprocess.Popen([random], stdout=subprocess.PIPE, **there)
        started.append(bot)
        assert until(bot, bot.stdout, r"attending at (.*)\n") == f"{url} as me"
        bots = ["--bot", "lobby:me", "--bot", "house:random"]
        match = [arena, "match", "othello", *bots, "--deals", "2", "--report", "json"]
        played = subprocess.run(
            [*match, "--no-records"], stdout=subprocess.PIPE, check=True, **there
        ).stdout
        assert played.count('"fouls":[]') == 4, played
        bot.send_signal(signal.SIGTERM)
        assert bot.wait() == 0, bot.returncode
    finally:
        for process in started:
            process.kill()
            process.wait()
