"""{{name}}: a bot for Othello that reads and writes lines of JSON."""

import json
import sys

OPPONENT, OWN = 1, 2
DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


def turned(board, row, column):
    """How many discs a move there turns; 0 where it is not legal."""

    def at(row, column):
        return board[8 * row + column] if 0 <= row < 8 and 0 <= column < 8 else 0

    count = 0
    for down, right in DIRECTIONS:
        steps = 1
        while at(row + steps * down, column + steps * right) == OPPONENT:
            steps += 1
        if at(row + steps * down, column + steps * right) == OWN:
            count += steps - 1
    return count if at(row, column) == 0 else 0


def choose(board):
    """A legal move, row and column. Your idea goes here: this takes one that turns the most."""
    squares = [(row, column) for row in range(8) for column in range(8)]
    return max(squares, key=lambda square: turned(board, *square))


def answer(call):
    """The answer to a question; to a notice nothing."""
    match call["call"]:
        case "start" if call["game"] != "othello":
            return {"error": "I play othello"}
        case "start":
            return {"ready": {}}
        case "request_move":
            row, column = choose(call["board"])
            print("I play", row, column, file=sys.stderr)  # goes into the bot's log
            return {"square": {"row": row, "column": column}}


if __name__ == "__main__":
    for line in sys.stdin:
        if said := answer(json.loads(line)):
            print(json.dumps(said), flush=True)
