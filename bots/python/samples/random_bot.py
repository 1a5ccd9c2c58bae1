"""Plays all four games at random, in plain methods. Run it with
`python random_bot.py`.
"""

from __future__ import annotations

from random import Random

from bot_arena import (
    BigTwoBot,
    Bot,
    Card,
    ConnectFourBot,
    GameStart,
    GetPlay,
    GetPoint,
    MahjongBot,
    OthelloBot,
    Point,
    RequestMove,
    RequestPlay,
    Square,
    Tile,
)

import thinking


class RandomConnectFour(ConnectFourBot):
    def __init__(self, start: GameStart) -> None:
        self.random = Random(start.bot_seed)

    def get_point(self, ask: GetPoint) -> Point:
        return self.random.choice(ask.points())


class RandomOthello(OthelloBot):
    def __init__(self, start: GameStart) -> None:
        self.random = Random(start.bot_seed)

    def request_move(self, ask: RequestMove, limit: float) -> Square:
        return self.random.choice(thinking.squares(ask.board))


class RandomMahjong(MahjongBot):
    def __init__(self, start: GameStart) -> None:
        self.random = Random(start.bot_seed)
        self.hand: list[Tile] = []

    def get_draw(self, tile: Tile) -> None:
        self.hand.append(tile)

    def request_discard(self, limit: float) -> Tile:
        tile = self.random.choice(self.hand)
        self.hand.remove(tile)
        return tile

    def get_opp_discard(self, tile: Tile) -> None:
        pass

    def request_win(self, tile: Tile, is_self_draw: bool, limit: float) -> bool:
        return True

    def resumed_discard(self, tile: Tile) -> None:
        self.hand.remove(tile)


class RandomBigTwo(BigTwoBot):
    def __init__(self, start: GameStart) -> None:
        self.random = Random(start.bot_seed)
        self.seat = start.seat
        self.hand: set[Card] = set()

    def get_deal(self, cards: tuple[Card, ...]) -> None:
        self.hand.update(cards)

    def get_play(self, play: GetPlay) -> None:
        # It is told of its own plays too, also when it is resumed.
        if play.seat == self.seat and play.cards:
            self.hand.difference_update(play.cards)

    def request_play(self, ask: RequestPlay, limit: float) -> list[Card] | None:
        return self.random.choice(thinking.plays(self.hand, ask))


if __name__ == "__main__":
    (
        Bot("random", "1.0", max_games=16, can_resume=True)
        .connect_four(RandomConnectFour)
        .othello(RandomOthello)
        .mahjong(RandomMahjong)
        .big_two(RandomBigTwo)
        .main()
    )
