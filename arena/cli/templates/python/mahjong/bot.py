"""{{name}}: a bot for Mahjong."""

from bot_arena import Bot, GameStart, MahjongBot, Tile


def choose(hand: list[Tile]) -> Tile:
    """The tile to discard. Your idea goes here: this takes the one with the fewest neighbours in
    the hand. A tile is the number 10 * suit + rank.
    """
    return min(hand, key=lambda tile: sum(abs(tile - other) <= 1 for other in hand))


class MyBot(MahjongBot):
    """One object for each game."""

    def __init__(self, start: GameStart) -> None:
        self.hand: list[Tile] = []

    def get_draw(self, tile: Tile) -> None:
        self.hand.append(tile)

    def request_discard(self, limit: float) -> Tile:
        tile = choose(self.hand)
        self.hand.remove(tile)
        print("I discard", tile)  # goes into the bot's log
        return tile

    def get_opp_discard(self, tile: Tile) -> None:
        pass

    def request_win(self, tile: Tile, is_self_draw: bool, limit: float) -> bool:
        return True


if __name__ == "__main__":
    Bot("{{name}}", "1").mahjong(MyBot).main()
