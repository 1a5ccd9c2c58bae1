import unittest

from bot import choose
from bot_arena import Card


class Choose(unittest.TestCase):
    def test_the_lowest_card_that_beats_is_played(self) -> None:
        hand = [Card.S2, Card.H9, Card.C5]
        self.assertEqual(choose(hand, [Card.D7], reversed=False), [Card.H9])
