"""{{name}}: a bot for Connect Four that reads and writes lines of JSON."""

import json
import sys


def choose(points, columns):
    """One of the points (x, y) that can be played. Your idea goes here: this takes the one
    nearest to the middle.
    """
    return min(points, key=lambda point: abs(2 * point[1] - (columns - 1)))


def answer(call):
    """The answer to a question; to a notice nothing."""
    match call["call"]:
        case "start" if call["game"] != "connect_four":
            return {"error": "I play connect_four"}
        case "start":
            return {"ready": {}}
        case "get_point":
            # `call` has the whole position: board, top, last_x, no_x, …
            points = [(top - 1, y) for y, top in enumerate(call["top"]) if top]
            x, y = choose(points, call["n"])
            print("I play", x, y, file=sys.stderr)  # goes into the bot's log
            return {"point": {"x": x, "y": y}}


if __name__ == "__main__":
    for line in sys.stdin:
        if said := answer(json.loads(line)):
            print(json.dumps(said), flush=True)
