import unittest

from bot import choose
from bot_arena import Tile


class Choose(unittest.TestCase):
    def test_a_tile_alone_is_discarded(self) -> None:
        hand = [Tile.C1, Tile.C2, Tile.C3, Tile.B5, Tile.D7, Tile.D7]
        self.assertEqual(choose(hand), Tile.B5)
