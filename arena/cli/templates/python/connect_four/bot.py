"""{{name}}: a bot for Connect Four."""

from bot_arena import Bot, ConnectFourBot, GetPoint, Point


def choose(points: list[Point], columns: int) -> Point:
    """One of the points that can be played. Your idea goes here: this takes the one nearest to
    the middle.
    """
    return min(points, key=lambda point: abs(2 * point.y - (columns - 1)))


class MyBot(ConnectFourBot):
    """One object for each game."""

    def get_point(self, ask: GetPoint) -> Point:
        # `ask` has the whole position, as in ask.cell(x, y), and the time limit.
        point = choose(ask.points(), ask.n)
        print("I play", point)  # goes into the bot's log
        return point


if __name__ == "__main__":
    Bot("{{name}}", "1").connect_four(MyBot).main()
