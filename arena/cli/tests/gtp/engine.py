"""A small Othello engine that speaks GTP: it takes most discs. Its options are the ways in which
engines differ, and what they do wrong.

    python3 engine.py [OPTION...]
"""

import sys
import time

OPTIONS = set(sys.argv[1:])
DIRECTIONS = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
NAMES = {"black": 1, "b": 1, "white": 2, "w": 2}


def beginning():
    board = {(r, c): 0 for r in range(8) for c in range(8)}
    board[3, 4] = board[4, 3] = 1
    board[3, 3] = board[4, 4] = 2
    return board


def turned(board, square, side):
    found = []
    if board[square]:
        return found
    for down, right in DIRECTIONS:
        line, (r, c) = [], (square[0] + down, square[1] + right)
        while board.get((r, c)) == 3 - side:
            line.append((r, c))
            r, c = r + down, c + right
        if board.get((r, c)) == side:
            found += line
    return found


def play(board, square, side):
    for other in turned(board, square, side):
        board[other] = side
    board[square] = side


def square_of(text):
    return int(text[1]) - 1, "abcdefgh".index(text[0].lower())


def name_of(square):
    return "ABCDEFGH"[square[1]] + str(square[0] + 1)


class Unknown(Exception):
    pass


def answer(board, words):
    command, *rest = words
    if command in ("protocol_version", "name", "version"):
        return {"protocol_version": "2", "name": "small engine", "version": "1.2"}[command]
    if command == "boardsize":
        if "no-boardsize" in OPTIONS:
            raise Unknown
    elif command == "clear_board":
        board.update(beginning())
    elif command in ("time_settings", "time_left"):
        told = int(rest[0 if command == "time_settings" else 1])
        if "untimed" in OPTIONS:
            sys.exit("expected no time")
        if "no-time" in OPTIONS:
            raise Unknown
        if "two-seconds" in OPTIONS and told != 2:
            sys.exit(f"expected a time of 2, found {told}")
    elif command == "setboard" and "setboard" in OPTIONS:
        for at, sign in enumerate(rest[0]):
            board[divmod(at, 8)] = "-XO".index(sign)
    elif command == "play":
        side, move = NAMES[rest[0].lower()], rest[1]
        if move.lower() == "pass":
            if "refuses-passes" in OPTIONS:
                raise Unknown
            if any(turned(board, square, side) for square in board):
                return "? no pass here"
        elif turned(board, square_of(move), side):
            play(board, square_of(move), side)
        else:
            return "? illegal move"
    elif command == "genmove":
        side = NAMES[rest[0].lower()]
        if "resigns" in OPTIONS:
            return "resign"
        if "illegal" in OPTIONS:
            return "a1"
        if "slow" in OPTIONS:
            time.sleep(60)
        best = max(board, key=lambda square: len(turned(board, square, side)))
        play(board, best, side)
        return name_of(best)
    else:
        raise Unknown
    return ""


def main():
    board = beginning()
    if "banner" in OPTIONS:
        print("=========\nSmall engine, version 1.2\n???", flush=True)
        print("= ready for everything", file=sys.stderr, flush=True)
    for line in sys.stdin:
        words = line.split()
        number = words.pop(0) if words and words[0].isdigit() else ""
        if not words:
            continue
        if "plain" in OPTIONS and number:
            print("? unknown command\n", flush=True)
            continue
        if "no-numbers" in OPTIONS:
            number = ""
        if words[0] == "quit":
            print(f"={number}\n", flush=True)
            return
        try:
            said = answer(board, words)
        except Unknown:
            said = "? unknown command"
        if "info" in OPTIONS and words[0] == "genmove":
            print("info depth 1 score 0", flush=True)
        if said.startswith("?"):
            text = f"?{number}{said[1:]}\n"
        else:
            blank = " " if "blank" in OPTIONS else ""
            text = f"={blank}{number} {said}\n"
        end = "\r\n" if "crlf" in OPTIONS else "\n"
        print(text.replace("\n", end), end=end, flush="no-flush" not in OPTIONS)


main()
