"""{{name}}: a bot for Reversal Big Two."""

from collections.abc import Collection

from bot_arena import BigTwoBot, Bot, Card, GameStart, GetPlay, RequestPlay


def choose(hand: Collection[Card], to_beat: Collection[Card], reversed: bool) -> list[Card]:
    """What to play; nothing is a pass. Your idea goes here: this plays the lowest single card
    that it can, and passes where several cards are to be beaten or the order is reversed.
    """
    if not to_beat:
        return [min(hand)]  # with the three of clubs, where that must be played
    if len(to_beat) > 1 or reversed:
        return []
    rank = min(to_beat).rank
    return sorted(card for card in hand if card.rank > rank)[:1]


class MyBot(BigTwoBot):
    """One object for each game."""

    def __init__(self, start: GameStart) -> None:
        self.seat = start.seat
        self.hand: set[Card] = set()

    def get_deal(self, cards: tuple[Card, ...]) -> None:
        self.hand.update(cards)

    def get_play(self, play: GetPlay) -> None:
        if play.seat == self.seat and play.cards:
            self.hand.difference_update(play.cards)

    def request_play(self, ask: RequestPlay, limit: float) -> list[Card] | None:
        cards = choose(self.hand, ask.to_beat or (), ask.reversed)
        print("I play", *cards)  # goes into the bot's log
        return cards or None


if __name__ == "__main__":
    Bot("{{name}}", "1").big_two(MyBot).main()
