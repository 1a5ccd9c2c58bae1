"""{{name}}: a bot for Othello."""

from bot_arena import Bot, OthelloBot, RequestMove, Square

OPPONENT, OWN = 1, 2
DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


def turned(board: bytes, row: int, column: int) -> int:
    """How many discs a move there turns; 0 where it is not legal."""

    def at(row: int, column: int) -> int:
        return board[8 * row + column] if 0 <= row < 8 and 0 <= column < 8 else 0

    count = 0
    for down, right in DIRECTIONS:
        steps = 1
        while at(row + steps * down, column + steps * right) == OPPONENT:
            steps += 1
        if at(row + steps * down, column + steps * right) == OWN:
            count += steps - 1
    return count if at(row, column) == 0 else 0


def choose(board: bytes) -> Square:
    """A legal move. Your idea goes here: this takes one that turns the most discs."""
    squares = [Square(row, column) for row in range(8) for column in range(8)]
    return max(squares, key=lambda square: turned(board, *square))


class MyBot(OthelloBot):
    """One object for each game."""

    def request_move(self, ask: RequestMove, limit: float) -> Square:
        square = choose(ask.board)
        print("I play", square)  # goes into the bot's log
        return square


if __name__ == "__main__":
    Bot("{{name}}", "1").othello(MyBot).main()
