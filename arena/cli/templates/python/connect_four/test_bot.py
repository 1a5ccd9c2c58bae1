import unittest

from bot import choose
from bot_arena import Point


class Choose(unittest.TestCase):
    def test_the_middle_comes_first(self) -> None:
        points = [Point(8, 0), Point(7, 4), Point(8, 8)]
        self.assertEqual(choose(points, columns=9), Point(7, 4))
