"""Plays Connect Four as an agent of Kaggle's ConnectX: a function of an observation and a
configuration that returns a column. Reads and writes lines of JSON (docs/stdio.md).

Arguments: the agent's file, and the name of its function; by default the last thing in the
file that can be called is the agent, as on Kaggle. One process plays one game.

The text of bots/python/src/bot_arena/_connectx.py stands before this one: Struct, ask.
"""

import json
import operator
import os
import random
import sys
import traceback
import types


def give_up(words):
    """Ends the process with its last words, which become the evidence of a foul."""
    sys.stdout.flush()
    print(words, file=sys.stderr, flush=True)
    os._exit(1)


def guarded(path, agent, call):
    """Calls something of the agent; an exception is told with the agent's own lines alone."""
    try:
        return call()
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != path:
            trace = trace.tb_next
        if trace is None and agent is not None:
            name = getattr(agent, "__name__", type(agent).__name__)
            give_up(
                f"{type(error).__name__}: {error} ({path}: its agent is {name}, the last thing "
                "in the file that can be called; kaggle:FILE.py?function=NAME names another)"
            )
        lines = traceback.format_exception(type(error), error, trace)
        give_up("".join(lines).rstrip())


def load(path, function):
    """Runs the file, as Kaggle does, and finds its agent."""
    # Files beside it can be imported.
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    # Classes look for their module there.
    module = sys.modules["kaggle_agent"] = types.ModuleType("kaggle_agent")
    module.__file__ = path

    def run():
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, module.__dict__)

    guarded(path, None, run)
    if function is not None:
        agent = module.__dict__.get(function)
        if not callable(agent):
            give_up(f"{path} has no function {function}")
        return agent
    agents = [value for value in module.__dict__.values() if callable(value)]
    if not agents:
        give_up(f"{path} has nothing that can be called: expected an agent, a function")
    return agents[-1]


def main():
    path = sys.argv[1]
    function = sys.argv[2] if len(sys.argv) > 2 else None
    # What an agent prints is for its log.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    # The file is in place of this text for whoever looks at it.
    sys.argv = [path]

    def answer(message):
        print(json.dumps(message), file=answers, flush=True)

    agent = start = None
    for line in sys.stdin:
        call = json.loads(line)
        if call["call"] == "start":
            start = call
            board = call["board"]
            if board["no_x"] >= 0 and board["no_y"] >= 0:
                cell = f"({board['no_x']}, {board['no_y']})"
                answer(
                    {
                        "error": f"a Kaggle agent can't know the forbidden cell {cell}: expected "
                        "a set-up without one, such as 6x7 or 9x9,forbidden=none"
                    }
                )
                continue
            random.seed(int(call["bot_seed"]))
            agent = load(path, function)
            name = os.path.splitext(os.path.basename(path))[0]
            answer({"ready": {"bot": name}})
        elif call["call"] == "get_point":
            size, limit = (call["m"], call["n"]), call["limit"]
            played = guarded(
                path, agent, lambda: ask(agent, start["seat"], size, call["board"], limit)
            )
            top = call["top"]
            try:
                at = operator.index(played)
            except TypeError:
                at = -1
            if not 0 <= at < len(top) or top[at] == 0:
                free = ", ".join(str(y) for y in range(len(top)) if top[y] > 0)
                why = f"the agent returned {played!r}: expected a column that is not full: {free}"
                answer({"error": why})
            else:
                answer({"point": {"x": top[at] - 1, "y": at}})


main()
